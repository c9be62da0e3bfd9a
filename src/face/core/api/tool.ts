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
 * The tools of an agent, as a record or as an array. A tool of a record that is `undefined` is left out, so that
 * `{ search, remove: isAdmin ? remove : undefined }` is a record of tools.
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
   * The name by which the model calls the tool: letters, digits, `_` and `-`, up to 128 (OpenAI: 64). An array of
   * tools needs it; in a record the key is the name.
   */
  name?: string | undefined;
  /**
   * Tells the model what the tool does and when to call it. A tool without one brings the warning `no_description`,
   * once per run.
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
   * The treatment of a call that was under way when the process ended, in an agent with a `store`. `"safe"` runs it
   * again with the same `toolCallId`. `"once"` asks `reconcile` about it, and starts a call only when the store has
   * its start. Without a store nothing outlives a crash, and `"once"` causes the warning `replay_needs_store`.
   * Default: `"safe"` for a `readOnly` tool, else `"once"`.
   */
  replay?: "safe" | "once" | undefined;
  /**
   * The version of the tool. Change this text when an open call of the earlier version must not simply go on. A run
   * of a `store` that goes on in another process then judges such calls anew, and asks `reconcile` about those that
   * were allowed or had begun, also with `replay: "safe"`. Default: none.
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
   * Whether a call touches another place than its input names, for example through a link. The mode `"acceptEdits"`
   * does not accept such a call. Contract: called with the checked input; an error that it throws means yes. Default:
   * no call does.
   */
  leadsElsewhere?:
    | ((input: InputOf<S>, context: { readonly toolCallId: string }) => boolean | PromiseLike<boolean>)
    | undefined;
  /** What the requests need for a tool that a vendor defines. `vendorTool` sets it. Default: the tool is yours. */
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

/** What an MCP server tells of a tool. looplet reads `readOnlyHint` alone. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly [hint: string]: unknown;
}

/** The second argument of a tool's `execute`. */
export interface ToolContext {
  /** The provider's id of this call. */
  readonly toolCallId: string;
  /**
   * Fires when the run is aborted or the call has timed out; `signal.reason` tells the two apart. The reason's `name`
   * is `SuspendError` if another process goes on with the run, and else `AbortError`.
   */
  readonly signal: HostAbortSignal;
  /** Reports progress, any JSON value, as a `tool-progress` event. It does nothing once the call is over. */
  progress(data: unknown): void;
  /**
   * Asks a person in the middle of the call, and resolves with their answer: that of the option `onElicitation`, or
   * of `run.answer` to the `question` event of the kind `elicitation`. The answer may take days: the times of the
   * call and of its iteration stand still meanwhile. Rejects when the call is aborted. In an agent with a `store` the
   * question outlives the process, and a call that runs again gets the answers to the questions that it puts again in
   * the same order.
   *
   * @throws LoopletError `misuse_invalid_argument` for a request without a message
   */
  elicit(request: ElicitationRequest): Promise<ElicitationAnswer>;
  /**
   * Keeps a state, any JSON value, from which the call can go on in another process: the id of a job, a page of a
   * list. `execute` then runs again with it as `restored`, and `reconcile` is not asked. Questions that were answered
   * before are forgotten: put their answers into the state. `undefined` takes the last state back, before a step that
   * must not be done twice. Resolves when the store has it, at once without a store.
   *
   * Rejects with the store's error, and for a value that JSON cannot hold.
   */
  checkpoint(state: unknown): Promise<void>;
  /** The state of the call's last checkpoint in another process; undefined in a call that begins anew. */
  readonly restored: unknown;
  /**
   * The fence of the run's lease, which is higher in each process that goes on with the run; undefined in an agent
   * whose store has no leases. Send it to a service that keeps the highest one for each run, or for each
   * `toolCallId`, and refuses a lower one: a process that stood still then does nothing behind its successor.
   */
  readonly fence: number | undefined;
  /**
   * False for a path of which a `deny` or `ask` rule about this tool speaks, and once the call is over. For a tool
   * that searches below a path: the call was judged by that path alone.
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

/** A question of a tool to a person, and the place that it comes from. */
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
 * Runs the calls of tools that have a `kind` and no `execute` of their own, as their `execute` would.
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

/** Contract: returns the text that tells the model about a failed call. */
export type WordToolError = (
  error: ToolFault,
  call: { readonly toolName: string; readonly toolCallId: string; readonly input: any },
) => string | PromiseLike<string>;

/** The option `toolCalls` of `createAgent`: how tool calls run, and what the model reads of them. */
export interface ToolCallOptions extends AgentToolCalls, RunToolCalls {
  /**
   * Returns the text that tells the model about a failed call. It is called for each failed call of a round when all
   * of its calls are over. If it throws or returns no string, the error goes to `onError`. Default: the JSON
   * `{"error":true,"code":…,"message":…,"hint":…,"recoverable":…}`. The result is marked as an error in any case.
   */
  wordError?: WordToolError | undefined;
  /**
   * The reaction to a call of an unknown tool. `"tool_result"` tells the model, `"throw"` ends the run as `failed`,
   * and a function answers the call. Default `"tool_result"`.
   */
  onUnknownTool?: OnUnknownToolWord | OnUnknownTool | undefined;
  /**
   * Your functions that run the tools that have a `kind` and no `execute`, by kind (`function`, `prompty`, `mcp`,
   * `openapi`, …). `"*"` runs all other kinds.
   */
  handlers?: { readonly [kind: string]: ToolHandler } | undefined;
  /**
   * Names under which models call tools that have other names: `{ Bash: "mcp__workspace__bash" }`. A call of `Bash`
   * is a call of that tool for events, results, permissions and hooks; the history keeps the model's word. An alias
   * of an alias does nothing, and neither does an alias of a tool that the agent does not have. Default: none.
   */
  aliases?: { readonly [alias: string]: string } | undefined;
  /**
   * Your search for tools with `deferLoading`, instead of the vendor's and of looplet's, which compares words (BM25).
   * It is called when the model searches.
   */
  searchTools?: SearchTools | undefined;
  /**
   * Answers tools that ask a person with `context.elicit`. `null` leaves the question open for `run.answer`. An error
   * that it throws answers `{ action: "cancel" }`, with a warning. Default: the question stays open for `run.answer`.
   */
  onElicitation?: OnElicitation | undefined;
}
