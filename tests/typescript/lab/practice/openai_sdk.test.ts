import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { practice, scripted } from "../../../../src/typescript/lab/practice/index.js";
import { TOOLS } from "./kit.js";

const client = (fetch: any) => new OpenAI({ apiKey: "k", fetch, maxRetries: 0 });
const model = "gpt-5-mini";
const tools: any[] = Object.entries(TOOLS).map(([name, { description, schema }]) => ({
  type: "function",
  function: { name, description, parameters: schema },
}));
const ask = (content: string) => [{ role: "user" as const, content }];

describe("the vendor's OpenAI SDK", () => {
  for (const chunking of ["event", "split", 5] as const) {
    it(`reads parallel tool calls and usage out of a stream cut by ${chunking}`, async () => {
      const stream = client(practice({ delayMs: 0, chunking })).chat.completions.stream({
        model,
        tools,
        messages: ask("Weather in Paris and London"),
        stream_options: { include_usage: true },
      });
      const completion = await stream.finalChatCompletion();
      const [choice] = completion.choices;
      expect(choice?.finish_reason).toBe("tool_calls");
      expect(choice?.message.tool_calls?.map((call: any) => JSON.parse(call.function.arguments))).toEqual([
        { city: "Paris" },
        { city: "London" },
      ]);
      expect(completion.usage?.total_tokens).toBe(
        (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
      );
    });
  }

  it("runs a whole tool loop with runTools", async () => {
    const seen: string[] = [];
    const runnable = (name: string) => ({
      type: "function" as const,
      function: {
        name,
        description: TOOLS[name]?.description ?? "",
        parameters: TOOLS[name]?.schema ?? {},
        parse: JSON.parse,
        function: (input: any) => {
          seen.push(`${name} ${JSON.stringify(input)}`);
          return JSON.stringify(TOOLS[name]?.run(input));
        },
      },
    });
    const runner = client(practice({ delayMs: 0 })).chat.completions.runTools({
      model,
      stream: true,
      tools: [runnable("calculator"), runnable("notes_add")] as any,
      messages: ask("Calculate 6 * 7, then save the result as a note"),
    });
    expect(await runner.finalContent()).toContain("6 * 7 = 42");
    expect(seen).toEqual(['calculator {"expression":"6 * 7"}', 'notes_add {"text":"6 * 7 = 42"}']);
  });

  it("reads the same answer streamed and whole", async () => {
    const openai = client(practice({ delayMs: 0 }));
    const whole = await openai.chat.completions.create({ model, messages: ask("Describe the tides") });
    const streamed = await openai.chat.completions
      .stream({ model, messages: ask("Describe the tides") })
      .finalContent();
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(whole._request_id).toMatch(/^req_/);
  });

  it("counts hidden reasoning when an effort is asked for", async () => {
    const openai = client(practice({ delayMs: 0 }));
    const ponder = await openai.chat.completions.create({
      model,
      messages: ask("Hi"),
      reasoning_effort: "high",
    });
    const plain = await openai.chat.completions.create({ model, messages: ask("Hi") });
    expect(ponder.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
    expect(plain.usage?.completion_tokens_details?.reasoning_tokens).toBe(0);
  });

  it("sees every status as its own error class, with the vendor's body", async () => {
    const openai = client(practice({ delayMs: 0, failures: [401, 429, 503] }));
    const call = () => openai.chat.completions.create({ model, messages: ask("Hi") }).catch((error) => error);
    expect(await call()).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      type: "invalid_request_error",
    });
    expect(await call()).toBeInstanceOf(OpenAI.RateLimitError);
    expect(await call()).toBeInstanceOf(OpenAI.InternalServerError);
  });

  it("reads a scripted refusal, reasoning and a cut-off call", async () => {
    const openai = client(
      scripted([
        { blocks: [{ type: "refusal", text: ["I ", "cannot."] }] },
        { toolCalls: [{ id: "c1", name: "f", argumentsText: '{"a": "un' }], stopReason: "length" },
      ]),
    );
    const refused = await openai.chat.completions
      .stream({ model, messages: ask("Hi") })
      .finalChatCompletion();
    expect(refused.choices[0]?.message.refusal).toBe("I cannot.");
    const chunks: any[] = [];
    for await (const chunk of await openai.chat.completions.create({
      model,
      messages: ask("Hi"),
      stream: true,
    })) {
      chunks.push(chunk);
    }
    expect(chunks.at(-1).choices[0].finish_reason).toBe("length");
    const text = chunks
      .map((chunk) => chunk.choices[0].delta.tool_calls?.[0].function.arguments ?? "")
      .join("");
    expect(text).toBe('{"a": "un');
  });
});
