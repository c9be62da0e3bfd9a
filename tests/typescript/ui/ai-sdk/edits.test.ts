/** Messages that a page of `ai` edits in a chat of the store. */
import { describe, expect, it } from "vitest";
import { isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import { memoryStore } from "looplet/stores";
import { agentOf, aiOf, call, chatOf, partsOf, textOf, until, VERSIONS } from "./kit.js";

describe.each(VERSIONS)("a chat of ai %i", (version) => {
  it("edits a message in a store's chat", async () => {
    const store = memoryStore();
    const { agent, asked } = agentOf([{ text: "One." }, { text: "Two." }, { text: "Three." }], { store });
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(agent) });
    await chat.sendMessage({ text: "First?" });
    await chat.sendMessage({ text: "Second?" });
    expect(asked()[1].messages).toHaveLength(3);
    await chat.sendMessage({ text: "Other?", messageId: chat.messages[2].id });
    expect(textOf(chat)).toBe("Three.");
    expect(JSON.stringify(asked()[2].messages)).not.toContain("Second?");
    expect(asked()[2].messages).toHaveLength(3);
    expect(await agent.readChat("chat")).toMatchObject({ isRunning: false });
  });

  it("keeps what the store knows of the messages before an edited one", async () => {
    const store = memoryStore();
    const thinking = { text: "Hm.", signature: "signed" };
    const turns = [{ text: "One.", thinking }, { text: "Two." }, { text: "Three." }];
    const { agent, asked } = agentOf(turns, { store });
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(agent) });
    await chat.sendMessage({ text: "First?" });
    await chat.sendMessage({ text: "Second?" });
    await chat.sendMessage({ text: "Other?", messageId: chat.messages[2].id });
    expect(asked()[2].messages.slice(0, 2)).toEqual(asked()[1].messages.slice(0, 2));
    expect(JSON.stringify(asked()[2].messages)).toContain("signed");
  });
});

it.each([6, 7] as const)(
  "a chat of ai %i shows a denied call as denied, also when a later message was edited and the page loaded again",
  async (version) => {
    const ai = await aiOf(version);
    const { agent } = agentOf(
      [{ toolCalls: [call("book")] }, { text: "As you like." }, { text: "Two." }, { text: "Three." }],
      { store: memoryStore() },
    );
    const transport = new LoopletChatTransport(agent, { version });
    const chat = chatOf(ai, { transport, sendAutomaticallyWhen: isAnswered });
    await chat.sendMessage({ text: "A hotel!" });
    const { approval } = partsOf(chat).find(({ type }) => type === "tool-book");
    await chat.addToolApprovalResponse({ id: approval.id, approved: false, reason: "Too far" });
    await until(() => textOf(chat).includes("As you like.") && chat.status === "ready");
    await chat.sendMessage({ text: "Second?" });
    await chat.sendMessage({ text: "Other?", messageId: chat.messages[2].id });
    const messages = await transport.loadMessages("chat");
    const booking = messages[1]!.parts.find(({ type }) => type === "tool-book");
    expect(booking).toMatchObject({
      state: "output-denied",
      approval: { approved: false, reason: "Too far" },
    });
    await ai.validateUIMessages({ messages });
    await ai.convertToModelMessages(messages);
  },
);
