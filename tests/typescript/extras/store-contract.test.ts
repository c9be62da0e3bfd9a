import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JournalEntry, Lease, Store } from "../../../src/typescript/core/api/run.js";
import {
  dropEnded,
  durableObjectStore,
  memoryStore,
  sqliteStore,
  type SqliteDatabaseLike,
} from "../../../src/typescript/extras/stores/index.js";
import { fileStore } from "../../../src/typescript/extras/stores/node.js";
import { checkStore, storeCases } from "../../../src/typescript/lab/testing/store-contract.js";

const folder = await mkdtemp(join(tmpdir(), "looplet-store-"));
afterAll(() => rm(folder, { recursive: true }));
const memory = memoryStore();

describe("the store in memory", () => {
  for (const { name, run } of storeCases(() => memory)) it(name, () => expect(run()).resolves.toBe("passed"));
});

describe("the store in files", () => {
  for (const { name, run } of storeCases(() => fileStore(folder)))
    it(name, () => expect(run()).resolves.toBe("passed"));
});

const sqlite = (process.getBuiltinModule as ((name: string) => unknown) | undefined)?.("node:sqlite") as
  { DatabaseSync: new (name: string) => SqliteDatabaseLike } | undefined;

describe.skipIf(sqlite === undefined)("the store in SQLite", () => {
  const database = sqlite && new sqlite.DatabaseSync(":memory:");
  for (const { name, run } of storeCases(() => sqliteStore(database!)))
    it(name, () => expect(run()).resolves.toBe("passed"));
});

describe.skipIf(sqlite === undefined)("the store in the database of a Durable Object", () => {
  const database = sqlite && new sqlite.DatabaseSync(":memory:");
  const storage = {
    sql: {
      exec: (query: string, ...values: (string | number | null)[]) => {
        const rows = database!.prepare(query).all(...values) as Record<string, unknown>[];
        return { toArray: () => rows };
      },
    },
    transactionSync: <T>(work: () => T): T => work(),
    sync: () => Promise.resolve(),
  };
  for (const { name, run } of storeCases(() => durableObjectStore(storage)))
    it(name, () => expect(run()).resolves.toBe("passed"));
});

it.skipIf(sqlite === undefined)("a row in SQLite that is not looplet's hides no run", async () => {
  const database = new sqlite!.DatabaseSync(":memory:");
  const store = sqliteStore(database, { now: () => 1 });
  for (const key of ["a%", "b\0", "%2525"]) await store.lease(key, { holder: "h", ttlMs: 0 });
  database
    .prepare(
      "INSERT INTO looplet_leases (run_id, fence, holder, expires_ms) VALUES ('%zz', 1, 'h', 0), ('%', 1, 'h', 0)",
    )
    .run();
  expect([...(await store.pending())].sort()).toEqual(["%2525", "a%", "b\0"]);
});

describe("journals of runs that have ended", () => {
  const stores: { [name: string]: (now: () => number) => Required<Store> } = {
    memory: (now) => memoryStore({ now }),
    files: (now) => fileStore(join(folder, "ended"), { now }),
    ...(sqlite && { SQLite: (now) => sqliteStore(new sqlite.DatabaseSync(":memory:"), { now }) }),
  };
  it.each(Object.keys(stores))(
    "are dropped after the time that you name, and no others (%s)",
    async (name) => {
      let nowMs = 1_000_000;
      const store = stores[name]!(() => nowMs);
      const long = "長い鍵".repeat(40);
      for (const key of ["old", long, "young", "held", "pending", "kept"]) {
        if (key === "young") nowMs += 5_000;
        const lease = (await store.lease(key, { holder: key, ttlMs: 1_000_000 }))!;
        await store.append(key, [{ seq: 1, json: "{}" }], 0, lease.fence);
        if (key !== "held") await lease.release(key === "pending");
      }
      await store.append("list", [{ seq: 1, json: "{}" }], 0);
      nowMs += 5_000;
      expect((await dropEnded(store, 10_000)).sort()).toEqual(["old", long].sort());
      expect(await dropEnded(store, 5_000, (key) => key !== "kept")).toEqual(["young"]);
      expect(await dropEnded(store, 5_001)).toEqual([]);
      for (const key of ["old", long, "young"]) expect((await store.load(key)) ?? []).toEqual([]);
      for (const key of ["held", "pending", "kept", "list"]) expect(await store.load(key)).toHaveLength(1);
      expect(await store.pending()).toEqual(["pending"]);
      // A chat that is kept goes on.
      const again = (await store.lease("kept", { holder: "b", ttlMs: 1_000 }))!;
      await store.append("kept", [{ seq: 2, json: "{}" }], 1, again.fence);
      expect(await store.ended(0)).toEqual([]);
    },
  );

  it("need a store with leases and deletion, and a time", async () => {
    const { append, load } = memoryStore();
    await expect(dropEnded({ append, load }, 0)).rejects.toThrow("needs lease, ended and delete");
    for (const ageMs of [-1, NaN, undefined])
      await expect(dropEnded(memoryStore(), ageMs as number)).rejects.toThrow("milliseconds");
  });
});

