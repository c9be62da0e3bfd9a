/** Spans for your OpenTelemetry tracer, and metrics for your meter. This file imports nothing of OpenTelemetry. */
import { LoopletError } from "../../../core/api/errors.js";
import type { Tracer } from "../../../core/api/index.js";
import { describe } from "../../../core/kit/check.js";
import type { Attributes } from "../conventions.js";
import { meterSpans, type OpenTelemetryMeter } from "./metrics.js";
import type { SpanWriter } from "../span.js";
import { checkSpanOptions, SpanTree, type SpanOptions } from "../spans.js";

/** Seconds and nanoseconds. OpenTelemetry could interpret a single number as a time since the process started. */
type Time = [seconds: number, nanos: number];

interface OtelSpan {
  setAttributes(attributes: Attributes): unknown;
  addEvent(name: string, attributes: Attributes, time: Time): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(time: Time): void;
}

/**
 * The shape of `@opentelemetry/api`. `tracer` and `meter` default to those with the name `looplet`. Without `metrics`
 * and `meter` there are no metrics.
 */
export interface OpenTelemetry<Context = any, Span extends OtelSpan = any> {
  readonly trace: {
    getTracer(name: string): OpenTelemetryTracer<Context, Span>;
    setSpan(context: Context, span: Span): Context;
  };
  readonly context: { active(): Context };
  readonly metrics?: { getMeter(name: string): OpenTelemetryMeter } | undefined;
  readonly tracer?: OpenTelemetryTracer<Context, Span> | undefined;
  readonly meter?: OpenTelemetryMeter | undefined;
}

interface OpenTelemetryTracer<Context, Span> {
  startSpan(
    name: string,
    options: { kind: number; startTime: Time; attributes: Attributes },
    context: Context,
  ): Span;
}

const KINDS = { internal: 0, client: 2 } as const;
const STATUS_ERROR = 2;

/**
 * Records the spans of each run below the span that is active when the run starts, and the metrics of model calls,
 * tools and agents: `openTelemetry(api)`, or `openTelemetry({ ...api, tracer, meter })`, with
 * `import * as api from "@opentelemetry/api"`.
 *
 * @throws LoopletError `config_…`
 */
export function openTelemetry(api: OpenTelemetry, given: SpanOptions = {}): Tracer {
  const { trace, context } = (api ?? {}) as Partial<OpenTelemetry>;
  if (typeof trace?.setSpan !== "function" || typeof context?.active !== "function") {
    const problem = `needs @opentelemetry/api, or { ...api, tracer }, got ${describe(api)}`;
    throw new LoopletError("config_wrong_type", "openTelemetry", problem);
  }
  const options = checkSpanOptions(given, "openTelemetry");
  const meter = api.meter ?? api.metrics?.getMeter("looplet");
  const measured = meter === undefined ? undefined : meterSpans(meter);
  return (run) => {
    const writer = spanWriter(api);
    return measured === undefined
      ? new SpanTree(run, options, writer)
      : new SpanTree(run, options, measured(writer));
  };
}

function spanWriter(api: OpenTelemetry): SpanWriter<OtelSpan> {
  const { trace } = api;
  const around: unknown = api.context.active();
  const tracer = api.tracer ?? trace.getTracer("looplet");
  return {
    start({ name, kind, startMs, attributes }, parent) {
      const context: unknown = parent === undefined ? around : trace.setSpan(around, parent);
      const options = { kind: KINDS[kind], startTime: time(startMs), attributes };
      return tracer.startSpan(name, options, context) as OtelSpan;
    },
    end(span, { endMs, error, attributes, events }) {
      span.setAttributes(attributes);
      for (const event of events) span.addEvent(event.name, event.attributes, time(event.timeMs));
      if (error !== undefined) span.setStatus({ code: STATUS_ERROR, message: error });
      span.end(time(endMs));
    },
  };
}

function time(ms: number): Time {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
