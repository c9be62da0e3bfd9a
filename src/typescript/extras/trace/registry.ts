/** Tracers that you add and remove while agents live. */
import type { Trace, TracedRun, Tracer } from "../../core/api/index.js";
import { traceOf } from "../../core/kit/runs.js";

/** A tracer that passes a run on to all its members. An empty registry does nothing. */
export interface TracerRegistry extends Tracer {
  /** Adds a tracer, and replaces the one of the same name. */
  add(name: string, tracer: Tracer): void;
  /** Removes a tracer. Returns false if there is none with that name. */
  remove(name: string): boolean;
  clear(): void;
}

/** Creates a registry. If one tracer fails, the others still receive the run. The first failure is reported. */
export function tracerRegistry(): TracerRegistry {
  const tracers = new Map<string, Tracer>();
  const start = (run: TracedRun): Trace => {
    const traces: Trace[] = [];
    let failed: unknown = each([...tracers.values()], (tracer) => void traces.push(traceOf(tracer, run)));
    return {
      onEvent(event) {
        const told = each(traces, (trace) => trace.onEvent(event));
        const all = failed === undefined ? told : Promise.all([failed, told]);
        failed = undefined;
        return all;
      },
      onEnd: (result) => each(traces, (trace) => trace.onEnd?.(result)),
      onToolThrow: (toolCallId, thrown) => each(traces, (trace) => trace.onToolThrow?.(toolCallId, thrown)),
    };
  };
  return Object.assign(start, {
    add: (name: string, tracer: Tracer) => void tracers.set(name, tracer),
    remove: (name: string) => tracers.delete(name),
    clear: () => tracers.clear(),
  });
}

function each<T>(all: readonly T[], tell: (one: T) => unknown): Promise<unknown> | undefined {
  const told = all.map((one) => {
    try {
      return tell(one);
    } catch (error) {
      return Promise.reject(error);
    }
  });
  return told.some((result) => result !== undefined) ? Promise.all(told) : undefined;
}
