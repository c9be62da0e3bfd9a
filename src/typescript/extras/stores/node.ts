/** `looplet/stores/node`: a store for journals in files, for Node, Bun and Deno. */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import type { Lease, LeaseOptions, Store } from "../../core/api/run.js";
import { ifThere, Log, PRIVATE_FILE } from "./file/log.js";
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
import { checkSeq, type StoreClock } from "./memory.js";
import { keyOfName, nameOfKey } from "./file/names.js";
import { hasProcessEnded, placeOfProcess, uptimeMs } from "./file/place.js";
import { inTurn } from "./file/turns.js";

/**
 * A store with one file for each run in a folder, which is created if it is missing. The folder must be on a local
 * file system: on a network drive the writes of two machines may be interleaved. Only the user of the process can
 * read new files and a new folder (modes 0600 and 0700).
 *
 * Each line is one append, or the start of a lease ({@link Log}). A writer checks after its write whether its line
 * was accepted, so a process that was suspended during an append cannot overwrite its successor.
 *
 * All stores of this process serialize their work on the same journal.
 *
 * A file `….lease` next to it has the expiry of a held lease. The lease of an ended process of this machine has
 * expired. Setting the clock neither ends nor extends a lease of this machine.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { fileStore } from "looplet/stores/node";
 *
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, store: fileStore("./runs") });
 * console.log((await agent.run("Hello").result).outcome); // prints "completed"
 * ```
 */
