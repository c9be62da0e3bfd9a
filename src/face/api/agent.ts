/**
 * An agent: the options of `createAgent`, and agents as tools of an agent (`subagent()` and `handoff()`). Options of
 * one topic stand in that topic's file: `tool.ts`, `hook.ts`, `permission.ts`, `iteration.ts` and so on.
 */
import type { FailureCode } from "./event.js";
import type { HookOptions } from "./hook.js";
import type { ContextOptions, IterationOptions, StopOptions } from "./iteration.js";
import type { Message } from "./message.js";
import type { Fetch, Model } from "./model.js";
import type { PermissionOptions } from "./permission.js";
import type { FinishOptions, OutputFormat } from "./result.js";
import type { Prompt, RunOptions, SteerOptions, TypedChat, TypedRun, TypedRunOptions } from "./run.js";
import type { InputSchema } from "./schema.js";
import type { ToolOptions, ToolRunOptions, Tools, ToolTypes, ToolTypesOf } from "./tool.js";
import type { TraceOptions } from "./trace.js";

/**
 * The options of `createAgent`. An unknown name, a wrong type or a missing field throws a `LoopletError` at once; its
 * `field` names the option.
 */
export interface AgentOptions<T extends Tools = Tools, S extends InputSchema = InputSchema>
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
  /**
   * The tools, as a record (the key is the name) or an array (each has its `name`). A record types the events and the
   * results of the runs. Default: none.
   */
  tools?: T | undefined;

  /** The schema that every answer must fit; the parsed answer is `result.output`. Default: any text. */
  output?: OutputFormat<S> | undefined;
  /**
   * How often looplet asks again for an answer that does not fit the schema, a non-negative integer. Default 3. After
   * the last try the run is `stopped` by `structured_output`.
   */
  maxStructuredOutputRetries?: number | undefined;

  /**
   * Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
   * `maxStructuredOutputRetries` need. A run that wants more is `stopped` by `iterations`.
   */
  maxIterations?: number | undefined;
  /**
   * Input plus output tokens of one run, a positive integer. Default: none. A run that uses more is `stopped` by
   * `tokens`.
   */
  maxTotalTokens?: number | undefined;
  /**
   * Whether limits of tokens and money also count estimates of usage that no vendor has reported yet. Estimates cover
   * the request that is about to be sent, the answer that streams, and whole answers of servers that never report
   * usage. A request's estimate is reserved, so that parallel subagents see each other's, and a request that does not
   * fit in the rest of the limit is not sent. An estimate takes 3.5 bytes for a token. Default false: only reported
   * usage counts.
   */
  estimateUsage?: boolean | undefined;
  /** Tokens of one answer, a positive integer; wins over the model's own option. Default: the model's. */
  maxOutputTokens?: number | undefined;
  /** Time limits of the run and its parts. */
  timeouts?: Timeouts | undefined;
  /** When and how looplet repeats a failed model call. */
  retry?: RetryPolicy | undefined;
  /**
   * Models that take over, in this order, when a model has used up its retries on failures that may go away
   * (`error.retryable`). The next model continues the same run with retries of its own and stays for the rest of it;
   * its vendor and protocol may differ. A `model-change` event carries the failure. Default: none.
   */
  fallbackModels?: readonly Model[] | undefined;
  /**
   * Which calls of one answer may run at the same time. Results always keep the order of the calls.
   * - `"read-only-parallel"` (default): read-only calls run in parallel, and so do calls with different resource
   *   keys; all other calls run in order.
   * - `"parallel"`: all calls run at once, but calls with the same resource key run in order.
   * - `"sequential"`: one call runs after the other.
   */
  toolExecution?: ToolExecution | undefined;
  /** Levels of subagents below this agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number | undefined;
  /** Tool calls that run at once, a positive integer. Default 8. */
  maxToolConcurrency?: number | undefined;
  /** Whether deltas of one block that arrive in the same network chunk are delivered as one event. Default true. */
  joinDeltas?: boolean | undefined;

  /**
   * Your function that sends the requests, called as `(url: string, init)`. A model's own `fetch` wins. Default: the
   * global `fetch`.
   */
  fetch?: Fetch | undefined;
  /** The clock of the runs, for tests and replays. Default: `Date.now`, `setTimeout`, `clearTimeout`. */
  clock?: Clock | undefined;
  /**
   * Your source of random numbers in [0, 1), for jitter and for the ids that looplet makes. Any other return value
   * goes to `onError`, and `Math.random` takes its place. Default: `Math.random`.
   */
  random?: (() => number) | undefined;
  /** Makes `run.id`, a text that is not empty; any other value throws in `agent.run`. Default: a random id. */
  ids?: (() => string) | undefined;
}

export type ToolExecution = "read-only-parallel" | "parallel" | "sequential";

/** Time limits in milliseconds: non-negative integers, or `null` for no limit. */
export interface Timeouts {
  /** The whole run, which then ends as `stopped` by `time`. Default: none. */
  totalMs?: number | null | undefined;
  /**
   * One iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools, and your
   * functions that looplet asks. This clock stands still while a person is asked (`canUseTool`). The run ends as
   * `stopped` by `time`. Default: none.
   */
  iterationMs?: number | null | undefined;
  /** From sending a request to the first byte of its body. Default 600,000. A timeout counts as a retryable failure. */
  firstChunkMs?: number | null | undefined;
  /** Between two chunks of a body. Default 120,000. A timeout counts as a retryable failure. */
  chunkMs?: number | null | undefined;
  /** One call of a tool that has no `timeoutMs`. The model gets an error result. Default: none. */
  toolMs?: number | null | undefined;
}

