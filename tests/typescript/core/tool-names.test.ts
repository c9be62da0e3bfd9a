// Names of tools that a vendor refuses, through every entry that takes tools of strangers and of pages.
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, gemini, openai, openaiChat, type Fetch, type Model } from "looplet";
import { clientTool } from "looplet/ai-sdk";
import { scripted } from "looplet/practice";
import { pageTool } from "looplet/tools";
import { connectAgent } from "looplet/workers";
import { endOf, handlerOf, inputOf, ofType, post, said } from "../ui/ag-ui/kit.js";
import { PageKit } from "../server/page-tools/kit.js";
import { Place } from "../support/worker-kit.js";

const NAMES = [
  "get.weather",
  "get weather",
  "get/weather",
  "wetter_für_köln",
  "天气",
  "1st",
  "a.b",
  "a_46b",
  "a_b",
  "a b",
  `${"long_".repeat(20)}one`,
  `${"long_".repeat(20)}two`,
  "x".repeat(256),
];

const VENDORS: { readonly [vendor: string]: (fetch: Fetch) => Model } = {
  anthropic: (fetch) => anthropic("m", { fetch, apiKey: "k" }),
  openai: (fetch) => openai("m", { fetch, apiKey: "k" }),
  openaiChat: (fetch) => openaiChat("m", { fetch, apiKey: "k" }),
  gemini: (fetch) => gemini("m", { fetch, apiKey: "k" }),
};

const schema = { type: "object" } as const;

/** The names of a request's tools, in their order. */
function sent({ body }: { readonly body?: unknown }): string[] {
  const { tools } = body as any;
  const declared = tools[0]?.functionDeclarations ?? tools;
  return declared.map((one: any) => one.name ?? one.function.name);
}

/** Answers that call each tool of the request by the name that it has there, and then end. */
const callingAll = () =>
  scripted([
    (request) => ({ toolCalls: sent(request).map((name, at) => ({ id: `call_${at}`, name, input: {} })) }),
    { text: "Done." },
  ]);

describe.each(Object.entries(VENDORS))("names of a page that %s refuses", (vendor, model) => {
  it("are others on the wire, each its own, and the page's own everywhere else", async () => {
    const fetch = callingAll();
    const handler = handlerOf(createAgent({ model: model(fetch) }));
    // As CopilotKit sends them: no description, and a schema without properties.
    const parameters = { type: "object", properties: {} };
    const tools = NAMES.map((name) => ({ name, description: "", parameters }));
    const first = await post(handler, inputOf({ tools }));
    const started = ofType(first, "TOOL_CALL_START");
    expect(started.map(({ toolCallName }) => toolCallName)).toEqual(NAMES);
    const calls = started.map(({ toolCallId: id, toolCallName: name }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: "{}" },
    }));
    const called = { id: "a1", role: "assistant" as const, content: "", toolCalls: calls };
    const results = calls.map(({ id, function: { name } }) => ({
      id: `${id}.result`,
      role: "tool" as const,
      toolCallId: id,
      content: `result of ${name}`,
    }));
    const second = await post(handler, inputOf({ tools, messages: [said("Hello"), called, ...results] }));
    expect(endOf(second)).toBeDefined();
    const names = sent(fetch.requests[0]!);
    expect(new Set(names).size).toBe(NAMES.length);
    for (const name of names)
      expect(name).toMatch(vendor === "openaiChat" ? /^[\w-]{1,64}$/ : /^[\w-]{1,128}$/);
    // The history of the second request has the names of its tools, and each result.
    expect(sent(fetch.requests[1]!)).toEqual(names);
    const again = JSON.stringify(fetch.requests[1]!.body);
    for (const name of names) expect(again.split(`"name":"${name}"`).length).toBeGreaterThan(2);
    for (const name of NAMES) expect(again).toContain(`result of ${name}`);
  });
});

it("a choice of a tool, and the tools of an iteration, go by the tool's own name", async () => {
  const fetch = scripted([{ text: "Done." }]);
  const of = (name: string) => pageTool({ name, description: "D", inputSchema: schema });
  await createAgent({
    model: anthropic("m", { fetch, apiKey: "k" }),
    tools: [of("a.b"), of("a_b")],
    prepareIteration: () => ({ tools: ["a.b"], toolChoice: { tool: "a.b" } }),
  }).run("Go").result;
  const body = fetch.requests[0]!.body as any;
  expect(body.tools).toHaveLength(1);
  expect(body.tool_choice).toMatchObject({ type: "tool", name: body.tools[0].name });
});

it("a name of a page that is a tool of the agent is the agent's, in a list of tools too", async () => {
  for (const isList of [true, false]) {
    const fetch = callingAll();
    const own = { description: "D", inputSchema: schema, execute: () => "the agent's" };
    const tools = isList ? [{ ...own, name: "a_46b" }] : { a_46b: own };
    const handler = handlerOf(
      createAgent({ model: openaiChat("m", { fetch, apiKey: "k" }), tools } as never),
    );
    const given = ["a_46b", "a.b"].map((name) => ({ name, description: "", parameters: schema }));
    const events = await post(handler, inputOf({ tools: given }));
    expect(ofType(events, "TOOL_CALL_RESULT")).toMatchObject([{ content: "the agent's" }]);
    expect(endOf(events)).toMatchObject({ outcome: { pendingToolCallIds: ["call_1"] } });
    expect(sent(fetch.requests[0]!)).toHaveLength(2);
  }
});

it.each(["", " ", "Bash(ls)", "a*", "a\nb", "x".repeat(257)])("the name %j is an error", (name) => {
  const own = pageTool({ description: "D", inputSchema: schema });
  const model = anthropic("m", { apiKey: "k" });
  const words = /must not be empty|a tool's name is 1 to 256 characters, none of them a bracket, a star or/;
  expect(() => createAgent({ model, tools: { [name]: own } })).toThrow(words);
});

it("a name that the program writes itself has only letters, digits, _ and -", () => {
  const own = { description: "D", inputSchema: schema, execute: () => "" };
  const make = () => createAgent({ model: anthropic("m", { apiKey: "k" }), tools: { "a.b": own } });
  expect(make).toThrow("a tool's name is 1 to 128 letters, digits, _ and -");
});

it("functions of a page have the names of page tools, whatever characters they have", async () => {
  const calls: string[] = [];
  const kit = new PageKit(Object.fromEntries(["a.b", "a_46b", "天气"].map((name) => [name, {}])));
  kit.live();
  const place = new Place();
  place.serve(kit.agent(), { store: kit.store });
  const tools = Object.fromEntries(["a.b", "a_46b", "天气"].map((name) => [name, () => calls.push(name)]));
  const agent = connectAgent(place.endpoint, { heartbeatMs: 20, tools: tools as never });
  const { outcome } = await (await agent.openChat("a")).run("a.b a_46b 天气").result;
  agent.disconnect();
  expect(outcome).toBe("completed");
  expect(calls.sort()).toEqual(["a.b", "a_46b", "天气"].sort());
});

it("a tool of a page may have any of these names", () => {
  for (const make of [pageTool, clientTool])
    for (const name of NAMES) {
      const tools = [make({ name, description: "", inputSchema: schema })];
      expect(() => createAgent({ model: anthropic("m", { apiKey: "k" }), tools })).not.toThrow();
    }
});
