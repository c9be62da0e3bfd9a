// Providers of the AI SDK as looplet's models. The practice provider answers in the place of each vendor.
import { describe, expect, it } from "vitest";
import { createAgent, tool } from "looplet";
import type { AgentOptions, RunEvent } from "looplet";
import { aiSdkModel, type LanguageModelLike } from "looplet/ai-sdk";
import { viewOf } from "looplet/ui";
import { scripted, type ScriptedFetch, type ScriptedStep } from "looplet/practice";
import { createAnthropic as anthropicV2 } from "ai-sdk-anthropic-2";
import { createAnthropic as anthropicV3 } from "ai-sdk-anthropic-3";
import { createAnthropic as anthropicV4 } from "ai-sdk-anthropic-4";
import { createGoogleGenerativeAI } from "ai-sdk-google-3";
import { call } from "./kit.js";

type Make = (fetch: ScriptedFetch) => LanguageModelLike;
const options = (fetch: ScriptedFetch) => ({ apiKey: "key", fetch: fetch as never });
const providers: [string, Make][] = [
  ["v2", (fetch) => anthropicV2(options(fetch))("claude-sonnet-4-5")],
  ["v3", (fetch) => anthropicV3(options(fetch))("claude-sonnet-4-5")],
  ["v4", (fetch) => anthropicV4(options(fetch))("claude-sonnet-4-5")],
];

function agentOn(
  make: Make,
  turns: readonly ScriptedStep[],
  more: Partial<AgentOptions> = {},
  model: object = {},
) {
  const fetch = scripted(turns);
  const agent = createAgent({
    model: aiSdkModel(make(fetch), model),
    system: "Be brief.",
    retry: { baseMs: 0, jitterMs: 0, maxRetries: 2 },
    tools: {
      weather: tool({
        description: "Weather",
        inputSchema: { type: "object", properties: { city: { type: "string" } } },
        readOnly: true,
        execute: ({ city }) => ({ city, sky: "rain" }),
      }),
    },
    ...more,
  });
  return { agent, fetch };
}

async function eventsOf(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe.each(providers)("a provider of specification %s", (version, make) => {
  it("streams, calls a tool, gives its signed reasoning back, and tells the usage", async () => {
    const { agent, fetch } = agentOn(
      make,
      [
        { thinking: { text: "Hm.", signature: "signed" }, text: "I look.", toolCalls: [call("weather")] },
        { text: "It rains.", usage: { inputTokens: 20, outputTokens: 5, cacheReadTokens: 7 } },
      ],
      {},
      { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } } },
    );
    const run = agent.run([
      { type: "text", text: "Weather?" },
      { type: "media", mediaType: "image/png", data: "iVBORw0KGgo=" },
    ]);
    const events = await eventsOf(run);
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "completed", text: "It rains.", finishReason: "stop" });
    expect(events.filter(({ type }) => type === "tool-input-delta").length).toBeGreaterThan(0);
    expect(result.toolCalls).toMatchObject([{ toolName: "weather", input: { city: "Paris" } }]);
    const lastUsage = events.filter(({ type }) => type === "iteration-finish").at(-1);
    expect(lastUsage).toMatchObject({ usage: { outputTokens: 5, cacheReadTokens: 7 } });
    const [first, second] = fetch.requests.map(({ body }) => body);
    expect(JSON.stringify(first.system)).toContain("Be brief.");
    expect(first.tools).toMatchObject([{ name: "weather", description: "Weather" }]);
    expect(first.messages[0].content.map(({ type }: any) => type)).toEqual(["text", "image"]);
    const [thinking, text, use] = second.messages[1].content;
    expect(thinking).toMatchObject({ type: "thinking", thinking: "Hm.", signature: "signed" });
    expect([text.text, use.name, use.input]).toEqual(["I look.", "weather", { city: "Paris" }]);
    expect(second.messages[2].content[0]).toMatchObject({
      type: "tool_result",
      tool_use_id: "toolu_weather",
    });
    expect(JSON.stringify(second.messages[2].content[0].content)).toContain("rain");
    expect(version).toBe(make(fetch).specificationVersion);
  });

  it("is asked again after an error that another attempt may mend, and not after one that it may not", async () => {
    const mended = agentOn(make, [{ status: 529 }, { text: "It rains." }]);
    const run = mended.agent.run("Weather?");
    const retries = (await eventsOf(run)).filter(({ type }) => type === "retry");
    expect(retries).toMatchObject([{ error: { code: "overloaded", status: 529, retryable: true } }]);
    expect(await run.result).toMatchObject({ outcome: "completed", text: "It rains." });

    const wrong = agentOn(make, [{ status: 401 }]);
    const { error } = await wrong.agent.run("Weather?").result;
    expect(error).toMatchObject({ code: "auth", status: 401, retryable: false });
    expect(wrong.fetch.requests).toHaveLength(1);
  });

  it("starts over when its stream breaks", async () => {
    const { agent } = agentOn(make, [
      { text: ["It is", " sunny"], error: { type: "overloaded_error" } },
      { text: "It rains." },
    ]);
    expect(await agent.run("Weather?").result).toMatchObject({ outcome: "completed", text: "It rains." });
  });

  it("ends an answer that the limit of output tokens cuts off", async () => {
    const { agent, fetch } = agentOn(
      make,
      [{ text: "It", stopReason: "length" }],
      {},
      { maxOutputTokens: 9, temperature: 0 },
    );
    expect(await agent.run("Weather?").result).toMatchObject({ text: "It", finishReason: "length" });
    expect(fetch.requests[0]!.body).toMatchObject({ max_tokens: 9, temperature: 0 });
  });

  it("stops with the run", async () => {
    const { agent } = agentOn(make, [{ text: "It", stall: true }]);
    const run = agent.run("Weather?", { onText: () => run.abort("enough") });
    expect(await run.result).toMatchObject({ outcome: "cancelled", text: "It" });
  });
});

