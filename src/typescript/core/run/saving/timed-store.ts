/**
 * The limit of time for your store. A store that never answers counts as one that fails, so that no run and no
 * `saved()` waits for it for ever. Also the ends of runs that are still on their way into it.
 */
import type { Clock, Lease, Store } from "../../api/index.js";
import { timeOf } from "../run-lease.js";
import { isThenable } from "../../options/check.js";

/** The time that a store has for one answer, and that `saved()` has, in milliseconds by the clock of the run. */
export const ANSWER_MS = 30_000;

/** The error of a store that has not answered in time. What it was asked to write may still arrive. */
export class StoreTimeout extends Error {
  override readonly name = "TimeoutError";
}

/** The ends of runs of this process that the store does not have yet, by journal. */
const ENDS = new WeakMap<Store, Map<string, Promise<void>>>();

function endsIn(store: Store): Map<string, Promise<void>> {
  const ends = ENDS.get(store) ?? new Map<string, Promise<void>>();
  ENDS.set(store, ends);
  return ends;
}

/** A run has ended, and `end` resolves when its journal is written and its lease is released. It never rejects. */
export function noteEnd(store: Store, key: string, end: Promise<void>): void {
  const ends = endsIn(store);
  ends.set(key, end);
  void end.then(() => ends.get(key) === end && ends.delete(key));
}

/**
 * The end of a run of this process that the store does not have yet, if there is one. Who reads the journal before it
 * resolves finds a run under way.
 */
export function endOf(store: Store, key: string): Promise<void> | undefined {
  return endsIn(store).get(key);
}

/** Your store, whose answers come within {@link ANSWER_MS} or are a {@link StoreTimeout}. */
export function timedStore(store: Store, clock: Clock): Store {
  const timed = async <T>(what: string, answer: T | PromiseLike<T>): Promise<T> => {
    if (!isThenable(answer)) return answer as T;
    return withTimeLimit(clock, ANSWER_MS, answer as PromiseLike<T>, () => {
      return new StoreTimeout(`The store has not answered ${what} within ${ANSWER_MS / 1000} s.`);
    });
  };
  /** Appends that were not answered in time, by journal. Two at once are not allowed, so the next one waits for them. */
  const late = new Map<string, Promise<unknown>>();
  const append = async (key: string, ...args: Tail<Parameters<Store["append"]>>): Promise<void> => {
    const before = late.get(key);
    if (before !== undefined) await timed("append", before);
    const answer = store.append(key, ...args);
    try {
      await timed("append", answer);
    } catch (error) {
      if (error instanceof StoreTimeout) {
        const over = (): unknown => late.delete(key);
        late.set(key, Promise.resolve(answer).then(over, over));
      }
      throw error;
    }
  };
  const timedLease = (lease: Lease): Lease => ({
    fence: lease.fence,
    renew: async (ttlMs) => timed("lease.renew", lease.renew(ttlMs)),
    release: async (isPending) => timed("lease.release", lease.release(isPending)),
  });
  const made: Store = {
    append,
    load: async (key, after) => timed("load", store.load(key, after)),
    ...(store.lease !== undefined && {
      lease: async (key, options) => {
        const lease = await timed("lease", store.lease!(key, options));
        return lease === undefined ? undefined : timedLease(lease);
      },
    }),
    ...(store.pending !== undefined && { pending: async () => timed("pending", store.pending!()) }),
  };
  // Agents with one store share its ends.
  ENDS.set(made, endsIn(store));
  return made;
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;

/**
 * Settles as `work` does, or rejects with `late()` when the time is over. A timer that fires long before its time, as
 * clocks of tests have it, sets no limit.
 */
export function withTimeLimit<T>(
  clock: Clock,
  limitMs: number,
  work: PromiseLike<T>,
  late: () => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const sinceMs = timeOf(clock);
    const due = (): void => {
      if (!(timeOf(clock) - sinceMs < limitMs / 2)) reject(late());
    };
    const timer = clock.setTimer(due, limitMs);
    const stop = (): void => clock.clearTimer(timer);
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}
