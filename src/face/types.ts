/**
 * The manual: every option, callback and result of looplet. The types of messages stand in `message.ts`, those of
 * events and outcomes in `event.ts`, those of models and their options in `model-types.ts`.
 */
import type {
  FailureCode,
  FinishReason,
  Outcome,
  OutcomeKind,
  RunEvent,
  RunEventOf,
  Usage,
} from "./event.js";
import type { Chat } from "./chat-types.js";
import type { FinishOptions } from "./finish-types.js";
import type { HostAbortSignal } from "./host-types.js";
import type { ContextOptions } from "./context-types.js";
import type { FromJsonSchema, JsonSchema } from "./json-schema.js";
import type { ContentBlock, Message } from "./message.js";
import type { SubagentMemory } from "./subagent-types.js";
import type { Fetch, Model } from "./model-types.js";
import type { OutputFormat, Partially } from "./output-types.js";
import type { PermissionMode, PermissionOptions, PermissionResult } from "./permission-types.js";
import type { HookOptions } from "./hook-types.js";
import type { AddedBudget, IterationOptions } from "./preparing-types.js";
import type { SteerOptions } from "./steer-types.js";
import type { StopOptions } from "./stop-types.js";
import type { Inputs, ToolRunOptions } from "./tool-types.js";
import type { TraceOptions } from "./trace-types.js";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "./standard-schema.js";

export type * from "./aws-types.js";
export type * from "./chat-types.js";
export type * from "./context-types.js";
export type * from "./error-types.js";
export type * from "./event.js";
export type * from "./hook-types.js";
export type * from "./finish-types.js";
export type * from "./json-schema.js";
export type * from "./message.js";
export type * from "./model-types.js";
export type * from "./preparing-types.js";
export type * from "./output-types.js";
export type * from "./permission-types.js";
export type * from "./standard-schema.js";
export type * from "./steer-types.js";
export type * from "./stop-types.js";
export type * from "./subagent-types.js";
export type * from "./tool-types.js";
export type * from "./trace-types.js";

/** What a run is asked: a text, or blocks (text and media). Empty or blank is an error (`misuse_empty_prompt`). */
export type Prompt = string | readonly ContentBlock[];

/**
 * What `createAgent` takes. Unknown names, wrong types and missing fields throw a `LoopletError` at once; its `field`
 * names the option.
 */
export interface AgentOptions<S extends InputSchema = InputSchema>
  extends
    PermissionOptions,
    StopOptions,
    FinishOptions,
    HookOptions,
    IterationOptions,
    SteerOptions,
    ToolRunOptions,
    TraceOptions,
    ContextOptions {
  /** The model: `anthropic(…)`, `openaiChat(…)`, `compatible({…})`, `custom(async …)` or one of `looplet/models`. Required. */
  model: Model;
  /** The system prompt. Default: none. */
  system?: string | undefined;
  /** The tools, as a record (the key is the name) or an array (each has its `name`). Default: none. */
  tools?: Tools | undefined;

  /** Every answer must be JSON of a schema; it is `result.output`. Default: any text. */
  output?: OutputFormat<S> | undefined;
  /**
   * How often an answer that does not fit is asked for again, a non-negative integer. Default 3. Then the run is
   * `stopped` by `structured_output`.
   */
  maxStructuredOutputRetries?: number | undefined;

  /**
   * Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
   * `maxStructuredOutputRetries` need to be reached. Beyond it the run is `stopped` by `iterations`.
   */
  maxIterations?: number | undefined;
  /**
   * Input plus output tokens of one run, a positive integer. Default: none. A run that uses more is `stopped` by
   * `tokens`.
   */
  maxTotalTokens?: number | undefined;
  /**
   * Limits of tokens and money also count by estimate what is not reported yet: the request that is about to be sent
   * (it is reserved, so that subagents beside each other see each other's) and the answer that streams; and whole
   * answers of servers that never report usage. A request that does not fit in what is left is not sent.
   * 3.5 bytes are taken for a token. Default false: only what vendors have reported counts.
   */
  estimateUsage?: boolean | undefined;
  /** Tokens of one answer, a positive integer; wins over the model's own option. Default: the model's. */
  maxOutputTokens?: number | undefined;
  /** Times after which something is given up. */
  timeouts?: Timeouts | undefined;
  /** When and how a failed model call is tried again. */
  retry?: RetryPolicy | undefined;
  /**
   * Asked in turn when a model's retries are used up by failures that may go away (`error.retryable`): the next one goes on
   * with the same run, whichever vendor and protocol it has, with retries of its own, and stays. A `model-change` event
   * says so, with the failure. Default: none.
   */
  fallbackModels?: readonly Model[] | undefined;
  /**
   * Which calls of one answer may run at the same time. Default `"read-only-parallel"`: read-only calls beside each
   * other, calls with different resource keys beside each other, all else in order. `"parallel"`: everything at once,
   * but calls with one resource key in order. `"sequential"`: one after the other. Results always keep the order of
   * the calls.
   */
  toolExecution?: ToolExecution | undefined;
  /** Levels of subagents below this agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number | undefined;
  /** Tool calls that run at once, a positive integer. Default 8. */
  maxToolConcurrency?: number | undefined;
  /** Deliver the deltas of one block that arrive in one network chunk as one. Default true. */
  joinDeltas?: boolean | undefined;

  /** Sends the requests, in place of the host's `fetch`; called `(url: string, init)`. A model's own `fetch` wins. */
  fetch?: Fetch | undefined;
  /** The time, for tests and replays. Default: `Date.now`, `setTimeout`, `clearTimeout`. */
  clock?: Clock | undefined;
  /** Randomness in [0, 1), for jitter and minted ids; anything else goes to `onError` and `Math.random` is asked. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** Makes `run.id`, a text that is not empty: anything else throws in `agent.run`. Default: a random id. */
  ids?: (() => string) | undefined;
}

