/** The errors that are thrown: `LoopletError` is yours to fix, `ToolError` is yours to throw, `RunError` is a run that went wrong. */
import type { ToolFault } from "./event.js";
import type { RunResult } from "./result.js";

/** A configuration or a call that cannot work, thrown at once (by `init`: as a rejection). The message says what to do. */
export class LoopletError extends Error {
  override readonly name = "LoopletError";
  /** `config_…` or `misuse_…`. */
  readonly code: LoopletErrorCode;
  /** The option or argument, for example `tools.weather.inputSchema`; empty where there is none. */
  readonly field: string;

  constructor(code: LoopletErrorCode, field: string, problem: string, cause?: unknown) {
    super(field === "" ? problem : `${field}: ${problem}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.field = field;
  }
}

/** What `run.result` rejects with where an option says `"throw"` (`onCancel`, `onRefusal`, `onLimit`, `onFailure`). */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly code: RunErrorCode;
  /** Everything that the run has brought. */
  readonly result: RunResult;

  constructor(code: RunErrorCode, message: string, result: RunResult) {
    super(message);
    this.code = code;
    this.result = result;
  }
}

/** Thrown by a tool's `execute`, it tells the model what went wrong in the tool's own words. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** Default `tool_failed`. */
  readonly code: string;
  /** What to do instead. Default: a general one. */
  readonly hint: string;
  /** `false` ends the run as `stopped` by `fatal_tool`. Default true. */
  readonly recoverable: boolean;

  constructor(options: ToolErrorOptions) {
    super(options.message);
    this.code = options.code ?? "tool_failed";
    this.hint = options.hint ?? GENERAL_HINT;
    this.recoverable = options.recoverable ?? true;
  }
}

/** What the model is told to do when a tool did not say. */
export const GENERAL_HINT = "Check the arguments and try again, or go on without this tool.";

/** Codes of a `LoopletError`: what is wrong with a configuration (`config_…`) or with a call (`misuse_…`). */
export type LoopletErrorCode =
  /** No such option; the message names the nearest one. */
  | "config_unknown_option"
  /** A value of the wrong type. */
  | "config_wrong_type"
  /** A value of the right type that cannot be used (0 iterations, a tool name with a space, a broken URL). */
  | "config_invalid_value"
  /** A required option is missing. */
  | "config_missing"
  /** Neither `apiKey` nor `authorize` nor a `fetch` of your own. */
  | "config_missing_key"
  /** A vendor's key in a page without `dangerouslyAllowBrowser: true`. */
  | "config_browser_key"
  /** Two tools of one name. */
  | "config_duplicate_tool"
  /** An `inputSchema` that is no schema. */
  | "config_invalid_schema"
  /** The wasm source given to `init()` cannot be used. */
  | "config_wasm"
  | "misuse_empty_prompt"
  | "misuse_chat_busy"
  /** The chat was closed. */
  | "misuse_chat_closed"
  /** A steer or follow-up for a run that has ended; look at `run.outcome` first. */
  | "misuse_run_ended"
  /** A wrong argument of a method. */
  | "misuse_invalid_argument";

/** Why a `RunError` was thrown. */
export type RunErrorCode = "cancelled" | "refused" | "limit" | "failed";

/** What `new ToolError(…)` takes; see `ToolFault`. */
export type ToolErrorOptions = Partial<ToolFault> & { message: string };
