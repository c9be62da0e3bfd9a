import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { anthropic, createAgent, tool, ToolError } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { toolErrorWords } from "../../../src/typescript/compat/presets/index.js";
import type {
  AgentOptions,
  RunOptions,
  Tool,
  ToolHandler,
  Tools,
  WordToolError,
} from "../../../src/typescript/core/api/index.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;
const rest = { description: "Acts", inputSchema: schema };

type Call = { name: string; input?: unknown; argumentsText?: string };

/** A run whose model makes these calls and then says "End.". */
function setUp(options: Partial<AgentOptions>, calls: Call[], run: RunOptions = {}) {
  const fetch = scripted([{ toolCalls: calls }, { text: "End." }]);
  const agent = createAgent({ model: anthropic("claude-test", { apiKey: "sk-test", fetch }), ...options });
  const going = agent.run("Go", run);
  const body = (at: number): any => fetch.requests[at]!.body;
  return { going, fetch, body, results: () => body(1).messages[2].content as any[] };
}

describe("an agent's tools", () => {
  const one = tool({ ...rest, execute: () => "" });
  const named = (name: string) => tool({ ...rest, name, execute: () => "" });
  const sent = async (tools: Tools) => {
    const { going, body } = setUp({ tools }, []);
    await going.result;
    return body(0).tools.map(({ name }: { name: string }) => name);
  };

  it("leave out one that is undefined", async () => {
    const { going, body } = setUp({ tools: { a: tool({ ...rest, execute: () => 1 }), b: undefined } }, [
      { name: "a" },
    ]);
    expect((await going.result).outcome).toBe("completed");
    expect(body(0).tools.map(({ name }: { name: string }) => name)).toEqual(["a"]);
  });

  it("have the names of their record, or their own in an array", async () => {
    expect(await sent({ one, two: one })).toEqual(["one", "two"]);
    expect(await sent([named("three"), named("four")])).toEqual(["three", "four"]);
  });
});

describe("a schema of another library", () => {
  it.each<[string, Tool["inputSchema"]]>([
    ["zod", z.object({ city: z.string() })],
    ["valibot", toStandardJsonSchema(v.object({ city: v.string() }))],
    ["arktype", type({ city: "string" })],
  ])("of %s is sent as JSON Schema and checks each call", async (_, inputSchema) => {
    const execute = vi.fn(() => "Booked.");
    const tools = { book: tool({ description: "Books", inputSchema, execute }) } as Tools;
    const calls = [
      { name: "book", input: { city: "Oslo" } },
      { name: "book", input: { city: 7 } },
    ];
    const { going, body, results } = setUp({ tools }, calls);
    await going.result;
    expect(body(0).tools[0].input_schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    });
    expect(execute.mock.calls).toEqual([[{ city: "Oslo" }, expect.anything()]]);
    expect(results()[0].content).toBe("Booked.");
    expect(results()[1]).toMatchObject({ is_error: true, content: expect.stringContaining("city") });
  });
});

describe("a call that went wrong", () => {
  const boom = tool({
    ...rest,
    execute: () => {
      throw new Error("No disk.");
    },
  });
  const structured = (code: string, message: string, hint: string): string =>
    JSON.stringify({ error: true, code, message, hint, recoverable: true });

  it.each<[string, WordToolError | undefined, string]>([
    [
      "S003-19: by default",
      undefined,
      structured(
        "tool_failed",
        "No disk.",
        "Check the arguments and try again, or continue without this tool.",
      ),
    ],
    ["S000-22: sprout", toolErrorWords.sprout, '{"error":"No disk."}'],
    ["S001-30: claude", toolErrorWords.claudeAgentSdk, "No disk."],
    ["S002-10: guide", toolErrorWords.guide, "Error: No disk."],
    ["S003-17: production", toolErrorWords.production, "error: No disk."],
    ["S004-29: prompty", toolErrorWords.prompty, "Error: Tool 'boom' failed: No disk."],
    ["a function", (error, { toolName }) => `${toolName}? ${error.message}`, "boom? No disk."],
    ["an async function", async ({ code }) => code, "tool_failed"],
  ])("%s is told as this", async (_, wordToolError, expected) => {
    const { going, results } = setUp({ tools: { boom }, toolCalls: { wordError: wordToolError } }, [
      { name: "boom", input: {} },
    ]);
    await going.result;
    expect(results()).toMatchObject([{ type: "tool_result", is_error: true, content: expected }]);
  });

  it("is structured, and the host told, when the function fails", async () => {
    for (const wordToolError of [() => 5 as never, () => Promise.reject(new Error("words fail"))]) {
      const onError = vi.fn();
      const options = { tools: { boom }, toolCalls: { wordError: wordToolError } };
      const { going, results } = setUp(options, [{ name: "boom", input: {} }], { onError });
      await going.result;
      expect(JSON.parse(results()[0].content)).toMatchObject({ error: true, message: "No disk." });
      // The error of the tool, and that of its wording.
      expect(onError).toHaveBeenCalledTimes(2);
    }
  });

  it("S003-20: has no stack trace, whatever the format", async () => {
    for (const wordToolError of [undefined, ...Object.values(toolErrorWords)]) {
      const { going, results } = setUp({ tools: { boom }, toolCalls: { wordError: wordToolError } }, [
        { name: "boom", input: {} },
      ]);
      await going.result;
      expect(results()[0].content).not.toMatch(/\bat .*:\d/);
    }
  });

  it("S003-09: ends the run when it is not recoverable", async () => {
    const fatal = tool({
      ...rest,
      execute: () => {
        throw new ToolError({ message: "No key.", recoverable: false });
      },
    });
    const { going, fetch } = setUp({ tools: { fatal } }, [{ name: "fatal", input: {} }]);
    expect(await going.result).toMatchObject({ outcome: "stopped", stoppedBy: "fatal_tool" });
    expect(fetch.requests).toHaveLength(1);
  });
});

