/** `uiMessages` as a format of a server: `useChat` with the AI SDK's own transport and no route. */
import { expect, it } from "vitest";
import { isAnswered, uiMessages } from "looplet/ai-sdk";
import type { ScriptedStep } from "looplet/practice";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { pageTool } from "looplet/tools";
import { agentOf, aiOf, call, chatOf, partsOf, textOf, until, VERSIONS, type Version } from "./kit.js";

const URL = "http://server.test/api/agent";
const openOf = (chat: any): any => partsOf(chat).find(({ state }) => state === "approval-requested");

function served(turns: readonly ScriptedStep[], version: Version = 7, options: object = {}) {
  const store = memoryStore();
  const made = agentOf(turns, { store, ...options });
  const authorize = ({ headers }: Request): string => headers.get("user") ?? "ada";
  const formats = [uiMessages({ version })];
  const handle = handler<Request>(made.agent, { store, base: "/api/agent", authorize, formats });
  const fetch = (url: string, init: object): Promise<Response> => handle(new Request(url, init)) as never;
  return { ...made, store, fetch };
}

async function page({ fetch }: ReturnType<typeof served>, version: Version, init: object = {}): Promise<any> {
  const ai = await aiOf(version);
  const transport = new ai.DefaultChatTransport({ api: `${URL}/ui-messages`, fetch });
  return chatOf(ai, { transport, sendAutomaticallyWhen: isAnswered, ...init });
}

const loaded = async ({ fetch }: ReturnType<typeof served>): Promise<unknown[]> =>
  (await (await fetch(`${URL}/ui-messages/chat`, {})).json()).messages;

it.each(VERSIONS)("a chat of ai %i sends, goes on, and is asked again", async (version) => {
  const server = served([{ text: "One." }, { text: "Two." }, { text: "Three." }, { text: "Four." }], version);
  const chat = await page(server, version);
  await chat.sendMessage({ text: "First?" });
  expect([chat.status, textOf(chat)]).toEqual(["ready", "One."]);
  await chat.sendMessage({ text: "Second?" });
  await chat.regenerate();
  expect([chat.status, textOf(chat), chat.messages.length]).toEqual(["ready", "Three.", 4]);
  await chat.sendMessage({ text: "Else?", messageId: chat.messages[0].id });
  expect([chat.status, textOf(chat), chat.messages.length]).toEqual(["ready", "Four.", 2]);
  const { messages } = server.asked().at(-1);
  expect(messages.map(({ content }: any) => content[0].text)).toEqual(["Else?"]);
  expect(await loaded(server)).toMatchObject([{ role: "user" }, { role: "assistant" }]);
});

it.each([6, 7] as const)("a chat of ai %i is asked for an approval, also after a reload", async (version) => {
  const turns = [{ text: "I book.", toolCalls: [call("book")] }, { text: "Booked." }];
  const server = served(turns, version);
  const first = await page(server, version);
  await first.sendMessage({ text: "A hotel!" });
  expect([first.status, openOf(first) === undefined]).toEqual(["ready", false]);
  const again = await page(server, version, { messages: await loaded(server) });
  await again.resumeStream();
  expect([again.messages.length, textOf(again)]).toEqual([2, "I book."]);
  await again.addToolApprovalResponse({ id: openOf(again).approval.id, approved: true });
  await until(() => textOf(again) === "I book.|Booked." && again.status === "ready");
  expect(server.booked).toEqual(["Paris"]);
  const states = partsOf(again).filter(({ type }: any) => type === "tool-book");
  expect(states).toMatchObject([{ state: "output-available", output: "Hotel Paris" }]);
  expect((await server.fetch(`${URL}/ui-messages/chat/stream`, {})).status).toBe(204);
});

it.each(VERSIONS)("a chat of ai %i gives the output of a page tool", async (version) => {
  const where = pageTool({ description: "Where the user is", inputSchema: { type: "object" } });
  const turns = [
    { text: "I ask.", toolCalls: [call("where"), call("where", "x", "toolu_2")] },
    { text: "In Rome." },
    { toolCalls: [call("where", "x", "toolu_3")] },
    { text: "In Oslo." },
  ];
  const server = served(turns, version, { tools: { where }, toolCalls: { execution: "parallel" } });
  const chat = await page(server, version);
  await chat.sendMessage({ text: "Where am I?" });
  const add = (toolCallId: string, more: object): unknown =>
    (chat.addToolOutput ?? chat.addToolResult)({ tool: "where", toolCallId, ...more });
  await add("toolu_where", { output: { city: "Rome" } });
  await add("toolu_2", { state: "output-error", errorText: "No GPS" });
  await until(() => textOf(chat) === "I ask.|In Rome." && chat.status === "ready");
  expect(JSON.stringify(server.asked()[1].messages.at(-1))).toContain("No GPS");
  await chat.sendMessage({ text: "And now?" });
  await add("toolu_3", { output: "Oslo" });
  await until(() => textOf(chat) === "In Oslo." && chat.status === "ready");
  expect(server.asked()).toHaveLength(4);
});