describe("a provider", () => {
  it("gets back what its vendor wants beside a call", async () => {
    const make: Make = (fetch) => createGoogleGenerativeAI(options(fetch))("gemini-3-pro");
    const { agent, fetch } = agentOn(make, [
      { thinking: { text: "Hm.", signature: "c2lnbmVk" }, toolCalls: [call("weather")] },
      { text: "It rains." },
    ]);
    expect(await agent.run("Weather?").result).toMatchObject({ outcome: "completed", text: "It rains." });
    const parts = fetch.requests[1]!.body.contents[1].parts;
    expect(parts.find((part: any) => part.functionCall)).toMatchObject({ thoughtSignature: "c2lnbmVk" });
  });

  it("gets a result with an image as content", async () => {
    const shown: any[] = [];
    const model = (specificationVersion: string): LanguageModelLike => ({
      specificationVersion,
      provider: "mine",
      modelId: "m",
      doStream: async ({ prompt }) => {
        shown.push(prompt.at(-1));
        const parts =
          shown.length % 2
            ? [
                { type: "tool-call", toolCallId: "c", toolName: "photo", input: "{}" },
                { type: "finish", finishReason: "tool-calls" },
              ]
            : [
                { type: "text-delta", id: "1", delta: "A dot." },
                { type: "finish", finishReason: "stop" },
              ];
        return {
          stream: new ReadableStream({ start: (c) => (parts.forEach((part) => c.enqueue(part)), c.close()) }),
        };
      },
    });
    const photo = tool({
      description: "Photo",
      inputSchema: { type: "object" },
      execute: () => ({
        content: [
          { type: "text", text: "Here" },
          { type: "media", mediaType: "image/png", data: "AAAA" },
        ],
      }),
    });
    for (const version of ["v2", "v3", "v4"]) {
      const agent = createAgent({ model: aiSdkModel(model(version)), tools: { photo } });
      expect(await agent.run("Photo!").result).toMatchObject({ text: "A dot." });
    }
    const outputs = shown
      .filter(({ role }) => role === "tool")
      .map(({ content }) => content[0].output.value[1]);
    expect(outputs).toEqual([
      { type: "media", data: "AAAA", mediaType: "image/png" },
      { type: "image-data", data: "AAAA", mediaType: "image/png" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
    ]);
  });

  it.each([
    ["claude", "model", /needs a language model of a provider/],
    [
      { doStream() {}, specificationVersion: "v1" },
      "model.specificationVersion",
      /needs "v2", "v3" or "v4", got "v1"/,
    ],
  ])("is refused: %j", (model, field, message) => {
    expect(() => aiSdkModel(model as never)).toThrow(
      expect.objectContaining({ field, message: expect.stringMatching(message) }),
    );
    expect(() =>
      aiSdkModel({ doStream() {}, specificationVersion: "v3" } as never, { temprature: 1 } as never),
    ).toThrow(/temperature/);
  });
});

describe("what a provider answers beside text and calls", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const file = {
    v2: { type: "file", mediaType: "image/png", data: "AQID" },
    v3: { type: "file", mediaType: "image/png", data: bytes },
    v4: { type: "file", mediaType: "image/png", data: { type: "data", data: bytes } },
  };
  const usage = { inputTokens: 1, outputTokens: 1 };

  it.each(["v2", "v3", "v4"] as const)("stands in the transcript and goes back, with %s", async (version) => {
    const asked: any[] = [];
    const search = { toolCallId: "s1", toolName: "web_search" };
    const parts = [
      { type: "tool-call", ...search, input: '{"query":"rain"}', providerExecuted: true },
      { type: "tool-result", ...search, result: ["wet"], providerMetadata: { vendor: { token: "t" } } },
      { type: "text-delta", id: "1", delta: "It rains." },
      { type: "source", sourceType: "url", id: "a", url: "https://rain.test", title: "Rain" },
      { type: "source", sourceType: "url", id: "b", url: "https://sun.test" },
      { type: "source", sourceType: "document", id: "c", mediaType: "application/pdf", title: "Paper" },
      file[version],
      { type: "finish", usage, finishReason: "stop" },
    ];
    const model: LanguageModelLike = {
      specificationVersion: version,
      provider: "vendor",
      modelId: "m",
      doStream(options) {
        asked.push(options.prompt);
        const stream = new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        });
        return Promise.resolve({ stream });
      },
    };
    const chat = createAgent({ model: aiSdkModel(model) }).chat();
    const { outcome, messages } = await chat.run("Weather?").result;
    expect(outcome).toBe("completed");
    expect(messages[1]!.content.map(({ type }) => type)).toEqual(["raw", "raw", "text", "media"]);
    expect(viewOf(messages).messages[1]!.parts.slice(2)).toMatchObject([
      { type: "text", text: "It rains." },
      { type: "source", url: "https://rain.test", title: "Rain" },
      { type: "source", url: "https://sun.test" },
      { type: "file", mediaType: "image/png", data: "AQID" },
    ]);
    await chat.run("And now?").result;
    expect(asked[1][1].content).toMatchObject([
      { type: "tool-call", ...search, input: { query: "rain" }, providerExecuted: true },
      {
        type: "tool-result",
        ...search,
        output: { type: "json", value: ["wet"] },
        providerOptions: { vendor: { token: "t" } },
      },
      { type: "text", text: "It rains." },
      { type: "file", mediaType: "image/png" },
    ]);
  });
});
