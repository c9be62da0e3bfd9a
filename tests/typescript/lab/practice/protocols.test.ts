import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { compatible, createAgent, gemini, tool } from "looplet";
import { practice, raw, scripted, type ScriptedTurn } from "looplet/practice";
import type { RunResult, WireProtocol } from "../../../../src/typescript/core/api/index.js";

type Vendor = (typeof VENDORS)[number];
const VENDORS = ["anthropic", "openai_chat", "openai_responses", "gemini", "bedrock_converse"] as const;

const modelOf = (protocol: WireProtocol, options: object) =>
  compatible("m", { baseUrl: "https://host.example/v1", protocol, ...options });

const look = tool({ inputSchema: { type: "object" }, description: "Looks", execute: () => "seen" });

/** A run against these turns, cut by single bytes. */
async function run(protocol: Vendor, turns: ScriptedTurn[], options: object = {}, more: object = {}) {
  const fetch = scripted(turns, { chunking: 1, validate: true });
  const agent = createAgent({
    model: modelOf(protocol, { fetch, ...options }),
    tools: { look },
    retry: { maxRetries: 0 },
    ...more,
  });
  return { fetch, result: await agent.run("Hi").result };
}

const answers = ({ messages }: RunResult) => messages.filter(({ role }) => role === "assistant");

