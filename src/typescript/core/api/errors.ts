/**
 * The errors that looplet throws (`LoopletError`, `RunError`) and the one that your tools may throw (`ToolError`).
 */
import type { ToolFault } from "./event.js";
import type { RunResult } from "./result.js";

/** The place in the package that says what a code means and what to do. */
export function sectionOf(code: string): string {
  return `See docs/tasks/errors.md#${code} in the package looplet.`;
}

/**
 * A configuration or a call that cannot work; its message says how to fix it, and where to read more. It is thrown
 * synchronously; only `init` rejects with it.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, LoopletError } from "looplet";
 *
 * try {
 *   createAgent({ model: anthropic("claude-opus-5-5", { apiKey: "key" }), limits: { maxIterations: 0 } });
 * } catch (error) {
 *   if (error instanceof LoopletError) console.log(error.field); // prints "limits.maxIterations"
 * }
 * ```
 */
export class LoopletError extends Error {
  override readonly name = "LoopletError";
  /** A code that begins with `config_` or `misuse_`. */
  readonly code: LoopletErrorCode;
  /** The option or argument, for example `tools.weather.inputSchema`; empty if there is none. */
  readonly field: string;
  /** What is wrong with it and how to fix it: the message without the field and the place to read more. */
  readonly problem: string;

  constructor(code: LoopletErrorCode, field: string, problem: string, cause?: unknown) {
    const message = field === "" ? problem : `${field}: ${problem}`;
    super(`${message}\n${sectionOf(code)}`, cause === undefined ? {} : { cause });
    this.code = code;
    this.field = field;
    this.problem = problem;
  }
}

/**
 * The error that `run.result` rejects with when an option says `"throw"` (`onCancel`, `onRefusal`, `limits.onLimit`,
 * `onFailure`).
 *
 * @example
 * ```ts
 * import { createAgent, custom, RunError } from "looplet";
 *
 * const model = custom(() => Promise.reject(new Error("The model is down")));
 * try {
 *   await createAgent({ model, onFailure: "throw" }).run("Hello").result;
 * } catch (error) {
 *   if (error instanceof RunError) console.log(error.result.outcome); // prints "failed"
 * }
 * ```
 */
export class RunError extends Error {
  override readonly name = "RunError";
  readonly code: RunErrorCode;
  /** The result that the run would have resolved with. */
  readonly result: RunResult;

  constructor(code: RunErrorCode, message: string, result: RunResult) {
    super(message);
    this.code = code;
    this.result = result;
  }
}

/**
 * The error that a store throws when another process has continued the journal. The run ends as `cancelled`, because
 * only one process may continue a run.
 */
export class StoreConflict extends Error {
  override readonly name = "StoreConflict";
}

/** True for a {@link StoreConflict}, also for one of another copy of looplet. */
export function isStoreConflict(error: unknown): boolean {
  return error instanceof Error && error.name === "StoreConflict";
}

/**
 * An error for a tool's `execute` to throw. The model receives its message.
 *
 * @example
 * ```ts
 * import { tool, ToolError } from "looplet";
 *
 * const read = tool({
 *   description: "Reads a page",
 *   inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
 *   execute: ({ url }) => {
 *     if (!url.startsWith("https://")) throw new ToolError("Only https addresses can be read.");
 *     return fetch(url).then((response) => response.text());
 *   },
 * });
 * ```
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** A code of your choice. Default `tool_failed`. */
  readonly code: string;
  /** Advice for the model. Default: to check the arguments, or to continue without the tool. */
  readonly hint: string;
  /** `false` ends the run as `stopped` by `fatal_tool`. Default true. */
  readonly recoverable: boolean;

  /** A text is the message. */
  constructor(given: string | ToolErrorOptions) {
    const options: ToolErrorOptions = typeof given === "string" ? { message: given } : given;
    super(options.message);
    this.code = options.code ?? "tool_failed";
    this.hint = options.hint ?? GENERAL_HINT;
    this.recoverable = options.recoverable ?? true;
  }
}

/** The advice for the model when a tool gives none. */
export const GENERAL_HINT = "Check the arguments and try again, or continue without this tool.";

/** Codes of a `LoopletError`: a wrong configuration (`config_…`) or a wrong call (`misuse_…`). */
export type LoopletErrorCode =
  /** The option does not exist; the message names the nearest one. */
  | "config_unknown_option"
  /** A value of the wrong type. */
  | "config_wrong_type"
  /** A value of the right type that cannot be used (0 iterations, a tool name with a space, a broken URL). */
  | "config_invalid_value"
  /** A required option is missing. */
  | "config_missing"
  /** A model without `apiKey`, `authorize` or a `fetch` of your own. */
  | "config_missing_key"
  /** A vendor's key in a page without `dangerouslyAllowBrowser: true`. */
  | "config_browser_key"
  /** Two tools have the same name. */
  | "config_duplicate_tool"
  /** An `inputSchema` that is not a valid schema. */
  | "config_invalid_schema"
  /** The source given to `init()` is not usable WebAssembly. */
  | "config_wasm"
  | "misuse_empty_prompt"
  | "misuse_chat_busy"
  /** The chat was closed. */
  | "misuse_chat_closed"
  /** A steer or follow-up for a run that has ended; look at `run.outcome` first. */
  | "misuse_run_ended"
  /** `run.text`, `run.messages` or `run.usage`: they are in `await run.result`. */
  | "misuse_result"
  /** `run.export()` of an agent without `record`. */
  | "misuse_not_recorded"
  /** Text that is not a complete `.loop` file, or a file of a newer version. */
  | "misuse_run_file"
  /** The agent was closed. */
  | "misuse_agent_closed"
  /** A wrong argument of a method. */
  | "misuse_invalid_argument";

/** The reason for a `RunError`. */
export type RunErrorCode = "cancelled" | "refused" | "limit" | "failed";

/** The argument of `new ToolError(…)`; see `ToolFault`. */
export type ToolErrorOptions = Partial<ToolFault> & { message: string };