it("a page that answers late gets what it has missed", async () => {
  const booking = (id: string): ScriptedStep => ({ text: `${id}.`, toolCalls: [call("book", "Paris", id)] });
  const server = served([booking("a"), booking("b"), { text: "Both." }]);
  const chat = await page(server, 7);
  await chat.sendMessage({ text: "Two hotels!" });
  const { approval } = openOf(chat);
  const [, questionId] = /:(\d+)$/.exec(approval.id)!;
  const answer = { behavior: "allow" };
  const body = JSON.stringify({ questionId: Number(questionId), answer });
  await server.fetch(`${URL}/chat/answer`, { method: "POST", body });
  for (let told = ""; !/"b\."[^]*tool-approval-request/.test(told);)
    told = await (await server.fetch(`${URL}/ui-messages/chat/stream`, {})).text();
  await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await until(() => openOf(chat) !== undefined && chat.status === "ready");
  expect(textOf(chat)).toBe("a.|b.");
  await chat.addToolApprovalResponse({ id: openOf(chat).approval.id, approved: true });
  await until(() => textOf(chat) === "a.|b.|Both." && chat.status === "ready");
  expect(server.booked).toHaveLength(2);
});

it("a new message ends a run that waits, and one that comes twice is taken once", async () => {
  const server = served([{ toolCalls: [call("book")] }, { text: "Never mind." }]);
  const chat = await page(server, 7);
  await chat.sendMessage({ text: "A hotel!" });
  const post = (id: string): Promise<Response> =>
    server.fetch(`${URL}/ui-messages`, {
      method: "POST",
      body: JSON.stringify({
        id: "chat",
        trigger: "submit-message",
        messages: [{ id, role: "user", parts: [{ type: "text", text: "Stop it." }] }],
      }),
    });
  const first = await (await post("u9")).text();
  expect(first).toContain("Never mind.");
  expect(await (await post("u9")).text()).toBe(first);
  expect([server.booked, server.asked().length]).toEqual([[], 2]);
});

it.each([{}, { id: "" }])("messages with the id %o are prompts of their own", async (id) => {
  const server = served([{ text: "One." }, { text: "Two." }]);
  const ask = async (text: string): Promise<string> => {
    const messages = [{ ...id, role: "user", parts: [{ type: "text", text }] }];
    const body = JSON.stringify({ id: "chat", trigger: "submit-message", messages });
    return (await server.fetch(`${URL}/ui-messages`, { method: "POST", body })).text();
  };
  expect(await ask("First?")).toContain("One.");
  expect(await ask("Second?")).toContain("Two.");
  expect(server.asked()).toHaveLength(2);
});

it("nobody reaches the chat of another owner, and a request that lacks something is told so", async () => {
  const server = served([{ text: "One." }]);
  const chat = await page(server, 7);
  await chat.sendMessage({ text: "First?" });
  const status = async (path: string, init: object): Promise<number> =>
    (await server.fetch(`${URL}/ui-messages${path}`, init)).status;
  expect(await status("/chat", { headers: { user: "eve" } })).toBe(404);
  expect(await status("/chat/stream", { headers: { user: "eve" } })).toBe(204);
  const post = (body: object): Promise<number> => status("", { method: "POST", body: JSON.stringify(body) });
  const user = { id: "u", role: "user", parts: [{ type: "text", text: "Hi" }] };
  expect(await post({ messages: [user] })).toBe(400);
  expect(await post({ id: "chat", messages: [] })).toBe(400);
  expect(await post({ id: "chat", messages: [{ role: "robot", parts: [] }] })).toBe(400);
  expect(
    await post({ id: "chat", trigger: "submit-message", messages: [{ ...user, role: "assistant" }] }),
  ).toBe(400);
  expect(await status("", { method: "PUT", body: "{}" })).toBe(405);
});

it("loses no chunk and tells none twice over 200 disconnects at random bytes", async () => {
  const words = Array.from({ length: 60 }, (_, at) => `wörd${at} `);
  const server = served([
    { text: words, toolCalls: [call("weather"), call("book", "y", "toolu_b")] },
    { text: words },
  ]);
  const chat = await page(server, 7);
  const sent = chat.sendMessage({ text: "Hotel?" });
  await sent;
  await chat.addToolApprovalResponse({ id: openOf(chat).approval.id, approved: true });
  await until(() => chat.status === "ready" && partsOf(chat).length > 4);
  const run = encodeURIComponent(chat.messages.at(-1).id as string);
  const whole = await chunks(await stream(server, `${run}:0.0`));
  expect(whole.length).toBeGreaterThan(120);
  let random = 7;
  const next = (most: number): number => (random = (random * 48_271) % 2_147_483_647) % most;
  for (let tries = 0; tries < 200;) {
    const told: string[] = [];
    let cursor = `${run}:0.0`;
    for (let isOver = false; !isOver; tries += 1) {
      const text = await (await stream(server, cursor)).text();
      const cut = text.slice(0, tries < 200 ? 1 + next(Math.min(text.length, 6000)) : text.length);
      for (const block of cut.split("\n\n").slice(0, -1)) {
        const [, id, data] = /^(?:id: (.*)\n)?data: (.*)$/.exec(block)!;
        if (id !== undefined) cursor = id;
        told.push(data!);
      }
      isOver = told.at(-1) === "[DONE]";
    }
    expect(told).toEqual(whole);
  }
});

const stream = ({ fetch }: ReturnType<typeof served>, cursor: string): Promise<Response> =>
  fetch(`${URL}/ui-messages/chat/stream`, { headers: { "last-event-id": cursor } });

const chunks = async (response: Response): Promise<string[]> =>
  (await response.text())
    .split("\n\n")
    .slice(0, -1)
    .map((block) => /data: (.*)$/.exec(block)![1]!);
