import { describe, expect, it, vi } from "vitest";
import {
  anthropic,
  compatible,
  createAgent,
  custom,
  openaiChat,
  tool,
  ToolError,
} from "../../../src/typescript/core/entry/node.js";
import { raw, scripted } from "../../../src/typescript/lab/practice/index.js";
import type { CustomRequest, RunEvent, Tool } from "../../../src/typescript/core/api/index.js";
import { z } from "zod";

const key = { apiKey: "sk-test" };
const noWait = { baseMs: 0, jitterMs: 0 };

const add = tool({
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  readOnly: true,
  execute: ({ a, b }) => a + b,
});

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const seen: RunEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe.each([
  ["anthropic", (more: object) => anthropic("claude-sonnet-4-6", { ...key, ...more })],
  ["openaiChat", (more: object) => openaiChat("gpt-5-mini", { ...key, ...more })],
  ["compatible", (more: object) => compatible("m", { baseUrl: "http://localhost:1/v1", ...more })],
])("a run of %s", (_, model) => {
  it("calls a tool and answers out of its result", async () => {
    const fetch = scripted([
      { text: "Let me add.", toolCalls: [{ name: "add", input: { a: 2, b: 3 } }] },
      { text: "It is 5." },
    ]);
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const run = createAgent({ model: model({ fetch, price }), system: "Be brief.", tools: { add } }).run(
      "2 + 3?",
    );
    const events = await collect(run);
    const result = await run.result;
    expect(result).toMatchObject({
      outcome: "completed",
      text: "It is 5.",
      iterations: 2,
      finishReason: "stop",
    });
    expect(result.toolCalls).toMatchObject([
      { toolName: "add", input: { a: 2, b: 3 }, output: 5, isError: false },
    ]);
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(result.costBasis).toBe("option");
    expect(result.costNanoUsd).toBe(result.usage!.inputTokens * 1000 + result.usage!.outputTokens * 2000);
    expect(events[0]).toMatchObject({ type: "run-start", seq: 1, tools: ["add"] });
    expect(events.at(-1)).toMatchObject({ type: "finish", outcome: { outcome: "completed" } });
    expect(events.filter(({ type }) => type === "tool-result")).toMatchObject([
      { toolName: "add", output: 5 },
    ]);
    expect(new Set(events.map(({ agentPath }) => agentPath))).toEqual(new Set(["root"]));
    expect(fetch.requests).toHaveLength(2);
  });
});

