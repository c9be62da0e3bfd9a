/**
 * The options that are looked at between two model calls: functions around an iteration, conditions that stop the run,
 * and the length of the history.
 */
import type { FinishReason, StoppedBy, Usage } from "./event.js";
import type { Message } from "./message.js";
import type { HttpModelOptions, Model } from "./model.js";
import type { HostAbortSignal } from "./platform.js";
import type { ToolCallRecord } from "./result.js";

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

/** A round of tools that has just ended. */
export interface ToolRound {
  /** The model call that asked for it, from 1. */
  readonly iteration: number;
  readonly toolCalls: readonly ToolCallRecord[];
}

/** What `hasToolCall()` and `iterationCount()` return. */
export type StopCondition = { readonly toolCall: string } | { readonly iterations: number };

/** Contract: called after each round of tools; true stops the run. What it throws counts as false. */
export type StopPredicate = (round: ToolRound) => boolean | PromiseLike<boolean>;

/**
 * What is done when tool calls repeat themselves: the same call with the same result, in one answer or in answers in a
 * row, or a cycle of up to four rounds. Numbers are how often, each step at least the one before, `stopAfter` more than
 * that; `null` switches a step off. A step that is left out keeps to this order: at least twice the one before, less than
 * `stopAfter`.
 */
export interface RepeatOptions {
  /** The model is told, beside the results. Default 3. */
  nudgeAfter?: number | null | undefined;
  /** `onRepeat` is asked; without it the model is told again. Default 6. */
  askAfter?: number | null | undefined;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null | undefined;
}

/** The options of `createAgent` about when to stop. */
export interface StopOptions {
  /**
   * What one run may cost, in US dollars, more than 0. Default: none. A run that costs more is `stopped` by `usd`; it is
   * looked at before each model call, with every usage report while streaming, and before tools, so a run exceeds it by
   * one answer at most.
   */
  maxUsd?: number | undefined;
  /** Take `maxUsd` without a price of the model: it then counts only what the vendor itself reports. Default false. */
  allowUnknownPrice?: boolean | undefined;
  /** Answers with tool calls in one run, a positive integer. Default: none. A final answer is always allowed; calls beyond it end the run as `stopped` by `tool_rounds`. */
  maxToolRounds?: number | undefined;
  /** Tool calls of one run with its subagents, a positive integer. Default: none. An answer that would exceed it ends the run as `stopped` by `tool_calls`, before its tools. */
  maxToolCalls?: number | undefined;
  /** Any of these ends the run as `stopped` by `condition` when a round of tools is over. Default: none. */
  stopWhen?: StopCondition | StopPredicate | readonly (StopCondition | StopPredicate)[] | undefined;
  /** What is done about repetition; `false` does nothing. */
  repeat?: RepeatOptions | false | undefined;
  /** Contract: called when calls have repeated `repeat.askAfter` times; true stops the run. What it throws counts as false. */
  onRepeat?: ((round: ToolRound & { readonly times: number }) => boolean | PromiseLike<boolean>) | undefined;
}

/** The options of `createAgent` about the length of the history. */
export interface ContextOptions {
  /**
   * Told to the model with every request, behind the system prompt; it survives every compaction. A function is called
   * once for each run. Default: none.
   */
  instructions?: string | (() => string) | undefined;
  /** Tokens that the model can read, a positive integer. Default: unknown, and then only its vendor can say that it is full. */
  contextWindow?: number | undefined;
  /** When the first part of the history is summarised, and how; `false`: never. */
  compaction?: false | CompactionOptions | undefined;
  /**
   * Old answers are cut short: their thinking and the inputs of their calls, not their text and no results. `true`: with
   * the defaults. Default false.
   */
  historyCompaction?: boolean | HistoryCompaction | undefined;
  /**
   * Characters of a request, a positive integer; what is too much is dropped from its front, and a few lines about it
   * take its place. No model is asked. Default: none.
   */
  contextBudget?: number | undefined;
}

export interface CompactionOptions {
  /** When the window is nearly full, and when the vendor says that it is. Default true; `run.compact()` works anyway. */
  auto?: boolean | undefined;
  /** How full the window may be, above 0 and up to 1. Default 0.8. */
  threshold?: number | undefined;
  /** Answers of the model that stay as they are, with their tools' results, a non-negative integer. Default 3. */
  keepLast?: number | undefined;
  /** What the summary shall also heed. Default: nothing else. */
  instructions?: string | undefined;
  /**
   * Contract: writes the summary in place of the model. What it throws, an empty text, or none within
   * `timeouts.firstChunkMs` lead to the built-in summary.
   */
  summarize?: ((request: CompactionRequest) => string | PromiseLike<string>) | undefined;
}

export interface CompactionRequest {
  readonly trigger: "auto" | "manual" | "overflow";
  readonly instructions?: string | undefined;
  /** What the summary will stand for. */
  readonly messages: readonly Message[];
  /** Fires when nobody waits for the summary any more. */
  readonly signal: HostAbortSignal;
}

export interface HistoryCompaction {
  /** An answer is old when so many have come after it, a positive integer. Default 5. */
  afterResponses?: number | undefined;
  /** What stays of it, in characters, a non-negative integer. Default 100. */
  prefixChars?: number | undefined;
}
