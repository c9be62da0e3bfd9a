import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions, Clock, Store, ToolContext } from "looplet";
import { durableObjectStore, memoryStore, sqliteStore, type SqliteDatabaseLike } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { ENOUGH_MS, LEASE_MS } from "../../src/typescript/core/run/run-lease.js";
import { settled, VirtualClock } from "./support/virtual-clock.js";

/** Undefined in a Node without it. */
const sqlite = (process.getBuiltinModule as ((name: string) => unknown) | undefined)?.("node:sqlite") as
  { DatabaseSync: new (name: string) => SqliteDatabaseLike } | undefined;
const folder = await mkdtemp(join(tmpdir(), "looplet-frozen-"));
afterAll(() => rm(folder, { recursive: true }));

/** The storage of a Durable Object, whose database is SQLite. */
function objectStorage() {
  const database = new sqlite!.DatabaseSync(":memory:");
  return {
    sql: {
      exec(query: string, ...values: (string | number | null)[]) {
        const rows = database.prepare(query).all(...values) as Record<string, unknown>[];
        return { toArray: () => rows };
      },
    },
    transactionSync: <T>(work: () => T): T => work(),
    sync: () => Promise.resolve(),
  };
}

/** Each kind of lease, as two processes see it. */
const STORES: Record<string, (now: () => number) => () => Required<Store>> = {
  memory: (now) => {
    const store = memoryStore({ now });
    return () => store;
  },
  files: (now) => () => fileStore(folder, { now }),
  SQLite: (now) => {
    const database = new sqlite!.DatabaseSync(":memory:");
    return () => sqliteStore(database, { now });
  },
  "a Durable Object": (now) => {
    const storage = objectStorage();
    return () => durableObjectStore(storage, { now });
  },
};

/** What has been paid, by whom, with which fence. */
interface Payment {
  readonly by: string;
  readonly fence: number | undefined;
}

/** A process that pays once, and asks the service when it does not know whether it has. */
function payer(by: string, paid: Payment[], more: Partial<AgentOptions>): Agent {
  return createAgent({
    model: custom(({ messages }) => {
      const answered = messages.filter(({ role }) => role === "assistant").length;
      return answered === 0 ? [{ type: "tool_call", id: "a", name: "pay", input: {} }] : "Done.";
    }),
    tools: {
      pay: tool({
        description: "Pays",
        inputSchema: { type: "object" },
        execute: (_, { fence }) => void paid.push({ by, fence }),
      }),
    },
    durable: {
      reconcile: () => (paid.length === 0 ? { outcome: "run" } : { outcome: "done", output: "paid" }),
    },
    ...more,
  });
}

/** The clock of a process that stands still: its timers do not fire, and on waking it sees the time of the others. */
const frozen = (clock: Clock): Clock => ({ now: () => clock.now(), setTimer: () => 0, clearTimer: () => {} });

/** A store that has taken the first append with this word, and does not say so until it is let go. */
function lateStore(store: Store, word: string) {
  let [letGo, reach]: (() => void)[] = [];
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let isHeld = false;
  const append: Store["append"] = async (...given) => {
    await store.append(...given);
    if (isHeld || !given[1].some(({ json }) => json.includes(word))) return;
    isHeld = true;
    reach!();
    await held;
  };
  return { store: { ...store, append } satisfies Store, letGo: letGo!, reached };
}

let runs = 0;

/** A process that has saved the start of its call and stands still before the store's answer. */
async function standingStill(
  open: (now: () => number) => () => Required<Store>,
  more: Partial<AgentOptions> = {},
) {
  const clock = new VirtualClock();
  const opened = open(clock.now);
  const { store, letGo, reached } = lateStore(opened(), '"started"');
  const paid: Payment[] = [];
  const id = `frozen-${(runs += 1)}`;
  const run = payer("first", paid, { store, clock: frozen(clock), ...more }).run("Pay.", {
    id,
    onError: () => {},
  });
  await reached;
  expect(paid).toEqual([]);
  return { clock, store: opened(), letGo, paid, id, run };
}

