/** The end of a run: its event, and the signal that brings it about. */
import { LoopletError, sectionOf } from "../api/errors.js";
import type { Failure, Outcome, RunResult } from "../api/index.js";
import type { HostAbortSignal } from "../api/platform.js";

/**
 * Whether another process may resume the run of this result, so that its journal stays listed as pending: deaths
 * have stopped it, another process holds it, or it has found its id taken by a run with another prompt.
 */
export function canResume({ stoppedBy, error }: RunResult): boolean {
  return stoppedBy === "recovery_exhausted" || error?.code === "run_exists" || error?.code === "run_held";
}

export type EndEvent = { type: "abort"; reason: string } | { type: "error"; error: Failure };

export function whyOf({ abortReason: reason, error }: Outcome): EndEvent | undefined {
  if (error != null) return { type: "error", error };
  return reason == null ? undefined : { type: "abort", reason };
}

/** The outcome of a run that your code ends, or this failure of your code. */
export function endedBy(reason: string, error?: Failure): Outcome {
  return error === undefined ? { outcome: "cancelled", abortReason: reason } : { outcome: "failed", error };
}

/** Calls `abort` when the signal fires; the returned function stops listening. */
export function onAbort(signal: HostAbortSignal | undefined, abort: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const fire = (): void => {
    let reason: unknown;
    try {
      reason = signal.reason;
    } catch {
      // A reason that cannot be read still aborts.
    }
    abort(reason);
  };
  if (signal.aborted) {
    // The abort waits for the current statement, so that its listeners can use the run, but not for the engine.
    queueMicrotask(fire);
    return () => {};
  }
  signal.addEventListener("abort", fire, { once: true });
  return () => {
    try {
      signal.removeEventListener("abort", fire);
    } catch {
      // The abort of a run that has ended does nothing.
    }
  };
}

/** The error for a field of the result that is looked for on the run. */
export function inResult(field: string): LoopletError {
  return new LoopletError("misuse_result", field, `is in the result: const { ${field} } = await run.result`);
}

/** The time for reading a result, from the end of the run and of the loops over its events, in milliseconds. */
const UNREAD_MS = 1000;

/**
 * Warns if a run failed or was stopped and its result is never read. `drained` resolves when the loops over
 * its events have ended.
 */
export async function warnIfUnread(
  result: RunResult,
  drained: Promise<void>,
  isRead: () => boolean,
): Promise<void> {
  const warning = unreadWarning(result);
  if (warning === undefined || isRead()) return;
  await drained;
  setTimeout(() => {
    if (!isRead()) console.warn(warning);
  }, UNREAD_MS);
}

/** The warning about a run with a result that is never read; undefined if none is needed. */
function unreadWarning({ outcome, error, stoppedBy, abortReason }: RunResult): string | undefined {
  if (outcome !== "failed" && outcome !== "stopped") return undefined;
  // The message of a model call has its code already.
  const code = error == null || error.model != null ? "" : ` (${error.code})`;
  const reason = abortReason == null ? "" : `: ${abortReason}`;
  const why = error == null ? ` by ${stoppedBy}${reason}` : `${code}: ${error.message}`;
  const more = error == null ? "" : ` ${sectionOf(error.code)}`;
  return `looplet: a run ${outcome === "failed" ? "failed" : "was stopped"}${why}\nIts result has not been read: await run.result and look at its outcome.${more}`;
}
