// Fields that other code adds to the prototype of every object are no options.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  anthropic,
  bedrock,
  compatible,
  createAgent,
  custom,
  handoff,
  openai,
  subagent,
  tool,
  type AgentOptions,
  type Fetch,
} from "../../src/typescript/core/entry/node.js";
import * as tables from "../../src/typescript/core/generated/tables.js";
import {
  FACTORS_TABLE,
  LONG_PROMPT_TABLE,
  PRICE_TABLE,
} from "../../src/typescript/core/models/nano-price.js";
import {
  agentTable,
  COMPATIBLE_TABLE,
  CUSTOM_TABLE,
  HANDOFF_TABLES,
  RUN_TABLE,
  subagentTables,
  TOOL_TABLE,
} from "../../src/typescript/core/options/options.js";
import { agentVariants } from "../../src/typescript/compat/presets/index.js";
import { bodyJson } from "./support/bodies.js";
import { azure } from "../../src/typescript/extras/vendors.js";
import { traceRows, traceSpans } from "../../src/typescript/extras/trace/index.js";

/** The names of a table and of the tables in it. */
function namesOf(table: object): string[] {
  return Object.entries(table).flatMap(([name, kind]) => {
    const inner = Array.isArray(kind) ? kind.filter((choice) => typeof choice === "object") : [kind];
    return [
      name,
      ...inner.flatMap((one) => (typeof one === "object" && one !== null ? namesOf(one as object) : [])),
    ];
  });
}

const NAMES = [
  ...new Set(
    [
      agentTable(),
      ...Object.values(agentTable()).filter((kind) => typeof kind === "object" && !Array.isArray(kind)),
      RUN_TABLE,
      TOOL_TABLE,
      COMPATIBLE_TABLE,
      CUSTOM_TABLE,
      PRICE_TABLE,
      LONG_PROMPT_TABLE,
      FACTORS_TABLE,
      ...Object.values(HANDOFF_TABLES),
      ...Object.values(subagentTables()),
      ...Object.values(tables).filter((table) => !Array.isArray(table)),
      { region: 0, credentials: 0, sessionToken: 0, resource: 0, api: 0, service: 0, jobId: 0, subagents: 0 },
      { variants: 0, variables: 0, variant: 0, small: 0 },
      { threshold: 0, summarize: 0, matcher: 0, each: 0, detached: 0, readOnlyHint: 0, toolCall: 0 },
    ].flatMap(namesOf),
  ),
];

const call = (name: string, input: object) => ({ type: "tool_use", id: `id_${name}`, name, input });
const say = (text: string) => ({ type: "text", text });

/** A `fetch` that gives these answers, in Anthropic's form, and keeps the requests. */
function answering(...answers: { type: string }[]) {
  const sent: unknown[] = [];
  const fetch: Fetch = async (url, init) => {
    const block = answers[sent.length]!;
    sent.push([url, Object.fromEntries(init.headers), bodyJson(init)]);
    const usage = { input_tokens: 1, output_tokens: 1 };
    const stop_reason = block.type === "text" ? "end_turn" : "tool_use";
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [block] };
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify({ ...message, stop_reason, usage }), { status: 200, headers });
  };
  return { fetch, sent };
}

