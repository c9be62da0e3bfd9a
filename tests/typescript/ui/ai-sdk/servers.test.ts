// The chat of `ai` in a page, with the agent on a server.
import { expect, it } from "vitest";
import { isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import type { ScriptedStep } from "looplet/practice";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";
import { ends } from "../../support/worker-kit.js";
import { agentOf, aiOf, call, chatOf, partsOf, textOf, until } from "./kit.js";

const openOf = (chat: any): any => partsOf(chat).find(({ state }) => state === "approval-requested");

it.each([6, 7] as const)(
  "a chat of ai %i goes on after a reload, takes the approval, and is asked again",
  async (version) => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const turns: ScriptedStep[] = [
      { text: "I book.", toolCalls: [call("book")] },
      { text: "Booked." },
      { text: "Again." },
    ];
    turns.push({ text: "Then." }, { text: "Now." });
    const { agent, booked, asked } = agentOf(turns, { store });
    const handle = handler<Request>(agent, { store, authorize: () => "ada" });
    const page = (): any => {
      const fetch = (url: string, init: object): Promise<Response> => handle(new Request(url, init)) as never;
      const connected = connectAgent("http://server.test", { fetch });
      ends.push(() => connected.disconnect());
      return connected;
    };
    const first = chatOf(ai, { transport: new LoopletChatTransport(page()) });
    await first.sendMessage({ text: "A hotel!" });
    expect(openOf(first)).toBeDefined();

    const transport = new LoopletChatTransport(page());
    const messages = await transport.loadMessages("chat");
    const again = chatOf(ai, { transport, messages, sendAutomaticallyWhen: isAnswered });
    await again.resumeStream();
    expect(textOf(again)).toBe("I book.");
    await again.addToolApprovalResponse({ id: openOf(again).approval.id, approved: true });
    await until(() => textOf(again) === "I book.|Booked." && again.status === "ready");
    expect(booked).toEqual(["Paris"]);
    await again.regenerate();
    expect([again.status, textOf(again)]).toEqual(["ready", "Again."]);
    expect(again.messages).toHaveLength(2);
    await again.sendMessage({ text: "And then?" });
    await again.sendMessage({ text: "And now?", messageId: again.messages[2].id });
    expect([again.status, textOf(again)]).toEqual(["ready", "Now."]);
    expect(JSON.stringify(asked()[4].messages)).not.toContain("And then?");
  },
);
