import { describe, expect, it } from "vitest";
import { practice, scripted, type ScriptedTurn } from "../../../../src/typescript/lab/practice/index.js";

const string = { type: "string" };
const city = { type: "object", properties: { city: string }, required: ["city"] };
const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });

/** A protocol as a client without looplet writes it: the path, a request, and the answer in neutral words. */
interface Client {
  path: string;
  /** Contents of a conversation: a prompt, or calls of an answer with their results. */
  ask(parts: Turn[], more?: object): object;
  /** What the request has for tools, for a choice and for one call at a time. */
  tools(names: string[], choice?: string): object;
  /** Texts and calls of an answer. */
  said(body: any): { text: string; calls: { name: string; input: any; id: string }[] };
}
type Turn =
  | { prompt: string }
  | { calls: { id: string; name: string; input: object; result: string; isError?: boolean }[] };

const CLIENTS: Record<"responses" | "gemini" | "bedrock", Client> = {
  responses: {
    path: "/v1/responses",
    ask: (turns, more) => ({
      model: "m",
      input: turns.flatMap((turn): object[] =>
        "prompt" in turn
          ? [{ role: "user", content: [{ type: "input_text", text: turn.prompt }] }]
          : [
              { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me look." }] },
              ...turn.calls.map(({ id, name, input }) => ({ type: "function_call", call_id: id, name, arguments: JSON.stringify(input) })),
              ...turn.calls.map(({ id, result }) => ({ type: "function_call_output", call_id: id, output: result })),
            ],
      ),
      ...more,
    }),
    tools: (names, choice) => ({
      tools: names.map((name) => ({ type: "function", name, parameters: city })),
      ...(choice !== undefined && { tool_choice: names.includes(choice) ? { type: "function", name: choice } : choice }),
    }),
    said: ({ output }) => ({
      text: output.flatMap(({ content = [] }: any) => content.map(({ text }: any) => text)).join(""),
      calls: output
        .filter(({ type }: any) => type === "function_call")
        .map(({ name, arguments: json, call_id: id }: any) => ({ name, input: JSON.parse(json), id })),
    }),
  },
  gemini: {
    path: "/v1beta/models/gemini-3:generateContent",
    ask: (turns, more) => ({
      contents: turns.flatMap((turn): object[] =>
        "prompt" in turn
          ? [{ role: "user", parts: [{ text: turn.prompt }] }]
          : [
              { role: "model", parts: turn.calls.map(({ name, input }) => ({ functionCall: { name, args: input } })) },
              {
                role: "user",
                parts: turn.calls.map(({ name, result, isError }) => ({ functionResponse: { name, response: { [isError ? "error" : "output"]: result } } })),
              },
            ],
      ),
      ...more,
    }),
    tools: (names, choice) => ({
      tools: [{ functionDeclarations: names.map((name) => ({ name, parameters: { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] } })) }],
      ...(choice !== undefined && {
        toolConfig: {
          functionCallingConfig: names.includes(choice) ? { mode: "ANY", allowedFunctionNames: [choice] } : { mode: choice === "none" ? "NONE" : "ANY" },
        },
      }),
    }),
    said: ({ candidates: [{ content }] }) => ({
      text: content.parts.map(({ text = "" }: any) => text).join(""),
      calls: content.parts.flatMap(({ functionCall: call }: any) => (call ? [{ name: call.name, input: call.args, id: call.id }] : [])),
    }),
  },
  bedrock: {
    path: "/model/m/converse",
    ask: (turns, more) => ({
      messages: turns.flatMap((turn): object[] =>
        "prompt" in turn
          ? [{ role: "user", content: [{ text: turn.prompt }] }]
          : [
              { role: "assistant", content: turn.calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })) },
              {
                role: "user",
                content: turn.calls.map(({ id, result, isError }) => ({
                  toolResult: { toolUseId: id, content: [isError ? { text: result } : { json: { sky: result } }], ...(isError && { status: "error" }) },
                })),
              },
            ],
      ),
      ...more,
    }),
    tools: (names, choice) => ({
      toolConfig: {
        tools: names.map((name) => ({ toolSpec: { name, inputSchema: { json: city } } })),
        ...(choice !== undefined && { toolChoice: names.includes(choice) ? { tool: { name: choice } } : { any: {} } }),
      },
    }),
    said: ({ output: { message } }) => ({
      text: message.content.map(({ text = "" }: any) => text).join(""),
      calls: message.content.flatMap(({ toolUse: call }: any) => (call ? [{ name: call.name, input: call.input, id: call.toolUseId }] : [])),
    }),
  },
}; // prettier-ignore

