/**
 * An agent: the options of `createAgent`, and agents as tools of an agent (`subagent()` and `handoff()`). Options of
 * one topic stand in that topic's file: `tool.ts`, `hook.ts`, `permission.ts`, `iteration.ts` and so on.
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
  KeptChat,
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
 * The options of `createAgent`. What an agent is stands on the first level; what tunes it stands in a group of its
 * subject. An unknown name, a wrong type or a missing field throws a `LoopletError` at once; its `field` names the
 * option with its group (`limits.maxUsd`).
 */
export interface AgentOptions<T extends Tools = Tools, S extends InputSchema = InputSchema>
  extends AgentData, RunData, FinishOptions, HookOptions, IterationOptions, TraceOptions, StoreOptions {
  /** The model: `anthropic(…)`, `openaiChat(…)`, `compatible(…)`, `custom(async …)` or one of `looplet/models`. Required. */
  model: Model;
  /** The system prompt. Default: none. */
  system?: string | undefined;
  /**
   * Text that every agent of the run gets behind its own system prompt, subagents too. No compaction removes it. A
   * function is called once for each run. Default: none.
   */
  sharedInstructions?: string | (() => string) | undefined;
  /**
   * The tools, as a record (the key is the name) or an array (each has its `name`). A record types the events and the
   * results of the runs. Default: none.
   */
  tools?: T | undefined;
  /** Values for the tools' `bindings`. For each name a value in `agent.run(prompt, { inputs })` wins. */
  inputs?: Inputs | undefined;

  /** The schema that every answer must fit; the parsed answer is `result.output`. Default: any text. */
  output?: OutputFormat<S> | undefined;

  /** Tokens of one answer, a positive integer; wins over the model's own option. Default: the model's. */
  maxOutputTokens?: number | undefined;
  /**
   * Models that take over, in this order, when a model has used up its retries on failures that may go away
   * (`error.retryable`). The next model continues the same run with retries of its own and stays for the rest of it;
   * its vendor and protocol may differ. A `model-change` event carries the failure. Default: none.
   */
  fallbackModels?: readonly Model[] | undefined;

  /** When a run ends early: iterations, tokens, money, repeated calls, conditions of yours. */
  limits?: LimitOptions | undefined;
  /** The length of the history: the model's window, and what is summarised or shortened. */
  context?: ContextOptions | undefined;
  /** The bounds of one answer of a model, and how looplet treats one that is not whole. */
  answers?: AnswerOptions | undefined;
  /** How tool calls run, and what the model reads of them. */
  toolCalls?: ToolCallOptions | undefined;
  /**
   * Which tool calls may run. Default: all, except for tools that need an approval. With any option in it, even with
   * `{}`, the mode is `"default"`, in which a call needs a rule or `canUseTool`.
   */
  permissions?: PermissionOptions | undefined;
  /** Which events a run tells. */
  events?: EventOptions | undefined;

  /**
   * Your function that sends the requests, called as `(url: string, init)`. A model's own `fetch` wins. Default: the
   * global `fetch`.
   */
  fetch?: Fetch | undefined;
  /**
   * The clock of the runs and of their `handler`, for tests and replays. Default: `Date.now`, `setTimeout`,
   * `clearTimeout`.
   */
  clock?: Clock | undefined;
  /**
   * Your source of random numbers in [0, 1), for jitter and for the ids that looplet makes. Any other return value
   * goes to `onError`, and `Math.random` takes its place. Default: `Math.random`.
   */
  random?: (() => number) | undefined;
  /** Makes `run.id`, a text that is not empty; any other value throws in `agent.run`. Default: a random id. */
  ids?: (() => string) | undefined;
}

/**
 * The clock of a run. `setTimer` and `clearTimer` have the shape of `setTimeout` and `clearTimeout`; a run has at
 * most one timer armed, and with a store another one for its lease.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after `delayMs`; returns the handle that `clearTimer` takes. */
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

/**
 * An agent, as `createAgent` returns it: a configuration without state. One agent may have any number of runs at
 * once.
 *
 * `T` are its tools, and `Output` is the type of its structured answer. `Agent<T>` is an `Agent`.
 */
export type Agent<T extends Tools = Tools, Output = unknown> = TypedAgent<ToolTypesOf<T>, Output>;

