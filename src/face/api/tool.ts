/** What a run does with its tools' calls: who runs them, what the model is told of them. */
import type { ToolFault } from "./event.js";
import type { Tool, ToolContext } from "./index.js";

/** The host's values for `bindings`, and for handlers: anything that JSON can hold, by name. */
export interface Inputs {
  readonly [name: string]: unknown;
}

/**
 * Runs the calls of tools that have a `kind` and no `execute` of their own, as their `execute` would.
 */
export type ToolHandler = (input: any, context: ToolHandlerContext) => unknown;

export interface ToolHandlerContext extends ToolContext {
  readonly toolName: string;
  /** The tool as it was defined. */
  readonly tool: Tool;
}

/** Runs a call of a tool that there is not: returns what the model is told, as a tool's `execute` does. */
export type OnUnknownTool = (
  call: { readonly toolName: string; readonly input: any },
  context: ToolContext,
) => unknown;

/** Contract: returns what the model is told about a call that went wrong. */
export type WordToolError = (
  error: ToolFault,
  call: { readonly toolName: string; readonly toolCallId: string; readonly input: any },
) => string | PromiseLike<string>;

/**
 * How a call that went wrong is told to the model; it is marked as an error in any case.
 * - `"structured"`: `{"error":true,"code":…,"message":…,"hint":…,"recoverable":…}`
 * - `"sprout"`: `{"error":message}`
 * - `"claude"`: the message
 * - `"guide"`: `Error: message`
 * - `"simple"`: `error: message`
 * - `"prompty"`: `Error: Tool 'name' failed: message`, and `Error: message` for a call that was not run
 * - a function finds the words itself, asked when all calls of a round are over. What it throws goes to `onError`, and
 *   the error is told as `"structured"`.
 */
export type ToolErrorFormat =
  "structured" | "sprout" | "claude" | "guide" | "simple" | "prompty" | WordToolError;

/** The options of `createAgent` about the calls of tools. */
export interface ToolRunOptions {
  /** Default `"structured"`. */
  toolErrorFormat?: ToolErrorFormat | undefined;
  /**
   * Characters (code points) of a tool's result that the model is shown; what is longer is cut there, with a statement
   * of how much is missing and a `warning` event (`result_cut`). Events and `result.toolCalls` have all of it; media are
   * never cut. A tool's `maxResultChars` wins. Default 100,000.
   */
  maxToolResultChars?: number | undefined;
  /**
   * A call of a tool that there is not: `"tool_result"` tells the model, `"throw"` ends the run as `failed` (nothing is
   * thrown; code `config_invalid`), a function answers the call. Default `"tool_result"`.
   */
  onUnknownTool?: "tool_result" | "throw" | OnUnknownTool | undefined;
  /** Run the tools that have a `kind` and no `execute`, by kind (`function`, `prompty`, `mcp`, `openapi`, …); `"*"` all others. */
  toolHandlers?: { readonly [kind: string]: ToolHandler } | undefined;
  /** Values for the tools' `bindings`; those of `agent.run(prompt, { inputs })` win one by one. */
  inputs?: Inputs | undefined;
  /**
   * Start calls of tools with `readOnly: true` as soon as they are whole, while the rest of the answer still streams.
   * Those of an attempt that fails are aborted and forgotten. Nothing starts early beside an output guardrail. Default false.
   */
  eagerTools?: boolean | undefined;
}
