import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  anthropic,
  createAgent,
  handoff,
  removeAllTools,
  subagent,
  ToolError,
  type HandoffInput,
  type Message,
} from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";

const model = (...turns: Parameters<typeof scripted>[0]) => {
  const fetch = scripted(turns);
  return { fetch, model: anthropic("claude", { apiKey: "k", fetch }) };
};
const calls = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

describe("an agent of createAgent as a tool", () => {
  it("answers a call with its own options", async () => {
    const below = model({ text: "X is 1." });
    const researcher = createAgent({ model: below.model, system: "You dig.", limits: { maxIterations: 3 } });
    const root = model(calls("researcher", { prompt: "Find X." }), { text: "Report." });
    const agent = createAgent({
      model: root.model,
      tools: { researcher: subagent(researcher, { description: "Researches" }) },
    });
    const result = await agent.run("Go").result;
    expect(result).toMatchObject({ text: "Report.", toolCalls: [{ output: "X is 1." }] });
    expect(JSON.stringify(below.fetch.requests[0]!.body)).toContain("You dig.");
  });

  it("takes the conversation over", async () => {
    const below = model({ text: "Refunded." });
    const billing = createAgent({ model: below.model, system: "You are billing." });
    const root = model(calls("billing", {}));
    const agent = createAgent({
      model: root.model,
      tools: [handoff(billing, { name: "billing", description: "Invoices" })],
    });
    expect(await agent.run("Refund me.").result).toMatchObject({ text: "Refunded." });
    expect(JSON.stringify(below.fetch.requests[0]!.body)).toContain("You are billing.");
  });
});

describe("a handoff", () => {
  const setUp = (input: object, options: object) => {
    const { fetch, model: one } = model(calls("billing", input), { text: "Mine." });
    const billing = handoff({ description: "Invoices", system: "You are billing.", ...options });
    const run = createAgent({ model: one, tools: { billing } }).run("Go");
    return { run, body: () => JSON.stringify(fetch.requests[1]!.body) };
  };

  it("takes place although the model says something with it", async () => {
    const { run, body } = setUp({ reason: "An invoice.", urgent: true }, {});
    await run.result;
    expect(body()).toContain("You are billing.");
  });

  it("tells your code its input first", async () => {
    const inputSchema = z.object({ reason: z.string() });
    const told: unknown[] = [];
    const onHandoff = (input: unknown) => told.push(input);
    const { run, body } = setUp({ reason: "An invoice." }, { inputSchema, onHandoff });
    expect(await run.result).toMatchObject({ text: "Mine.", toolCalls: [{ isError: false }] });
    expect(body()).toContain("You are billing.");
    expect(told).toEqual([{ reason: "An invoice." }]);
  });

  it.each([
    ["your code throws", { reason: "An invoice." }, "Closed today."],
    ["its input does not fit", { reason: 1 }, "reason"],
  ])("does not take place if %s", async (_, input, problem) => {
    const inputSchema = z.object({ reason: z.string() });
    const onHandoff = () => {
      throw new ToolError({ message: "Closed today." });
    };
    const { run, body } = setUp(input, { inputSchema, onHandoff });
    await run.result;
    expect(body()).not.toContain("You are billing.");
    expect(body()).toContain(problem);
  });
});

describe("the messages that an agent begins with", () => {
  const setUp = (options: object, input = {}) => {
    const turn = { text: "One moment.", toolCalls: [{ name: "billing", input }] };
    const { fetch, model: one } = model(turn, { text: "Mine." });
    const billing = handoff({ description: "Invoices", system: "You are billing.", ...options });
    const run = createAgent({ model: one, tools: { billing } }).run("Go");
    const sent = () => (fetch.requests[1]!.body as { messages: unknown[] }).messages;
    return { run, sent, count: () => fetch.requests.length };
  };
  const said = (text: string) => [{ role: "user", content: [{ type: "text", text }] }];

  it("are those that your filter returns, from the whole conversation", async () => {
    const told: HandoffInput<any>[] = [];
    const inputSchema = z.object({ reason: z.string() });
    const inputFilter = async (handoff: HandoffInput<any>) => {
      told.push(handoff);
      return said("Only this.");
    };
    const { run, sent } = setUp({ inputSchema, inputFilter }, { reason: "An invoice." });
    const result = await run.result;
    expect(told).toMatchObject([
      {
        toolName: "billing",
        agentPath: "root",
        input: { reason: "An invoice." },
        signal: { aborted: false },
      },
    ]);
    expect(told[0]!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(sent()).toMatchObject([{ role: "user", content: [{ text: "Only this." }] }]);
    expect(result.messages).toMatchObject([...said("Only this."), { role: "assistant" }]);
    expect(result).toMatchObject({ outcome: "completed", text: "Mine.", agent: "root/billing" });
  });

  it("are told apart from arguments that nobody has asked the model for", async () => {
    let told: unknown;
    const inputFilter = ({ input, messages }: HandoffInput) => {
      told = input;
      return messages;
    };
    await setUp({ inputFilter }, { chat: "ty" }).run.result;
    expect(told).toEqual({});
  });

  it("lose calls, results and reasoning by removeAllTools", async () => {
    const { run, sent } = setUp({ inputFilter: removeAllTools });
    await run.result;
    expect(sent()).toMatchObject([
      { role: "user", content: [{ text: "Go" }] },
      { role: "assistant", content: [{ type: "text", text: "One moment." }] },
      { role: "user", content: [{ text: "The conversation has been handed off." }] },
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("Closed.");
      },
      "Closed.",
    ],
    ["returns nothing", () => undefined, "it returned nothing"],
    ["returns no messages", () => ["Go"], "messages[0]"],
    ["returns a number as content", () => [{ role: "user", content: 7 }], "content: string | Block[]"],
    ["returns an unknown block", () => [{ role: "user", content: [{ type: "x" }] }], "content"],
    ["returns no message at all", () => [], "no messages to send"],
    [
      "returns a result without its call",
      () => [{ role: "user", content: [{ type: "tool_result", callId: "x", content: [] }] }],
      "answers no tool call",
    ],
  ])("fail the run if your filter %s", async (_, inputFilter, problem) => {
    const { run, count } = setUp({ inputFilter });
    const { outcome, error, agent } = await run.result;
    expect([outcome, error?.code, agent, count()]).toEqual(["failed", "config_invalid", "root", 1]);
    expect(error?.message).toContain("inputFilter of billing");
    expect(error?.message).toContain(problem);
  });
});

describe("removeAllTools", () => {
  it("keeps what people and models have said, and what is a user's own", () => {
    const origin = { protocol: "anthropic", model: "claude" };
    const messages: Message[] = [
      { role: "user", content: [{ type: "raw", json: { type: "document" } }] },
      { role: "assistant", content: [{ type: "text", text: "Whole." }], origin },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "Hm." },
          { type: "raw", json: { type: "server_tool_use" } },
          { type: "text", text: "Wait." },
          { type: "tool_call", id: "a", name: "f", input: {} },
        ],
        origin,
      },
      { role: "user", content: [{ type: "tool_result", callId: "a", content: [], isError: false }] },
    ];
    expect(removeAllTools({ messages })).toEqual([
      messages[0],
      messages[1],
      { role: "assistant", content: [{ type: "text", text: "Wait." }] },
    ]);
  });
});