describe("a run in the engine", () => {
  it("shows the model what an MCP server answered, and its error as an error", async () => {
    const fetch = scripted([
      { toolCalls: [{ name: "shot", input: {} }] },
      { toolCalls: [{ name: "shot", input: {} }] },
      { text: "A dot." },
    ]);
    const results = [
      { content: [{ type: "image", data: "AAEC", mimeType: "image/png" }] },
      { content: [{ type: "text", text: "no screen" }], isError: true },
    ];
    const shot = tool({
      description: "A picture",
      inputSchema: { type: "object" },
      execute: () => results.shift(),
    });
    const result = await createAgent({ model: anthropic("m", key), tools: { shot }, fetch }).run("?").result;
    expect(result.toolCalls).toMatchObject([{ isError: false }, { isError: true }]);
    expect(fetch.requests[1]?.body.messages.at(-1).content).toMatchObject([
      {
        type: "tool_result",
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } }],
      },
    ]);
    const [failure] = fetch.requests[2]?.body.messages.at(-1).content ?? [];
    expect(failure).toMatchObject({ type: "tool_result", is_error: true });
    expect(JSON.stringify(failure.content)).toContain("no screen");
  });

  it("sends the key in the vendor's header and keeps it out of everything that comes back", async () => {
    const fetch = scripted([{ status: 401 }]);
    const run = createAgent({ model: anthropic("m", key), fetch }).run("hi");
    const events = await collect(run);
    const result = await run.result;
    expect(fetch.requests[0]?.headers["x-api-key"]).toBe("sk-test");
    expect(result).toMatchObject({
      outcome: "failed",
      error: { code: "auth", status: 401, vendor: "anthropic" },
    });
    expect(JSON.stringify([events, result])).not.toContain("sk-test");
  });

  it("fails without sending when the key cannot be had", async () => {
    const fetch = scripted([{ text: "never" }]);
    const apiKey = async (): Promise<string> => {
      throw new Error("the token server is down");
    };
    const result = await createAgent({ model: anthropic("m", { apiKey }), fetch }).run("hi").result;
    expect(result.outcome).toBe("failed");
    expect(result.error).toMatchObject({ code: "config_invalid", retryable: false });
    expect(result.error?.message).toContain("the token server is down");
    expect(fetch.requests).toEqual([]);
  });

  it("fails as config_invalid on what only the engine can judge", async () => {
    const messages = [{ role: "user" as const, content: [{ type: "nonsense" }] }];
    const run = createAgent({ model: anthropic("m", key), fetch: scripted([]) }).run("hi", {
      messages: messages as never,
    });
    expect((await run.result).error?.code).toBe("config_invalid");
  });

  it("retries and tells so", async () => {
    const fetch = scripted([{ status: 529 }, { text: "Here." }]);
    const run = createAgent({ model: anthropic("m", key), fetch, retry: noWait }).run("hi");
    const events = await collect(run);
    expect((await run.result).text).toBe("Here.");
    expect(events.filter(({ type }) => type === "retry")).toMatchObject([
      { nextAttempt: 2, error: { code: "overloaded" } },
    ]);
  });

  it("keeps what arrived when it is aborted, in the same task", async () => {
    const fetch = scripted([{ text: ["Once ", "upon"], delayMs: 5 }]);
    const run = createAgent({ model: anthropic("m", key), fetch }).run("tell", {
      onText: () => run.abort("enough"),
    });
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "cancelled", abortReason: "enough", text: "Once " });
    expect(result.messages.at(-1)).toMatchObject({ role: "assistant", partial: true });
  });

  it("tries again when fetch throws at once, as when it rejects", async () => {
    const turns = scripted([{ text: "Hi." }]);
    let calls = 0;
    const fetch: typeof turns = Object.assign(
      (...asked: Parameters<typeof turns>) => {
        calls += 1;
        if (calls === 1) throw new TypeError("Failed to fetch");
        return turns(...asked);
      },
      { requests: turns.requests, remaining: 0, preconnect() {} },
    );
    const retry = { baseMs: 0, jitterMs: 0 };
    const run = createAgent({ model: anthropic("m", key), fetch, retry }).run("hi");
    const errors: unknown[] = [];
    for await (const event of run) if (event.type === "retry") errors.push(event.error);
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Hi." });
    expect(errors).toMatchObject([
      { code: "network", message: expect.stringContaining("Failed to fetch"), retryable: true },
    ]);
  });

  it("settles at once when it is aborted while fetch hangs", async () => {
    const run = createAgent({ model: anthropic("m", key), fetch: scripted([{ hang: true }]) }).run("hi");
    for await (const event of run.events({ detached: true })) if (event.type === "attempt-start") break;
    run.abort("user");
    expect(run.outcome).toBe("cancelled");
    expect((await run.result).messages).toHaveLength(1);
  });

  it("settles at once when it is aborted while a tool hangs, whose late result changes nothing", async () => {
    let late!: (value: string) => void;
    let signal: AbortSignal | undefined;
    const hang = tool({
      description: "Hangs",
      inputSchema: { type: "object" },
      execute: (_, context) => {
        signal = context.signal;
        return new Promise((resolve) => (late = resolve));
      },
    });
    const fetch = scripted([{ toolCalls: [{ name: "hang", input: {} }] }]);
    const run = createAgent({ model: anthropic("m", key), fetch, tools: { hang } }).run("hi");
    await vi.waitFor(() => expect(signal).toBeDefined());
    run.abort("user");
    expect(signal?.aborted).toBe(true);
    const result = await run.result;
    late("too late");
    expect(result.toolCalls).toMatchObject([
      { toolName: "hang", isError: true, output: { code: "cancelled" } },
    ]);
    expect(result.messages.at(-1)).toMatchObject({
      role: "user",
      content: [{ type: "tool_result", isError: true }],
    });
  });

  it("goes on from a steer before the next call, and from a follow-up after the end", async () => {
    const fetch = scripted([
      { toolCalls: [{ name: "add", input: { a: 1, b: 1 } }] },
      { text: "Two." },
      { text: "Bye." },
    ]);
    const agent = createAgent({ model: anthropic("m", key), fetch, tools: { add } });
    const run = agent.run("1 + 1?", { onToolCall: () => void run.steer("In words.") });
    const { id } = run.followUp("Thanks.");
    const events = await collect(run);
    const result = await run.result;
    expect(result.text).toBe("Bye.");
    expect(JSON.stringify(fetch.requests[1]?.body)).toContain("In words.");
    expect(JSON.stringify(fetch.requests[2]?.body)).toContain("Thanks.");
    expect(
      events
        .filter(({ type }) => type === "steer-delivered")
        .flatMap((event) => (event as { ids: number[] }).ids),
    ).toContain(id);
    expect(result.undelivered).toEqual([]);
  });

  it("stops at its limit with a transcript that can be sent again", async () => {
    const fetch = scripted([{ toolCalls: [{ name: "add", input: { a: 1, b: 1 } }] }]);
    const agent = createAgent({
      model: anthropic("m", key),
      fetch,
      tools: { add },
      limits: { maxIterations: 1 },
    });
    const result = await agent.run("go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "iterations" });
    const next = scripted([{ text: "Going on." }]);
    const again = createAgent({ model: anthropic("m", key), fetch: next, tools: { add } });
    expect((await again.run("and?", { messages: result.messages }).result).text).toBe("Going on.");
  });

  it("keeps a chat's transcript from prompt to prompt", async () => {
    const fetch = scripted([{ text: "One." }, { text: "Two." }]);
    const chat = createAgent({ model: openaiChat("m", key), fetch }).chat();
    await chat.run("first").result;
    await chat.run("second").result;
    expect(chat.messages).toHaveLength(4);
    expect(fetch.requests[1]?.body.messages).toHaveLength(3);
  });

  it("uses the clock and the randomness that it is given", async () => {
    const waits: number[] = [];
    const clock = {
      now: () => 1_000,
      setTimer: (callback: () => void, delayMs: number) => {
        waits.push(delayMs);
        return setTimeout(callback, 0);
      },
      clearTimer: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    };
    const options = {
      model: anthropic("m", key),
      clock,
      random: () => 0,
      retry: { baseMs: 700, jitterMs: 0 },
    };
    const waited = async (): Promise<number[]> => {
      waits.length = 0;
      const fetch = scripted([{ status: 500 }, { text: "ok" }]);
      const run = createAgent({ ...options, timeouts: { totalMs: 50_000 }, fetch }).run("hi");
      await vi.waitFor(() => expect(run.outcome ?? waits.includes(1400)).toBeTruthy());
      run.abort();
      return [...waits];
    };
    expect(await waited()).toContain(1400);
  });

  it("says what a page of HTML with status 200 was", async () => {
    const fetch = scripted([raw("<html>Sign in</html>", { headers: { "content-type": "text/html" } })]);
    const agent = createAgent({
      model: anthropic("m", key),
      fetch,
      retry: { maxRetries: 0 },
    });
    const result = await agent.run("hi").result;
    expect(result.error).toMatchObject({
      code: "malformed_stream",
      status: 200,
      body: "<html>Sign in</html>",
    });
  });
});

