// The chat of `ai` with its own transport over HTTP, and the agent behind a route.
import { describe, expect, it } from "vitest";
import { isAnswered, LoopletChatTransport, toUIMessageStreamResponse } from "looplet/ai-sdk";
import { agentOf, aiOf, call, chatOf, partsOf, textOf, until, VERSIONS } from "./kit.js";

/** The `fetch` of a page whose server has this transport. */
function served(transport: LoopletChatTransport) {
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    if (init.method === "POST") {
      const { id, ...rest } = JSON.parse(init.body as string);
      return toUIMessageStreamResponse(await transport.sendMessages({ chatId: id, ...rest }));
    }
    const [, chatId] = /\/api\/chat\/(.*)\/stream$/.exec(url)!;
    const stream = await transport.reconnectToStream({ chatId: chatId! });
    return stream ? toUIMessageStreamResponse(stream) : new Response(null, { status: 204 });
  };
}

describe.each(VERSIONS)("a chat of ai %i over HTTP", (version) => {
  it("streams, survives a failed attempt, and has nothing to join at the end", async () => {
    const ai = await aiOf(version);
    const { agent } = agentOf([
      { text: ["It is sunny", " today"], dropAfterEvents: 4 },
      { thinking: { text: "Hm." }, text: "I look.", toolCalls: [call("weather")] },
      { text: "It rains." },
    ]);
    const fetch = served(new LoopletChatTransport(agent, { version, holdAttempts: true }));
    const chat = chatOf(ai, { transport: new ai.DefaultChatTransport({ fetch }) });
    await chat.sendMessage({ text: "Weather?" });
    expect([chat.error, chat.status, textOf(chat)]).toEqual([undefined, "ready", "I look.|It rains."]);
    await chat.resumeStream();
    expect([chat.status, chat.messages.length]).toEqual(["ready", 2]);
  });

  it("joins a run from a page that is loaded again", async () => {
    const ai = await aiOf(version);
    const { agent } = agentOf([{ toolCalls: [call("weather")] }, { text: "It", stall: true }]);
    const server = new LoopletChatTransport(agent, { version });
    const transport = new ai.DefaultChatTransport({ fetch: served(server) });
    const chat = chatOf(ai, { transport });
    void chat.sendMessage({ text: "Weather?" });
    await until(() => chat.messages.length === 2 && textOf(chat) === "It");
    const again = chatOf(ai, { transport, messages: chat.messages.slice(0, 1) });
    const joined = again.resumeStream();
    await until(() => again.messages.length === 2 && textOf(again) === "It");
    server.stop("chat");
    await joined;
    expect(partsOf(again).filter(({ type }) => type === "tool-weather")).toMatchObject([
      { state: "output-available" },
    ]);
  });
});

describe.each([6, 7] as const)("a chat of ai %i over HTTP", (version) => {
  it("sends an approval and a denial to the run that waits", async () => {
    const ai = await aiOf(version);
    const toolCalls = [call("book"), call("book", "Rome", "toolu_2"), call("weather")];
    const { agent, booked, asked } = agentOf([{ toolCalls }, { text: "Done." }]);
    const transport = new ai.DefaultChatTransport({
      fetch: served(new LoopletChatTransport(agent, { version })),
    });
    const chat = chatOf(ai, { transport, sendAutomaticallyWhen: isAnswered });
    await chat.sendMessage({ text: "Hotels!" });
    const [paris, rome] = partsOf(chat).filter(({ state }) => state === "approval-requested");
    await chat.addToolApprovalResponse({ id: paris.approval.id, approved: true });
    await chat.addToolApprovalResponse({ id: rome.approval.id, approved: false });
    await until(() => chat.status === "ready" && textOf(chat) === "Done.");
    expect([booked, asked().length, chat.messages.length]).toEqual([["Paris"], 2, 2]);
    const states = partsOf(chat).flatMap(({ state, toolCallId }) => (toolCallId ? [state] : []));
    expect(states).toEqual(["output-available", "output-denied", "output-available"]);
  });
});
