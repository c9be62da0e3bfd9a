import { beforeAll, describe, expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions, PendingRun } from "looplet";
import { dropEnded, memoryStore, supervise } from "looplet/stores";
import { LEASE_MS } from "../../../src/typescript/core/run/run-lease.js";
import { settled, VirtualClock } from "../support/virtual-clock.js";

/** A process whose tool never comes back as long as `hangs()` says so. */
function process(options: Partial<AgentOptions>, hangs: () => boolean = () => false): Agent {
  return createAgent({
    model: custom(({ messages }) => {
      const hasActed = JSON.stringify(messages).includes('"acted"');
      return hasActed
        ? "Done."
        : [{ type: "tool_call", id: `call-${messages.length}`, name: "act", input: {} }];
    }),
    tools: {
      act: tool({
        description: "Acts",
        inputSchema: { type: "object" },
        replay: "safe",
        execute: () => (hangs() ? new Promise<string>(() => {}) : "acted"),
      }),
    },
    durable: { maxCrashes: 2 },
    ...options,
  });
}

/** A store in which processes die: their clock stands still, so that they never renew a lease. */
function setting() {
  const clock = new VirtualClock();
  const store = memoryStore({ now: clock.now });
  const frozen = { now: clock.now, setTimer: () => 0, clearTimer: () => {} };
  let isBroken = true;
  const dying = (): Agent => process({ store, clock: frozen }, () => isBroken);
  const die = async (begin: (agent: Agent) => unknown): Promise<void> => {
    await begin(dying());
    await settled();
    await clock.pass(LEASE_MS);
  };
  return {
    clock,
    store,
    die,
    dying,
    mend: () => (isBroken = false),
    agent: process({ store, clock }, () => isBroken),
    /** Brings a run about that was stopped by deaths. */
    async stopped(id: string): Promise<void> {
      await die((agent) => agent.run("Act.", { id }));
      await die((agent) => agent.resumePending());
      const [run] = await dying().resumePending();
      expect(await run!.result).toMatchObject({ outcome: "stopped", stoppedBy: "recovery_exhausted" });
      await run!.saved();
    },
  };
}

// The engine is loaded in real time.
beforeAll(() => process({}).run("Act.").result);

describe("a run that was stopped by the deaths of its processes", () => {
  it("is listed, and goes on for who asks for stopped runs", async () => {
    const { agent, stopped, mend } = setting();
    await stopped("x");
    expect(await agent.pending()).toEqual([{ id: "x", stops: 1 }]);
    expect(await agent.pending({ filter: (id) => id !== "x" })).toEqual([]);
    expect(await agent.resumePending()).toEqual([]);
    expect(await agent.pending()).toEqual([{ id: "x", stops: 1 }]);
    mend();
    const [run] = await agent.resumePending({ stopped: true });
    expect(await run!.result).toMatchObject({ outcome: "completed", text: "Done." });
    await run!.saved();
    expect(await agent.pending()).toEqual([]);
  });

  it("is told apart from a run that was cut off, and from one that has ended", async () => {
    const { agent, die, store, mend, clock } = setting();
    await die((agent) => agent.run("Act.", { id: "cut-off" }));
    mend();
    const ended = agent.run("Act.", { id: "ended" });
    await ended.result;
    await ended.saved();
    // Its process could not give the lease back.
    await store.lease("ended", { holder: "gone", ttlMs: 1 });
    await clock.pass(1);
    expect(await store.pending()).toEqual(["cut-off"]);
    expect(await agent.pending()).toEqual([{ id: "cut-off", stops: 0 }]);
  });

  it("is not brought about by deploys", async () => {
    const { agent, dying, mend } = setting();
    const first = dying();
    first.run("Act.", { id: "x" });
    await settled();
    await first.close({ recoverable: true });
    for (let deploy = 0; deploy < 5; deploy++) {
      const next = dying();
      await next.resumePending();
      await settled();
      await next.close({ recoverable: true });
    }
    mend();
    const [run] = await agent.resumePending();
    expect((await run!.result).outcome).toBe("completed");
  });

  it("needs a store with leases", async () => {
    const missing = expect.objectContaining({ code: "config_missing" });
    await expect(process({}).pending()).rejects.toEqual(missing);
  });
});

