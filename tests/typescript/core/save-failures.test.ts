import { describe, expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions, JournalEntry, OnSaveFailed, RunEvent, SaveFailure, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { ANSWER_MS } from "../../../src/typescript/core/run/saving/timed-store.js";
import { settled, VirtualClock } from "../support/virtual-clock.js";

const full = new Error("disk full");

/** The time of a write that fails three times, with the waits between. */
const TRIES_MS = 1100;

/** A disk: while it is full, appends throw. While it hangs, the calls that it names are never answered. */
class Disk {
  readonly clock = new VirtualClock();
  readonly inner = memoryStore({ now: this.clock.now });
  isFull = false;
  hangs: readonly string[] = [];
  /** What the model and the tool have done. */
  readonly effects: string[] = [];
  readonly store: Store = {
    append: (...args) => {
      if (this.isFull) throw full;
      return this.#answer("append", () => this.inner.append(...args));
    },
    load: (key) => this.#answer("load", () => this.inner.load(key)),
    lease: (...args) => this.#answer("lease", () => this.inner.lease(...args)),
    pending: () => this.inner.pending(),
  };

  /** The store has what has happened so far, and nothing more. */
  async fill(): Promise<void> {
    await settled();
    this.isFull = true;
  }

  async pass(ms: number): Promise<void> {
    await settled();
    await settled();
    await this.clock.pass(ms);
  }

  #answer<T>(what: string, work: () => T): T | Promise<never> {
    return this.hangs.includes(what) ? new Promise<never>(() => {}) : work();
  }

  /** A process: the model calls the tool twice, and each call of the tool runs `within`. */
  agent(options: Partial<AgentOptions> = {}, within: () => unknown = () => {}): Agent {
    return createAgent({
      model: custom(({ messages }) => {
        const answered = messages.filter(({ role }) => role === "assistant").length;
        this.effects.push(`request ${answered + 1}`);
        return answered < 2 ? [{ type: "tool_call", id: `c${answered}`, name: "act", input: {} }] : "Done.";
      }),
      tools: {
        act: tool({
          description: "Acts",
          inputSchema: { type: "object" },
          replay: "safe",
          execute: async (_, { toolCallId }) => {
            this.effects.push(toolCallId);
            await within();
            return "acted";
          },
        }),
      },
      clock: this.clock,
      store: this.store,
      ...options,
    });
  }
}

/** A place where a tool stands still until the test lets it go on. */
class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/** Collects the events of one type. */
function eventsOf<K extends RunEvent["type"]>(type: K) {
  const events: Extract<RunEvent, { type: K }>[] = [];
  const onEvent = (event: RunEvent): void => void (event.type === type && events.push(event as never));
  return { events, onEvent };
}

async function kept(disk: Disk, key = "x"): Promise<readonly JournalEntry[]> {
  return (await disk.inner.load(key)) ?? [];
}

