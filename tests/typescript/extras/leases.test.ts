import { describe, expect, it } from "vitest";
import { anthropic, createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions, RunEvent, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { LEASE_MS } from "../../../src/typescript/core/run/run-lease.js";
import { settled, VirtualClock } from "../support/virtual-clock.js";

/** The places where a process stands still until the test lets it go on. */
class Gate {
  #open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.#open = resolve));
  open(): void {
    this.#open();
  }
}

/** A process: an agent whose tool does something once, and may wait there. */
function process(done: string[], options: Partial<AgentOptions> & { waits?: Gate | undefined }): Agent {
  const { waits, ...given } = options;
  return createAgent({
    model: custom(({ messages }) => {
      const answered = messages.filter(({ role }) => role === "assistant").length;
      return answered === 0 ? [{ type: "tool_call", id: "a", name: "act", input: {} }] : "Done.";
    }),
    tools: {
      act: tool({
        description: "Acts",
        inputSchema: { type: "object" },
        replay: "safe",
        async execute() {
          await waits?.opened;
          done.push("act");
          return "acted";
        },
      }),
    },
    ...given,
  });
}

/** Two processes with one store, of which the first waits in its tool. */
function twoProcesses(more: Partial<AgentOptions> = {}) {
  const clock = new VirtualClock();
  const store = memoryStore({ now: clock.now });
  const gate = new Gate();
  const [done, doneLater]: string[][] = [[], []];
  const first = process(done!, { clock, store, waits: gate, ...more });
  // Agents of one process would share the ends of their runs.
  const second = process(doneLater!, { clock, store: { ...store }, ...more });
  return { clock, store, gate, first, second, done: done!, doneLater: doneLater! };
}

describe("the lease of a run", () => {
  it("is held while the run is under way, however long it takes, and ends with it", async () => {
    const { clock, store, gate, first, second } = twoProcesses();
    const run = first.run("Act.", { id: "x" });
    await run.saved();
    await clock.pass(10 * LEASE_MS);
    expect(await store.pending()).toEqual([]);
    const refused = await second.resume("x").result;
    expect(refused).toMatchObject({ outcome: "failed", error: { code: "run_held", retryable: true } });
    expect(refused.error!.message).toContain('agent.resume("x", { takeOver: true })');
    expect(run.outcome).toBe(undefined);
    gate.open();
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    await run.saved();
    await clock.pass(10 * LEASE_MS);
    expect(await store.pending()).toEqual([]);
    expect(await second.resume("x").result).toMatchObject({ outcome: "completed", text: "Done." });
  });

  it("is not taken by who looks for a run that has saved nothing yet", async () => {
    const { clock, gate, first, second } = twoProcesses({ durable: { flushMs: 1000 } });
    gate.open();
    const run = first.run("Act.");
    await settled();
    const { outcome, error } = await second.resume(run.id, { takeOver: true }).result;
    expect([outcome, error?.message]).toEqual([
      "failed",
      expect.stringContaining("not saved its prompt yet"),
    ]);
    while (run.outcome === undefined) await clock.pass(1000);
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    const saved = run.saved();
    await clock.pass(1000);
    await saved;
    expect(await second.resume(run.id).result).toMatchObject({ outcome: "completed", text: "Done." });
  });

  it("runs out when the process stands still, which then cannot write over its successor", async () => {
    const { clock, store, gate, second, done, doneLater } = twoProcesses();
    const frozen = { ...clock, now: () => 1, setTimer: () => 0, clearTimer: () => {} };
    const first = process(done, { clock: frozen, store, waits: gate });
    const run = first.run("Act.", { id: "x" });
    await settled();
    await clock.pass(LEASE_MS - 1);
    expect(await store.pending()).toEqual([]);
    await clock.pass(1);
    expect(await store.pending()).toEqual(["x"]);
    const again = second.resume("x");
    expect(await again.result).toMatchObject({ outcome: "completed", text: "Done." });
    await again.saved();
    const entries = await store.load("x");
    gate.open();
    const abortReason = "another process goes on with this run";
    expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason });
    await settled();
    expect(await store.load("x")).toEqual(entries);
    expect(doneLater).toEqual(["act"]);
  });

  it("is lost to a process that has not written anything yet", async () => {
    const { store, gate, first, done } = twoProcesses();
    const run = first.run("Act.", { id: "x" });
    await settled();
    const entries = await store.load("x");
    await store.lease("x", { holder: "second", ttlMs: LEASE_MS, takeOver: true });
    gate.open();
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
    await settled();
    expect(await store.load("x")).toEqual(entries);
    expect(done).toEqual(["act"]);
  });

  it("is noticed to be lost at the next save, also by the store of another copy of looplet", async () => {
    const { clock, store, gate, second } = twoProcesses();
    const conflict = Object.assign(new Error("gone"), { name: "StoreConflict" });
    const other: Store = {
      ...store,
      append: async (...given) =>
        new Promise<void>((resolve) => resolve(store.append(...given))).catch(() => Promise.reject(conflict)),
    };
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const run = process([], { clock, store: other, waits: gate }).run("Act.", { id: "x", onError });
    await settled();
    await second.resume("x", { takeOver: true }).result;
    gate.open();
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
    expect(errors).toEqual([]);
  });

  it("is noticed to be lost at the next renewal", async () => {
    const { clock, first, second } = twoProcesses();
    const run = first.run("Act.", { id: "x" });
    await settled();
    const again = second.resume("x", { takeOver: true });
    expect((await again.result).outcome).toBe("completed");
    expect(run.outcome).toBe(undefined);
    await clock.pass(LEASE_MS);
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
  });

  it("is renewed although the store has failed once", async () => {
    const { clock, store, gate, done } = twoProcesses();
    let failures = 0;
    const flaky: Store = {
      ...store,
      async lease(key, options) {
        const lease = (await store.lease(key, options))!;
        return {
          ...lease,
          renew: (ttlMs) => {
            if (failures++ === 0) throw new Error("connection lost");
            return lease.renew(ttlMs);
          },
        };
      },
    };
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const run = process(done, { clock, store: flaky, waits: gate }).run("Act.", { onError });
    await settled();
    await clock.pass(3 * LEASE_MS);
    expect(await store.pending()).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ message: "connection lost" })]);
    gate.open();
    expect((await run.result).outcome).toBe("completed");
  });

  it("does not hang on a clock that stands still and fires at once", async () => {
    const { store, gate, done } = twoProcesses();
    const clock = { now: () => 1, setTimer: (due: () => void) => due(), clearTimer: () => {} };
    const run = process(done, { clock, store, waits: gate, timeouts: {} }).run("Act.");
    await settled();
    gate.open();
    expect(run.id).toMatch(/^run_/);
    run.abort();
  });

  it("stays with a run whose end could not be saved", async () => {
    const { clock, store, gate, done } = twoProcesses();
    let isDown = false;
    const failing: Store = {
      ...store,
      append: (...given) => {
        if (isDown) throw new Error("disk full");
        return store.append(...given);
      },
    };
    const run = process(done, { clock, store: failing, waits: gate }).run("Act.", {
      id: "x",
      onError: () => {},
    });
    await settled();
    isDown = true;
    gate.open();
    expect((await run.result).outcome).toBe("completed");
    await clock.pass(2 * LEASE_MS);
    expect(await store.pending()).toEqual(["x"]);
  });

  it("is left alone by a run that cannot be read", async () => {
    const { clock, store, second } = twoProcesses();
    const json = '{"seq":1,"agent":0,"fact":{"begun":{"format":99}}}';
    await store.append(
      "x",
      [
        { seq: 1, json },
        { seq: 2, json: '{"seq":2,"agent":0,"fact":{"run":{}}}' },
      ],
      0,
    );
    await store.lease("x", { holder: "newer", ttlMs: 0 });
    expect(await store.pending()).toEqual(["x"]);
    expect(await second.resume("x").result).toMatchObject({ outcome: "failed" });
    await settled();
    expect(await store.pending()).toEqual([]);
    await clock.pass(LEASE_MS);
    expect(await store.pending()).toEqual(["x"]);
  });
});

