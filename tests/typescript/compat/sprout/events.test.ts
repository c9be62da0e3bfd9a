import "looplet";
import { scripted } from "looplet/practice";
import {
  defineAgent,
  iterationPresets,
  sseCallbacks,
  toEventStream,
  type SproutToolContext,
  type AgentLoopOptions,
} from "looplet/sprout";
import { describe, expect, it } from "vitest";

const long = "x".repeat(300);
const turns = () => [
  { text: "I look.\nNow.", toolCalls: [{ name: "look", input: { n: 1 } }] },
  { text: "Done." },
];
const options = (more: Partial<AgentLoopOptions> = {}): AgentLoopOptions => ({
  systemPrompt: "You are an expert tutor.",
  userMessage: "Teach me",
  tools: [{ name: "look", description: "Looks", input_schema: { type: "object" }, execute: () => long }],
  host: { fetch: scripted(turns()) },
  ...more,
});

/** The events of a stream, as a browser reads them. */
async function eventsOf(stream: ReadableStream<Uint8Array>): Promise<[string, unknown][]> {
  const text = await new Response(stream as never).text();
  expect(text.endsWith("\n\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n\n")
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event)!;
      return [name!, JSON.parse(data!)];
    });
}

const expected = [
  ["agent_reasoning", { agent: "tutor", text: "I look.\nNow." }],
  ["tool_call", { tool: "look", input: { n: 1 } }],
  ["tool_result", { tool: "look", summary: "x".repeat(200) }],
  ["agent_reasoning", { agent: "tutor", text: "Done." }],
];

describe("server-sent events", () => {
  it("S000-13: a stream has the source's events, and ends with the text", async () => {
    const heard: string[] = [];
    const callbacks = { onThinking: (text: string) => void heard.push(text) };
    expect(await eventsOf(toEventStream(options({ callbacks }), { agent: "tutor" }))).toEqual([
      ...expected,
      ["done", { finalText: "Done." }],
    ]);
    expect(heard).toEqual(["I look.\nNow.", "Done."]);
  });

  it("S000-13: callbacks send the same events to a writer", async () => {
    const { agentLoop } = await import("looplet/sprout");
    const sent: unknown[] = [];
    const writer = { send: (event: string, data: unknown) => void sent.push([event, data]) };
    await agentLoop(options({ callbacks: sseCallbacks(writer, { agent: "tutor" }) }));
    expect(sent).toEqual(expected);
  });

  it("events that a tool sends stand between its call and its result, in every form", async () => {
    const node = {
      name: "look",
      description: "Creates",
      input_schema: { type: "object" },
      async execute(_: unknown, { send }: SproutToolContext) {
        send("node_created", { id: 1 });
        await Promise.resolve();
        send("node_created", undefined);
        return "made";
      },
    };
    const { agentLoop } = await import("looplet/sprout");
    const heard: unknown[] = [];
    const onToolEvent = (event: string, data: unknown) => void heard.push([event, data]);
    const turns = () => ({
      fetch: scripted([{ toolCalls: [{ name: "look", input: {} }] }, { text: "Done." }]),
    });
    const given = () => options({ tools: [node], callbacks: { onToolEvent }, host: turns() });
    const events = await eventsOf(toEventStream(given(), { agent: "tutor" }));
    expect(events.slice(0, 4)).toEqual([
      ["tool_call", { tool: "look", input: {} }],
      ["node_created", { id: 1 }],
      ["node_created", null],
      ["tool_result", { tool: "look", summary: "made" }],
    ]);
    expect(heard).toEqual([
      ["node_created", { id: 1 }],
      ["node_created", undefined],
    ]);
    await agentLoop(given());
    expect(heard).toHaveLength(4);
    const sent: string[] = [];
    const writer = { send: (event: string) => void sent.push(event) };
    await agentLoop({ ...given(), callbacks: sseCallbacks(writer, { agent: "tutor" }) });
    expect(sent).toEqual(["tool_call", "node_created", "node_created", "tool_result", "agent_reasoning"]);
  });

  it("an event of a tool cannot pass for one of the loop, or break the stream", async () => {
    for (const event of ["done", "error", "tool_result", "a\ndata: {}", "", undefined as never]) {
      const bad = {
        name: "look",
        description: "Looks",
        input_schema: { type: "object" },
        execute: (_: unknown, { send }: SproutToolContext) => send(event, {}),
      };
      const fetch = scripted([{ toolCalls: [{ name: "look", input: {} }] }, { text: "Done." }]);
      const events = await eventsOf(
        toEventStream(options({ tools: [bad], host: { fetch } }), { agent: "a" }),
      );
      expect(events.map(([name]) => name)).toEqual(["tool_call", "tool_result", "agent_reasoning", "done"]);
      expect((events[1]![1] as { summary: string }).summary).toContain("send: ");
    }
  });

  it("S000-13: a failure is the last event", async () => {
    const failed = toEventStream(options({ host: { fetch: scripted([{ status: 401 }]) } }), { agent: "a" });
    const events = await eventsOf(failed);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject(["error", { status: 401 }]);
    const wrong = toEventStream(options({ systemPrompt: undefined as never }), { agent: "a" });
    expect(await eventsOf(wrong)).toMatchObject([
      ["error", { message: expect.stringContaining("systemPrompt") }],
    ]);
  });

  it("a stream that is cancelled aborts the loop", async () => {
    let end = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (end = resolve));
    const fetch = (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => (end(), reject(signal.reason)));
        void reader.cancel();
      });
    const reader = toEventStream(options({ host: { fetch: fetch as never } }), { agent: "a" }).getReader();
    await aborted;
    expect((await reader.read()).done).toBe(true);
  });

  it("a signal ends the loop of a stream", async () => {
    const stream = toEventStream(options({ signal: AbortSignal.abort() }), { agent: "a" });
    expect(await eventsOf(stream)).toEqual([["done", { finalText: "" }]]);
  });
});

describe("sizes of an agent", () => {
  it("S000-27: the limits of the source's agents are data", () => {
    expect(iterationPresets).toMatchObject({
      topic: 15,
      subconcept: 15,
      refinement: 15,
      tutor: 5,
      grading: 10,
    });
  });

  it("S000-28: an agent takes its own inputs, and has a small mode", async () => {
    const fetch = scripted([{ text: "A" }, { text: "B" }]);
    const topicAgent = defineAgent({
      systemPrompt: "Make {{concepts}} concepts.",
      prompt: "Topic {{topicNodeId}} for {{ userId }}, {{unknown}}.",
      tools: [],
      maxIterations: iterationPresets.topic,
      variables: { concepts: "6-10" },
      small: { maxOutputTokens: 1000, variables: { concepts: "1-2" } },
      host: { fetch },
    });
    const topicNodeId = "n7";
    const userId = 12;
    const result = await topicAgent.run({ topicNodeId, userId, small: true });
    expect(result.finalText).toBe("A");
    await topicAgent.run({ topicNodeId, userId });
    const bodies = fetch.requests.map(({ body }) => body);
    expect(bodies).toMatchObject([
      { system: "Make 1-2 concepts.", max_tokens: 1000 },
      { system: "Make 6-10 concepts.", max_tokens: 8000 },
    ]);
    for (const { messages } of bodies)
      expect(JSON.stringify(messages)).toContain("Topic n7 for 12, {{unknown}}.");
  });
});
