/** Places for the rows of `traceRows`, with the two questions of a dashboard. */
import { checkMethods } from "../check-methods.js";
import { answer } from "../stores/idb-request.js";
import { sqlTables, type SqlDatabase } from "../stores/sql-tables.js";
import { traceQueries, traceTable } from "./queries.js";
import type { TraceRow } from "./rows.js";
import { summarizeTrace } from "./summary.js";

/** A sink of `traceRows` that answers a dashboard's queries. */
export interface TraceStore {
  write(row: TraceRow): Promise<void>;
  /** The rows of one job in their order, or of all jobs. */
  rows(jobId?: string): Promise<TraceRow[]>;
  /** The share of jobs that stopped on `max_iters`, in percent; 0 without jobs. */
  maxItersPercent(): Promise<number>;
  /** The number of jobs by the number of iterations that they took to `end_turn`, in ascending order. */
  iterationsToEndTurn(): Promise<IterationsToEndTurn[]>;
}

export interface IterationsToEndTurn {
  readonly iterations: number;
  readonly jobs: number;
}

const COLUMNS = [
  "job_id",
  "iter",
  "stop_reason",
  "tool_calls",
  "input_tokens",
  "output_tokens",
  "cache_read",
  "cache_write",
  "ts",
] as const;

/**
 * The table `agent_loop_trace` of an SQL database, which the first call makes: `sqlTraceStore(d1Database(env.DB))`,
 * with `d1Database` or `sqliteDatabase` of `looplet/stores`. It has the columns of `traceTable`, so not where a
 * subagent belongs.
 */
export function sqlTraceStore(
  database: SqlDatabase,
  { dialect = "sqlite" }: { dialect?: "sqlite" | "postgres" | undefined } = {},
): TraceStore {
  checkMethods(database, "database", "an object with run() and all()", ["run", "all"]);
  const statements = traceTable[dialect].split(/;\s*/).filter((text) => text !== "");
  const { run, all } = sqlTables(
    database,
    statements.map((text) => text.replace(/^CREATE (TABLE|INDEX)/, "CREATE $1 IF NOT EXISTS")),
  );
  const insert = `INSERT INTO agent_loop_trace (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`;
  return {
    async write(row) {
      const values = { ...row, tool_calls: JSON.stringify(row.tool_calls) };
      await run(insert, ...COLUMNS.map((column) => values[column]));
    },
    async rows(jobId) {
      const where = jobId === undefined ? "" : " WHERE job_id = ?";
      const query = `SELECT ${COLUMNS.join(", ")} FROM agent_loop_trace${where} ORDER BY job_id, iter, id`;
      return (await all(query, ...(jobId === undefined ? [] : [jobId]))).map(rowOf);
    },
    async maxItersPercent() {
      const [row] = await all(traceQueries.maxItersPercent);
      return Number(row?.["percent"] ?? 0);
    },
    async iterationsToEndTurn() {
      const rows = await all(traceQueries.iterationsToEndTurn);
      return rows.map(({ iterations, jobs }) => ({ iterations: Number(iterations), jobs: Number(jobs) }));
    },
  };
}

/** A row as `traceRows` wrote it: databases return some columns in other forms. */
function rowOf(row: { readonly [column: string]: any }): TraceRow {
  const { iter, tool_calls: calls, ts } = row;
  return {
    ...(row as unknown as TraceRow),
    iter: Number(iter),
    tool_calls: typeof calls === "string" ? (JSON.parse(calls) as TraceRow["tool_calls"]) : calls,
    ts: ts instanceof Date ? ts.toISOString() : String(ts),
  };
}

/** The name of the object store, and of its index of jobs. */
const TABLE = "agent_loop_trace";
const BY_JOB = "job_iter";

/** The rows in a database of the browser. `name` is its name, `"looplet-trace"` by default. */
export function indexedDbTraceStore({
  name = "looplet-trace",
}: { name?: string | undefined } = {}): TraceStore {
  let opened: Promise<IDBDatabase> | undefined;
  const database = (): Promise<IDBDatabase> =>
    (opened ??= open(name).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  const rows = async (jobId?: string): Promise<TraceRow[]> => {
    const index = (await database()).transaction(TABLE).objectStore(TABLE).index(BY_JOB);
    const range = jobId === undefined ? null : IDBKeyRange.bound([jobId, 0], [jobId, Infinity]);
    return (await answer(index.getAll(range))) as TraceRow[];
  };
  return {
    async write(row) {
      const transaction = (await database()).transaction(TABLE, "readwrite");
      await answer(transaction.objectStore(TABLE).add(row));
    },
    rows,
    maxItersPercent: async () => summarizeTrace(await rows()).maxItersPercent,
    async iterationsToEndTurn() {
      const { iterationsToEndTurn } = summarizeTrace(await rows());
      return Object.entries(iterationsToEndTurn).map(([iterations, jobs]) => ({
        iterations: Number(iterations),
        jobs,
      }));
    },
  };
}

async function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    const table = request.result.createObjectStore(TABLE, { autoIncrement: true });
    table.createIndex(BY_JOB, ["job_id", "iter"]);
  };
  return answer(request);
}