/** An agent with tools of these types. */
export interface TypedAgent<C extends ToolTypes, Output> extends NotAMethodOfAgent {
  /**
   * Starts a run at once.
   *
   * @throws LoopletError `misuse_empty_prompt`, `config_unknown_option`, `config_wrong_type`
   */
  run(prompt: Prompt, options?: TypedRunOptions<C, Output> & NotOfRun): TypedRun<C, Output>;
  /**
   * Goes on with a run that another process has begun: with the run of this id in the agent's `store`, or with the
   * entries of a journal. Finished tool calls are not made again, a request that was cut off is sent again, and open
   * questions are asked again under their ids. A call that had begun runs again if its `replay` is `"safe"`; else
   * `reconcile` is asked about it. Options that have changed since count as they are now; a warning names them. A run
   * that a limit has stopped goes on under the limits of now, and a run that has completed ends again with the same
   * result. A run that another process holds fails with `run_held`, unless `takeOver` is set.
   *
   * @throws LoopletError `config_missing` without a store
   */
  resume(run: string | readonly JournalEntry[], options?: ResumeOptions<C, Output>): TypedRun<C, Output>;
  /**
   * The runs in the `store` that have not ended and that no process holds, also those that were `stopped` by
   * `recovery_exhausted`. Nothing happens to them. `filter` gets the id of each.
   *
   * Rejects as `resumePending`.
   */
  pending(options?: Pick<PendingOptions, "filter">): Promise<PendingRun[]>;
  /**
   * Goes on with the runs in the `store` that have not ended and that no process holds: their process is gone, has
   * stood still for longer than its lease, or was closed with `recoverable`. Resolves with these runs. A run that
   * another process takes at the same moment is not among them. Call it when a process begins, and now and then.
   *
   * @throws LoopletError `config_missing` without a store that has leases
   */
  resumePending(options?: PendingOptions<C, Output>): Promise<TypedRun<C, Output>[]>;
  /**
   * Ends the work of this agent, for a deploy or at the end of a process. Every run is aborted; with `recoverable`
   * the runs of a `store` end here as `cancelled`, but not in their journals, and any process may go on with them at
   * once. No run can start any more. Resolves when the results have settled and the store has everything.
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * The most that a run with this prompt may use and cost under the agent's limits, before anything is sent. It
   * counts what vendors report, and takes `context.window` and each model's `maxOutputTokens` for true. Without these
   * it counts with what looplet knows of the model, and says so in `assumed`. What you add to the run later
   * (`run.steer`, `run.addBudget`, `run.setModel`) is not in it. `options` are those of the run.
   *
   * Rejects with a `LoopletError` of the codes of `agent.run`, or `config_wasm`.
   */
  bound(
    prompt: Prompt,
    options?: Pick<TypedRunOptions<C, Output>, "messages" | "subagents" | "agent">,
  ): Promise<RunBound>;
  /**
   * Begins a conversation. It keeps its transcript, its usage and the memory of its persistent subagents from prompt
   * to prompt. `history` comes from an earlier chat.
   */
  chat(history?: ChatHistory): TypedChat<C, Output>;
  /**
   * Opens the chat of this id in the agent's `store`, a new one or one that any process has begun. It has its
   * messages, the memory of its subagents, and the agent that spoke last. Its runs are durable. A run that was cut
   * off goes on at once: it is `chat.current`, and `options` are its listeners and its signal. An iteration over its
   * events misses none if it begins when the promise resolves.
   *
   * Rejects with the error of a store that cannot be read, or with a `LoopletError`: `config_missing` without a
   * store, `config_invalid_value` if the journal cannot be read or names an agent that these options do not have.
   */
  openChat(id: string, options?: OpenChatOptions<C, Output>): Promise<TypedChat<C, Output>>;
  /**
   * The messages of a chat in the agent's `store`, whoever goes on with it; undefined if there is no such chat.
   * Nothing begins or changes. Rejects as `openChat`.
   */
  readChat(id: string, options?: ReadChatOptions): Promise<KeptChat | undefined>;
}

/** The options of `agent.resumePending`: those of `agent.resume` for each of the runs. */
export type PendingOptions<C extends ToolTypes = ToolTypes, Output = unknown> = Omit<
  ResumeOptions<C, Output>,
  "id" | "takeOver" | "afterEvent"
> & {
  /**
   * Contract: called with the id of each run; false leaves the run to others. A store that several agents share needs
   * it. Default: all runs.
   */
  filter?: ((id: string) => boolean) | undefined;
  /** Whether runs go on that were `stopped` by `recovery_exhausted`, because their cause is mended. Default false. */
  stopped?: boolean | undefined;
};

