import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { anthropic, createAgent, StoreConflict, tool } from "looplet";
import type { Agent, AgentOptions, JournalEntry, RunEvent, Store } from "looplet";
import { scripted } from "looplet/practice";
import { memoryStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { VirtualClock } from "../support/virtual-clock.js";

/** The tools' effects, which outlive every process. */
type Effects = string[];

/** A process: an agent of its own, whose model answers by the number of answers in the history. */
function process(effects: Effects, options: Partial<AgentOptions>): Agent {
  const turns = [
    { toolCalls: [{ id: "a", name: "read", input: { n: 1 } }] },
    { toolCalls: [{ id: "b", name: "pay", input: { n: 2 } }] },
    { text: "Paid." },
  ];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { messages } = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array));
    const answered = messages.filter(({ role }: { role: string }) => role === "assistant").length;
    return scripted([turns[answered]!])(url as string, init as never) as Promise<Response>;
  };
  const acts = (name: string, readOnly: boolean) =>
    tool({
      description: name,
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      readOnly,
      execute: (_, { toolCallId }) => {
        effects.push(toolCallId);
        return `output of ${toolCallId}`;
      },
    });
  return createAgent({
    model: anthropic("m", { apiKey: "k" }),
    tools: { read: acts("read", true), pay: acts("pay", false) },
    fetch,
    durable: {
      reconcile: ({ toolCallId }) =>
        effects.includes(toolCallId)
          ? { outcome: "done", output: `output of ${toolCallId}` }
          : { outcome: "run" },
    },
    ...options,
  });
}

/** A process that is cut off must not hold its run. */
function withoutLeases(store: Store): Store {
  return { append: (...args) => store.append(...args), load: (key) => store.load(key) };
}

/** All prefixes that a store had, one for each append. */
function watched(store: Store): { store: Store; seen: JournalEntry[][] } {
  const seen: JournalEntry[][] = [];
  return {
    seen,
    store: {
      ...store,
      async append(key, entries, expectedSeq) {
        await store.append(key, entries, expectedSeq);
        seen.push([...((await store.load(key)) ?? [])]);
      },
    },
  };
}