describe("a call of a tool that there is not", () => {
  const tools = { act: tool({ ...rest, execute: () => "ok" }) };

  it("S000-23: is told to the model by default", async () => {
    const { going, results } = setUp({ tools }, [{ name: "nope", input: {} }]);
    expect(await going.result).toMatchObject({ outcome: "completed" });
    expect(results()[0]).toMatchObject({ is_error: true });
    expect(results()[0].content).toContain("There is no tool named nope");
  });

  it("S004-12: fails the run if it is to", async () => {
    const { going } = setUp({ tools, toolCalls: { onUnknownTool: "throw" } }, [{ name: "nope", input: {} }]);
    const result = await going.result;
    expect(result).toMatchObject({
      outcome: "failed",
      error: { code: "config_invalid", message: "Tool not registered: nope" },
    });
    expect(result.messages.at(-1)).toMatchObject({ role: "user", content: [{ type: "tool_result" }] });
  });

  it("goes to a function, which answers as a tool does", async () => {
    const onUnknownTool = vi.fn(
      (call: { toolName: string; input: any }) => `${call.toolName} ${call.input.n}`,
    );
    const { going, results } = setUp({ tools, toolCalls: { onUnknownTool } }, [
      { name: "nope", input: { n: 3 } },
    ]);
    await going.result;
    expect(results()[0]).toMatchObject({ content: "nope 3" });
    expect(onUnknownTool).toHaveBeenCalledWith(
      { toolName: "nope", input: { n: 3 } },
      expect.objectContaining({ iteration: 1 }),
    );
  });
});

describe("a tool with a kind", () => {
  const { description, inputSchema } = rest;
  const search: Tool = { kind: "mcp", description, inputSchema };

  it("S004-11: is run by the handler of its kind, unless it runs itself", async () => {
    const mcp = vi.fn<ToolHandler>((input, { toolName, tool: { kind }, inputs, toolCallId, signal }) => {
      expect(signal.aborted).toBe(false);
      return [toolName, kind, input.n, inputs["user"], typeof toolCallId].join(" ");
    });
    const own = tool({ ...rest, kind: "mcp", execute: () => "by itself" });
    const { going, results } = setUp(
      {
        tools: { search, own },
        toolCalls: { handlers: { mcp, "*": () => "anything" } },
        inputs: { user: "u1" },
      },
      [
        { name: "search", input: { n: 1 } },
        { name: "own", input: {} },
      ],
    );
    await going.result;
    expect(results().map(({ content }) => content)).toEqual(["search mcp 1 u1 string", "by itself"]);
    expect(mcp).toHaveBeenCalledTimes(1);
  });

  it("S004-11: is run by the handler of any kind where there is none of its own", async () => {
    const toolHandlers = { "*": () => "anything", openapi: () => "no" };
    const { going, results } = setUp({ tools: { search }, toolCalls: { handlers: toolHandlers } }, [
      { name: "search", input: {} },
    ]);
    await going.result;
    expect(results()[0].content).toBe("anything");
  });

  it("S004-11: without a handler is an error at once, in Prompty's words", () => {
    for (const toolHandlers of [undefined, { openapi: () => "" }]) {
      expect(() => setUp({ tools: { search }, toolCalls: { handlers: toolHandlers } }, [])).toThrow(
        expect.objectContaining({
          code: "config_missing",
          field: "tools.search.execute",
          message: expect.stringContaining("No handler registered for tool: search (kind: mcp)"),
        }),
      );
    }
    expect(() => tool({ description, inputSchema })).toThrow(/execute: is required/);
    expect(() => tool({ description, inputSchema, kind: "mcp" })).not.toThrow();
  });
});

