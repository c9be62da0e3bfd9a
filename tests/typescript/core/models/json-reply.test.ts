import { describe, expect, it } from "vitest";
import type { ChatChunk, ChatRequest } from "../../../../src/typescript/extras/models/in-process.js";
import { plain, ReplyReader } from "../../../../src/typescript/extras/models/json-reply.js";

const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

interface Read {
  text: string;
  call: { name: string; arguments: string } | undefined;
  reason: string | null | undefined;
}

function read(pieces: Iterable<string>, reason?: string): Read {
  const reader = new ReplyReader();
  const chunks: ChatChunk[] = [];
  for (const piece of pieces) {
    const chunk = reader.feed(piece);
    if (chunk !== undefined) chunks.push(chunk);
  }
  chunks.push(reader.end(reason));
  // Each chunk is encoded by itself: half a pair of surrogates would be lost.
  for (const { choices } of chunks)
    expect((choices[0]!.delta as { content?: string }).content ?? "").not.toMatch(/[\ud800-\udbff]$/);
  const deltas = chunks.map(({ choices }) => choices[0]!.delta as { content?: string; tool_calls?: any[] });
  return {
    text: deltas.map(({ content }) => content ?? "").join(""),
    call: deltas.flatMap(({ tool_calls }) => tool_calls ?? [])[0]?.function,
    reason: chunks.at(-1)?.choices[0]?.finish_reason,
  };
}

describe("a reply that is held to JSON", () => {
  it.each<[string, string, Partial<Read>]>([
    ["a text", '{"text": "It rains."}', { text: "It rains.", reason: "stop" }],
    ["an empty text", '{"text":""}', { text: "", reason: "stop" }],
    [
      "escapes and pairs of surrogates",
      String.raw`{ "text" : "\"a\" \\ \u00e9 \ud83d\ude00 😀 \n" }`,
      { text: '"a" \\ é 😀 😀 \n', reason: "stop" },
    ],
    [
      "a call",
      '{"tool": "weather", "input": {"city": "Bern"}}',
      { text: "", call: { name: "weather", arguments: '{"city":"Bern"}' }, reason: "tool_calls" },
    ],
    [
      "a call with its fields turned round",
      '{"input": {"city": "Bern"}, "tool": "weather"}',
      { call: { name: "weather", arguments: '{"city":"Bern"}' }, reason: "tool_calls" },
    ],
    [
      "a call without input",
      '{"tool":"weather"}',
      { call: { name: "weather", arguments: "{}" }, reason: "tool_calls" },
    ],
    [
      "a call that was cut off",
      '{"tool": "weather", "input": {"city": "Be',
      { call: { name: "weather", arguments: '{"city": "Be' }, reason: "length" },
    ],
    ["a text that was cut off", '{"text": "It ra', { text: "It ra", reason: "length" }],
    ["plain text, from a model that is not held to it", "It rains.", { text: "It rains.", reason: "stop" }],
    ["JSON that is neither", '{"answer": 42}', { text: '{"answer": 42}', reason: "stop" }],
    ["nothing", "", { text: "", reason: "stop" }],
  ])("may be %s, cut anywhere", (_, reply, expected) => {
    expect(read([reply])).toMatchObject(expected);
    expect(read(reply.split(""))).toMatchObject(expected);
    for (let at = 1; at < reply.length; at++)
      expect(read([reply.slice(0, at), reply.slice(at)])).toMatchObject(expected);
  });

  it("passes text on while it comes", () => {
    const reader = new ReplyReader();
    const content = (piece: string): unknown => reader.feed(piece)?.choices[0]?.delta;
    expect(content('{"te')).toBeUndefined();
    expect(content('xt":"It')).toEqual({ content: "It" });
    expect(content(" rains\\")).toEqual({ content: " rains" });
    expect(content('n."}')).toEqual({ content: "\n." });
  });

  it("takes the reason that the model itself gave", () => {
    expect(read(['{"text": "It ra'], "length").reason).toBe("length");
  });
});

describe("a request without tools of the model's own", () => {
  const asked: ChatRequest = {
    model: "m",
    tools: [weather],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Rain in Bern?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "wet" },
      { role: "user", content: "And tomorrow?" },
    ],
  };

  it("tells of the tools in the system prompt, of calls and results in the messages", () => {
    const { messages } = plain(structuredClone(asked));
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(messages[0]?.content).toMatch(/- weather: Weather of a city\n.*"city"[^]*Be brief\./);
    expect(messages[2]?.content).toBe('{"tool":"weather","input":{"city":"Bern"}}');
    expect(messages[3]?.content).toBe("Result of weather: wet\n\nAnd tomorrow?");
  });

  it("constrains the reply to a text or one call, as the choice of tools has it", () => {
    const call = {
      type: "object",
      properties: { tool: { type: "string", enum: ["weather"] }, input: weather.function.parameters },
      required: ["tool", "input"],
      additionalProperties: false,
    };
    const schema = (more: Partial<ChatRequest>): unknown =>
      plain({ ...structuredClone(asked), ...more }).schema;
    expect(schema({})).toMatchObject({ anyOf: [{ required: ["text"] }, call] });
    expect(schema({ tool_choice: "required" })).toEqual(call);
    expect(schema({ tool_choice: { function: { name: "weather" } } })).toEqual(call);
    expect(schema({ tool_choice: "none" })).toBeUndefined();
    const parameters = { type: "object", properties: { at: { $ref: "#/$defs/at" } } };
    expect(
      schema({
        tool_choice: "required",
        tools: [{ ...weather, function: { ...weather.function, parameters } }],
      }),
    ).toMatchObject({ properties: { input: { type: "object" } } });
  });

  it("leaves texts as they are where there are no tools", () => {
    const { tools: _, ...rest } = structuredClone(asked);
    const { messages, schema } = plain({ ...rest, messages: [...rest.messages.slice(0, 2)] });
    expect(schema).toBeUndefined();
    expect(messages).toEqual(rest.messages.slice(0, 2));
  });
});
