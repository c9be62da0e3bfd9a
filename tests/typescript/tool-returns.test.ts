// What the model reads when a handler returns nothing, or an error, by every entry that takes handlers.
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, tool, type AgentOptions, type Model } from "looplet";
import { createSdkMcpServer, query, tool as sdkTool } from "looplet/agent-sdk";
import { executeToolCalls } from "looplet/guide";
import { scripted } from "looplet/practice";
import { executeToolBlocks, runProduction } from "looplet/production";
import { clearTools, loadPrompty, registerTool, runTurn, turn } from "looplet/prompty";
import { agentLoop } from "looplet/sprout";
import { PageKit } from "./server/page-tools/kit.js";
import { connectAgent } from "looplet/workers";
import { Place } from "./support/worker-kit.js";

type Handler = (...given: any[]) => any;

interface Read {
  readonly text: string;
  readonly isError: boolean;
}

/** The result of the only call, in the second request to Anthropic or OpenAI. */
function read(fetch: ReturnType<typeof scripted>): Read {
  const message = (fetch.requests[1]!.body as any).messages.at(-1);
  const [block] = message.role === "tool" ? [message] : message.content;
  const { content = "", is_error: isError = false } = block;
  const text = typeof content === "string" ? content : content.map((part: any) => part.text ?? "").join("");
  return { text, isError };
}

const answers = (name = "t") => scripted([{ toolCalls: [{ name, input: {} }] }, { text: "Done." }]);
const schema = { type: "object" } as const;
const description = "A tool";

/** Two answers: a call, and the end. */
async function byAgent(options: (model: Model) => AgentOptions): Promise<Read> {
  const fetch = answers();
  await createAgent(options(anthropic("m", { fetch, apiKey: "k" }))).run("Go").result;
  return read(fetch);
}

const prompty = (more = ""): ReturnType<typeof loadPrompty> =>
  loadPrompty(
    `---\nmodel: { id: m, provider: openai, connection: { kind: key, apiKey: k } }\n${more}---\nuser:\nHi`,
  );

const ENTRIES: { readonly [entry: string]: (handler: Handler) => Promise<Read> } = {
  "createAgent, by name": (execute) =>
    byAgent((model) => ({ model, tools: { t: tool({ description, inputSchema: schema, execute }) } })),
  "createAgent, a list": (execute) =>
    byAgent((model) => ({ model, tools: [tool({ name: "t", description, inputSchema: schema, execute })] })),
  "createAgent, a generator": (execute) =>
    byAgent((model) => {
      async function* generate() {
        yield "half";
        return await execute();
      }
      return { model, tools: { t: tool({ description, inputSchema: schema, execute: generate as never }) } };
    }),
  "createAgent, onUnknownTool": (onUnknownTool) =>
    byAgent((model) => ({ model, toolCalls: { onUnknownTool } })),
  "agent-sdk": async (handler) => {
    const fetch = answers("mcp__s__t");
    const server = createSdkMcpServer({ name: "s", tools: [sdkTool("t", description, {}, handler)] });
    const options = { mcpServers: { s: server }, allowedTools: ["mcp__s"], host: { fetch, apiKey: "k" } };
    for await (const _ of query({ prompt: "Go", options }));
    return read(fetch);
  },
  sprout: async (execute) => {
    const fetch = answers();
    const tools = [{ name: "t", description, input_schema: schema, execute }];
    await agentLoop({ systemPrompt: "s", userMessage: "u", tools, host: { fetch, apiKey: "k" } });
    return read(fetch);
  },
  guide: async (handler) => {
    const calls = [{ type: "tool_call" as const, name: "t", id: "1", input: {} }];
    const [result] = await executeToolCalls(calls, { t: handler });
    return { text: result!.output, isError: result!.output.startsWith("Error: ") };
  },
  "production, executeToolBlocks": async (handler) => {
    const [result] = await executeToolBlocks([{ id: "1", name: "t", input: {} }], { runTool: handler });
    return { text: result!.content, isError: result!.is_error === true };
  },
  "production, runProduction": async (execute) => {
    const fetch = answers();
    const model = anthropic("m", { fetch, apiKey: "k" });
    const tools = { t: tool({ description, inputSchema: schema, execute }) };
    await runProduction({ model, tools, prompt: "Go" }).result;
    return read(fetch);
  },
  "prompty, turn": async (handler) => {
    const fetch = answers();
    await turn(await prompty(), {}, { t: handler }, { host: { fetch } });
    const { text } = read(fetch);
    return { text, isError: text.startsWith("Error: ") };
  },
  "prompty, registerTool": async (handler) => {
    const fetch = answers();
    registerTool("t", handler);
    await turn(await prompty("tools: [{ name: t, kind: function }]\n"), {}, {}, { host: { fetch } });
    clearTools();
    const { text } = read(fetch);
    return { text, isError: text.startsWith("Error: ") };
  },
  "prompty, runTurn": async (execute) => {
    const asked: any[] = [];
    const model = {
      async invoke(context: unknown) {
        asked.push(context);
        return asked.length === 1
          ? { tools: [{ requestId: "1", name: "t", input: {} }] }
          : { output: "Done." };
      },
    };
    const result: any = await runTurn({ messages: [{ role: "user", content: "Go" }] }, {
      model,
      tools: { names: ["t"], execute },
    } as never);
    const [told] = result.toolResults ?? result.results ?? [];
    return { text: String(told?.output), isError: told?.failure !== undefined };
  },
  "a page": async (handler) => {
    const kit = new PageKit({ t: {} });
    kit.live();
    const place = new Place();
    place.serve(kit.agent(), { store: kit.store });
    const agent = connectAgent(place.endpoint, { heartbeatMs: 20, tools: { t: handler } as never });
    const { toolCalls } = await (await agent.openChat("a")).run("t").result;
    agent.disconnect();
    return { text: kit.results.join(), isError: toolCalls[0]?.isError === true };
  },
};

