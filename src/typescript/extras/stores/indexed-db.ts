import type { JournalEntry, Store } from "../../core/api/run.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { answer } from "./idb-request.js";
import { checkFence, hasEnded, isFree, isHeld, nextLease, withExpiry, type LeaseRecord } from "./leases.js";
import { checkSeq, type StoreClock } from "./memory.js";
import { heldLocks, hold, isGone } from "./web-locks.js";

/** The object stores of the database, and the index of leases of unfinished runs. */
const ENTRIES = "entries";
const LEASES = "leases";
const UNFINISHED = "unfinished";

/** The options of {@link indexedDbStore}. */
export interface IndexedDbStoreOptions extends StoreClock {
  /** The name of the database. Default `"looplet"`. */
  name?: string | undefined;
  /** Whether to ask the browser once to persist the data when space is short. Firefox asks the user. Default true. */
  persist?: boolean | undefined;
}

type KeyedLease = LeaseRecord & { readonly key: string };

/** A store in IndexedDB. */
export interface IndexedDbStore extends Required<Store> {
  /**
   * Whether the browser stores the data until the user deletes it. False if it may delete the data when space is
   * short, or cannot say (a page without HTTPS). The first write, or the first access to this property, requests it.
   */
  readonly persisted: Promise<boolean>;
}

/**
 * A store in the browser's IndexedDB. It survives a reload, a closed tab and a terminated service worker.
 *
 * A page holds a Web Lock for each lease, so the lease of a page that was closed or reloaded expires immediately. If
 * the browser has no Web Locks (outside of HTTPS and localhost), its time has to pass.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { indexedDbStore } from "looplet/stores";
 *
 * const model = anthropic("claude-opus-5-5", { baseUrl: "/api/anthropic" });
 * const agent = createAgent({ model, store: indexedDbStore() });
 * ```
 */
