// Chats that are kept in a store, opened in one process after the other.
import { describe, expect, it } from "vitest";
import { createAgent, custom, handoff, StoreConflict, subagent, tool } from "looplet";
import type { AgentOptions, Chat, JournalEntry, Message, RunEvent, Store } from "looplet";
import { fork, recorder, replay } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { nextTask } from "../support/fake-driver.js";

type Step = Awaited<ReturnType<Parameters<typeof custom>[0]>>;

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

const textOf = ({ content }: Message): string =>
  content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");

/**
 * A process: an agent of its own. Its model reads first when it is asked for one, pays first when it is asked for
 * two, and then says what it was asked.
 */
function process(store: Store | undefined, effects: string[] = [], options: Partial<AgentOptions> = {}) {
  const asked: Message[][] = [];
  const model = custom(({ messages }): Step => {
    asked.push(structuredClone(messages) as Message[]);
    const { role, content } = messages.at(-1)!;
    const prompts = messages.filter(({ role, content }) => role === "user" && content[0]!.type === "text");
    const said = textOf(prompts.at(-1) as Message);
    const isAnswered = role === "user" && content[0]!.type === "tool_result";
    const id = `c${messages.length}`;
    if (!isAnswered && said.includes("one"))
      return [{ type: "tool_call", id, name: "read", input: { n: 1 } }];
    if (!isAnswered && said.includes("two")) return [{ type: "tool_call", id, name: "pay", input: { n: 2 } }];
    return `Done: ${said}`;
  });
  const acts = (name: string, readOnly: boolean) =>
    tool({
      description: name,
      inputSchema: schema,
      readOnly,
      execute: (_, { toolCallId }) => {
        effects.push(name);
        return `output of ${toolCallId}`;
      },
    });
  const agent = createAgent({
    model,
    tools: { read: acts("read", true), pay: acts("pay", false) },
    durable: {
      reconcile: ({ toolCallId }) =>
        effects.includes("pay") ? { outcome: "done", output: `output of ${toolCallId}` } : { outcome: "run" },
    },
    ...(store === undefined ? {} : { store: withoutLeases(store) }),
    ...options,
  });
  return { agent, asked };
}

/** A process that is cut off must not hold its run. */
function withoutLeases(store: Store): Store {
  return { append: (...args) => store.append(...args), load: (key) => store.load(key) };
}

async function say(chat: Chat, ...prompts: string[]): Promise<void> {
  for (const prompt of prompts) expect(await chat.run(prompt).result).toMatchObject({ outcome: "completed" });
}

/** All prefixes that a store had, one for each append. */
function watched(): { store: Store; seen: JournalEntry[][] } {
  const inner = memoryStore();
  const seen: JournalEntry[][] = [];
  const append: Store["append"] = async (key, entries, expectedSeq) => {
    await inner.append(key, entries, expectedSeq);
    seen.push([...((await inner.load(key)) ?? [])]);
  };
  return { seen, store: { load: inner.load, append } };
}

async function storeOf(entries: readonly JournalEntry[]): Promise<Store> {
  const store = memoryStore();
  await store.append("c", entries, 0);
  return store;
}

