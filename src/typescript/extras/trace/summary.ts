/** A dashboard's numbers without a database. */
import { LoopletError } from "../../core/api/errors.js";
import { describe } from "../../core/kit/check.js";
import type { TraceRow } from "./rows.js";

export interface TraceSummary {
  jobs: number;
  /** The share of jobs that stopped on `max_iters`, in percent; 0 without jobs. */
  maxItersPercent: number;
  /** The number of jobs by the number of iterations that they took to `end_turn`. */
  iterationsToEndTurn: { [iterations: number]: number };
  /** The number of jobs by the reason for their end. */
  stopReasons: { [reason: string]: number };
  inputTokens: number;
  outputTokens: number;
}

/**
 * Answers the queries of `traceQueries` and counts the stop reasons. The order of the rows makes no difference.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function summarizeTrace(rows: Iterable<TraceRow>): TraceSummary {
  if (typeof (rows as Partial<typeof rows> | null | undefined)?.[Symbol.iterator] !== "function")
    throw wrong("", `an array of the rows of traceRows, or another iterable of them, got ${describe(rows)}`);
  const last = new Map<string, TraceRow>();
  let index = 0;
  let [inputTokens, outputTokens] = [0, 0];
  for (const row of rows) {
    checkRow(row, `[${index++}]`);
    inputTokens += row.input_tokens ?? 0;
    outputTokens += row.output_tokens ?? 0;
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

/** Checks a row. Token columns may be null, because a database may lack them. */
function checkRow(row: unknown, place: string): void {
  const found = (row ?? {}) as { readonly [column: string]: unknown };
  for (const [column, types] of Object.entries(COLUMNS)) {
    const value = found[column];
    if (types.includes(value === null ? "null" : typeof value)) continue;
    const got =
      typeof row === "object" && row !== null ? `${describe(value)} as its ${column}` : describe(row);
    throw wrong(place, `a row of traceRows, with ${Object.keys(COLUMNS).join(", ")}; got ${got}`);
  }
}

const COLUMNS: { readonly [column in keyof TraceRow]?: readonly string[] } = {
  job_id: ["string"],
  iter: ["number"],
  stop_reason: ["string", "null"],
  input_tokens: ["number", "null"],
  output_tokens: ["number", "null"],
};

function wrong(place: string, needed: string): LoopletError {
  return new LoopletError("config_wrong_type", `summarizeTrace${place}`, `needs ${needed}`);
}
