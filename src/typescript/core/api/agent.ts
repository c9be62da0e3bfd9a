/**
 * An agent: the options of `createAgent`, and agents as tools of an agent (`subagent()` and `handoff()`). The options
 * of a topic are in that topic's file: `tool.ts`, `hook.ts`, `permission.ts`, `iteration.ts` and so on.
 */
import type {
  AgentData,
  AgentToolCalls,
  AnswerOptions,
  EventOptions,
  RunData,
  RunLimits,
} from "../generated/model.js";
import type { NotAMethodOfAgent, NotOfRun } from "../peer-names.js";
import type { HookOptions } from "./hook.js";
import type { ContextOptions, IterationOptions, LimitOptions } from "./iteration.js";
import type {
  ChatHistory,
  SavedChat,
  Message,
  MessageInput,
  OpenChatOptions,
  ReadChatOptions,
  TypedChat,
} from "./message.js";
import type { Fetch, Model } from "./model.js";
import type { PermissionOptions } from "./permission.js";
import type { HostAbortSignal } from "./platform.js";
import type { FinishOptions, OutputFormat, RunBound } from "./result.js";
import type { JournalEntry, StoreOptions } from "./run.js";
import type { Prompt, ResumeOptions, TypedRun, TypedRunOptions } from "./run.js";
import type { InputOf, InputSchema } from "./schema.js";
import type {
  Inputs,
  ToolCallOptions,
  ToolContext,
  ToolOptions,
  Tools,
  ToolTypes,
  ToolTypesOf,
} from "./tool.js";
import type { TraceOptions } from "./trace.js";

export type {
  AnswerOptions,
  EventOptions,
  RetryPolicy,
  SubagentMemory,
  Timeouts,
  ToolExecution,
} from "../generated/model.js";

/**
 * The options of `createAgent`. Basic options are at the top level; settings are grouped by topic. An unknown option,
 * a wrong type or a missing required option throws a `LoopletError` immediately. Its `field` is the full path of the
 * option (`limits.maxUsd`).
 */
export interface AgentOptions<T extends Tools = Tools, S extends InputSchema = InputSchema>
  extends AgentData, RunData, FinishOptions, HookOptions, IterationOptions, TraceOptions, StoreOptions {
  /**
   * The model: `anthropic(…)`, `openaiChat(…)`, `compatible(…)`, `custom(async …)` or one of `looplet/models`.
   * Required.
   */
  model: Model;
  /** The system prompt. Default: none. */
  system?: string | undefined;
  /**
   * Text that is appended to the system prompt of every agent of the run, including subagents. Compaction never
   * removes it. A function is called once per run. Default: none.
   */
  sharedInstructions?: string | (() => string) | undefined;
  /**
   * The tools, as a record (the key is the name) or an array (each has its `name`). A record types the events and the
   * results of the runs. Default: none.
   */
  tools?: T | undefined;
  /** Values for the tools' `bindings`. Values in `agent.run(prompt, { inputs })` override them by name. */
  inputs?: Inputs | undefined;

  /** The schema that every answer must match. The parsed answer is `result.output`. Default: any text. */
  output?: OutputFormat<S> | undefined;

  /**
   * The maximum number of tokens per answer, a positive integer. Overrides the model's own option. Default: the
   * model's.
   */
  maxOutputTokens?: number | undefined;
  /**
   * Models to fall back to, in this order. looplet switches to the next model when the current one has used all its
   * retries on retryable failures (`error.retryable`). The new model continues the run with a fresh set of retries
   * and is used until the run ends. It can use another vendor and protocol. The `model-change` event has the failure.
   * Default: none.
   */
  fallbackModels?: readonly Model[] | undefined;

  /** When a run ends early: iterations, tokens, cost, repeated calls, your own conditions. */
  limits?: LimitOptions | undefined;
  /** How the history is limited: the model's context window, and what is summarised or shortened. */
  context?: ContextOptions | undefined;
  /** The limits of one model answer, and how looplet handles an incomplete answer. */
  answers?: AnswerOptions | undefined;
  /** How tool calls run, and what the model sees of them. */
  toolCalls?: ToolCallOptions | undefined;
  /**
   * Which tool calls may run. Default: all calls, except those of tools with `needsApproval`. If you set this option,
   * even to `{}`, the mode is `"default"`: a call needs a matching rule or an approval by `canUseTool`.
   */
  permissions?: PermissionOptions | undefined;
  /** Which events a run emits. */
  events?: EventOptions | undefined;

  /**
   * The function that sends requests, called as `(url: string, init)`. A model's own `fetch` overrides it. Default:
   * the global `fetch`.
   */
  fetch?: Fetch | undefined;
  /**
   * The clock for runs and for their `handler`. Replace it in tests and replays. Default: `Date.now`, `setTimeout`,
   * `clearTimeout`.
   */
  clock?: Clock | undefined;
  /**
   * Returns random numbers in [0, 1), for retry jitter and generated ids. Any other return value is reported to
   * `onError`, and looplet uses `Math.random` instead. Default: `Math.random`.
   */
  random?: (() => number) | undefined;
  /** Generates `run.id`, a non-empty string. Any other value makes `agent.run` throw. Default: a random id. */
  ids?: (() => string) | undefined;
}

