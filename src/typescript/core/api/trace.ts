/** Tracers, which follow a run; `looplet/trace` has the usual ones. */
import type { RunEvent } from "./event.js";
import type { RunResult } from "./result.js";

export interface TraceOptions {
  /**
   * The tracers of this agent's runs: `traceRows(…)`, `traceSpans(…)` or `openTelemetry(…)` of `looplet/trace`, a
   * function of your own, or several of them. Default: none.
   */
  trace?: Tracer | readonly Tracer[] | undefined;
}

/**
 * Contract: called once per run, as it starts. An error or a rejection of the tracer or its trace goes to `onError`.
 */
export type Tracer = (run: TracedRun) => Trace;

/** The facts about a run that a tracer gets; they include no key and no prompt. */
export interface TracedRun {
  /** The run's id, as in `run.id`. */
  readonly id: string;
  /** The model's vendor, as in `anthropic`. */
  readonly vendor: string;
  readonly model: string;
  /** The agent's `clock`, in milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** The agent's `random`. */
  readonly random: () => number;
}

/** The trace of one run under way. */
export interface Trace {
  /** Contract: called with every event except deltas, in order; each has its `timeMs`. */
  onEvent(event: RunEvent): unknown;
  /**
   * Contract: called with the value that a tool threw, before its `tool-error` event. No event carries the stack,
   * because the model would read it.
   */
  onToolThrow?(toolCallId: string, thrown: unknown): unknown;
  /** Contract: called once with the result, after the last event. */
  onEnd?(result: RunResult): unknown;
}