/** A run in a store that no process goes on with. */
export interface PendingRun {
  readonly id: string;
  /** How often it was `stopped` by `recovery_exhausted`; 0 for a run that was cut off or given up. */
  readonly stops: number;
}

/** The options of `agent.close`. */
export interface CloseOptions {
  /** Whether runs with a store stay unfinished, for another process to go on with. Default false. */
  recoverable?: boolean | undefined;
}

/** The options that `subagent()` and `handoff()` share. */
interface AgentToolOptions extends Pick<ToolOptions, "needsApproval" | "maxCalls"> {
  /** The name by which the model calls it. An array of tools needs it; in a record the key is the name. */
  name?: string | undefined;
  /** Tells the calling model when to ask this agent, and for what. Required. */
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
 * Options that a subagent may set for itself; `AgentOptions` explains each. The limits count one call of the subagent
 * and stop only the subagent. Tokens and money also count the subagents below it. `timeouts.totalMs` is the time of
 * one call.
 */
export interface ProfileOptions
  extends AgentData, Pick<AgentOptions<Tools, any>, "fallbackModels" | "output" | "context" | "answers"> {
  /** When a call of it ends early. */
  limits?: SubagentLimits | undefined;
  /** How its tool calls run. Default: the run's, one by one. */
  toolCalls?: AgentToolCalls | undefined;
}

/** The limits that a subagent may have of its own. */
export type SubagentLimits = Omit<LimitOptions, keyof RunLimits | "allowUnknownPrice" | "onLimit">;

/**
 * An agent that answers a tool call. It sees only the prompt of that call. Its caller gets its last text, or with
 * `output` its validated JSON.
 *
 * `limits` and `output` have the defaults of an agent. `fallbackModels` are the run's if the
 * subagent uses its caller's model, and `timeouts` are the run's without `totalMs`. All other options default to the
 * run's. Permissions, hooks, guardrails and budgets are always the run's.
 */
export interface SubagentOptions<S extends InputSchema = InputSchema>
  extends AgentToolOptions, Omit<ProfileOptions, "output"> {
  /** The schema that every answer must fit. Default: any text. */
  output?: OutputFormat<S> | undefined;
  /**
   * Whether it remembers its earlier calls: each call continues the conversation of the last one, and only one call
   * runs at a time. A chat keeps that memory from run to run. Outside of a chat, pass `result.subagents` to the next
   * run. Default false.
   */
  persistent?: boolean | undefined;
  /**
   * Whether the agent changes nothing, so that it may run beside read-only calls and in the mode `plan`. Subagents
   * run in parallel with each other in any case. Default false.
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
 * An agent that takes the conversation over. The whole transcript continues with its system prompt, its tools and its
 * model, under the limits of the agent before it. A chat goes on with it, and `result.agent` names it.
 */
export interface HandoffOptions<S = InputSchema> extends AgentToolOptions {
  /**
   * The schema of the input that the model gives with the handoff, as for a tool. Default: there is no input, and
   * arguments are ignored.
   */
  inputSchema?: S | undefined;
  /**
   * Contract: called with the input before the agent takes over, which waits for it. An error that it throws goes to
   * the model, and the conversation stays where it is. A return value is ignored.
   */
  onHandoff?: ((input: InputOf<S>, context: ToolContext) => unknown) | undefined;
  /**
   * Contract: called once per handoff, when all calls of its answer are over. It returns the messages that the agent
   * begins with, or a promise of them. They are the conversation from then on, `result.messages` too. An error that
   * it throws, and messages that are not a legal history, fail the run, so that the agent reads no message that the
   * filter was to remove. `removeAllTools` is a ready filter. Default: the whole conversation.
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
  /** The name of the tool that hands over. */
  readonly toolName: string;
  /** The agent that hands over; `"root"` is the run's own. */
  readonly agentPath: string;
  /** Fires when nobody waits for the messages any more. */
  readonly signal: HostAbortSignal;
}

/** The options of a tool that calls an agent of `createAgent`: the second argument of `subagent`. */
export type SubagentCallOptions = Pick<
  SubagentOptions,
  "name" | "description" | "needsApproval" | "maxCalls" | "persistent" | "readOnly"
>;

/** The options of a tool that hands over to an agent of `createAgent`: the second argument of `handoff`. */
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