describe("a store that takes no more entries", () => {
  it("lets the run go on, says what is missing, and gets it when it works again", async () => {
    const disk = new Disk();
    const errors: unknown[] = [];
    const { events, onEvent } = eventsOf("not-saved");
    const agent = disk.agent({}, async () => {
      await disk.fill();
      await new Promise<void>((resolve) => void disk.clock.setTimer(resolve, 2 * TRIES_MS));
    });
    const run = agent.run("Act.", { id: "x", onEvent, onError: (error) => errors.push(error) });
    while (run.outcome === undefined) await disk.pass(TRIES_MS);
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    const missing = events.at(-1)!;
    expect(missing).toMatchObject({ message: "disk full", agentPath: "root" });
    expect(missing.since).toBe((await kept(disk)).length + 1);
    expect(missing.entries).toBeGreaterThan(0);
    expect(errors).toContain(full);
    const refused = expect(run.saved()).rejects.toBe(full);
    await disk.pass(2 * TRIES_MS);
    await refused;
    disk.isFull = false;
    await run.saved();
    expect((await kept(disk)).length).toBeGreaterThanOrEqual(missing.since + missing.entries - 1);
    // The journal has its end, and the lease is given back.
    expect(await disk.agent().resume("x").result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(disk.effects).toEqual(["request 1", "c0", "request 2", "c1", "request 3"]);
  });

  it("counts what waits, and is quiet while nothing new comes", async () => {
    const disk = new Disk();
    const { events, onEvent } = eventsOf("not-saved");
    const gate = new Gate();
    const run = disk
      .agent({}, () => disk.fill().then(() => gate.opened))
      .run("Act.", { id: "x", onEvent, onError() {} });
    await disk.pass(10 * TRIES_MS);
    for (const text of ["Be quick.", "Be brief."]) {
      run.steer(text);
      await disk.pass(10 * TRIES_MS);
    }
    const [first, second, ...more] = events;
    expect(second).toMatchObject({ since: first!.since });
    expect(second!.entries).toBeGreaterThan(first!.entries);
    expect(more).toEqual([]);
    gate.open();
    run.abort();
  });

  it("ends the run with onSaveFailed: stop before its next effect, and another process goes on", async () => {
    const disk = new Disk();
    const { events, onEvent } = eventsOf("error");
    const agent = disk.agent({ durable: { onSaveFailed: "stop" } }, () => disk.fill());
    const run = agent.run("Act.", { id: "x", onEvent, onError() {} });
    await disk.pass(TRIES_MS);
    const { outcome, error, toolCalls } = await run.result;
    expect([outcome, error]).toMatchObject(["failed", { code: "store_failed", retryable: true }]);
    expect(error!.message).toMatch(
      /^The store could not save the run "x": disk full\. .* from number \d+ on are not saved/,
    );
    expect(events.map((event) => event.error)).toEqual([error]);
    expect(disk.effects).toEqual(["request 1", "c0"]);
    // The result has what the store does not.
    expect(toolCalls).toMatchObject([{ output: "acted" }]);
    expect(JSON.stringify(await kept(disk))).not.toContain('\\"acted');
    disk.isFull = false;
    const again = await disk.agent().resume("x", { takeOver: true }).result;
    expect(again).toMatchObject({ outcome: "completed", text: "Done." });
    expect(disk.effects.slice(2)).toEqual(["c0", "request 2", "c1", "request 3"]);
  });

  it("loses nothing of a stopped run whose saved() is called when the store works", async () => {
    const disk = new Disk();
    const agent = disk.agent({ durable: { onSaveFailed: "stop" } }, () => disk.fill());
    const run = agent.run("Act.", { id: "x", onError() {} });
    await disk.pass(5 * TRIES_MS);
    await run.result;
    disk.isFull = false;
    await run.saved();
    expect(await disk.inner.pending()).toEqual(["x"]);
    const [again] = await disk.agent().resumePending();
    expect(await again!.result).toMatchObject({ outcome: "completed", text: "Done." });
    // The call is not made again: its result was saved.
    expect(disk.effects.slice(2)).toEqual(["request 2", "c1", "request 3"]);
  });

  it("does not bring entries of a stopped run into a journal with which another process goes on", async () => {
    const disk = new Disk();
    const agent = disk.agent({ durable: { onSaveFailed: "stop" } }, () => disk.fill());
    const run = agent.run("Act.", { id: "x", onError() {} });
    await disk.pass(5 * TRIES_MS);
    await run.result;
    disk.isFull = false;
    const again = disk.agent().resume("x", { takeOver: true });
    await again.result;
    await again.saved();
    const entries = await kept(disk);
    await expect(run.saved()).rejects.toMatchObject({ name: "StoreConflict" });
    expect(await kept(disk)).toEqual(entries);
  });

  it("asks no model before the store has the beginning of a run that needs it", async () => {
    for (const onSaveFailed of ["stop", () => "stop" as const] satisfies OnSaveFailed[]) {
      const disk = new Disk();
      disk.isFull = true;
      const run = disk.agent({ durable: { onSaveFailed } }).run("Act.", { onError() {} });
      await disk.pass(TRIES_MS);
      expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "store_failed" } });
      expect(disk.effects).toEqual([]);
    }
  });

  it("asks no model for the next run of a chat", async () => {
    const disk = new Disk();
    const chat = await disk.agent({ durable: { onSaveFailed: "stop" } }).openChat("x");
    await chat.run("Act.").result;
    await chat.saved();
    disk.isFull = true;
    const before = disk.effects.length;
    const run = chat.run("Act.", { onError() {} });
    await disk.pass(TRIES_MS);
    expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "store_failed" } });
    expect(disk.effects).toHaveLength(before);
  });
});

