/** Runs and chats whose journal is deleted from the store while they are under way. No other process has them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgent, custom, type Store } from "looplet";
import { memoryStore, sqliteStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { settled, VirtualClock } from "../support/virtual-clock.js";

const folder = await mkdtemp(join(tmpdir(), "looplet-cleared-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
// The engine is loaded in real time.
beforeAll(() => createAgent({ model: custom(() => "done") }).run("go").result);

interface Clearable {
  readonly store: Store;
  clear(): unknown;
}

const { DatabaseSync } = (process.getBuiltinModule as (name: string) => any)("node:sqlite");
let number = 0;
const stores: { [name: string]: (now: () => number) => Clearable } = {
  "a deleted journal"(now) {
    const store = memoryStore({ now });
    return { store, clear: () => store.delete("x") };
  },
  "a deleted folder"(now) {
    const own = join(folder, `${(number += 1)}`);
    return { store: fileStore(own, { now }), clear: () => rm(own, { recursive: true, maxRetries: 9 }) };
  },
  "emptied tables"(now) {
    const database = new DatabaseSync(":memory:");
    const clear = (): void => {
      for (const table of ["entries", "leases", "pieces"]) database.exec(`DELETE FROM looplet_${table}`);
    };
    return { store: sqliteStore(database, { now }), clear };
  },
  "a cleared store without leases"() {
    let texts: string[] = [];
    const store: Store = {
      load: () => texts.map((json, at) => ({ seq: at + 1, json })),
      append(_, entries, expectedSeq) {
        const conflict = new Error(`has ${texts.length} and not ${expectedSeq}`);
        conflict.name = "StoreConflict";
        if (texts.length !== expectedSeq) throw conflict;
        texts.push(...entries.map(({ json }) => json));
      },
    };
    return { store, clear: () => (texts = []) };
  },
};

describe.each(Object.keys(stores))("%s", (name) => {
  const GONE = { outcome: "failed", error: { code: "journal_gone", retryable: false } };

  it("fails the run of a chat at its next save, and its later runs, until the chat is opened again", async () => {
    const clock = new VirtualClock();
    const { store, clear } = stores[name]!(clock.now);
    let proceed = (): void => {};
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const agent = createAgent({
      store,
      clock,
      model: custom(async function* ({ messages }) {
        yield "begun ";
        if (JSON.stringify(messages.at(-1)).includes("wait"))
          await new Promise<void>((go) => {
            proceed = go;
            begin();
          });
        yield "done";
      }),
    });
    const chat = await agent.openChat("x");
    expect(await chat.run("first").result).toMatchObject({ outcome: "completed" });
    await chat.saved();
    const run = chat.run("wait");
    await begun;
    await run.saved();
    await clear();
    proceed();
    // A run that has its end before the store refuses it has its own result.
    await run.result;
    await expect(run.saved()).rejects.toThrow(/deleted|and not/);
    for (let more = 0; more < 2; more++) expect(await chat.run("more").result).toMatchObject(GONE);
    // The runs that have failed try once more to save, and acquire no lease for that.
    await expect(chat.saved()).rejects.toThrow(/deleted|and not/);
    const again = await agent.openChat("x");
    expect(again.messages).toEqual([]);
    expect(await again.run("new").result).toMatchObject({ outcome: "completed" });
    await again.saved();
    expect((await agent.readChat("x"))!.messages).toHaveLength(2);
  });

  it("fails a run before its next call", async () => {
    const clock = new VirtualClock();
    const { store, clear } = stores[name]!(clock.now);
    let calls = 0;
    const agent = createAgent({
      store,
      clock,
      durable: { onSaveFailed: "stop" },
      model: custom(({ messages }) =>
        messages.length < 4
          ? [{ type: "tool_call", id: `c${messages.length}`, name: "act", input: {} }]
          : "done",
      ),
      tools: {
        act: {
          description: "Acts",
          inputSchema: { type: "object" },
          replay: "once",
          async execute() {
            calls++;
            await clear();
            return "acted";
          },
        },
      },
    });
    const run = agent.run("go", { id: "x" });
    expect(await run.result).toMatchObject(GONE);
    expect(calls).toBe(1);
    // No later attempt to save acquires the lease of the deleted journal again.
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(run.saved()).rejects.toThrow(/deleted|and not/);
    const chat = await agent.openChat("x");
    // The chat begins again, until its tool clears the storage.
    expect(await chat.run("new").result).toMatchObject(GONE);
    expect(calls).toBe(2);
  });
});

it("a lease that cannot be renewed because the storage was cleared fails the run", async () => {
  const clock = new VirtualClock();
  const store = memoryStore({ now: clock.now });
  const model = custom(async function* () {
    yield "begun";
    await new Promise(() => {});
  });
  const run = createAgent({ store, clock, model }).run("go", { id: "x" });
  await run.saved();
  store.delete("x");
  await clock.pass(30_000);
  await settled();
  expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "journal_gone" } });
});

it("a run that another process has taken is cancelled as before", async () => {
  const clock = new VirtualClock();
  const store = memoryStore({ now: clock.now });
  const model = custom(async function* () {
    yield "begun";
    await new Promise(() => {});
  });
  const run = createAgent({ store, clock, model }).run("go", { id: "x" });
  await run.saved();
  const next = createAgent({ store, clock, model: custom(() => "done") }).resume("x", { takeOver: true });
  expect(await next.result).toMatchObject({ outcome: "completed" });
  await clock.pass(30_000);
  await settled();
  expect(await run.result).toMatchObject({ outcome: "cancelled" });
});

it("a run that was suspended acquires no lease of a journal that was deleted since", async () => {
  const clock = new VirtualClock();
  const store = memoryStore({ now: clock.now });
  let isFull = false;
  const failing: Store = {
    ...store,
    append: (...args) => (isFull ? Promise.reject(new Error("full")) : store.append(...args)),
  };
  const model = custom(() => {
    isFull = true;
    return [{ type: "tool_call", id: "c", name: "act", input: {} }];
  });
  const act = { description: "Acts", inputSchema: { type: "object" as const }, execute: () => "acted" };
  const agent = createAgent({
    store: failing,
    clock,
    durable: { onSaveFailed: "stop" },
    model,
    tools: { act },
  });
  const run = agent.run("go", { id: "x" });
  await settled();
  await clock.pass(5_000);
  expect(await run.result).toMatchObject({ error: { code: "store_failed" } });
  store.delete("x");
  isFull = false;
  await expect(run.saved()).rejects.toThrow(/deleted|and not/);
  expect(store.lease("x", { holder: "another process", ttlMs: 1000 })).toBeDefined();
});
