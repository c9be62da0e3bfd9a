/** Every list that a page may send takes time in proportion to its length, or is refused by its number. */
import { expect, it } from "vitest";
import { createAgent, custom } from "looplet";
import { agUi, agUiHandler } from "looplet/ag-ui";
import { fromUIMessages, LoopletChatTransport, toUIMessages, uiMessages } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";

const range = <T>(count: number, one: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => one(at));
const text = { type: "text", text: "x" };

async function posted(handle: (request: Request) => Promise<Response>, path: string, body: object) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await handle(new Request(`http://s.test${path}`, init));
  await response.text();
  return response.status;
}

const agent = () => createAgent({ model: custom(() => "ok") }) as never;
const agUiTo = (more: object) =>
  posted(agUiHandler(agent(), { authorize: () => "eve" }), "/", {
    threadId: "t",
    runId: "r",
    messages: [user(0)],
    ...more,
  });

function serverTo(path: string, body: object): Promise<number> {
  const store = memoryStore();
  const served = createAgent({ model: custom(() => "ok"), store }) as never;
  const formats = [uiMessages(), agUi()];
  return posted(
    handler(served, { store, authorize: () => "eve", formats, maxBodyBytes: 2 ** 30 }),
    path,
    body,
  );
}

const user = (at: number) => ({ id: `u${at}`, role: "user", content: "x" });
const agUiCall = (at: number) => ({
  id: `c${at}`,
  type: "function",
  function: { name: "t", arguments: "{}" },
});
const agUiResult = (at: number) => ({ id: `r${at}`, role: "tool", toolCallId: `c${at}`, content: "y" });
const uiCall = (at: number) => ({
  type: "tool-x",
  toolCallId: `c${at}`,
  state: "output-available",
  input: {},
  output: { a: 1 },
});
const uiUser = (id: string, parts: object[] = [text]) => ({ id, role: "user" as const, parts }) as never;
const uiAgent = (parts: object[]) => ({ id: "a", role: "assistant" as const, parts }) as never;
const submit = (messages: unknown[]) =>
  serverTo("/ui-messages", { id: "c", trigger: "submit-message", messages });

/** The handlers of lists that a page may send: each with a list of this length. A new one belongs here. */
const HANDLERS: { readonly [name: string]: (count: number) => unknown } = {
  "agUiHandler: tools": (count) =>
    agUiTo({
      tools: range(count, (at) => ({ name: `t${at}`, description: "x", parameters: { type: "object" } })),
    }),
  "agUiHandler: messages": (count) => agUiTo({ messages: range(count, user) }),
  "agUiHandler: parts": (count) => agUiTo({ messages: [{ ...user(0), content: range(count, () => text) }] }),
  "agUiHandler: calls of one message": (count) =>
    agUiTo({
      messages: [
        user(0),
        { id: "a", role: "assistant", toolCalls: range(count, agUiCall) },
        ...range(count, agUiResult).reverse(),
        user(1),
      ],
    }),
  "agUiHandler: calls, a message each": (count) =>
    agUiTo({
      messages: [
        user(0),
        ...range(count, (at) => [
          { id: `a${at}`, role: "assistant", toolCalls: [agUiCall(at)] },
          agUiResult(at),
        ]).flat(),
        user(1),
      ],
    }),
  "agUiHandler: resume": (count) =>
    agUiTo({ resume: range(count, (at) => ({ interruptId: `i${at}`, status: "resolved" })) }),
  "agUi(): messages": (count) =>
    serverTo("/ag-ui", { threadId: "c", runId: "r", messages: range(count, user) }),
  "agUi(): resume": (count) =>
    serverTo("/ag-ui", {
      threadId: "c",
      runId: "r",
      messages: [user(0)],
      resume: range(count, (at) => ({ interruptId: `i${at}`, status: "resolved" })),
    }),
  "handler: blocks of a prompt": (count) => serverTo("/c/run", { prompt: range(count, () => text) }),
  "handler: inputs": (count) =>
    serverTo("/c/call", {
      method: "run",
      args: ["x", { id: "r", inputs: Object.fromEntries(range(count, (at) => [`k${at}`, at])) }],
    }),
  "handler: messages of a reset": (count) =>
    serverTo("/c/call", { method: "reset", args: [range(count, () => ({ role: "user", content: [] }))] }),
  "uiMessages(): messages": (count) => submit(range(count, (at) => uiUser(`m${at}`))),
  "uiMessages(): parts": (count) =>
    submit([
      uiUser(
        "m",
        range(count, () => text),
      ),
    ]),
  "uiMessages(): answers": (count) =>
    submit([
      uiAgent(
        range(count, (at) => ({
          ...uiCall(at),
          state: "approval-responded",
          approval: { id: `r:${at}`, approved: true },
        })),
      ),
    ]),
  "LoopletChatTransport: calls of the history": async (count) => {
    const messages = [uiUser("m"), uiAgent(range(count, uiCall)), uiUser("z")];
    const stream = await new LoopletChatTransport(agent()).sendMessages({
      chatId: "c",
      trigger: "submit-message",
      messages,
    } as never);
    for await (const _ of stream as unknown as AsyncIterable<unknown>);
  },
  "fromUIMessages and toUIMessages": (count) => {
    const parts = range(count, (at) => [uiCall(at), text]).flat();
    const messages = fromUIMessages([uiUser("m"), uiAgent(parts)]);
    toUIMessages(messages);
    toUIMessages(messages.map(({ ui: _, ...message }) => message) as never);
  },
};

const SMALL = 4000;
const TIMES = 8;

/** The least CPU time of some tries, in milliseconds. */
async function costOf(work: (count: number) => unknown, count: number): Promise<number> {
  const costs: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const before = process.cpuUsage();
    await work(count);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  return Math.min(...costs);
}

for (const [name, work] of Object.entries(HANDLERS))
  it(`${name}: a list that is eight times as long costs no more than in proportion`, async () => {
    await work(10);
    const small = await costOf(work, SMALL);
    const large = await costOf(work, SMALL * TIMES);
    // A square would be 64 times the work. What takes a moment says nothing.
    expect(large).toBeLessThan(Math.max(small, 25) * TIMES * 3);
  }, 60_000);