const foreign = (code: string): unknown => runInNewContext(code);

const NOTHING: readonly (readonly [what: string, handler: Handler])[] = [
  ["nothing", () => undefined],
  ["nothing later", async () => {}],
  ["null", () => null],
];

const ERRORS: readonly (readonly [what: string, handler: Handler])[] = [
  ["an Error", () => new Error("E is wrong")],
  ["an Error later", async () => new RangeError("E is wrong")],
  ["an Error of another realm", () => foreign('new Error("E is wrong")')],
  [
    "an Error of a class of another realm",
    () => foreign('new (class Own extends TypeError {})("E is wrong")'),
  ],
  ["a DOMException", () => new DOMException("E is wrong", "NetworkError")],
];

const THROWN: typeof ERRORS = ERRORS.map(([what, handler]) => [
  what,
  async () => {
    throw await handler();
  },
]);

describe.each(Object.entries(ENTRIES))("%s", (_, run) => {
  it.each(NOTHING)("takes a handler that returns %s as a success", async (_, handler) => {
    const { text, isError } = await run(handler);
    expect(isError).toBe(false);
    expect(["", "null", '""']).toContain(text);
  });

  it.each(ERRORS)("takes %s that a handler returns as its failure", async (_, handler) => {
    const { text, isError } = await run(handler);
    expect(isError).toBe(true);
    expect(text).toContain("E is wrong");
    expect(text).not.toMatch(/Error: \w*Error: |\bat /);
  });

  it.each(THROWN)("takes %s that a handler throws as its failure", async (_, handler) => {
    const { text, isError } = await run(handler);
    expect(isError).toBe(true);
    expect(text).toContain("E is wrong");
    expect(text).not.toMatch(/Error: \w*Error: |\bat /);
  });

  it("has words for an error without any", async () => {
    for (const error of [new Error(), foreign("new Error()")]) {
      const { text, isError } = await run(() => error);
      expect(isError).toBe(true);
      expect(text.replace(/\{\}|\W/g, "")).toMatch(/\w{5}/);
    }
  });
});

describe("agent-sdk", () => {
  it.each([
    [{ isError: true }, "The tool failed."],
    [{ isError: true, content: [] }, "The tool failed."],
    [{ isError: true, content: "E is wrong" }, "E is wrong"],
    [{ isError: true, content: [null, { type: "text", text: "E is wrong" }] }, "E is wrong"],
  ])("takes the result %j as a failure with words", async (result, words) => {
    const { text, isError } = await ENTRIES["agent-sdk"]!(() => result);
    expect(isError).toBe(true);
    expect(text).toContain(words);
  });
});

it("an error inside of a result keeps its name and its message", async () => {
  for (const error of [new TypeError("E is wrong"), foreign('new TypeError("E is wrong")')]) {
    const { text, isError } = await ENTRIES["createAgent, by name"]!(() => ({ failures: [error] }));
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual({ failures: [{ name: "TypeError", message: "E is wrong" }] });
  }
});
