/**
 * The options that count between two model calls: functions around an iteration, conditions that stop the run, and
 * the length of the history.
 */
import type {
  AgentLimits,
  CompactionData,
  ContextData,
  Facts,
  PreparedData,
  Pruning,
  RaisedData,
  RepeatOptions,
  RunLimits,
  StopCondition,
} from "../generated/model.js";
import type { MessageInput } from "./message.js";
import type { Model } from "./model.js";
import type { HostAbortSignal } from "./platform.js";
import type { ToolCallRecord } from "./result.js";

export type { Pruning, RepeatOptions, StopCondition } from "../generated/model.js";

/** The facts of a point, without the calls, which have the type of results here. */
type FactsWithoutCalls<P extends keyof Facts> = Omit<Facts[P], P extends "Limit" ? never : "toolCalls">;

interface IterationPoint {
  /** The agent in the run's tree; `"root"` is the one that was started. */
  readonly agentPath: string;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/** The argument of `prepareIteration`. */
export interface IterationToPrepare extends IterationPoint, FactsWithoutCalls<"PrepareIteration"> {
  /** The iteration that is about to begin, from 1. */
  readonly iteration: number;
}

/** Changes for this one iteration and its retries. */
export interface PreparedIteration extends PreparedData {
  model?: Model | undefined;
  /** Messages that are sent instead of the transcript, which stays as it is. */
  messages?: readonly MessageInput[] | undefined;
}

/** The argument of `onIterationEnd`. */
export interface EndedIteration extends IterationPoint, FactsWithoutCalls<"IterationEnd"> {
  readonly iteration: number;
  readonly toolCalls: readonly ToolCallRecord[];
}

/** The argument of `onLimit`. */
export interface LimitReached extends IterationPoint, FactsWithoutCalls<"Limit"> {
  /** The last iteration that has begun. */
  readonly iteration: number;
}

/**
 * New limits for the rest of the run; a limit that is left out stays. They replace the old values, only `timeMs` is
 * added.
 */
export interface RaisedLimits extends RaisedData {
  /** US dollars; the engine counts billionths, as for the option `limits.maxUsd`. */
  maxUsd?: number | undefined;
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
export interface ToolRound extends FactsWithoutCalls<"stop_condition"> {
  readonly toolCalls: readonly ToolCallRecord[];
}

/** Contract: called after each round of tools; true stops the run. An error counts as false. */
export type StopPredicate = (round: ToolRound) => boolean | PromiseLike<boolean>;

/** The option `limits` of `createAgent`: when a run ends early. */
export interface LimitOptions extends AgentLimits, RunLimits {
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
  /**
   * Steps against repeated tool calls; `false` switches them all off, `true` on. Default: on, in a subagent as in its
   * run.
   */
  repeat?: boolean | RepeatOptions | undefined;
  /**
   * Contract: called when calls have repeated `repeat.askAfter` times; true stops the run. An error counts as false.
   */
  onRepeat?:
    ((round: ToolRound & FactsWithoutCalls<"stop_repeat">) => boolean | PromiseLike<boolean>) | undefined;
  /**
   * For a `stopped` run: as `onCancel`, or a function that may raise a limit when it is reached. Default `"result"`.
   */
  onLimit?: "result" | "throw" | RaiseLimits | undefined;
}

/** The option `context` of `createAgent`: the length of the history. */
export interface ContextOptions extends ContextData {
  /**
   * When and how the first part of the history is summarised; `false` switches summaries off, `true` on. Default: on,
   * in a subagent as in its run.
   */
  compaction?: boolean | CompactionOptions | undefined;
  /**
   * Whether old answers are shortened, never their text. `true` takes the defaults of `Pruning`: the vendor hides the
   * inputs and results of old calls from the model where it can, else looplet cuts thinking and inputs. Default
   * false.
   */
  pruning?: boolean | Pruning | undefined;
}

export interface CompactionOptions extends CompactionData {
  /** The share of the window that may be full, above 0 and up to 1; the engine takes it in percent. Default 0.8. */
  threshold?: number | undefined;
  /**
   * Who writes the summary. `"vendor"`: the vendor of the model where it can, in a form that keeps the reasoning of
   * the answers after it, else the model. `"model"`: the model, in answer to a prompt of looplet. Default `"vendor"`.
   *
   * A function writes it in place of both. Contract: the built-in summary takes its place if it throws, returns an
   * empty text, or takes longer than `timeouts.firstChunkMs`.
   */
  summarize?: "vendor" | "model" | ((request: CompactionRequest) => string | PromiseLike<string>) | undefined;
}

export interface CompactionRequest extends FactsWithoutCalls<"summarize"> {
  /** Fires when the summary is no longer needed. */
  readonly signal: HostAbortSignal;
}
