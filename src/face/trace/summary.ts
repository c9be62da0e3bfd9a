/** The dashboard's numbers, without a database. */
import type { TraceRow } from "./rows.js";

export interface TraceSummary {
  jobs: number;
  /** How many of 100 jobs stopped on `max_iters`; 0 without jobs. */
  maxItersPercent: number;
  /** Iterations to `end_turn` → jobs. */
  iterationsToEndTurn: { [iterations: number]: number };
  /** Why the loops ended → jobs. */
  stopReasons: { [reason: string]: number };
  inputTokens: number;
  outputTokens: number;
}

/** What `traceQueries` ask, and a little more; the order of the rows makes no difference. */
export function summarizeTrace(rows: Iterable<TraceRow>): TraceSummary {
  const last = new Map<string, TraceRow>();
  let [inputTokens, outputTokens] = [0, 0];
  for (const row of rows) {
    inputTokens += row.input_tokens;
    outputTokens += row.output_tokens;
    const known = last.get(row.job_id);
    if (known === undefined || row.iter > known.iter) last.set(row.job_id, row);
  }
  const iterationsToEndTurn: TraceSummary["iterationsToEndTurn"] = {};
  const stopReasons: TraceSummary["stopReasons"] = {};
  for (const { iter, stop_reason } of last.values()) {
    const reason = stop_reason ?? "unknown";
    stopReasons[reason] = (stopReasons[reason] ?? 0) + 1;
    if (reason === "end_turn") iterationsToEndTurn[iter + 1] = (iterationsToEndTurn[iter + 1] ?? 0) + 1;
  }
  const jobs = last.size;
  const maxItersPercent = jobs === 0 ? 0 : (100 * (stopReasons["max_iters"] ?? 0)) / jobs;
  return { jobs, maxItersPercent, iterationsToEndTurn, stopReasons, inputTokens, outputTokens };
}
