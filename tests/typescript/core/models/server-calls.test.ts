/** Answers that wait for Anthropic's servers: a server tool beside own tools, and a program that calls own tools. */
import { expect, it } from "vitest";
import { anthropic, createAgent, custom, tool, type Run } from "looplet";

const body = (init: RequestInit | undefined): any =>
  JSON.parse(new TextDecoder().decode(init!.body as Uint8Array));

/** A vendor with these answers, whole. `eager` is the model with another effort. */
function answering(...answers: object[]): { model: any; eager: any; bodies: any[] } {
  const bodies: any[] = [];
  const fetch = async (_: string, init?: RequestInit): Promise<Response> => {
    bodies.push(body(init));
    return Response.json({
      id: `msg_${bodies.length}`,
      type: "message",
      role: "assistant",
      model: "claude-opus-5-5",
      usage: { input_tokens: 5, output_tokens: 5 },
      ...answers[bodies.length - 1],
    });
  };
  const options = { apiKey: "k", stream: false, promptCaching: false, fetch: fetch as never };
  const model = anthropic("claude-opus-5-5", options);
  const eager = anthropic("claude-opus-5-5", { ...options, effort: "max" });
  return { model, eager, bodies };
}

const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
const done = { content: [{ type: "text", text: "Done." }], stop_reason: "end_turn" };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "r", is_error: false };

const look = (execute: () => unknown): any =>
  tool({ description: "x", inputSchema: { type: "object" }, execute });

it("a steer waits until the server's tool has its result", async () => {
  const { model, bodies } = answering(
    { content: [search, call], stop_reason: "tool_use" },
    { content: [found, { type: "text", text: "Found." }], stop_reason: "end_turn" },
    done,
  );
  const running: { run?: Run } = {};
  const steers = (): string => (running.run!.steer("also this"), "r");
  const run = (running.run = createAgent({ model, tools: { look: look(steers) } }).run("go"));
  expect(await run.result).toMatchObject({ outcome: "completed", text: "Done.", undelivered: [] });
  expect(bodies[1].messages.at(-1)).toEqual({ role: "user", content: [result] });
  expect(bodies[2].messages.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "also this" }] });
});

it("a server's tool that another model has left without a result is not sent again", async () => {
  const { model, bodies } = answering({ content: [search, call], stop_reason: "tool_use" }, done);
  const other = custom(() => "Another model.");
  const agent = createAgent({
    model,
    tools: { look: look(() => "r") },
    prepareIteration: ({ iteration }) => (iteration === 2 ? { model: other } : undefined),
  });
  const { messages, outcome } = await agent.run("go").result;
  expect(outcome).toBe("completed");
  await agent.run("and now?", { messages }).result;
  const [, answer, results] = bodies[1].messages;
  expect(answer.content).toEqual([call]);
  expect(results.content).toEqual([result]);
});

it("a server's tool that the next answer has left without a result is not sent again", async () => {
  const { model, bodies } = answering(
    { content: [search, call], stop_reason: "tool_use" },
    { content: [{ ...call, id: "toolu_2" }], stop_reason: "tool_use" },
    done,
  );
  const agent = createAgent({ model, tools: { look: look(() => "r") } });
  expect(await agent.run("go").result).toMatchObject({ outcome: "completed" });
  expect(bodies[1].messages[1].content).toEqual([search, call]);
  expect(bodies[2].messages[1].content).toEqual([call]);
});

it("of two calls of server tools, the one whose result came is sent again", async () => {
  const { model, bodies } = answering(
    { content: [search, { ...search, id: "srvtoolu_2" }, call], stop_reason: "tool_use" },
    { content: [found, { type: "text", text: "Fou" }], stop_reason: "max_tokens" },
    done,
  );
  const agent = createAgent({ model, tools: { look: look(() => "r") } });
  const { messages } = await agent.run("go").result;
  await agent.run("and now?", { messages }).result;
  const [, answer, results, next] = bodies[2].messages;
  expect(answer.content).toEqual([search, call]);
  expect(results.content).toEqual([result]);
  expect(next.content).toEqual([found, { type: "text", text: "Fou" }]);
});

