/**
 * List prices of the main models in US dollars per million tokens, as of `PRICES_DATE`. They come from the vendors'
 * pages that are named next to the rows, and from pages and packages that quote them. Check a price before you bill
 * by it.
 *
 * Pass `price: prices` to a model, or your own function that calls `prices` for models that it does not know. Vendors
 * that report the cost of a call (OpenRouter, Perplexity) need no row.
 */
import type { Price, PriceFactors } from "../core/api/index.js";
import { isModel } from "./prices/model-name.js";

/** The vendor, the model's name without its date, and its prices. */
type Row = readonly [
  vendor: string,
  model: string,
  input: number,
  output: number,
  cacheRead?: number,
  further?: {
    /** Above so many tokens of input the whole request costs more: factors on input and cache, and on output. */
    readonly long?: readonly [aboveTokens: number, inputFactor: number, outputFactor: number];
    /** From this day on, in UTC, every price is multiplied. */
    readonly from?: readonly [day: string, factor: number];
    /** The factor on the input price for writing to the cache. Default: as much as input; Anthropic: 1.25. */
    readonly write?: number;
    /** Default: those of the vendor. */
    readonly factors?: PriceFactors;
    /** False if a region of Amazon Bedrock costs as much as its `global.` ids. */
    readonly isDearerInRegion?: false;
  },
];

/** The day on which the prices were read. */
export const PRICES_DATE = "2026-11-28";

/** Anthropic's factors on the input price for writing to the cache: for five minutes, and for an hour. */
const WRITE_FACTOR = 1.25;
const WRITE_HOUR_FACTOR = 2;

/**
 * Anthropic's `inference_geo: "us"`, from Opus 4.6 and Sonnet 4.6 on. Its `priority` is capacity that was paid for
 * before. https://platform.claude.com/docs/en/about-claude/pricing
 */
const CLAUDE = { factors: { batch: 0.5, us: 1.1 } } as const;
/** https://platform.claude.com/docs/en/build-with-claude/fast-mode (2026-11); twice the price, as of Opus 5 and 5.5 */
const CLAUDE_FAST = { factors: { ...CLAUDE.factors, fast: 2 } } as const;
const OLD_CLAUDE = { isDearerInRegion: false } as const;

/** OpenAI's, from GPT-5.6 on. `fast` is another name of `priority`: https://openai.com/api-fast-mode (2026-11). */
const GPT = { long: [272_000, 2, 1.5], write: 1.25 } as const;
/** No price of GPT-6.2 in the tier `flex` is listed. */
const GPT_6_2 = { ...GPT, factors: { batch: 0.5, priority: 2 } } as const;
/** GPT-4 has no `flex`. */
const GPT_4 = { factors: { batch: 0.5, priority: 1.75 } } as const;
/** Models that `priority` does not serve. */
const ONLY_LATER = { factors: { batch: 0.5, flex: 0.5 } } as const;

/** The factors of a vendor's models. Google's page has 1.75 to 2 for `priority`. Gemini 4 has its own rows. */
const FACTORS: { readonly [vendor: string]: PriceFactors } = {
  anthropic: { batch: 0.5 },
  openai: { batch: 0.5, flex: 0.5, priority: 2 },
  // https://ai.google.dev/gemini-api/docs/optimization (2026-11)
  google: { batch: 0.5, flex: 0.5, priority: 2 },
};
const GEMINI_4 = { factors: { ...FACTORS["google"], priority: 1.8 } } as const;
/** The factor of a region of Amazon Bedrock on Claude and GPT. */
const REGION_FACTOR = 1.1;

