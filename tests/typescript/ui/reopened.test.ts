// A conversation that another page opens: it shows all that was said, as the page before has shown it.
import { describe, expect, it } from "vitest";
import {
  createAgent,
  custom,
  subagent,
  tool,
  type Agent,
  type AgentOptions,
  type Message,
  type Store,
} from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { viewOfTranscripts, type UiMessage, type UiPart } from "looplet/ui";
import { connectAgent } from "looplet/workers";
import { Screen } from "./kit.js";

/** A prompt such as "read, helper" makes the calls of these names, a round for each. A helper digs once a prompt. */
async function* answer({ messages }: { readonly messages: readonly Message[] }) {
  const isPrompt = ({ role, content }: Message): boolean =>
    role === "user" && content.some(({ type }) => type === "text");
  const at = messages.map(isPrompt).lastIndexOf(true);
  const text = messages[at]!.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const names = text.slice(text.lastIndexOf("Do: ") + 4).split(", ");
  const calls = messages
    .slice(at)
    .flatMap(({ content }) => content.filter(({ type }) => type === "tool_call"));
  const name = names[calls.length];
  yield { type: "reasoning", text: `What comes after ${calls.length}?` } as const;
  yield name === undefined ? `Done with ${names.join(" and ")}.` : `Now ${name}.`;
  if (name === undefined) return;
  const id = `${name} ${messages.length} ${JSON.stringify(messages).length}`;
  const input = name.startsWith("helper") || name === "clerk" ? { prompt: "Do: dig, dig" } : {};
  yield { type: "tool_call", id, name, input } as const;
}

function agentOf(options: Partial<AgentOptions>): Agent {
  const acts = (name: string) =>
    tool({
      description: name,
      inputSchema: { type: "object" },
      execute: () =>
        name === "fail" ? Promise.reject(new Error("no paper")) : { name, rows: "x".repeat(400) },
    });
  const tools = { dig: acts("dig") };
  return createAgent({
    model: custom(answer),
    tools: {
      read: acts("read"),
      fail: acts("fail"),
      helper: subagent({ description: "helps", tools }),
      clerk: subagent({ description: "remembers", tools, persistent: true }),
    },
    ...options,
  });
}

/**
 * What a page draws of these messages. The facts of a compaction are the summary alone in a page that reads them, and
 * one without a summary is not kept.
 */
function drawn(messages: readonly UiMessage[]): unknown {
  const of = (part: UiPart): unknown => {
    if (part.type === "compaction") return part.trigger === "pruning" ? [] : { type: part.type };
    if (part.type !== "tool" || part.agent === undefined) return part;
    return { ...part, agent: { ...part.agent, parts: part.agent.parts.flatMap(of) } };
  };
  return messages.map((message) => ({ ...message, parts: message.parts.flatMap(of) }));
}

async function opened(store: Store) {
  const screen = new Screen(agentOf({ store }), { id: "c", store });
  await screen.rest();
  return { conversation: screen.conversation, rest: () => screen.rest(), now: () => screen.now };
}

const TURNS = ["Do: read, helper", "Do: fail, clerk", "Do: clerk, helper, helper", "Do: read, fail, read"];

describe("a conversation that is opened again", () => {
  for (const [name, context, boundaries] of [
    ["with its subagents", {}, 0],
    ["with the messages that a short history has cut off", { maxChars: 1500 }, 1],
    [
      "with the calls that were cut short for the model",
      { pruning: { afterResponses: 1, prefixChars: 4 } },
      1,
    ],
  ] as const)
    it(`shows what it showed before, ${name}`, async () => {
      const store = memoryStore();
      const agent = agentOf({ store, context: context as never });
      const before = new Screen(agent, { id: "c" });
      await before.rest();
      for (const turn of TURNS) {
        await before.conversation.send(turn);
        await before.rest();
        const after = new Screen(agentOf({ store, context: context as never }), { id: "c" });
        await after.rest();
        expect(drawn(after.now.messages)).toEqual(drawn(before.now.messages));
        after.leave();
      }
      const parts = before.now.messages.flatMap((message) => message.parts);
      expect(parts.filter(({ type }) => type === "compaction").length).toBeGreaterThanOrEqual(boundaries);
      const agents = parts.flatMap((part) => (part.type === "tool" && part.agent ? [part.agent] : []));
      expect(agents.map(({ agentPath }) => agentPath)).toContain("root/clerk");
    });

  it("shows the subagents of a version that is shown again", async () => {
    const store = memoryStore();
    const { conversation, rest, now } = await opened(store);
    await conversation.send("Do: helper");
    const { messages } = await rest();
    await conversation.edit(messages[0]!.id, "Do: read");
    await rest();
    await conversation.select(messages[0]!.id, 1);
    const shown = now().messages.map(({ branch: _, ...message }) => message);
    expect(drawn(shown as UiMessage[])).toEqual(drawn(messages));
  });

  it("shows them behind an address too", async () => {
    const store = memoryStore();
    const agent = agentOf({ store });
    const handle = handler(agent, { store, base: "/agent", authorize: () => "ada" });
    const page = () =>
      connectAgent("https://a.test/agent", { fetch: (url, init) => handle(new Request(url, init)) });
    const before = new Screen(page(), { id: "c" });
    await before.rest();
    await before.conversation.send("Do: helper, read");
    await before.rest();
    const after = new Screen(page(), { id: "c" });
    await after.rest();
    expect(drawn(after.now.messages)).toEqual(drawn(before.now.messages));
  });

  it("is read without opening it", async () => {
    const store = memoryStore();
    const agent = agentOf({ store });
    await (await agent.openChat("c")).run("Do: helper").result;
    const kept = await agent.readChat("c", { transcripts: true });
    expect(kept?.transcripts?.map(({ agentPath, outcome }) => [agentPath, outcome])).toEqual([
      ["root", "completed"],
      ["root/helper", "completed"],
    ]);
    const { messages } = viewOfTranscripts(kept!.transcripts!);
    expect(messages[1]!.parts.map(({ type }) => type)).toEqual([
      "reasoning",
      "text",
      "tool",
      "reasoning",
      "text",
    ]);
    expect(await agent.readChat("c")).not.toHaveProperty("transcripts");
  });
});
