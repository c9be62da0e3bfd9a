/** A failure as a sentence for users. `message` of an error is for developers and logs. */
import type { FailureCode } from "../../core/api/index.js";

/** What {@link failureText} reads of a failure, a `LoopletError`, or the `error` of a conversation. */
export interface ShownFailure {
  readonly code?: string | undefined;
  /** The wait before another attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** Sentences by code: a text, or a function of the failure. */
export type FailureTexts = { readonly [code: string]: string | ((failure: ShownFailure) => string) };

const TEXTS: Readonly<Record<FailureCode, string>> = {
  rate_limit: "There are too many requests right now.",
  overloaded: "The assistant is busy right now.",
  server: "The assistant is not available right now.",
  network: "The connection failed. Check your internet connection and try again.",
  timeout: "The answer took too long. Try again.",
  malformed_stream: "The answer could not be read. Try again.",
  auth: "You are not signed in, or you do not have access. Sign in again.",
  billing: "The assistant cannot be used because the account has no credit left.",
  not_found: "The assistant could not be found.",
  custom_model: "The assistant is not available right now.",
  redirected: "The assistant could not be reached.",
  invalid_request: "The assistant could not process this message.",
  context_length: "This chat is too long. Start a new chat.",
  content_filter: "The assistant cannot answer this. Try different words.",
  finish_reason: "The answer ended early. Try again.",
  config_invalid: "The assistant is not set up correctly.",
  config_wasm: "The assistant could not start. Reload the page.",
  run_held:
    "This chat is open in another tab or on another device. You can read it here, and write when it is done.",
  run_exists: "This message was already sent. Reload the page.",
  journal_gone: "The saved chat was deleted. Start a new chat.",
  store_failed: "The chat could not be loaded or saved. Try again.",
  guardrail: "This message or its answer is not allowed here.",
  bug: "Something went wrong. Try again.",
};

/** Codes of `LoopletError` that users see, and of calls. */
const MORE: FailureTexts = {
  misuse_chat_busy: "The assistant is still answering. Wait, or stop it.",
  misuse_empty_prompt: "Write a message first.",
};

/** The codes for which the text mentions the delay. */
const WAITS: ReadonlySet<string> = new Set(["rate_limit", "overloaded", "server", "custom_model"]);

/**
 * A sentence for users that says what went wrong and, if it is known, when the next attempt is made or useful.
 * `texts` replaces sentences by code. `default` is for every code without a sentence. For an attempt that will be
 * retried, pass `{ ...notice.error, retryAfterMs: notice.delayMs }`.
 */
export function failureText(failure: unknown, texts: FailureTexts = {}): string {
  const shown = Object(failure) as ShownFailure;
  const code = typeof shown.code === "string" ? shown.code : "";
  const own = owned(texts, code);
  if (own !== undefined) return typeof own === "function" ? own(shown) : own;
  const known = owned(TEXTS, code) ?? owned(MORE, code) ?? owned(texts, "default");
  if (typeof known === "function") return known(shown);
  const { retryAfterMs } = shown;
  const isTimed = typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) && retryAfterMs > 0;
  if (isTimed) return `${known ?? UNKNOWN} Next try in ${duration(retryAfterMs)}.`;
  return WAITS.has(code) ? `${known} Try again in a moment.` : (known ?? `${UNKNOWN} Try again.`);
}

const UNKNOWN = "Something went wrong.";

function owned(texts: FailureTexts, code: string): FailureTexts[string] | undefined {
  return Object.hasOwn(texts, code) ? texts[code] : undefined;
}

/** Rounded up, so that users do not retry too early. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return counted(seconds, "second");
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? counted(minutes, "minute") : counted(Math.ceil(minutes / 60), "hour");
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