describe("a process that stood still between the save of a call's start and the store's answer", () => {
  for (const [name, open] of Object.entries(STORES)) {
    const isMissing = sqlite === undefined && !["memory", "files"].includes(name);
    it.skipIf(isMissing)(`makes no call that its successor has made: ${name}`, async () => {
      const { clock, store, letGo, paid, id, run } = await standingStill(open);
      await clock.pass(LEASE_MS);
      const next = payer("second", paid, { store, clock });
      const [again] = await next.resumePending({ filter: (key) => key === id });
      expect(await again!.result).toMatchObject({ outcome: "completed", text: "Done." });
      letGo();
      const abortReason = "another process goes on with this run";
      expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason });
      await settled();
      expect(paid).toEqual([{ by: "second", fence: 2 }]);
    });

    it.skipIf(isMissing)(`makes its call when nobody has taken its run: ${name}`, async () => {
      const { clock, store, letGo, paid, run } = await standingStill(open);
      await clock.pass(LEASE_MS - ENOUGH_MS + 1);
      letGo();
      expect(await run.result).toMatchObject({ outcome: "completed" });
      expect(paid).toEqual([{ by: "first", fence: 1 }]);
      expect(await store.pending()).toEqual([]);
    });
  }

  it("looks into no store when enough of its lease is left", async () => {
    let looks = 0;
    const { clock, letGo, paid, run } = await standingStill((now) => {
      const store = memoryStore({ now });
      const lease: Store["lease"] = async (key, options) => {
        const taken = (await store.lease(key, options))!;
        return { ...taken, renew: (ttlMs) => ((looks += 1), taken.renew(ttlMs)) };
      };
      return () => ({ ...store, lease }) as Required<Store>;
    });
    await clock.pass(LEASE_MS - ENOUGH_MS);
    letGo();
    expect((await run.result).outcome).toBe("completed");
    expect([paid.length, looks]).toEqual([1, 0]);
  });

  it("makes no call when it stands still again while it looks", async () => {
    const clock = new VirtualClock();
    const store = memoryStore({ now: clock.now });
    const { store: late, letGo, reached } = lateStore(store, '"started"');
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let renewals = 0;
    const lease: Store["lease"] = async (key, options) => {
      const taken = (await store.lease(key, options))!;
      const renew = async (ttlMs: number): Promise<boolean> => {
        const isHeld = await taken.renew(ttlMs);
        if ((renewals += 1) === 1) await answered;
        return isHeld;
      };
      return { ...taken, renew };
    };
    const paid: Payment[] = [];
    const slow = { ...frozen(clock), setTimer: (due: () => void, ms: number) => (ms <= 1000 ? due() : 0) };
    const first = payer("first", paid, { store: { ...late, lease }, clock: slow });
    const run = first.run("Pay.", { id: "x", onError: () => {} });
    await reached;
    await clock.pass(LEASE_MS - 1);
    letGo();
    await settled();
    await clock.pass(LEASE_MS);
    const [again] = await payer("second", paid, { store, clock }).resumePending();
    expect((await again!.result).outcome).toBe("completed");
    answer();
    expect((await run.result).outcome).toBe("cancelled");
    await settled();
    expect(paid).toEqual([{ by: "second", fence: 2 }]);
  });

  it("tells the model that nothing was done when the store cannot be asked", async () => {
    const clock = new VirtualClock();
    const store = memoryStore({ now: clock.now });
    const { store: late, letGo, reached } = lateStore(store, '"started"');
    const lease: Store["lease"] = async (key, options) => ({
      ...(await store.lease(key, options))!,
      renew: () => Promise.reject(new Error("connection lost")),
    });
    const paid: Payment[] = [];
    const run = payer("first", paid, { store: { ...late, lease }, clock }).run("Pay.", {
      onError: () => {},
    });
    await reached;
    await clock.pass(LEASE_MS);
    letGo();
    await settled();
    // The store is tried three times before the call, and before the next request.
    for (let time = 0; time < 2; time++) await clock.pass(2000);
    const { toolCalls } = await run.result;
    expect(toolCalls).toMatchObject([{ isError: true, output: { code: "save_failed" } }]);
    expect(paid).toEqual([]);
  });

  it("does not go on from a checkpoint from which its successor has gone on", async () => {
    const clock = new VirtualClock();
    const store = memoryStore({ now: clock.now });
    const { store: late, letGo, reached } = lateStore(store, '"checkpoint"');
    const done: string[] = [];
    const worker = (by: string) =>
      tool({
        description: "Works in two steps",
        inputSchema: { type: "object" },
        async execute(_: unknown, { checkpoint, restored }: ToolContext) {
          if (restored === undefined) await checkpoint("half");
          done.push(by);
        },
      });
    const first = payer("first", [], {
      store: late,
      clock: frozen(clock),
      tools: { pay: worker("first") },
    });
    const run = first.run("Pay.", { id: "x", onError: () => {} });
    await reached;
    await clock.pass(LEASE_MS);
    const next = payer("second", [], { store, clock, tools: { pay: worker("second") } });
    const [again] = await next.resumePending();
    expect((await again!.result).outcome).toBe("completed");
    letGo();
    expect((await run.result).outcome).toBe("cancelled");
    await settled();
    expect(done).toEqual(["second"]);
  });

  it("asks no model for what its successor has asked for", async () => {
    const clock = new VirtualClock();
    const store = memoryStore({ now: clock.now });
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const asked: string[] = [];
    const asking = (by: string, waits: Promise<void>): Partial<AgentOptions> => ({
      model: custom(({ messages }) => {
        asked.push(by);
        return messages.length === 1 ? [{ type: "tool_call", id: "a", name: "pay", input: {} }] : "Done.";
      }),
      tools: {
        pay: tool({
          description: "Looks",
          inputSchema: { type: "object" },
          readOnly: true,
          execute: () => waits,
        }),
      },
    });
    const first = payer("first", [], { store, clock: frozen(clock), ...asking("first", finished) });
    const run = first.run("Pay.", { id: "x" });
    await settled();
    await clock.pass(LEASE_MS);
    const next = payer("second", [], { store, clock, ...asking("second", Promise.resolve()) });
    const [again] = await next.resumePending();
    expect((await again!.result).outcome).toBe("completed");
    finish();
    expect((await run.result).outcome).toBe("cancelled");
    expect(asked).toEqual(["first", "second"]);
  });
});

describe("the fence of a run's lease", () => {
  it("is told to tools and to `reconcile`, and is higher in each process", async () => {
    const clock = new VirtualClock();
    const store = memoryStore({ now: clock.now });
    const fences: (number | undefined)[] = [];
    const paid: Payment[] = [];
    const waits = { execute: () => new Promise<never>(() => {}) };
    const pay = tool({ description: "Pays", inputSchema: { type: "object" }, ...waits });
    payer("first", paid, { store, clock: frozen(clock), tools: { pay } }).run("Pay.", { id: "x" });
    await settled();
    await clock.pass(LEASE_MS);
    const again = payer("second", paid, {
      store,
      clock,
      durable: {
        reconcile({ fence }) {
          fences.push(fence);
          return { outcome: "run" };
        },
      },
    }).resume("x");
    expect((await again.result).outcome).toBe("completed");
    expect([fences, paid]).toEqual([[2], [{ by: "second", fence: 2 }]]);
  });

  it("is undefined without a store", async () => {
    const paid: Payment[] = [];
    await payer("alone", paid, {}).run("Pay.").result;
    expect(paid).toEqual([{ by: "alone", fence: undefined }]);
  });
});
