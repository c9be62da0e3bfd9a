/** Functions around the iterations of a run: before one, after one, and when a limit is hit. */
import type { FinishReason, StoppedBy, Usage } from "./event.js";
import type { HostAbortSignal } from "./host-types.js";
import type { Message } from "./message.js";
import type { HttpModelOptions, Model } from "./model-types.js";
import type { ToolCallRecord } from "./types.js";

interface IterationPoint {
  /** The agent in the run's tree; `"root"` is the one that was started. */
  readonly agentPath: string;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/** What `prepareIteration` gets. */
export interface IterationToPrepare extends IterationPoint {
  /** The iteration that is about to begin, from 1. */
  readonly iteration: number;
  /** The name of the model that is asked unless something else is said. */
  readonly model: string;
  readonly messages: readonly Message[];
}

/** What differs in this one iteration, its retries included. */
export interface PreparedIteration {
  model?: Model | undefined;
  /** Names of the tools that the model is told of; a call of another one is denied. */
  tools?: readonly string[] | undefined;
  toolChoice?: HttpModelOptions["toolChoice"];
  /** `""`: no system prompt. */
  system?: string | undefined;
  /** What is sent in place of the transcript, which stays as it is. */
  messages?: readonly Message[] | undefined;
}

/** What `onIterationEnd` gets. */
export interface EndedIteration extends IterationPoint {
  readonly iteration: number;
  readonly text: string;
  readonly finishReason: FinishReason | null;
  readonly usage: Usage;
  readonly toolCalls: readonly ToolCallRecord[];
}

/** What `onLimit` gets. */
export interface LimitReached extends IterationPoint {
  readonly limit: Extract<StoppedBy, "iterations" | "tokens" | "usd" | "time" | "tool_rounds" | "tool_calls">;
  /** Which time it is, for the limit `time`. */
  readonly timeout?: "totalMs" | "iterationMs";
  /** The last iteration that has begun. */
  readonly iteration: number;
  /** Of the run so far. */
  readonly usage: Usage;
  readonly toolRounds: number;
  /** Those included that would exceed the limit. */
  readonly toolCalls: number;
}

/** New limits for the rest of the run, not additions but for the time; what is left out stays. */
export interface RaisedLimits {
  maxIterations?: number | undefined;
  maxTotalTokens?: number | undefined;
  maxUsd?: number | undefined;
  maxToolRounds?: number | undefined;
  maxToolCalls?: number | undefined;
  /** For the limit `time`: milliseconds that are added, from the answer on. */
  timeMs?: number | undefined;
}

/**
 * What `run.addBudget` adds to the limits as they stand: `{ maxTotalTokens: 10_000 }` are 10,000 tokens more. A limit that
 * there is not stays none. `timeMs` is added to `timeouts.totalMs`.
 */
export interface AddedBudget extends RaisedLimits {
  /** Whose limits. Default `"root"`: the run's, which its subagents share. */
  agentPath?: string | undefined;
}

type Maybe<T> = T | void | null | undefined | PromiseLike<T | void | null | undefined>;

/**
 * Contract: called when a limit is hit, before the run stops; tokens and money that run out while an answer streams are
 * asked about when it is complete. While a time is asked about everything goes on. Nothing, a throw, or a limit that is still too low stops the run.
 */
export type RaiseLimits = (reached: LimitReached) => Maybe<RaisedLimits>;

/** The options of `createAgent` about iterations. */
export interface IterationOptions {
  /**
   * Contract: called before each iteration, which waits for it, with 10 minutes to answer. What it throws, and what cannot
   * be done, leaves the iteration as it is, with a `warning` event.
   */
  prepareIteration?: ((iteration: IterationToPrepare) => Maybe<PreparedIteration>) | undefined;
  /**
   * Contract: called when an iteration is over, before the next begins or the run completes, which wait for it for up to
   * 10 minutes. Not called for an iteration in which the run is stopped or cancelled or fails. What it throws is a
   * `warning` event.
   */
  onIterationEnd?: ((iteration: EndedIteration) => unknown) | undefined;
}
