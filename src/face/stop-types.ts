/** What ends a run beside the model: counts, conditions, repetition. */
import type { ToolCallRecord } from "./types.js";

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
