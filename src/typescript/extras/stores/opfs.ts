import type { JournalEntry, Lease, Store } from "../../core/api/run.js";
import {
  checkFence,
  hasEnded,
  isFree,
  isHeld,
  leaseIn,
  nextLease,
  withExpiry,
  type LeaseRecord,
} from "./leases.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { entriesOf, linesOf } from "./lines.js";
import { checkSeq, type StoreClock } from "./memory.js";
import { keyOfName, nameOfKey } from "./file/names.js";
import { readAgain } from "../vfs/read-again.js";
import { heldLocks, hold, isGone, lockManager } from "./web-locks.js";

/** The options of {@link opfsStore}. */
export interface OpfsStoreOptions extends StoreClock {
  /** The folder of the origin private file system. Default `"looplet"`. */
  name?: string | undefined;
}

/** Digits of a number in the name of a file. */
const DIGITS = 12;

const LEASE = "lease.json";

/**
 * A store in files of the browser's origin private file system: a folder for each journal, and a file of JSON lines
 * for each append. It needs Web Locks, which every browser has that has these files. The lease of a page that was
 * closed or reloaded has run out.
 *
 * The browser may delete the files when space is short, unless `navigator.storage.persist()` was granted. An append
 * beyond the quota rejects with a `QuotaExceededError`.
 */
export function opfsStore({ name = "looplet", now = Date.now }: OpfsStoreOptions = {}): Required<
  Omit<Store, "consistency">
