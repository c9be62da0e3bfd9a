import { StoreConflict } from "../../core/api/errors.js";
import type { Store } from "../../core/api/run.js";
import { isRunEnd } from "../../core/kit/journal.js";
import { checkFence, hasEnded, isFree, isOut, nextLease, withExpiry, type LeaseRecord } from "./leases.js";

/** The options that the stores share. */
export interface StoreClock {
  /** The time by which leases run out, in milliseconds. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/**
 * A store in memory. Its data is lost when the process ends: for tests, and for an isolate that outlives its engine.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { memoryStore } from "looplet/stores";
 *
 * const store = memoryStore();
 * const model = custom(() => Promise.resolve("Hello."));
 * await createAgent({ model, store }).run("Hi", { id: "order-7" }).result;
 * // Another agent with the same store has the run.
 * const run = await createAgent({ model, store }).resume("order-7");
 * console.log((await run.result).text); // prints "Hello."
 * ```
 */
export function memoryStore({ now = Date.now }: StoreClock = {}): Required<Store> {
  const journals = new Map<string, string[]>();
  const leases = new Map<string, LeaseRecord>();
  const isOver = (record: LeaseRecord, key: string): boolean =>
    isOut(record, now()) && isRunEnd({ json: journals.get(key)?.at(-1) ?? "" });
  const keysOf = (isListed: (record: LeaseRecord, key: string) => boolean): string[] =>
    [...leases].filter(([key, record]) => isListed(record, key)).map(([key]) => key);
  return {
    append(key, entries, expectedSeq, fence) {
      const journal = journals.get(key) ?? [];
      checkFence(key, leases.get(key)?.fence, fence);
      checkSeq(key, journal.length, expectedSeq);
      for (const { json } of entries) journal.push(json);
      journals.set(key, journal);
    },
    load: (key, after = 0) =>
      journals
        .get(key)
        ?.slice(after)
        .map((json, index) => ({ seq: after + index + 1, json })),
    lease(key, options) {
      const before = leases.get(key);
      if (!isFree(before, now(), options)) return undefined;
      const taken = nextLease(before, now(), options);
      const { fence } = taken;
      leases.set(key, taken);
      const set = (expiresMs: number | undefined): boolean => {
        const record = leases.get(key);
        if (record?.fence !== fence || record.expiresMs === undefined) return false;
        leases.set(key, withExpiry(record, expiresMs, now()));
        return true;
      };
      return {
        fence,
        renew: (ttlMs) => set(now() + ttlMs),
        release: (remains) => void set(remains ? now() : undefined),
      };
    },
    pending: () => keysOf((record, key) => isOut(record, now()) && !isOver(record, key)),
    ended: (ageMs) => keysOf((record, key) => hasEnded(record, now(), ageMs, isOver(record, key))),
    delete(key) {
      journals.delete(key);
      leases.delete(key);
    },
  };
}

/**
 * Compares the number of a journal's last entry with the one that a writer knows.
 *
 * @throws StoreConflict if they differ
 */
export function checkSeq(key: string, last: number | undefined, expectedSeq: number): void {
  if ((last ?? 0) === expectedSeq) return;
  throw new StoreConflict(
    (last ?? 0) === 0
      ? `The store has no journal "${key}" any more, which ended with entry ${expectedSeq}: it was deleted.`
      : `The journal "${key}" ends with entry ${last} and not with ${expectedSeq}: another process goes on with this run.`,
  );
}
