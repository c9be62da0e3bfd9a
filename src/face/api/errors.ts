/** The errors of the face: `LoopletError` is yours to fix, `ToolError` is yours to throw, `RunError` is a run that went wrong. */
import type { LoopletErrorCode, RunErrorCode, RunResult, ToolErrorOptions } from "./index.js";

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
