import { expect, it, vi } from "vitest";
import { anthropic, createAgent, type AgentOptions, type Message, type RunEvent } from "looplet";
import { scripted } from "looplet/practice";
import { memoryStore } from "looplet/stores";

type Turns = Parameters<typeof scripted>[0];

const said = (role: Message["role"], text: string): Message => ({ role, content: [{ type: "text", text }] });

/** A history of four questions with long answers. */
const history = ["One", "Two", "Three", "Four"].flatMap((word) => [
  said("user", `${word}?`),
  said("assistant", `${word}! ${"…".repeat(400)}`),
]);

function agentOn(turns: Turns, more: Partial<AgentOptions> = {}) {
  const fetch = scripted(turns);
  const model = anthropic("claude-sonnet-4-6", { apiKey: "k", fetch });
  return { agent: createAgent({ model, context: { compaction: { keepLast: 1 } }, ...more }), fetch };
}

it("summarises a chat without asking anything else, and the chat goes on from the summary", async () => {
  const { agent, fetch } = agentOn([{ text: "They counted." }, { text: "Five." }]);
  const chat = agent.chat({ messages: history });
  const events: RunEvent[] = [];
  const compact = chat.compact({ instructions: "Keep numbers.", onEvent: (event) => events.push(event) });
  expect(await compact.result).toMatchObject({ outcome: "completed", text: "", iterations: 0 });
  expect(fetch.requests).toHaveLength(1);
  expect(fetch.requests[0]!.bodyText).toContain("Keep numbers.");
  expect(events.map(({ type }) => type)).not.toContain("iteration-start");
  expect(events).toContainEqual(expect.objectContaining({ type: "compact-boundary", trigger: "manual" }));
  expect(chat.messages.slice(0, 6)).toEqual(history.slice(0, 6));
  expect(chat.messages.length).toBeGreaterThanOrEqual(history.length);
  expect(JSON.stringify(chat.messages)).toContain("[Context summary: They counted.]");
  await chat.run("Go on").result;
  expect(fetch.requests[1]!.bodyText).toContain("They counted.");
  expect(fetch.requests[1]!.bodyText).not.toContain("Two!");
});

it("changes nothing where there is nothing to summarise", async () => {
  const { agent, fetch } = agentOn([]);
  const chat = agent.chat({ messages: history.slice(0, 2) });
  expect(await chat.compact().result).toMatchObject({ outcome: "completed", iterations: 0 });
  expect(chat.messages).toEqual(history.slice(0, 2));
  expect(fetch.requests).toEqual([]);
  expect((await agent.chat().compact().result).outcome).toBe("completed");
});

it("takes the built-in summary where the model writes none, and an abort leaves the history alone", async () => {
  const failing = agentOn([{ status: 400 }]);
  const chat = failing.agent.chat({ messages: history });
  expect((await chat.compact().result).outcome).toBe("completed");
  expect(
    chat.messages.filter((message) => JSON.stringify(message).includes("User asked: One?")),
  ).toHaveLength(1);
  const aborted = agentOn([{ text: "never" }]).agent.chat({ messages: history });
  const run = aborted.compact();
  run.abort("enough");
  expect(await run.result).toMatchObject({ outcome: "cancelled" });
  expect(aborted.messages).toEqual(history);
});

it("asks the hooks, and the guardrail about what is left, as any summary does", async () => {
  const order: string[] = [];
  const { agent } = agentOn([{ text: "They counted." }], {
    hooks: {
      SessionStart: [{ hooks: [() => void order.push("SessionStart")] }],
      PreCompact: [{ hooks: [({ trigger }) => void order.push(`PreCompact ${trigger}`)] }],
      PostCompact: [{ hooks: [() => void order.push("PostCompact")] }],
      Stop: [{ hooks: [() => void order.push("Stop")] }],
    },
  });
  await agent.chat({ messages: history }).compact().result;
  expect(order).toEqual(["PreCompact manual", "PostCompact"]);
});

it("goes on in another process when the first one was lost in the middle", async () => {
  const store = memoryStore();
  const first = agentOn([{ text: "One!" }, { text: "Two!" }], { store });
  const chat = await first.agent.openChat("c");
  for (const prompt of ["One?", "Two?"]) await chat.run(`${prompt} ${"x".repeat(400)}`).result;
  await chat.saved();
  const asked = vi.fn(() => new Promise<never>(() => {}));
  const hanging = anthropic("claude-sonnet-4-6", { apiKey: "k", fetch: asked });
  const cut = createAgent({ model: hanging, context: { compaction: { keepLast: 1 } }, store });
  const lost = (await cut.openChat("c", { takeOver: true })).compact();
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  await lost.saved();
  const next = agentOn([{ text: "They counted." }], { store });
  const opened = await next.agent.openChat("c", { takeOver: true });
  expect(await opened.current?.result).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(opened.messages)).toContain("[Context summary: They counted.]");
  expect(next.fetch.requests).toHaveLength(1);
  lost.abort();
  await lost.result;
});
