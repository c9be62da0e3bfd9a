/**
 * The options that count between two model calls: functions around an iteration, conditions that stop the run, and
 * the length of the history.
 */
import type { Pruning } from "../generated/model.js";
import type { FinishReason, StoppedBy, Usage } from "./event.js";
import type { Message } from "./message.js";
import type { HttpModelOptions, Model } from "./model.js";
import type { HostAbortSignal } from "./platform.js";
import type { ToolCallRecord } from "./result.js";

export type { Pruning } from "../generated/model.js";

interface IterationPoint {
  /** The agent in the run's tree; `"root"` is the one that was started. */
  readonly agentPath: string;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/** The argument of `prepareIteration`. */
export interface IterationToPrepare extends IterationPoint {
  /** The iteration that is about to begin, from 1. */
  readonly iteration: number;
  /** The name of the model that answers unless `prepareIteration` chooses another. */
  readonly model: string;
  readonly messages: readonly Message[];
}

/** Changes for this one iteration and its retries. */
export interface PreparedIteration {
  model?: Model | undefined;
  /** Names of the tools that the model may see, in this order; a call of any other tool is denied. */
  tools?: readonly string[] | undefined;
  toolChoice?: HttpModelOptions["toolChoice"];
  /** The system prompt; `""` sends none. */
  system?: string | undefined;
  /** Messages that are sent instead of the transcript, which stays as it is. */
  messages?: readonly Message[] | undefined;
}

/** The argument of `onIterationEnd`. */
export interface EndedIteration extends IterationPoint {
  readonly iteration: number;
  readonly text: string;
  readonly finishReason: FinishReason | null;
  readonly usage: Usage;
  readonly toolCalls: readonly ToolCallRecord[];
}

/** The argument of `onLimit`. */
export interface LimitReached extends IterationPoint {
  readonly limit: Extract<StoppedBy, "iterations" | "tokens" | "usd" | "time" | "tool_rounds" | "tool_calls">;
  /** The option that ran out, for the limit `time`. */
  readonly timeout?: "totalMs" | "iterationMs";
  /** The last iteration that has begun. */
  readonly iteration: number;
  /** Usage of the run so far. */
  readonly usage: Usage;
  readonly toolRounds: number;
  /** Tool calls of the run, including the calls that would exceed the limit. */
  readonly toolCalls: number;
}

/**
 * New limits for the rest of the run; a limit that is left out stays. They replace the old values, only `timeMs` is
 * added.
 */
export interface RaisedLimits {
  maxIterations?: number | undefined;
  maxTotalTokens?: number | undefined;
  maxUsd?: number | undefined;
  maxToolRounds?: number | undefined;
  maxToolCalls?: number | undefined;
  /** Milliseconds that are added from the answer on, for the limit `time`. */
  timeMs?: number | undefined;
}

/**
 * The argument of `run.addBudget`: amounts that are added to the current limits. `{ maxTotalTokens: 10_000 }` adds
 * 10,000 tokens. A limit that is not set stays unset. `timeMs` is added to `timeouts.totalMs`.
 */
export interface AddedBudget extends RaisedLimits {
  /** The agent whose limits are raised. Default `"root"`: the run's limits, which its subagents share. */
  agentPath?: string | undefined;
}

type Maybe<T> = T | void | null | undefined | PromiseLike<T | void | null | undefined>;

/**
 * Contract: called when a limit is reached, before the run stops. For tokens and money that run out while an answer
 * streams, the call comes when the answer is complete. For a time limit, the run continues while the function
 * decides. The run stops if it returns nothing, throws, or returns a limit that is still too low.
 */
export type RaiseLimits = (reached: LimitReached) => Maybe<RaisedLimits>;

/** The options of `createAgent` about iterations. */
export interface IterationOptions {
  /**
   * Contract: called before each iteration, which waits up to 10 minutes for the answer. If it throws, or returns
   * changes that cannot be made, the iteration stays as it is, with a `warning` event.
   */
  prepareIteration?: ((iteration: IterationToPrepare) => Maybe<PreparedIteration>) | undefined;
  /**
   * Contract: called when an iteration is over. The next iteration, or the end of the run, waits up to 10 minutes for
   * it. It is not called for an iteration in which the run stops, fails or is cancelled. An error that it throws
   * becomes a `warning` event.
   */
  onIterationEnd?: ((iteration: EndedIteration) => unknown) | undefined;
}

/** A round of tools that has just ended. */
export interface ToolRound {
  /** The model call that asked for it, from 1. */
  readonly iteration: number;
  readonly toolCalls: readonly ToolCallRecord[];
}

/** A condition, as `hasToolCall()` and `iterationCount()` return it. */
export type StopCondition = { readonly toolCall: string } | { readonly iterations: number };

/** Contract: called after each round of tools; true stops the run. An error counts as false. */
export type StopPredicate = (round: ToolRound) => boolean | PromiseLike<boolean>;

/**
 * Steps against tool calls that repeat. A call repeats if it has the same input and the same result as an earlier
 * one, within one answer or in consecutive answers. A cycle of up to four rounds counts too. Each number says how
 * often calls repeat before the step. A step may not come before the one above it, and `stopAfter` must be the
 * greatest. `null` switches a step off. Steps that you leave out adapt to the others: at least twice the one before,
 * less than `stopAfter`.
 */
export interface RepeatOptions {
  /** The model is told about it, beside the results. Default 3. */
  nudgeAfter?: number | null | undefined;
  /** `onRepeat` is called; without that function the model is told again. Default 6. */
  askAfter?: number | null | undefined;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null | undefined;
}

/** The options of `createAgent` about when to stop. */
export interface StopOptions {
  /**
   * The highest cost of one run in US dollars, more than 0. A run that costs more is `stopped` by `usd`. looplet
   * checks before each model call, at each usage report of a stream, and before tools run, so a run exceeds the limit
   * by one answer at most. Default: none.
   */
  maxUsd?: number | undefined;
  /**
   * Whether `maxUsd` is allowed for a model without a price. Then only the cost that the vendor reports counts.
   * Default false.
   */
  allowUnknownPrice?: boolean | undefined;
  /** Conditions; each can end the run as `stopped` by `condition` when a round of tools is over. Default: none. */
  stopWhen?: StopCondition | StopPredicate | readonly (StopCondition | StopPredicate)[] | undefined;
  /** Steps against repeated tool calls; `false` switches them all off. */
  repeat?: RepeatOptions | false | undefined;
  /**
   * Contract: called when calls have repeated `repeat.askAfter` times; true stops the run. An error counts as false.
   */
  onRepeat?: ((round: ToolRound & { readonly times: number }) => boolean | PromiseLike<boolean>) | undefined;
}

/** The options of `createAgent` about the length of the history. */
export interface ContextOptions {
  /**
   * Text that the model gets with every request, behind the system prompt; no compaction removes it. A function is
   * called once for each run. Default: none.
   */
  instructions?: string | (() => string) | undefined;
  /** When and how the first part of the history is summarised; `false` switches summaries off. */
  compaction?: false | CompactionOptions | undefined;
  /**
   * Whether old answers are shortened: their thinking and the inputs of their calls, never their text and never
   * results. `true` takes the defaults of `Pruning`. Default false.
   */
  pruning?: boolean | Pruning | undefined;
}

export interface CompactionOptions {
  /**
   * Whether looplet summarises when the window is nearly full, or when the vendor says that it is. `run.compact()`
   * works in any case. Default true.
   */
  auto?: boolean | undefined;
  /** The share of the window that may be full, above 0 and up to 1. Default 0.8. */
  threshold?: number | undefined;
  /** Answers of the model that stay as they are, with their tools' results, a non-negative integer. Default 3. */
  keepLast?: number | undefined;
  /** Further wishes for the summary. Default: none. */
  instructions?: string | undefined;
  /**
   * Contract: writes the summary instead of the model. The built-in summary takes its place if it throws, returns an
   * empty text, or takes longer than `timeouts.firstChunkMs`.
   */
  summarize?: ((request: CompactionRequest) => string | PromiseLike<string>) | undefined;
}

export interface CompactionRequest {
  readonly trigger: "auto" | "manual" | "overflow";
  readonly instructions?: string | undefined;
  /** The messages that the summary will replace. */
  readonly messages: readonly Message[];
  /** Fires when no request waits for the summary any more. */
  readonly signal: HostAbortSignal;
}