async function asked(client: Client, turns: Turn[], more: object = {}, options: object = {}) {
  const fetch = practice({ delayMs: 0, ...options });
  const response = await fetch(`https://host.example${client.path}`, post(client.ask(turns, more)));
  const body: any = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return client.said(body);
}

const prompt = "What is the weather in Oslo and in Rome?";

describe.each(Object.entries(CLIENTS))("a client of %s", (name, client) => {
  const tools = client.tools(["weather", "clock"]);

  it("gets calls with inputs after the schema, and ids of their own", async () => {
    const { calls } = await asked(client, [{ prompt }], tools);
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["weather", { city: "Oslo" }],
      ["weather", { city: "Rome" }],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it("gets an answer out of results, each at its call", async () => {
    const calls = [
      { id: "a", name: "weather", input: { city: "Oslo" }, result: "clear" },
      { id: "b", name: "weather", input: { city: "Rome" }, result: "grey" },
    ];
    const { text } = await asked(client, [{ prompt }, { calls }], tools);
    expect(text).toBe("Weather for **Oslo**: **clear**\n\nWeather for **Rome**: **grey**");
  });

  it("hears of a tool that failed", async () => {
    const result = "Error: station offline";
    const calls = [{ id: "a", name: "weather", input: { city: "Oslo" }, result, isError: true }];
    const { text } = await asked(client, [{ prompt: "Weather in Oslo" }, { calls }], tools);
    expect(text).toBe('The tool `weather` failed with `{"city":"Oslo"}`: station offline.');
  });

  it("may force a call, name it or forbid it", async () => {
    const named = client.tools(["weather", "clock"], "clock");
    expect((await asked(client, [{ prompt: "Hello" }], named)).calls).toMatchObject([{ name: "clock" }]);
    const forced = client.tools(["weather", "clock"], "required");
    expect((await asked(client, [{ prompt: "Hello" }], forced)).calls).toHaveLength(1);
    if (name === "bedrock") return;
    expect((await asked(client, [{ prompt }], client.tools(["weather"], "none"))).calls).toEqual([]);
  });
});

it("a client of Responses gets an answer to what was added while tools ran, too", async () => {
  const call = (id: string, city: string) => ({ id, name: "weather", input: { city }, result: "grey" });
  const turns = [
    { prompt: "Weather in Oslo" },
    { calls: [call("a", "Oslo")] },
    { prompt: "Also the weather in Rome" },
    { calls: [call("b", "Rome")] },
  ];
  const { text } = await asked(CLIENTS.responses, turns, CLIENTS.responses.tools(["weather"]));
  expect(text).toMatch(/\*\*Oslo\*\*[^]*\*\*Rome\*\*/);
});

it("a client of Gemini gets no thoughts of earlier answers in a summary", async () => {
  const contents = [
    { role: "user", parts: [{ text: "Hello" }] },
    { role: "model", parts: [{ text: "secret", thought: true }, { text: "Hi there" }] },
    { role: "user", parts: [{ text: "Write a summary of this conversation." }] },
  ];
  const { text } = await asked(CLIENTS.gemini, [], { contents });
  expect(text).toBe("- Asked: Hello\n  Answered: Hi there");
});

it("a tool that takes the final answer is called once", async () => {
  const closing = { type: "function", name: "done", description: "Takes the final answer", parameters: city };
  const tools = { tools: [closing] };
  const first = await asked(CLIENTS.responses, [{ prompt: "A trip to Rome" }], tools);
  expect(first.calls).toMatchObject([{ name: "done", input: { city: "Rome" } }]);
  const calls = [{ id: "a", name: "done", input: { city: "Rome" }, result: "taken" }];
  const second = await asked(CLIENTS.responses, [{ prompt: "A trip to Rome" }, { calls }], tools);
  expect(second.calls).toEqual([]);
});

it("a client of two protocols may ask for one call at a time", async () => {
  const single = { parallel_tool_calls: false, ...CLIENTS.responses.tools(["weather"]) };
  expect((await asked(CLIENTS.responses, [{ prompt }], single)).calls).toHaveLength(1);
  const own = { tool_choice: { type: "auto", disable_parallel_tool_use: true } };
  const more = { additionalModelRequestFields: own, ...CLIENTS.bedrock.tools(["weather"]) };
  expect((await asked(CLIENTS.bedrock, [{ prompt }], more)).calls).toHaveLength(1);
});

describe("structured output in the words of each protocol", () => {
  const trip = "A trip to Rome";
  it.each<[string, Client, object, object]>([
    ["Responses' schema", CLIENTS.responses, { text: { format: { type: "json_schema", name: "a", schema: city } } }, { city: "Rome" }],
    ["Responses' JSON mode", CLIENTS.responses, { text: { format: { type: "json_object" } } }, { answer: "A trip to Rome" }],
    ["Gemini's JSON Schema", CLIENTS.gemini, { generationConfig: { responseMimeType: "application/json", responseJsonSchema: city } }, { city: "Rome" }],
    ["Gemini's dialect of OpenAPI", CLIENTS.gemini, { generationConfig: { responseSchema: { type: "OBJECT", properties: { days: { type: "INTEGER" }, type: { type: "STRING", nullable: true } }, required: ["days"] } } }, { days: 1 }],
    ["Gemini's JSON mode", CLIENTS.gemini, { generationConfig: { responseMimeType: "application/json" } }, { answer: "A trip to Rome" }],
    ["Converse's schema", CLIENTS.bedrock, { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema: { name: "a", schema: JSON.stringify(city) } } } } }, { city: "Rome" }],
  ])("%s", async (_, client, more, output) => {
    expect(JSON.parse((await asked(client, [{ prompt: trip }], more)).text)).toEqual(output);
  }); // prettier-ignore

  it("JSON mode of Chat Completions", async () => {
    const body = {
      model: "m",
      messages: [{ role: "user", content: trip }],
      response_format: { type: "json_object" },
    };
    const response = await practice({ delayMs: 0 })("/v1/chat/completions", post(body));
    const { choices }: any = await response.json();
    expect(JSON.parse(choices[0].message.content)).toEqual({ answer: "A trip to Rome" });
  });
});

