/** A tool: its definition, its context, and the options of `createAgent` about calls. */
import type { ToolFault } from "./event.js";
import type {
  AgentToolCalls,
  ElicitationAnswer,
  ElicitationRequest,
  Facts,
  OnUnknownTool as OnUnknownToolWord,
  RunToolCalls,
  ToolData,
} from "../generated/model.js";
import type { WireProtocol } from "./model.js";
import type { HostAbortSignal } from "./platform.js";
import type { InputOf, InputSchema, OutputOf, WrittenOf } from "./schema.js";

export type {
  ElicitationAction,
  ElicitationAnswer,
  ElicitationRequest,
  ToolAccess,
} from "../generated/model.js";

/**
 * The tools of an agent, as a record or as an array. In a record, tools that are `undefined` are ignored: `{ search,
 * remove: isAdmin ? remove : undefined }` is valid.
 */
export type Tools =
  { readonly [name: string]: Tool | undefined } | readonly (Tool & { readonly name: string })[];

/** A tool as `tool()` returns it; its input type is checked where it is defined. */
export type Tool = ToolOptions<any, any>;

/** The types of one tool, as events and results have them. */
export interface ToolTypes {
  toolName: string;
  input: unknown;
  output: unknown;
}

/** The types of each tool of a record, as a union; loose types for an array, and where the names are not known. */
export type ToolTypesOf<T extends Tools> = T extends readonly unknown[]
  ? ToolTypes
  : { [name: string]: Tool } extends T
    ? ToolTypes
    : {
        [N in keyof T]-?: NonNullable<T[N]> extends HostedTool
          ? never
          : {
              toolName: N & string;
              input: NonNullable<T[N]> extends { readonly inputSchema: infer S } ? WrittenOf<S> : unknown;
              output: NonNullable<T[N]> extends { readonly execute?: infer E } ? OutputOf<E> : unknown;
            };
      }[keyof T];

/** `E` with the types of each of these tools: `toolName` tells the variants apart. */
export type OfTools<E, C extends ToolTypes> = E extends unknown
  ? C extends unknown
    ? OfTool<E, C>
    : never
  : never;

type OfTool<E, C extends ToolTypes> = Omit<E, keyof ToolTypes | "updatedInput"> &
  Pick<C, keyof E & keyof ToolTypes> &
  (E extends { updatedInput?: unknown } ? Updated<E, C> : unknown);

/** The field `updatedInput` with the type of the tool's input, where `E` has it. */
type Updated<E, C extends ToolTypes> = "updatedInput" extends keyof E
  ? { updatedInput?: C["input"] }
  : unknown;

/** A function that the model may call. */
export interface ToolOptions<S = InputSchema, R = unknown> extends ToolData {
  /**
   * The name that the model uses to call the tool: up to 128 letters, digits, `_` and `-` (OpenAI: 64). Required in
   * an array of tools; in a record the key is the name.
   */
  name?: string | undefined;
  /**
   * Describes to the model what the tool does and when to call it. Without a description, the run emits the warning
   * `no_description` once.
   */
  description?: string | undefined;
  /**
   * The schema of the input: a JSON Schema whose `type` is `"object"`, or a Standard Schema with its JSON Schema
   * extension. The model sees it, and looplet checks the input against it before `execute` runs. Required.
   */
  inputSchema: S;
  /**
   * Your function that runs the tool. Required, unless the tool has a `kind` that one of the agent's
   * `toolCalls.handlers` runs.
   *
   * Contract: called once per call, with input that fits the schema. It returns the result or a promise of it.
   * - A string goes to the model as it is; `undefined` is an empty text.
   * - `{ content: [...] }` is a list of blocks: text and media, or blocks of MCP.
   * - A `Blob`, and the bytes of an image or a PDF, are media.
   * - An `Error` counts as thrown.
   * - Any other value becomes JSON: a `Map` an object, a `Set` a list, other bytes `{ base64 }`.
   *
   * An async generator's `yield`s are progress, and its `return` is the result. A thrown error, with its causes, goes
   * to the model, which can react to it; `throw new ToolError({ code, message, hint, recoverable })` chooses the
   * words. After an abort or a timeout `context.signal` fires, and the result is ignored.
   */
  execute?: ((input: InputOf<S>, context: ToolContext) => R) | undefined;
  /**
   * The kind of a tool without `execute`: the agent's `toolCalls.handlers[kind]` runs its calls, or its
   * `toolCalls.handlers["*"]`.
   */
  kind?: string | undefined;
  /**
   * Fields of the input that your `inputs` fill in, each with the name of the input: `{ userId: "user" }`. The model
   * does not see these fields. A value that it writes there stays in the history, but the tool does not get it. An
   * input that is missing fills in nothing. Default: none.
   */
  bindings?: { readonly [field: string]: string } | undefined;
  /** Hints in the words of MCP. `readOnlyHint: true` is `readOnly: true`, unless `readOnly` says otherwise. */
  annotations?: ToolAnnotations | undefined;
  /**
   * Contract: called once per call with the checked input; synchronous. Calls with equal keys never overlap; calls
   * with different keys may. A call whose key is `undefined` has none.
   */
  resourceKey?: ((input: InputOf<S>) => string | undefined) | undefined;
  /**
   * What happens to a call that was in progress when the process ended, in an agent with a `store`. `"safe"` runs it
   * again with the same `toolCallId`. `"once"` asks `reconcile`, and starts each call only after the store has saved
   * its start. Without a store no state survives a crash, and `"once"` causes the warning `replay_needs_store`.
   * Default: `"safe"` for a `readOnly` tool, else `"once"`.
   */
  replay?: "safe" | "once" | undefined;
  /**
   * The version of the tool. Change it if open calls of the previous version must not continue unchecked. When a run
   * resumes in another process, looplet then checks the permissions of such calls again. It asks `reconcile` about
   * calls that were already allowed or started, even with `replay: "safe"`. Default: none.
   */
  version?: string | undefined;
  /**
   * Whether a call needs an approval before it runs, by `canUseTool` or by `run.answer` to the `question` event.
   * Contract of a function: called with the checked input; true, or an error that it throws, means yes. Default
   * false.
   */
  needsApproval?:
    | boolean
    | ((input: InputOf<S>, context: { readonly toolCallId: string }) => boolean | PromiseLike<boolean>)
    | undefined;
  /**
   * Whether a call affects another place than its input names, for example through a symbolic link. The mode
   * `"acceptEdits"` does not accept such a call. Contract: called with the checked input; an error that it throws
   * means yes. Default: no call does.
   */
  leadsElsewhere?:
    | ((input: InputOf<S>, context: { readonly toolCallId: string }) => boolean | PromiseLike<boolean>)
    | undefined;
  /**
   * The request fields for a tool that a vendor defines. `vendorTool` sets it. Default: none; the tool is your own.
   */
  vendor?: VendorEntry | undefined;
}

