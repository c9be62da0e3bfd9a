/**
 * `looplet/trace`: records of runs for monitoring, as rows for a database, and as spans and metrics for
 * OpenTelemetry.
 *
 * The folder `trace/` owns the forms of these records. It receives events and results, and never changes a run. Users
 * pass its tracers to `createAgent`, and each run calls them through `tracing.ts`: first for a trace, then with each
 * event, then with the result. If a tracer throws, the error is reported to `onError`, and the run continues.
 */
export { ndjson, type Sink } from "./sink.js";
export { openTelemetry, type OpenTelemetry } from "./otel/open-telemetry.js";
export { traceQueries, traceTable } from "./queries.js";
export { redacted } from "./redacted.js";
export { tracerRegistry, type TracerRegistry } from "./registry.js";
export { traceRows, type RowOptions, type TracedCall, type TraceRow } from "./rows.js";
export { traceSpans, type Span } from "./recorded.js";
export type { Attributes } from "./conventions.js";
export type { OpenTelemetryMeter } from "./otel/metrics.js";
export type { SpanEvent } from "./span.js";
export type { SpanOptions } from "./spans.js";
export { indexedDbTraceStore, sqlTraceStore, type IterationsToEndTurn, type TraceStore } from "./stores.js";
export { summarizeTrace, type TraceSummary } from "./summary.js";
