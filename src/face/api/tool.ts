/** A tool: its definition, its context, and the options of `createAgent` about calls. */
import type { ToolFault } from "./event.js";
import type { HostAbortSignal } from "./platform.js";
import type { InputOf, InputSchema } from "./schema.js";

/** What an agent's tools may be given as. */
export type Tools = { readonly [name: string]: Tool } | readonly (Tool & { readonly name: string })[];

/** A tool as `tool()` returns it; its input type is checked where it is defined. */
export type Tool = ToolOptions<any>;

/** A function that the model may call. */
export interface ToolOptions<S = InputSchema> {
  /** The name that the model uses: letters, digits, `_` and `-`, up to 128 (OpenAI: 64). Needed in an array; in a record the key counts. */
  name?: string | undefined;
  /** What the tool does and when to use it, for the model. Required. */
  description: string;
  /**
   * The input: a JSON Schema whose `type` is `"object"`, or a Standard Schema with its JSON Schema extension. The model
   * sees it, and the input is checked against it before `execute` runs. Required.
   */
  inputSchema: S;
  /**
   * Contract: called once per call, with input that fits the schema. Returns the result: a string is shown to the model
   * as it is, `undefined` as an empty text, `{ content: [...] }` as blocks (text and media, or those of MCP), a `Blob` or
   * bytes of an image or a PDF as media, an `Error` as if it were thrown, anything else as JSON (a `Map` as an object, a
   * `Set` as a list, other bytes as `{ base64 }`). A promise is awaited. An async generator's `yield`s are progress and
   * its `return` is the result. What it throws becomes an error that the model reads and can answer, with its causes;
   * `throw new ToolError({ code, message, hint, recoverable })`
   * says it in your words. After an abort or a timeout `context.signal` fires and the result is ignored. Required, unless
   * the tool has a `kind` that one of the agent's `toolHandlers` runs.
   */
  execute?: ((input: InputOf<S>, context: ToolContext) => unknown) | undefined;
  /** Without `execute`, the agent's `toolHandlers[kind]` runs the calls, or its `toolHandlers["*"]`. */
  kind?: string | undefined;
  /**
   * Fields of the input that the host fills in, and from which of its `inputs`: `{ userId: "user" }`. The model is not
   * shown them, what it writes there is overridden, and the history keeps what it wrote. An input that is not given
   * binds nothing. Default: none.
   */
  bindings?: { readonly [field: string]: string } | undefined;
  /**
   * The vendor makes the model keep to the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini); such schemas have
   * to keep to the vendor's subset of JSON Schema. Default false.
   */
  strict?: boolean | undefined;
  /** It changes nothing: may run beside other read-only calls. Default false. */
  readOnly?: boolean | undefined;
  /**
   * Contract: called once per call with the checked input; synchronous. Calls with equal keys never overlap, calls with
   * different keys may. `undefined`: no key.
   */
  resourceKey?: ((input: InputOf<S>) => string | undefined) | undefined;
  /** Milliseconds after which a call is given up and the model told so; a positive integer. Default: `timeouts.toolMs`. */
  timeoutMs?: number | undefined;
  /** Check the input against the schema before the call. Default true. */
  validate?: boolean | undefined;
  /**
   * `"once"`: a call is started at most once within its run, and never before its answer is whole (`eagerTools`). A run is
   * not saved anywhere: after a crash a second run may repeat the call, and the warning `replay_needs_store` says so once
   * per run. Default: may be repeated.
   */
  replay?: "once" | undefined;
  /**
   * The host approves a call before it runs (`canUseTool`, or `run.answer` for the `question` event): always, or when
   * the function says so. Contract of the function: called with the checked input; what it throws counts as yes.
   * Default false.
   */
  needsApproval?:
    | boolean
    | ((input: InputOf<S>, context: { readonly toolCallId: string }) => boolean | PromiseLike<boolean>)
    | undefined;
  /** Calls in one run, a positive integer; further ones are answered with an error (`call_limit`). Default: any number. */
  maxCalls?: number | undefined;
  /** Characters of a result that the model is shown, a positive integer. Default: the agent's `maxToolResultChars`. */
  maxResultChars?: number | undefined;
  /** What the tool touches, for permission modes and the specifiers of rules. Default: none, or by a well-known name. */
  access?: ToolAccess | undefined;
  /**
   * The field of the input with which the specifiers of permission rules are compared, and which
   * `permissionMode: "acceptEdits"` looks at: an edit that shows no path there is asked about. Default: by `access`.
   */
  ruleSubject?: string | undefined;
}

/** Reads files, writes files, runs commands, reads addresses of the web. */
export type ToolAccess = "read" | "edit" | "shell" | "fetch";

/** The second argument of a tool's `execute`. */
export interface ToolContext {
  /** The provider's id of this call. */
  readonly toolCallId: string;
  /** Fires when the run is aborted or the call has timed out; `signal.reason` says which. */
  readonly signal: HostAbortSignal;
  /** Reports progress as a `tool-progress` event; any JSON value. Inert once the call is over. */
  progress(data: unknown): void;
  /** The model call that asked for this one, from 1. */
  readonly iteration: number;
  /** The agent's `inputs` and the run's. */
  readonly inputs: Inputs;
  /**
   * Ends the run as `completed` after this round, without another model call, if every other call of the round succeeds
   * and asks for it too. A steer or follow-up that waits goes on, and so does a run with `output`. Inert when this call
   * fails.
   */
  terminate(): void;
}

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
