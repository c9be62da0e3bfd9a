/**
 * `looplet/stores`: stores for journals in memory, in IndexedDB and in a Durable Object. `looplet/stores/node` has one for
 * files. They need no engine.
 */
export { durableObjectStore, type DurableObjectStorageLike } from "./durable-object.js";
export { indexedDbStore, type IndexedDbStore, type IndexedDbStoreOptions } from "./indexed-db.js";
export { memoryStore, type StoreClock } from "./memory.js";
