import type { Lease, Store } from "../../core/api/run.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { checkMethods } from "../check-methods.js";
import {
  checkFence,
  columnOf,
  hasEnded,
  isFree,
  isOut,
  nextLease,
  timesOf,
  ttlOf,
  type LeaseRecord,
} from "./leases.js";
import { RowLogs } from "./logs/row-logs.js";
import { checkSeq, type StoreClock } from "./memory.js";

/** The part of a Durable Object's `ctx.storage` that the store uses. */
export interface DurableObjectStorageLike {
  readonly sql: {
    exec(query: string, ...values: (string | number | null)[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(work: () => T): T;
  sync(): Promise<void>;
}

/**
 * A store in the SQLite database of a Durable Object, in the tables `looplet_entries`, `looplet_rests` and
 * `looplet_leases`. Give it `ctx.storage`. The class needs `new_sqlite_classes` in the migrations of its Worker.
 *
 * An object has one instance at a time, so a lease of an earlier instance has run out.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { durableObjectStore, type DurableObjectStorageLike } from "looplet/stores";
 *
 * declare const ctx: { storage: DurableObjectStorageLike }; // the first argument of the object's constructor
 * const model = anthropic("claude-opus-5-5", { apiKey: "key" });
 * const agent = createAgent({ model, store: durableObjectStore(ctx.storage) });
 * ```
 */
export function durableObjectStore(
  storage: DurableObjectStorageLike,
  { now = Date.now }: StoreClock = {},
): Required<Store> {
  checkMethods(storage?.sql, "storage", "the storage of a Durable Object with SQLite: ctx.storage", ["exec"]);
  const { sql } = storage;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS looplet_leases (key TEXT PRIMARY KEY, fence INTEGER NOT NULL, holder TEXT NOT NULL, instance TEXT NOT NULL, expires INTEGER, ttl INTEGER)",
  );
  try {
    sql.exec("SELECT ttl FROM looplet_leases WHERE 1 = 0").toArray();
  } catch {
    // A table of an older version.
    sql.exec("ALTER TABLE looplet_leases ADD COLUMN ttl INTEGER");
  }
  sql.exec(
    "CREATE INDEX IF NOT EXISTS looplet_unfinished ON looplet_leases (expires) WHERE expires IS NOT NULL",
  );
  const logs = new RowLogs(storage);
  const instance = instanceOf(storage);

  const recordOf = (key: string): LeaseRecord | undefined => {
    const [row] = sql.exec("SELECT * FROM looplet_leases WHERE key = ?", key).toArray();
    return row && lease(row, instance, now());
  };
  const isOver = (record: LeaseRecord, key: string): boolean => {
    const [end] = isOut(record, now()) ? logs.behind(key, logs.last(key) - 1) : [];
    return end !== undefined && isRunEnd(end);
  };
  const keysOf = (where: string, isListed: (record: LeaseRecord, key: string) => boolean): string[] =>
    sql
      .exec(`SELECT * FROM looplet_leases WHERE ${where}`)
      .toArray()
      .filter((row) => isListed(lease(row, instance, now()), row["key"] as string))
      .map(({ key }) => key as string);
  /** Sets the time of a lease; false if it is not the latest, or was given back. */
  const setExpiry = (key: string, fence: number, expiresMs: number | undefined): boolean => {
    const query =
      "UPDATE looplet_leases SET expires = ?, ttl = ? WHERE key = ? AND fence = ? AND expires >= 0 RETURNING key";
    const ttl = expiresMs === undefined ? null : ttlOf(expiresMs, now());
    return sql.exec(query, columnOf(expiresMs, now()), ttl, key, fence).toArray().length > 0;
  };

  return {
    async append(key, entries, expectedSeq, fence) {
      storage.transactionSync(() => {
        checkFence(key, recordOf(key)?.fence, fence);
        checkSeq(key, logs.last(key), expectedSeq);
        for (const entry of entries) logs.append(key, entry);
      });
      await storage.sync();
    },
    load: (key, after = 0) => logs.behind(key, after),
    async lease(key, options): Promise<Lease | undefined> {
      const taken = storage.transactionSync(() => {
        const before = recordOf(key);
        if (!isFree(before, now(), options)) return undefined;
        const { fence, holder, expiresMs, ttlMs } = nextLease(before, now(), options);
        const query =
          "INSERT OR REPLACE INTO looplet_leases (key, fence, holder, instance, expires, ttl) VALUES (?, ?, ?, ?, ?, ?)";
        sql.exec(query, key, fence, holder, instance, expiresMs!, ttlMs!);
        return fence;
      });
      if (taken === undefined) return undefined;
      await storage.sync();
      return {
        fence: taken,
        renew: (ttlMs) => setExpiry(key, taken, now() + ttlMs),
        async release(remains) {
          setExpiry(key, taken, remains ? now() : undefined);
          await storage.sync();
        },
      };
    },
    pending: () => keysOf("expires >= 0", (record, key) => isOut(record, now()) && !isOver(record, key)),
    ended: (ageMs) =>
      keysOf("expires IS NOT NULL", (record, key) => hasEnded(record, now(), ageMs, isOver(record, key))),
    async delete(key) {
      storage.transactionSync(() => {
        logs.delete(key);
        sql.exec("DELETE FROM looplet_leases WHERE key = ?", key);
      });
      await storage.sync();
    },
  };
}

/** A row as a record. The lease of another instance is one that has run out. */
function lease(row: Record<string, unknown>, instance: string, nowMs: number): LeaseRecord {
  const { expiresMs, endedMs } = timesOf(row["expires"] as number | null);
  return {
    fence: row["fence"] as number,
    holder: row["holder"] as string,
    expiresMs:
      expiresMs === undefined || row["instance"] === instance ? expiresMs : Math.min(expiresMs, nowMs),
    ttlMs: (row["ttl"] as number | null) ?? undefined,
    endedMs,
  };
}

const INSTANCES = new WeakMap<object, string>();

/** The name of the object's instance, which owns its storage for its lifetime. */
function instanceOf(storage: object): string {
  const known = INSTANCES.get(storage) ?? `${Math.random()}`;
  INSTANCES.set(storage, known);
  return known;
}
