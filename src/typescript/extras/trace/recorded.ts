/** Spans as plain objects, for a file, a database or a page that draws them. */
import type { Tracer } from "../../core/api/index.js";
import { tracing, type Sink } from "./sink.js";
import type { Attributes } from "./conventions.js";
import type { SpanEvent } from "./span.js";
import { checkSpanOptions, SpanTree, type SpanOptions } from "./spans.js";

/** A span that has ended or, with `starts: true`, one that has started. */
export interface Span {
  /** 32 hexadecimal digits, equal for all spans of a run. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The parent's `spanId`; `null` for the root. */
  parentSpanId: string | null;
  name: string;
  kind: "internal" | "client";
  /** Milliseconds since the Unix epoch. */
  startMs: number;
  /** Milliseconds since the Unix epoch; `null` while the span is open. */
  endMs: number | null;
  status: "unset" | "error";
  attributes: Attributes;
  events: SpanEvent[];
}

/**
 * Passes every span to `sink` when it ends, children before their parents. With `starts: true` it also passes every
 * span when it starts.
 */
export function traceSpans(sink: Sink<Span>, given: SpanOptions & { starts?: boolean } = {}): Tracer {
  const open = tracing(sink);
  const options = checkSpanOptions(given, "traceSpans", { starts: "boolean" });
  return (run) => {
    const hex = (digits: number): string => {
      const drawn = Array.from({ length: digits }, () => Math.floor(run.random() * 16).toString(16));
      return drawn.join("");
    };
    const traceId = hex(32);
    return open(
      (write) =>
        new SpanTree<Span>(run, options, {
          start({ name, kind, startMs, attributes }, parent) {
            const parentSpanId = parent?.spanId ?? null;
            const begun = { traceId, spanId: hex(16), parentSpanId, name, kind, startMs };
            const span: Span = { ...begun, endMs: null, status: "unset", attributes, events: [] };
            if (options.starts === true) write({ ...span, attributes: { ...attributes } });
            return span;
          },
          end(span, { endMs, error, attributes, events }) {
            const status = error === undefined ? "unset" : "error";
            write({ ...span, endMs, status, attributes: { ...attributes }, events });
          },
        }),
    );
  };
}
