// The chat of `ai` in a page, with the agent in a worker.
import { describe, expect, it } from "vitest";
import { isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import { memoryStore } from "looplet/stores";
import { Place } from "../support/worker-kit.js";
import { agentOf, aiOf, call, chatOf, partsOf, textOf, until, VERSIONS } from "./kit.js";

const turns = [{ text: "I book.", toolCalls: [call("book")] }, { text: "Booked." }];
const openOf = (chat: any): any => partsOf(chat).find(({ state }) => state === "approval-requested");

describe.each(VERSIONS)("a chat of ai %i with an agent in a worker", (version) => {
  it("sends, streams and stops", async () => {
    const { agent } = agentOf([{ text: "It rains." }, { text: "It", stall: true }, { text: "Gone on." }]);
    const place = new Place();
    place.serve(agent);
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(place.connect()) });
    await chat.sendMessage({ text: "Weather?" });
    expect(textOf(chat)).toBe("It rains.");
    const sent = chat.sendMessage({ text: "And tomorrow?" });
    await until(() => chat.messages.length === 4 && textOf(chat) === "It");
    await chat.stop();
    await sent;
    await chat.sendMessage({ text: "Go on." });
    expect([chat.status, textOf(chat)]).toEqual(["ready", "Gone on."]);
  });
});

describe.each([6, 7] as const)("a chat of ai %i with an agent in a worker and a store", (version) => {
  it("shows the run to a page that is loaded again, and takes its approval", async () => {
    const ai = await aiOf(version);
    const { agent, booked, asked } = agentOf(turns, { store: memoryStore() });
    const place = new Place();
    place.serve(agent);
    const first = chatOf(ai, { transport: new LoopletChatTransport(place.connect()) });
    await first.sendMessage({ text: "A hotel!" });
    expect(openOf(first)).toBeDefined();

    const transport = new LoopletChatTransport(place.connect());
    const messages = await transport.loadMessages("chat");
    expect(messages.map(({ role }) => role)).toEqual(["user"]);
    const again = chatOf(ai, { transport, messages, sendAutomaticallyWhen: isAnswered });
    await again.resumeStream();
    expect(textOf(again)).toBe("I book.");
    await again.addToolApprovalResponse({ id: openOf(again).approval.id, approved: true });
    await until(() => textOf(again) === "I book.|Booked." && again.status === "ready");
    expect(again.messages).toHaveLength(2);
    expect([booked, asked().length]).toEqual([["Paris"], 2]);
    await again.resumeStream();
    expect(again.messages).toHaveLength(2);
    const texts = (await transport.loadMessages("chat")).map(({ parts }) => parts.at(-1).text);
    expect(texts).toEqual(["A hotel!", "Booked."]);
  });

  it("takes an approval from a page that has kept its messages", async () => {
    const ai = await aiOf(version);
    const { agent, booked } = agentOf(turns, { store: memoryStore() });
    const place = new Place();
    place.serve(agent);
    const first = chatOf(ai, { transport: new LoopletChatTransport(place.connect()) });
    await first.sendMessage({ text: "A hotel!" });
    const transport = new LoopletChatTransport(place.connect());
    const again = chatOf(ai, { transport, messages: first.messages, sendAutomaticallyWhen: isAnswered });
    await again.addToolApprovalResponse({ id: openOf(again).approval.id, approved: true });
    await until(() => textOf(again) === "I book.|Booked." && again.status === "ready");
    expect(booked).toEqual(["Paris"]);
    expect(partsOf(again).filter(({ type }) => type === "tool-book")).toMatchObject([
      { output: "Hotel Paris" },
    ]);
  });
});
