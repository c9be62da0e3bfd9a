/** The end of a run: its event, and the signal that brings it about. */
import type { Failure, Outcome } from "../api/index.js";
import type { HostAbortSignal } from "../api/platform.js";

export type EndEvent = { type: "abort"; reason: string } | { type: "error"; error: Failure };

export function whyOf({ abortReason: reason, error }: Outcome): EndEvent | undefined {
  if (error != null) return { type: "error", error };
  return reason == null ? undefined : { type: "abort", reason };
}

/** Calls `abort` when the signal fires; the returned function stops listening. */
export function follow(signal: HostAbortSignal | undefined, abort: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const fire = (): void => abort(signal.reason);
  if (signal.aborted) {
    // The abort waits for the current statement, so that its listeners can use the run, but not for the engine.
    queueMicrotask(fire);
    return () => {};
  }
  signal.addEventListener("abort", fire, { once: true });
  return () => signal.removeEventListener("abort", fire);
}