/** A tool that a vendor defines: its entry in the request's list of tools, and what else the request needs for it. */
export interface VendorEntry {
  /**
   * The entry in the vendor's own form, sent as it is: `{ type: "web_search_20260318", name: "web_search" }`. Absent
   * for a tool that another entry brings along, for example a member of a toolset.
   */
  readonly entry?: { readonly [field: string]: unknown } | undefined;
  /**
   * The wire protocol in whose form the entry is. A model of another protocol does not get the tool, with the warning
   * `vendor_tool_not_sent`. Default: the protocol of the agent's model.
   */
  readonly protocol?: WireProtocol | undefined;
  /** Headers that the entry needs. `anthropic-beta` and other lists are joined. Default: none. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /**
   * Fields of the request's body that the entry needs. Objects are merged and lists are joined; the `body` of the
   * model wins. Default: none.
   */
  readonly body?: { readonly [field: string]: unknown } | undefined;
  /**
   * The type of the items that are calls of the tool, for a tool of OpenAI Responses without a name: `"shell_call"`.
   * Its input is the item without `type`, `id`, `call_id`, `status` and `caller`. Default: a call has the tool's
   * name.
   */
  readonly item?: string | undefined;
}

/** The options of `vendorTool`: the entry, and those of a tool that your code runs. */
export interface VendorToolOptions
  extends
    VendorEntry,
    Partial<Omit<ToolOptions<any, unknown>, "vendor" | "bindings" | "strict" | "deferLoading">> {}

/** A tool that the vendor runs on its servers, as `vendorTool` returns it. No call of it reaches your code. */
export interface HostedTool extends ToolOptions<any, unknown> {
  readonly vendor: VendorEntry;
  readonly execute?: undefined;
}

/** The annotations of an MCP tool. looplet uses only `readOnlyHint`. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly [hint: string]: unknown;
}

/** The second argument of a tool's `execute`. */
export interface ToolContext {
  /** The provider's id of this call. */
  readonly toolCallId: string;
  /**
   * Fires when the run is aborted or the call times out; see `signal.reason`. On an abort its `name` is
   * `SuspendError` if another process continues the run, otherwise `AbortError`.
   */
  readonly signal: HostAbortSignal;
  /** Reports progress, any JSON value, as a `tool-progress` event. It does nothing once the call is over. */
  progress(data: unknown): void;
  /**
   * Asks the user a question during the call and resolves with the answer. The answer comes from the option
   * `onElicitation`, or from `run.answer` to the `question` event of the kind `elicitation`. It can take days: the
   * timeouts of the call and of its iteration are paused. Rejects if the call is aborted. With a `store` the question
   * is saved. A call that runs again in another process receives the saved answers, if it asks the same questions in
   * the same order.
   *
   * @throws LoopletError `misuse_invalid_argument` for a request without a message
   */
  elicit(request: ElicitationRequest): Promise<ElicitationAnswer>;
  /**
   * Saves a state, any JSON value, from which the call can resume in another process, for example a job id or a page
   * number. `execute` then runs again with this state as `restored`, and `reconcile` is not asked. Earlier answers to
   * `elicit` are discarded, so include them in the state. Pass `undefined` to clear the state before a step that must
   * not run twice. Resolves when the store has saved the state; without a store, immediately.
   *
   * Rejects with the store's error, and for a value that JSON cannot hold.
   */
  checkpoint(state: unknown): Promise<void>;
  /** The state of the call's last checkpoint in another process; undefined if the call starts from the beginning. */
  readonly restored: unknown;
  /**
   * The fencing token of the run's lease. It increases each time another process resumes the run; undefined if the
   * store has no leases. Send it to a service that stores the highest token per run or per `toolCallId` and rejects
   * lower ones. A stalled process then cannot make changes after another process has resumed its run.
   */
  readonly fence: number | undefined;
  /**
   * Whether the tool may read this path. False if a `deny` or `ask` rule for this tool matches the path, or if the
   * call is over. Use it in tools that search a folder: the permission check of the call covers only the path in its
   * input.
   */
  mayRead(path: string): boolean;
  /** The model call that asked for this one, from 1. */
  readonly iteration: number;
  /** The agent's `inputs` with the run's over them. */
  readonly inputs: Inputs;
  /**
   * Ends the run as `completed` after this round, without another model call. Every other call of the round must
   * succeed and ask for it too. A waiting steer or follow-up still continues the run, and so does the option
   * `output`. It does nothing if this call fails.
   */
  terminate(): void;
}