/**
 * The clock of a run. `setTimer` and `clearTimer` have the shape of `setTimeout` and `clearTimeout`; a run has at
 * most one timer active, plus one for its lease if it has a store.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after `delayMs`; returns the handle that `clearTimer` takes. */
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

/**
 * An agent, as returned by `createAgent`: a configuration without state. An agent can have any number of runs at the
 * same time.
 *
 * `T` are its tools, and `Output` is the type of its structured answer. `Agent<T>` is an `Agent`.
 */
export type Agent<T extends Tools = Tools, Output = unknown> = TypedAgent<ToolTypesOf<T>, Output>;

/** An agent with tools of these types. */
export interface TypedAgent<C extends ToolTypes, Output> extends NotAMethodOfAgent {
  /**
   * Starts a run immediately.
   *
   * @throws LoopletError `misuse_empty_prompt`, `config_unknown_option`, `config_wrong_type`
   */
  run(prompt: Prompt, options?: TypedRunOptions<C, Output> & NotOfRun): TypedRun<C, Output>;
  /**
   * Resumes a run that another process started. Pass the id of a run in the agent's `store`, or the entries of a
   * journal.
   * - Completed tool calls are not repeated. A call that was in progress runs again if its `replay` is `"safe"`;
   *   otherwise `reconcile` decides.
   * - An interrupted request is sent again.
   * - Open questions are asked again with the same ids.
   * - The current options apply. A warning names those that changed.
   * - A run that was stopped by a limit continues under the current limits. A completed run returns the same result.
   * - If another process holds the run, it fails with `run_held`, unless `takeOver` is set.
   *
   * @throws LoopletError `config_missing` without a store
   */
  resume(run: string | readonly JournalEntry[], options?: ResumeOptions<C, Output>): TypedRun<C, Output>;
  /**
   * Lists the unfinished runs in the `store` that no process holds, including those that were `stopped` by
   * `recovery_exhausted`. It does not change them. `filter` receives the id of each run.
   *
   * Rejects as `resumePending`.
   */
  pending(options?: Pick<PendingOptions, "filter">): Promise<PendingRun[]>;
  /**
   * Resumes the unfinished runs in the `store` that no process holds: their process exited, stalled for longer than
   * its lease, or was closed with `recoverable`. Resolves with these runs, without those that another process resumes
   * at the same moment. Call it when a process starts, and periodically.
   *
   * @throws LoopletError `config_missing` without a store that has leases
   */
  resumePending(options?: PendingOptions<C, Output>): Promise<TypedRun<C, Output>[]>;
  /**
   * Closes the agent, for a deploy or before the process exits. Every run is aborted, and no more runs can start.
   * With `recoverable`, runs with a `store` end as `cancelled` in this process but stay unfinished in the store, so
   * that any process can resume them immediately. Resolves when all results have settled and everything is saved.
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Returns the maximum usage and cost of a run with this prompt under the agent's limits. It sends no request. It
   * counts usage as vendors report it, and assumes that `context.window` and each model's `maxOutputTokens` are
   * correct. If they are not set, it uses what looplet knows about the model and lists that in `assumed`. It does not
   * include later changes by `run.steer`, `run.addBudget` or `run.setModel`. `options` are the options of the run.
   *
   * Rejects with a `LoopletError` of the codes of `agent.run`, or `config_wasm`.
   */
  bound(
    prompt: Prompt,
    options?: Pick<TypedRunOptions<C, Output>, "messages" | "subagents" | "agent">,
  ): Promise<RunBound>;
  /**
   * Starts a conversation. The chat retains its transcript, usage and the memory of persistent subagents between
   * prompts. To continue an earlier chat, pass its `history`.
   */
  chat(history?: ChatHistory): TypedChat<C, Output>;
  /**
   * Opens the chat with this id in the agent's `store`, or creates it. An existing chat has its messages, the memory
   * of its subagents and the active agent, whichever process started it. Its runs are durable. An interrupted run
   * resumes immediately as `chat.current`, with the listeners and the signal in `options`. To receive all of its
   * events, start the iteration as soon as the promise resolves.
   *
   * Rejects with the error of a store that cannot be read, or with a `LoopletError`: `config_missing` without a
   * store, `config_invalid_value` if the journal cannot be read or names an agent that these options do not have.
   */
  openChat(id: string, options?: OpenChatOptions<C, Output>): Promise<TypedChat<C, Output>>;
  /**
   * Reads a chat from the agent's `store` without opening it, even while another process runs it. Resolves to
   * undefined if the chat does not exist. Rejects as `openChat` does.
   */
  readChat(id: string, options?: ReadChatOptions): Promise<SavedChat | undefined>;
}

