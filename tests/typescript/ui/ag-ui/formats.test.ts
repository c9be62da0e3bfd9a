/** `agUi` as a format of a server: `HttpAgent` of AG-UI without a route of its own. */
import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as OlderAgent } from "ag-ui-client-0-0-59";
import { expect, it } from "vitest";
import { tool } from "looplet";
import { agUi, type AgUiEvent } from "looplet/ag-ui";
import type { ScriptedStep } from "looplet/practice";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { pageTool } from "looplet/tools";
import { agentOf, checked, inputOf, ofType, said, typesOf } from "./kit.js";

const URL = "http://server.test/api/agent/ag-ui";
const inputSchema = { type: "object" } as const;
const calls = (...names: string[]): ScriptedStep => ({
  toolCalls: names.map((name) => ({ id: `toolu_${name}`, name, input: {} })),
});

function served(turns: readonly ScriptedStep[], options: Parameters<typeof agentOf>[1] = {}) {
  const store = memoryStore();
  const paid: string[] = [];
  const tools = {
    color: pageTool({ description: "Colours the page", inputSchema }),
    pay: tool({
      description: "Pays",
      inputSchema,
      needsApproval: true,
      execute: (_, { toolCallId }) => (paid.push(toolCallId), "paid"),
    }),
  };
  const agent = agentOf(turns, { store, tools, toolCalls: { execution: "parallel" }, ...options });
  const authorize = ({ headers }: Request): string => headers.get("user") ?? "ada";
  const handle = handler<Request>(agent, { store, base: "/api/agent", authorize, formats: [agUi()] });
  const fetch = (url: string, init: object): Promise<Response> => handle(new Request(url, init)) as never;
  return { paid, fetch };
}

type Served = ReturnType<typeof served>;

const post = async ({ fetch }: Served, input: object): Promise<AgUiEvent[]> =>
  checked(await eventsIn(await fetch(URL, { method: "POST", body: JSON.stringify(inputOf(input)) })));

async function eventsIn(response: Response): Promise<AgUiEvent[]> {
  const blocks = (await response.text()).split("\n\n").slice(0, -1);
  return blocks.map((block) => JSON.parse(/^id: .*\ndata: (.*)$/.exec(block)![1]!) as AgUiEvent);
}

it.each([HttpAgent, OlderAgent])(
  "a client sends, runs a tool of its page, and approves: %o",
  async (Client) => {
    const server = served([{ text: "Hi." }, calls("color", "pay"), { text: "Done." }]);
    const page: any = new (Client as typeof HttpAgent)({
      url: URL,
      threadId: "t",
      fetch: server.fetch as never,
    });
    const seen: any[] = [];
    const run = (more: object = {}): Promise<unknown> =>
      page.runAgent(more, { onEvent: ({ event }: any) => void seen.push(event) });
    page.addMessage(said("Hello"));
    await run();
    page.addMessage(said("Colour it and pay", "u2"));
    await run();
    const end = seen.at(-1);
    expect(end.outcome).toMatchObject({ type: "interrupt", interrupts: [{ toolCallId: "toolu_pay" }] });
    page.addMessage({ id: "t1", role: "tool", toolCallId: "toolu_color", content: "coloured" });
    const [{ id: interruptId }] = end.outcome.interrupts;
    await run({ resume: [{ interruptId, status: "resolved", payload: { approved: true } }] });
    expect(server.paid).toEqual(["toolu_pay"]);
    expect(seen.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta)).toEqual([
      "Hi.",
      "Done.",
    ]);
    expect(page.messages.at(-1)).toMatchObject({ role: "assistant", content: "Done." });
    expect((await server.fetch(`${URL}/t/stream`, {})).status).toBe(204);
  },
);

it("the structured output of a run is the result at its end", async () => {
  const output = { schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } };
  const server = served([{ text: '{"n":7}' }], { output });
  const events = await post(server, { messages: [said("Count.")] });
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", result: { n: 7 } });
});