export function fileStore(folder: string, { now = Date.now }: StoreClock = {}): Required<Store> {
  const logs = new Map<string, Log>();
  const isClock = now === Date.now;
  const pathOf = (key: string): string => join(folder, `${fileOf(key)}.jsonl`);
  const inTurnOf = <T>(key: string, task: () => Promise<T>): Promise<T> => inTurn(resolve(pathOf(key)), task);
  const recordPath = (key: string, nonce: string, end = LEASE): string =>
    join(folder, `${fileOf(key)}.${nonce}${end}`);

  const made = (): Promise<unknown> => mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  /**
   * The lease by the clock as it is set today. On its machine, the time since the start shows how far the clock was
   * set since the lease was written.
   */
  const readLease = (text: string): FileLease => {
    const lease = leaseIn(text) as FileLease;
    const { place, atMs, upMs, expiresMs } = lease;
    const ownMs = isClock && typeof place === "string" && place === placeOfProcess() ? uptimeMs() : undefined;
    if (ownMs === undefined || typeof atMs !== "number" || typeof upMs !== "number") return lease;
    const setMs = now() - atMs - (ownMs - upMs);
    if (expiresMs === undefined || Math.abs(setMs) < STEADY_MS) return lease;
    return { ...lease, expiresMs: expiresMs + setMs };
  };

  /** The journal, with the lines that were added since the last read. */
  const look = async (key: string): Promise<Log> => {
    const log = logs.get(key) ?? new Log();
    logs.set(key, log);
    await log.read(pathOf(key));
    return log;
  };
  const recordOf = async (key: string, nonce: string): Promise<FileLease | undefined> => {
    const text = await ifThere(readFile(recordPath(key, nonce), "utf8"));
    return text === undefined ? undefined : readLease(text);
  };
  /** Writes the file in one piece, so that no process reads a part of it. */
  const keepRecord = async (key: string, nonce: string, record: FileLease, end = LEASE): Promise<void> => {
    const path = recordPath(key, nonce, end);
    const draft = `${path}.${randomText()}`;
    try {
      const times = { atMs: now(), upMs: uptimeMs() };
      await writeFile(draft, JSON.stringify({ ...record, ...times, key }), { mode: PRIVATE_FILE });
      await rename(draft, path);
    } catch (error) {
      await unlink(draft).catch(() => {});
      throw error;
    }
  };
  const dropRecord = async (key: string, nonce: string): Promise<void> => {
    for (const end of [LEASE, ENDED]) await ifThere(unlink(recordPath(key, nonce, end)));
  };
  /** Saves the end of a run in a file with another name, so that a search for pending runs does not read it. */
  const endRecord = async (key: string, nonce: string, record: FileLease): Promise<void> => {
    await keepRecord(key, nonce, withExpiry(record, undefined, now()), ENDED);
    await ifThere(unlink(recordPath(key, nonce)));
  };
  const leaseOf = (key: string, nonce: string, record: FileLease): Lease => {
    const isOurs = async (): Promise<boolean> =>
      (await look(key)).nonce === nonce && (await recordOf(key, nonce)) !== undefined;
    return {
      fence: record.fence,
      renew: (ttlMs) =>
        inTurnOf(key, async () => {
          if (!(await isOurs())) return false;
          await keepRecord(key, nonce, withExpiry(record, now() + ttlMs, now()));
          return true;
        }),
      release: (remains) =>
        inTurnOf(key, async () => {
          if (!(await isOurs())) return;
          if (remains) await keepRecord(key, nonce, withExpiry(record, now(), now()));
          else await endRecord(key, nonce, record);
        }),
    };
  };

  /** The record in a file of this name. Undefined for any other file, and rejects for what cannot be read. */
  const recordIn = async (
    name: string,
    end: string,
  ): Promise<{ key: string; nonce: string; record: FileLease } | undefined> => {
    const [, encoded, nonce] = /^(.*)\.([a-z0-9]+)$/s.exec(name.slice(0, -end.length)) ?? [];
    if (encoded === undefined || nonce === undefined || !name.endsWith(end)) return undefined;
    const record = readLease(await readFile(join(folder, name), "utf8"));
    const key = keyOfName(encoded) ?? record.key;
    return typeof key === "string" && fileOf(key) === encoded ? { key, nonce, record } : undefined;
  };
  /**
   * The lease in a file of this name, if it has expired and is the latest of its journal, and whether the run is
   * over. Rejects if the file cannot be read.
   */
  const leaseOut = async (
    name: string,
  ): Promise<{ key: string; record: FileLease; isOver: boolean } | undefined> => {
    const found = await recordIn(name, LEASE);
    if (found === undefined) return undefined;
    const { key, nonce, record } = found;
    if (isHeld(record, now()) && !hasProcessEnded(record.place, record.pid)) return undefined;
    return inTurnOf(key, async () => {
      const log = await look(key);
      // The line of the lease may be damaged.
      const isItsFence = log.nonce === undefined && log.fence === record.fence;
      const isPerhapsLater = log.isDamaged && record.fence > (log.fence ?? 0);
      if (log.nonce === nonce || isItsFence || isPerhapsLater)
        return { key, record, isOver: log.isOver && !log.isDamaged };
      // Its holder ended before its line was accepted, or after a later one.
      await dropRecord(key, nonce);
      return undefined;
    });
  };

  const lease = async (key: string, options: LeaseOptions): Promise<Lease | undefined> => {
    for (;;) {
      const log = await look(key);
      const before = log.nonce;
      const record = before === undefined ? undefined : await recordOf(key, before);
      if (!isFree(record, now(), options) && !hasProcessEnded(record!.place, record!.pid)) return undefined;
      await made();
      // The last line may have been a lease, if it cannot be read.
      const fence = (log.fence ?? 0) + (log.isDamaged ? 2 : 1);
      const nonce = randomText();
      const taken = {
        ...nextLease(undefined, now(), options),
        fence,
        place: placeOfProcess(),
        pid: process.pid,
      } as FileLease;
      // The file comes first, so that no lease is without its time. It means nothing before the line counts.
      await keepRecord(key, nonce, taken);
      if (await log.write(pathOf(key), { fence, after: log.fence ?? 0, nonce })) {
        if (before !== undefined) await dropRecord(key, before);
        return leaseOf(key, nonce, taken);
      }
      // Another process was faster.
      await dropRecord(key, nonce);
    }
  };

  return {
    append: (key, entries, expectedSeq, fence) =>
      inTurnOf(key, async () => {
        const log = await look(key);
        checkFence(key, log.fence, fence);
        checkSeq(key, log.last, expectedSeq);
        if (entries.length === 0) return;
        await made();
        if (await log.write(pathOf(key), { fence, entries })) return;
        await log.read(pathOf(key));
        checkFence(key, log.fence, fence);
        checkSeq(key, log.last, expectedSeq);
        throw new Error(`The journal "${key}" could not be written whole.`);
      }),
    load: (key, after = 0) =>
      inTurnOf(key, async () => {
        // The file is read again, because a part that was read before may be damaged since.
        const known = after > 0 ? logs.get(key) : undefined;
        const log = known?.last === after ? known : new Log();
        const entries = await log.entries(pathOf(key), async () => {
          const record = log.nonce === undefined ? undefined : await recordOf(key, log.nonce);
          return isHeld(record, now()) && !hasProcessEnded(record!.place, record!.pid);
        });
        logs.set(key, log);
        return entries;
      }),
    lease: (key, options) => inTurnOf(key, () => lease(key, options)),
    async pending() {
      const keys: string[] = [];
      for (const name of (await ifThere(readdir(folder))) ?? []) {
        const out = await leaseOut(name).catch(() => undefined);
        if (out?.isOver === false) keys.push(out.key);
      }
      return keys;
    },
    async ended(ageMs) {
      const keys: string[] = [];
      for (const name of (await ifThere(readdir(folder))) ?? []) {
        const out = await leaseOut(name).catch(() => undefined);
        if (out?.isOver === true && hasEnded(out.record, now(), ageMs, true)) keys.push(out.key);
        const found = await recordIn(name, ENDED).catch(() => undefined);
        if (found === undefined || !hasEnded(found.record, now(), ageMs, false)) continue;
        const { key, nonce } = found;
        await inTurnOf(key, async () => {
          if ((await look(key)).nonce === nonce) keys.push(key);
          else await dropRecord(key, nonce);
        });
      }
      return keys;
    },
    delete: (key) =>
      inTurnOf(key, async () => {
        const { nonce } = await look(key);
        logs.delete(key);
        await ifThere(unlink(pathOf(key)));
        if (nonce !== undefined) await dropRecord(key, nonce);
      }),
  };
}

/** The rights of a new folder: only the user of the process can list it. */
const PRIVATE_FOLDER = 0o700;

/** A difference up to this is no clock that was set: machines count the time since their start in whole seconds. */
const STEADY_MS = 2_000;

/** The suffixes of lease files: for leases that are held or expired, and for those of ended runs. */
const LEASE = ".lease";
const ENDED = ".ended";

/** The lease in its file. The file name contains the nonce of its line. */
interface FileLease extends LeaseRecord {
  /** The machine and the table of processes that `pid` belongs to. */
  readonly place?: unknown;
  readonly pid?: unknown;
  /** The store's time when it was written, and the time since the machine's start, in milliseconds. */
  readonly atMs?: unknown;
  readonly upMs?: unknown;
  /** The key; a long one does not fit into the name of the file. */
  readonly key?: unknown;
}

/** The maximum number of characters of a name, without the suffixes. File systems allow 255 bytes. */
const NAME_CHARS = 180;
const BEGINNING_CHARS = 100;

/** The name of a journal's files, without their suffixes. */
function fileOf(key: string): string {
  const name = nameOfKey(key);
  if (name.length <= NAME_CHARS) return name;
  return `${name.slice(0, BEGINNING_CHARS)}~${createHash("sha256").update(name).digest("hex")}`;
}

function randomText(): string {
  return Math.random().toString(36).slice(2);
}