/** The options of `agent.resumePending`: those of `agent.resume` for each of the runs. */
export type PendingOptions<C extends ToolTypes = ToolTypes, Output = unknown> = Omit<
  ResumeOptions<C, Output>,
  "id" | "takeOver" | "afterEvent"
> & {
  /**
   * Contract: called with the id of each run; return false to skip the run. Required if several agents share the
   * store. Default: all runs.
   */
  filter?: ((id: string) => boolean) | undefined;
  /**
   * Whether to resume runs that were `stopped` by `recovery_exhausted`, for example after you fixed the cause.
   * Default false.
   */
  stopped?: boolean | undefined;
};

/** An unfinished run in a store that no process holds. */
export interface PendingRun {
  readonly id: string;
  /** How many times it was `stopped` by `recovery_exhausted`; 0 for a run that was interrupted or released. */
  readonly stops: number;
}

/** The options of `agent.close`. */
export interface CloseOptions {
  /** Whether to leave runs with a store unfinished, so that another process can resume them. Default false. */
  recoverable?: boolean | undefined;
}

/** The options that `subagent()` and `handoff()` share. */
interface AgentToolOptions extends Pick<ToolOptions, "needsApproval" | "maxCalls"> {
  /** The name that the model uses to call it. Required in an array of tools; in a record the key is the name. */
  name?: string | undefined;
  /** Describes to the calling model when to call this agent, and for what. Required. */
  description: string;
  /** The agent's system prompt. Default: none. */
  system?: string | undefined;
  /** The agent's model. Default: the model that its caller uses at the time of the call. */
  model?: Model | undefined;
  /** The agent's tools; it never gets its caller's. Default: none. */
  tools?: Tools | undefined;
  /** Tokens of one answer, a positive integer. Default: the model's. */
  maxOutputTokens?: number | undefined;
}

/**
 * Options that a subagent can override; see `AgentOptions`. Limits apply to one call of the subagent and stop only
 * the subagent. Token and cost limits include its own subagents. `timeouts.totalMs` limits one call.
 */
export interface ProfileOptions
  extends AgentData, Pick<AgentOptions<Tools, any>, "fallbackModels" | "output" | "context" | "answers"> {
  /** When a call of the subagent ends early. */
  limits?: SubagentLimits | undefined;
  /** How its tool calls run. Default: the run's, one by one. */
  toolCalls?: AgentToolCalls | undefined;
}

/** The limits that a subagent can override. */
export type SubagentLimits = Omit<LimitOptions, keyof RunLimits | "allowUnknownPrice" | "onLimit">;

