/** `looplet/stores/node`: a store for journals in files, for Node, Bun and Deno. */
import { readlinkSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { JournalEntry, Lease, Store } from "../api/run.js";
import { checkFence, isFree, isHeld, nextLease, type LeaseRecord } from "./leases.js";
import { checkSeq, type StoreClock } from "./memory.js";

/**
 * A store of one file for each run in a folder, which is made if it is missing. The folder belongs to a local file system:
 * a file of a network drive may mix the writes of two machines.
 *
 * Each line is one append, or the beginning of a lease. All processes read the lines in the order of the file and count the
 * same ones: those that fit what came before. A writer looks after its write whether its line counts, so that a process
 * that has slept in the middle of an append cannot write over its successor. A line that a crash has torn does not count.
 *
 * A file `….lease` beside it has the time of a lease that is held. The lease of a process of this machine that is gone has
 * run out.
 */
export function fileStore(folder: string, { now = Date.now }: StoreClock = {}): Required<Store> {
  const logs = new Map<string, Log>();
  const pathOf = (key: string): string => join(folder, `${encodeURIComponent(key)}.jsonl`);
  const leasePath = (key: string, nonce: string): string =>
    join(folder, `${encodeURIComponent(key)}.${nonce}.lease`);

  /** The journal, with the lines that have come since the last look. */
  const look = async (key: string): Promise<Log> => {
    const log = logs.get(key) ?? new Log();
    logs.set(key, log);
    await log.read(pathOf(key));
    return log;
  };
  const recordOf = async (key: string, nonce: string): Promise<FileLease | undefined> => {
    const text = await ifThere(readFile(leasePath(key, nonce), "utf8"));
    return text === undefined ? undefined : (JSON.parse(text) as FileLease);
  };
  /** Writes the file in one piece, so that no process reads a part of it. */
  const keepRecord = async (key: string, nonce: string, record: FileLease): Promise<void> => {
    const path = leasePath(key, nonce);
    const draft = `${path}.${randomText()}`;
    await writeFile(draft, JSON.stringify(record));
    await rename(draft, path);
  };
  const dropRecord = (key: string, nonce: string): Promise<void> => ifThere(unlink(leasePath(key, nonce)));
  const leaseOf = (key: string, nonce: string, record: FileLease): Lease => {
    const isOurs = async (): Promise<boolean> =>
      (await look(key)).nonce === nonce && (await recordOf(key, nonce)) !== undefined;
    return {
      fence: record.fence,
      async renew(ttlMs) {
        if (!(await isOurs())) return false;
        await keepRecord(key, nonce, { ...record, expiresMs: now() + ttlMs });
        return true;
      },
      async release(isPending) {
        if (!(await isOurs())) return;
        if (isPending) await keepRecord(key, nonce, { ...record, expiresMs: 0 });
        else await dropRecord(key, nonce);
      },
    };
  };

  return {
    async append(key, entries, expectedSeq, fence) {
      const log = await look(key);
      checkFence(key, log.fence, fence);
      checkSeq(key, log.last, expectedSeq);
      await mkdir(folder, { recursive: true });
      const texts = `[${entries.map(({ json }) => json).join(",")}]`;
      const line = fence === undefined ? texts : `{"fence":${fence},"entries":${texts}}`;
      const isTaken = await log.write(pathOf(key), line);
      if (isTaken) return;
      checkFence(key, log.fence, fence);
      checkSeq(key, log.last, expectedSeq);
      throw new Error(`The journal "${key}" could not be written whole.`);
    },
    async load(key) {
      const log = new Log();
      const entries: JournalEntry[] = [];
      await log.read(pathOf(key), (line) => entries.push(...line));
      return entries;
    },
    async lease(key, options) {
      for (;;) {
        const log = await look(key);
        const before = log.nonce;
        const record = before === undefined ? undefined : await recordOf(key, before);
        if (!isFree(record, now(), options) && !isGone(record!)) return undefined;
        await mkdir(folder, { recursive: true });
        const fence = (log.fence ?? 0) + 1;
        const nonce = randomText();
        const taken = {
          ...nextLease(undefined, now(), options),
          fence,
          place: PLACE,
          pid: process.pid,
        } as FileLease;
        // The file comes first, so that no lease is without its time. It means nothing before the line counts.
        await keepRecord(key, nonce, taken);
        const line = JSON.stringify({ fence, after: log.fence ?? 0, nonce });
        if (await log.write(pathOf(key), line)) {
          if (before !== undefined) await dropRecord(key, before);
          return leaseOf(key, nonce, taken);
        }
        // Another process was faster.
        await dropRecord(key, nonce);
      }
    },
    async pending() {
      const keys: string[] = [];
      for (const name of (await ifThere(readdir(folder))) ?? []) {
        const [, encoded, nonce] = /^(.*)\.([a-z0-9]+)\.lease$/s.exec(name) ?? [];
        if (encoded === undefined || nonce === undefined) continue;
        const key = decodeURIComponent(encoded);
        const record = await recordOf(key, nonce);
        if (record === undefined || (isHeld(record, now()) && !isGone(record))) continue;
        if ((await look(key)).nonce === nonce) keys.push(key);
        // Its holder has ended before its line counted, or after a later one.
        else await dropRecord(key, nonce);
      }
      return keys;
    },
    async delete(key) {
      const { nonce } = await look(key);
      await ifThere(unlink(pathOf(key)));
      if (nonce !== undefined) await dropRecord(key, nonce);
    },
  };
}

/** The lease in its file, whose name has the nonce of its line. */
interface FileLease extends LeaseRecord {
  readonly expiresMs: number;
  /** The machine and the table of processes that `pid` belongs to. */
  readonly place: string;
  readonly pid: number;
}

/** A text that two containers with one host name do not share. */
const PLACE = `${hostname()} ${processTable()}`;

function processTable(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Whether the holder is a process of this machine that has ended. */
function isGone({ place, pid }: FileLease): boolean {
  if (place !== PLACE) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "ESRCH";
  }
}

function randomText(): string {
  return Math.random().toString(36).slice(2);
}

/** A line of a journal's file: entries, of a fence or of none, or the beginning of a lease. */
type Line =
  | { seq: number }[]
  | { fence: number; entries: { seq: number }[] }
  | { fence: number; after: number; nonce: string };

/** The state of a journal's file as far as it was read. */
class Log {
  /** The number of the last entry. */
  last = 0;
  /** The fence of the latest lease. */
  fence: number | undefined;
  nonce: string | undefined;
  /** The length of the whole lines, in bytes. */
  #bytes = 0;
  /** Tells the file from a later one of the same name. */
  #file = "";

  /** Reads the lines that have come. `take` gets the entries of those that count. */
  async read(path: string, take: (entries: JournalEntry[]) => void = () => {}): Promise<void> {
    await this.#read(path, (line) => take(entriesOf(line)));
  }

  /** Adds a line, and returns whether it counts. */
  async write(path: string, line: string): Promise<boolean> {
    const file = await open(path, "a");
    try {
      // A line that a crash has torn ends here.
      const isTorn = (await file.stat()).size > this.#bytes;
      const bytes = new TextEncoder().encode(`${isTorn ? "\n" : ""}${line}\n`);
      const { bytesWritten } = await file.write(bytes);
      await file.sync();
      if (bytesWritten < bytes.length) throw new Error(`${path} could not be written whole.`);
    } finally {
      await file.close();
    }
    let isTaken = false;
    await this.#read(path, (_, text) => (isTaken ||= text === line));
    return isTaken;
  }

  async #read(path: string, take: (line: Line, text: string) => void): Promise<void> {
    const file = await ifThere(open(path, "r"));
    const stat = await file?.stat();
    const size = stat?.size ?? 0;
    const name = `${stat?.ino} ${stat?.birthtimeMs}`;
    // Somebody has cut the file off, or has deleted it.
    if (size < this.#bytes || name !== this.#file) {
      [this.last, this.fence, this.nonce, this.#bytes] = [0, undefined, undefined, 0];
    }
    this.#file = name;
    const bytes = new Uint8Array(size - this.#bytes);
    try {
      let length = 0;
      while (file !== undefined && length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, this.#bytes + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      const end = bytes.subarray(0, length).lastIndexOf(LINE_END) + 1;
      this.#bytes += end;
      for (const text of new TextDecoder().decode(bytes.subarray(0, end)).split("\n")) {
        const line = readLine(text);
        if (line !== undefined && this.#counts(line)) take(line, text);
      }
    } finally {
      await file?.close();
    }
  }

  /** Whether a line fits those before it. If so, it has its effect. */
  #counts(line: Line): boolean {
    if (!Array.isArray(line) && "after" in line) {
      if ((this.fence ?? 0) !== line.after) return false;
      [this.fence, this.nonce] = [line.fence, line.nonce];
      return true;
    }
    const entries = Array.isArray(line) ? line : line.entries;
    if (!Array.isArray(line) && line.fence !== this.fence) return false;
    if (entries[0]?.seq !== this.last + 1) return false;
    this.last = entries.at(-1)!.seq;
    return true;
  }
}

const LINE_END = 10;

/** The entries of a line, none for the beginning of a lease. */
function entriesOf(line: Line): JournalEntry[] {
  const entries = Array.isArray(line) ? line : "entries" in line ? line.entries : [];
  return entries.map((entry) => ({ seq: entry.seq, json: JSON.stringify(entry) }));
}

/** Undefined for a line that is damaged. */
function readLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

/** The outcome of a look at a file; undefined if the file is not there. */
async function ifThere<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return undefined;
  }
}
