// `content` of a message may be a text wherever messages are given. What looplet returns has blocks.
import { createAgent, custom, handoff, type AgentOptions, type Message, type MessageInput } from "looplet";
import { memoryStore } from "looplet/stores";
import { conversation, viewOf } from "looplet/ui";
import { describe, expect, it } from "vitest";

const told: MessageInput[] = [
  { role: "user", content: "I am Ada." },
  { role: "assistant", content: "Hello, Ada." },
];

const whole: Message[] = [
  { role: "user", content: [{ type: "text", text: "I am Ada." }] },
  { role: "assistant", content: [{ type: "text", text: "Hello, Ada." }] },
];

/** An agent whose model notes what it gets. */
function setUp(options: Omit<Partial<AgentOptions>, "model"> = {}) {
  const sent: (readonly Message[])[] = [];
  const model = custom(async function* ({ messages, tools }) {
    sent.push(messages);
    const isHandoff = tools.some(({ name }) => name === "billing") && sent.length === 1;
    if (isHandoff) yield { type: "tool_call", id: "c1", name: "billing", input: {} };
    else yield "Ada.";
  });
  return { agent: createAgent({ model, ...options } as AgentOptions), sent };
}

describe("a text as the content of a message", () => {
  it("continues a history in run, and the result has blocks", async () => {
    const { agent, sent } = setUp();
    const { outcome, messages } = await agent.run("Who am I?", { messages: told }).result;
    expect(outcome).toBe("completed");
    expect(sent[0]!.slice(0, 2)).toMatchObject(whole);
    expect(messages.slice(0, 2)).toMatchObject(whole);
  });

  it("is the prompt when the prompt is empty", async () => {
    const { agent, sent } = setUp();
    const { outcome } = await agent.run([], { messages: [...told, { role: "user", content: "Who am I?" }] })
      .result;
    expect(outcome).toBe("completed");
    expect(sent[0]!.at(-1)).toMatchObject({ role: "user", content: [{ type: "text", text: "Who am I?" }] });
  });

  it("begins a chat, replaces its messages, and is not changed in the array that was given", async () => {
    const { agent, sent } = setUp();
    const chat = agent.chat({ messages: told });
    expect(chat.messages).toEqual(whole);
    await chat.run("Who am I?").result;
    chat.reset(told);
    expect(chat.messages).toEqual(whole);
    await chat.run("Who am I?").result;
    expect(sent.map((messages) => messages.length)).toEqual([3, 3]);
    expect(told[0]!.content).toBe("I am Ada.");
  });

  it("replaces the messages of a stored chat", async () => {
    const { agent } = setUp({ store: memoryStore() });
    const chat = await agent.openChat("a");
    chat.reset(told);
    await chat.saved();
    expect((await agent.readChat("a"))?.messages).toEqual(whole);
  });

  it("counts in the bound of a run", async () => {
    const { agent } = setUp({ limits: { maxIterations: 1 } });
    const text = await agent.bound("Who am I?", { messages: told });
    expect(text).toEqual(await agent.bound("Who am I?", { messages: whole }));
  });

  it("is what prepareIteration, a guardrail and a filter of a handoff return", async () => {
    const prepared = setUp({
      prepareIteration: () => ({ messages: [{ role: "user", content: "Prepared." }] }),
    });
    await prepared.agent.run("Hi").result;
    expect(prepared.sent[0]).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Prepared." }] },
    ]);

    const input = () => ({ allowed: true, rewrite: [{ role: "user" as const, content: "Rewritten." }] });

    const inputFilter = () => [{ role: "user" as const, content: "Filtered." }];
    const billing = handoff({ description: "Invoices", system: "You are billing.", inputFilter });
    const handed = setUp({ tools: { billing } });
    const result = await handed.agent.run("Hi").result;
    expect(result.messages).toMatchObject([
      { content: [{ type: "text", text: "Filtered." }] },
      { role: "assistant" },
    ]);
    const guarded = setUp({ guardrails: { input } });
    const { messages } = await guarded.agent.run("Hi").result;
    expect(messages[0]).toMatchObject({ content: [{ type: "text", text: "Rewritten." }] });
  });

  it("is drawn by viewOf and by a conversation", () => {
    const { agent } = setUp();
    expect(viewOf(told).messages).toEqual(viewOf(whole).messages);
    const chat = conversation(agent, { history: { messages: told } });
    const leave = chat.subscribe(() => {});
    expect(chat.getSnapshot().messages).toMatchObject(viewOf(whole).messages);
    leave();
  });

  it("is refused in what is no message, with what a message is", () => {
    const { agent } = setUp();
    for (const messages of [
      [{ role: "system", content: "Be brief." }],
      [{ role: "user", content: 7 }],
      ["Hi"],
    ])
      expect(() => agent.run("Hi", { messages: messages as never })).toThrow(
        /^messages\[0\]: needs \{ role: "user" \| "assistant", content: string \| Block\[\] \}/,
      );
  });
});
