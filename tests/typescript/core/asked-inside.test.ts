import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  LoopletError,
  subagent,
  vendorTool,
} from "../../../src/typescript/core/entry/node.js";
import { prices } from "../../../src/typescript/extras/prices.js";
import type { AgentOptions, HttpModelOptions } from "../../../src/typescript/core/api/index.js";

// Dollars a million tokens, from the vendor's page: Haiku 4.5 costs 1 and 5, Opus 4.8 5 and 25, Fable 5 10 and 50.
const ADVISOR = { type: "advisor_20260301", name: "advisor", model: "claude-opus-4-8" };

/** A fetch that answers each request with a message of this usage. `blocks` stand before its text. */
const answering =
  (usage: object, blocks: object[] = []) =>
  async () =>
    Response.json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-haiku-4-5",
      content: [...blocks, { type: "text", text: "Done." }],
      stop_reason: "end_turn",
      usage,
    });

function asking(model: string, options: Partial<HttpModelOptions>, agent: Partial<AgentOptions> = {}) {
  const all = { apiKey: "k", price: prices, stream: false, ...options };
  return createAgent({ model: anthropic(model, all as never), ...agent } as AgentOptions);
}

async function cost(model: string, options: Partial<HttpModelOptions>) {
  const { outcome, costUsd, modelUsage, usage } = await asking(model, options).run("Go").result;
  expect(outcome).toBe("completed");
  const tokens = Object.entries(modelUsage).map(([name, used]) => [
    name,
    used?.inputTokens,
    used?.outputTokens,
  ]);
  return { costUsd, tokens, total: usage && usage.inputTokens + usage.outputTokens };
}

describe("models that the vendor asks within a request", () => {
  const advised = {
    input_tokens: 2000,
    output_tokens: 100,
    iterations: [
      { type: "message", input_tokens: 1000, output_tokens: 50 },
      { type: "advisor_message", model: "claude-opus-4-8", input_tokens: 3000, output_tokens: 400 },
      { type: "message", input_tokens: 1000, output_tokens: 50 },
    ],
  };

  it("an advisor costs its own price, and its tokens stand under its name", async () => {
    const fetch = answering(advised);
    // 2,000 * 1 + 100 * 5 + 3,000 * 5 + 400 * 25 = 27,500 millionths
    expect(await cost("claude-haiku-4-5", { fetch, body: { tools: [ADVISOR] } })).toEqual({
      costUsd: 0.0275,
      tokens: [
        ["claude-haiku-4-5", 2000, 100],
        ["claude-opus-4-8", 3000, 400],
      ],
      total: 5500,
    });
  });

  it("a name that comes back with its date is the same model", async () => {
    const iterations = [{ ...advised.iterations[1], model: "claude-opus-4-8-20260501" }];
    const fetch = answering({ ...advised, iterations });
    const { costUsd } = await cost("claude-haiku-4-5", { fetch, body: { tools: [ADVISOR] } });
    expect(costUsd).toBe(0.0275);
  });

  it("an advisor among the agent's tools costs its own price too, which a limit in dollars needs", async () => {
    const tools = { advice: vendorTool({ protocol: "anthropic", entry: ADVISOR }) };
    const agent = asking("claude-haiku-4-5", { fetch: answering(advised) }, { tools });
    expect((await agent.run("Go").result).costUsd).toBe(0.0275);
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 5 };
    expect(() => asking("mine", { price }, { tools, limits: { maxUsd: 1 } })).toThrow(/claude-opus-4-8/);
  });

  it("a model without a price of its own costs as much as the asked one", async () => {
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 5 };
    const fetch = answering(advised);
    // 5,000 * 1 + 500 * 5
    expect(await cost("mine", { fetch, price, body: { tools: [ADVISOR] } })).toMatchObject({
      costUsd: 0.0075,
    });
  });

  it("a server that names a thousand models fills no list", async () => {
    const iterations = Array.from({ length: 1000 }, (_, at) => ({
      ...advised.iterations[1],
      model: `m-${at}`,
    }));
    const { tokens, total } = await cost("mine", { fetch: answering({ ...advised, iterations }) });
    expect(tokens.length).toBeLessThan(20);
    expect(total).toBe(2100 + 1000 * 3400);
  });

  const fallen = [{ type: "fallback", from: { model: "claude-fable-5" }, to: { model: "claude-opus-4-8" } }];
  const body = { fallbacks: [{ model: "claude-opus-4-8" }] };

  it("an answer of the vendor's fallback costs that model's price, and a refusal before it nothing", async () => {
    const iterations = [
      { type: "message", model: "claude-fable-5", input_tokens: 408, output_tokens: 0 },
      { type: "fallback_message", model: "claude-opus-4-8", input_tokens: 412, output_tokens: 264 },
    ];
    const fetch = answering({ input_tokens: 412, output_tokens: 264, iterations }, fallen);
    // 412 * 5 + 264 * 25 = 8,660 millionths
    expect(await cost("claude-fable-5", { fetch, body })).toEqual({
      costUsd: 0.00866,
      tokens: [["claude-opus-4-8", 412, 264]],
      total: 676,
    });
  });

  it("a refusal in mid-answer costs what it had read and written", async () => {
    const iterations = [
      { type: "message", model: "claude-fable-5", input_tokens: 408, output_tokens: 10 },
      { type: "fallback_message", model: "claude-opus-4-8", input_tokens: 412, output_tokens: 264 },
    ];
    const fetch = answering({ input_tokens: 412, output_tokens: 264, iterations }, fallen);
    // and 408 * 10 + 10 * 50 = 4,580 millionths
    expect(await cost("claude-fable-5", { fetch, body })).toEqual({
      costUsd: 0.01324,
      tokens: [
        ["claude-fable-5", 408, 10],
        ["claude-opus-4-8", 412, 264],
      ],
      total: 1094,
    });
  });

  it.each([
    ["an advisor", { tools: [{ ...ADVISOR, model: "claude-unheard-of" }] }],
    ["a fallback", { fallbacks: [{ model: "claude-unheard-of" }] }],
  ])("maxUsd asks what %s costs", (_, body) => {
    const options = { fetch: answering(advised), body };
    const wanted = "config_missing: limits.maxUsd: needs to know what claude-unheard-of in its body costs";
    const message = (make: () => unknown): string => {
      try {
        make();
      } catch (error) {
        const { code, message } = error as LoopletError;
        return `${code}: ${message}`;
      }
      return "no error";
    };
    expect(message(() => asking("claude-haiku-4-5", options, { limits: { maxUsd: 1 } }))).toContain(wanted);
    const helper = subagent({
      description: "Helps",
      model: anthropic("claude-haiku-4-5", { apiKey: "k", price: prices, ...options } as never),
      limits: { maxUsd: 1 },
    });
    const caller = { tools: { helper }, limits: { allowUnknownPrice: false } };
    expect(message(() => asking("claude-haiku-4-5", {}, caller))).toContain("claude-unheard-of in its body");
    expect(
      message(() => asking("claude-haiku-4-5", options, { limits: { maxUsd: 1, allowUnknownPrice: true } })),
    ).toBe("no error");
  });
});
