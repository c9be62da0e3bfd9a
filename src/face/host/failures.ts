/** The failures that no provider made: their form, and where those go that nobody hears. */
import type { Failure, FailureCode } from "../api/index.js";
import { message } from "../options/thrown.js";

/** A failure that no provider made. */
export function fail(code: FailureCode, message: string): Failure {
  return { code, message, retryable: false };
}

/** A configuration that the engine refused is told by field; anything else is a defect. */
export function refusal(error: unknown): Failure {
  const { field, problem } = (error ?? {}) as { field?: unknown; problem?: unknown };
  if (typeof field === "string" && typeof problem === "string")
    return fail("config_invalid", `${field}: ${problem}`);
  return fail("bug", message(error));
}

/** In Deno and Bun `reportError` ends the process unless somebody listens, and a listener's mistake must not. */
export function reportUnheard(error: unknown): void {
  const host = globalThis as { reportError?: (error: unknown) => void; Deno?: unknown; Bun?: unknown };
  const staysAlive = host.Deno === undefined && host.Bun === undefined;
  if (staysAlive && typeof host.reportError === "function") host.reportError(error);
  else console.error(error);
}
