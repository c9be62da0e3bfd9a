/** Failures that do not come from a provider, and the last resort for errors that no listener takes. */
import type { Failure, FailureCode } from "../api/index.js";
import { message } from "../options/thrown.js";

/** A failure that does not come from a provider. */
export function fail(code: FailureCode, message: string): Failure {
  return { code, message, retryable: false };
}

/** The failure of a run that another process continues. */
export function held(id: string): Failure {
  const message = `Another process or tab performs the run "${id}". This process has not changed it. Wait until the other process has ended the run or has exited, or take over the run with agent.resume(${JSON.stringify(id)}, { takeOver: true }).`;
  return { code: "run_held", message, retryable: true };
}

/** The failure of a chat's run while another process has a run of the chat under way. */
export function chatHeld(chat: string): Failure {
  const id = JSON.stringify(chat);
  const message = `Another process or tab performs a run of the chat ${id}. This process has not changed the chat. Wait until that run has ended or that tab is closed, and open the chat again with agent.openChat(${id}). Or continue that run here with agent.openChat(${id}, { takeOver: true }), which cancels it there. Tabs that share an agent (shareAgent of looplet/workers) see one chat at the same time.`;
  return { code: "run_held", message, retryable: true };
}

/** The failure of a run of which your store has nothing. */
export function notSavedYet(id: string): Failure {
  const message = `The store has nothing of the run "${id}": there is no such run, or it has not saved its prompt yet. await run.saved() in the process that begins it waits for that.`;
  return fail("config_invalid", message);
}

/** The failure of a chat's run whose journal has entries that this process has not seen. */
export function movedOn(chat: string): Failure {
  const id = JSON.stringify(chat);
  const message = `Another process or tab has gone on with the chat ${id}, and its newest messages are not here. Nothing has been sent. Open it again with agent.openChat(${id}), and send the prompt there.`;
  return { code: "run_held", message, retryable: true };
}

/** The failure of a run whose journal was deleted from the store by something else than its process. */
export function journalGone(id: string): Failure {
  const message = `The store does not have the journal ${JSON.stringify(id)} any more, and no other process has it: the site's data was cleared, or the run or chat was deleted. What it had saved is lost. Begin a new run, or open a new chat with agent.openChat(id).`;
  return fail("journal_gone", message);
}

/** The failure of a run whose journal your store could not give, or keep for it by a lease. */
export function storeFailed(id: string, error: unknown): Failure {
  const why = `The store could not open the journal of the run "${id}": ${message(error)}. Nothing has happened to the run; resume it when the store works.`;
  return { code: "store_failed", message: why, retryable: true };
}

/** The failure of a run that `onSaveFailed` has ended. */
export function notSaved(
  id: string,
  { error, entries, since }: { error: unknown; entries: number; since: number },
): Failure {
  const what =
    entries === 1
      ? `Entry ${since} of the journal is`
      : `${entries} entries of the journal from number ${since} on are`;
  const why = `The store could not save the run "${id}": ${message(error)}. ${what} not saved, and durable.onSaveFailed has ended the run. When the store works, await run.saved() saves them, and agent.resume(id) goes on from what is saved.`;
  return { code: "store_failed", message: why, retryable: true };
}

/** The failure of a run whose configuration the engine refused, reported by field. Any other error is a defect. */
export function refusal(error: unknown): Failure {
  const { field, problem } = (error ?? {}) as { field?: unknown; problem?: unknown };
  if (typeof field === "string" && typeof problem === "string")
    return fail("config_invalid", `${field}: ${problem}`);
  return fail("bug", message(error));
}

/**
 * Reports an error that no listener takes. In Deno and Bun `reportError` would end the process, and a listener's
 * mistake must not.
 */
export function reportUncaught(error: unknown): void {
  const host = globalThis as { reportError?: (error: unknown) => void; Deno?: unknown; Bun?: unknown };
  const staysAlive = host.Deno === undefined && host.Bun === undefined;
  if (staysAlive && typeof host.reportError === "function") host.reportError(error);
  else console.error(error);
}