describe("supervise", () => {
  it("takes up at once what was cut off, now and at each sweep", async () => {
    const { agent, clock, die, store, mend } = setting();
    await die((agent) => agent.run("Act.", { id: "x" }));
    mend();
    const taken: string[] = [];
    const options = { clock, everyMs: 10_000, onRun: (run: { id: string }) => void taken.push(run.id) };
    const supervisor = supervise(store, agent, options);
    await settled();
    expect(taken).toEqual(["x"]);
    await die((agent) => agent.run("Act.", { id: "y" }));
    await clock.pass(10_000);
    expect(taken).toContain("x");
    await supervisor.stop();
  });

  it("waits twice as long after each stop, and gives up after `maxAttempts`", async () => {
    const { agent, clock, die, dying, store, stopped } = setting();
    await stopped("x");
    const givenUp: PendingRun[] = [];
    const options = {
      clock,
      everyMs: null,
      maxAttempts: 2,
      backoffMs: 1000,
      onGiveUp: (run: PendingRun) => givenUp.push(run),
    };
    const supervisor = supervise(store, agent, options);
    /** The sweep of a process that dies with what it has taken up, until the run is stopped again. */
    const stopAgain = async (): Promise<void> => {
      await die((agent) => agent.resumePending({ stopped: true }));
      for (let death = 0; (await agent.pending())[0]?.stops === 0; death++)
        await die((agent) => agent.resumePending());
    };
    expect(await supervisor.sweep()).toEqual([]);
    await clock.pass(999);
    expect(await supervisor.sweep()).toEqual([]);
    // Another process takes it up, and it stops again.
    await stopAgain();
    expect(await agent.pending()).toEqual([{ id: "x", stops: 2 }]);
    expect(await supervisor.sweep()).toEqual([]);
    await clock.pass(1999);
    expect(await supervisor.sweep()).toEqual([]);
    await clock.pass(1);
    const frozen = supervise(store, dying(), { ...options, backoffMs: 0 });
    expect(await frozen.sweep()).toHaveLength(1);
    await clock.pass(LEASE_MS);
    await stopAgain();
    expect(givenUp).toEqual([]);
    for (let sweep = 0; sweep < 3; sweep++) {
      await clock.pass(1_000_000);
      expect(await supervisor.sweep()).toEqual([]);
    }
    expect(givenUp).toEqual([{ id: "x", stops: 3 }]);
    expect(await agent.pending()).toEqual(givenUp);
  });

  it("takes up a stopped run in its only sweep with `backoffMs: 0`, up to `maxAttempts`", async () => {
    const { agent, clock, store, stopped } = setting();
    await stopped("x");
    const sweep = (options: object) => supervise(store, agent, { clock, everyMs: null, ...options }).sweep();
    expect(await sweep({})).toEqual([]);
    const givenUp: PendingRun[] = [];
    const onGiveUp = (run: PendingRun) => givenUp.push(run);
    expect(await sweep({ backoffMs: 0, maxAttempts: 0, onGiveUp })).toEqual([]);
    expect(givenUp).toEqual([{ id: "x", stops: 1 }]);
    expect(await sweep({ backoffMs: 0, onGiveUp })).toHaveLength(1);
    expect(givenUp).toHaveLength(1);
  });

  it("gives each run to one of several processes", async () => {
    const { clock, die, store, stopped, mend } = setting();
    await stopped("x");
    await die((agent) => agent.run("Act.", { id: "y" }));
    mend();
    const sweeps = [1, 2, 3, 4].map(() =>
      supervise(store, process({ store, clock }), { clock, everyMs: null, backoffMs: 0 }).sweep(),
    );
    const runs = (await Promise.all(sweeps)).flat();
    expect(runs.map(({ id }) => id).sort()).toEqual(["x", "y"]);
    for (const run of runs) expect((await run.result).outcome).toBe("completed");
  });

  it("deletes the journals of runs that have ended some time ago", async () => {
    const { agent, clock, store, mend } = setting();
    mend();
    for (const id of ["old", "chat"]) {
      const run = agent.run("Act.", { id });
      await run.result;
      await run.saved();
    }
    const drop = { afterMs: 5000, filter: (id: string) => id !== "chat" };
    const supervisor = supervise(store, agent, { clock, everyMs: null, drop });
    await supervisor.sweep();
    expect(await store.load("old")).not.toEqual([]);
    await clock.pass(5000);
    await supervisor.sweep();
    expect(await store.load("old")).toBeUndefined();
    expect(await store.load("chat")).not.toEqual([]);
    expect(await dropEnded(store, 0)).toEqual(["chat"]);
  });

  it("tells of a store that fails, and goes on at the next sweep", async () => {
    const { agent, clock, die, store, mend } = setting();
    await die((agent) => agent.run("Act.", { id: "x" }));
    mend();
    const { pending } = store;
    let isBroken = true;
    const faulty = { ...store, pending: () => (isBroken ? Promise.reject(new Error("disk")) : pending()) };
    const errors: unknown[] = [];
    const taken: string[] = [];
    const supervised = process({ store: faulty, clock });
    const supervisor = supervise(faulty, supervised, {
      clock,
      everyMs: 1000,
      onError: (error) => errors.push(error),
      onRun: (run) => taken.push(run.id),
    });
    await settled();
    expect(errors).toEqual([new Error("disk")]);
    await expect(supervisor.sweep()).rejects.toThrow("disk");
    isBroken = false;
    await clock.pass(1000);
    expect(taken).toEqual(["x"]);
    await supervisor.stop();
    expect(agent).toBeDefined();
  });

  it.each([
    ["cannot be read", "damaged", "config_invalid", 1],
    ["the store cannot give", "unreadable", "store_failed", 3],
  ] as const)("gives a run up once whose journal %s", async (_, id, code, tries) => {
    const { agent, clock, die, store, mend } = setting();
    await die((agent) => agent.run("Act.", { id }));
    await die((agent) => agent.run("Act.", { id: "whole" }));
    mend();
    const { load } = store;
    const isFirst = ({ seq }: { seq: number }): boolean => seq === 1;
    const damaging = {
      ...store,
      async load(key: string, after?: number) {
        if (key === "unreadable") throw new Error("EIO");
        const entries = [...((await load(key, after)) ?? [])];
        return key === "whole" ? entries : entries.map((own) => (isFirst(own) ? { seq: 1, json: "{" } : own));
      },
    };
    const supervised = process({ store: damaging, clock });
    const taken: string[] = [];
    const givenUp: unknown[] = [];
    const supervisor = supervise(damaging, supervised, {
      clock,
      everyMs: null,
      maxAttempts: 2,
      onRun: (run) => taken.push(run.id),
      onGiveUp: ({ id }, error) => givenUp.push([id, error?.code]),
    });
    for (let sweep = 0; sweep < 20; sweep++) {
      await supervisor.sweep();
      await settled();
      await clock.pass(61_000);
    }
    expect(taken.sort()).toEqual([...new Array(tries).fill(id), "whole"].sort());
    expect(givenUp).toEqual([[id, code]]);
    expect(await supervised.pending()).toEqual([{ id, stops: 0 }]);
    expect(agent).toBeDefined();
  });

  it("retries a run that has failed when its journal can be read again", async () => {
    const { clock, die, store, mend } = setting();
    await die((agent) => agent.run("Act.", { id: "x" }));
    mend();
    let isBroken = true;
    const faulty = {
      ...store,
      load: (key: string, after?: number) =>
        isBroken ? Promise.reject(new Error("EIO")) : store.load(key, after),
    };
    const givenUp: unknown[] = [];
    const options = { clock, everyMs: null, onGiveUp: (run: PendingRun) => void givenUp.push(run) };
    const supervisor = supervise(faulty, process({ store: faulty, clock }), options);
    const [first] = await supervisor.sweep();
    expect(await first!.result).toMatchObject({ outcome: "failed", error: { code: "store_failed" } });
    isBroken = false;
    await clock.pass(LEASE_MS);
    expect(await supervisor.sweep()).toEqual([]);
    await clock.pass(60_000);
    const [again] = await supervisor.sweep();
    expect(await again!.result).toMatchObject({ outcome: "completed" });
    expect(givenUp).toEqual([]);
  });

  it("sweeps no more when it was stopped", async () => {
    const { agent, clock, die, store, mend } = setting();
    mend();
    const supervisor = supervise(store, agent, { clock, everyMs: 1000 });
    await supervisor.stop();
    await die((agent) => agent.run("Act.", { id: "x" }));
    await store.lease("y", { holder: "gone", ttlMs: 0 });
    await clock.pass(10_000);
    expect(await supervisor.sweep()).toEqual([]);
  });

  it("refuses options that it does not know", () => {
    const { agent, store } = setting();
    expect(() => supervise(store, agent, { every: 5 } as object)).toThrow("every: no such option");
    expect(() => supervise(store, agent, { drop: {} as never })).toThrow("drop.afterMs");
  });
});
