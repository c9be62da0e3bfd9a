/**
 * The metrics of a run, made of its spans: a duration is that of its span, and the counts of an agent are those of
 * the spans below its own. This file imports nothing of OpenTelemetry.
 */
import { LoopletError } from "../../../core/api/errors.js";
import { describe } from "../../../core/kit/check.js";
import { AGENT_NAME, FIRST_CHUNK, OPERATION, type Attributes } from "../conventions.js";
import type { SpanEnd, SpanStart, SpanWriter } from "../span.js";

/** The shape of a meter of `@opentelemetry/api`. */
export interface OpenTelemetryMeter {
  createHistogram(
    name: string,
    options: InstrumentOptions,
  ): { record(value: number, attributes: Attributes): void };
  createCounter(
    name: string,
    options: InstrumentOptions,
  ): { add(value: number, attributes: Attributes): void };
}

interface InstrumentOptions {
  description: string;
  unit: string;
  advice?: { explicitBucketBoundaries: number[] };
}

/** The handle of a span with what its metrics need. */
export interface Metered<H> {
  readonly handle: H;
  readonly parent: Metered<H> | undefined;
  readonly startMs: number;
  chats: number;
  toolCalls: number;
}

type Measure = (value: number, attributes: Attributes) => void;

/** Makes the instruments, once. The function that it returns puts the metrics between spans and their receiver. */
export function meterSpans(meter: OpenTelemetryMeter): <H>(inner: SpanWriter<H>) => SpanWriter<Metered<H>> {
  if (typeof meter?.createHistogram !== "function" || typeof meter.createCounter !== "function") {
    const problem = `needs a meter with createHistogram and createCounter, got ${describe(meter)}`;
    throw new LoopletError("config_wrong_type", "openTelemetry.meter", problem);
  }
  const record = instruments(meter);
  return (inner) => ({
    start(span: SpanStart, parent) {
      const handle = inner.start(span, parent?.handle);
      return { handle, parent, startMs: span.startMs, chats: 0, toolCalls: 0 };
    },
    end(span, end) {
      measure(record, span, end);
      return inner.end(span.handle, end);
    },
  });
}

const SECONDS = Array.from({ length: 14 }, (_, at) => 2 ** at / 100);
const TOKENS = Array.from({ length: 14 }, (_, at) => 4 ** at);

/** Histograms and counters by name. */
const INSTRUMENTS = {
  "gen_ai.client.inference.duration": ["Duration of a model call with its retries.", "s", SECONDS],
  "gen_ai.client.inference.time_to_first_chunk": ["Time to the first chunk of an answer.", "s", SECONDS],
  "gen_ai.client.inference.operation.input_tokens": ["Input tokens of a model call.", "{token}", TOKENS],
  "gen_ai.client.inference.operation.output_tokens": ["Output tokens of a model call.", "{token}", TOKENS],
  "gen_ai.client.inference.usage.input_tokens": ["Input tokens, cached ones included.", "{token}"],
  "gen_ai.client.inference.usage.output_tokens": ["Output tokens, reasoning included.", "{token}"],
  "gen_ai.client.inference.usage.cache_read.input_tokens": ["Input tokens read from a cache.", "{token}"],
  "gen_ai.client.inference.usage.cache_write.input_tokens": ["Input tokens written to a cache.", "{token}"],
  "gen_ai.client.inference.usage.reasoning.output_tokens": ["Output tokens of reasoning.", "{token}"],
  "gen_ai.invoke_agent.duration": ["Duration of an agent's work.", "s", SECONDS],
  "gen_ai.invoke_agent.inference_calls": ["Model calls of an agent.", "{inference_call}", undefined],
  "gen_ai.invoke_agent.tool_calls": ["Tool calls of an agent.", "{tool_call}", undefined],
  "gen_ai.execute_tool.duration": ["Duration of a tool call.", "s", SECONDS],
} as const;

type Name = keyof typeof INSTRUMENTS;
type Instruments = { readonly [name in Name]: Measure };

function instruments(meter: OpenTelemetryMeter): Instruments {
  const made = Object.entries(INSTRUMENTS).map(
    ([name, [description, unit, ...histogram]]): [string, Measure] => {
      if (histogram.length === 0) {
        const counter = meter.createCounter(name, { description, unit });
        return [name, (value, attributes) => counter.add(value, attributes)];
      }
      const [bounds] = histogram;
      const advice = bounds === undefined ? {} : { advice: { explicitBucketBoundaries: [...bounds] } };
      const histogramOf = meter.createHistogram(name, { description, unit, ...advice });
      return [name, (value, attributes) => histogramOf.record(value, attributes)];
    },
  );
  return Object.fromEntries(made) as unknown as Instruments;
}

function measure<H>(record: Instruments, span: Metered<H>, end: SpanEnd): void {
  const { attributes, error } = end;
  const seconds = (end.endMs - span.startMs) / 1000;
  const failed: Attributes = error === undefined ? {} : { "error.type": error };
  const agent = pick(attributes, [AGENT_NAME]);
  switch (attributes[OPERATION]) {
    case "chat":
      if (span.parent !== undefined) span.parent.chats += 1;
      return measureCall(record, attributes, seconds, failed);
    case "execute_tool": {
      if (span.parent !== undefined) span.parent.toolCalls += 1;
      const tool = pick(attributes, ["gen_ai.tool.name", "gen_ai.tool.type"]);
      return record["gen_ai.execute_tool.duration"](seconds, { ...tool, ...agent, ...failed });
    }
    default:
      record["gen_ai.invoke_agent.duration"](seconds, { ...agent, ...failed });
      record["gen_ai.invoke_agent.inference_calls"](span.chats, agent);
      record["gen_ai.invoke_agent.tool_calls"](span.toolCalls, agent);
  }
}

function measureCall(record: Instruments, attributes: Attributes, seconds: number, failed: Attributes): void {
  const about = pick(attributes, [
    OPERATION,
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
  ]);
  record["gen_ai.client.inference.duration"](seconds, { ...about, ...failed });
  const firstChunk = attributes[FIRST_CHUNK];
  if (typeof firstChunk === "number")
    record["gen_ai.client.inference.time_to_first_chunk"](firstChunk, about);
  // A call without reported usage counts with 0.
  const used = (kind: string): number => Number(attributes[`gen_ai.usage.${kind}`] ?? 0);
  for (const kind of ["input_tokens", "output_tokens"] as const)
    record[`gen_ai.client.inference.operation.${kind}`](used(kind), { ...about, ...failed });
  const unknown = { ...about, "gen_ai.token.modality": "unknown" };
  for (const kind of USAGES) record[`gen_ai.client.inference.usage.${kind}`](used(kind), unknown);
}

const USAGES = [
  "input_tokens",
  "output_tokens",
  "cache_read.input_tokens",
  "cache_write.input_tokens",
  "reasoning.output_tokens",
] as const;

function pick(attributes: Attributes, names: readonly string[]): Attributes {
  const known = names.filter((name) => attributes[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, attributes[name]!]));
}
