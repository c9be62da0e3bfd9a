/** What follows a run for a trace; `looplet/trace` has the usual ones. */
import type { RunEvent } from "./event.js";
import type { RunResult } from "./result.js";

export interface TraceOptions {
  /**
   * Who records the runs of this agent: `traceRows(…)`, `traceSpans(…)`, `openTelemetry(…)` of `looplet/trace`, a
   * function of your own, or several. Default: none.
   */
  trace?: Tracer | readonly Tracer[] | undefined;
}

/** Contract: called once per run, as it starts. What it and its trace throw or reject with goes to `onError`. */
export type Tracer = (run: TracedRun) => Trace;

/** What a tracer is told of a run. No key, no prompt. */
export interface TracedRun {
  /** `run.id` */
  readonly id: string;
  /** The model's vendor, as in `anthropic`. */
  readonly vendor: string;
  readonly model: string;
  /** The agent's `clock`, in milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** The agent's `random`. */
  readonly random: () => number;
}

/** The record of one run under way. */
export interface Trace {
  /** Contract: every event but deltas, in order, with its `timeMs`. */
  onEvent(event: RunEvent): unknown;
  /**
   * Contract: what a tool threw, before its `tool-error` event; its stack is in no event, because the model would be
   * told it.
   */
  onToolThrow?(toolCallId: string, thrown: unknown): unknown;
  /** Contract: the result, once, after the last event. */
  onEnd?(result: RunResult): unknown;
}
