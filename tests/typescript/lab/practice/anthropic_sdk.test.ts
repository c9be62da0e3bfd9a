import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { practice, scripted } from "../../../../src/typescript/lab/practice/index.js";
import { anthropicTools, TOOLS } from "./kit.js";

const client = (fetch: any, options = {}) => new Anthropic({ apiKey: "k", fetch, maxRetries: 0, ...options });
const model = "claude-sonnet-4-6";
const tools: any = anthropicTools();
const ask = (content: string) => [{ role: "user" as const, content }];

describe("the vendor's Anthropic SDK", () => {
  for (const chunking of ["event", "split", 1, 7] as const) {
    it(`reads two parallel tool calls and the answer out of a stream cut by ${chunking}`, async () => {
      const anthropic = client(practice({ delayMs: 0, chunking }));
      const messages: any[] = ask("What is 12 times 7, and what's the weather in Zürich?");
      const first = await anthropic.messages
        .stream({ model, max_tokens: 1000, tools, messages })
        .finalMessage();
      expect(first.stop_reason).toBe("tool_use");
      const calls = first.content.filter((block) => block.type === "tool_use");
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ["calculator", { expression: "12 * 7" }],
        ["weather", { city: "Zürich" }],
      ]);
      messages.push({ role: "assistant", content: first.content });
      messages.push({
        role: "user",
        content: calls.map(({ id, name, input }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: JSON.stringify(TOOLS[name]?.run(input)),
        })),
      });
      const last = await anthropic.messages
        .stream({ model, max_tokens: 1000, tools, messages })
        .finalMessage();
      expect(last.stop_reason).toBe("end_turn");
      const text = last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      expect(text).toContain("12 * 7 = 84");
      expect(text).toContain("**Zürich**");
      expect(last.usage.output_tokens).toBeGreaterThan(5);
    });
  }

  it("reads the same answer streamed and whole", async () => {
    const anthropic = client(practice({ delayMs: 0 }));
    const params = { model, max_tokens: 1000, messages: ask("Explain how bridges stand") };
    const whole = await anthropic.messages.create(params);
    const streamed = await anthropic.messages.stream(params).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(whole._request_id).toMatch(/^req_011C/);
  });

  it("streams text in many deltas", async () => {
    const deltas: string[] = [];
    const stream = client(practice({ delayMs: 0 })).messages.stream({
      model,
      max_tokens: 1000,
      messages: ask("Tell me a story"),
    });
    stream.on("text", (delta) => deltas.push(delta));
    expect(await stream.finalText()).toBe(deltas.join(""));
    expect(deltas.length).toBeGreaterThan(20);
  });

  it("gets thinking with a signature that is accepted again, and refused when the text was changed", async () => {
    const anthropic = client(practice({ delayMs: 0 }));
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const messages: any[] = ask("Weather in Paris");
    const first = await anthropic.messages
      .stream({ model, max_tokens: 4000, thinking, tools, messages })
      .finalMessage();
    expect(first.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
    const call: any = first.content[2];
    const results = { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "18" }] };
    const next = [...messages, { role: "assistant", content: first.content }, results] as any[];
    const params = { model, max_tokens: 4000, thinking, tools };
    expect((await anthropic.messages.create({ ...params, messages: next })).stop_reason).toBe("end_turn");
    next[1] = { role: "assistant", content: [{ ...first.content[0], thinking: "other" }, call] };
    await expect(anthropic.messages.create({ ...params, messages: next })).rejects.toThrow(
      /Invalid `signature`/,
    );
  });

  it("sees every status as its own error class, with the vendor's type and the request id", async () => {
    const failures = [401, 404, 429, 500, { status: 529, retryAfter: "3" }];
    const anthropic = client(practice({ delayMs: 0, failures }));
    const call = () =>
      anthropic.messages.create({ model, max_tokens: 10, messages: ask("Hi") }).catch((error) => error);
    expect(await call()).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(await call()).toBeInstanceOf(Anthropic.NotFoundError);
    expect(await call()).toBeInstanceOf(Anthropic.RateLimitError);
    expect(await call()).toBeInstanceOf(Anthropic.InternalServerError);
    const overloaded = await call();
    expect(overloaded.status).toBe(529);
    expect(overloaded.error).toMatchObject({
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
    expect(overloaded.headers.get("retry-after")).toBe("3");
    expect(overloaded.requestID).toBe(overloaded.error.request_id);
  });

  it("sees an error event inside a stream as an API error", async () => {
    const anthropic = client(scripted([{ text: "Half", error: { type: "overloaded_error" } }]));
    const stream = anthropic.messages.stream({ model, max_tokens: 10, messages: ask("Hi") });
    await expect(stream.finalMessage()).rejects.toMatchObject({ type: "overloaded_error" });
  });

  it("reads scripted blocks in their exact order", async () => {
    const fetch = scripted([
      {
        blocks: [
          { type: "redacted-thinking", data: "opaque" },
          { type: "thinking", text: ["a", "b"], signature: "s1" },
          { type: "text", text: ["one ", "two"] },
          { type: "tool-call", id: "toolu_1", name: "f", argumentsText: ['{"x"', ": 1}"] },
          { type: "text", text: "after" },
          { type: "tool-call", id: "toolu_2", name: "g" },
        ],
        usage: { inputTokens: 3, outputTokens: 9, cacheReadTokens: 5, cacheWriteTokens: 7 },
      },
    ]);
    const message = await client(fetch)
      .messages.stream({ model, max_tokens: 10, messages: ask("Hi") })
      .finalMessage();
    expect(message.content).toMatchObject([
      { type: "redacted_thinking", data: "opaque" },
      { type: "thinking", thinking: "ab", signature: "s1" },
      { type: "text", text: "one two" },
      { type: "tool_use", id: "toolu_1", input: { x: 1 } },
      { type: "text", text: "after" },
      { type: "tool_use", id: "toolu_2", input: {} },
    ]);
    expect(message.usage).toMatchObject({
      input_tokens: 3,
      output_tokens: 9,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 7,
    });
  });
});
