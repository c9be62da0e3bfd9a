import { describe, expect, it, vi } from "vitest";
import {
  anthropic,
  createAgent,
  handoff,
  hasToolCall,
  subagent,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import {
  scripted,
  type ReceivedRequest,
  type ScriptedTurn,
} from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, RunEvent } from "../../../src/typescript/core/api/index.js";

const none = { type: "object", properties: {} } as const;
const model = (name: string, turns: Parameters<typeof scripted>[0], apiKey = "key-root") => {
  const fetch = scripted(turns);
  return { fetch, model: anthropic(name, { apiKey, fetch }) };
};
const asks = (name: string, prompt: string, id?: string): ScriptedTurn => ({
  toolCalls: [{ name, input: { prompt }, ...(id === undefined ? {} : { id }) }],
});
const system = ({ body }: ReceivedRequest) => JSON.stringify((body as { system?: unknown }).system ?? "");

describe("subagents", () => {
  it("S001-43: answer a call with their own system prompt, tools, model and key", async () => {
    const root = model("big", [asks("researcher", "Find X."), { text: "Report." }]);
    const below = model(
      "small",
      [{ toolCalls: [{ name: "search", input: {} }] }, { text: "X is 1." }],
      "key-below",
    );
    const search = vi.fn(() => "found");
    const researcher = subagent({
      description: "Researches",
      system: "You dig.",
      model: below.model,
      tools: { search: tool({ description: "Searches", inputSchema: none, execute: search }) },
    });
    const texts: string[] = [];
    const agent = createAgent({ model: root.model, system: "You write.", tools: { researcher } });
    const run = agent.run("Go", { onText: (text) => texts.push(text) });
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "completed", text: "Report.", iterations: 2 });
    expect(result.toolCalls).toMatchObject([{ toolName: "researcher", output: "X is 1." }]);
    expect(search).toHaveBeenCalledOnce();
    expect(texts.join("")).toBe("Report.");
    expect(below.fetch.requests).toHaveLength(2);
    expect(below.fetch.requests[0]).toMatchObject({
      body: { model: "small" },
      headers: { "x-api-key": "key-below" },
    });
    expect(system(below.fetch.requests[0]!)).toContain("You dig.");
    expect(JSON.stringify(root.fetch.requests[1]!.body)).not.toContain("found");
    const inside = events.filter(({ agentPath }) => agentPath === "root/researcher");
    expect(inside[0]).toMatchObject({
      type: "agent-start",
      parentToolCallId: result.toolCalls[0]!.toolCallId,
    });
    expect(inside.every((event) => event.parentToolCallId === result.toolCalls[0]!.toolCallId)).toBe(true);
    expect(inside.filter(({ type }) => type === "text-delta")).not.toHaveLength(0);
    expect(result.usage!.inputTokens).toBeGreaterThan(0);
  });

  it("are the same agent as a copy with another name and description", async () => {
    const root = model("big", [asks("digger", "Find X."), { text: "Report." }]);
    const below = model("small", [{ text: "X is 1." }]);
    const researcher = subagent({ description: "Researches", model: below.model });
    const digger = { ...researcher, description: "Digs" };
    const agent = createAgent({ model: root.model, tools: { digger } });
    expect((await agent.run("Go").result).toolCalls).toMatchObject([{ output: "X is 1." }]);
    expect(root.fetch.requests[0]!.body).toMatchObject({ tools: [{ name: "digger", description: "Digs" }] });
  });

  it("S002-17: work beside each other, on tools of the same name that are not the same", async () => {
    const root = model("big", [
      {
        toolCalls: [
          { name: "one", input: { prompt: "1" } },
          { name: "two", input: { prompt: "2" } },
        ],
      },
      { text: "Both." },
    ]);
    const called: string[] = [];
    const open: (() => void)[] = [];
    const part = (name: string) =>
      subagent({
        description: name,
        model: model(name, [{ toolCalls: [{ name: "look", input: {} }] }, { text: name }]).model,
        tools: {
          look: tool({
            description: "Looks",
            inputSchema: none,
            execute: () => {
              called.push(name);
              const both = new Promise<void>((resolve) => open.push(resolve));
              if (open.length === 2) open.forEach((resolve) => resolve());
              return both;
            },
          }),
        },
      });
    const agent = createAgent({ model: root.model, tools: { one: part("one"), two: part("two") } });
    const { toolCalls } = await agent.run("Go").result;
    expect(called.sort()).toEqual(["one", "two"]);
    expect(toolCalls.map(({ output }) => output)).toEqual(["one", "two"]);
  });

  it("a persistent one remembers its earlier calls within the run", async () => {
    const root = model("big", [asks("pal", "One."), asks("pal", "Two."), { text: "End." }]);
    const below = model("small", [{ text: "First." }, { text: "Second." }]);
    const pal = subagent({ description: "Pal", model: below.model, persistent: true });
    await createAgent({ model: root.model, tools: { pal } }).run("Go").result;
    const second = JSON.stringify(below.fetch.requests[1]!.body);
    expect(second).toContain("One.");
    expect(second).toContain("First.");
  });

  it("without a model of its own it asks its caller's, without that one's tool choice", async () => {
    const fetch = scripted([asks("pal", "One."), { text: "Mine." }, { text: "End." }]);
    const agent = createAgent({
      model: anthropic("big", { apiKey: "k", fetch, toolChoice: { tool: "pal" } }),
      tools: { pal: subagent({ description: "Pal", maxOutputTokens: 99 }) },
    });
    await agent.run("Go").result;
    const body = fetch.requests[1]!.body as { tool_choice?: unknown; max_tokens: number };
    expect(body.tool_choice).toBeUndefined();
    expect(body.max_tokens).toBe(99);
  });

  it("canUseTool is told whose call it is", async () => {
    const canUseTool = vi.fn(() => ({ behavior: "allow" }) as const);
    const dig = tool({ description: "Digs", inputSchema: none, execute: () => 1 });
    const pal = subagent({
      description: "Pal",
      model: model("small", [{ toolCalls: [{ name: "dig", input: {} }] }, { text: "Dug." }]).model,
      tools: { dig },
    });
    const root = model("big", [asks("pal", "One."), { text: "End." }]);
    await createAgent({ model: root.model, tools: { pal }, permissions: { canUseTool } }).run("Go").result;
    const paths = canUseTool.mock.calls.map((call) => (call as unknown[])[2] as { agentPath: string });
    expect(paths.map(({ agentPath }) => agentPath)).toEqual(["root", "root/pal"]);
  });

  it("an abort ends it within the same task, and tells its tools", async () => {
    let aborted = false;
    const wait = tool({
      description: "Waits",
      inputSchema: none,
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("stop"));
          });
          setTimeout(() => run.abort("enough"), 0);
        }),
    });
    const below = model("small", [{ text: "Hm.", toolCalls: [{ name: "wait", input: {} }] }]);
    const pal = subagent({ description: "Pal", model: below.model, tools: { wait } });
    const root = model("big", [asks("pal", "One.")]);
    const run = createAgent({ model: root.model, tools: { pal } }).run("Go");
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
    expect(aborted).toBe(true);
    expect(result.messages).toHaveLength(3);
  });

  it("a handoff goes on with the transcript under another system prompt, and back", async () => {
    const fetch = scripted([
      { toolCalls: [{ name: "to_billing", input: {} }] },
      { toolCalls: [{ name: "hand_back", input: {} }] },
      { text: "Back here." },
    ]);
    const refund = tool({ description: "Refunds", inputSchema: none, execute: () => 1 });
    const agent = createAgent({
      model: anthropic("m", { apiKey: "k", fetch }),
      system: "You greet.",
      tools: {
        to_billing: handoff({
          description: "Billing",
          system: "You are billing.",
          tools: { refund },
          handBack: true,
        }),
      },
    });
    const handed: string[] = [];
    const models: string[] = [];
    const result = await agent.run("Hi", {
      onEvent: (event) => {
        if (event.type === "handoff") handed.push(event.to);
        if (event.type === "model-change") models.push(event.model);
      },
    }).result;
    expect(result).toMatchObject({ outcome: "completed", text: "Back here.", iterations: 3 });
    expect(fetch.requests.map(system)).toEqual([
      expect.stringContaining("greet"),
      expect.stringContaining("billing"),
      expect.stringContaining("greet"),
    ]);
    const tools = (fetch.requests[1]!.body as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(tools).toEqual(["refund", "hand_back"]);
    expect(handed).toEqual(["to_billing", "hand_back"]);
    expect(models, "both ask the same model").toEqual([]);
  });
});