/**
 * An agent that answers a tool call. It receives only the prompt of that call. The caller receives its final text, or
 * its validated JSON if `output` is set.
 *
 * `limits` and `output` have the same defaults as for an agent. `fallbackModels` default to the run's if the subagent
 * uses its caller's model. `timeouts` default to the run's, without `totalMs`. All other options default to the
 * run's. Permissions, hooks, guardrails and budgets always come from the run.
 */
export interface SubagentOptions<S extends InputSchema = InputSchema>
  extends AgentToolOptions, Omit<ProfileOptions, "output"> {
  /** The schema that every answer must fit. Default: any text. */
  output?: OutputFormat<S> | undefined;
  /**
   * Whether the subagent remembers its earlier calls. Each call continues the conversation of the previous call, and
   * only one call runs at a time. A chat retains this memory between runs. Outside of a chat, pass `result.subagents`
   * to the next run. Default false.
   */
  persistent?: boolean | undefined;
  /**
   * Whether the agent makes no changes. If true, it can run in parallel with read-only calls and in the mode `plan`.
   * Subagents always run in parallel with each other. Default false.
   */
  readOnly?: boolean | undefined;
}

/**
 * A tool that calls an agent, as `subagent()` returns it. Events and results have the type `Answer`: a text, or the
 * type of the option `output`.
 */
export type SubagentTool<Answer = string> = ToolOptions<PromptSchema, Answer>;

/** The schema of a subagent's input. */
export interface PromptSchema {
  readonly type: "object";
  readonly properties: { readonly prompt: { readonly type: "string"; readonly description: string } };
  readonly required: readonly ["prompt"];
  readonly additionalProperties: false;
}

/**
 * An agent that another agent can hand the conversation to. The transcript continues with the new agent's system
 * prompt, tools and model, under the limits of the previous agent. Later runs of a chat start with this agent, and
 * `result.agent` names it.
 */
export interface HandoffOptions<S = InputSchema> extends AgentToolOptions {
  /**
   * The schema of the input that the model gives with the handoff, as for a tool. Default: no input; arguments are
   * ignored.
   */
  inputSchema?: S | undefined;
  /**
   * Contract: called with the input before the handoff, which waits for it. If it throws, the model receives the
   * error and the handoff does not happen. The return value is ignored.
   */
  onHandoff?: ((input: InputOf<S>, context: ToolContext) => unknown) | undefined;
  /**
   * Contract: called once per handoff, after all calls of the same answer are complete. Returns the messages that the
   * new agent starts with, or a promise of them. They replace the conversation, also in `result.messages`. The run
   * fails if the function throws or returns an invalid history, so that the agent never sees a message that the
   * filter should have removed. `removeAllTools` is a ready filter. Default: the whole conversation.
   */
  inputFilter?:
    | ((handoff: HandoffInput<S>) => readonly MessageInput[] | PromiseLike<readonly MessageInput[]>)
    | undefined;
  /**
   * Whether the agent gets a tool `hand_back`, which returns the conversation to the agent before it. Default false.
   */
  handBack?: boolean | undefined;
}

/** The facts of a handoff, as `inputFilter` gets them. */
export interface HandoffInput<S = InputSchema> {
  /** The conversation, with the call of the handoff and its result. */
  readonly messages: Message[];
  /** The checked input of the handoff, as plain JSON; an empty object without `inputSchema`. */
  readonly input: InputOf<S>;
  /** The name of the handoff tool. */
  readonly toolName: string;
  /** The agent that hands off; `"root"` is the agent that started the run. */
  readonly agentPath: string;
  /** Fires when the messages are no longer needed. */
  readonly signal: HostAbortSignal;
}

/** The options of a tool that calls an agent of `createAgent`: the second argument of `subagent`. */
export type SubagentCallOptions = Pick<
  SubagentOptions,
  "name" | "description" | "needsApproval" | "maxCalls" | "persistent" | "readOnly"
>;

/** The options of a tool that hands off to an agent of `createAgent`: the second argument of `handoff`. */
export type HandoffCallOptions<S = InputSchema> = Pick<
  HandoffOptions<S>,
  | "name"
  | "description"
  | "needsApproval"
  | "maxCalls"
  | "handBack"
  | "inputSchema"
  | "onHandoff"
  | "inputFilter"
>;
