// What the examples about the AI SDK must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { personsPath, shop } from "./chat-path.mjs";
import { mounted } from "./docs-screens.mjs";

const user = (text) => ({ id: "u", role: "user", parts: [{ type: "text", text }] });

export const aiSdk = {
  "ai-sdk-ui/chat.tsx": {
    mount: `
      import { StrictMode } from "react";
      import { createRoot } from "react-dom/client";
      import { Chat, transport } from "./chat";
      const messages = await transport.loadMessages("chat-1");
      const chat = <Chat id="chat-1" messages={messages} />;
      createRoot(document.querySelector("main")).render(<StrictMode>{chat}</StrictMode>);
    `,
    others: shop().others,
    async inPage(page) {
      const send = async (text) => {
        await page.fill("[aria-label=Message]", text);
        await page.click("text=Send");
      };
      await send("Please order it");
      await page.waitForSelector("[value=Approve]");
      await page.reload();
      await page.click("[value=Approve]");
      await page.waitForSelector("text=tool-order: output-available");
      assert.equal(await page.locator("text=tool-order").count(), 1);
      await page.waitForSelector("text=Done: ");

      await send("Now wait");
      await page.waitForSelector("text=Half");
      await page.click("[value=Stop]");
      await send("Do fail");
      await page.waitForSelector("[role=alert]");
      await page.click("[value=Again]");
      await page.waitForSelector("text=You said Do fail.");
      assert.equal(await page.locator("[role=alert]").count(), 0);
    },
  },
  "ai-sdk-ui/chats.tsx": {
    mount: mounted("chats", "Chats"),
    others: shop().others,
    // `useChat` has one list of messages, and takes no chunk behind its own `stop()` (`makeRequest` of ai 7.0.173).
    inPage: (page) => personsPath(page, { keepsVersions: false, showsStopped: false }),
  },
  "ai-sdk-ui/served.ts": {
    async after({ made, requests }) {
      const body = JSON.stringify({ id: "chat-1", trigger: "submit-message", messages: [user("Hello")] });
      const api = "https://page.test/api/agent/ui-messages";
      const response = await made.handle(new Request(api, { method: "POST", body }));
      assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
      assert.match(await response.text(), /"type":"text-delta".*data: \[DONE\]\n\n$/s);
      assert.equal(requests.length, 1);
      assert.equal((await made.handle(new Request(`${api}/chat-1/stream`))).status, 204);
      const { messages } = await (await made.handle(new Request(`${api}/chat-1`))).json();
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant"],
      );
    },
  },
  "ai-sdk-ui/load.ts": {
    async after({ made }) {
      const { fetch } = globalThis;
      const messages = [user("Hello")];
      globalThis.fetch = async (url) =>
        url === "/api/agent/ui-messages/chat-1"
          ? Response.json({ messages })
          : new Response("", { status: 404 });
      try {
        assert.deepEqual(await made.loadMessages("chat-1"), messages);
        assert.deepEqual(await made.loadMessages("new"), []);
      } finally {
        globalThis.fetch = fetch;
      }
    },
  },
  "ai-sdk-ui/route.ts": {
    async after({ made, requests }) {
      const post = (body) =>
        made.POST(new Request("https://page.test/api/chat", { method: "POST", body: JSON.stringify(body) }));
      const response = await post({ id: "chat-1", trigger: "submit-message", messages: [user("Hello")] });
      assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
      assert.match(
        await response.text(),
        /"type":"text-delta".*"type":"finish","finishReason":"stop"\}\n\ndata: \[DONE\]\n\n$/s,
      );
      assert.equal(requests.length, 1);
      const params = Promise.resolve({ id: "chat-1" });
      assert.equal((await made.GET(undefined, { params })).status, 204);
      assert.equal((await made.DELETE(undefined, { params })).status, 204);
    },
  },
  "ai-sdk-ui/provider.ts": {
    async after({ made, requests }) {
      const { outcome } = await made.agent.run("Hello").result;
      assert.equal(outcome, "completed");
      assert.equal(requests[0].url, "https://api.anthropic.com/v1/messages");
    },
  },
  "ai-sdk-ui-1": {
    async after({ made }) {
      const { execute } = made.location;
      const elicit = async () => ({ action: "accept", content: { output: "Rome" } });
      assert.equal(await execute({}, { elicit }), "Rome");
    },
  },
  "ai-sdk-ui-2": {
    async after({ made }) {
      assert.deepEqual(
        made.shown.map(({ role }) => role),
        ["user", "assistant"],
      );
    },
  },
};