> {
  const top = async (): Promise<FileSystemDirectoryHandle> => {
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(name, { create: true });
  };
  const folderOf = async (key: string, create = false): Promise<FileSystemDirectoryHandle | undefined> => {
    const folders = await top();
    return ifThere(folders.getDirectoryHandle(nameOfKey(key), { create }));
  };
  /** Lets one tab or worker at a time work on a journal. */
  const alone = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const locks = lockManager();
    if (locks === undefined)
      throw new Error("opfsStore needs Web Locks, which this browser does not have here");
    return (await locks.request(`${name} journal ${key}`, work)) as T;
  };
  const lockOf = (holder: string): string => `${name} ${holder}`;

  const recordOf = async (
    folder: FileSystemDirectoryHandle | undefined,
  ): Promise<LeaseRecord | undefined> => {
    const text = folder && (await textOf(folder, LEASE));
    return text ? leaseIn(text) : undefined;
  };
  /** The names of the files of entries in their order, each with the number of its first entry. */
  const filesOf = async (folder: FileSystemDirectoryHandle): Promise<{ file: string; first: number }[]> => {
    const files: { file: string; first: number }[] = [];
    for await (const [file] of folder.entries())
      if (file.endsWith(".jsonl")) files.push({ file, first: Number.parseInt(file, 10) });
    return files.sort((one, other) => one.first - other.first);
  };
  const entriesIn = async (folder: FileSystemDirectoryHandle, after: number): Promise<JournalEntry[]> => {
    const all = await filesOf(folder);
    // The entries of a file have lower numbers than the first one of the next file.
    const files = all.filter((_, at) => (all[at + 1]?.first ?? Infinity) > after + 1);
    const texts = await Promise.all(files.map(({ file }) => textOf(folder, file)));
    return files.flatMap(({ first }, at) => entriesOf(first, texts[at] ?? ""));
  };
  const lastIn = async (folder: FileSystemDirectoryHandle): Promise<JournalEntry | undefined> => {
    const files = await filesOf(folder);
    for (const { file, first } of files.reverse()) {
      const last = entriesOf(first, (await textOf(folder, file)) ?? "").at(-1);
      // A file without a whole line was torn by a crash.
      if (last !== undefined) return last;
    }
    return undefined;
  };
  /** Sets the time of a lease; false if it is not the latest, or was given back. */
  const setExpiry = (key: string, fence: number, expiresMs: number | undefined): Promise<boolean> =>
    alone(key, async () => {
      const folder = await folderOf(key);
      const record = await recordOf(folder);
      if (record?.fence !== fence || record.expiresMs === undefined) return false;
      await write(folder!, LEASE, JSON.stringify(withExpiry(record, expiresMs, now())));
      return true;
    });
  /** The latest lease of each journal, whether no page holds it, and whether its run is over anyway. */
  const leases = async (): Promise<
    { key: string; record: LeaseRecord; isOut: boolean; isOver: boolean }[]
  > => {
    const found = [];
    const locks = await heldLocks();
    for await (const [name, handle] of (await top()).entries()) {
      const key = handle.kind === "directory" ? keyOfName(name) : undefined;
      const folder = handle as FileSystemDirectoryHandle;
      const record = key === undefined ? undefined : await recordOf(folder);
      if (record === undefined) continue;
      const isAtWork = isHeld(record, now()) && (locks?.includes(lockOf(record.holder)) ?? true);
      const isOut = record.expiresMs !== undefined && !isAtWork;
      const end = isOut ? await lastIn(folder) : undefined;
      found.push({ key: key!, record, isOut, isOver: end !== undefined && isRunEnd(end) });
    }
    return found;
  };

  return {
    append: (key, entries, expectedSeq, fence) =>
      alone(key, async () => {
        const folder = (await folderOf(key, true))!;
        checkFence(key, (await recordOf(folder))?.fence, fence);
        checkSeq(key, (await lastIn(folder))?.seq, expectedSeq);
        if (entries.length === 0) return;
        const file = `${String(entries[0]!.seq).padStart(DIGITS, "0")}.jsonl`;
        await write(folder, file, linesOf(entries));
      }),
    load: (key, after = 0) =>
      alone(key, async () => {
        const folder = await folderOf(key);
        return folder && entriesIn(folder, after);
      }),
    async lease(key, options) {
      const lock = await hold(lockOf(options.holder));
      /** The lease, or the record of the one that is in its way. */
      const take = (gone: number | undefined): Promise<Lease | LeaseRecord> =>
        alone(key, async () => {
          const folder = (await folderOf(key, true))!;
          const before = await recordOf(folder);
          if (before?.fence !== gone && !isFree(before, now(), options)) return before!;
          const taken = nextLease(before, now(), options);
          await write(folder, LEASE, JSON.stringify(taken));
          const { fence } = taken;
          return {
            fence,
            renew: (ttlMs: number) => setExpiry(key, fence, now() + ttlMs),
            release: async (remains: boolean) => {
              await setExpiry(key, fence, remains ? now() : undefined);
              lock.letGo();
            },
          };
        });
      try {
        for (let gone: number | undefined; ;) {
          const tried = await take(gone);
          if ("renew" in tried) return tried;
          if (!(await isGone(lockOf(tried.holder)))) break;
          gone = tried.fence;
        }
      } catch (error) {
        lock.letGo();
        throw error;
      }
      lock.letGo();
      return undefined;
    },
    async pending() {
      return (await leases()).filter(({ isOut, isOver }) => isOut && !isOver).map(({ key }) => key);
    },
    async ended(ageMs) {
      return (await leases())
        .filter(({ record, isOver }) => hasEnded(record, now(), ageMs, isOver))
        .map(({ key }) => key);
    },
    delete: (key) =>
      alone(key, async () => {
        await ifThere((await top()).removeEntry(nameOfKey(key), { recursive: true }));
      }),
  };
}

async function textOf(folder: FileSystemDirectoryHandle, file: string): Promise<string | undefined> {
  const read = async (): Promise<string> => (await (await folder.getFileHandle(file)).getFile()).text();
  return ifThere(readAgain(read));
}

/** Writes a file. Where the browser has streams for it, the file is whole or as it was. */
async function write(folder: FileSystemDirectoryHandle, file: string, text: string): Promise<void> {
  const handle = await folder.getFileHandle(file, { create: true });
  if (typeof handle.createWritable === "function") {
    const stream = await handle.createWritable();
    await stream.write(text);
    return stream.close();
  }
  // Safari before 26, where only workers can write.
  const access = await (
    handle as unknown as {
      createSyncAccessHandle(): Promise<{
        truncate(size: number): void;
        write(bytes: Uint8Array): number;
        flush(): void;
        close(): void;
      }>;
    }
  ).createSyncAccessHandle();
  try {
    access.truncate(0);
    access.write(new TextEncoder().encode(text));
    access.flush();
  } finally {
    access.close();
  }
}

/** The value, or undefined for what is not there. */
async function ifThere<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (error) {
    if ((error as { name?: string }).name === "NotFoundError") return undefined;
    throw error;
  }
}