describe("a tool in the engine", () => {
  async function outputOf(
    options: object,
    input: unknown = {},
  ): Promise<{ output: unknown; isError: boolean; content: unknown }> {
    const fetch = scripted([{ toolCalls: [{ name: "t", input }] }, { text: "done" }]);
    const t = { description: "A tool", inputSchema: { type: "object" }, ...options };
    const agent = createAgent({
      model: anthropic("m", key),
      fetch,
      tools: { t: t as Tool },
    });
    const { toolCalls, messages } = await agent.run("go").result;
    const { output, isError } = toolCalls[0] as { output: unknown; isError: boolean };
    const block = messages[2]?.content[0];
    return { output, isError, content: block?.type === "tool_result" ? block.content : undefined };
  }

  it.each<[string, unknown, unknown, string]>([
    ["a string as it is", "sunny", "sunny", "sunny"],
    ["nothing as an empty text", undefined, "", ""],
    ["an object as JSON", { c: 3 }, { c: 3 }, '{"c":3}'],
    ["null as JSON", null, null, "null"],
  ])("gives the model %s", async (_, value, output, text) => {
    const seen = await outputOf({ execute: () => value });
    expect(seen.output).toEqual(output);
    expect(seen.isError).toBe(false);
    if (text !== "") expect(seen.content).toEqual([{ type: "text", text }]);
  });

  it("gives the model blocks", async () => {
    const content = [{ type: "media", mediaType: "image/png", data: "AAAA" }];
    expect((await outputOf({ execute: async () => ({ content }) })).content).toEqual(content);
  });

  it("tells the model what was thrown, without a stack", async () => {
    const thrown = new ToolError({ code: "no_city", message: "No such city", hint: "Ask for the country." });
    const { output, isError } = await outputOf({
      execute: () => {
        throw thrown;
      },
    });
    expect(isError).toBe(true);
    expect(output).toMatchObject({
      code: "no_city",
      message: "No such city",
      hint: "Ask for the country.",
      recoverable: true,
    });
    expect(JSON.stringify(output)).not.toContain(".ts:");
  });

  it("ends the run when it says that it cannot be recovered from", async () => {
    const fetch = scripted([{ toolCalls: [{ name: "t", input: {} }] }]);
    const t = tool({
      description: "Breaks",
      inputSchema: { type: "object" },
      execute: () => {
        throw new ToolError({ message: "the account is closed", recoverable: false });
      },
    });
    const result = await createAgent({ model: anthropic("m", key), fetch, tools: { t } }).run("go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "fatal_tool" });
  });

  it("tells its progress by yields and by progress(), and returns its result", async () => {
    const t = tool({
      description: "Works",
      inputSchema: { type: "object" },
      execute: async function* (_, { progress }) {
        progress({ at: "start" });
        yield 50;
        return "done";
      },
    });
    const fetch = scripted([{ toolCalls: [{ name: "t", input: {} }] }, { text: "ok" }]);
    const events = await collect(createAgent({ model: anthropic("m", key), fetch, tools: { t } }).run("go"));
    expect(events.filter(({ type }) => type === "tool-progress")).toMatchObject([
      { data: { at: "start" } },
      { data: 50 },
    ]);
    expect(events.filter(({ type }) => type === "tool-result")).toMatchObject([{ output: "done" }]);
  });

  it("is checked by its Standard Schema and gets the transformed value, while the history keeps what was written", async () => {
    const seen: unknown[] = [];
    const inputSchema = z.object({ day: z.iso.date().transform((day) => new Date(day)) });
    const options = { inputSchema, execute: (input: unknown) => void seen.push(input) };
    await outputOf(options, { day: "2026-11-20" });
    expect(seen).toEqual([{ day: new Date("2026-11-20") }]);
    const { output, isError } = await outputOf(options, { day: "tomorrow" });
    expect(isError).toBe(true);
    expect(output).toMatchObject({ code: "invalid_input", message: expect.stringContaining("day") });
    expect(seen).toHaveLength(1);
  });

  it("is checked by the engine against its JSON Schema", async () => {
    const execute = vi.fn();
    const inputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { output } = await outputOf({ inputSchema, execute }, { n: "x" });
    expect(output).toMatchObject({ code: "invalid_input" });
    expect(execute).not.toHaveBeenCalled();
  });

  it("never runs beside a call with the same resource key", async () => {
    const log: string[] = [];
    const write = tool({
      description: "Writes",
      inputSchema: {
        type: "object",
        properties: { file: { type: "string" }, n: { type: "number" } },
        required: ["file", "n"],
      },
      resourceKey: ({ file }) => file,
      execute: async ({ file, n }) => {
        log.push(`+${file}${n}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
        log.push(`-${file}${n}`);
      },
    });
    const calls = [
      ["a", 1],
      ["a", 2],
      ["b", 3],
    ].map(([file, n]) => ({ name: "write", input: { file, n } }));
    const fetch = scripted([{ toolCalls: calls }, { text: "ok" }]);
    await createAgent({ model: anthropic("m", key), fetch, tools: { write } }).run("go").result;
    expect(log.slice(0, 2)).toEqual(["+a1", "+b3"]);
    expect(log.indexOf("-a1")).toBeLessThan(log.indexOf("+a2"));
  });
});

describe("a custom model", () => {
  it("is any async function: text, tools, usage", async () => {
    const asked: CustomRequest[] = [];
    const model = custom(
      async function* (request) {
        asked.push(request);
        if (asked.length === 1) yield { type: "tool_call", name: "add", input: { a: 2, b: 2 } };
        else yield* ["It is ", "4."];
        yield { type: "usage", inputTokens: 10, outputTokens: 5 };
      },
      { name: "mine", temperature: 0.5 },
    );
    const result = await createAgent({ model, system: "Be brief.", tools: { add } }).run("2 + 2?").result;
    expect(result).toMatchObject({
      outcome: "completed",
      text: "It is 4.",
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    expect(asked[0]).toMatchObject({ model: "mine", system: "Be brief.", options: { temperature: 0.5 } });
    expect(asked[0]?.tools).toMatchObject([{ name: "add", inputSchema: { type: "object" } }]);
    expect(asked[1]?.messages).toHaveLength(3);
  });

  it("may answer with a plain text", async () => {
    expect((await createAgent({ model: custom(() => "Hello.") }).run("hi").result).text).toBe("Hello.");
  });

  it("is not asked again when it throws, and fails with its words", async () => {
    const answer = vi.fn(async () => {
      throw new Error("no GPU");
    });
    const retry = { maxRetries: 1, maxModelCallRetries: 1, ...noWait };
    const { error } = await createAgent({ model: custom(answer, { name: "mine" }), retry }).run("hi").result;
    expect(answer).toHaveBeenCalledTimes(1);
    expect(error).toMatchObject({ code: "custom_model", retryable: false, vendor: "custom", model: "mine" });
    expect(error?.message).toBe("custom mine failed with custom_model: no GPU");
  });

  it("is told of an abort by its signal", async () => {
    let signal: AbortSignal | undefined;
    const model = custom((request) => {
      signal = request.signal;
      return new Promise(() => {});
    });
    const run = createAgent({ model }).run("hi");
    await vi.waitFor(() => expect(signal).toBeDefined());
    run.abort();
    expect(signal?.aborted).toBe(true);
    expect((await run.result).outcome).toBe("cancelled");
  });
});

it("a run has its outcome while its last events are heard, and takes nothing more", async () => {
  const heard: unknown[] = [];
  const run = createAgent({ model: custom(() => "hi") }).run("x", {
    onEvent({ type }) {
      if (type !== "agent-finish" && type !== "finish") return;
      heard.push(type, run.outcome);
      for (const late of ["steer", "followUp"] as const) {
        expect(() => run[late]("more")).toThrow(expect.objectContaining({ code: "misuse_run_ended" }));
      }
    },
    onError: (error) => heard.push(error),
  });
  await run.result;
  expect(heard).toEqual(["agent-finish", "completed", "finish", "completed"]);
});