/**
 * Retries of a model call after status 429 or 5xx, a network failure or a broken stream. The n-th retry waits
 * `min(maxMs, baseMs × factor^n)` plus up to `jitterMs`. If the server asked for a longer wait,
 * that one counts. All numbers are non-negative integers.
 */
export interface RetryPolicy {
  /** Attempts after the first. Default 3; 0 switches retries off. */
  maxRetries?: number | undefined;
  /** The wait that the formula begins with, in milliseconds. Default 1,000. */
  baseMs?: number | undefined;
  /** The factor by which each wait is longer than the one before. Default 2. */
  factor?: number | undefined;
  /**
   * Returns the wait before the n-th retry in milliseconds, from 1 on, instead of `baseMs` and `factor`. `createAgent`
   * calls it for each retry up to the hundredth, whose wait holds for all later ones.
   */
  delay?: ((retry: number) => number) | undefined;
  /** The upper bound of the random part, in milliseconds. Default 1,000. */
  jitterMs?: number | undefined;
  /**
   * How random the waits are. `"added"` adds up to `jitterMs` to the formula's wait. `"full"` picks a wait between 0
   * and the formula's, which spreads many clients best. Default `"added"`.
   */
  jitter?: "added" | "full" | undefined;
  /**
   * The longest wait in milliseconds, at least `baseMs`. Default 60,000, or `baseMs` if that is more. A `Retry-After`
   * beyond it ends the retries.
   */
  maxMs?: number | undefined;
  /** Whether looplet waits as long as the server asks (`Retry-After`). Default true. */
  respectRetryAfter?: boolean | undefined;
  /** Codes of the failures that are retried. Default: all failures that are `retryable`. */
  on?: readonly FailureCode[] | undefined;
  /**
   * How often looplet makes a whole model call, a positive integer. The next call begins when all attempts of the one
   * before have failed, for whatever reason, and it has attempts of its own. Default 1.
   */
  maxCalls?: number | undefined;
}

/**
 * The clock of a run. `setTimer` and `clearTimer` have the shape of `setTimeout` and `clearTimeout`; a run has at
 * most one timer armed.
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
export interface TypedAgent<C extends ToolTypes, Output> {
  /**
   * Starts a run at once.
   *
   * @throws LoopletError `misuse_empty_prompt`, `config_unknown_option`, `config_wrong_type`
   */
  run(prompt: Prompt, options?: TypedRunOptions<C, Output>): TypedRun<C, Output>;
  /**
   * Begins a conversation. It keeps its transcript and the memory of its persistent subagents from prompt to prompt.
   */
  chat(options?: Pick<RunOptions, "messages" | "subagents">): TypedChat<C, Output>;
}

/** The options that `subagent()` and `handoff()` share. */
interface AgentToolOptions {
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
  /** Whether a call needs an approval before the agent begins, as for any tool. Default false. */
  needsApproval?: ToolOptions["needsApproval"];
  /** How often one agent may call it, a positive integer. Default: any number. */
  maxCalls?: number | undefined;
}

/**
 * Options that a subagent may set for itself; `AgentOptions` explains each. The limits count one call of the subagent
 * and stop only the subagent. Tokens and money also count the subagents below it. `timeouts.totalMs` is the time of
 * one call.
 */
export type ProfileOptions = Pick<
  AgentOptions<Tools, any>,
  | "maxIterations"
  | "maxTotalTokens"
  | "maxUsd"
  | "maxToolRounds"
  | "maxToolCalls"
  | "timeouts"
  | "retry"
  | "fallbackModels"
  | "stopWhen"
  | "repeat"
  | "onRepeat"
  | "output"
  | "maxStructuredOutputRetries"
  | "contextWindow"
  | "contextBudget"
  | "compaction"
  | "historyCompaction"
  | "toolExecution"
  | "maxToolConcurrency"
  | "onMaxTokens"
  | "strictStopReason"
  | "maxToolResultChars"
  | "eagerTools"
>;

/**
 * An agent that answers a tool call. It sees only the prompt of that call. Its caller gets its last text, or with
 * `output` its validated JSON.
 *
 * Limits, `output`, `stopWhen` and `onRepeat` have the defaults of an agent. `fallbackModels` are the run's if the
 * subagent uses its caller's model, and `timeouts` are the run's without `totalMs`. All other options default to the
 * run's. Permissions, hooks, guardrails and budgets are always the run's.
 */
export interface SubagentOptions extends AgentToolOptions, ProfileOptions {
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

/** The memory of a persistent subagent. */
export interface SubagentMemory {
  /** The agent's path at its first call, for example `"root/researcher"`. */
  agentPath: string;
  /** The agent's conversation, legal to send again. */
  messages: Message[];
}

/**
 * An agent that takes the conversation over. The whole transcript continues with its system prompt, its tools and its
 * model, under the limits of the agent before it. The next run begins with the first agent again.
 */
export interface HandoffOptions extends AgentToolOptions {
  /**
   * Whether the agent gets a tool `hand_back`, which returns the conversation to the agent before it. Default false.
   */
  handBack?: boolean | undefined;
}
