import { describe, expect, it } from "vitest";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { anthropic } from "../../../src/typescript/core/models/models.js";
import type { Chat, Message } from "../../../src/typescript/core/api/index.js";
import { FakeEngine } from "../support/fake-driver.js";

const history: Message[] = [{ role: "user", content: [{ type: "text", text: "before" }] }];
const asked: Message[] = [{ role: "user", content: [{ type: "text", text: "asked" }] }];

function begin(messages?: Message[]): { engine: FakeEngine; chat: Chat } {
  const engine = new FakeEngine();
  const agent = agentOn(engine.load, { model: anthropic("m", { apiKey: "k" }) });
  return { engine, chat: agent.chat(messages === undefined ? {} : { messages }) };
}

describe("a chat", () => {
  it("starts each run on the transcript of the last", async () => {
    const { engine, chat } = begin(history);
    const run = chat.run("one");
    expect(chat.current).toBe(run);
    const first = await engine.driver();
    expect(first.options["messages"]).toEqual(history);
    first.end({ outcome: "completed" });
    await run.result;
    expect(chat.messages).toEqual(asked);
    chat.run("two");
    expect((await engine.driver()).options["messages"]).toEqual(asked);
  });

  it("hands what its subagents remember from run to run", async () => {
    const { engine, chat } = begin();
    const run = chat.run("one");
    const first = await engine.driver();
    expect(first.options["subagents"]).toBeUndefined();
    first.end({ outcome: "completed" });
    const { subagents } = await run.result;
    expect(subagents).toHaveLength(1);
    expect(chat.subagents).toEqual(subagents);
    const next = chat.run("two");
    const second = await engine.driver();
    expect(second.options["subagents"]).toEqual(subagents);
    second.end({ outcome: "completed" });
    await next.result;
    chat.reset();
    expect(chat.subagents).toEqual([]);
  });

  it.each([
    [{}, "subagents"],
    [[{}], "subagents[0]"],
    [[{ agentPath: "root/a" }], "subagents[0].messages"],
    [[{ agentPath: "root/a", messages: [{ role: "x" }] }], "subagents[0].messages[0]"],
  ])("refuses %j as a memory", (subagents, field) => {
    const agent = agentOn(new FakeEngine().load, { model: anthropic("m", { apiKey: "k" }) });
    for (const start of [
      () => agent.run("one", { subagents } as never),
      () => agent.chat({ subagents } as never),
    ])
      expect(start).toThrow(expect.objectContaining({ field }));
  });

  it("refuses a second run while one goes on, and takes it right after an abort", async () => {
    const { engine, chat } = begin();
    const run = chat.run("one");
    await engine.driver();
    expect(() => chat.run("two")).toThrow(expect.objectContaining({ code: "misuse_chat_busy" }));
    expect(() => chat.reset()).toThrow(expect.objectContaining({ code: "misuse_chat_busy" }));
    run.abort();
    expect(chat.current).toBeUndefined();
    expect(chat.messages).toEqual(asked);
    expect(() => chat.run("two")).not.toThrow();
  });

  it("stays free after a run that was refused", () => {
    const { chat } = begin();
    expect(() => chat.run("")).toThrow(expect.objectContaining({ code: "misuse_empty_prompt" }));
    expect(() => chat.run("one")).not.toThrow();
  });

  it("forgets or replaces its transcript", () => {
    const { chat } = begin(history);
    chat.reset();
    expect(chat.messages).toEqual([]);
    chat.reset(history);
    expect(chat.messages).toEqual(history);
  });

  it("checks the options of its runs as an agent does", () => {
    const { chat } = begin();
    expect(() => chat.run("one", null as never)).toThrow(expect.objectContaining({ field: "options" }));
    expect(() => chat.run("one", { onTxt: () => {} } as object)).toThrow(/did you mean onText/);
    expect(() => chat.run("one")).not.toThrow();
  });

  it("says where a run's messages belong", () => {
    expect(() => begin().chat.run("one", { messages: [] } as object)).toThrow(/chat\.reset\(messages\)/);
  });
});
