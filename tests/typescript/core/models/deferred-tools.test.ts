/** Tools with `deferLoading`: the model gets a definition when it has found the tool. */
import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  openai,
  openaiChat,
  tool,
  type AgentOptions,
  type RunEvent,
  type Tool,
} from "looplet";
import { connectMcp } from "looplet/mcp";
import { scripted, type ScriptedStep } from "looplet/practice";
import { rank } from "../../../../src/typescript/core/tools/deferred/rank.js";

const ran: string[] = [];
const rare = (description: string, execute: (input: any) => unknown = () => "ok"): Tool =>
  tool({
    description,
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    deferLoading: true,
    execute: (input) => (ran.push(JSON.stringify(input)), execute(input)),
  }) as Tool;
const TOOLS = {
  weather: rare("Tells the weather of a city", ({ city }) => `Rain in ${city}`),
  stocks: rare("Tells the price of a share"),
  mine: tool({ description: "Is always there", inputSchema: { type: "object" }, execute: () => "mine" }),
};

/** A run of these answers over Chat Completions, which has no search of its own. */
async function chatted(steps: ScriptedStep[], options: Partial<AgentOptions> = {}) {
  ran.length = 0;
  const fetch = scripted(steps);
  const events: RunEvent[] = [];
  const agent = createAgent({ model: openaiChat("m", { fetch }), tools: TOOLS, ...options });
  const result = await agent.run("Go", { onEvent: (event) => void events.push(event) }).result;
  return { result, events, bodies: fetch.requests.map(({ body }) => body as any) };
}

const search = (query: string): ScriptedStep => ({ toolCalls: [{ name: "search_tools", input: { query } }] });
const call = (name: string, input: unknown): ScriptedStep => ({
  toolCalls: [{ name: "call_tool", input: { name, input } }],
});

describe("where the vendor has no search", () => {
  it("the model finds a tool and calls it, and each request begins as the one before", async () => {
    const steps = [search("weather"), call("weather", { city: "Paris" }), { text: "It rains." }];
    const { result, events, bodies } = await chatted(steps);
    expect(result.text).toBe("It rains.");
    const names = bodies.map(({ tools }) => tools.map(({ function: { name } }: any) => name));
    expect(names).toEqual(Array(3).fill(["mine", "search_tools", "call_tool"]));
    const heads = bodies.map(({ messages, ...head }) => JSON.stringify(head));
    expect(new Set(heads).size).toBe(1);
    expect(bodies[2].messages.slice(0, bodies[1].messages.length)).toEqual(bodies[1].messages);
    const found = bodies[1].messages.at(-1).content;
    expect(JSON.parse(found)).toEqual({
      name: "weather",
      description: "Tells the weather of a city",
      inputSchema: TOOLS.weather.inputSchema,
    });
    expect(bodies[2].messages.at(-2).tool_calls[0].function).toEqual({
      name: "call_tool",
      arguments: JSON.stringify({ name: "weather", input: { city: "Paris" } }),
    });
    expect(bodies[2].messages.at(-1).content).toBe("Rain in Paris");
    const calls = events.flatMap((event) =>
      event.type === "tool-call" ? [[event.toolName, event.input]] : [],
    );
    expect(calls).toEqual([
      ["search_tools", { query: "weather" }],
      ["weather", { city: "Paris" }],
    ]);
    expect(result.toolCalls.at(-1)).toMatchObject({ toolName: "weather", output: "Rain in Paris" });
  });

  it("rules judge the tool that is called, and nobody is asked about a search", async () => {
    const steps = [
      search("price of a share"),
      call("stocks", {}),
      call("weather", { city: "Rome" }),
      { text: "Done." },
    ];
    const { result } = await chatted(steps, { permissions: { allow: ["weather"] } });
    expect(result.toolCalls.map(({ toolName, isError }) => [toolName, isError ?? false])).toEqual([
      ["search_tools", false],
      ["stocks", true],
      ["weather", false],
    ]);
    expect(ran).toEqual([JSON.stringify({ city: "Rome" })]);
  });

  it("input in a string is read, and a name that no tool has is told", async () => {
    const steps = [
      call("weather", '{"city":"Oslo"}'),
      call("nothing", {}),
      search("zebra"),
      { text: "Done." },
    ];
    const { bodies } = await chatted(steps);
    expect(ran).toEqual([JSON.stringify({ city: "Oslo" })]);
    expect(bodies[2].messages.at(-1).content).toContain("There is no tool named nothing");
    expect(bodies[3].messages.at(-1).content).toContain("No tool fits");
  });

  it("a search of yours takes the place of looplet's, with Claude too", async () => {
    const seen: unknown[] = [];
    const searchTools = (query: string, tools: readonly { name: string }[]) => {
      seen.push([query, tools.map(({ name }) => name)]);
      return ["stocks", "mine", "gone"];
    };
    const { bodies } = await chatted([search("anything"), { text: "Done." }], { toolCalls: { searchTools } });
    expect(seen).toEqual([["anything", ["weather", "stocks"]]]);
    expect(bodies[1].messages.at(-1).content).toMatch(/^\{"name":"stocks"[^\n]*$/);
    const fetch = scripted([{ text: "Done." }]);
    const model = anthropic("claude-opus-5-5", { fetch });
    await createAgent({ model, tools: TOOLS, toolCalls: { searchTools } }).run("Go").result;
    expect((fetch.requests[0]!.body as any).tools.map(({ name }: any) => name)).toEqual([
      "mine",
      "search_tools",
      "call_tool",
    ]);
  });

  it("a tool of yours may not have the name of one that loads others", () => {
    const model = openaiChat("m", { fetch: scripted([]) });
    expect(() => createAgent({ model, tools: { ...TOOLS, call_tool: TOOLS.mine } })).toThrow(
      /tools\.call_tool/,
    );
  });

  it("a server's tools may wait to be found", async () => {
    const answer = (result: object) => ({ jsonrpc: "2.0", result });
    const fetch = async (_: unknown, init: RequestInit): Promise<Response> => {
      const { id, method } = JSON.parse(String(init.body)) as { id: number; method: string };
      if (id === undefined) return new Response(null, { status: 202 });
      const tools = [{ name: "far", description: "Is far away", inputSchema: { type: "object" } }];
      const initialized = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      };
      return Response.json({ id, ...answer(method === "tools/list" ? { tools } : initialized) });
    };
    const server = await connectMcp({
      url: "https://mcp.example/",
      fetch: fetch as never,
      deferLoading: true,
    });
    const tools = await server.tools("far");
    expect(Object.values(tools).map(({ deferLoading }) => deferLoading)).toEqual([true]);
  });
});