describe("subagents have of their own", () => {
  it("an output: their caller gets the validated JSON", async () => {
    const root = model("big", [asks("pal", "One."), { text: "End." }]);
    const below = model("small", [{ text: "{}" }, { text: '{"n": 3}' }]);
    const validate = vi.fn(({ n }: { n?: number }) => (n === undefined ? "n is missing" : undefined));
    const schema = { type: "object", properties: { n: { type: "integer" } } } as const;
    const pal = subagent({
      description: "Pal",
      model: below.model,
      output: { schema, mode: "native", validate },
    });
    const { toolCalls, output } = await createAgent({ model: root.model, tools: { pal } }).run("Go").result;
    expect(toolCalls[0]!.output).toEqual({ n: 3 });
    expect(validate).toHaveBeenCalledTimes(2);
    expect(output).toBeUndefined();
    expect(JSON.stringify(below.fetch.requests[1]!.body)).toContain("n is missing");
  });

  it("functions in stopWhen, which hear their rounds only", async () => {
    const dig = tool({ description: "Digs", inputSchema: none, execute: () => "dug" });
    const below = model("small", [{ text: "So far.", toolCalls: [{ name: "dig", input: {} }] }]);
    const own = vi.fn(() => true);
    const runs = vi.fn(() => false);
    const pal = subagent({
      description: "Pal",
      model: below.model,
      tools: { dig },
      limits: { stopWhen: own },
    });
    const root = model("big", [asks("pal", "One."), { text: "End." }]);
    const agent = createAgent({ model: root.model, tools: { pal }, limits: { stopWhen: runs } });
    const { toolCalls, outcome } = await agent.run("Go").result;
    expect(outcome).toBe("completed");
    expect(toolCalls[0]!.output).toContain("stopped by its limit: condition");
    expect(own).toHaveBeenCalledWith(
      expect.objectContaining({ toolCalls: [expect.objectContaining({ output: "dug" })] }),
    );
    expect(runs).toHaveBeenCalledWith(
      expect.objectContaining({ toolCalls: [expect.objectContaining({ toolName: "pal" })] }),
    );
    expect(own).toHaveBeenCalledOnce();
    expect(runs).toHaveBeenCalledOnce();
  });

  it("retries and fallback models", async () => {
    const root = model("big", [asks("pal", "One."), { text: "End." }]);
    const broken = model("small", [{ status: 529 }, { status: 529 }] as never);
    const other = model("other", [{ text: "Other." }]);
    const pal = subagent({
      description: "Pal",
      model: broken.model,
      maxOutputTokens: 500,
      fallbackModels: [other.model],
      retry: { maxRetries: 1, baseMs: 0, jitterMs: 0 },
    });
    const agent = createAgent({ model: root.model, tools: { pal }, retry: { maxRetries: 0 } });
    const { toolCalls } = await agent.run("Go").result;
    expect(toolCalls[0]!.output).toBe("Other.");
    expect(broken.fetch.requests).toHaveLength(2);
    expect(other.fetch.requests[0]!.body).toMatchObject({ max_tokens: 500 });
  });

  it("no fallback models of the run, if it says so", async () => {
    const root = model("big", [asks("pal", "One."), { status: 529 }, { text: "End." }] as never);
    const other = model("other", [{ text: "Other." }]);
    const pal = subagent({ description: "Pal", fallbackModels: [] });
    const agent = createAgent({
      model: root.model,
      tools: { pal },
      fallbackModels: [other.model],
      retry: { maxRetries: 0 },
    });
    const { text, toolCalls } = await agent.run("Go").result;
    expect(text).toBe("End.");
    expect(toolCalls[0]!.output).toMatchObject({ code: expect.any(String) });
    expect(other.fetch.requests).toHaveLength(0);
  });
});

