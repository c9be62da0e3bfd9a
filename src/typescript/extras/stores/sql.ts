import { StoreConflict } from "../../core/api/errors.js";
import type { JournalEntry, Lease, Store } from "../../core/api/run.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { checkMethods } from "../check-methods.js";
import { checkFence, columnOf, isFree, nextLease, timesOf, ttlOf, type LeaseRecord } from "./leases.js";
import { entriesOf, linesOf } from "./lines.js";
import { checkSeq, type StoreClock } from "./memory.js";
import { deletePieces, piecesIn, putPieces, textOf, wordsFor, type PieceTable } from "./long/pieces.js";
import { sqlTables, type SqlDatabase, type SqlRows } from "./sql-tables.js";

/** The options of {@link sqlStore}. */
export interface SqlStoreOptions extends StoreClock {
  /** The beginning of the names of all tables: letters, digits and `_`. Default `"looplet_"`. */
  prefix?: string | undefined;
}

/** The tries to take a lease that others take at the same moment. */
const TRIES = 5;

/** Characters of a text. A row of D1 may have 2 MB, and a character up to three bytes. */
const MAX_CHARS = 600_000;

/**
 * A store in an SQL database: SQLite, D1, Postgres, and compatible ones. The first call creates the tables
 * `looplet_entries`, `looplet_leases` and `looplet_pieces`. Each append is one row, and each step one statement, so
 * no transaction is needed. A row contains all entries of its append, or refers to the pieces of a long one.
 */
