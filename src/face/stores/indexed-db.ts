import type { JournalEntry, Store } from "../api/run.js";
import { checkSeq } from "./memory.js";

/** The object store within the database. */
const TABLE = "entries";

/**
 * A store in the browser's IndexedDB, which survives a reload, a closed tab and a service worker that is ended.
 *
 * `name` is the name of the database. Default `"looplet"`.
 */
export function indexedDbStore({ name = "looplet" }: { name?: string } = {}): Store {
  let opened: Promise<IDBDatabase> | undefined;
  const database = (): Promise<IDBDatabase> => {
    // A database that could not be opened is tried again.
    opened ??= open(name).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    async append(key, entries, expectedSeq) {
      const transaction = (await database()).transaction(TABLE, "readwrite", { durability: "strict" });
      const table = transaction.objectStore(TABLE);
      const done = settled(transaction);
      try {
        const cursor = await answer(table.openKeyCursor(all(key), "prev"));
        checkSeq(key, (cursor?.primaryKey as [string, number] | undefined)?.[1], expectedSeq);
      } catch (error) {
        transaction.abort();
        await done.catch(() => {});
        throw error;
      }
      for (const entry of entries) table.put({ key, ...entry });
      await done;
    },
    async load(key) {
      const table = (await database()).transaction(TABLE).objectStore(TABLE);
      const rows = (await answer(table.getAll(all(key)))) as (JournalEntry & { key: string })[];
      return rows.map(({ seq, json }) => ({ seq, json }));
    },
  };
}

/** The keys of all entries of a journal. */
function all(key: string): IDBKeyRange {
  return IDBKeyRange.bound([key, 0], [key, Infinity]);
}

function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE, { keyPath: ["key", "seq"] });
  return answer(request);
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function settled(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
  });
}
