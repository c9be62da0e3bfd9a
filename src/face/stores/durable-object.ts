import type { Store } from "../api/run.js";
import { checkSeq } from "./memory.js";

/** The part of a Durable Object's `ctx.storage` that the store uses. */
export interface DurableObjectStorageLike {
  readonly sql: {
    exec(query: string, ...values: (string | number)[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(work: () => T): T;
  sync(): Promise<void>;
}

/**
 * A store in the SQLite database of a Durable Object, in the table `looplet_entries`. Give it `ctx.storage`. The class needs
 * `new_sqlite_classes` in the migrations of its Worker.
 */
export function durableObjectStore(storage: DurableObjectStorageLike): Store {
  const { sql } = storage;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS looplet_entries (key TEXT NOT NULL, seq INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (key, seq))",
  );
  return {
    async append(key, entries, expectedSeq) {
      storage.transactionSync(() => {
        const rows = sql.exec("SELECT MAX(seq) AS last FROM looplet_entries WHERE key = ?", key).toArray();
        checkSeq(key, (rows[0]?.["last"] as number | null) ?? undefined, expectedSeq);
        for (const entry of entries) {
          sql.exec(
            "INSERT INTO looplet_entries (key, seq, entry) VALUES (?, ?, ?)",
            key,
            entry.seq,
            entry.json,
          );
        }
      });
      await storage.sync();
    },
    load(key) {
      const query = "SELECT seq, entry FROM looplet_entries WHERE key = ? ORDER BY seq";
      return sql
        .exec(query, key)
        .toArray()
        .map(({ seq, entry }) => ({ seq: seq as number, json: entry as string }));
    },
  };
}
