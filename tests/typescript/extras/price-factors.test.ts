// The cost of a call by the tier, the speed and the region that its vendor reports.
import { describe, expect, it } from "vitest";
import {
  anthropic,
  bedrock,
  createAgent,
  gemini,
  openai,
  openaiChat,
  type HttpModelOptions,
  type Model,
  type PriceFactors,
} from "looplet";
import { raw } from "looplet/practice";
import { prices } from "looplet/prices";

const MILLION = 1_000_000;

/** The cost of a run with this one answer: a whole body, or the events of a stream. */
async function cost(
  make: (options: HttpModelOptions) => Model,
  answer: object | readonly object[],
  price: HttpModelOptions["price"] = prices,
): Promise<number> {
  const isStream = Array.isArray(answer);
  const type = isStream ? "text/event-stream" : "application/json";
  const events = isStream ? answer.map((event) => `data: ${JSON.stringify(event)}\n\n`) : [];
  const fetch = async () =>
    raw(isStream ? events : JSON.stringify(answer), { headers: { "content-type": type } });
  const model = make({ apiKey: "k", fetch: fetch as never, price, stream: isStream });
  const { outcome, costUsd, costBasis } = await createAgent({ model }).run("Go").result;
  expect(outcome).toBe("completed");
  expect(costBasis).not.toBe("unknown");
  return costUsd;
}

const claude = (name: string) => (options: HttpModelOptions) => anthropic(name, options);
const message = (usage: object) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "Done." }],
  stop_reason: "end_turn",
  usage: { input_tokens: MILLION, output_tokens: 0, ...usage },
});
const streamed = (usage: object) => [
  { type: "message_start", message: { ...message(usage), content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 0 } },
  { type: "message_stop" },
];

describe("Claude", () => {
  // Opus 5.5 costs 4 dollars for a million tokens of input, Sonnet 4.5 costs 3.
  it.each([
    ["claude-opus-5-5", { service_tier: "standard", speed: "standard", inference_geo: "global" }, 4],
    ["claude-opus-5-5", { service_tier: "batch" }, 2],
    ["claude-opus-5-5", { service_tier: "priority" }, 4],
    ["claude-opus-5-5", { speed: "fast" }, 8],
    ["claude-opus-5-5", { inference_geo: "us" }, 4.4],
    ["claude-opus-5-5", { speed: "fast", inference_geo: "us" }, 8.8],
    ["claude-sonnet-4-5", { speed: "fast", inference_geo: "us" }, 3],
  ])("%s with %j", async (name, usage, usd) => {
    expect(await cost(claude(name), message(usage))).toBe(usd);
    expect(await cost(claude(name), streamed(usage))).toBe(usd);
  });
});

describe("GPT", () => {
  const used = { prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 };
  const choice = { index: 0, finish_reason: "stop" };
  // GPT-5.4 costs 2.5 dollars for a million tokens of input, GPT-5.5 costs 5 and has 2.5 times that for `priority`.
  it.each([
    ["gpt-5.4", "default", 0.25],
    ["gpt-5.4", "flex", 0.125],
    ["gpt-5.4", "batch", 0.125],
    ["gpt-5.4", "priority", 0.5],
    ["gpt-5.4", "fast", 0.5],
    ["gpt-5.4", "unheard_of", 0.25],
    ["gpt-5.5", "priority", 1.25],
    ["gpt-6.2-sol", "flex", 0.2],
  ])("%s in the tier %s", async (name, service_tier, usd) => {
    const chat = (options: HttpModelOptions) => openaiChat(name, options);
    const whole = { choices: [{ ...choice, message: { role: "assistant", content: "Done." } }], usage: used };
    expect(await cost(chat, { ...whole, service_tier })).toBe(usd);
    const chunks = [
      { choices: [{ ...choice, delta: { content: "Done." } }], service_tier },
      { choices: [], usage: used },
    ];
    expect(await cost(chat, chunks)).toBe(usd);
    const responses = (options: HttpModelOptions) => openai(name, options);
    const content = [{ type: "output_text", text: "Done.", annotations: [] }];
    const response = {
      id: "r",
      object: "response",
      status: "completed",
      output: [{ type: "message", id: "m", role: "assistant", status: "completed", content }],
      usage: { input_tokens: 100_000, output_tokens: 0, total_tokens: 100_000 },
      service_tier,
    };
    expect(await cost(responses, response)).toBe(usd);
    expect(await cost(responses, [{ type: "response.completed", response }])).toBe(usd);
  });
});

describe("Gemini", () => {
  // Gemini 4 Neon costs 3 dollars for a million tokens of input, and 1.8 times as much with `priority`.
  it.each([
    [{ serviceTier: "standard" }, 3],
    [{ serviceTier: "priority" }, 5.4],
    [{ trafficType: "ON_DEMAND_FLEX" }, 1.5],
    [{ trafficType: "ON_DEMAND" }, 3],
  ])("with %j", async (tier, usd) => {
    const answer = {
      candidates: [{ content: { role: "model", parts: [{ text: "Done." }] }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: MILLION,
        candidatesTokenCount: 0,
        totalTokenCount: MILLION,
        ...tier,
      },
    };
    const neon = (options: HttpModelOptions) => gemini("gemini-4-neon", options);
    expect(await cost(neon, answer)).toBe(usd);
    expect(await cost(neon, [answer])).toBe(usd);
  });
});

describe("factors of one's own", () => {
  const answer = (type: string) => ({
    output: { message: { role: "assistant", content: [{ text: "Done." }] } },
    stopReason: "end_turn",
    usage: { inputTokens: MILLION, outputTokens: 0, totalTokens: MILLION },
    serviceTier: { type },
  });
  const nova = ({ apiKey: _, ...options }: HttpModelOptions) =>
    bedrock("us.amazon.nova-pro-v1:0", { ...options, apiKey: "k", region: "us-east-1" });
  const price = (factors: PriceFactors) => ({ inputUsdPerMillion: 1, outputUsdPerMillion: 2, factors });

  it("count for a tier of Bedrock", async () => {
    const own = price({ flex: 0.5, priority: 1.75 });
    expect(await cost(nova, answer("flex"), own)).toBe(0.5);
    expect(await cost(nova, answer("priority"), own)).toBe(1.75);
    expect(await cost(nova, answer("default"), own)).toBe(1);
  });

  it.each([
    [{ flex: -1 }, "model.price.factors.flex: must not be negative"],
    [{ flexible: 1 }, "model.price.factors.flexible"],
    [{ flex: "half" }, "model.price.factors.flex"],
  ])("are checked: %j", (factors, problem) => {
    const model = () => anthropic("m", { apiKey: "k", price: price(factors as PriceFactors) });
    expect(model).toThrow(problem);
  });
});

describe("agent.bound", () => {
  const bound = async (body: Record<string, unknown>) => {
    const model = openaiChat("gpt-5.5", { apiKey: "k", price: prices, maxOutputTokens: 1000, body });
    const limits = { maxIterations: 1 };
    const agent = createAgent({ model, limits, retry: { maxRetries: 0 }, context: { window: 100_000 } });
    return (await agent.bound("Go")).costUsd!;
  };

  it("counts on the dearest tier if the body asks for one", async () => {
    // The fields have the same length, which counts as input.
    const plain = await bound({ service_team: "priority" });
    expect(await bound({ service_tier: "priority" })).toBeCloseTo(2.5 * plain, 9);
  });
});