describe("a function that decides about a run that is not saved", () => {
  it("gets what is missing, and nothing begins until it has answered", async () => {
    const disk = new Disk();
    const asked: SaveFailure[] = [];
    let answer!: (word: "stop" | "continue") => void;
    const onSaveFailed: OnSaveFailed = (failure) => {
      asked.push(failure);
      return new Promise((resolve) => (answer = resolve));
    };
    const agent = disk.agent({ durable: { onSaveFailed } }, () => asked.length === 0 && disk.fill());
    const run = agent.run("Act.", { id: "x", onError() {} });
    await disk.pass(100 * TRIES_MS);
    const since = (await kept(disk)).length + 1;
    expect(asked).toEqual([{ runId: "x", error: full, entries: expect.any(Number), since }]);
    expect(disk.effects).toEqual(["request 1", "c0"]);
    disk.isFull = false;
    answer("continue");
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    await run.saved();
    expect(asked).toHaveLength(1);
  });

  it("is not waited for when the run is aborted meanwhile", async () => {
    const disk = new Disk();
    const never = (): Promise<"stop"> => new Promise(() => {});
    const agent = disk.agent({ durable: { onSaveFailed: never } }, () => disk.fill());
    const run = agent.run("Act.", { id: "x", onError() {} });
    await disk.pass(TRIES_MS);
    disk.isFull = false;
    run.abort();
    await run.saved();
    expect(await disk.inner.pending()).toEqual([]);
    expect(JSON.stringify(await kept(disk))).toContain("cancelled");
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no answer")), /^no answer$/],
    [
      "returns another word",
      () => "goon",
      /^durable\.onSaveFailed must return "stop" or "continue", got a string$/,
    ],
  ])("stops the run when it %s", async (_, onSaveFailed, message) => {
    const disk = new Disk();
    const errors: Error[] = [];
    const agent = disk.agent({ durable: { onSaveFailed: onSaveFailed as never } }, () => disk.fill());
    const run = agent.run("Act.", { onError: (error) => errors.push(error as Error) });
    await disk.pass(TRIES_MS);
    expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "store_failed" } });
    expect(errors.map((error) => error.message)).toContainEqual(expect.stringMatching(message));
  });

  it("is a function or one of two words", () => {
    const make = (): Agent => new Disk().agent({ durable: { onSaveFailed: "halt" as never } });
    expect(make).toThrow(/^durable\.onSaveFailed: needs "stop", "continue" or a function, got "halt"/);
  });
});

