import { describe, expect, it } from "vitest";
import { createAgent, tool } from "../../../../src/typescript/core/entry/node.js";
import { workersAi, type WorkersAiOptions } from "../../../../src/typescript/extras/models/index.js";

const noWait = { baseMs: 0, jitterMs: 0 };
const name = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
const weather = tool({
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `It rains in ${city}.`,
});

/** A double of the binding: <https://developers.cloudflare.com/workers-ai/configuration/bindings/> (2026-11-21). */
class BindingDouble {
  readonly runs: { model: string; inputs: any; options: any }[] = [];

  constructor(readonly answers: unknown[]) {}

  async run(model: string, inputs: unknown, options?: unknown): Promise<unknown> {
    this.runs.push({ model, inputs, options });
    const answer = this.answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

/** `size`: bytes of a chunk. */
function sse(events: unknown[], size = 1_000): ReadableStream<Uint8Array> {
  const text = events
    .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
    .join("");
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

const usage = { prompt_tokens: 20, completion_tokens: 6, total_tokens: 26 };
const shortText = [
  { response: "It ", p: "abc" },
  { response: "rains “here”." },
  { response: "", usage },
  "[DONE]",
];
const delta = (content: object, finish_reason: string | null = null): object => ({
  id: "c1",
  model: name,
  choices: [{ index: 0, delta: content, finish_reason }],
});
const chatText = [
  delta({ role: "assistant", content: "It " }),
  delta({ content: "rains “here”." }),
  delta({}, "stop"),
  { id: "c1", choices: [], usage },
  "[DONE]",
];

const agent = (binding: BindingDouble, options: WorkersAiOptions = {}) =>
  createAgent({ model: workersAi(binding, name, options), tools: { weather }, retry: noWait });

describe("a model of Workers AI", () => {
  it.each<[string, () => unknown]>([
    ["a stream of responses", () => sse(shortText)],
    ["a stream of responses cut anywhere", () => sse(shortText, 1)],
    ["a stream of chat chunks", () => sse(chatText)],
    ["a stream of chat chunks cut anywhere", () => sse(chatText, 1)],
    ["a whole response", () => ({ response: "It rains “here”.", usage })],
    [
      "a whole chat completion",
      () => ({
        choices: [{ index: 0, message: { content: "It rains “here”." }, finish_reason: "stop" }],
        usage,
      }),
    ],
    [
      "a raw response",
      () => new Response(sse(shortText), { headers: { "content-type": "text/event-stream" } }),
    ],
  ])("answers a run by %s", async (_, answer) => {
    const result = await agent(new BindingDouble([answer()])).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "It rains “here”." });
    expect(result.usage).toMatchObject({ inputTokens: 20, outputTokens: 6 });
  });

  const flat = { name: "weather", arguments: { city: "Bern" } };
  it.each<[string, () => unknown]>([
    [
      "a stream of responses",
      () => sse([{ response: null, tool_calls: [flat] }, { response: "", usage }, "[DONE]"]),
    ],
    ["a whole response", () => ({ response: null, tool_calls: [flat], usage })],
    [
      "a stream of chat chunks",
      () =>
        sse([
          delta({ tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "weather" } }] }),
          delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
          delta({ tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] }),
          delta({
            tool_calls: [{ id: null, type: null, index: 0, function: { name: null, arguments: "" } }],
          }),
          delta({}, "tool_calls"),
          "[DONE]",
        ]),
    ],
    [
      "a stream of responses with pieces of calls",
      () =>
        sse([
          {
            response: null,
            tool_calls: [{ index: 0, id: "t1", function: { name: "weather", arguments: "" } }],
          },
          { response: null, tool_calls: [{ index: 0, function: { arguments: '{"city":"Bern"}' } }] },
          "[DONE]",
        ]),
    ],
  ])("calls a tool by %s", async (_, answer) => {
    const binding = new BindingDouble([answer(), { response: "Take one." }]);
    const result = await agent(binding).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "Take one.", iterations: 2 });
    expect(result.toolCalls).toMatchObject([
      { toolName: "weather", input: { city: "Bern" }, output: "It rains in Bern." },
    ]);
    const [, call, output] = binding.runs[1]?.inputs.messages ?? [];
    expect(call).toMatchObject({ role: "assistant", content: "" });
    expect(output).toMatchObject({
      role: "tool",
      content: "It rains in Bern.",
      tool_call_id: call.tool_calls[0].id,
    });
  });

  it("is asked with the model, the inputs and the options in their places", async () => {
    const binding = new BindingDouble([{ response: "a" }]);
    const runOptions = { gateway: { id: "mine" }, rejectIfBusy: true };
    await agent(binding, { runOptions, maxOutputTokens: 9, toolChoice: { tool: "weather" } }).run("hi")
      .result;
    const [run] = binding.runs;
    expect(run?.model).toBe(name);
    expect(run?.inputs).toEqual({
      max_tokens: 9,
      stream: true,
      messages: [{ role: "user", content: "hi" }],
      tool_choice: "required",
      tools: [expect.objectContaining({ function: expect.objectContaining({ name: "weather" }) })],
    });
    expect(run?.options).toMatchObject(runOptions);
    expect(run?.options.signal).toBeInstanceOf(AbortSignal);
  });

  it("keeps the object that a JSON Schema asked for as JSON", async () => {
    const binding = new BindingDouble([{ response: { rain: true } }]);
    expect((await agent(binding).run("hi").result).text).toBe('{"rain":true}');
  });

  it.each<[string, Error, object, number]>([
    [
      "busy",
      new Error("3040: Capacity temporarily exceeded, please try again."),
      { code: "rate_limit", status: 429, retryable: true },
      2,
    ],
    [
      "used up for today",
      new Error("3036: You have used up your daily free allocation of 10,000 neurons."),
      { code: "billing", retryable: false },
      1,
    ],
    ["unknown", new Error("5007: No such model @cf/x or task"), { code: "not_found", status: 404 }, 1],
    [
      "forbidden",
      Object.assign(new Error("AiError: 5016: User has not agreed"), { name: "AiError" }),
      { code: "auth" },
      1,
    ],
    [
      "given too much",
      new Error("5021: exceeded this model context window limit"),
      { code: "context_length" },
      1,
    ],
    ["out of reach", new Error("Network connection lost."), { code: "network", retryable: true }, 2],
  ])("fails clearly when it is %s", async (_, error, expected, runs) => {
    const binding = new BindingDouble([error, error, error]);
    const model = workersAi(binding, name);
    const result = await createAgent({ model, retry: { ...noWait, maxRetries: 1 } }).run("hi").result;
    expect(result).toMatchObject({ outcome: "failed", error: expected });
    expect(result.error?.message).toContain(error.message.split(": ").at(-1));
    expect(binding.runs).toHaveLength(runs);
  });

  it("fails by an error inside the stream, with its message", async () => {
    const broken = (): unknown => sse([{ response: "It " }, { errors: [{ message: "GPU gone", code: 1 }] }]);
    const binding = new BindingDouble([broken(), broken()]);
    const model = workersAi(binding, name);
    const result = await createAgent({ model, retry: { ...noWait, maxRetries: 1 } }).run("hi").result;
    const message = `compatible ${name} failed with server: GPU gone`;
    expect(result).toMatchObject({ outcome: "failed", error: { message }, text: "It " });
  });

  it("cancels the stream when the run is aborted", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: {"response":"Once "}\n\n')),
      cancel: () => void (cancelled = true),
    });
    const binding = new BindingDouble([body]);
    const run = agent(binding).run("tell", { onText: () => run.abort("enough") });
    expect(await run.result).toMatchObject({ outcome: "cancelled", text: "Once " });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(cancelled).toBe(true);
    expect(binding.runs[0]?.options.signal.aborted).toBe(true);
  });

  it("refuses a missing binding and a missing name", () => {
    expect(() => workersAi(undefined as never, name)).toThrow(/env\.AI.*Wrangler/);
    expect(() => workersAi(new BindingDouble([]), "")).toThrow(
      expect.objectContaining({ code: "config_missing", field: "model.model" }),
    );
  });
});
