/**
 * An agent: the options of `createAgent` (those of a topic stand with it: `tool.ts`, `hook.ts`, `permission.ts`,
 * `iteration.ts` …), and agents as tools of an agent, `subagent()` and `handoff()`.
 */
import type { FailureCode } from "./event.js";
import type { HookOptions } from "./hook.js";
import type { ContextOptions, IterationOptions, StopOptions } from "./iteration.js";
import type { Message } from "./message.js";
import type { Fetch, Model } from "./model.js";
import type { PermissionOptions } from "./permission.js";
import type { FinishOptions, OutputFormat } from "./result.js";
import type { Chat, Prompt, Run, RunOptions, SteerOptions } from "./run.js";
import type { InputSchema } from "./schema.js";
import type { ToolOptions, ToolRunOptions, Tools } from "./tool.js";
import type { TraceOptions } from "./trace.js";

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

/** What `subagent()` and `handoff()` have in common. */
interface AgentToolOptions {
  /** The name that the model uses. Needed in an array; in a record the key counts. */
  name?: string | undefined;
  /** What the agent can do and when to ask it, for the model that calls it. Required. */
  description: string;
  /** Its system prompt. Default: none. */
  system?: string | undefined;
  /** Its model. Default: the one that its caller asks when it calls. */
  model?: Model | undefined;
  /** Its tools; none of its caller's. Default: none. */
  tools?: Tools | undefined;
  /** Tokens of one answer, a positive integer. Default: the model's. */
  maxOutputTokens?: number | undefined;
  /** As of a tool: the host approves a call before the agent begins. Default false. */
  needsApproval?: ToolOptions["needsApproval"];
  /** As of a tool: how often one agent may call it, a positive integer. Default: any number. */
  maxCalls?: number | undefined;
}

/**
 * What a subagent has of its own as the run's agent has: see there. Its limits count one call of it, tokens and money
 * also of those below it, and stop only it; `timeouts.totalMs` is the time of one call.
 */
export type ProfileOptions = Pick<
  AgentOptions<any>,
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
 * An agent that answers a tool call. It sees only the prompt that it is called with, and only its last text comes back,
 * or with `output` its validated JSON. Defaults: limits, `output`, `stopWhen` and `onRepeat` as of an agent, `fallbackModels`
 * the run's if it asks its caller's model, `timeouts` the run's without `totalMs`, all else the run's. Permissions, hooks,
 * guardrails and budgets are the run's.
 */
export interface SubagentOptions extends AgentToolOptions, ProfileOptions {
  /**
   * It remembers its earlier calls: each goes on where the last one ended, one at a time. Within a chat also from run to
   * run, else if a run is given `result.subagents` of the one before. Default false.
   */
  persistent?: boolean | undefined;
  /** Nothing that it does changes anything: it may run beside read-only calls, and in the mode `plan`. Default false; agents always run beside each other. */
  readOnly?: boolean | undefined;
}

/** What a persistent subagent remembers. */
export interface SubagentMemory {
  /** Of its first call: `"root/researcher"`. */
  agentPath: string;
  /** Its conversation, legal to send again. */
  messages: Message[];
}

/**
 * An agent that takes the conversation over: the whole transcript goes on with its system prompt, its tools and its
 * model, under the limits of the agent before it. The next run of the same agent begins with the first one again.
 */
export interface HandoffOptions extends AgentToolOptions {
  /** It has a tool `hand_back`, which returns the conversation to the agent before it. Default false. */
  handBack?: boolean | undefined;
}
