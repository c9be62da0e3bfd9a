/** Lets your tracers follow the runs of an agent. */
import type { AgentParts } from "./agent-parts.js";
import { LoopletError } from "../api/errors.js";
import type { Trace, TracedRun, TraceOptions, Tracer } from "../api/index.js";
import { describe, describeReturned } from "../options/check.js";

/** @throws LoopletError `config_wrong_type` */
export function tracersOf({ trace }: TraceOptions): readonly Tracer[] {
  const tracers = (trace === undefined ? [] : Array.isArray(trace) ? trace : [trace]) as Tracer[];
  for (const tracer of tracers) {
    if (typeof tracer !== "function")
      throw new LoopletError(
        "config_wrong_type",
        "trace",
        `needs traceRows(…), traceSpans(…) or openTelemetry(…) of looplet/trace, a function, or a list of them, got ${describe(tracer)}`,
      );
  }
  return tracers;
}

/** The traces of one run: one per tracer, and one per hook that only listens. A tracer that throws gets none. */
export function traces(
  { tracing, failureTracers, clock, random }: AgentParts,
  id: string,
  report: (error: unknown) => void,
): Trace[] {
  const { vendor, model } = tracing.model;
  return [...tracersOf(tracing), ...failureTracers].flatMap((tracer) => {
    try {
      return [traceOf(tracer, { id, vendor, model, now: () => clock.now(), random })];
    } catch (error) {
      report(error);
      return [];
    }
  });
}

/** @throws LoopletError `config_wrong_type`, once and not with every event */
export function traceOf(tracer: Tracer, run: TracedRun): Trace {
  const trace: unknown = tracer(run);
  if (typeof (trace as Trace | undefined)?.onEvent === "function") return trace as Trace;
  const problem = `needs to return { onEvent }, got ${describeReturned(trace)}`;
  throw new LoopletError("config_wrong_type", "trace", problem);
}