const ROWS: readonly Row[] = [
  // https://platform.claude.com/docs/en/about-claude/pricing
  ["anthropic", "claude-fable-5-2", 8, 40, 0.2, CLAUDE_FAST],
  ["anthropic", "claude-mythos-5-2", 8, 40, 0.2, CLAUDE_FAST],
  ["anthropic", "claude-fable-5-1", 10, 50, 0.25, CLAUDE],
  ["anthropic", "claude-mythos-5-1", 10, 50, 0.25, CLAUDE],
  ["anthropic", "claude-fable-5", 10, 50, 1, CLAUDE],
  ["anthropic", "claude-mythos-5", 10, 50, 1, CLAUDE],
  ["anthropic", "claude-opus-5-5", 4, 20, 0.2, CLAUDE_FAST],
  ["anthropic", "claude-opus-5", 5, 25, 0.5, CLAUDE_FAST],
  ["anthropic", "claude-opus-4-5", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-6", 5, 25, 0.5, CLAUDE],
  ["anthropic", "claude-opus-4-7", 5, 25, 0.5, CLAUDE],
  ["anthropic", "claude-opus-4-8", 5, 25, 0.5, CLAUDE_FAST],
  ["anthropic", "claude-opus-4-1", 15, 75, 1.5, OLD_CLAUDE],
  ["anthropic", "claude-opus-4", 15, 75, 1.5, OLD_CLAUDE],
  ["anthropic", "claude-sonnet-5-5", 2, 10, 0.1, CLAUDE],
  ["anthropic", "claude-sonnet-5", 2, 10, 0.2, CLAUDE],
  ["anthropic", "claude-sonnet-4-6", 3, 15, 0.3, CLAUDE],
  ["anthropic", "claude-sonnet-4-5", 3, 15, 0.3],
  ["anthropic", "claude-sonnet-4", 3, 15, 0.3, OLD_CLAUDE],
  ["anthropic", "claude-haiku-5-5", 0.1, 0.5, 0.01, { ...CLAUDE, long: [100_000, 5, 5] }],
  ["anthropic", "claude-haiku-4-5", 1, 5, 0.1],
  // https://developers.openai.com/api/docs/pricing; from 5.6 on as in @earendil-works/pi-ai 1.6.0
  ["openai", "gpt-6.2-astra", 8, 40, 0.4, GPT_6_2],
  ["openai", "gpt-6.2-sol", 2, 10, 0.1, GPT_6_2],
  ["openai", "gpt-6.1-sol", 2, 10, 0.1, GPT],
  ["openai", "gpt-6.1-terra", 1, 5, 0.05, GPT],
  ["openai", "gpt-6-astra", 10, 50, 1, GPT],
  ["openai", "gpt-6-sol", 2, 10, 0.2, GPT],
  ["openai", "gpt-6-luna", 0.1, 0.5, 0.01, GPT],
  ["openai", "gpt-5.6-sol", 4, 20, 0.4, GPT],
  ["openai", "gpt-5.6-terra", 2, 12, 0.2, GPT],
  ["openai", "gpt-5.6-luna", 0.2, 1.2, 0.02, GPT],
  ["openai", "gpt-6-cyber", 20, 100, 2, { write: GPT.write }],
  ["openai", "gpt-5.6-cyber", 12.5, 75, 1.25, { write: GPT.write }],
  ["openai", "gpt-daybreak-blue", 4, 20, 0.4, GPT],
  ["openai", "gpt-daybreak-red", 12.5, 75, 1.25, { write: GPT.write }],
  ["openai", "gpt-5.5-pro", 30, 180, undefined, { long: GPT.long, ...ONLY_LATER }],
  ["openai", "gpt-5.5", 5, 30, 0.5, { long: GPT.long, factors: { ...FACTORS["openai"], priority: 2.5 } }],
  ["openai", "gpt-5.4-pro", 30, 180, undefined, { long: GPT.long, ...ONLY_LATER }],
  ["openai", "gpt-5.4-mini", 0.75, 4.5, 0.075],
  ["openai", "gpt-5.4-nano", 0.2, 1.25, 0.02],
  ["openai", "gpt-5.4", 2.5, 15, 0.25, { long: GPT.long }],
  ["openai", "gpt-5.3-codex", 1.75, 14, 0.175],
  ["openai", "gpt-5.3-codex-spark", 1.75, 14, 0.175],
  ["openai", "gpt-5.2-pro", 21, 168, undefined, ONLY_LATER],
  ["openai", "gpt-5.2", 1.75, 14, 0.175],
  ["openai", "gpt-5.1-codex", 1.25, 10, 0.125],
  ["openai", "gpt-5.1-codex-max", 1.25, 10, 0.125],
  ["openai", "gpt-5.1", 1.25, 10, 0.125],
  ["openai", "gpt-5-pro", 15, 120, undefined, ONLY_LATER],
  ["openai", "gpt-5-mini", 0.25, 2, 0.025, { factors: { ...FACTORS["openai"], priority: 1.8 } }],
  ["openai", "gpt-5-nano", 0.05, 0.4, 0.005, ONLY_LATER],
  ["openai", "gpt-5-codex", 1.25, 10, 0.125],
  ["openai", "gpt-5-chat", 1.25, 10, 0.125],
  ["openai", "gpt-5", 1.25, 10, 0.125],
  ["openai", "gpt-4.1-mini", 0.4, 1.6, 0.1, GPT_4],
  ["openai", "gpt-4.1-nano", 0.1, 0.4, 0.025, GPT_4],
  ["openai", "gpt-4.1", 2, 8, 0.5, GPT_4],
  ["openai", "gpt-4o-mini", 0.15, 0.6, 0.075, GPT_4],
  ["openai", "gpt-4o", 2.5, 10, 1.25, GPT_4],
  ["openai", "o4-mini", 1.1, 4.4, 0.275],
  ["openai", "o3-pro", 20, 80, undefined, ONLY_LATER],
  ["openai", "o3-mini", 1.1, 4.4, 0.55, ONLY_LATER],
  ["openai", "o3", 2, 8, 0.5],
  ["openai", "o1-pro", 150, 600, undefined, ONLY_LATER],
  ["openai", "o1", 15, 60, 7.5, ONLY_LATER],
  // https://ai.google.dev/gemini-api/docs/pricing
  ["google", "gemini-4-neon", 3, 15, 0.15, GEMINI_4],
  ["google", "gemini-4-hydrogen", 1.5, 7.5, 0.075, GEMINI_4],
  ["google", "gemini-4-argon", 2, 10, 0.1, { ...GEMINI_4, from: ["2026-12-01", 2] }],
  ["google", "gemini-4-carbon", 2, 10, 0.1, { ...GEMINI_4, from: ["2026-12-01", 2] }],
  ["google", "gemini-3.8-flash", 0.75, 3.75, 0.075, { from: ["2027-01-01", 2] }],
  ["google", "gemini-3.7-flash", 0.75, 3.75, 0.075, { from: ["2027-01-01", 2] }],
  ["google", "gemini-3.6-flash", 0.75, 3.75, 0.075, { from: ["2027-01-01", 2] }],
  ["google", "gemini-3.5-flash-lite", 0.3, 2.5, 0.03],
  ["google", "gemini-3.5-flash", 1.5, 9, 0.15],
  ["google", "gemini-3-flash", 0.5, 3, 0.05],
  ["google", "gemini-3.1-pro", 2, 12, 0.2, { long: [200_000, 2, 1.5] }],
  ["google", "gemini-3.1-flash-lite", 0.25, 1.5, 0.025],
  ["google", "gemini-2.5-pro", 1.25, 10, 0.125, { long: [200_000, 2, 1.5] }],
  ["google", "gemini-2.5-flash-lite", 0.1, 0.4, 0.01],
  ["google", "gemini-2.5-flash", 0.3, 2.5, 0.03],
  // https://api-docs.deepseek.com/quick_start/pricing, the price of the expensive hours
  ["deepseek", "deepseek-v4-pro", 1.32, 3.96, 0.044],
  ["deepseek", "deepseek-flash", 0.3, 1.2, 0.006],
  ["deepseek", "deepseek-v4-flash", 0.3, 1.2, 0.006],
  // @earendil-works/pi-ai 1.6.0
  ["groq", "openai/gpt-oss-120b", 0.15, 0.6, 0.075],
  ["groq", "openai/gpt-oss-20b", 0.075, 0.3, 0.0375],
  ["groq", "qwen/qwen3.8-27b", 0.8, 4],
  ["groq", "qwen/qwen3.6-27b", 0.6, 3, 0.3],
  ["groq", "llama-3.3-70b-versatile", 0.59, 0.79],
  ["groq", "llama-3.1-8b-instant", 0.05, 0.08],
  ["xai", "grok-4.7", 2, 6, 0.5, { long: [200_000, 2, 2] }],
  ["xai", "grok-4.6", 2, 6, 0.5, { long: [200_000, 2, 2] }],
  ["xai", "grok-4.5", 2, 6, 0.3],
  ["xai", "grok-4.3", 1.25, 2.5, 0.2],
  ["mistral", "mistral-large-4", 0.7, 2.1, 0.07],
  ["mistral", "mistral-medium-2604", 1.5, 7.5, 0.15],
  ["mistral", "mistral-small-2603", 0.15, 0.6, 0.015],
  ["zai", "glm-5.3-flash", 0.15, 0.5, 0.03],
  ["zai", "glm-5.3", 1.4, 4.4, 0.26],
  ["zai", "glm-5.2", 1.4, 4.4, 0.26],
  ["moonshot", "kimi-k3.1-pro", 2, 10, 0.2],
  ["moonshot", "kimi-k3", 3, 15, 0.3],
  ["moonshot", "kimi-k2.7-code", 0.95, 4, 0.19],
  ["moonshot", "kimi-k2.6", 0.95, 4, 0.16],
];

/** Vendors that sell another vendor's models at that vendor's prices. */
const SAME: { readonly [vendor: string]: string } = { azure: "openai", vertex: "google" };

/** The maker of a model. Vertex AI sells Claude too, at Anthropic's price on its global endpoint. */
const makerOf = (vendor: string, model: string): string =>
  vendor === "vertex" && model.startsWith("claude-") ? "anthropic" : (SAME[vendor] ?? vendor);

/**
 * The list price of a model, or undefined if it is not in the table. Some prices change on a known date. `nowMs`, by
 * default the time of the call, selects the valid one. An id of Amazon Bedrock names its region: `us.`, `eu.` or no
 * prefix costs 10% more than `global.`.
 */
export function prices(vendor: string, model: string, nowMs: number = Date.now()): Price | undefined {
  const asked = { seller: makerOf(vendor, model), name: model, isRegional: false };
  const { seller, name, isRegional } = vendor === "bedrock" ? ofBedrock(model) : asked;
  const row = ROWS.find(([maker, begin]) => maker === seller && isModel(name, begin));
  if (row === undefined) return undefined;
  const [, , input, output, cacheRead, further = {}] = row;
  const { long, from, write, isDearerInRegion = true, factors = FACTORS[seller] } = further;
  const day = from !== undefined && nowMs >= Date.parse(from[0]) ? from[1] : 1;
  const factor = day * (isRegional && isDearerInRegion ? REGION_FACTOR : 1);
  const usd = (price: number): number => round(price * factor);
  const writeFactor = seller === "anthropic" ? WRITE_FACTOR : write;
  return {
    inputUsdPerMillion: usd(input),
    outputUsdPerMillion: usd(output),
    ...(cacheRead === undefined ? {} : { cacheReadUsdPerMillion: usd(cacheRead) }),
    ...(writeFactor === undefined ? {} : { cacheWriteUsdPerMillion: usd(input * writeFactor) }),
    ...(seller === "anthropic" ? { cacheWriteHourUsdPerMillion: usd(input * WRITE_HOUR_FACTOR) } : {}),
    ...(long === undefined
      ? {}
      : { longPrompt: { aboveTokens: long[0], inputFactor: long[1], outputFactor: long[2] } }),
    // The tiers of Amazon Bedrock are its own.
    ...(factors === undefined || vendor === "bedrock" ? {} : { factors }),
  };
}

/** The maker and the name of a model of Amazon Bedrock, such as `us.anthropic.claude-opus-4-6-v1`. */
function ofBedrock(id: string): { seller: string; name: string; isRegional: boolean } {
  const form = /^(?:([a-z-]+)\.)?(anthropic|openai)\.(.+?)(?:-v\d+(?::\d+)?)?$/;
  const [, region, seller = "", name = ""] = form.exec(id) ?? [];
  return { seller, name, isRegional: region !== "global" };
}

/** A price without the noise of binary fractions. */
function round(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

export { pricesFrom } from "./prices/prices-from.js";
export type { Price, PriceFactors, PriceTable } from "../core/api/index.js";