describe("the agent that spoke last", () => {
  const setUp = () => {
    const { fetch, model: one } = model(
      calls("billing", {}),
      { text: "Mine." },
      { text: "Still mine." },
      { text: "Hi." },
    );
    const billing = handoff({ description: "Invoices", system: "You are billing." });
    return { fetch, agent: createAgent({ model: one, system: "You greet.", tools: { billing } }) };
  };
  const system = (fetch: ReturnType<typeof model>["fetch"], at: number) =>
    JSON.stringify((fetch.requests[at]!.body as { system: unknown }).system);

  it("goes on in a chat, until the chat is reset", async () => {
    const { fetch, agent } = setUp();
    const chat = agent.chat();
    expect((await chat.run("Hi").result).agent).toBe("root/billing");
    expect((await chat.run("More").result).agent).toBe("root/billing");
    expect(system(fetch, 2)).toContain("billing");
    chat.reset();
    await chat.run("Hi").result;
    expect(system(fetch, 3)).toContain("greet");
  });

  it("can begin another run, and no other agent can", async () => {
    const { fetch, agent } = setUp();
    const { messages, agent: last } = await agent.run("Hi").result;
    await agent.run("More", { messages, agent: last }).result;
    expect(system(fetch, 2)).toContain("billing");
    expect(() => agent.run("More", { agent: "billing" })).toThrow(
      expect.objectContaining({ code: "config_invalid_value", field: "agent" }),
    );
  });
});

describe("mistakes with agents as tools say what to write", () => {
  const made = createAgent({ model: model().model });
  it.each<[string, () => unknown, object]>([
    [
      "an agent among tools",
      () => createAgent({ model: model().model, tools: { pal: made as never } }),
      {
        code: "config_wrong_type",
        field: "tools.pal",
        message: expect.stringContaining("subagent(agent, { description })"),
      },
    ],
    [
      "an agent in an array of tools",
      () => createAgent({ model: model().model, tools: [made as never] }),
      { field: "tools[0]", message: expect.stringContaining("is an agent") },
    ],
    [
      "a copy of an agent's fields",
      () => subagent({ description: "Pal", ...made } as never),
      { field: "subagent.run", message: expect.stringContaining("subagent(agent, { description })") },
    ],
    [
      "an agent among the options",
      () => handoff({ description: "Pal", agent: made } as never),
      { field: "handoff.agent", message: expect.stringContaining("handoff(agent, { description })") },
    ],
    [
      "no description",
      () => (subagent as (agent: unknown) => unknown)(made),
      { code: "config_missing", field: "subagent.description" },
    ],
    [
      "an option of the agent beside the call's",
      () => subagent(made, { description: "Pal", system: "Other" } as never),
      { code: "config_unknown_option", field: "subagent.system" },
    ],
    [
      "an agent with options of a run",
      () =>
        subagent(createAgent({ model: model().model, permissions: { mode: "plan" } }), {
          name: "pal",
          description: "Pal",
        }),
      { code: "config_unknown_option", field: "pal.permissions" },
    ],
    [
      "an agent with a limit of runs",
      () =>
        subagent(createAgent({ model: model().model, limits: { maxIterations: 3, maxSubagentDepth: 2 } }), {
          description: "Pal",
        }),
      { code: "config_unknown_option", field: "subagent.limits.maxSubagentDepth" },
    ],
    [
      "an agent with limits, which a handoff does not take over",
      () =>
        handoff(createAgent({ model: model().model, limits: { maxIterations: 3 } }), { description: "Pal" }),
      { code: "config_unknown_option", field: "handoff.limits" },
    ],
  ])("%s", (_, make, error) => {
    expect(make).toThrow(expect.objectContaining(error));
  });
});