export function sqlStore(
  database: SqlDatabase,
  { prefix = "looplet_", now = Date.now }: SqlStoreOptions = {},
): Required<Store> {
  checkMethods(database, "database", "an object with run() and all()", ["run", "all"]);
  if (!/^\w+$/.test(prefix)) throw new TypeError("sqlStore: prefix needs letters, digits and _");
  const [ENTRIES, LEASES, PIECES] = [`${prefix}entries`, `${prefix}leases`, `${prefix}pieces`];
  const tables = [
    `CREATE TABLE IF NOT EXISTS ${ENTRIES} (run_id VARCHAR(512) NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL, entries TEXT NOT NULL, is_end BIGINT, PRIMARY KEY (run_id, first_seq))`,
    `CREATE TABLE IF NOT EXISTS ${LEASES} (run_id VARCHAR(512) NOT NULL PRIMARY KEY, fence BIGINT NOT NULL, holder TEXT NOT NULL, expires_ms BIGINT, ttl_ms BIGINT)`,
    `CREATE TABLE IF NOT EXISTS ${PIECES} (run_id VARCHAR(512) NOT NULL, name VARCHAR(64) NOT NULL, place BIGINT NOT NULL, piece TEXT NOT NULL, PRIMARY KEY (run_id, name, place))`,
  ];
  const { run, all } = sqlTables(database, tables, [
    { table: LEASES, name: "ttl_ms", type: "BIGINT" },
    { table: ENTRIES, name: "is_end", type: "BIGINT" },
  ]);
  // The rules of `isOut`, and of a run that is over: it needs the time of now twice.
  const IS_OUT = "expires_ms >= 0 AND (expires_ms <= ? OR expires_ms - 2 * ttl_ms > ?)";
  const LAST = `SELECT MAX(last_seq) FROM ${ENTRIES} WHERE run_id = ${LEASES}.run_id`;
  const IS_OVER = `EXISTS (SELECT 1 FROM ${ENTRIES} WHERE run_id = ${LEASES}.run_id AND is_end = 1 AND last_seq = (${LAST}))`;
  const piecesOf = (key: string): PieceTable => {
    const IS_IT = "WHERE run_id = ? AND name = ? AND place = ?";
    return {
      put: (name, at, piece) =>
        run(`INSERT INTO ${PIECES} (run_id, name, place, piece) VALUES (?, ?, ?, ?)`, key, name, at, piece),
      get: async (name, at) => {
        const [row] = await all(`SELECT piece FROM ${PIECES} ${IS_IT}`, key, name, at);
        return row && String(row["piece"]);
      },
      delete: (name, at) => run(`DELETE FROM ${PIECES} ${IS_IT}`, key, name, at),
    };
  };

  const recordOf = async (key: string): Promise<LeaseRecord | undefined> => {
    const [row] = await all(`SELECT fence, holder, expires_ms, ttl_ms FROM ${LEASES} WHERE run_id = ?`, key);
    if (row === undefined) return undefined;
    const [expires, ttl] = [row["expires_ms"], row["ttl_ms"]] as (number | string | null)[];
    return {
      fence: Number(row["fence"]),
      holder: String(row["holder"]),
      ...timesOf(expires == null ? null : Number(expires)),
      ...(ttl == null ? {} : { ttlMs: Number(ttl) }),
    };
  };
  const lastOf = async (key: string): Promise<number | undefined> => {
    const [row] = await all(`SELECT MAX(last_seq) AS last_seq FROM ${ENTRIES} WHERE run_id = ?`, key);
    const last = row?.["last_seq"] ?? null;
    return last === null ? undefined : Number(last);
  };
  /** Throws the reason why an append is refused. */
  const refuse = async (key: string, expectedSeq: number, fence: number | undefined): Promise<void> => {
    checkFence(key, (await recordOf(key))?.fence, fence);
    checkSeq(key, await lastOf(key), expectedSeq);
  };
  /** Sets the time of a lease; false if it is not the latest, or was given back. */
  const setExpiry = async (key: string, fence: number, expiresMs: number | undefined): Promise<boolean> =>
    (await run(
      `UPDATE ${LEASES} SET expires_ms = ?, ttl_ms = ? WHERE run_id = ? AND fence = ? AND expires_ms >= 0`,
      columnOf(expiresMs, now()),
      expiresMs === undefined ? null : ttlOf(expiresMs, now()),
      key,
      fence,
    )) > 0;
  /** Puts the next record in the place of this one; false if another process was faster. */
  const replace = async (
    key: string,
    before: LeaseRecord | undefined,
    { fence, holder, expiresMs, ttlMs }: LeaseRecord,
  ): Promise<boolean> => {
    const times = [expiresMs ?? null, ttlMs ?? null];
    if (before !== undefined) {
      const update = `UPDATE ${LEASES} SET fence = ?, holder = ?, expires_ms = ?, ttl_ms = ? WHERE run_id = ? AND fence = ?`;
      return (await run(update, fence, holder, ...times, key, before.fence)) > 0;
    }
    const insert = `INSERT INTO ${LEASES} (run_id, fence, holder, expires_ms, ttl_ms) VALUES (?, ?, ?, ?, ?)`;
    try {
      return (await run(insert, key, fence, holder, ...times)) > 0;
    } catch (error) {
      if ((await recordOf(key)) === undefined) throw error;
      return false;
    }
  };

  return {
    async append(id, entries, expectedSeq, fence) {
      const key = keyOf(id);
      if (entries.length === 0) return refuse(key, expectedSeq, fence);
      const [first, last] = [entries[0]!.seq, entries.at(-1)!.seq];
      const text = linesOf(entries);
      const pieces = await putPieces(piecesOf(key), text, MAX_CHARS);
      const statement =
        `INSERT INTO ${ENTRIES} (run_id, first_seq, last_seq, entries, is_end) SELECT ?, ?, ?, ?, ? ` +
        (expectedSeq === 0
          ? `WHERE NOT EXISTS (SELECT 1 FROM ${ENTRIES} WHERE run_id = ?)`
          : `WHERE EXISTS (SELECT 1 FROM ${ENTRIES} WHERE run_id = ? AND last_seq = ?)`) +
        (fence === undefined ? "" : ` AND EXISTS (SELECT 1 FROM ${LEASES} WHERE run_id = ? AND fence = ?)`);
      const values = [
        ...[key, first, last, pieces === undefined ? text : wordsFor(pieces)],
        isRunEnd(entries.at(-1)!) ? 1 : 0,
        ...(expectedSeq === 0 ? [key] : [key, expectedSeq]),
        ...(fence === undefined ? [] : [key, fence]),
      ];
      try {
        if ((await run(statement, ...values)) > 0) return;
      } catch (error) {
        // A row with this number already exists, or there is another problem.
        await refuse(key, expectedSeq, fence);
        throw error;
      }
      if (pieces !== undefined) await deletePieces(piecesOf(key), pieces);
      await refuse(key, expectedSeq, fence);
      throw new StoreConflict(`The journal "${key}" was changed by another process at the same moment.`);
    },
    async load(id, after = 0): Promise<JournalEntry[]> {
      const key = keyOf(id);
      const query = `SELECT first_seq, last_seq, entries FROM ${ENTRIES} WHERE run_id = ? AND last_seq > ? ORDER BY first_seq`;
      const entries: JournalEntry[] = [];
      for (const row of await all(query, key, after)) {
        const column = String(row["entries"]);
        const pieces = piecesIn(column);
        const text = pieces === undefined ? column : await textOf(piecesOf(key), pieces);
        entries.push(...entriesOf(Number(row["first_seq"]), text, Number(row["last_seq"])));
      }
      return entries;
    },
    async lease(id, options): Promise<Lease | undefined> {
      const key = keyOf(id);
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const before = await recordOf(key);
        if (!isFree(before, now(), options)) return undefined;
        const taken = nextLease(before, now(), options);
        if (!(await replace(key, before, taken))) continue;
        const { fence } = taken;
        return {
          fence,
          renew: (ttlMs) => setExpiry(key, fence, now() + ttlMs),
          release: async (remains) => void (await setExpiry(key, fence, remains ? now() : undefined)),
        };
      }
      return undefined;
    },
    async pending() {
      const query = `SELECT run_id FROM ${LEASES} WHERE ${IS_OUT} AND NOT ${IS_OVER}`;
      return keysOf(await all(query, now(), now()));
    },
    async ended(ageMs) {
      const query = `SELECT run_id FROM ${LEASES} WHERE (expires_ms < 0 AND expires_ms >= ?) OR (expires_ms <= ? AND ${IS_OUT} AND ${IS_OVER})`;
      const nowMs = now();
      return keysOf(await all(query, ageMs - nowMs, nowMs - ageMs, nowMs, nowMs));
    },
    async delete(id) {
      // A writer without its lease is refused, so the lease is deleted first.
      for (const table of [LEASES, ENTRIES, PIECES])
        await run(`DELETE FROM ${table} WHERE run_id = ?`, keyOf(id));
    },
  };
}