describe("bindings", () => {
  const orders = (inputSchema: any, execute: (input: any) => unknown): Tool => ({
    description: "Lists orders",
    inputSchema,
    bindings: { user: "userId" },
    execute,
  });
  const json = {
    type: "object",
    properties: { user: { type: "string" }, n: { type: "number" } },
    required: ["user", "n"],
    additionalProperties: false,
  };

  it.each([
    ["a JSON Schema", json],
    ["a Standard Schema", z.object({ user: z.string(), n: z.number() })],
  ])("S004-21: override what the model wrote and are not shown to it, with %s", async (_, inputSchema) => {
    const execute = vi.fn((input: unknown) => input);
    const { going, body } = setUp(
      { tools: { orders: orders(inputSchema, execute) }, inputs: { userId: "agent", other: 1 } },
      [{ name: "orders", input: { n: 1, user: "evil" } }],
      { inputs: { userId: "run" } },
    );
    const result = await going.result;
    expect(execute.mock.calls[0]![0]).toEqual({ n: 1, user: "run" });
    expect(result.toolCalls[0]).toMatchObject({ input: { n: 1, user: "evil" }, isError: false });
    expect(body(0).tools[0].input_schema).toMatchObject({ properties: { n: {} }, required: ["n"] });
    expect(JSON.stringify(body(0))).not.toMatch(/"user":|run"/);
    expect(body(1).messages[1].content.at(-1).input).toEqual({ n: 1, user: "evil" });
  });

  it("name a field of the schema, and inputs are JSON", () => {
    const wrong = { ...orders(json, () => ""), bindings: { usr: "userId" } };
    expect(() => setUp({ tools: { wrong } }, [])).toThrow(/did you mean user\?/);
    const notText = { ...orders(json, () => ""), bindings: { user: 5 as never } };
    expect(() => setUp({ tools: { notText } }, [])).toThrow(/tools\.notText\.bindings\.user/);
    expect(() => setUp({ inputs: { a: 1n } }, [])).toThrow(/inputs: holds something/);
    expect(() => setUp({ inputs: [] as never }, [])).toThrow(/inputs: needs an object/);
  });
});

describe("a result", () => {
  it("is shown to the model up to a limit, and whole to the host", async () => {
    const long = tool({ ...rest, execute: () => "🦀".repeat(12) });
    const short = tool({ ...rest, maxResultChars: 3, execute: () => ({ a: 1 }) });
    const warnings: string[] = [];
    const { going, results } = setUp(
      { tools: { long, short }, toolCalls: { maxResultChars: 10 } },
      [
        { name: "long", input: {} },
        { name: "short", input: {} },
      ],
      { onEvent: (event) => void (event.type === "warning" && warnings.push(event.code)) },
    );
    const result = await going.result;
    expect(results().map(({ content }) => content)).toEqual([
      `${"🦀".repeat(10)}\n[Cut off here: the first 10 of 12 characters are shown, 2 are missing.]`,
      `{"a\n[Cut off here: the first 3 of 7 characters are shown, 4 are missing.]`,
    ]);
    expect(result.toolCalls.map(({ output }) => output)).toEqual(["🦀".repeat(12), { a: 1 }]);
    expect(warnings).toEqual(["result_cut", "result_cut"]);
  });

  it("ends the run when its tool says so", async () => {
    const submit = tool({
      ...rest,
      execute: (_, { terminate }) => {
        terminate();
        return "submitted";
      },
    });
    const other = tool({ ...rest, execute: () => "more" });
    const alone = setUp({ tools: { submit } }, [{ name: "submit", input: {} }]);
    expect(await alone.going.result).toMatchObject({
      outcome: "completed",
      iterations: 1,
      toolCalls: [{ output: "submitted" }],
    });
    const calls = [
      { name: "submit", input: {} },
      { name: "other", input: {} },
    ];
    const both = setUp({ tools: { submit, other } }, calls);
    expect(await both.going.result).toMatchObject({ outcome: "completed", iterations: 2, text: "End." });
  });
});

describe("options about tools", () => {
  it.each<[Partial<AgentOptions>, string]>([
    [{ toolCalls: { wordError: "xml" as never } }, "toolCalls.wordError"],
    [{ toolCalls: { onUnknownTool: "ignore" as never } }, "toolCalls.onUnknownTool"],
    [{ toolCalls: { handlers: { mcp: "x" as never } } }, "toolCalls.handlers.mcp"],
    [{ toolCalls: { maxResultChars: 0 } }, "toolCalls.maxResultChars"],
    [{ toolCalls: { eager: 1 as never } }, "toolCalls.eager"],
    [{ eager: true } as never, "eager"],
  ])("%j is refused by name", (options, field) => {
    expect(() => setUp(options, [])).toThrow(expect.objectContaining({ field }));
  });
});

describe("toolCalls.eager", () => {
  it("starts a read-only call while the answer streams", async () => {
    const order: string[] = [];
    const look = tool({ ...rest, readOnly: true, execute: () => void order.push("look") });
    const fetch = scripted([
      {
        blocks: [
          { type: "tool-call", name: "look", input: { n: 1 } },
          { type: "text", text: ["I ", "am ", "still ", "speaking."] },
        ],
        chunks: "event",
        stopReason: "tool-calls",
      },
      { text: "End." },
    ]);
    const agent = createAgent({
      model: anthropic("claude-test", { apiKey: "sk-test", fetch }),
      tools: { look },
      toolCalls: { eager: true },
    });
    const run = agent.run("Go", { onText: (text) => order.push(text) });
    expect(await run.result).toMatchObject({ outcome: "completed", toolCalls: [{ toolName: "look" }] });
    expect(order.indexOf("look")).toBeGreaterThanOrEqual(0);
    expect(order.indexOf("look")).toBeLessThan(order.indexOf("speaking."));
  });
});