export type ToolExecution = "read-only-parallel" | "parallel" | "sequential";

/** Times after which something is given up, in milliseconds: non-negative integers, or `null` to wait for ever. */
export interface Timeouts {
  /** The whole run. Default: none. Ends it as `stopped` by `time`. */
  totalMs?: number | null | undefined;
  /**
   * One iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools, the functions
   * that are asked. Stands still while a person is asked (`canUseTool`). Default: none. Ends the run as `stopped` by `time`.
   */
  iterationMs?: number | null | undefined;
  /** From sending a request to the first byte of its body. Default 600,000. Counts as a retryable failure. */
  firstChunkMs?: number | null | undefined;
  /** Between two chunks of a body. Default 120,000. Counts as a retryable failure. */
  chunkMs?: number | null | undefined;
  /** One tool call whose tool has no `timeoutMs`. Default: none. The model gets an error result. */
  toolMs?: number | null | undefined;
}

/**
 * Retries of a model call after 429, 5xx, a network failure or a broken stream. The n-th waits
 * `min(maxMs, baseMs × factor^(n − 1 + firstExponent))` plus up to `jitterMs`, or what the server asked for if that is
 * longer. All are non-negative integers.
 */
export interface RetryPolicy {
  /** Attempts after the first. Default 3; 0 switches retries off. */
  maxRetries?: number | undefined;
  /** Default 1,000. */
  baseMs?: number | undefined;
  /** Default 2. */
  factor?: number | undefined;
  /** Default 1: the first wait is base × factor. */
  firstExponent?: number | undefined;
  /** Upper bound of the random part. Default 1,000. */
  jitterMs?: number | undefined;
  /**
   * `"added"`: up to `jitterMs` more, so that the shortest waits are those of the formula. `"full"`: anything from 0 to
   * the formula's wait, which spreads many clients best. Default `"added"`.
   */
  jitter?: "added" | "full" | undefined;
  /** Longest wait, at least `baseMs`. Default 60,000, or `baseMs` if that is more. A `Retry-After` beyond it ends the retries. */
  maxMs?: number | undefined;
  /** Default true. */
  respectRetryAfter?: boolean | undefined;
  /** The failures that are tried again. Default: every one that is `retryable`. */
  on?: readonly FailureCode[] | undefined;
  /**
   * How often a model call is made, a positive integer, when all of its attempts have failed: whatever the provider or
   * the network did, and with attempts of its own each time. Default 1.
   */
  maxCalls?: number | undefined;
}

/**
 * The time of a run. `setTimer` and `clearTimer` have the shape of `setTimeout` and `clearTimeout`; a run has at most
 * one timer armed.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after `delayMs`; returns what `clearTimer` takes. */
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