/** The id of a run as a text that every database takes: Postgres has no character 0. */
function keyOf(id: string): string {
  return id.replace(/[%\0]/g, encodeURIComponent);
}

/** The ids in rows. Skips rows that looplet did not write. */
function keysOf(rows: SqlRows): string[] {
  return rows.flatMap((row) => {
    const key = String(row["run_id"]).replace(/%25|%00/g, decodeURIComponent);
    return keyOf(key) === row["run_id"] ? [key] : [];
  });
}

/** The parts of Cloudflare's D1 that {@link d1Store} uses. */
export interface D1DatabaseLike {
  prepare(query: string): {
    bind(...values: unknown[]): {
      run(): Promise<{ readonly meta: { readonly changes?: number } }>;
      all(): Promise<{ readonly results: readonly { readonly [column: string]: unknown }[] }>;
    };
  };
}

/** The functions of a D1 database, for {@link sqlStore} and for `sqlTraceStore` of `looplet/trace`. */
export function d1Database(database: D1DatabaseLike): SqlDatabase {
  const what = "a D1 database; is the binding in the Wrangler configuration?";
  checkMethods(database, "database", what, ["prepare"]);
  return {
    run: async (statement, values) => {
      const { meta } = await database
        .prepare(statement)
        .bind(...values)
        .run();
      return meta.changes ?? 0;
    },
    all: async (query, values) =>
      (
        await database
          .prepare(query)
          .bind(...values)
          .all()
      ).results,
  };
}

/**
 * A store in Cloudflare's D1. Reads of replicas would be old: give it no session.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { d1Store, type D1DatabaseLike } from "looplet/stores";
 *
 * declare const env: { DB: D1DatabaseLike; ANTHROPIC_API_KEY: string };
 * const model = anthropic("claude-opus-5-5", { apiKey: env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, store: d1Store(env.DB) });
 * ```
 */
export function d1Store(database: D1DatabaseLike, options: SqlStoreOptions = {}): Required<Store> {
  return sqlStore(d1Database(database), options);
}

/** A database of `node:sqlite`, `better-sqlite3` or `bun:sqlite`. */
export interface SqliteDatabaseLike {
  prepare(statement: string): {
    run(...values: any[]): { readonly changes: number | bigint };
    all(...values: any[]): unknown[];
  };
}

/** The functions of an SQLite database, for {@link sqlStore} and for `sqlTraceStore` of `looplet/trace`. */
export function sqliteDatabase(database: SqliteDatabaseLike): SqlDatabase {
  checkMethods(database, "database", "a database with prepare(), as of node:sqlite", ["prepare"]);
  return {
    run: (statement, values) => Number(database.prepare(statement).run(...values).changes),
    all: (query, values) => database.prepare(query).all(...values) as { [column: string]: unknown }[],
  };
}

/**
 * A store in a file of SQLite, which several processes may have open: `new DatabaseSync("runs.db")` of `node:sqlite`,
 * or the `Database` of `better-sqlite3` or `bun:sqlite`.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { sqliteStore, type SqliteDatabaseLike } from "looplet/stores";
 *
 * declare const database: SqliteDatabaseLike; // new DatabaseSync("runs.db") of node:sqlite
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, store: sqliteStore(database) });
 * ```
 */
export function sqliteStore(database: SqliteDatabaseLike, options: SqlStoreOptions = {}): Required<Store> {
  return sqlStore(sqliteDatabase(database), options);
}