it("a call of the page alone ends a run of AG-UI well, and its result brings the run on", async () => {
  const server = served([calls("color"), { text: "Done." }]);
  const first = await post(server, { messages: [said("Colour it")] });
  expect(first.at(-1)).toMatchObject({ outcome: { type: "success", pendingToolCallIds: ["toolu_color"] } });
  const result = { id: "t1", role: "tool" as const, toolCallId: "toolu_color", content: "coloured" };
  const [{ messages }] = ofType(first, "MESSAGES_SNAPSHOT") as [any];
  const rest = await post(server, { messages: [...messages, result] });
  expect(typesOf(rest)).toContain("TEXT_MESSAGE_CONTENT");
  expect(typesOf(rest)).not.toContain("TOOL_CALL_START");
});

it("nobody reaches the thread of another owner, and a wrong input is told so", async () => {
  const server = served([calls("pay"), { text: "Hi." }]);
  await post(server, {});
  const ask = async (input: object, user = "ada"): Promise<number> =>
    (await server.fetch(URL, { method: "POST", headers: { user }, body: JSON.stringify(input) })).status;
  const resume = [{ interruptId: "x:1", status: "resolved", payload: { approved: true } }];
  expect(await ask(inputOf({ resume } as never), "eve")).toBe(400);
  expect(await ask({ ...inputOf(), messages: 7 })).toBe(400);
  expect(await ask({ ...inputOf(), threadId: 7 })).toBe(400);
  expect(await ask(inputOf({ messages: [] }))).toBe(400);
  expect((await server.fetch(`${URL}/t/stream`, { headers: { user: "eve" } })).status).toBe(204);
  expect(server.paid).toEqual([]);
});

it("loses no event and tells none twice over 200 disconnects at random bytes", async () => {
  const words = Array.from({ length: 60 }, (_, at) => `wörd${at} `);
  const server = served([{ text: words, ...calls("pay") } as ScriptedStep, { text: words }]);
  const first = await post(server, {});
  const [{ outcome }] = ofType(first, "RUN_FINISHED") as [any];
  const [{ id: interruptId }] = outcome.interrupts;
  await post(server, { resume: [{ interruptId, status: "resolved", payload: { approved: true } }] });
  const run = interruptId.slice(0, interruptId.lastIndexOf(":"));
  const stream = (cursor: string): Promise<Response> =>
    server.fetch(`${URL}/t/stream`, { headers: { "last-event-id": cursor } });
  const beginning = `${encodeURIComponent(run)}:0.0`;
  const whole = await eventsIn(await stream(beginning));
  expect(whole.length).toBeGreaterThan(120);
  let random = 7;
  const next = (most: number): number => (random = (random * 48_271) % 2_147_483_647) % most;
  for (let tries = 0; tries < 200;) {
    const told: AgUiEvent[] = [];
    let cursor = beginning;
    for (let isOver = false; !isOver; tries += 1) {
      const text = await (await stream(cursor)).text();
      const cut = text.slice(0, tries < 200 ? 1 + next(Math.min(text.length, 9000)) : text.length);
      for (const block of cut.split("\n\n").slice(0, -1)) {
        const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(block)!;
        cursor = id!;
        told.push(JSON.parse(data!) as AgUiEvent);
      }
      isOver = told.at(-1)?.type === "RUN_FINISHED";
    }
    expect(told).toEqual(whole);
  }
});

it("a message that comes with the answers of a user is added to the run, once", async () => {
  const server = served([
    calls("pay"),
    { toolCalls: [{ id: "toolu_2", name: "pay", input: {} }] },
    { text: "Done." },
  ]);
  const page: any = new HttpAgent({ url: URL, threadId: "t", fetch: server.fetch as never });
  const approve = (): Promise<unknown> =>
    page.runAgent({
      resume: page.pendingInterrupts.map(({ id: interruptId }: { id: string }) => ({
        interruptId,
        status: "resolved",
        payload: { approved: true },
      })),
    });
  page.addMessage(said("Pay"));
  await page.runAgent();
  page.addMessage(said("Twice", "u2"));
  await approve();
  await approve();
  expect(server.paid).toEqual(["toolu_pay", "toolu_2"]);
  expect(page.messages.map(({ role }: { role: string }) => role).sort()).toEqual([
    ...["assistant", "assistant", "assistant", "tool", "tool", "user", "user"],
  ]);
  const { messages } = (await (await server.fetch("http://server.test/api/agent/t", {})).json()) as any;
  expect(JSON.stringify(messages).split("Twice")).toHaveLength(2);
});
