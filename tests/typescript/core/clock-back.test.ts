/** Leases of stores whose clock is set back, by NTP or by a snapshot of a virtual machine. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createAgent, custom, type Store } from "looplet";
import { durableObjectStore, memoryStore, sqliteStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";

const folder = await mkdtemp(join(tmpdir(), "looplet-clock-"));
afterAll(() => rm(folder, { recursive: true }));

const HOUR_MS = 3_600_000;
const { DatabaseSync } = (process.getBuiltinModule as (name: string) => any)("node:sqlite");
const objectOf = (database: any): Parameters<typeof durableObjectStore>[0] => ({
  sql: {
    exec: (query, ...values) => {
      const rows = database.prepare(query).all(...values);
      return { toArray: () => rows };
    },
  },
  transactionSync: (work) => work(),
  sync: () => Promise.resolve(),
});
const OLD = {
  SQLite:
    "CREATE TABLE looplet_leases (run_id VARCHAR(512) NOT NULL PRIMARY KEY, fence BIGINT NOT NULL, holder TEXT NOT NULL, expires_ms BIGINT)",
  object:
    "CREATE TABLE looplet_leases (key TEXT PRIMARY KEY, fence INTEGER NOT NULL, holder TEXT NOT NULL, instance TEXT NOT NULL, expires INTEGER)",
};
const tables = (statement: string): any => {
  const database = new DatabaseSync(":memory:");
  database.exec(statement);
  return database;
};

let number = 0;
const stores: { [name: string]: (now: () => number) => Required<Store> } = {
  memory: (now) => memoryStore({ now }),
  files: (now) => fileStore(join(folder, `${(number += 1)}`), { now }),
  SQLite: (now) => sqliteStore(new DatabaseSync(":memory:"), { now }),
  "SQLite with tables of an older version": (now) => sqliteStore(tables(OLD.SQLite), { now }),
  "a Durable Object": (now) => durableObjectStore(objectOf(new DatabaseSync(":memory:")), { now }),
  "a Durable Object with tables of an older version": (now) =>
    durableObjectStore(objectOf(tables(OLD.object)), { now }),
};

describe.each(Object.keys(stores))("a lease in %s", (name) => {
  it.each([
    ["taken", false],
    ["renewed", true],
  ])("that was %s before the clock was set back holds nothing up", async (_, isRenewed) => {
    let nowMs = 100 * HOUR_MS;
    const store = stores[name]!(() => nowMs);
    const lease = (await store.lease("x", { holder: "gone", ttlMs: isRenewed ? 1000 : 90_000 }))!;
    if (isRenewed) expect(await lease.renew(90_000)).toBe(true);
    await store.append("x", [{ seq: 1, json: "{}" }], 0, lease.fence);
    // Clocks of two machines differ by a moment.
    for (const backMs of [0, 1000, 60_000]) {
      nowMs = 100 * HOUR_MS - backMs;
      expect(await store.pending(), `${backMs} ms back`).toEqual([]);
      expect(await store.lease("x", { holder: "next", ttlMs: 90_000 })).toBeUndefined();
    }
    nowMs = 97 * HOUR_MS;
    expect(await store.pending()).toEqual(["x"]);
    const next = (await store.lease("x", { holder: "next", ttlMs: 90_000 }))!;
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await lease.renew(90_000)).toBe(false);
    expect(await store.pending()).toEqual([]);
    nowMs += 90_000;
    expect(await store.pending()).toEqual(["x"]);
    await next.release(false);
    expect(await store.pending()).toEqual([]);
  });
});

it("a lease of an older version in a file is held up to its time", async () => {
  let nowMs = 100 * HOUR_MS;
  const own = join(folder, "old");
  const store = fileStore(own, { now: () => nowMs });
  await store.lease("x", { holder: "gone", ttlMs: 90_000 });
  const file = join(
    own,
    (await readdir(own)).find((name) => name.endsWith(".lease"))!,
  );
  const { ttlMs: _, ...old } = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify(old));
  expect(await store.pending()).toEqual([]);
  nowMs += 90_000;
  expect(await store.pending()).toEqual(["x"]);
});

it("a run whose process has crashed resumes after the clock was set back", async () => {
  let shiftMs = 0;
  const now = (): number => Date.now() + shiftMs;
  const kept = memoryStore({ now });
  let isDead = false;
  const never = (): Promise<never> => new Promise(() => {});
  const dying = {
    ...kept,
    append: (...args: Parameters<typeof kept.append>) => (isDead ? never() : kept.append(...args)),
  };
  const clock = {
    now,
    setTimer: (due: () => void, ms: number) => setTimeout(due, ms),
    clearTimer: (timer: unknown) => clearTimeout(timer as never),
  };
  const crashing = custom(async function* () {
    yield "begun ";
    await never();
  });
  const run = createAgent({ store: dying, clock, model: crashing }).run("go", { id: "r" });
  await run.saved();
  isDead = true;
  shiftMs -= 3 * HOUR_MS;
  const agent = createAgent({ store: kept, clock, model: custom(() => "done") });
  expect(await agent.pending()).toMatchObject([{ id: "r" }]);
  expect(await agent.resume("r").result).toMatchObject({ outcome: "completed" });
});
