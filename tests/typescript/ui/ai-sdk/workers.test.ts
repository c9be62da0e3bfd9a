// The chat of `ai` in a page, with the agent in a worker, or behind an address.
import { describe, expect, it } from "vitest";
import { isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import type { Agent, Store } from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";
import { ends, Place } from "../../support/worker-kit.js";
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

/** Serves an agent with its store. Each call of the function that it returns is another page. */
const hosts: [string, (agent: Agent, store: Store) => () => LoopletChatTransport][] = [
  [
    "in a worker",
    (agent) => {
      const place = new Place();
      place.serve(agent);
      return () => new LoopletChatTransport(place.connect());
    },
  ],
  [
    "behind an address",
    (agent, store) => {
      const handle = handler<Request>(agent, { store, base: "/api/agent", authorize: () => "ada" });
      const fetch = (url: string, init?: object): Promise<Response> => handle(new Request(url, init));
      return () => {
        const remote = connectAgent("http://server.test/api/agent", { fetch: fetch as never });
        ends.push(() => remote.disconnect());
        return new LoopletChatTransport(remote);
      };
    },
  ],
];

describe.each(
  hosts.flatMap(([where, serve]) => ([6, 7] as const).map((version) => [where, version, serve] as const)),
)("an agent %s with a store, and a chat of ai %i", (_, version, serve) => {
  it("shows the run to a page that is loaded again, and takes its approval", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const { agent, booked, asked } = agentOf(turns, { store });
    const page = serve(agent, store);
    const first = chatOf(ai, { transport: page() });
    await first.sendMessage({ text: "A hotel!" });
    expect(openOf(first)).toBeDefined();

    const transport = page();
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
    const store = memoryStore();
    const { agent, booked } = agentOf(turns, { store });
    const page = serve(agent, store);
    const first = chatOf(ai, { transport: page() });
    await first.sendMessage({ text: "A hotel!" });
    const transport = page();
    const again = chatOf(ai, { transport, messages: first.messages, sendAutomaticallyWhen: isAnswered });
    await again.addToolApprovalResponse({ id: openOf(again).approval.id, approved: true });
    await until(() => textOf(again) === "I book.|Booked." && again.status === "ready");
    expect(booked).toEqual(["Paris"]);
    expect(partsOf(again).filter(({ type }) => type === "tool-book")).toMatchObject([
      { output: "Hotel Paris" },
    ]);
  });
});
