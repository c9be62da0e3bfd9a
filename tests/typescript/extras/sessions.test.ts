import { describe, expect, it } from "vitest";
import { createAgent, custom } from "looplet";
import type { Agent, Store } from "looplet";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";

function agentOn(store: Store): Agent {
  const model = custom(({ messages }) => `answer ${messages.length}`);
  return createAgent({ model, store });
}

/** A clock that goes on by one at each look. */
function ticking(): () => number {
  let at = 0;
  return () => (at += 1);
}

const idsOf = (sessions: readonly { readonly id: string }[]): string[] => sessions.map(({ id }) => id);

describe("sessions of a store", () => {
  it("are listed, the one first that was changed last, in another process too", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(store, { now: ticking() });
    expect([await sessions.list(), await sessions.latest()]).toEqual([[], undefined]);
    for (const id of ["a", "b", "c"]) await (await sessions.open(agentOn(store), id)).run("Hi").result;
    await sessions.rename("a", "Shirts");
    await sessions.tag("a", ["shop", "ada"]);
    await sessions.tag("b", ["shop"]);
    await sessions.open(agentOn(store), "b");
    const other = sessionsOf(store);
    expect(idsOf(await other.list())).toEqual(["b", "a", "c"]);
    expect(idsOf(await other.list({ tag: "ada" }))).toEqual(["a"]);
    expect(await other.latest()).toMatchObject({ id: "b", createdMs: 2, updatedMs: 7, title: undefined });
    expect(await other.get("a")).toEqual({
      id: "a",
      title: "Shirts",
      tags: ["shop", "ada"],
      createdMs: 1,
      updatedMs: 5,
      forkedFrom: undefined,
    });
  });

  it("go on where they were, and a new one has an id of its own", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(store);
    const first = await sessions.open(agentOn(store));
    await first.run("Hi").result;
    await first.saved();
    const { id } = (await sessions.latest())!;
    const again = await sessions.open(agentOn(store), id);
    expect(again.messages).toEqual(first.messages);
    expect((await again.run("More").result).text).toBe("answer 3");
    expect(await sessions.list()).toHaveLength(1);
  });

  it("go to another store and come back, as text", async () => {
    const [here, there] = [memoryStore(), memoryStore()];
    const [mine, theirs] = [sessionsOf(here), sessionsOf(there)];
    const say = async (store: Store, prompt: string): Promise<number> => {
      const chat = await sessionsOf(store).open(agentOn(store), "a");
      await chat.run(prompt).result;
      await chat.saved();
      return chat.messages.length;
    };
    expect(await mine.export("a")).toBe(undefined);
    expect(await say(here, "Hi")).toBe(2);
    const first = (await mine.export("a"))!;
    await theirs.import(agentOn(there), "a", first);
    expect(await say(there, "More")).toBe(4);
    expect(idsOf(await theirs.list())).toEqual(["a"]);
    await mine.import(agentOn(here), "a", (await theirs.export("a"))!);
    // What is not new changes nothing.
    await mine.import(agentOn(here), "a", first);
    expect(await say(here, "Even more")).toBe(6);
    expect(await say(there, "Another way")).toBe(6);
    await expect(mine.import(agentOn(here), "a", (await theirs.export("a"))!)).rejects.toThrow(
      /continued differently/,
    );
    expect((await agentOn(here).readChat("a"))!.messages).toHaveLength(6);
    await expect(mine.import(agentOn(here), "b", "no chat")).rejects.toThrow(/an entry in each line/);
    await expect(mine.import(agentOn(here), "b", '{"what":"is this"}')).rejects.toThrow(/entry/);
    expect((await here.load("b")) ?? []).toEqual([]);
    expect(idsOf(await mine.list())).toEqual(["a"]);
  });

  it("are forked, whole or at a message, and the original stays byte for byte", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(store);
    const agent = agentOn(store);
    const chat = await sessions.open(agent, "a");
    await chat.run("One").result;
    await chat.run("Two").result;
    await chat.saved();
    const before = JSON.stringify(await store.load("a"));
    const whole = await sessions.fork(agent, "a");
    const cut = await sessions.fork(agent, "a", { at: 2, as: "cut" });
    expect(whole.messages).toEqual(chat.messages);
    expect(cut.messages).toEqual(chat.messages.slice(0, 2));
    expect((await cut.run("Other").result).messages).toHaveLength(4);
    expect(JSON.stringify(await store.load("a"))).toBe(before);
    expect(await sessions.get("cut")).toMatchObject({ forkedFrom: "a" });
    expect((await agentOn(store).readChat("cut"))!.messages).toHaveLength(4);
  });

  it("are forked while a run of theirs goes on", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(store);
    const chat = await sessions.open(agentOn(store), "a");
    await chat.run("One").result;
    const hanging = createAgent({ model: custom(() => new Promise<string>(() => {})), store });
    await chat.saved();
    chat.close();
    const at = await hanging.openChat("a");
    const run = at.run("Two");
    await at.saved();
    expect(await agentOn(store).readChat("a")).toMatchObject({ isRunning: true });
    const fork = await sessions.fork(agentOn(store), "a", { at: 2 });
    expect(fork.messages).toHaveLength(2);
    expect(run.outcome).toBeUndefined();
    run.abort();
  });

  it("are deleted with their journals, and what is not there is told", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(store);
    const chat = await sessions.open(agentOn(store), "a");
    await chat.run("Hi").result;
    await chat.saved();
    await sessions.delete("a");
    await sessions.delete("a");
    expect([await sessions.list(), await store.load("a")]).toEqual([[], undefined]);
    expect(await agentOn(store).readChat("a")).toBeUndefined();
    await expect(sessions.rename("a", "x")).rejects.toThrow('there is no session "a"');
    await expect(sessions.fork(agentOn(store), "a")).rejects.toThrow('there is no session "a"');
    const without = createAgent({ model: custom(() => "Hi") });
    await expect(without.readChat("a")).rejects.toMatchObject({ code: "config_missing" });
  });

  it("keep the changes of many processes at the same moment", async () => {
    const store = memoryStore();
    const slow: Store = {
      load: async (key) => (await null, store.load(key)),
      append: async (...args) => (await null, store.append(...args)),
    };
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => sessionsOf(slow).open(agentOn(slow), `session ${at}`)),
    );
    expect(await sessionsOf(slow).list()).toHaveLength(12);
  });
});