describe.each(VENDORS)("a scripted turn over %s", (protocol) => {
  it.each([true, false])("has its text, calls, arguments and usage (stream: %s)", async (stream) => {
    const turn: ScriptedTurn = {
      text: ["Grüße, ", "🌍"],
      toolCalls: [
        { name: "look", input: { at: "ä" } },
        { name: "look", argumentsText: ['{"n"', ":1}"] },
        { name: "look" },
      ],
      usage: { inputTokens: 3, outputTokens: 9, cacheReadTokens: 5 },
    };
    const { result, fetch } = await run(protocol, [turn, { text: "Done." }], { stream });
    expect(result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(result.toolCalls.map(({ input }) => input)).toEqual([{ at: "ä" }, { n: 1 }, {}]);
    expect(answers(result)[0]?.content[0]).toMatchObject({ type: "text", text: "Grüße, 🌍" });
    expect(fetch.requests[0]).toMatchObject({ model: "m", isStreaming: stream });
    expect(new Set(result.toolCalls.map(({ toolCallId }) => toolCallId)).size).toBe(3);
    expect(result.usage?.cacheReadTokens).toBe(5);
    expect(result.usage?.inputTokens).toBeGreaterThan(8);
  });

  it.each([true, false])(
    "has its reasoning, signed where the protocol signs (stream: %s)",
    async (stream) => {
      const { result } = await run(
        protocol,
        [
          { thinking: { text: ["Hm. ", "So."], signature: "c2ln" }, toolCalls: [{ name: "look" }] },
          { text: "Done." },
        ],
        { stream },
      );
      expect(result.outcome).toBe("completed");
      const [first] = answers(result);
      expect(first?.content[0]).toMatchObject({ type: "thinking", text: "Hm. So." });
      const isSigned = JSON.stringify(first).includes("c2ln");
      expect(isSigned).toBe(protocol !== "openai_chat");
    },
  );

  it.each([
    ["end", "stop"],
    ["length", "length"],
    ["refusal", protocol === "anthropic" ? "refusal" : "content_filter"],
  ])("ends for the reason %s", async (stopReason, finishReason) => {
    // Responses has a part for a refusal, and no reason.
    const isPart = protocol === "openai_responses" && stopReason === "refusal";
    const turn: ScriptedTurn = isPart
      ? { blocks: [{ type: "refusal", text: "No." }] }
      : { text: "Hm", stopReason };
    const { result } = await run(protocol, [turn]);
    expect(result.finishReason).toBe(isPart ? "refusal" : finishReason);
  });

  it("fails inside its stream, ends early and drops as it is told", async () => {
    const codes = [];
    for (const fault of [
      { error: {} },
      { error: { message: "Enough." } },
      { truncate: true },
      { dropAfterBytes: 60 },
    ]) {
      const { result } = await run(protocol, [{ text: "Half", ...fault }]);
      codes.push(result.error?.code);
      if (fault.error?.message) expect(result.error?.message).toContain("Enough.");
    }
    expect(codes.slice(2)).toEqual(["malformed_stream", "network"]);
    for (const code of codes.slice(0, 2)) expect(["overloaded", "server"]).toContain(code);
  });

  it("has a raw block as it stands", async () => {
    const values = {
      anthropic: { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
      openai_chat: { content: "raw" },
      openai_responses: { type: "web_search_call", id: "ws_1", status: "completed" },
      gemini: { executableCode: { language: "PYTHON", code: "1" } },
      bedrock_converse: { text: "raw" },
    };
    const { result } = await run(protocol, [
      {
        blocks: [
          { type: "raw", value: values[protocol] },
          { type: "text", text: "Done." },
        ],
      },
    ]);
    expect(result.outcome).toBe("completed");
    expect(JSON.stringify(answers(result))).toMatch(/web_search|raw|PYTHON/);
  });

  it("is refused like the vendor refuses calls without results", async () => {
    const bodies: Record<Vendor, object> = {
      anthropic: { max_tokens: 9, messages: [{ role: "user", content: "a" }, { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] }, { role: "user", content: "b" }] },
      openai_chat: { messages: [{ role: "assistant", tool_calls: [{ id: "t", function: { name: "f", arguments: "{}" } }] }, { role: "user", content: "b" }] },
      openai_responses: { input: [{ type: "function_call", call_id: "t", name: "f", arguments: "{}" }] },
      gemini: { contents: [{ role: "user", parts: [{ text: "a" }] }, { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }, { role: "user", parts: [{ text: "b" }] }] },
      bedrock_converse: { toolConfig: { tools: [{ toolSpec: { name: "f", inputSchema: { json: {} } } }] }, messages: [{ role: "user", content: [{ text: "a" }] }, { role: "assistant", content: [{ toolUse: { toolUseId: "t", name: "f", input: {} } }] }, { role: "user", content: [{ text: "b" }] }] },
    }; // prettier-ignore
    const paths: Record<Vendor, string> = {
      anthropic: "/v1/messages",
      openai_chat: "/v1/chat/completions",
      openai_responses: "/v1/responses",
      gemini: "/v1beta/models/m:generateContent",
      bedrock_converse: "/model/m/converse",
    };
    const response = await practice({ delayMs: 0 })(`https://host.example${paths[protocol]}`, {
      method: "POST",
      headers: { "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "m", ...bodies[protocol] }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(
      /`tool_use` ids were found|did not have response messages: t|No tool output found for function call t|number of function response parts|Expected toolResult blocks at messages.2.content for the following Ids: t/,
    );
  });

  it("of practice() thinks aloud when it is asked to, and takes its own reasoning back", async () => {
    const thinking: Record<Vendor, object> = {
      anthropic: { thinking: { budgetTokens: 1024 } },
      openai_chat: { effort: "high" },
      openai_responses: { thinking: { summary: "auto" }, effort: "high" },
      gemini: { thinking: { budgetTokens: 1024 } },
      bedrock_converse: { thinking: { budgetTokens: 1024 } },
    };
    const model = compatible("anthropic.claude-x", {
      baseUrl: "https://host.example",
      protocol,
      maxOutputTokens: 4000,
      fetch: practice({ delayMs: 0 }),
      ...thinking[protocol],
    });
    const chat = createAgent({ model, tools: { look } }).chat();
    const first = await chat.run("Look at it").result;
    const second = await chat.run("Look again").result;
    expect([first.outcome, second.outcome]).toEqual(["completed", "completed"]);
    const isShown = JSON.stringify(answers(first)).includes("Next I call look");
    expect(isShown).toBe(protocol !== "openai_chat");
    if (protocol === "openai_chat") expect(first.usage?.reasoningTokens).toBeGreaterThan(0);
  });
});

describe("what a practice model cannot do, it says", () => {
  const image = { type: "media" as const, mediaType: "image/png", data: "iVBORw0KGgo=" };
  const pdf = { type: "media" as const, mediaType: "application/pdf", data: "JVBERi0=" };

  it.each(VENDORS)("over %s: images and files", async (protocol) => {
    const agent = createAgent({ model: modelOf(protocol, { fetch: practice({ delayMs: 0 }) }) });
    const chat = agent.chat();
    const { text, outcome } = await chat.run([{ type: "text", text: "Hello" }, image, pdf] as never).result;
    expect(outcome).toBe("completed");
    expect(text).toMatch(
      /I am a practice model: I cannot (?:see images or read files|read files or see images)\.$/,
    );
    expect((await chat.run("Hello").result).text).not.toContain("I cannot");
  });

  it.each([
    ["anthropic", { tools: [{ type: "web_search_20250305", name: "web_search" }] }, "search the web"],
    [
      "anthropic",
      { mcp_servers: [{ type: "url", url: "https://x.example", name: "x" }] },
      "reach MCP servers",
    ],
    ["openai_chat", { web_search_options: {}, n: 2 }, "search the web, and I do not know `n`"],
    ["openai_responses", { tools: [{ type: "code_interpreter" }] }, "run programs on the server"],
    ["gemini", { tools: [{ googleSearch: {} }] }, "search the web"],
    ["gemini", { generationConfig: { speechConfig: {} } }, "hear or make sounds"],
    ["bedrock_converse", { guardrailConfig: {} }, "I do not know `guardrailConfig`"],
  ] as const)("over %s: %o", async (protocol, body, words) => {
    const model = modelOf(protocol, { fetch: practice({ delayMs: 0 }), body });
    const { text } = await createAgent({ model }).run("Hello").result;
    expect(text).toContain(words);
  });

  it.each(VENDORS)("over %s, nothing of what looplet itself can send", async (protocol) => {
    const options = { maxOutputTokens: 4000, temperature: 0.5, topP: 0.9, metadata: undefined };
    const model = modelOf(protocol, { fetch: practice({ delayMs: 0 }), promptCaching: true, ...options });
    const { text } = await createAgent({ model, system: "Be brief.", tools: { look } }).run("Look").result;
    expect(text).toBe("Look: **seen**");
  });
});

describe("a model in the URL", () => {
  it("is read with its escapes, on Vertex AI's paths too", async () => {
    const fetch = scripted([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const url =
      "https://x.example/v1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent";
    await fetch(url, { method: "POST", body: "{}" });
    const arn = "arn:aws:bedrock:us-east-1:1:inference-profile/us.x";
    await fetch(`https://x.example/model/${encodeURIComponent(arn)}/converse-stream`, { method: "POST" });
    await fetch("https://x.example/model/100%/converse", { method: "POST" });
    const seen = fetch.requests.map(({ protocol, model, isStreaming }) => [protocol, model, isStreaming]);
    expect(seen).toEqual([
      ["gemini", "gemini-3", false],
      ["bedrock-converse", arn, true],
      ["bedrock-converse", "100%", false],
    ]);
  });

  it("is named in the vendor's words when it is unknown", async () => {
    const fetch = practice({ delayMs: 0, models: ["a"] });
    const { error } = await createAgent({ model: gemini("b", { fetch }) }).run("Hi").result;
    expect(error?.message).toContain("models/b is not found for API version v1beta");
  });
});

describe("the vendor's OpenAI SDK over Responses", () => {
  const client = (fetch: any) => new OpenAI({ apiKey: "k", fetch, maxRetries: 0 });

  it.each(["event", 7] as const)("reads calls and usage out of a stream cut by %s", async (chunking) => {
    const fetch = practice({ delayMs: 0, chunking });
    const tools: any[] = [
      { type: "function", name: "weather", description: "Weather of a city", strict: false, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
    ]; // prettier-ignore
    const response = await client(fetch)
      .responses.stream({ model: "m", input: "Weather in Paris", tools, reasoning: { summary: "auto" } })
      .finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
    expect(response.output.at(-1)).toMatchObject({ name: "weather", arguments: '{"city":"Paris"}' });
    expect(response.usage?.total_tokens).toBeGreaterThan(10);
  });

  it("reads the same answer streamed and whole, and structured output", async () => {
    const openai = client(practice({ delayMs: 0 }));
    const params = { model: "m", input: "Describe the tides" };
    const whole = await openai.responses.create(params);
    const streamed = await openai.responses.stream(params).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const format = { type: "json_schema" as const, name: "a", schema };
    const typed = await openai.responses.create({ model: "m", input: "A trip to Rome", text: { format } });
    expect(JSON.parse(typed.output_text)).toEqual({ city: "Rome" });
  });

  it("reads an error inside the stream", async () => {
    const stream = client(scripted([{ text: "Half", error: { message: "Enough." } }])).responses.stream({
      model: "m",
      input: "Hi",
    });
    await expect(stream.finalResponse()).rejects.toThrow(/Enough/);
  });
});

it("a script without a known path says so, unless its turn is a body", async () => {
  await expect(scripted([{ text: "a" }])("https://x.example/v2/chat", {})).rejects.toThrow(
    "is a path of no known protocol",
  );
  const plain = await scripted([raw("a")])("https://x.example/v2/chat", {});
  expect(await plain.text()).toBe("a");
});
