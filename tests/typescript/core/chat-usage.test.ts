// The tokens and the money of a chat, over its runs and its processes.
import { describe, expect, it } from "vitest";
import { createAgent, custom } from "looplet";
import type { Agent, AgentOptions, Store } from "looplet";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { nextTask } from "../support/fake-driver.js";

/** A model that reads 10 tokens and writes one, at a dollar for a million tokens. */
const answers = () =>
  custom(
    () => [
      { type: "text", text: "Hi." },
      { type: "usage", inputTokens: 10, outputTokens: 1 },
    ],
    {
      price: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 },
    },
  );

/** The usage of this number of answers. */
const of = (answers: number) =>
  expect.objectContaining({
    inputTokens: 10 * answers,
    outputTokens: answers,
    costNanoUsd: 11_000 * answers,
    costUsd: 0.000011 * answers,
  });

/** A process that is cut off must not hold its run. */
const shared = ({ append, load }: Store): Store => ({ append, load });

const agentOn = (store: Store, options: Partial<AgentOptions> = {}): Agent =>
  createAgent({ model: answers(), store: shared(store), ...options });

describe("the usage of a chat", () => {
  it("grows with each run, and goes on over a reset", async () => {
    const chat = createAgent({ model: answers() }).chat();
    expect(chat.usage).toBeNull();
    const first = await chat.run("One.").result;
    expect([first.usage!.inputTokens, chat.usage]).toEqual([10, of(1)]);
    const second = await chat.run("Two.").result;
    expect([second.usage!.inputTokens, second.chatUsage, chat.usage]).toEqual([10, of(2), of(2)]);
    chat.reset();
    expect(chat.usage).toEqual(of(2));
    const { messages, subagents, usage } = chat;
    const saved = JSON.parse(JSON.stringify({ messages, subagents, usage })) as object;
    const other = createAgent({ model: answers() }).chat(saved);
    expect(other.usage).toEqual(of(2));
    await other.run("Three.").result;
    expect(other.usage).toEqual(of(3));
  });

  it("is there again in another process, by openChat, readChat and a list of sessions", async () => {
    const store = memoryStore();
    const sessions = sessionsOf(shared(store));
    const first = await sessions.open(agentOn(store), undefined);
    await first.run("One.").result;
    await first.run("Two.").result;
    first.reset([]);
    await first.run("Three.").result;
    await first.saved();
    const id = first.id!;
    expect((await agentOn(store).readChat(id))!.usage).toEqual(of(3));
    const second = await sessions.open(agentOn(store), id);
    expect(second.usage).toEqual(of(3));
    await second.run("Four.").result;
    await second.saved();
    expect((await agentOn(store).openChat(id)).usage).toEqual(of(4));
    second.reset();
    await second.saved();
    expect((await agentOn(store).openChat(id)).usage).toEqual(of(4));
  });

  it("has the answers of a run that was cut off, and each of them once when that has gone on", async () => {
    const store = memoryStore();
    const chat = await agentOn(store).openChat("c");
    await chat.run("One.").result;
    await chat.saved();
    const tool = {
      description: "Reads.",
      inputSchema: { type: "object" } as const,
      readOnly: true,
    };
    const model = custom(
      ({ messages }) => [
        messages.at(-1)!.content[0]!.type === "tool_result"
          ? { type: "text", text: "Done." }
          : { type: "tool_call", id: "r", name: "read", input: {} },
        { type: "usage", inputTokens: 10, outputTokens: 1 },
      ],
      { price: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
    );
    const reading = (execute: () => unknown) =>
      agentOn(store, { model, tools: { read: { ...tool, execute } } }).openChat("c");
    const cut = (await reading(() => new Promise(() => {}))).run("Two.");
    for await (const { type } of cut.events({ detached: true })) if (type === "tool-call") break;
    for (let task = 0; task < 5; task++) await nextTask();
    await cut.saved();
    expect((await agentOn(store).readChat("c"))!.usage).toEqual(of(2));
    const again = await reading(() => "42");
    expect(again.usage).toEqual(of(2));
    const result = await again.current!.result;
    expect([result.usage!.inputTokens, again.usage]).toEqual([20, of(3)]);
    cut.abort();
  });

  it("stays as it is when a run fails before the engine has it", async () => {
    const chat = createAgent({ model: answers() }).chat({ usage: null });
    await chat.run("One.").result;
    const stopped = new AbortController();
    stopped.abort();
    const { chatUsage } = await chat.run("Two.", { signal: stopped.signal }).result;
    expect([chatUsage, chat.usage]).toEqual([of(1), of(1)]);
  });

  it("belongs to the chat alone", async () => {
    const agent = createAgent({ model: answers() });
    const refused = (code: string, field: string) => expect.objectContaining({ code, field });
    expect(() => agent.chat({ usage: 7 as never })).toThrow(refused("config_wrong_type", "chatUsage"));
    expect(() => agent.chat().run("One.", { chatUsage: null } as object)).toThrow(
      refused("config_unknown_option", "chatUsage"),
    );
  });
});