describe("a second run with the same id", () => {
  it("ends again as the first one has", async () => {
    const { gate, first, second, done, doneLater } = twoProcesses();
    gate.open();
    const run = first.run("Act.", { id: "x" });
    const { messages } = await run.result;
    await run.saved();
    for (let time = 0; time < 5; time++) {
      const again = second.run("Act.", { id: "x" });
      expect(await again.result).toMatchObject({ outcome: "completed", text: "Done.", messages });
      await again.saved();
    }
    expect([done, doneLater]).toEqual([["act"], []]);
  });

  it("ends again when the first one was aborted or stopped, which resume goes on with", async () => {
    const { first, second, doneLater } = twoProcesses();
    const run = first.run("Act.", { id: "x" });
    await settled();
    run.abort("enough");
    await run.saved();
    const again = second.run("Act.", { id: "x" });
    expect(await again.result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
    await again.saved();
    expect(doneLater).toEqual([]);
    expect(await second.resume("x").result).toMatchObject({ outcome: "completed", text: "Done." });
  });

  it("goes on with a run whose process is gone", async () => {
    const { clock, store, second, doneLater } = twoProcesses();
    const frozen = { ...clock, now: () => 1, setTimer: () => 0, clearTimer: () => {} };
    const run = process([], { clock: frozen, store, waits: new Gate() }).run("Act.", { id: "x" });
    await settled();
    expect(await second.run("Act.", { id: "x" }).result).toMatchObject({ error: { code: "run_held" } });
    await clock.pass(LEASE_MS);
    expect(await second.run("Act.", { id: "x" }).result).toMatchObject({ text: "Done." });
    expect(doneLater).toEqual(["act"]);
    run.abort();
  });

  it("fails with another prompt, and leaves the first one as it was", async () => {
    const { store, gate, first, second } = twoProcesses();
    gate.open();
    const run = first.run("Act.", { id: "x" });
    await run.result;
    await run.saved();
    const entries = await store.load("x");
    const events: RunEvent["type"][] = [];
    const other = second.run("Do something else.", { id: "x", onEvent: ({ type }) => events.push(type) });
    expect(await other.result).toMatchObject({ outcome: "failed", error: { code: "run_exists" } });
    expect(events).toEqual(["error", "finish"]);
    await other.saved();
    expect(await store.load("x")).toEqual(entries);
  });
});

describe("runs that others pick up", () => {
  it("are those whose lease has run out, each for one process", async () => {
    const { clock, store, gate, second, doneLater } = twoProcesses();
    const frozen = { ...clock, now: () => 1, setTimer: () => 0, clearTimer: () => {} };
    const runs = ["a", "b", "c"].map((id) =>
      process([], { clock: frozen, store, waits: gate }).run("Act.", { id }),
    );
    const held = process([], { clock, store, waits: gate }).run("Act.", { id: "held" });
    await settled();
    expect(await second.resumePending()).toEqual([]);
    await clock.pass(LEASE_MS);
    const third = process(doneLater, { clock, store });
    const taken = await Promise.all([second.resumePending(), third.resumePending()]);
    expect(
      taken
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(["a", "b", "c"]);
    for (const run of taken.flat()) {
      expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
      await run.saved();
    }
    expect(doneLater).toHaveLength(3);
    expect(await second.resumePending()).toEqual([]);
    for (const run of [...runs, held]) run.abort();
  });

  it("are left to a process that was faster", async () => {
    const { store, first, second } = twoProcesses();
    for (const id of ["a", "b"]) first.run("Act.", { id });
    await settled();
    await first.close({ recoverable: true });
    const slow: Store = {
      ...store,
      async pending() {
        const keys = await store.pending();
        await store.lease("a", { holder: "faster", ttlMs: LEASE_MS });
        return keys;
      },
    };
    const runs = await process([], { store: slow }).resumePending();
    expect(runs.map(({ id }) => id)).toEqual(["b"]);
    await runs[0]!.result;
    expect(await second.resumePending()).toEqual([]);
  });

  it("are chosen by their ids, and told to listeners", async () => {
    const { clock, store, second } = twoProcesses();
    const first = process([], { clock, store, waits: new Gate() });
    for (const id of ["order-1", "order-2", "mail-1"]) first.run("Act.", { id });
    await settled();
    await first.close({ recoverable: true });
    const texts: string[] = [];
    const filter = (id: string): boolean => id.startsWith("order");
    const runs = await second.resumePending({ filter, onText: (text) => texts.push(text) });
    expect(runs.map(({ id }) => id).sort()).toEqual(["order-1", "order-2"]);
    await Promise.all(runs.map(({ result }) => result));
    expect(texts).toEqual(["Done.", "Done."]);
    expect(await store.pending()).toEqual(["mail-1"]);
  });

  it("are not runs that have ended but could not say so", async () => {
    const { clock, store, second, doneLater } = twoProcesses();
    const silent: Store = {
      ...store,
      async lease(key, options) {
        const lease = await store.lease(key, options);
        return lease && { ...lease, release: () => {} };
      },
    };
    const run = process([], { clock, store: silent, waits: new Gate() }).run("Act.", { id: "x" });
    await settled();
    run.abort("enough");
    await run.saved();
    await clock.pass(LEASE_MS);
    expect(await store.pending()).toEqual([]);
    expect(await second.resumePending()).toEqual([]);
    expect(doneLater).toEqual([]);
    expect(await store.ended(0)).toEqual(["x"]);
  });

  it("are not runs whose prompt the store never got", async () => {
    const { clock, store, second } = twoProcesses();
    await store.lease("x", { holder: "gone", ttlMs: 0 });
    expect(await second.resumePending()).toEqual([]);
    await clock.pass(LEASE_MS);
    expect(await store.pending()).toEqual([]);
  });

  it("need a store with leases", async () => {
    const { append, load } = memoryStore();
    const missing = expect.objectContaining({ code: "config_missing", field: "store" });
    await expect(process([], {}).resumePending()).rejects.toEqual(missing);
    await expect(process([], { store: { append, load } }).resumePending()).rejects.toEqual(missing);
    expect(() => process([], { store: { append, load, lease: () => undefined } })).toThrow(
      /store: needs a method pending/,
    );
  });
});

describe("an agent that is closed", () => {
  it("leaves its runs to another process at once, with what stands", async () => {
    const { store, first, second, done, doneLater } = twoProcesses();
    const events: RunEvent["type"][] = [];
    const run = first.run("Act.", { id: "x", onEvent: ({ type }) => events.push(type) });
    await settled();
    const closed = first.close({ recoverable: true });
    expect(run.outcome).toBe("cancelled");
    await closed;
    expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason: "the agent was closed" });
    expect(events.slice(-2)).toEqual(["abort", "finish"]);
    expect(await store.pending()).toEqual(["x"]);
    const [again] = await second.resumePending();
    expect(await again!.result).toMatchObject({ outcome: "completed", text: "Done." });
    expect([done, doneLater]).toEqual([[], ["act"]]);
  });

  it("goes on with no run that another process has", async () => {
    const { store, first, second } = twoProcesses();
    first.run("Act.", { id: "x" });
    await settled();
    const again = second.resume("x", { takeOver: true });
    await again.result;
    await again.saved();
    await first.close({ recoverable: true });
    expect(await store.pending()).toEqual([]);
  });

  it("aborts the signals of tools and requests", async () => {
    const aborted: string[] = [];
    const { store } = twoProcesses();
    const fetch = (_: string, { signal }: { signal: AbortSignal }): Promise<Response> =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push("request");
          reject(signal.reason);
        });
      });
    const asking = process([], { store, model: anthropic("m", { apiKey: "k" }), fetch: fetch as never });
    asking.run("Go.");
    const waits = tool({
      description: "Waits",
      inputSchema: { type: "object" },
      execute: (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(aborted.push("tool")))),
    });
    const calling = process([], { store, tools: { act: waits } });
    calling.run("Act.");
    await settled();
    await asking.close({ recoverable: true });
    await calling.close({ recoverable: true });
    expect(aborted).toEqual(["request", "tool"]);
  });

  it("starts nothing any more", async () => {
    const { store, first } = twoProcesses();
    const chat = first.chat();
    await first.close();
    const closed = expect.objectContaining({ code: "misuse_agent_closed" });
    expect(() => first.run("Act.")).toThrow(closed);
    expect(() => first.resume("x")).toThrow(closed);
    expect(() => chat.run("Act.")).toThrow(closed);
    await store.lease("x", { holder: "gone", ttlMs: 0 });
    expect(await first.resumePending()).toEqual([]);
    await first.close({ recoverable: true });
  });

  it("aborts its runs for good without `recoverable`, and those without a store always", async () => {
    const { store, first, gate } = twoProcesses();
    const run = first.run("Act.", { id: "x" });
    await settled();
    await first.close();
    expect((await run.result).outcome).toBe("cancelled");
    expect(await store.pending()).toEqual([]);
    const agent = process([], { waits: gate });
    const other = agent.run("Act.");
    await settled();
    await agent.close({ recoverable: true });
    expect(await other.result).toMatchObject({ outcome: "cancelled", abortReason: "the agent was closed" });
  });

  it("keeps the session of a run open that goes on elsewhere", async () => {
    const ended: string[] = [];
    const hooks = { SessionEnd: [{ hooks: [({ reason }: { reason: string }) => void ended.push(reason)] }] };
    const { first, second } = twoProcesses({ hooks });
    first.run("Act.", { id: "x" });
    await settled();
    await first.close({ recoverable: true });
    expect(ended).toEqual([]);
    const [again] = await second.resumePending();
    await again!.result;
    expect(ended).toEqual(["completed"]);
  });
});