describe("an image in a tool's result is named", () => {
  const tool = { name: "weather", description: "Weather of a city" };
  const prompt = "Weather in Oslo";
  const input = { city: "Oslo" };
  it.each<[string, string, object]>([
    ["Anthropic", "/v1/messages", {
      tools: [{ ...tool, input_schema: city }],
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "weather", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "grey" }, { type: "image", source: {} }] }] },
      ],
    }],
    ["Responses", "/v1/responses", {
      tools: [{ ...tool, type: "function", parameters: city }],
      input: [
        { role: "user", content: prompt },
        { type: "function_call", call_id: "t", name: "weather", arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: "t", output: [{ type: "input_text", text: "grey" }, { type: "input_image", image_url: "" }] },
      ],
    }],
    ["Gemini", "/v1beta/models/m:generateContent", {
      tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: city }] }],
      contents: [
        { role: "user", parts: [{ text: prompt }] },
        { role: "model", parts: [{ functionCall: { id: "t", name: "weather", args: input } }] },
        { role: "user", parts: [{ functionResponse: { id: "t", name: "weather", response: { output: "grey" }, parts: [{ inlineData: { mimeType: "image/png", data: "" } }] } }] },
      ],
    }],
    ["Bedrock", "/model/m/converse", {
      toolConfig: { tools: [{ toolSpec: { ...tool, inputSchema: { json: city } } }] },
      messages: [
        { role: "user", content: [{ text: prompt }] },
        { role: "assistant", content: [{ toolUse: { toolUseId: "t", name: "weather", input } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "t", content: [{ text: "grey" }, { image: {} }] } }] },
      ],
    }],
  ])("over %s", async (_, path, body) => {
    const request = { ...post({ model: "m", max_tokens: 99, ...body }), headers: { "anthropic-version": "2023-06-01" } };
    const text = await (await practice({ delayMs: 0 })(`https://host.example${path}`, request)).text();
    expect(text).toContain("Weather for **Oslo**: **grey**");
    expect(text).toContain("I am a practice model: I cannot see images");
  }); // prettier-ignore
});