describe("a chat in a store", () => {
  it("is opened by another process after any save of any run, and goes on without a second payment", async () => {
    const { store, seen } = watched();
    const chat = await process(store).agent.openChat("c");
    await say(chat, "Do one.", "Do two.", "Do three.");
    await chat.saved();
    const runs = seen.map((entries) => entries.filter(({ json }) => json.includes('"begun":')).length);
    expect(runs.at(-1)).toBe(3);
    let goesOn = 0;
    for (const [at, entries] of seen.entries()) {
      const isStarted = entries.some(({ json }) => /"toolName":"pay".*"started":/.test(json));
      const effects = isStarted ? ["pay"] : [];
      const again = await process(await storeOf(entries), effects).agent.openChat("c");
      const run = again.current;
      if (run !== undefined) {
        goesOn++;
        expect(await run.result).toMatchObject({ outcome: "completed" });
      }
      await say(again, ...["Do two.", "Do three."].slice(runs[at]! - 1));
      expect(again.messages).toEqual(chat.messages);
      expect(effects.filter((name) => name === "pay")).toHaveLength(1);
    }
    expect(goesOn).toBeGreaterThan(seen.length / 2);
    expect(goesOn).toBeLessThan(seen.length);
  });

  it("has its transcript, its id and the ids of its runs in every process", async () => {
    const store = memoryStore();
    const first = await process(store).agent.openChat("c");
    expect([first.id, first.messages, first.current]).toEqual(["c", [], undefined]);
    await say(first, "Do one.");
    const hanging = custom(() => new Promise<Step>(() => {}));
    const second = await process(store, [], { model: hanging }).agent.openChat("c");
    expect(second.messages).toEqual(first.messages);
    const cut = second.run("Do three.");
    await cut.saved();
    const { agent, asked } = process(store);
    const events: string[] = [];
    const third = await agent.openChat("c", { onEvent: ({ type }) => void events.push(type) });
    expect(third.current!.id).toBe(cut.id);
    expect(third.messages.map(textOf).at(-1)).toBe("Do three.");
    const looped: string[] = [];
    for await (const { type } of third.current!) looped.push(type);
    expect(looped).toEqual(events);
    expect(events[0]).toBe("run-start");
    expect(third.messages.map(textOf).at(-1)).toBe("Done: Do three.");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toEqual([...first.messages, ...third.messages.slice(first.messages.length, -1)]);
    cut.abort();
  });

  it("tells the process that comes too late", async () => {
    const store = memoryStore();
    const one = await process(store).agent.openChat("c");
    await say(one, "Do three.");
    const two = await process(store).agent.openChat("c");
    await say(two, "Do four.");
    const late = await one.run("Do five.").result;
    expect(late).toMatchObject({
      outcome: "cancelled",
      abortReason: "another process goes on with this run",
    });
    const { messages } = await process(store).agent.openChat("c");
    expect(messages).toEqual(two.messages);
  });

  it("asks no model while another process is in a run, or has gone on", async () => {
    const store = memoryStore();
    let free!: () => void;
    const waiting = new Promise<string>((resolve) => (free = () => resolve("Done.")));
    const { agent, asked } = process(undefined, [], { store });
    const one = await agent.openChat("c");
    await say(one, "Do three.");
    const busy = process(undefined, [], { store, model: custom(() => waiting) });
    const two = await busy.agent.openChat("c");
    const run = two.run("Do four.");
    await nextTask();
    const refused = { outcome: "failed", error: { code: "run_held" } };
    const held = await one.run("Do five.").result;
    expect(held).toMatchObject(refused);
    const opened = await process(undefined, [], { store }).agent.openChat("c");
    for (const { error } of [held, await opened.current!.result]) {
      expect(error!.message).toContain('performs a run of the chat "c"');
      expect(error!.message).toContain('agent.openChat("c", { takeOver: true })');
      expect(error!.message).not.toContain("agent.resume");
    }
    free();
    expect(await run.result).toMatchObject({ outcome: "completed" });
    const moved = await one.run("Do six.").result;
    expect(moved).toMatchObject(refused);
    expect(moved.error!.message).toContain('Open it again with agent.openChat("c")');
    expect(asked).toHaveLength(1);
    const again = await process(undefined, [], { store }).agent.openChat("c");
    await say(again, "Do seven.");
    expect(again.messages.map(textOf)).toEqual([
      "Do three.",
      "Done: Do three.",
      "Do four.",
      "Done.",
      "Do seven.",
      "Done: Do seven.",
    ]);
  });

  it("remembers subagents and the agent that spoke last", async () => {
    const store = memoryStore();
    const open = () => {
      const model = custom(({ messages, tools }): Step => {
        const said = textOf(messages.at(-1)!);
        const [name] = (tools ?? []).map(({ name }) => name);
        if (name === "keeper" && said === "keep")
          return [{ type: "tool_call", id: "k", name, input: { prompt: "Hear!" } }];
        if (said === "hand over") return [{ type: "tool_call", id: "h", name: "expert", input: {} }];
        return `${name ?? "somebody"} has ${messages.length}`;
      });
      const keeper = subagent({ description: "Keeps.", persistent: true, system: "Keep." });
      const expert = handoff({
        description: "Knows.",
        system: "Know.",
        tools: { dig: tool({ description: "Digs.", inputSchema: schema, execute: () => "" }) },
      });
      return createAgent({ model, store, tools: { keeper, expert } }).openChat("c");
    };
    let chat = await open();
    await say(chat, "keep");
    chat = await open();
    expect(chat.subagents).toMatchObject([{ agentPath: "root/keeper" }]);
    await say(chat, "keep");
    expect(chat.subagents[0]!.messages).toHaveLength(4);
    chat = await open();
    await say(chat, "hand over");
    const { agent } = await (await open()).run("Who is it?").result;
    expect(agent).toBe("root/expert");
    chat = await open();
    expect(textOf(chat.messages.at(-1)!)).toMatch(/^dig has/);
    expect(chat.subagents[0]!.messages).toHaveLength(4);
  });

  it("keeps a reset at once, and a history that begins it", async () => {
    const store = memoryStore();
    const chat = await process(store).agent.openChat("c");
    await say(chat, "Do one.");
    chat.reset();
    await chat.saved();
    const { agent, asked } = process(store);
    const again = await agent.openChat("c");
    expect([again.messages, again.current]).toEqual([[], undefined]);
    const history: Message[] = [
      { role: "user", content: [{ type: "text", text: "Earlier." }] },
      { role: "assistant", content: [{ type: "text", text: "Yes." }] },
    ];
    again.reset(history);
    // The reset and the run behind it are written in their order.
    const run = again.run("Do four.");
    await run.result;
    expect(asked[0]!.slice(0, 2)).toEqual(history);
    await again.saved();
    expect((await process(store).agent.openChat("c")).messages).toEqual(again.messages);
    const fresh = await process(store).agent.openChat("d");
    fresh.reset();
    await fresh.saved();
    expect(await store.load("d")).toBeUndefined();
    fresh.reset(history);
    await fresh.saved();
    expect((await process(store).agent.openChat("d")).messages).toEqual(history);
    const orphan = { type: "tool_result", callId: "x", content: [] as never[] } as const;
    expect(() => fresh.reset([{ role: "user", content: [orphan] }])).toThrow(
      expect.objectContaining({ code: "config_invalid_value" }),
    );
    expect(fresh.messages).toEqual(history);
  });

  it("keeps a run that was aborted in the middle of its calls, with what had come", async () => {
    const store = memoryStore();
    let run: ReturnType<Chat["run"]> | undefined;
    const tools = {
      read: tool({ description: "Reads.", inputSchema: schema, readOnly: true, execute: () => "read" }),
      pay: tool({
        description: "Pays.",
        inputSchema: schema,
        readOnly: true,
        execute: async () => {
          await nextTask();
          run!.abort("enough");
          return "paid";
        },
      }),
    };
    const both = ["read", "pay"].map((name) => ({ type: "tool_call" as const, id: name, name, input: {} }));
    const model = custom(({ messages }): Step => (messages.length === 1 ? both : "Done."));
    const open = () => createAgent({ model, tools, store }).openChat("c");
    const chat = await open();
    run = chat.run("Go.");
    expect((await run.result).outcome).toBe("cancelled");
    const again = await open();
    expect(again.current).toBeUndefined();
    expect(again.messages).toEqual(chat.messages);
    expect(JSON.stringify(again.messages)).toContain('"read"');
    await say(again, "Go on.");
    expect((await open()).messages).toEqual(again.messages);
  });

  it("brings what the store has missed into it with a later run", async () => {
    const inner = memoryStore();
    let isDown = false;
    const store: Store = {
      load: inner.load,
      append(key, entries, expectedSeq) {
        if (isDown) throw new Error("disk full");
        return inner.append(key, entries, expectedSeq);
      },
    };
    const clock = {
      now: () => 1,
      setTimer: (due: () => void) => setTimeout(due, 0),
      clearTimer: (timer: unknown) => clearTimeout(timer as never),
    };
    const chat = await process(store, [], { clock }).agent.openChat("c");
    await say(chat, "Do three.");
    isDown = true;
    const errors: unknown[] = [];
    const missed = chat.run("Do four.", { onError: (error) => errors.push(error) });
    await missed.result;
    await expect(missed.saved()).rejects.toThrow("disk full");
    const before = errors.length;
    await expect(chat.saved()).rejects.toThrow("disk full");
    // It has tried once more.
    expect(errors).toHaveLength(before + 1);
    isDown = false;
    await say(chat, "Do five.");
    await chat.saved();
    expect((await process(store).agent.openChat("c")).messages).toEqual(chat.messages);
    expect(errors).toHaveLength(before + 1);
  });

  it("writes as many bytes with each run, however long it is", async () => {
    const store = memoryStore();
    const { agent } = process(store);
    const sizes: number[] = [];
    let before = 0;
    for (let run = 0; run < 12; run++) {
      const chat = run % 2 === 0 ? await agent.openChat("c") : chatBefore!;
      await say(chat, "Do one.");
      await chat.saved();
      const size = (await store.load("c"))!.reduce((sum, { json }) => sum + json.length, 0);
      sizes.push(size - before);
      before = size;
      var chatBefore: Chat | undefined = chat;
    }
    expect(sizes[11]! / sizes[1]!).toBeLessThan(1.05);
  });

  it("asks the hooks of a session once for each process, and not behind a run that goes on", async () => {
    const store = memoryStore();
    const sources: string[] = [];
    const ends: string[] = [];
    const hooks: AgentOptions["hooks"] = {
      SessionStart: [{ hooks: [({ source }) => void sources.push(source)] }],
      SessionEnd: [{ hooks: [({ reason }) => void ends.push(reason)] }],
    };
    const first = await process(store, [], { hooks }).agent.openChat("c");
    await say(first, "Do three.", "Do four.");
    const second = await process(store, [], { hooks }).agent.openChat("c");
    const model = custom(() => new Promise<Step>(() => {}));
    const cut = await process(store, [], { hooks, model }).agent.openChat("c");
    for await (const { type } of cut.run("Do five.").events({ detached: true }))
      if (type === "iteration-start") break;
    await cut.saved();
    expect(sources).toEqual(["startup", "resume"]);
    const third = await process(store, [], { hooks }).agent.openChat("c");
    await third.current!.result;
    await say(third, "Do six.");
    expect(sources).toEqual(["startup", "resume"]);
    third.reset();
    await say(third, "Do seven.");
    expect(sources).toEqual(["startup", "resume", "clear"]);
    third.close();
    expect(ends).toEqual(["clear", "close"]);
    expect(() => third.run("Do eight.")).toThrow(expect.objectContaining({ code: "misuse_chat_closed" }));
    second.close();
    expect(ends).toHaveLength(2);
    expect((await process(store).agent.openChat("c")).messages).toEqual(third.messages);
  });

  it("has saved a prompt whose hooks answer meanwhile", async () => {
    const hooks: AgentOptions["hooks"] = { SessionStart: [{ hooks: [() => {}] }] };
    const chat = await process(memoryStore(), [], { hooks }).agent.openChat("c");
    const run = chat.run("Do three.");
    expect(await run.saved()).toBeUndefined();
    expect((await run.result).outcome).toBe("completed");
  });

  it("goes on as a chat where a run with this id has begun", async () => {
    const store = memoryStore();
    const run = process(store).agent.run("Do one.", { id: "c" });
    const { messages } = await run.result;
    await run.saved();
    const chat = await process(store).agent.openChat("c");
    expect(chat.messages).toEqual(messages);
    await say(chat, "Do two.");
    const again = process(store).agent.resume("c");
    expect((await again.result).messages).toEqual(chat.messages);
  });

  it("has runs that are recorded each by itself", async () => {
    const store = memoryStore();
    const { agent } = process(store, [], { record: recorder() });
    const chat = await agent.openChat("c");
    await say(chat, "Do one.");
    const run = chat.run("Do two.");
    const { messages } = await run.result;
    const file = run.export();
    const { steps } = await replay(file);
    const journal = await fork(file, steps.length - 1);
    expect((await process(memoryStore()).agent.resume(journal).result).messages).toEqual(messages);
  });

  it("takes no event of the run that goes on from a loop that begins at once", async () => {
    const store = memoryStore();
    const model = custom(() => new Promise<Step>(() => {}));
    const cut = await process(store, [], { model }).agent.openChat("c");
    await cut.run("Do one.").saved();
    const open = async () => {
      const chat = await process(store).agent.openChat("c");
      return { chat };
    };
    const events: RunEvent["type"][] = [];
    const { chat } = await open();
    for await (const event of chat.current!) events.push(event.type);
    expect(events[0]).toBe("run-start");
    expect(events).toContain("tool-result");
  });

  it("says what it cannot open", async () => {
    const { agent } = process(memoryStore());
    const refused = (code: string) => expect.objectContaining({ code });
    await expect(process(undefined).agent.openChat("c")).rejects.toEqual(refused("config_missing"));
    await expect(agent.openChat("")).rejects.toEqual(refused("config_invalid_value"));
    await expect(agent.openChat(7 as never)).rejects.toEqual(refused("config_wrong_type"));
    await expect(agent.openChat("c", { id: "d" } as object)).rejects.toEqual(
      refused("config_unknown_option"),
    );
    expect(() => agent.chat({ id: "c" } as object)).toThrow(/await agent\.openChat\(id\)/);
    const newer = [
      { seq: 1, json: '{"seq":1,"agent":0,"fact":{"begun":{"format":99}}}' },
      { seq: 2, json: '{"seq":2,"agent":0,"fact":{"run":{}}}' },
    ];
    await expect(process(await storeOf(newer)).agent.openChat("c")).rejects.toThrow(
      /newer version of looplet/,
    );
    const down: Store = { load: () => Promise.reject(new Error("no network")), append: () => {} };
    await expect(process(down).agent.openChat("c")).rejects.toThrow("no network");
    const taken: Store = {
      load: () => undefined,
      append: () => Promise.reject(new StoreConflict("taken")),
    };
    const chat = await process(taken).agent.openChat("c");
    expect(await chat.run("Do three.").result).toMatchObject({ outcome: "cancelled" });
  });
});