describe("a run with a store", () => {
  it("S001-44 goes on from every save and ends in the same way, without a second payment", async () => {
    const { store, seen } = watched(memoryStore());
    const effects: Effects = [];
    const run = process(effects, { store }).run("Pay.", { id: "order-1" });
    const { messages, toolCalls, outcome } = await run.result;
    await run.saved();
    expect([outcome, effects]).toEqual(["completed", ["a", "b"]]);
    expect(seen.length).toBeGreaterThan(5);
    for (const entries of seen) {
      // The tool was called at most when its start had been saved.
      const isStarted = entries.some(({ json }) => /"toolCallId":"b".*"started":/.test(json));
      const since: Effects = isStarted ? ["b"] : [];
      const again = await process(since, { store: memoryStore() }).resume(entries).result;
      expect(again.messages).toEqual(messages);
      expect(again.toolCalls).toMatchObject(toolCalls.map(({ toolCallId }) => ({ toolCallId })));
      expect(since.filter((id) => id === "b")).toHaveLength(1);
    }
  });

  it("has saved its prompt as soon as it says that it has saved anything", async () => {
    const store = memoryStore();
    const hanging = (): Promise<Response> => new Promise(() => {});
    const run = process([], { store, fetch: hanging }).run("Pay.", { id: "x" });
    await run.saved();
    const again = process([], { store }).resume("x", { takeOver: true });
    expect(await again.result).toMatchObject({ outcome: "completed", text: "Paid." });
    run.abort();
  });

  it("S001-45 goes on with higher limits after it was stopped by one", async () => {
    const store = memoryStore();
    const effects: Effects = [];
    const run = process(effects, { store, limits: { maxIterations: 1 } }).run("Pay.", { id: "x" });
    expect(await run.result).toMatchObject({ outcome: "stopped", stoppedBy: "iterations" });
    await run.saved();
    const events: string[] = [];
    const onEvent = (event: RunEvent): void => {
      if (event.type === "warning") events.push(`${event.code}: ${event.message}`);
    };
    const again = process(effects, { store, limits: { maxIterations: 9 } }).resume("x", { onEvent });
    expect(again.id).toBe("x");
    expect(await again.result).toMatchObject({ outcome: "completed", text: "Paid.", iterations: 3 });
    expect(effects).toEqual(["a", "b"]);
    expect(events).toEqual([expect.stringMatching(/^options_changed: .* limits$/)]);
  });

  it("takes back no message of another process", async () => {
    const store = memoryStore();
    const hangs: typeof globalThis.fetch = () => new Promise(() => {});
    const first = process([], { store: withoutLeases(store), fetch: hangs }).run("Pay.", { id: "x" });
    const old = first.followUp("And thank them.");
    await first.saved();
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      asked.push(new TextDecoder().decode(init?.body as Uint8Array));
      return scripted([{ text: "Done." }])(url as string, init as never) as Promise<Response>;
    };
    const run = process([], { store, fetch }).resume("x");
    const message = run.followUp("Never mind.");
    expect(message.id).not.toBe(old.id);
    expect(message.withdraw()).toBe(true);
    expect(await run.result).toMatchObject({ outcome: "completed", undelivered: [] });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain("And thank them.");
    expect(asked[1]).not.toContain("Never mind.");
    first.abort();
  });

  it("writes less often with durable.flushMs, and keeps the same", async () => {
    const kept: { entries: number; appends: number }[] = [];
    for (const flushMs of [0, 100]) {
      const { store, seen } = watched(withoutLeases(memoryStore()));
      const clock = new VirtualClock();
      const effects: Effects = [];
      const run = process(effects, { store, durable: { flushMs }, clock }).run("Pay.", {
        id: "r",
      });
      while (run.outcome === undefined) await clock.pass(50);
      expect([(await run.result).outcome, effects]).toEqual(["completed", ["a", "b"]]);
      const saved = run.saved();
      await clock.pass(100);
      await saved;
      kept.push({ entries: seen.at(-1)!.length, appends: seen.length });
    }
    const [eager, batched] = kept;
    expect(batched!.entries).toBe(eager!.entries);
    expect(batched!.appends).toBeLessThan(eager!.appends);
  });

  it("asks a person about a call that may have been made", async () => {
    const { store, seen } = watched(memoryStore());
    const first = process([], { store }).run("Pay.");
    await first.result;
    const isStarted = ({ json }: JournalEntry): boolean => /"toolCallId":"b".*"started":/.test(json);
    const started = seen.find((entries) => entries.some(isStarted))!;
    const effects: Effects = [];
    const run = process(effects, { durable: { reconcile: undefined } }).resume(started);
    const questions: string[] = [];
    for await (const event of run) {
      if (event.type !== "question") continue;
      questions.push(event.question);
      expect(run.answer(event.questionId, { outcome: "fail", message: "The bank says no." })).toBe(true);
      expect(run.answer(event.questionId, { outcome: "run" })).toBe(false);
    }
    expect(questions).toEqual(["reconcile"]);
    expect(effects).toEqual([]);
    const { toolCalls, outcome } = await run.result;
    expect(outcome).toBe("completed");
    expect(toolCalls[1]).toMatchObject({ isError: true, output: { message: "The bank says no." } });
  });

  it("goes on when a write that failed has reached the store", async () => {
    const store = memoryStore();
    let failures = 0;
    const lossy: Store = {
      load: store.load,
      append: (key, entries, expectedSeq) => {
        void store.append(key, entries, expectedSeq);
        if (failures++ === 2) throw new Error("connection lost");
      },
    };
    const run = process([], { store: lossy }).run("Pay.", { id: "x" });
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Paid." });
    await run.saved();
    expect(failures).toBeGreaterThan(4);
  });

  it("ends when another process goes on with it", async () => {
    const store = memoryStore();
    const late: Store = {
      load: store.load,
      append: (key, entries, expectedSeq) => {
        if (expectedSeq > 0) throw new StoreConflict("gone");
        return store.append(key, entries, expectedSeq);
      },
    };
    const result = await process([], { store: late }).run("Pay.").result;
    expect(result).toMatchObject({
      outcome: "cancelled",
      abortReason: "another process goes on with this run",
    });
  });

  it("T-12 makes no call whose start could not be saved, and says so", async () => {
    const errors: unknown[] = [];
    const effects: Effects = [];
    const store: Store = {
      load: () => undefined,
      append: (_, entries) => {
        if (entries.some(({ json }) => json.includes('"started":{'))) throw new Error("disk full");
      },
    };
    const clock = {
      now: () => 1,
      setTimer: (due: () => void) => setTimeout(due, 0),
      clearTimer: (timer: unknown) => clearTimeout(timer as never),
    };
    const agent = process(effects, { store, clock });
    const { toolCalls, outcome } = await agent.run("Pay.", { onError: (error) => errors.push(error) }).result;
    expect([outcome, effects]).toEqual(["completed", ["a"]]);
    expect(toolCalls[1]).toMatchObject({ isError: true, output: { code: "save_failed" } });
    expect(errors[0]).toMatchObject({ message: "disk full" });
  });

  it("refuses what it cannot go on with", async () => {
    const agent = process([], { store: memoryStore() });
    expect(await agent.resume("unknown").result).toMatchObject({
      outcome: "failed",
      error: { message: expect.stringContaining("there is no such run") },
    });
    const newer = [
      { seq: 1, json: '{"seq":1,"agent":0,"fact":{"begun":{"format":99}}}' },
      { seq: 2, json: '{"seq":2,"agent":0,"fact":{"run":{}}}' },
    ];
    expect(await agent.resume([{ seq: 1 }] as never).result).toMatchObject({
      error: { message: expect.stringContaining("entries[0]") },
    });
    expect(await agent.resume(newer).result).toMatchObject({
      error: { message: expect.stringContaining("newer version of looplet") },
    });
    const without = process([], {});
    expect(() => without.resume("x")).toThrow(expect.objectContaining({ code: "config_missing" }));
    expect(() => process([], { store: {} as never })).toThrow(/store: needs a method append/);
  });
});