/** What an agent's tools may be given as. */
export type Tools = { readonly [name: string]: Tool } | readonly (Tool & { readonly name: string })[];

/** A tool as `tool()` returns it; its input type is checked where it is defined. */
export type Tool = ToolOptions<any>;

/** A JSON Schema object, or a Standard Schema that can also be written as JSON Schema (zod, arktype, valibot). */
export type InputSchema = JsonSchema | (StandardSchemaV1 & StandardJSONSchemaV1);

/** What `execute` gets: the output type of a Standard Schema, or the type that a JSON Schema literal describes. */
export type InputOf<S> = 0 extends 1 & S
  ? any
  : S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer O }
      ? O
      : unknown
    : FromJsonSchema<S>;

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
  /** `"once"`: a call must not be repeated after a crash; it starts only when its start has been saved. Default: may be repeated. */
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

/** Callbacks of a run. One that throws goes to `onError`; the run goes on. */
export interface RunListeners<Output = unknown> {
  /** Contract: each piece of the model's text, in order. After a `reset` event the text of that answer starts over. */
  onText?: ((text: string) => void) | undefined;
  /** Contract: each piece of the model's reasoning, in order. */
  onThinking?: ((text: string) => void) | undefined;
  /**
   * Contract: the structured answer so far, about once for each network chunk that adds to it. It is one object that
   * grows: copy what you keep. Unchecked; it starts over with every answer and every attempt.
   */
  onPartialOutput?: ((partial: Partially<Output>) => void) | undefined;
  /** Contract: a complete call, before its tool runs. */
  onToolCall?: ((event: RunEventOf<"tool-call">) => void) | undefined;
  /** Contract: a call's result or error. */
  onToolResult?: ((event: RunEventOf<"tool-result"> | RunEventOf<"tool-error">) => void) | undefined;
  /** Contract: every event, in order, after the callbacks above. */
  onEvent?: ((event: RunEvent) => void) | undefined;
  /** Contract: what a listener threw. Default: `reportError` in browsers and Workers, else `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

export interface RunOptions<Output = unknown> extends RunListeners<Output> {
  /** The history to go on from, for example `result.messages` of an earlier run. Default: none. */
  messages?: readonly Message[] | undefined;
  /** What persistent subagents remember: `result.subagents` of an earlier run. Default: nothing. */
  subagents?: readonly SubagentMemory[] | undefined;
  /** Values for the tools' `bindings`, over the agent's own. Default: none. */
  inputs?: Inputs | undefined;
  /** Aborts the run; may be aborted already. Its reason becomes `result.abortReason`. */
  signal?: HostAbortSignal | undefined;
}

/** How the events of a run are iterated. */
export interface EventsOptions {
  /** Leaving the loop (`break`, `return`, a throw) does not abort the run. Default false. */
  detached?: boolean | undefined;
}

/** A message on its way into a running run. */
export interface Queued {
  readonly id: number;
  /** Takes it back; false when it has been delivered already. */
  withdraw(): boolean;
}

/**
 * A run: it has started when you get it. It is no promise: await `run.result`. Iterating it (`for await (const event
 * of run)`) is optional. An iteration that begins in the same task sees every event; a later one, or one after more
 * than 16 KiB of text, starts with a `snapshot`.
 */