/** Uses every constructor and runs an agent. Returns all that a field of every object could change. */
async function use(): Promise<unknown> {
  const apiKey = "key-of-a-test";
  anthropic("m", { apiKey, price: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } });
  openai("m", { apiKey, responseFormat: { name: "x", schema: {} } });
  azure("m", { apiKey, resource: "r" });
  bedrock("m", { region: "eu-central-1", credentials: { accessKeyId: "a", secretAccessKey: "b" } });
  compatible("m", { baseUrl: "https://api.test" });
  const inputSchema = { type: "object", properties: {} } as const;
  const { fetch, sent } = answering(
    call("search", {}),
    call("pal", { prompt: "Help." }),
    call("billing", {}),
    say("Done."),
  );
  const search = tool({ description: "Searches", inputSchema, execute: () => ({ found: 1 }) });
  const rows: unknown[] = [];
  const spans: unknown[] = [];
  const agent = createAgent({
    model: anthropic("m", { apiKey, fetch }),
    tools: {
      search,
      pal: subagent({ description: "Helps", model: custom(() => "Helped.") }),
      billing: handoff(createAgent({ model: custom(() => "Billed.") }), { description: "Bills" }),
    },
    trace: [traceRows((row) => void rows.push(row)), traceSpans((span) => void spans.push(span))],
    retry: { maxRetries: 0 },
    timeouts: { totalMs: 60_000 },
    limits: { repeat: { nudgeAfter: 2 } },
    hooks: { PreToolUse: [{ hooks: [() => ({})] }] },
    guardrails: { output: () => ({ allowed: true }) },
    onIterationEnd: () => {},
    prepareIteration: () => ({}),
  });
  const defined = agentVariants(createAgent, {
    model: custom((asked) => asked.system ?? ""),
    system: "Hi {{who}}.",
  });
  const hello = await defined.run("Go").result;
  const chat = agent.chat();
  const run = chat.run("Go");
  const types: string[] = [];
  for await (const { type } of run.events()) types.push(type);
  const { outcome, text, agent: last, toolCalls, messages, error, stoppedBy } = await run.result;
  const seen = { types, outcome, text, last, messages, error, stoppedBy, sent, hello: hello.text };
  return JSON.parse(
    JSON.stringify({ ...seen, rows: rows.length, spans: spans.length, calls: toolCalls.length }),
  );
}

describe("a field that other code adds to the prototype of every object", () => {
  const added = new Set<string>();
  let expected: unknown;
  afterEach(() => {
    for (const name of added) delete (Object.prototype as { [name: string]: unknown })[name];
    added.clear();
    vi.restoreAllMocks();
  });

  async function with_(name: string, value: unknown): Promise<unknown> {
    added.add(name);
    Object.defineProperty(Object.prototype, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    try {
      return await use();
    } catch (error) {
      return String(error);
    } finally {
      // The matchers of the test runner read such a field, too.
      delete (Object.prototype as { [name: string]: unknown })[name];
    }
  }

  it.each(NAMES)("is not the option %s", async (name) => {
    expected ??= await use();
    const poison = () => {
      throw new Error(`${name} was called`);
    };
    for (const value of [1, "poison", poison]) expect(await with_(name, value)).toEqual(expected);
  });
});

describe("options", () => {
  it("may be fields and getters of a class, as before", () => {
    const base = { limits: { maxIterations: 3 } };
    const options = Object.create(base) as AgentOptions;
    expect(() => createAgent(Object.assign(options, { model: 5 as never }))).toThrow("model");
    class Options {
      get model() {
        return custom(() => "hi");
      }
      get limits() {
        return { maxIterations: -1 };
      }
    }
    expect(() => createAgent(new Options())).toThrow(
      expect.objectContaining({ field: "limits.maxIterations" }),
    );
  });

  it("are read once", async () => {
    const options: AgentOptions = { model: custom(() => "hi") };
    const agent = createAgent(options);
    options.onFailure = "throw";
    options.model = undefined as never;
    expect(await agent.run("Go").result).toMatchObject({ text: "hi" });
  });

  it("of a tool keep their object as `this` and for handlers", async () => {
    const seen: unknown[] = [];
    class Counter {
      description = "Counts";
      inputSchema = { type: "object" } as const;
      execute() {
        seen.push(this);
        return 1;
      }
    }
    const counter = new Counter();
    const { fetch } = answering(call("count", {}), say("Done."));
    const agent = createAgent({ model: anthropic("m", { apiKey: "k", fetch }), tools: { count: counter } });
    await agent.run("Go").result;
    expect(seen[0]).toBe(counter);
  });
});
