import { isStoreConflict, StoreConflict } from "../../core/api/errors.js";
import type { JournalEntry, Lease, Store } from "../../core/api/run.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { checkMethods } from "../check-methods.js";
import { checkFence, hasEnded, isFree, isOut, nextLease, withExpiry, type LeaseRecord } from "./leases.js";
import { damaged, entriesOf, linesOf } from "./lines.js";
import { checkSeq, type StoreClock } from "./memory.js";
import { deletePieces, putPieces, textOf, type Pieces, type PieceTable } from "./long/pieces.js";

export type DenoKvKey = (string | number)[];

export interface DenoKvEntry {
  readonly key: readonly unknown[];
  readonly value: unknown;
  readonly versionstamp: string | null;
}

/** The parts of a `Deno.Kv` that {@link denoKvStore} uses. */
export interface DenoKvLike {
  get(key: DenoKvKey): Promise<DenoKvEntry>;
  list(selector: { prefix: DenoKvKey }): AsyncIterable<DenoKvEntry>;
  set(key: DenoKvKey, value: unknown): Promise<unknown>;
  delete(key: DenoKvKey): Promise<void>;
  atomic(): DenoKvAtomic;
}

export interface DenoKvAtomic {
  check(...checks: { key: DenoKvKey; versionstamp: string | null }[]): DenoKvAtomic;
  set(key: DenoKvKey, value: unknown): DenoKvAtomic;
  delete(key: DenoKvKey): DenoKvAtomic;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** Characters of a value: it may have 64 KiB, of two bytes a character. */
const MAX_CHARS = 30_000;

/** The tries of one step. A try fails only if another process or task has changed the head, which is progress. */
const TRIES = 100;

/** The head of a journal: the number of its last entry, whether that entry ends a run, and the latest lease. */
interface Head {
  readonly last: number;
  readonly isOver?: boolean;
  readonly lease?: LeaseRecord;
}

/** One append: its lines, or where its pieces are. */
type Appended = { readonly lines: string } | Pieces;

/**
 * A store in Deno KV: `denoKvStore(await Deno.openKv())`. Keys begin with `"looplet"`. An append that exceeds the
 * size limit of a value is split.
 */
export function denoKvStore(kv: DenoKvLike, { now = Date.now }: StoreClock = {}): Required<Store> {
  checkMethods(kv, "kv", "a database of Deno KV: await Deno.openKv()", ["get", "set", "list", "atomic"]);
  const headKey = (key: string): DenoKvKey => ["looplet", "head", key];
  const openKey = (key: string): DenoKvKey => ["looplet", "unfinished", key];
  const appendKey = (key: string, first: number): DenoKvKey => ["looplet", "entries", key, first];
  const tableOf = (key: string): PieceTable => {
    const pieceKey = (name: string, at: number): DenoKvKey => ["looplet", "pieces", key, name, at];
    return {
      put: (name, at, piece) => kv.set(pieceKey(name, at), piece),
      get: async (name, at) => ((await kv.get(pieceKey(name, at))).value as string | null) ?? undefined,
      delete: (name, at) => kv.delete(pieceKey(name, at)),
    };
  };

  /** Changes the head of a journal, with the writes of `more`, atomically. `change` throws to refuse. */
  const changeHead = async <T>(
    key: string,
    change: (
      head: Head,
    ) => { head: Head; more?: (atomic: DenoKvAtomic) => DenoKvAtomic; result: T } | undefined,
  ): Promise<T | undefined> => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const { value, versionstamp } = await kv.get(headKey(key));
      const changed = change((value as Head | null) ?? { last: 0 });
      if (changed === undefined) return undefined;
      const { head, more = (atomic) => atomic, result } = changed;
      const atomic = kv
        .atomic()
        .check({ key: headKey(key), versionstamp })
        .set(headKey(key), head);
      if ((await more(atomic).commit()).ok) return result;
    }
    throw new StoreConflict(`The journal "${key}" was changed by other processes at the same moment.`);
  };
  /** Sets the time of a lease; false if it is not the latest, or was given back. */
  const setExpiry = async (key: string, fence: number, expiresMs: number | undefined): Promise<boolean> => {
    const isSet = await changeHead(key, (head) => {
      const { lease } = head;
      if (lease?.fence !== fence || lease.expiresMs === undefined) return undefined;
      return {
        head: { ...head, lease: withExpiry(lease, expiresMs, now()) },
        more: (atomic) => (expiresMs === undefined ? atomic.delete(openKey(key)) : atomic),
        result: true,
      };
    });
    return isSet ?? false;
  };

  const linesIn = async (key: string, appended: Appended): Promise<string> =>
    "lines" in appended ? appended.lines : textOf(tableOf(key), appended);

  return {
    async append(key, entries, expectedSeq, fence) {
      const lines = linesOf(entries);
      const pieces = await putPieces(tableOf(key), lines, MAX_CHARS);
      try {
        await changeHead(key, (head) => {
          checkFence(key, head.lease?.fence, fence);
          checkSeq(key, head.last, expectedSeq);
          const end = entries.at(-1);
          if (end === undefined) return { head, result: undefined };
          const [last, isOver] = [end.seq, isRunEnd(end)];
          const more = (atomic: DenoKvAtomic): DenoKvAtomic =>
            atomic.set(appendKey(key, entries[0]!.seq), pieces ?? { lines });
          return { head: { ...head, last, isOver }, more, result: undefined };
        });
      } catch (error) {
        if (pieces !== undefined && isStoreConflict(error)) await deletePieces(tableOf(key), pieces);
        throw error;
      }
    },
    async load(key) {
      const { last } = ((await kv.get(headKey(key))).value as Head | null) ?? { last: 0 };
      const entries: JournalEntry[] = [];
      for await (const { key: at, value } of kv.list({ prefix: ["looplet", "entries", key] }))
        entries.push(...entriesOf(Number(at.at(-1)), await linesIn(key, value as Appended)));
      const whole = entries.filter(({ seq }) => seq <= last);
      // The head knows about entries that are missing.
      return whole.at(-1)?.seq === last || last === 0 ? whole : [...whole, damaged(last)];
    },
    async lease(key, options): Promise<Lease | undefined> {
      const fence = await changeHead(key, (head) => {
        if (!isFree(head.lease, now(), options)) return undefined;
        const lease = nextLease(head.lease, now(), options);
        return {
          head: { ...head, lease },
          more: (atomic) => atomic.set(openKey(key), true),
          result: lease.fence,
        };
      });
      if (fence === undefined) return undefined;
      return {
        fence,
        renew: (ttlMs) => setExpiry(key, fence, now() + ttlMs),
        release: async (remains) => void (await setExpiry(key, fence, remains ? now() : undefined)),
      };
    },
    async pending() {
      const keys: string[] = [];
      for await (const { key } of kv.list({ prefix: ["looplet", "unfinished"] })) {
        const name = String(key.at(-1));
        const { lease, isOver = false } = ((await kv.get(headKey(name))).value as Head | null) ?? {};
        if (isOut(lease, now()) && !isOver) keys.push(name);
      }
      return keys;
    },
    async ended(ageMs) {
      const keys: string[] = [];
      for await (const { key, value } of kv.list({ prefix: ["looplet", "head"] })) {
        const { lease, isOver = false } = value as Head;
        if (hasEnded(lease, now(), ageMs, isOver && isOut(lease, now()))) keys.push(String(key.at(-1)));
      }
      return keys;
    },
    async delete(key) {
      // Writers are refused once the head is deleted.
      await kv.atomic().delete(headKey(key)).delete(openKey(key)).commit();
      for (const kind of ["entries", "pieces"])
        for await (const { key: at } of kv.list({ prefix: ["looplet", kind, key] }))
          await kv.delete(at as DenoKvKey);
    },
  };
}