export function indexedDbStore(options: IndexedDbStoreOptions = {}): IndexedDbStore {
  const { name = "looplet", now = Date.now, persist = true } = options;
  let answered: Promise<boolean> | undefined;
  const persisted = (): Promise<boolean> => (answered ??= isPersisted(persist));
  let opened: Promise<IDBDatabase> | undefined;
  const database = (): Promise<IDBDatabase> => {
    // A database that could not be opened is tried again, and so is one that a newer version of looplet has closed.
    const forget = (): void => (opened = undefined);
    opened ??= open(name, forget).catch((error: unknown) => {
      forget();
      throw error;
    });
    return opened;
  };
  /** Reads and writes in one transaction. An error rolls it back. `work` must wait only for its own requests. */
  const write = async <T>(
    tables: string[],
    work: (transaction: IDBTransaction) => Promise<T>,
  ): Promise<T> => {
    void persisted();
    const transaction = (await database()).transaction(tables, "readwrite", { durability: "strict" });
    const done = settled(transaction);
    let result: T;
    try {
      result = await work(transaction);
      // Then the browser writes it even if the page is closed before it answers. Safari before 15 has no `commit`.
      transaction.commit?.();
    } catch (error) {
      transaction.abort();
      await done.catch(() => {});
      throw error;
    }
    await done;
    return result;
  };
  const lockOf = (holder: string): string => `${name} ${holder}`;
  const recordOf = async (key: string, transaction: IDBTransaction): Promise<LeaseRecord | undefined> =>
    (await answer(transaction.objectStore(LEASES).get(key))) as LeaseRecord | undefined;
  /** Sets the time of a lease; false if it is not the latest, or was given back. */
  const setExpiry = (key: string, fence: number, expiresMs: number | undefined): Promise<boolean> =>
    write([LEASES], async (transaction) => {
      const record = await recordOf(key, transaction);
      if (record?.fence !== fence || record.expiresMs === undefined) return false;
      // The index contains only records that can expire.
      transaction.objectStore(LEASES).put(withExpiry(record, expiresMs, now()));
      return true;
    });
  /** The leases that have not ended and that no page holds, and whether their runs are over. */
  const unheld = async (): Promise<{ record: KeyedLease; isOver: boolean }[]> => {
    const index = (await database()).transaction(LEASES).objectStore(LEASES).index(UNFINISHED);
    const records = (await answer(index.getAll())) as KeyedLease[];
    const locks = await heldLocks();
    const isAtWork = (record: LeaseRecord): boolean =>
      isHeld(record, now()) && (locks?.includes(lockOf(record.holder)) ?? true);
    const table = (await database()).transaction(ENTRIES).objectStore(ENTRIES);
    const judged = records
      .filter((record) => !isAtWork(record))
      .map(async (record) => {
        const end = (await answer(table.openCursor(all(record.key), "prev")))?.value as
          JournalEntry | undefined;
        return { record, isOver: end !== undefined && isRunEnd(end) };
      });
    return Promise.all(judged);
  };

  return {
    get persisted() {
      return persisted();
    },
    append: (key, entries, expectedSeq, fence) =>
      write([ENTRIES, LEASES], async (transaction) => {
        if (fence !== undefined) checkFence(key, (await recordOf(key, transaction))?.fence, fence);
        const table = transaction.objectStore(ENTRIES);
        const cursor = await answer(table.openKeyCursor(all(key), "prev"));
        checkSeq(key, (cursor?.primaryKey as [string, number] | undefined)?.[1], expectedSeq);
        for (const entry of entries) table.put({ key, ...entry });
      }),
    async load(key, after = 0) {
      const table = (await database()).transaction(ENTRIES).objectStore(ENTRIES);
      const rows = (await answer(table.getAll(all(key, after + 1)))) as (JournalEntry & { key: string })[];
      return rows.map(({ seq, json }) => ({ seq, json }));
    },
    async lease(key, options) {
      const lock = await hold(lockOf(options.holder));
      let gone: number | undefined;
      for (;;) {
        const tried = await write([LEASES], async (transaction) => {
          const before = await recordOf(key, transaction);
          if (before?.fence !== gone && !isFree(before, now(), options)) return before!;
          const taken = nextLease(before, now(), options);
          transaction.objectStore(LEASES).put({ key, ...taken });
          return taken.fence;
        }).catch((error: unknown) => {
          lock.letGo();
          throw error;
        });
        if (typeof tried === "number") {
          return {
            fence: tried,
            renew: (ttlMs) => setExpiry(key, tried, now() + ttlMs),
            release: async (remains) => {
              await setExpiry(key, tried, remains ? now() : undefined);
              lock.letGo();
            },
          };
        }
        if (!(await isGone(lockOf(tried.holder)))) {
          lock.letGo();
          return undefined;
        }
        gone = tried.fence;
      }
    },
    async pending() {
      return (await unheld()).filter(({ isOver }) => !isOver).map(({ record }) => record.key);
    },
    async ended(ageMs) {
      const over = new Set((await unheld()).flatMap(({ record, isOver }) => (isOver ? [record.key] : [])));
      const leases = (await database()).transaction(LEASES).objectStore(LEASES).getAll();
      return ((await answer(leases)) as KeyedLease[])
        .filter((record) => hasEnded(record, now(), ageMs, over.has(record.key)))
        .map(({ key }) => key);
    },
    delete: (key) =>
      write([ENTRIES, LEASES], async (transaction) => {
        transaction.objectStore(ENTRIES).delete(all(key));
        transaction.objectStore(LEASES).delete(key);
      }),
  };
}

/** Whether the data is persisted. `asks` says whether to request it from the browser. */
async function isPersisted(asks: boolean): Promise<boolean> {
  const { storage } = (globalThis as { navigator?: Partial<Navigator> }).navigator ?? {};
  try {
    return (await storage?.persisted?.()) || (asks && (await storage?.persist?.())) || false;
  } catch {
    return false;
  }
}

/** The keys of all entries of a journal. */
function all(key: string, from = 0): IDBKeyRange {
  return IDBKeyRange.bound([key, from], [key, Infinity]);
}

function open(name: string, forget: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 2);
  request.onupgradeneeded = ({ oldVersion }) => {
    const database = request.result;
    if (oldVersion < 1) database.createObjectStore(ENTRIES, { keyPath: ["key", "seq"] });
    database.createObjectStore(LEASES, { keyPath: "key" }).createIndex(UNFINISHED, "expiresMs");
  };
  return answer(request).then((database) => {
    database.onversionchange = () => {
      database.close();
      forget();
    };
    database.onclose = forget;
    return database;
  });
}

function settled(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
  });
}
