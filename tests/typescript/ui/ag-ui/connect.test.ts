/** A page that was loaded again, and asks for the conversation of its thread. */
import { beforeAll, expect, it } from "vitest";
import { HttpAgent } from "@ag-ui/client";
import { tool, type Store } from "looplet";
import { agUiAgent, type AgUiEvent, type AgUiInput } from "looplet/ag-ui";
import type { ScriptedStep } from "looplet/practice";
import { memoryStore } from "looplet/stores";
import { agentOf, endOf, eventsOf, handlerOf, inputOf, ofType, post, said, typesOf } from "./kit.js";

// The first run loads the engine.
beforeAll(() => agentOf([{ text: "Hi." }]).run("Hi").result);

type Handler = ReturnType<typeof handlerOf>;

const connect = async (handler: Handler, input: Partial<AgUiInput> = {}): Promise<AgUiEvent[]> => {
  const { url, ...init } = { url: "https://app.test/agent/connect", method: "POST" };
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(inputOf({ messages: [], ...input }));
  return eventsOf(await handler(new Request(url, { ...init, headers, body })));
};

const pay = tool({
  description: "Pays.",
  inputSchema: { type: "object" },
  needsApproval: true,
  execute: ({ usd }: { usd?: number }) => `paid ${usd}`,
});
const turns = (): ScriptedStep[] => [
  { text: "I pay.", toolCalls: [{ id: "p", name: "pay", input: { usd: 5 } }] },
  { text: "Done." },
];
const handlerOn = (store: Store, steps = turns()): Handler =>
  handlerOf(agentOf(steps, { tools: { pay }, store }));

const shownBy = (events: readonly AgUiEvent[]): unknown[] =>
  ofType(events, "MESSAGES_SNAPSHOT")
    .at(-1)!
    .messages.map(({ role, content, toolCalls }) =>
      toolCalls === undefined ? [role, content] : [role, content, toolCalls.map(({ id }) => id)],
    );

/** A store whose process is gone: it says nothing of its leases. */
const forgetful = ({ append, load }: Store): Store => ({ append, load });

const resume = (events: readonly AgUiEvent[]): Partial<AgUiInput> => {
  const { outcome } = endOf(events);
  if (outcome.type !== "interrupt") throw new Error(`there is no interrupt: ${JSON.stringify(outcome)}`);
  const [{ id }] = outcome.interrupts as never as [{ id: string }];
  return { resume: [{ interruptId: id, status: "resolved", payload: { approved: true } }] };
};

it("gets the messages of a thread that stands, and none of a thread of somebody else", async () => {
  const handler = handlerOn(memoryStore(), [{ text: "Hello you." }]);
  await post(handler, inputOf());
  const events = await connect(handler);
  expect(typesOf(events)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  expect(shownBy(events)).toEqual([
    ["user", "Hello"],
    ["assistant", "Hello you."],
  ]);
  expect(endOf(events).outcome).toEqual({ type: "success" });
  expect(shownBy(await connect(handler, { threadId: "other" }))).toEqual([]);
});

it.each([
  ["the same process", (handler: Handler) => handler],
  ["another process", (_: Handler, store: Store) => handlerOn(forgetful(store), turns().slice(1))],
])("gets an open approval from %s, and its answer brings the run on", async (_, next) => {
  const kept = memoryStore();
  const store = forgetful(kept);
  const first = handlerOn(store);
  await post(first, inputOf({ messages: [said("Pay")] }));
  const handler = next(first, store);
  const events = await connect(handler);
  expect(shownBy(events)).toEqual([
    ["user", "Pay"],
    ["assistant", "I pay.", ["p"]],
  ]);
  expect(ofType(events, "TOOL_CALL_START")).toEqual([]);
  const { messages } = ofType(events, "MESSAGES_SNAPSHOT").at(-1)!;
  const end = await post(handler, inputOf({ messages, ...resume(events) }));
  expect(ofType(end, "TOOL_CALL_RESULT").map(({ content }) => content)).toEqual(["paid 5"]);
  expect(endOf(end).outcome).toMatchObject({ type: "success" });
  expect(shownBy(await connect(handler))).toEqual([
    ["user", "Pay"],
    ["assistant", "I pay.", ["p"]],
    ["tool", "paid 5"],
    ["assistant", "Done."],
  ]);
});

it("gets the reasoning of earlier answers before their texts", async () => {
  const handler = handlerOn(memoryStore(), [{ thinking: { text: "Hm." }, text: "Hi." }]);
  await post(handler, inputOf({ threadId: "t", messages: [said("Hello")] }));
  expect(shownBy(await connect(handler))).toEqual([
    ["user", "Hello"],
    ["reasoning", "Hm."],
    ["assistant", "Hi."],
  ]);
});

it("keeps what the page has, for an agent without a store", async () => {
  const handler = handlerOf(agentOf([{ text: "Hi." }]));
  expect(shownBy(await connect(handler, { messages: [said("Mine")] }))).toEqual([["user", "Mine"]]);
});

it("is what connectAgent of an agent in the page does, and of its clone", async () => {
  const store = forgetful(memoryStore());
  const config = { threadId: "t" };
  const pageOf = (steps: ScriptedStep[]) =>
    agUiAgent(agentOf(steps, { tools: { pay }, store }), { HttpAgent, config });
  const before = pageOf(turns());
  before.addMessage({ id: "u", role: "user", content: "Pay" });
  await before.runAgent();
  const after = pageOf(turns().slice(1)).clone();
  await after.connectAgent();
  expect(after.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const [{ id }] = after.pendingInterrupts as unknown as [{ id: string }];
  await after.runAgent({ resume: [{ interruptId: id, status: "resolved", payload: { approved: true } }] });
  expect(after.messages.at(-1)).toMatchObject({ role: "assistant", content: "Done." });
});