describe("what a subagent is given wrong is told at once", () => {
  const agent = (tools: AgentOptions["tools"], more: Partial<AgentOptions> = {}) =>
    createAgent({ model: model("m", []).model, tools, ...more });
  const pal = (more: object) => subagent({ description: "Pal", ...more } as never);

  it.each<[string, () => unknown, object]>([
    [
      "an unknown option",
      () => pal({ maxIteration: 1 }),
      { field: "subagent.maxIteration", message: expect.stringContaining("limits: { maxIterations }") },
    ],
    [
      "no description",
      () => subagent({} as never),
      { code: "config_missing", field: "subagent.description" },
    ],
    [
      "an option of createAgent",
      () => pal({ permissions: { mode: "plan" } }),
      { code: "config_unknown_option" },
    ],
    ["no model", () => agent({ pal: pal({ model: "x" }) }), { field: "tools.pal.model" }],
    [
      "a model without its key",
      () => agent({ pal: pal({ model: anthropic("m") }) }),
      { field: "tools.pal.model.apiKey" },
    ],
    [
      "a tool of it",
      () => agent({ pal: pal({ tools: { dig: { description: "d", inputSchema: none } } }) }),
      { field: "tools.pal.tools.dig.execute" },
    ],
    [
      "a timeout",
      () => agent({ pal: pal({ timeouts: { totalMs: -1 } }) }),
      { field: "subagent.timeouts.totalMs" },
    ],
    [
      "no condition",
      () => agent({ pal: pal({ limits: { stopWhen: ["x"] } }) }),
      {
        field: "tools.pal.limits.stopWhen[0]",
        message: expect.stringContaining("tools.pal.limits.stopWhen[0]: needs"),
      },
    ],
    ["a retry", () => agent({ pal: pal({ retry: { maxRetry: 1 } }) }), { field: "subagent.retry.maxRetry" }],
    [
      "a fallback",
      () => agent({ pal: pal({ fallbackModels: ["x"] }) }),
      { field: "tools.pal.fallbackModels[0]" },
    ],
    [
      "a fallback without a price",
      () => agent({ pal: pal({ limits: { maxUsd: 1 }, fallbackModels: [model("x", []).model] }) }),
      { field: "tools.pal.limits.maxUsd" },
    ],
    ["no output", () => agent({ pal: pal({ output: {} }) }), { field: "tools.pal.output.schema" }],
    [
      "a threshold",
      () => agent({ pal: pal({ context: { compaction: { threshold: 2 } } }) }),
      { field: "tools.pal.context.compaction.threshold" },
    ],
    [
      "a condition on a tool that it has not",
      () => agent({ pal: pal({ limits: { stopWhen: hasToolCall("pal") } }) }),
      { code: "config_invalid_value" },
    ],
    [
      "a price that is not known",
      () => agent({ pal: pal({ model: model("x", []).model }) }, { limits: { maxUsd: 1 } }),
      { field: "limits.maxUsd" },
    ],
    [
      "a price of its own that is not known",
      () => agent({ pal: pal({ limits: { maxUsd: 1 } }) }),
      { code: "config_missing", field: "tools.pal.limits.maxUsd" },
    ],
    [
      "a limit of nothing",
      () => agent({ pal: pal({ limits: { maxUsd: 0 } }) }),
      { code: "config_invalid_value", field: "tools.pal.limits.maxUsd" },
    ],
    [
      "too deep a tree",
      () => agent({ pal: pal({ tools: { pal: pal({}) } }) }),
      { field: "tools.pal.tools.pal", message: expect.stringContaining("maxSubagentDepth: 2") },
    ],
    [
      "a depth beyond 8",
      () => agent({}, { limits: { maxSubagentDepth: 9 } }),
      { field: "limits.maxSubagentDepth" },
    ],
    [
      "handoffs without an end",
      () => {
        const tools: Record<string, ReturnType<typeof handoff>> = {};
        tools["to"] = handoff({ description: "To", tools });
        agent(tools);
      },
      { message: expect.stringContaining("at most 8 levels") },
    ],
  ])("%s", (_, make, error) => {
    expect(make).toThrow(expect.objectContaining(error));
  });

  it("a tree of the depth that is allowed is none of them", () => {
    expect(() =>
      agent({ pal: pal({ tools: { pal: pal({}) } }) }, { limits: { maxSubagentDepth: 2 } }),
    ).not.toThrow();
  });
});