describe("the requests of a chat", () => {
  it("are those that its runs have taken, in every process", async () => {
    const store = memoryStore();
    const chat = await process(store).agent.openChat("a");
    const queued = (request: string): unknown => chat.current!.steer("More.", { requestId: request });
    expect(chat.hasTaken("r1")).toBe(false);
    const run = chat.run("First.", { id: "r1" });
    queued("r2");
    expect(["r1", "r2", "r3"].map((request) => chat.hasTaken(request))).toEqual([true, true, false]);
    await run.result;
    await chat.run("Second.", { id: "r3" }).result;
    await chat.saved();
    const other = await process(store).agent.openChat("a");
    for (const opened of [chat, other])
      expect(["r1", "r2", "r3", "r4"].map((request) => opened.hasTaken(request))).toEqual([
        true,
        true,
        true,
        false,
      ]);
    expect(process(store).agent.chat().hasTaken("r1")).toBe(false);
    expect(() => chat.hasTaken("")).toThrow(/^requestId: /);
  });

  it("are not those of a run that could not begin", async () => {
    const held = { ...memoryStore(), lease: () => undefined };
    const chat = await process(undefined, [], { store: held }).agent.openChat("a");
    expect(await chat.run("First.", { id: "r1" }).result).toMatchObject({ outcome: "failed" });
    expect(chat.hasTaken("r1")).toBe(false);
  });
});