export interface Run<Output = unknown> extends AsyncIterable<RunEvent> {
  /** Unique; made by the `ids` option. */
  readonly id: string;
  /** Never rejects for what a provider, a tool or a limit did, unless an option says `"throw"`. */
  readonly result: Promise<RunResult<Output>>;
  /** Set inside `abort()` and before `result` settles; `undefined` while the run goes on. */
  readonly outcome: OutcomeKind | undefined;
  /** The events, with options; `for await (… of run)` is `run.events()`. Several iterations may go on at once. */
  events(options?: EventsOptions): AsyncIterableIterator<RunEvent>;
  /**
   * Tells the model something before its next call. One more iteration begins if the model has just finished
   * and no limit is reached; what no call took is in `result.undelivered`.
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  steer(prompt: Prompt): Queued;
  /**
   * Asks something when the model has finished.
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  followUp(prompt: Prompt): Queued;
  /** Ends the run now: `outcome` is set on return, `result` settles with everything that arrived. Again: nothing. */
  abort(reason?: string): void;
  /**
   * Answers a `question` event of the kind `permission`; false when it is closed already, or of another kind.
   *
   * @throws LoopletError `misuse_invalid_argument`
   */
  answer(questionId: number, answer: PermissionResult): boolean;
  /**
   * Switches the permission mode from the next tool call on, for the rest of the run. Without permissions so far, it
   * switches them on. In browsers, `acceptEdits` waits for the part of the engine that reads what calls are about, if the
   * run had no need of it before; until then the mode stays as it was, and a failed download goes to `onError`.
   *
   * @throws LoopletError `config_invalid_value`, `config_missing` for a mode that lacks what it needs
   */
  setPermissionMode(mode: PermissionMode): void;
  /**
   * Asks another model from the next request on, for the rest of the run; one that is under way is not touched. The
   * whole transcript goes to it, without what only the model before can read (signed reasoning). The event
   * `model-change` says when.
   *
   * @throws LoopletError `config_…` as `createAgent` for its `model`
   */
  setModel(model: Model): void;
  /**
   * Has the history summarised before the next model call, if there is anything before what is kept: see `compaction`.
   * Nothing happens if no model call follows.
   *
   * @throws LoopletError `config_…`
   */
  compact(options?: { instructions?: string | undefined }): void;
  /**
   * Raises limits while the run goes on; the event `limits` says what counts from now on. False when the run has ended, or
   * there is no such agent at work.
   *
   * @throws LoopletError `config_…`
   */
  addBudget(budget: AddedBudget): boolean;
}

/**
 * What a run came to: `"completed"`, `"stopped"` (then there is `stoppedBy`), `"cancelled"` (`abortReason`) or
 * `"failed"` (`error`).
 */
export type RunResult<Output = unknown> = RunReport &
  (
    | (Extract<Outcome, { outcome: "completed" }> & {
        /** The structured answer, if the agent has the option `output`. */
        output: Output;
      })
    | (Exclude<Outcome, { outcome: "completed" }> & {
        /** An earlier answer that fitted, before a follow-up. */
        output: Output | undefined;
      })
  );

/** What a run has to show, however it ended. */
export interface RunReport {
  /** The text of the last answer, partial or not. */
  text: string;
  toolCalls: ToolCallRecord[];
  /** The whole transcript, the given history included; legal to send again whatever happened. */
  messages: Message[];
  /** What persistent subagents remember, those included that were not called; for the next run's option `subagents`. */
  subagents: SubagentMemory[];
  usage: Usage;
  /** US dollars; 0 when the cost is not known, see `costBasis`. */
  costUsd: number;
  /** The same as an integer of billionths of a US dollar; `null` when it is not known. */
  costNanoUsd: number | null;
  /**
   * Where `costUsd` comes from: the vendor's own figure (OpenRouter, xAI, Perplexity), the model's `price` option, a
   * price table, or nowhere. A run whose calls differ is counted as the less certain.
   */
  costBasis: "reported" | "option" | "table" | "unknown";
  /** Model calls made. */
  iterations: number;
  /** Of the last answer; `null` when none was complete. */
  finishReason: FinishReason | null;
  /** The vendor's own word for it. */
  rawFinishReason: string | null;
  /** Ids of the steers and follow-ups that were never delivered. */
  undelivered: number[];
}

/** One tool call of a run. */
export interface ToolCallRecord {
  /** The provider's id. */
  toolCallId: string;
  toolName: string;
  /** What the model wrote; a string when it was no JSON object. */
  input: unknown;
  /** What the tool returned, or the error as the model saw it; `null` while it is open. */
  output: unknown;
  isError: boolean;
  durationMs: number;
}

/** What `createAgent` returns: a configuration, without state. One agent may have any number of runs at once. */
export interface Agent<Output = unknown> {
  /**
   * Starts a run at once.
   *
   * @throws LoopletError `misuse_empty_prompt`, `config_unknown_option`, `config_wrong_type`
   */
  run(prompt: Prompt, options?: RunOptions<Output>): Run<Output>;
  /** A conversation that keeps its transcript, and what persistent subagents remember, from prompt to prompt. */
  chat(options?: Pick<RunOptions, "messages" | "subagents">): Chat<Output>;
}