/** A store that keeps the contract but for what `broken` changes. */
function brokenStore(broken: Partial<Store>): Store {
  const whole = memoryStore();
  return { ...whole, ...broken };
}

describe("a store without leases", () => {
  it("skips the rules about them, and says so", async () => {
    const { append, load } = memoryStore();
    const verdict = await checkStore(() => ({ append, load }));
    expect(verdict.skipped).toContain("a lease runs out");
    expect(verdict.passed).toContain("a large entry is kept whole");
    expect(verdict.passed.filter((name) => name.includes("lease"))).toEqual([]);
  });
});

describe("a store with broken leases", () => {
  const always: Required<Store>["lease"] = () => ({ fence: 1, renew: () => true, release: () => {} });
  const changed = (change: (lease: Lease, store: Required<Store>) => Partial<Lease>) => {
    const store = memoryStore();
    return (): Partial<Store> => ({
      ...store,
      async lease(key, options) {
        const lease = await store.lease(key, options);
        return lease === undefined ? undefined : { ...lease, ...change(lease, store) };
      },
    });
  };
  it.each<[string, () => Partial<Store>]>([
    ["keeps other processes out", () => ({ lease: always })],
    ["one gets the lease", () => ({ lease: always })],
    ["has a higher fence", () => ({ lease: always })],
    ["keeps other processes out", changed(() => ({ release: () => {} }))],
    ["renewed by its holder alone", changed(() => ({ renew: () => true }))],
    ["renewed by its holder alone", changed(() => ({ renew: () => false }))],
    [
      "fence of an earlier lease is refused",
      () => {
        const store = memoryStore();
        return { ...store, append: (key, added, after) => store.append(key, added, after) };
      },
    ],
    [
      "a lease runs out",
      () => {
        const store = memoryStore();
        return { ...store, lease: (key, options) => store.lease(key, { ...options, ttlMs: 1e9 }) };
      },
    ],
    [
      "taken over if that is asked",
      () => {
        const store = memoryStore();
        return { ...store, lease: (key, options) => store.lease(key, { ...options, takeOver: false }) };
      },
    ],
    [
      "nothing back",
      () => {
        const store = memoryStore();
        const latest = new Map<string, Lease>();
        const lease: Store["lease"] = async (key, options) => {
          const taken = await store.lease(key, options);
          if (taken === undefined) return undefined;
          latest.set(key, taken);
          return { ...taken, release: (isPending) => latest.get(key)!.release(isPending) };
        };
        return { ...store, lease };
      },
    ],
    ["pending lists", () => ({ ...memoryStore(), pending: () => [] })],
  ])("is found: %s", async (what, makeBroken) => {
    const store = brokenStore(makeBroken());
    await expect(checkStore(() => store)).rejects.toThrow(what);
  });
});

describe("a broken store", () => {
  const plain = new Map<string, JournalEntry[]>();
  const unchecked = (): Store => ({
    append: (key, added) => void plain.set(key, [...(plain.get(key) ?? []), ...structuredClone(added)]),
    load: (key) => structuredClone(plain.get(key)),
  });
  it.each([
    ["too low", unchecked()],
    ["too high", unchecked()],
    ["another's append", unchecked()],
    ["missing journal", brokenStore({ load: () => [{ seq: 1, json: "{}" }] })],
    ["not a StoreConflict", brokenStore({ append: () => Promise.reject(new Error("down")) })],
  ])("is found: %s", async (what, store) => {
    await expect(checkStore(() => store)).rejects.toThrow(what);
  });

  it.each<[string, (store: Store) => Partial<Store>]>([
    ["in their order", ({ load }) => ({ load: async (key) => [...((await load(key)) ?? [])].reverse() })],
    [
      "large entry",
      ({ append }) => ({
        append(key, added, after) {
          if (JSON.stringify(added).length > 100_000) throw new Error("too large");
          return append(key, added, after);
        },
      }),
    ],
    [
      "unusual characters",
      ({ append, load }) => ({
        append: (key, added, after) => append(key.replace(/[^\w-]/g, "_"), added, after),
        load: (key) => load(key.replace(/[^\w-]/g, "_")),
      }),
    ],
    [
      "gives copies",
      ({ load }) => {
        const kept = new Map<string, Promise<readonly JournalEntry[] | undefined>>();
        const cached = async (key: string) => {
          const now = await load(key);
          const before = await kept.get(key);
          if (before?.length !== now?.length || before === undefined) kept.set(key, Promise.resolve(now));
          return kept.get(key);
        };
        return { load: cached };
      },
    ],
  ])("is found: %s", async (what, breakIt) => {
    const whole = memoryStore();
    const store = { ...whole, ...breakIt(whole) };
    await expect(checkStore(() => store)).rejects.toThrow(what);
  });
});