describe("a store that never answers", () => {
  /** Lets the time of `saved()` pass, and returns its error. */
  async function refusal(disk: Disk, saved: Promise<void>): Promise<unknown> {
    let error: unknown;
    const over = saved.then(
      () => (error = "saved"),
      (reason: unknown) => (error = reason),
    );
    await disk.pass(ANSWER_MS - 1);
    expect(error).toBe(undefined);
    await disk.pass(1);
    await over;
    return error;
  }

  it.each(["append", "lease"])("rejects saved() of a run after 30 s when %s hangs", async (what) => {
    const disk = new Disk();
    disk.hangs = [what];
    const { events, onEvent } = eventsOf("not-saved");
    const gate = new Gate();
    const run = disk.agent({}, () => gate.opened).run("Act.", { onEvent, onError() {} });
    const error = await refusal(disk, run.saved());
    expect(error).toMatchObject({ name: "TimeoutError", message: expect.stringContaining("30 s") });
    expect(events[0]).toMatchObject({ since: 1, message: `The store has not answered ${what} within 30 s.` });
    gate.open();
    expect(await run.result).toMatchObject({ outcome: "completed" });
  });

  it.each(["append", "lease"])("rejects saved() of a chat after 30 s when %s hangs", async (what) => {
    const disk = new Disk();
    const chat = await disk.agent().openChat("x");
    await chat.run("Act.").result;
    await chat.saved();
    disk.hangs = [what];
    const run = chat.run("Again.", { onError() {} });
    expect(await refusal(disk, chat.saved())).toMatchObject({ name: "TimeoutError" });
    disk.hangs = [];
    run.abort();
  });

  it.each(["load", "lease"])("ends a run that is to go on after 30 s when %s hangs", async (what) => {
    const disk = new Disk();
    const first = disk.agent().run("Act.", { id: "x" });
    await first.result;
    await first.saved();
    disk.hangs = [what];
    const run = disk.agent().resume("x", { onError() {} });
    const error = await refusal(disk, run.saved());
    expect(error).toMatchObject({ name: "TimeoutError" });
    expect(await run.result).toMatchObject({
      outcome: "failed",
      error: { code: "store_failed", message: expect.stringContaining("within 30 s") },
    });
  });

  it("rejects saved() of a run that goes on when append hangs", async () => {
    const disk = new Disk();
    const gate = new Gate();
    const first = disk.agent({}, () => gate.opened).run("Act.", { id: "x", onError() {} });
    await settled();
    await first.saved();
    disk.hangs = ["append"];
    const run = disk.agent().resume("x", { takeOver: true, onError() {} });
    expect(await refusal(disk, run.saved())).toMatchObject({ name: "TimeoutError" });
    gate.open();
    first.abort();
  });

  it("gets no second append of a run before it has answered the first, and no entry twice", async () => {
    const disk = new Disk();
    const answers: (() => void)[] = [];
    let [underWay, most] = [0, 0];
    const slow: Store = {
      ...disk.store,
      async append(...args) {
        most = Math.max(most, ++underWay);
        if (answers.length === 0) await new Promise<void>((resolve) => answers.push(resolve));
        underWay -= 1;
        await disk.inner.append(...args);
      },
    };
    const run = disk.agent({ store: slow }).run("Act.", { id: "x", onError() {} });
    await disk.pass(3 * ANSWER_MS);
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(await kept(disk)).toEqual([]);
    answers[0]!();
    await settled();
    await run.saved();
    expect(most).toBe(1);
    const numbers = (await kept(disk)).map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(await disk.agent().resume("x").result).toMatchObject({ outcome: "completed", text: "Done." });
  });
});

describe("a lease that the store does not take back", () => {
  /** A store that refuses so many releases. */
  const refusing = (disk: Disk, times: number): Store => ({
    ...disk.store,
    async lease(...args) {
      const lease = await disk.inner.lease(...args);
      const release = (isPending: boolean): Promise<void> | void => {
        if (times-- > 0) throw full;
        return lease!.release(isPending);
      };
      return lease && { ...lease, release };
    },
  });

  it("is given back again", async () => {
    const disk = new Disk();
    const run = disk.agent({ store: refusing(disk, 2) }).run("Act.", { id: "x", onError() {} });
    await disk.pass(TRIES_MS);
    await run.saved();
    expect(await disk.inner.ended(0)).toEqual(["x"]);
  });

  it("is given back by a later try, so that the chat can be opened again before its time is over", async () => {
    const disk = new Disk();
    const chat = await disk.agent({ store: refusing(disk, 3) }).openChat("x");
    const run = chat.run("Act.", { onError() {} });
    await disk.pass(2 * TRIES_MS);
    await run.saved();
    const next = await disk.agent().openChat("x");
    expect(await next.run("More.").result).toMatchObject({ error: { code: "run_held" } });
    await disk.pass(5_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await next.run("More.").result).toMatchObject({ outcome: "completed" });
  });

  it("does not lock a chat for its own next run", async () => {
    const disk = new Disk();
    const reported: unknown[] = [];
    const onError = (error: unknown): void => void reported.push(error);
    const chat = await disk.agent({ store: refusing(disk, 3) }).openChat("c", { onError });
    const first = chat.run("Act.", { onError });
    await disk.pass(TRIES_MS);
    await first.saved();
    expect(reported).toEqual([full]);
    const next = chat.run("Act again.", { onError });
    await disk.pass(TRIES_MS);
    expect(await next.result).toMatchObject({ outcome: "completed" });
    await next.saved();
    expect(await disk.inner.ended(0)).toEqual(["c"]);
  });
});
