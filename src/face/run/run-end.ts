/** How a run ends in words, and where goes what nobody hears. */
import type { HostAbortSignal } from "../api/platform.js";
import { fail } from "./result.js";
import { message } from "../tools/tool-schema.js";
import type { Failure, Outcome } from "../api/index.js";

/** In Deno and Bun `reportError` ends the process unless somebody listens, and a listener's mistake must not. */
export function reportUnheard(error: unknown): void {
  const host = globalThis as { reportError?: (error: unknown) => void; Deno?: unknown; Bun?: unknown };
  const staysAlive = host.Deno === undefined && host.Bun === undefined;
  if (staysAlive && typeof host.reportError === "function") host.reportError(error);
  else console.error(error);
}

export type EndEvent = { type: "abort"; reason: string } | { type: "error"; error: Failure };

export function whyOf({ abortReason: reason, error }: Outcome): EndEvent | undefined {
  if (error != null) return { type: "error", error };
  return reason == null ? undefined : { type: "abort", reason };
}

/** A configuration that the engine refused is told by field; anything else is a defect. */
export function refusal(error: unknown): Failure {
  const { field, problem } = (error ?? {}) as { field?: unknown; problem?: unknown };
  if (typeof field === "string" && typeof problem === "string")
    return fail("config_invalid", `${field}: ${problem}`);
  return fail("bug", message(error));
}

/** Calls `abort` when the signal fires; what is returned ends that. */
export function follow(signal: HostAbortSignal | undefined, abort: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const fire = (): void => abort(signal.reason);
  if (signal.aborted) {
    // Later than this task's statement, so that listeners can use the run; before the engine is there.
    queueMicrotask(fire);
    return () => {};
  }
  signal.addEventListener("abort", fire, { once: true });
  return () => signal.removeEventListener("abort", fire);
}
