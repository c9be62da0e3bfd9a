/** What runs leave behind for people who watch them: rows for a database, spans for OpenTelemetry. */
export { ndjson, type Sink } from "./sink.js";
export { openTelemetry, type OpenTelemetry } from "./otel.js";
export { traceQueries, traceTable } from "./queries.js";
export { redacted } from "./redacted.js";
export { tracerRegistry, type TracerRegistry } from "./registry.js";
export { traceRows, type RowOptions, type TracedCall, type TraceRow } from "./rows.js";
export { traceSpans, type Span } from "./recorded.js";
export type { Attributes, SpanEvent, SpanOptions } from "./spans.js";
export { summarizeTrace, type TraceSummary } from "./summary.js";
