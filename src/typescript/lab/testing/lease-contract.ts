/**
 * The rules for the leases of a {@link Store}. No case waits: a lease of no time has run out when it is taken.
 */
import type { Lease, Store } from "../../core/api/run.js";
import { entries, expectConflict, expectEntries, type Cases } from "./expect-store.js";

type StoreWithLeases = Required<Store>;

/** Longer than any case takes. */
const LONG_MS = 600_000;

/** Enough for a store that reads a half-written entry to be seen in each run of the rule. */
const CONCURRENT_APPENDS = 40;

export const LEASE_CASES: Cases = {
  async "a lease keeps other processes out until it is given back"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    const lease = await take(first, key, "a", LONG_MS);
    await expectHeld(second, key, "b");
    await lease.release(true);
    await take(second, key, "b", LONG_MS);
    await expectHeld(first, key, "a");
  },
  async "a lease keeps others out of its own journal alone"(makeStore, key) {
    const store = await makeStore();
    await take(store, key, "a", LONG_MS);
    await take(store, `${key}.1`, "b", LONG_MS);
    await take(store, `${key}/`, "c", LONG_MS);
  },
  async "a lease runs out"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    await take(first, key, "a", 0);
    await take(second, key, "b", LONG_MS);
    await expectHeld(first, key, "a");
  },
  async "a lease is renewed by its holder alone"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    const lease = await take(first, key, "a", 0);
    await expectRenewal(lease, true, "its holder");
    await expectHeld(second, key, "b");
    await lease.release(true);
    const later = await take(second, key, "b", LONG_MS);
    await expectRenewal(lease, false, "an earlier holder");
    await later.release(false);
    await expectRenewal(later, false, "the holder of a run that has ended");
  },
  async "of many processes that ask at the same moment one gets the lease"(makeStore, key) {
    for (const way of ["new", "run out"]) {
      const journal = `${key}-${way}`;
      if (way === "run out") await take(await makeStore(), journal, "gone", 0);
      const stores = await Promise.all(Array.from({ length: 8 }, () => makeStore()));
      const asked = stores.map(async (store, at) =>
        store.lease(journal, { holder: `${at}`, ttlMs: LONG_MS }),
      );
      const got = (await Promise.all(asked)).filter((lease) => lease !== undefined);
      if (got.length !== 1) throw new Error(`${got.length} of 8 processes got a lease (${way})`);
      await (await makeStore()).append(journal, entries(1, 1), 0, got[0]!.fence);
    }
  },
  async "appends, renewals, loads and looks for pending runs at the same moment do not disturb each other"(
    makeStore,
    key,
  ) {
    const [store, other] = [await makeStore(), await makeStore()];
    const lease = await take(store, key, "a", LONG_MS);
    let isWriting = true;
    const write = async (): Promise<void> => {
      try {
        for (let seq = 0; seq < CONCURRENT_APPENDS; seq++)
          await store.append(key, entries(seq + 1, seq + 1), seq, lease.fence);
      } finally {
        isWriting = false;
      }
    };
    const repeat = async (look: () => unknown): Promise<void> => {
      while (isWriting) {
        await look();
        // A store that answers without a new task must let the writer run.
        await new Promise((next) => setTimeout(next, 0));
      }
    };
    const looks = [
      () => expectRenewal(lease, true, "its holder"),
      () => expectHeld(other, key, "b"),
      ...[store, other].flatMap((one) => [() => one.load(key), () => one.pending()]),
    ];
    await Promise.all([write(), ...looks.map(repeat)]);
    await expectEntries(await makeStore(), key, entries(1, CONCURRENT_APPENDS));
  },
  async "a holder that asks again gets its lease again"(makeStore, key) {
    const store = await makeStore();
    await take(store, key, "a", LONG_MS);
    const again = await take(store, key, "a", LONG_MS);
    await store.append(key, entries(1, 1), 0, again.fence);
    await expectHeld(await makeStore(), key, "b");
  },
  async "a lease that is held is taken over if that is asked"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    const lease = await take(first, key, "a", LONG_MS);
    const options = { holder: "b", ttlMs: LONG_MS, takeOver: true };
    if ((await second.lease(key, options)) === undefined) throw new Error("takeOver took nothing");
    await expectRenewal(lease, false, "an earlier holder");
    await expectHeld(first, key, "a");
  },
  async "each lease of a journal has a higher fence"(makeStore, key) {
    const store = await makeStore();
    let [fence, seq] = [0, 0];
    for (const isPending of [true, false, true, false]) {
      const lease = await take(await makeStore(), key, "a", LONG_MS);
      if (!(lease.fence > fence)) throw new Error(`the fence ${lease.fence} came after ${fence}`);
      fence = lease.fence;
      await store.append(key, entries(seq + 1, seq + 1), seq, fence);
      seq += 1;
      await lease.release(isPending);
    }
  },
  async "a writer with the fence of an earlier lease is refused"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    const lease = await take(first, key, "a", 0);
    await first.append(key, entries(1, 1), 0, lease.fence);
    const later = await take(second, key, "b", LONG_MS);
    await expectConflict(first, key, entries(2, 2, "stale"), 1, lease.fence);
    await second.append(key, entries(2, 3), 1, later.fence);
    await expectConflict(first, key, entries(4, 4, "stale"), 3, lease.fence);
    await expectEntries(first, key, entries(1, 3));
    await later.release(false);
    await expectConflict(first, key, entries(4, 4, "stale"), 3, lease.fence);
  },
  async "a lease that has run out and has no successor still writes"(makeStore, key) {
    const store = await makeStore();
    const lease = await take(store, key, "a", 0);
    await store.append(key, entries(1, 2), 0, lease.fence);
    await store.append(key, entries(3, 3), 2, lease.fence);
    await expectEntries(store, key, entries(1, 3));
  },
  async "an earlier holder gives nothing back"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    const lease = await take(first, key, "a", 0);
    await take(second, key, "b", LONG_MS);
    await lease.release(false);
    await expectHeld(first, key, "c");
    await lease.release(true);
    await expectHeld(first, key, "c");
  },
  async "pending lists no run that has ended and whose process crashed before it gave the lease back"(
    makeStore,
    key,
  ) {
    const store = await makeStore();
    await crashed(store, `${key} ended`, true);
    await crashed(store, `${key} cut off`, false);
    // Its next run has crashed before its first entry, or after it.
    await crashed(store, `${key} begun`, true);
    await take(store, `${key} begun`, "b", 0);
    await crashed(store, `${key} saved`, true);
    const later = await take(store, `${key} saved`, "b", 0);
    await store.append(`${key} saved`, entries(3, 3), 2, later.fence);
    const all = await (await makeStore()).pending();
    const got = all.filter((other) => other.startsWith(`${key} `)).sort();
    const expected = [`${key} cut off`, `${key} saved`];
    if (JSON.stringify(got) !== JSON.stringify(expected))
      throw new Error(`pending gave ${JSON.stringify(got)} and not ${JSON.stringify(expected)}`);
  },
  async "pending lists runs that nobody goes on with, and no others"(makeStore, key) {
    const store = await makeStore();
    const of = (name: string): string => `${key} ${name}`;
    await store.append(of("without a lease"), entries(1, 1), 0);
    for (const [name, ttlMs, released] of [
      ["held", LONG_MS, undefined],
      ["run out", 0, undefined],
      ["given back", LONG_MS, true],
      ["ended", LONG_MS, false],
      ["run out and ended", 0, false],
    ] as const) {
      const lease = await take(store, of(name), "a", ttlMs);
      await store.append(of(name), entries(1, 1), 0, lease.fence);
      if (released !== undefined) await lease.release(released);
    }
    const expectPending = async (...names: string[]): Promise<void> => {
      const all = await (await makeStore()).pending();
      const got = all.filter((other) => other.startsWith(`${key} `)).sort();
      if (JSON.stringify(got) !== JSON.stringify(names.map(of)))
        throw new Error(`pending gave ${JSON.stringify(got)} and not ${JSON.stringify(names.map(of))}`);
    };
    await expectPending("given back", "run out");
    const lease = await take(store, of("run out"), "b", LONG_MS);
    await expectPending("given back");
    await lease.release(true);
    await expectPending("given back", "run out");
  },
};