describe("illegal requests", () => {
  const call = { functionCall: { name: "f", args: {} } };
  const model = (...parts: object[]) => ({ role: "model", parts });
  const user = (...parts: object[]) => ({ role: "user", parts });
  const said = (role: string, ...content: object[]) => ({ role, content });
  const use = { toolUse: { toolUseId: "t", name: "f", input: {} } };
  const result = (toolUseId: string) => ({ toolResult: { toolUseId, content: [{ text: "1" }] } });
  const toolConfig = { tools: [{ toolSpec: { name: "f", inputSchema: { json: city } } }] };
  const reasoning = { reasoningContent: { reasoningText: { text: "Hm", signature: "other" } } };

  it.each<[string, object, RegExp]>([
    ["/v1/responses", { input: "a" }, /Missing required parameter: 'model'/],
    ["/v1/responses", { model: "m" }, /Missing required parameter: 'input'/],
    ["/v1/responses", { model: "m", input: "a", max_output_tokens: 3 }, /Expected a value >= 16, but got 3 instead/],
    ["/v1/responses", { model: "m", input: [{ type: "function_call_output", call_id: "t", output: "" }] }, /No tool call found for function call output with call_id t\./],
    ["/v1/responses", { model: "m", input: [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "other" }] }, /encrypted content could not be verified/],
    ["/v1/responses", { model: "m", input: [{ type: "reasoning", id: "r".repeat(65) }] }, /maximum length 64, but got a string with length 65/],
    ["/v1/responses", { model: "m", input: "a", tools: [{ type: "function", name: "a b", parameters: city }] }, /Invalid 'tools\[0\]\.name'/],
    ["/v1beta/models/m:generateContent", { contents: [] }, /contents is not specified/],
    ["/v1beta/models/m:generateContent", { contents: [{ role: "assistant", parts: [{ text: "a" }] }] }, /Please use a valid role: user, model/],
    ["/v1beta/models/m:generateContent", { contents: [user()] }, /contents\[0\]\.parts: contents\.parts must not be empty/],
    ["/v1beta/models/m:generateContent", { contents: [model(call)] }, /function call turn comes immediately after a user turn/],
    ["/v1beta/models/m:generateContent", { contents: [user({ functionResponse: { name: "f", response: {} } })] }, /number of function response parts is equal/],
    ["/v1beta/models/m:generateContent", { contents: [user({ text: "a" })], tools: [{ functionDeclarations: [{ name: "a b" }] }] }, /function_declarations\[0\]\.name: Invalid function name/],
    ["/model/m/converse", { messages: [said("assistant", { text: "a" })] }, /must start with a user message/],
    ["/model/m/converse", { messages: [said("user", { text: "a" }), said("user", { text: "b" })] }, /must alternate between user and assistant roles/],
    ["/model/m/converse", { messages: [said("user", { text: " " })] }, /at messages\.0\.content\.0 is blank/],
    ["/model/m/converse", { messages: [said("user")] }, /The content field in the Message object at messages\.0 is empty/],
    ["/model/m/converse", { messages: [said("user", { text: "a" }), said("assistant", use)] }, /toolConfig field must be defined/],
    ["/model/m/converse", { toolConfig, messages: [said("user", { text: "a" }), said("assistant", use)] }, /Expected toolResult blocks at messages\.2\.content for the following Ids: t/],
    ["/model/m/converse", { toolConfig, messages: [said("user", result("t"))] }, /number of toolResult blocks at messages\.0\.content exceeds/],
    ["/model/m/converse", { messages: [said("user", { text: "a" }), said("assistant", reasoning, { text: "b" }), said("user", { text: "c" })] }, /Invalid `signature` in `thinking` block/],
    ["/model/m/converse", { messages: [said("user", { text: "a" })], inferenceConfig: { maxTokens: 0 } }, /Member must have value greater than or equal to 1/],
    ["/model/m/converse", { messages: [said("user", { text: "a" })], toolConfig: { tools: [{ toolSpec: { name: "a b" } }] } }, /must satisfy regular expression pattern/],
  ])("to %s %# are refused in the vendor's words", async (path, body, words) => {
    const response = await practice({ delayMs: 0 })(`https://host.example${path}`, post(body));
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(words);
  }); // prettier-ignore

  it("without a key are refused as each vendor refuses them", async () => {
    const refused = async (path: string, headers: Record<string, string> = {}, apiKey: string | true = true) => {
      const request = { method: "POST", headers, body: "{}" };
      const response = await practice({ delayMs: 0, apiKey })(`https://host.example${path}`, request);
      const type = response.headers.get("x-amzn-errortype")?.split(":")[0];
      return [response.status, type, JSON.stringify(await response.json())];
    };
    expect(await refused("/v1/responses")).toEqual([401, undefined, expect.stringContaining("didn't provide an API key")]);
    expect(await refused("/v1beta/models/m:generateContent")).toEqual([403, undefined, expect.stringContaining("PERMISSION_DENIED")]);
    expect(await refused("/v1beta/models/m:generateContent", { "x-goog-api-key": "k" }, "other")).toEqual([400, undefined, expect.stringContaining("API key not valid")]);
    expect(await refused("/model/m/converse")).toEqual([403, "MissingAuthenticationTokenException", expect.stringContaining("Missing Authentication Token")]);
    expect(await refused("/model/m/converse", { authorization: "Bearer k" }, "other")).toEqual([403, "UnrecognizedClientException", expect.stringContaining("security token")]);
  }); // prettier-ignore
});

