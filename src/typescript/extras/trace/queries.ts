/** The table that `traceRows` fills, and two queries for a dashboard. */

export const traceTable = {
  postgres: `CREATE TABLE agent_loop_trace (
  id BIGSERIAL PRIMARY KEY,
  job_id UUID NOT NULL,
  iter INT NOT NULL,
  stop_reason TEXT,
  tool_calls JSONB NOT NULL,
  input_tokens INT,
  output_tokens INT,
  cache_read INT,
  cache_write INT,
  ts TIMESTAMPTZ DEFAULT NOW()
);
CREATE INDEX agent_loop_trace_job_iter ON agent_loop_trace (job_id, iter);`,
  /** The table for SQLite and D1. */
  sqlite: `CREATE TABLE agent_loop_trace (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL,
  iter INTEGER NOT NULL,
  stop_reason TEXT,
  tool_calls TEXT NOT NULL CHECK (json_valid(tool_calls)),
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read INTEGER,
  cache_write INTEGER,
  ts TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now'))
);
CREATE INDEX agent_loop_trace_job_iter ON agent_loop_trace (job_id, iter);`,
} as const;

const LAST_ROWS = `SELECT t.job_id, t.iter, t.stop_reason FROM agent_loop_trace t
JOIN (SELECT job_id, MAX(iter) AS iter FROM agent_loop_trace GROUP BY job_id) last
ON t.job_id = last.job_id AND t.iter = last.iter`;

/** Queries for Postgres, SQLite and D1. */
export const traceQueries = {
  /** One row with `percent`, the share of jobs that stopped on `max_iters`. */
  maxItersPercent: `SELECT 100.0 * SUM(CASE WHEN stop_reason = 'max_iters' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM (${LAST_ROWS}) jobs;`,
  /** Rows with `iterations` and `jobs`, the number of jobs that took this many iterations to `end_turn`. */
  iterationsToEndTurn: `SELECT iter + 1 AS iterations, COUNT(*) AS jobs
FROM (${LAST_ROWS}) ends
WHERE stop_reason = 'end_turn' GROUP BY iter ORDER BY iter;`,
} as const;