describe("where the vendor has a search", () => {
  const names = (tools: any[]) =>
    tools.map(({ name, type, defer_loading }) => [name ?? type, defer_loading ?? false]);

  it("Claude and GPT get all definitions, which wait, and the vendor's search", async () => {
    for (const [model, search] of [
      [(fetch: any) => anthropic("claude-opus-5-5", { fetch }), "tool_search_tool_bm25"],
      [(fetch: any) => openai("gpt-5.6", { fetch }), "tool_search"],
    ] as const) {
      const fetch = scripted([
        { toolCalls: [{ name: "weather", input: { city: "Rome" } }] },
        { text: "Done." },
      ]);
      const { toolCalls } = await createAgent({ model: model(fetch), tools: TOOLS }).run("Go").result;
      expect(names((fetch.requests[0]!.body as any).tools)).toEqual([
        ["weather", true],
        ["stocks", true],
        ["mine", false],
        [search, false],
      ]);
      expect(toolCalls[0]).toMatchObject({ toolName: "weather", output: "Rain in Rome" });
    }
  });

  it("the cache marker is on a tool that does not wait", async () => {
    const fetch = scripted([{ text: "Done." }]);
    const tools = { mine: TOOLS.mine, weather: TOOLS.weather };
    await createAgent({ model: anthropic("claude-opus-5-5", { fetch }), tools }).run("Go").result;
    const sent = (fetch.requests[0]!.body as any).tools;
    expect(sent.map((one: object) => "cache_control" in one)).toEqual([true, false, false]);
  });
});

describe("the search by words", () => {
  const tools = [
    { name: "get_open_orders", description: "Lists orders that are not paid" },
    { name: "createInvoice", description: "Makes an invoice of an order" },
    {
      name: "weather",
      description: "Tells the weather, for orders of umbrellas, of invoices and of anything else",
    },
  ];

  it("puts rare words and short texts first, and knows words within names", () => {
    expect(rank("unpaid open order", tools)[0]).toBe("get_open_orders");
    expect(rank("invoice", tools)[0]).toBe("createInvoice");
    expect(rank("WEATHER", tools)).toEqual(["weather"]);
    expect(rank("zebra", tools)).toEqual([]);
    expect(rank("", [])).toEqual([]);
  });
});