/** The place of a tool's question to the user. */
export interface ElicitationContext extends Omit<Facts["elicitation"], "agentPath" | "reason" | "request"> {
  readonly agentPath: string;
  /** The argument for `run.answer`. */
  readonly questionId: number;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

export type OnElicitation = (
  request: ElicitationRequest,
  context: ElicitationContext,
) => ElicitationAnswer | null | PromiseLike<ElicitationAnswer | null>;

/** Your values for `bindings` and for handlers, by name: any value that JSON can hold. */
export interface Inputs {
  readonly [name: string]: unknown;
}

/**
 * Runs calls of tools that have a `kind` and no `execute`. It has the same contract as `execute`.
 */
export type ToolHandler = (input: any, context: ToolHandlerContext) => unknown;

export interface ToolHandlerContext extends ToolContext {
  readonly toolName: string;
  /** The tool as it was defined. */
  readonly tool: Tool;
}

/** Answers a call of an unknown tool. It returns the result for the model, as a tool's `execute` does. */
export type OnUnknownTool = (
  call: { readonly toolName: string; readonly input: any },
  context: ToolContext,
) => unknown;

/**
 * Contract: returns the names of the tools that fit the model's query, the best first, or a promise of them. An error
 * that it throws goes to the model.
 */
export type SearchTools = (
  query: string,
  tools: readonly { readonly name: string; readonly description: string }[],
  signal: HostAbortSignal,
) => readonly string[] | PromiseLike<readonly string[]>;

/** Contract: returns the text that the model receives for a failed call. */
export type WordToolError = (
  error: ToolFault,
  call: { readonly toolName: string; readonly toolCallId: string; readonly input: any },
) => string | PromiseLike<string>;

/** The option `toolCalls` of `createAgent`: how tool calls run, and what the model reads of them. */
export interface ToolCallOptions extends AgentToolCalls, RunToolCalls {
  /**
   * Returns the text that the model receives for a failed call. looplet calls it for each failed call of a round,
   * after all calls of the round are complete. If it throws or returns no string, the error goes to `onError`.
   * Default: the JSON `{"error":true,"code":…,"message":…,"hint":…,"recoverable":…}`. The result is marked as an
   * error in any case.
   */
  wordError?: WordToolError | undefined;
  /**
   * The reaction to a call of an unknown tool. `"tool_result"` reports an error to the model, `"throw"` ends the run
   * as `failed`, and a function answers the call. Default `"tool_result"`.
   */
  onUnknownTool?: OnUnknownToolWord | OnUnknownTool | undefined;
  /**
   * Your functions that run the tools that have a `kind` and no `execute`, by kind (`function`, `prompty`, `mcp`,
   * `openapi`, …). `"*"` runs all other kinds.
   */
  handlers?: { readonly [kind: string]: ToolHandler } | undefined;
  /**
   * Other names by which the model can call tools: `{ Bash: "mcp__workspace__bash" }`. Events, results, permissions
   * and hooks use the tool's real name for a call of `Bash`; the history retains the name that the model used. An
   * alias of an alias does nothing, and neither does an alias of a tool that the agent does not have. Default: none.
   */
  aliases?: { readonly [alias: string]: string } | undefined;
  /**
   * Your search for tools with `deferLoading`, instead of the vendor's and of looplet's, which compares words (BM25).
   * It is called when the model searches.
   */
  searchTools?: SearchTools | undefined;
  /**
   * Answers the questions that tools ask with `context.elicit`. `null` leaves the question open for `run.answer`. An
   * error that it throws answers `{ action: "cancel" }`, with a warning. Default: the question stays open for
   * `run.answer`.
   */
  onElicitation?: OnElicitation | undefined;
}
