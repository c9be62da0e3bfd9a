/** The state of a Durable Object, whose storage is SQLite. */
import type { DurableObjectStateLike } from "looplet/cloudflare";

interface Database {
  prepare(query: string): { all(...values: unknown[]): Record<string, unknown>[] };
}
export const sqlite = (process.getBuiltinModule as ((name: string) => unknown) | undefined)?.(
  "node:sqlite",
) as { DatabaseSync: new (name: string) => Database } | undefined;

export function objectState(): DurableObjectStateLike {
  const database = new sqlite!.DatabaseSync(":memory:");
  return {
    storage: {
      sql: {
        exec(query, ...values) {
          const rows = database.prepare(query).all(...values);
          return { toArray: () => rows };
        },
      },
      transactionSync: (work) => work(),
      sync: () => Promise.resolve(),
      setAlarm: () => Promise.resolve(),
      deleteAlarm: () => Promise.resolve(),
    },
    acceptWebSocket() {},
    getWebSockets: () => [],
  };
}