/** The last entry of a run that is over, as `isRunEnd` of `looplet/stores` knows it. */
const END = '{"seq":2,"agent":0,"fact":{"run":{"elapsedMs":7,"isOver":true}},"crc":1}';

/** Appends a run to a journal that its process does not give back: `whole` says whether the run has ended. */
async function crashed(store: StoreWithLeases, key: string, whole: boolean): Promise<void> {
  const lease = await take(store, key, "a", 0);
  await store.append(key, entries(1, 1), 0, lease.fence);
  if (whole) await store.append(key, [{ seq: 2, json: END }], 1, lease.fence);
}

export const ENDED_CASES: Cases = {
  async "ended lists runs that have ended, and no others"(makeStore, key) {
    const store = await makeStore();
    const of = (name: string): string => `${key} ${name}`;
    await store.append(of("without a lease"), entries(1, 1), 0);
    for (const [name, released] of [
      ["held", undefined],
      ["given back", true],
      ["ended", false],
      ["ended and begun again", false],
    ] as const) {
      const lease = await take(store, of(name), "a", LONG_MS);
      await store.append(of(name), entries(1, 1), 0, lease.fence);
      if (released !== undefined) await lease.release(released);
    }
    await take(store, of("ended and begun again"), "b", LONG_MS);
    const listed = async (ageMs: number): Promise<string[]> =>
      (await (await makeStore()).ended(ageMs)).filter((other) => other.startsWith(`${key} `));
    for (const [ageMs, expected] of [
      [0, [of("ended")]],
      [LONG_MS, []],
    ] as const) {
      const got = await listed(ageMs);
      if (JSON.stringify(got) !== JSON.stringify(expected))
        throw new Error(`ended(${ageMs}) gave ${JSON.stringify(got)} and not ${JSON.stringify(expected)}`);
    }
    await store.delete?.(of("ended"));
    if ((await listed(0)).length > 0) throw new Error("ended lists a journal that was deleted");
  },
  async "ended lists a run that has ended and whose process crashed before it gave the lease back"(
    makeStore,
    key,
  ) {
    const store = await makeStore();
    await crashed(store, `${key} ended`, true);
    await crashed(store, `${key} cut off`, false);
    for (const [ageMs, expected] of [
      [0, [`${key} ended`]],
      [LONG_MS, []],
    ] as const) {
      const got = (await (await makeStore()).ended(ageMs)).filter((other) => other.startsWith(`${key} `));
      if (JSON.stringify(got) !== JSON.stringify(expected))
        throw new Error(`ended(${ageMs}) gave ${JSON.stringify(got)} and not ${JSON.stringify(expected)}`);
    }
  },
};

async function take(store: StoreWithLeases, key: string, holder: string, ttlMs: number): Promise<Lease> {
  const lease = await store.lease(key, { holder, ttlMs });
  if (lease === undefined) throw new Error(`a lease that is free was not given to "${holder}"`);
  return lease;
}

async function expectHeld(store: StoreWithLeases, key: string, holder: string): Promise<void> {
  const lease = await store.lease(key, { holder, ttlMs: LONG_MS });
  if (lease !== undefined) throw new Error(`a lease that is held was given to "${holder}" too`);
}

async function expectRenewal(lease: Lease, expected: boolean, whose: string): Promise<void> {
  const got = await lease.renew(LONG_MS);
  if (got !== expected) throw new Error(`renew gave ${got} to ${whose}`);
}