describe("a stream", () => {
  const stream = async (path: string, turn: ScriptedTurn, body: object = {}) =>
    (await scripted([turn])(`https://host.example${path}`, post({ model: "m", ...body }))).text();
  const data = (text: string) =>
    text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6))); // prettier-ignore

  it("of Responses numbers its events and ends with the whole response", async () => {
    const usage = { inputTokens: 5, outputTokens: 9, cacheReadTokens: 2, reasoningTokens: 4 };
    const thinking = { text: "Hm", signature: "s" };
    const blocks = [
      { type: "redacted-thinking" as const, data: "opaque" },
      { type: "thinking" as const, ...thinking },
      { type: "text" as const, text: ["H", "i"] },
      { type: "tool-call" as const, id: "c", name: "f", input: { a: 1 } },
    ];
    const events = data(
      await stream("/v1/responses", { blocks, usage }, { stream: true, metadata: { a: "b" } }),
    );
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.map(({ type }) => type.replace("response.", ""))).toEqual(
      "created in_progress output_item.added output_item.done output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done output_item.done output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed".split(" "),
    ); // prettier-ignore
    const { response } = events.at(-1);
    expect(response).toMatchObject({
      status: "completed",
      metadata: { a: "b" },
      usage: { input_tokens: 7, input_tokens_details: { cached_tokens: 2 }, output_tokens: 9, output_tokens_details: { reasoning_tokens: 4 }, total_tokens: 16 },
      output: [
        { type: "reasoning", summary: [], encrypted_content: "opaque" },
        { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }], encrypted_content: "s" },
        { type: "message", status: "completed", role: "assistant", content: [{ type: "output_text", text: "Hi", annotations: [] }] },
        { type: "function_call", status: "completed", call_id: "c", name: "f", arguments: '{"a":1}' },
      ],
    }); // prettier-ignore
    const item = events.find(({ type }) => type === "response.output_item.added")?.item;
    expect(item).toMatchObject({ encrypted_content: "opaque" });
    const cut = data(await stream("/v1/responses", { text: "Hi", stopReason: "length" }, { stream: true }));
    expect(cut.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    });
  });

  it("of Gemini has a chunk for each piece, and the signature on the call or at the end", async () => {
    const path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    const thinking = { text: "Hm", signature: "s" };
    const usage = { inputTokens: 5, outputTokens: 9, cacheReadTokens: 2, reasoningTokens: 4 };
    const spoken = data(await stream(path, { thinking, text: ["H", "i"], usage }));
    expect(spoken.map(({ candidates }) => candidates[0].content.parts)).toEqual([
      [{ text: "Hm", thought: true }],
      [{ text: "H" }],
      [{ text: "i" }],
      [{ text: "", thoughtSignature: "s" }],
    ]);
    expect(spoken.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, thoughtsTokenCount: 4, cachedContentTokenCount: 2, totalTokenCount: 16 },
    }); // prettier-ignore
    expect(spoken[0].candidates[0].finishReason).toBeUndefined();
    const toolCalls = [
      { id: "c", name: "f", input: { a: 1 } },
      { name: "g", argumentsText: "{bro" },
    ];
    const called = data(await stream(path, { thinking, toolCalls }));
    const parts = called.flatMap(({ candidates }) => candidates[0].content.parts);
    expect(parts.slice(1)).toMatchObject([
      { functionCall: { id: "c", name: "f", args: { a: 1 } }, thoughtSignature: "s" },
      { functionCall: { name: "g", args: "{bro" } },
      { text: "" },
    ]);
    expect(parts[2].thoughtSignature).toBeUndefined();
  });

  it("of Bedrock has messages that begin with their length, and names for them", async () => {
    const response = await scripted([{ text: "Hi", error: { type: "ThrottlingException" } }])(
      "https://host.example/model/m/converse-stream",
      post({}),
    );
    expect(response.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
    const bytes = new Uint8Array(await response.arrayBuffer());
    const names = [];
    for (let at = 0; at < bytes.length; at += new DataView(bytes.buffer, at).getUint32(0)) {
      const head = new TextDecoder().decode(bytes.slice(at, at + 90));
      names.push(/:(?:event|exception)-type\W+(\w+)/.exec(head)?.[1]);
    }
    expect(names).toEqual(["messageStart", "contentBlockDelta", "contentBlockStop", "throttlingException"]);
  });
});
