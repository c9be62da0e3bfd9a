/**
 * List prices of the main models in US dollars per million tokens, as read on `PRICES_DATE`. They come from the
 * vendors' pages that are named beside the rows. The rows of OpenAI, Google and Groq come from pages that quote the
 * vendors, and so do Anthropic's cache reads below a tenth of the input price. Check a price before you bill by it.
 *
 * Give `price: prices` to a model, or a function of yours that calls `prices` for models that it does not know.
 * Vendors that report the cost of a call (OpenRouter, xAI, Perplexity) need no row.
 */
import type { Price } from "../core/api/index.js";

/** The vendor, the model's name without its date, and its prices. */
type Row = readonly [
  vendor: string,
  model: string,
  input: number,
  output: number,
  cacheRead?: number,
  long?: readonly [aboveTokens: number, inputFactor: number, outputFactor: number],
];

/** The day on which the prices were read. */
export const PRICES_DATE = "2026-11-21";

/** Anthropic's factors on the input price for writing to the cache: for five minutes, and for an hour. */
const WRITE_FACTOR = 1.25;
const WRITE_HOUR_FACTOR = 2;

const ROWS: readonly Row[] = [
  // https://platform.claude.com/docs/en/about-claude/pricing
  ["anthropic", "claude-fable-5-1", 10, 50, 0.25],
  ["anthropic", "claude-fable-5", 10, 50, 1],
  ["anthropic", "claude-opus-5-5", 4, 20, 0.2],
  ["anthropic", "claude-opus-5", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-5", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-6", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-7", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-8", 5, 25, 0.5],
  ["anthropic", "claude-opus-4-1", 15, 75, 1.5],
  ["anthropic", "claude-opus-4", 15, 75, 1.5],
  ["anthropic", "claude-sonnet-5-5", 2, 10, 0.1],
  ["anthropic", "claude-sonnet-5", 2, 10, 0.2],
  ["anthropic", "claude-sonnet-4-6", 3, 15, 0.3],
  ["anthropic", "claude-sonnet-4-5", 3, 15, 0.3],
  ["anthropic", "claude-sonnet-4", 3, 15, 0.3],
  ["anthropic", "claude-haiku-5-5", 0.1, 0.5, 0.01, [100_000, 5, 5]],
  ["anthropic", "claude-haiku-4-5", 1, 5, 0.1],
  // https://developers.openai.com/api/docs/pricing
  ["openai", "gpt-5.5-pro", 30, 180],
  ["openai", "gpt-5.5", 5, 30, 0.5, [272_000, 2, 1.5]],
  ["openai", "gpt-5.4-pro", 30, 180],
  ["openai", "gpt-5.4-mini", 0.75, 4.5, 0.075],
  ["openai", "gpt-5.4-nano", 0.2, 1.25, 0.02],
  ["openai", "gpt-5.4", 2.5, 15, 0.25, [272_000, 2, 1.5]],
  ["openai", "gpt-5.3-codex", 1.75, 14, 0.175],
  ["openai", "gpt-5.2", 1.75, 14, 0.175],
  ["openai", "gpt-5.1", 1.25, 10, 0.125],
  ["openai", "gpt-5-mini", 0.25, 2, 0.025],
  ["openai", "gpt-5", 1.25, 10, 0.125],
  ["openai", "gpt-4.1", 2, 8, 0.5],
  // https://ai.google.dev/gemini-api/docs/pricing
  ["google", "gemini-3.5-flash", 1.5, 9],
  ["google", "gemini-3.1-pro", 2, 12, undefined, [200_000, 2, 1.5]],
  ["google", "gemini-3.1-flash-lite", 0.25, 1.5],
  ["google", "gemini-2.5-pro", 1.25, 10, undefined, [200_000, 2, 1.5]],
  ["google", "gemini-2.5-flash-lite", 0.1, 0.4],
  ["google", "gemini-2.5-flash", 0.3, 2.5],
  // https://api-docs.deepseek.com/quick_start/pricing, the price of the expensive hours
  ["deepseek", "deepseek-v4-pro", 1.32, 3.96, 0.044],
  ["deepseek", "deepseek-flash", 0.3, 1.2, 0.006],
  ["deepseek", "deepseek-v4-flash", 0.3, 1.2, 0.006],
  // https://console.groq.com/docs/models
  ["groq", "openai/gpt-oss-120b", 0.15, 0.6],
];

/** Vendors that sell another vendor's models at that vendor's prices. */
const SAME: { readonly [vendor: string]: string } = { azure: "openai", vertex: "google" };

/** The list price of a model; undefined if it is not in the table. */
export function prices(vendor: string, model: string): Price | undefined {
  const seller = SAME[vendor] ?? vendor;
  const row = ROWS.find(([name, begin]) => name === seller && isOf(model, begin));
  if (row === undefined) return undefined;
  const [, , input, output, cacheRead, long] = row;
  return {
    inputUsdPerMillion: input,
    outputUsdPerMillion: output,
    ...(cacheRead === undefined ? {} : { cacheReadUsdPerMillion: cacheRead }),
    ...(seller === "anthropic"
      ? {
          cacheWriteUsdPerMillion: input * WRITE_FACTOR,
          cacheWriteHourUsdPerMillion: input * WRITE_HOUR_FACTOR,
        }
      : {}),
    ...(long === undefined
      ? {}
      : { longPrompt: { aboveTokens: long[0], inputFactor: long[1], outputFactor: long[2] } }),
  };
}

/**
 * Whether a model's name is `begin`, with nothing behind it but a date, a version of three digits, `-latest` or
 * `-preview`: `gpt-5-mini` is not a `gpt-5`.
 */
function isOf(model: string, begin: string): boolean {
  if (!model.startsWith(begin)) return false;
  return /^(-latest|-preview(-\d\d)*|[-@]\d{3}[\d-]*)*$/.test(model.slice(begin.length));
}

export type { Price, PriceTable } from "../core/api/index.js";
