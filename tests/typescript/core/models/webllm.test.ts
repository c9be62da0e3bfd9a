import { describe, expect, it, vi } from "vitest";
import { createAgent, tool } from "../../../../src/typescript/core/entry/node.js";
import { webllm } from "../../../../src/typescript/extras/models/index.js";

const noWait = { baseMs: 0, jitterMs: 0 };
const weather = tool({
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `It rains in ${city}.`,
});

interface Turn {
  pieces?: string[];
  calls?: { name: string; arguments: string }[];
  reason?: string;
  error?: Error;
  hang?: boolean;
  /** Milliseconds before the first piece: the prompt is being read. */
  prefillMs?: number;
}

/**
 * A double of `MLCEngineInterface`: chunks as `streamCurrentGeneration` of WebLLM's engine.ts makes them, requests
 * refused as `postInitAndCheckFields` of its chat_completion.ts does (2026-11-22).
 */
class EngineDouble {
  readonly requests: any[] = [];
  interrupted = 0;
  ended = 0;

  constructor(readonly turns: Turn[]) {}

  readonly chat = {
    completions: {
      create: async (request: unknown): Promise<AsyncIterable<unknown>> => {
        checkRequest(request as any);
        this.requests.push(request);
        return this.#stream(this.turns.shift() ?? {});
      },
    },
  };

  async interruptGenerate(): Promise<void> {
    this.interrupted += 1;
  }

  async *#stream({
    pieces = [],
    calls,
    reason = "stop",
    error,
    hang,
    prefillMs = 0,
  }: Turn): AsyncGenerator<unknown> {
    const chunk = (choices: unknown[], more = {}): unknown => ({
      id: "chat-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "Llama",
      choices,
      ...more,
    });
    try {
      if (error !== undefined) throw error;
      if (prefillMs > 0) await new Promise((resolve) => setTimeout(resolve, prefillMs));
      for (const content of pieces)
        yield chunk([{ delta: { content, role: "assistant" }, finish_reason: null, index: 0 }]);
      if (hang === true) await vi.waitFor(() => expect(this.interrupted).toBe(1), { timeout: 5_000 });
      const tool_calls = calls?.map((call, index) => ({ index, function: call, type: "function" }));
      const delta = calls === undefined ? {} : { role: "assistant", tool_calls };
      yield chunk([{ delta, finish_reason: calls === undefined ? reason : "tool_calls", index: 0 }]);
      yield chunk([], { usage: { prompt_tokens: 20, completion_tokens: 6, total_tokens: 26, extra: {} } });
    } finally {
      this.ended += 1;
    }
  }
}

function checkRequest({ messages, response_format: format, tools }: any): void {
  const refuse = (name: string, message: string): never => {
    throw Object.assign(new Error(message), { name });
  };
  messages.forEach(({ role, content }: any, at: number) => {
    if (role === "user" && typeof content !== "string") refuse("UserMessageContentError", "strings only");
    if (role === "system" && at > 0) refuse("SystemMessageOrderError", "system comes first");
  });
  if (!["user", "tool"].includes(messages.at(-1).role)) refuse("MessageOrderError", "the last is a user's");
  if (format?.schema !== undefined && (format.type !== "json_object" || typeof format.schema !== "string"))
    refuse("InvalidResponseFormatError", "a schema is a string and goes with json_object");
  if (tools !== undefined && format !== undefined) refuse("CustomResponseFormatError", "tools or a format");
}

