// Some servers count the calls of each answer from 0, and vendors refuse a conversation in which two calls have one
// id: "`tool_use` ids must be unique" (https://github.com/NVIDIA-NeMo/Switchyard/issues/502), "Duplicate
// function_call_output for call_id" (https://github.com/NousResearch/hermes-agent/pull/111443).
import { describe, expect, test } from "vitest";
import {
  anthropic,
  createAgent,
  custom,
  openai,
  subagent,
  tool,
  type Message,
  type RunEvent,
} from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { memoryStore } from "../../../src/typescript/extras/stores/index.js";
import { checkTranscript } from "../../../src/typescript/extras/transcript/index.js";

const count = tool({
  description: "Counts",
  inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  readOnly: true,
  execute: ({ n }: { n?: unknown }) => `counted ${String(n)}`,
});

/** A model whose answers have these numbers of calls, with the ids call_0, call_1 and so on in each. */
function counting(...answers: number[]) {
  let turn = 0;
  return custom(async function* () {
    const calls = answers[turn++];
    if (calls === undefined) return yield "Done.";
    for (let n = 0; n < calls; n++)
      yield { type: "tool_call", id: `call_${n % 2}`, name: "count", input: { n } };
  });
}

function idsOf(messages: readonly Message[], kind: "tool_call" | "tool_result"): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type !== kind
        ? []
        : [block.type === "tool_call" ? block.id : (block as { callId: string }).callId],
    ),
  );
}

function isUnique(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}

describe("calls with the ids of earlier calls", () => {
  test("get others, which all events of a call have", async () => {
    const events: RunEvent[] = [];
    const run = createAgent({ model: counting(2, 3, 1), tools: { count } }).run("Go", {
      onEvent: (event) => events.push(event),
    });
    const { messages, toolCalls, outcome } = await run.result;
    expect(outcome).toBe("completed");
    const calls = idsOf(messages, "tool_call");
    expect(calls).toHaveLength(6);
    expect(calls.slice(0, 2)).toEqual(["call_0", "call_1"]);
    expect(isUnique(calls)).toBe(true);
    expect(idsOf(messages, "tool_result")).toEqual(calls);
    expect(toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(calls);
    for (const type of ["tool-input-start", "tool-call", "tool-result"] as const)
      expect(events.flatMap((event) => (event.type === type ? [event.toolCallId] : []))).toEqual(calls);
    expect(checkTranscript(messages, "looplet")).toEqual([]);
  });

  test("are accepted by the vendors that get the conversation next", async () => {
    const { messages } = await createAgent({ model: counting(2, 2), tools: { count } }).run("Go").result;
    for (const make of [anthropic, openai]) {
      const fetch = scripted([{ text: "Fine." }], { validate: true });
      const agent = createAgent({ model: make("practice", { apiKey: "key", fetch }), tools: { count } });
      const { outcome } = await agent.run("More", { messages }).result;
      expect(outcome).toBe("completed");
      const ids = JSON.stringify(fetch.requests[0]?.body).match(/(?<="(?:tool_use_id|call_id)":")[^"]+/g);
      expect(new Set(ids).size).toBe(4);
    }
  });

  test("get others in a later run, in another process, and behind a history that repeats them", async () => {
    const store = memoryStore();
    const first = await createAgent({ model: counting(1), tools: { count }, store }).openChat("c");
    await first.run("Go").result;
    first.close();
    const later = await createAgent({ model: counting(2), tools: { count }, store }).openChat("c");
    const { messages } = await later.run("Again").result;
    expect(isUnique(idsOf(messages, "tool_call"))).toBe(true);
    expect(idsOf(messages, "tool_result")).toEqual(idsOf(messages, "tool_call"));

    const call = { type: "tool_call" as const, id: "call_0", name: "count", input: {} };
    const result = {
      type: "tool_result" as const,
      callId: "call_0",
      content: [{ type: "text" as const, text: "1" }],
    };
    const turn: Message[] = [
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    const given: Message[] = [{ role: "user", content: [{ type: "text", text: "Go" }] }, ...turn, ...turn];
    const run = createAgent({ model: counting(1), tools: { count } }).run("More", { messages: given });
    const ids = idsOf((await run.result).messages, "tool_call");
    expect(ids.slice(0, 2)).toEqual(["call_0", "call_0_2"]);
    expect(ids).toHaveLength(3);
    expect(isUnique(ids)).toBe(true);
  });

  test("keep their own id when another attempt replaces them, and in a subagent", async () => {
    let attempt = 0;
    const model = custom(async function* ({ messages }) {
      if (messages.length > 1) return yield "Done.";
      yield { type: "tool_call", id: "call_0", name: "count", input: {} };
      if (++attempt === 1) yield { type: "error", code: "server", message: "It broke off" };
    });
    const { messages } = await createAgent({ model, tools: { count }, retry: { delaysMs: [0] } }).run("Go")
      .result;
    expect(idsOf(messages, "tool_call")).toEqual(["call_0"]);

    const helper = subagent({ description: "Helps", model: counting(1), tools: { count } });
    let asked = 0;
    const root = custom(async function* () {
      if (asked++ > 0) return yield "Done.";
      yield { type: "tool_call", id: "call_0", name: "helper", input: { prompt: "Help" } };
    });
    const starts: string[] = [];
    const run = createAgent({ model: root, tools: { helper } }).run("Go", {
      onToolCall: ({ agentPath, toolCallId }) => starts.push(`${agentPath} ${toolCallId}`),
    });
    await run.result;
    expect(starts).toEqual(["root call_0", "root/helper call_0"]);
  });
});