describe("a store of files", () => {
  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "looplet-"));
    onTestFinished(() => rm(path, { recursive: true }));
    return path;
  }
  const entry = (seq: number): JournalEntry => ({ seq, json: `{"seq":${seq}}` });

  it("tells of a line that is torn at any byte, and forgets it when the line behind it goes on", async () => {
    const path = await folder();
    await fileStore(path).append("a/b", [entry(1), entry(2)], 0);
    await fileStore(path).append("a/b", [entry(3)], 2);
    const file = join(path, "a%2Fb.jsonl");
    const whole = await readFile(file);
    const first = whole.indexOf("\n") + 1;
    for (let bytes = first; bytes < whole.length; bytes++) {
      await writeFile(file, whole.subarray(0, bytes));
      const store = fileStore(path);
      const damaged = bytes > first ? [{ seq: 2, json: "damaged" }] : [];
      expect(await store.load("a/b")).toEqual([entry(1), entry(2), ...damaged]);
      await store.append("a/b", [entry(3)], 2);
      expect(await fileStore(path).load("a/b")).toEqual([entry(1), entry(2), entry(3)]);
    }
  });

  it("refuses a writer that does not know the last entry", async () => {
    const store = fileStore(await folder());
    await store.append("a", [entry(1)], 0);
    await expect(store.append("a", [entry(2)], 0)).rejects.toThrow(StoreConflict);
    await expect(store.append("b", [entry(2)], 1)).rejects.toThrow(StoreConflict);
    expect(await store.load("c")).toEqual([]);
  });
});