it("what a hook adds to a result stands in it while a server's tool waits", async () => {
  const { model, bodies } = answering(
    { content: [search, call], stop_reason: "tool_use" },
    {
      ...done,
      content: [found, ...done.content],
    },
  );
  const agent = createAgent({
    model,
    tools: { look: look(() => "r") },
    hooks: { PostToolUse: [{ hooks: [() => ({ additionalContext: "Mind the date." })] }] },
  });
  expect(await agent.run("go").result).toMatchObject({ outcome: "completed" });
  const { content } = bodies[1].messages.at(-1);
  expect(content.map(({ type }: any) => type)).toEqual(["tool_result"]);
  expect(JSON.stringify(content)).toContain("Mind the date.");
});

it("another effort counts for a request that adds text while a server's tool waits", async () => {
  const thinking = { type: "thinking", thinking: "", signature: "s" };
  const answer = { content: [thinking, search, call], stop_reason: "tool_use" };
  const { model, eager, bodies } = answering(answer, done);
  const agent = createAgent({
    model,
    tools: { look: look(() => "r") },
    hooks: { PostToolUse: [{ hooks: [() => ({ additionalContext: "Mind the date." })] }] },
    prepareIteration: ({ iteration }) => (iteration === 2 ? { model: eager } : undefined),
  });
  expect(await agent.run("go").result).toMatchObject({ outcome: "completed" });
  expect(bodies.map(({ output_config }) => output_config?.effort)).toEqual([undefined, "max"]);
  expect(bodies[1].messages.map(({ role }: any) => role)).toEqual(["user", "assistant", "user"]);
});

it("a program goes on in its container", async () => {
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
  const container = { id: "container_1", expires_at: "2026-12-01T00:00:00Z" };
  const { model, bodies } = answering(
    { content: [{ ...call, caller }], stop_reason: "tool_use", container },
    done,
    done,
  );
  const agent = createAgent({ model, tools: { look: look(() => "r") } });
  const { messages } = await agent.run("go").result;
  await agent.run("on", { messages }).result;
  expect(bodies.map(({ container }) => container)).toEqual([undefined, "container_1", undefined]);
  // It is no field of the call.
  expect(bodies[1].messages[1].content).toEqual([{ ...call, caller }]);
});

it("a stream tells the container beside its stop reason", async () => {
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
  const events = [
    {
      type: "message_start",
      message: { id: "m", type: "message", role: "assistant", content: [], usage: {} },
    },
    { type: "content_block_start", index: 0, content_block: { ...call, caller } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", container: { id: "container_2" } },
      usage: {},
    },
    { type: "message_stop" },
  ];
  const bodies: any[] = [];
  const fetch = async (_: string, init?: RequestInit): Promise<Response> => {
    bodies.push(body(init));
    if (bodies.length > 1)
      return Response.json({ id: "m2", type: "message", role: "assistant", usage: {}, ...done });
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const model = anthropic("claude-opus-5-5", { apiKey: "k", fetch: fetch as never });
  await createAgent({ model, tools: { look: look(() => "r") } }).run("go").result;
  expect(bodies[1].container).toBe("container_2");
});

it("a refusal's details stand in the result, and a later answer has none", async () => {
  const details = {
    type: "refusal",
    category: "cyber",
    explanation: "why",
    recommended_model: "claude-opus-5",
  };
  const { model } = answering({ content: [], stop_reason: "refusal", stop_details: details }, done);
  const agent = createAgent({ model });
  const { finishReason, stopDetails, messages } = await agent.run("go").result;
  expect({ finishReason, stopDetails }).toEqual({ finishReason: "refusal", stopDetails: details });
  const next = await agent.run("on", { messages }).result;
  expect(next).toMatchObject({ text: "Done." });
  expect(next).not.toHaveProperty("stopDetails");
});