describe("a model of WebLLM", () => {
  it("answers a run, decoded like any server's answer", async () => {
    const engine = new EngineDouble([{ pieces: ["It ", "rains."] }]);
    const agent = createAgent({ model: webllm(engine, { temperature: 0, seed: 1 }), system: "Be brief." });
    const result = await agent.run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "It rains.", finishReason: "stop" });
    expect(result.usage).toMatchObject({ inputTokens: 20, outputTokens: 6 });
    expect(engine.requests[0]).toEqual({
      temperature: 0,
      seed: 1,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Umbrella?" },
      ],
    });
  });

  it("names the model to an engine that has several", async () => {
    const engine = new EngineDouble([{ pieces: ["a"] }]);
    const model = webllm(engine, { model: "Phi", name: "small" });
    await createAgent({ model }).run("hi").result;
    expect(engine.requests[0].model).toBe("Phi");
    expect(model.model).toBe("small");
  });

  it("calls tools by constrained JSON, with any model", async () => {
    const engine = new EngineDouble([
      { pieces: ['{"tool":"weather",', '"input":{"city":"Bern"}}'] },
      { pieces: ['{"text":"Take ', 'one."}'] },
    ]);
    const result = await createAgent({ model: webllm(engine), tools: { weather } }).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "Take one.", iterations: 2 });
    expect(result.toolCalls).toMatchObject([{ toolName: "weather", output: "It rains in Bern." }]);
    const [first, second] = engine.requests;
    expect(first).not.toHaveProperty("tools");
    expect(first.response_format.type).toBe("json_object");
    expect(JSON.parse(first.response_format.schema)).toHaveProperty("anyOf");
    expect(second.messages.at(-1)).toEqual({ role: "user", content: "Result of weather: It rains in Bern." });
  });

  it("never runs a call that the length limit cut off", async () => {
    const engine = new EngineDouble([
      { pieces: ['{"tool":"weather","input":{"city":"B'], reason: "length" },
      { pieces: ['{"text":"Sorry."}'] },
    ]);
    const result = await createAgent({ model: webllm(engine), tools: { weather } }).run("?").result;
    expect(result.toolCalls).toMatchObject([{ isError: true, output: { code: "cut_off" } }]);
    expect(result.text).toBe("Sorry.");
  });

  it("calls tools natively if told to, without the text that the calls were made of", async () => {
    const calls = [{ name: "weather", arguments: '{"city":"Bern"}' }];
    const engine = new EngineDouble([
      { pieces: ['[{"name":"weather",', '"arguments":{"city":"Bern"}}]'], calls },
      { pieces: ["Take", " one."], reason: "length" },
    ]);
    const model = webllm(engine, { toolCalls: "native" });
    const result = await createAgent({ model, tools: { weather } }).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "Take one.", iterations: 2 });
    expect(result.messages[1]?.content).toMatchObject([{ type: "tool_call", name: "weather" }]);
    expect(engine.requests[0].tools).toMatchObject([{ function: { name: "weather" } }]);
    expect(engine.requests[1].messages.at(-1)).toMatchObject({ role: "tool", content: "It rains in Bern." });
    expect(engine.requests[1].messages.at(-2).content).toBe("");
  });

  it("is interrupted when the run is aborted", async () => {
    const engine = new EngineDouble([{ pieces: ["Once "], hang: true }]);
    // Later, when the engine is at work on the next piece.
    const run = createAgent({ model: webllm(engine) }).run("tell", {
      onText: () => void setTimeout(() => run.abort("enough"), 20),
    });
    expect(await run.result).toMatchObject({ outcome: "cancelled", text: "Once " });
    await vi.waitFor(() => expect(engine.ended).toBe(1));
    expect(engine.interrupted).toBe(1);
  });

  it("is interrupted at its first piece when the run was aborted before, so that it stops no other run", async () => {
    const engine = new EngineDouble([{ pieces: ["Once "], prefillMs: 60 }]);
    const run = createAgent({ model: webllm(engine) }).run("tell");
    await vi.waitFor(() => expect(engine.requests).toHaveLength(1));
    run.abort("enough");
    expect(await run.result).toMatchObject({ outcome: "cancelled", text: "" });
    expect(engine.interrupted).toBe(0);
    await vi.waitFor(() => expect(engine.ended).toBe(1));
    expect(engine.interrupted).toBe(1);
  });

  it.each<[string, Error, object]>([
    [
      "a prompt that is too long",
      Object.assign(new Error("Prompt tokens exceed"), { name: "ContextWindowSizeExceededError" }),
      { code: "context_length", retryable: false },
    ],
    [
      "no model",
      Object.assign(new Error("Model not loaded"), { name: "ModelNotLoadedError" }),
      { code: "not_found", retryable: false },
    ],
    [
      "a worker without a model",
      Object.assign(new Error("no model in the worker"), { name: "WorkerEngineModelNotLoadedError" }),
      { code: "not_found", retryable: false },
    ],
    [
      "a field that it does not take",
      Object.assign(new Error("not supported"), { name: "UnsupportedFieldsError" }),
      { code: "invalid_request", retryable: false },
    ],
    ["a lost device", new Error("device lost"), { code: "server", retryable: true }],
  ])("fails with %s as itself", async (_, error, expected) => {
    const turn = { error };
    const engine = new EngineDouble([turn, turn]);
    const retry = { ...noWait, maxRetries: 1 };
    const result = await createAgent({ model: webllm(engine), retry }).run("hi").result;
    expect(result).toMatchObject({
      outcome: "failed",
      error: { ...expected, message: expect.stringContaining(error.message) },
    });
  });

  it("refuses what is no engine", () => {
    expect(() => webllm({} as never)).toThrow(expect.objectContaining({ code: "config_wrong_type" }));
    expect(() => webllm(new EngineDouble([]), { toolCalls: "auto" } as never)).toThrow(
      expect.objectContaining({ code: "config_invalid_value", field: "model.toolCalls" }),
    );
    expect(() => webllm(new EngineDouble([]), { effort: "low" } as never)).toThrow(
      expect.objectContaining({ code: "config_unknown_option", field: "model.effort" }),
    );
  });
});
