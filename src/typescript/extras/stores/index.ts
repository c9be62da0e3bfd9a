/**
 * `looplet/stores`: stores for journals in memory, in IndexedDB, in files of the browser, in a Durable Object, in
 * Cloudflare KV and D1, in Deno KV, and in SQL databases. `looplet/stores/node` has one for files. They need no
 * engine.
 */
export { isRunEnd } from "../../core/kit/journal.js";
export {
  denoKvStore,
  type DenoKvAtomic,
  type DenoKvEntry,
  type DenoKvKey,
  type DenoKvLike,
} from "./deno-kv.js";
export { durableObjectStore, type DurableObjectStorageLike } from "./durable-object.js";
export { indexedDbStore, type IndexedDbStore, type IndexedDbStoreOptions } from "./indexed-db.js";
export { kvStore, type EventualStore, type KvTextNamespaceLike } from "./kv.js";
export { memoryStore, type StoreClock } from "./memory.js";
export { opfsStore, type OpfsStoreOptions } from "./opfs.js";
export {
  d1Database,
  d1Store,
  sqliteDatabase,
  sqliteStore,
  sqlStore,
  type D1DatabaseLike,
  type SqliteDatabaseLike,
  type SqlStoreOptions,
} from "./sql.js";
export type { SqlDatabase, SqlRows, SqlValue } from "./sql-tables.js";
export { dropEnded } from "./upkeep/drop-ended.js";
export { supervise, type Supervisor, type SuperviseOptions } from "./upkeep/supervise.js";
