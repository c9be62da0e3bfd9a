import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openaiChat } from "../../../src/typescript/core/entry/node.js";
import { modelParts } from "../../../src/typescript/core/models/models.js";
import { scripted, type ScriptedTurn } from "../../../src/typescript/lab/practice/index.js";
import { knownModel } from "../../../src/typescript/extras/known-model.js";
import { prices, pricesFrom } from "../../../src/typescript/extras/prices.js";
import type { HttpModelOptions, Price, PriceTable } from "../../../src/typescript/core/api/index.js";

type Usage = NonNullable<ScriptedTurn["usage"]>;
const makers = { anthropic, openai: openaiChat };

/** What a run costs whose model calls used this; every call but the last asks for a tool. */
async function cost(
  vendor: keyof typeof makers,
  model: string,
  used: Usage[],
  price: Price | PriceTable = prices,
) {
  const turns = used.map((usage, at) =>
    at < used.length - 1 ? { toolCalls: [{ name: "look", input: { at } }], usage } : { text: "Done.", usage },
  );
  const options: HttpModelOptions = { apiKey: "k", fetch: scripted(turns), price };
  const look = { description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" };
  const { result } = createAgent({ model: makers[vendor](model, options as never), tools: { look } }).run(
    "Go",
  );
  const { outcome, costUsd, costBasis } = await result;
  expect(outcome).toBe("completed");
  return { costUsd, costBasis };
}

describe("the cost of a run by the price table", () => {
  // Worked by hand from what the vendors' pages said on 2026-11-21, in dollars a million tokens:
  // https://platform.claude.com/docs/about-claude/models/whats-new-opus-5: input 5, output 25, a write to the cache
  // for five minutes 6.25, a read 0.50. https://developers.openai.com/api/docs/pricing: GPT-5.2 input 1.75, cached
  // 0.175, output 14; GPT-5.4 input 2.5, output 15, and above 272,000 tokens of prompt twice and 1.5 times as much.
  it.each<[string, keyof typeof makers, string, Usage[], number]>([
    [
      // 1,250 * 5 + 10,000 * 6.25 + 10,000 * 0.50 + 1,000 * 25 = 6,250 + 62,500 + 5,000 + 25,000 millionths
      "two calls of Claude Opus 5, of which the second reads what the first has left in the cache",
      "anthropic",
      "claude-opus-5",
      [
        { inputTokens: 1200, cacheWriteTokens: 10_000, outputTokens: 300 },
        { inputTokens: 50, cacheReadTokens: 10_000, outputTokens: 700 },
      ],
      0.09875,
    ],
    [
      // 20,000 * 1.75 + 80,000 * 0.175 + 2,500 * 14 = 35,000 + 14,000 + 35,000 millionths
      "a call of GPT-5.2 with four fifths of its prompt cached",
      "openai",
      "gpt-5.2",
      [{ inputTokens: 20_000, cacheReadTokens: 80_000, outputTokens: 2500 }],
      0.084,
    ],
    [
      // 200,000 * 2.5 + 1,000 * 15, then 300,000 * 5 + 1,000 * 22.5: 515,000 + 1,522,500 millionths
      "a call of GPT-5.4 with a prompt of usual length and one with a long one",
      "openai",
      "gpt-5.4",
      [
        { inputTokens: 200_000, outputTokens: 1000 },
        { inputTokens: 300_000, outputTokens: 1000 },
      ],
      2.0375,
    ],
  ])("of %s", async (_, vendor, model, used, usd) => {
    expect(await cost(vendor, model, used)).toEqual({ costUsd: usd, costBasis: "table" });
  });

  // The same pages: dollars for a million tokens of input, which a name with a date, a version or a channel costs
  // too.
  it.each([
    ["anthropic", "claude-sonnet-4-5-20250929", 3],
    ["anthropic", "claude-opus-4-7", 5],
    ["anthropic", "claude-opus-4-20250514", 15],
    ["openai", "gpt-5-mini-2025-08-07", 0.25],
    ["openai", "gpt-5-2025-08-07", 1.25],
  ] as const)("of a million tokens to %s %s", async (vendor, model, usd) => {
    const used = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(await cost(vendor, model, [used])).toEqual({ costUsd: usd, costBasis: "table" });
  });

  it.each([
    ["anthropic", "claude-opus-4-9"],
    ["openai", "gpt-5-codex-mini"],
    ["openai", "gpt-50"],
  ] as const)("is not known of %s %s, whose name only begins like one", async (vendor, model) => {
    const used = { inputTokens: 1000, outputTokens: 10 };
    expect(await cost(vendor, model, [used])).toEqual({ costUsd: 0, costBasis: "unknown" });
  });

  it("is that of the vendor's model where another sells it, and not known of a server of yours", () => {
    expect(prices("azure", "gpt-4.1")).toEqual(prices("openai", "gpt-4.1"));
    expect(prices("vertex", "gemini-2.5-flash-preview-05-20")).toEqual(prices("google", "gemini-2.5-flash"));
    expect(prices("vertex", "claude-opus-5-5@20260924")).toEqual(prices("anthropic", "claude-opus-5-5"));
    expect(prices("compatible", "gpt-5")).toBeUndefined();
  });

  // VENDORS.md of 2026-11-28, sections 3.1 to 3.4.
  it.each([
    [
      "anthropic",
      "fable-5-2 mythos-5-2 fable-5-1 mythos-5-1 fable-5 mythos-5 opus-5-5 opus-5 opus-4-8 opus-4-7 opus-4-6 opus-4-5 sonnet-5-5 sonnet-5 sonnet-4-6 sonnet-4-5 haiku-5-5 haiku-4-5",
    ],
    [
      "openai",
      "6.2-astra 6.2-sol 6.1-sol 6.1-terra 6-astra 6-sol 6-luna 5.6-sol 5.6-terra 5.6-luna 5.5 5.5-pro 5.4 5.4-pro 5.4-mini 5.4-nano",
    ],
    [
      "google",
      "4-neon 4-hydrogen 4-argon 4-carbon 3.8-flash 3.7-flash 3.6-flash 3.5-flash 3.5-flash-lite 3.1-pro-preview 3.1-flash-lite 2.5-pro 2.5-flash 2.5-flash-lite",
    ],
    ["xai", "grok-4.7 grok-4.6 grok-4.5 grok-4.3"],
    ["mistral", "mistral-large-4 mistral-medium-2604 mistral-small-2603"],
    ["deepseek", "deepseek-flash deepseek-v4-pro"],
    ["groq", "openai/gpt-oss-120b openai/gpt-oss-20b"],
    ["zai", "glm-5.3 glm-5.2 glm-5.3-flash"],
    ["moonshot", "kimi-k3.1-pro kimi-k3 kimi-k2.7-code"],
  ])("has a price and a window for each current model of %s", (vendor, ids) => {
    const family: { [vendor: string]: string } = { anthropic: "claude-", openai: "gpt-", google: "gemini-" };
    const known = ids.split(" ").map((id) => (family[vendor] ?? "") + id);
    const lacking = known.filter(
      (id) => prices(vendor, id) === undefined || knownModel(vendor, id)?.window == null,
    );
    expect(lacking).toEqual([]);
  });
});

describe("a price that depends on more than the model", () => {
  // VENDORS.md of 2026-11-28, section 3.3: Gemini 4 Argon costs 2 / 10 / 0.10, from 2026-12-01 on 4 / 20 / 0.20.
  it.each([
    ["2026-11-30T23:59:59Z", 2, 10, 0.1],
    ["2026-12-01T00:00:00Z", 4, 20, 0.2],
  ])("is that of the day: %s", (day, input, output, cached) => {
    expect(prices("google", "gemini-4-argon", Date.parse(day))).toEqual({
      inputUsdPerMillion: input,
      outputUsdPerMillion: output,
      cacheReadUsdPerMillion: cached,
      factors: { batch: 0.5, flex: 0.5, priority: 1.8 },
    });
  });

  // VENDORS.md of 2026-11-28, section 3.1, and the rows of Amazon Bedrock in @earendil-works/pi-ai 1.6.0.
  it.each([
    ["global.anthropic.claude-opus-5-5", 4, 20],
    ["us.anthropic.claude-opus-5-5", 4.4, 22],
    ["anthropic.claude-opus-4-6-v1", 5.5, 27.5],
    ["eu.anthropic.claude-haiku-4-5-20251001-v1:0", 1.1, 5.5],
    ["eu.anthropic.claude-sonnet-4-20250514-v1:0", 3, 15],
    ["in.openai.gpt-5.6-terra", 2.2, 13.2],
    ["us.amazon.nova-pro-v1:0", undefined, undefined],
  ])("is that of the region that an id of Amazon Bedrock names: %s", (id, input, output) => {
    const price = prices("bedrock", id);
    expect([price?.inputUsdPerMillion, price?.outputUsdPerMillion]).toEqual([input, output]);
    expect(price?.factors).toBeUndefined();
  });

  it("is that of the whole request above a length, and has a price of writing to the cache", async () => {
    // GPT-6.2 Sol: input 2, write 2.50, output 10; above 272,000 tokens input twice, output 1.5 times.
    const used = [
      { inputTokens: 200_000, outputTokens: 1000 },
      { inputTokens: 300_000, outputTokens: 1000 },
    ];
    // 400,000 + 10,000, then 1,200,000 + 15,000 millionths
    expect(await cost("openai", "gpt-6.2-sol", used)).toEqual({ costUsd: 1.625, costBasis: "table" });
    expect(prices("openai", "gpt-6.2-sol")?.cacheWriteUsdPerMillion).toBe(2.5);
  });
});

describe("prices of a file", () => {
  // One model in the shapes that VENDORS.md of 2026-11-28 describes, section 3.5.
  const sonnet = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
  const files: { [source: string]: unknown } = {
    "models.dev": {
      anthropic: {
        id: "anthropic",
        models: { "claude-next": { cost: { ...sonnet, context_over_200k: { input: 6, output: 22.5 } } } },
      },
    },
    "models.dev with tiers": {
      anthropic: {
        models: {
          "claude-next": {
            cost: {
              ...sonnet,
              tiers: [{ input: 6, output: 22.5, tier: { type: "context", size: 200_000 } }],
            },
          },
        },
      },
    },
    litellm: {
      "claude-next": {
        litellm_provider: "anthropic",
        input_cost_per_token: 3e-6,
        output_cost_per_token: 1.5e-5,
        cache_read_input_token_cost: 3e-7,
        cache_creation_input_token_cost: 3.75e-6,
        input_cost_per_token_above_200k_tokens: 6e-6,
        output_cost_per_token_above_200k_tokens: 2.25e-5,
      },
    },
  };
  const price = {
    inputUsdPerMillion: 3,
    outputUsdPerMillion: 15,
    cacheReadUsdPerMillion: 0.3,
    cacheWriteUsdPerMillion: 3.75,
    longPrompt: { aboveTokens: 200_000, inputFactor: 2, outputFactor: 1.5 },
  };

  it.each(Object.keys(files))("of %s are those of its models, also with a date", (source) => {
    const table = pricesFrom(files[source]);
    expect(table("anthropic", "claude-next")).toEqual(price);
    expect(table("anthropic", "claude-next-20261201")).toEqual(price);
    expect(table("anthropic", "claude-nextest")).toBeUndefined();
    expect(table("openai", "claude-next")).toBeUndefined();
  });

  it("of OpenRouter are those of OpenRouter and of the makers", () => {
    const pricing = { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" };
    const table = pricesFrom({ data: [{ id: "anthropic/claude-next", pricing }] });
    const found = { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cacheReadUsdPerMillion: 0.3 };
    expect(table("openrouter", "anthropic/claude-next")).toEqual(found);
    expect(table("anthropic", "claude-next")).toEqual(found);
  });

  it("that are no numbers, or negative, are none", () => {
    const table = pricesFrom({ data: [{ id: "a/b", pricing: { prompt: "-1", completion: "0" } }, null] });
    expect(table("a", "b")).toBeUndefined();
  });

  it.each([null, [], {}, "text", { a: 1 }, { a: { b: 1 } }])("of another shape are an error: %j", (json) => {
    expect(() => pricesFrom(json)).toThrow(/models\.dev.*litellm.*OpenRouter/);
  });
});

describe("a price of one's own", () => {
  const own = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
  const used = [{ inputTokens: 3_000_000, outputTokens: 1_000_000 }];

  it("stands in the place of the table", async () => {
    expect(await cost("anthropic", "claude-opus-5", used, own)).toEqual({ costUsd: 5, costBasis: "option" });
  });

  it("may be a function that knows what the table does not", async () => {
    const table: PriceTable = (vendor, model) => prices(vendor, model) ?? own;
    expect(await cost("anthropic", "claude-next", used, table)).toEqual({ costUsd: 5, costBasis: "table" });
    expect(await cost("anthropic", "claude-opus-5", used, table)).toEqual({
      costUsd: 40,
      costBasis: "table",
    });
  });

  it("is asked for when a run begins, not when its model is made", () => {
    const model = anthropic("claude-sonnet-4-6", { apiKey: "k", price: prices });
    expect(modelParts(model)?.config.price).toBeUndefined();
  });
});
