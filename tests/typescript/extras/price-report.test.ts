// The report of `npm run check` on the table of list prices.
import { expect, it } from "vitest";
import { modelIds, priceReport } from "../../../scripts/prices.mjs";
import { prices, PRICES_DATE } from "../../../src/typescript/extras/prices.js";

const anthropic = `
export type Model = 'claude-opus-5-5' | 'claude-opus-5-5' | 'claude-next-9' | (string & {});
declare const example: 'claude-of-an-example';
`;
const google = `declare type Model_2 = "gemma-4" | "gemini-4-neon" | "gemini-3.8-flash-tts" | (string & {});`;
const openai =
  "export type ChatModel =\n  | 'gpt-6.2-sol'\n  | 'o3-2025-04-16'\n  | 'gpt-4-32k'\n  | 'gpt-6-rosalind'\n  | 'gpt-9';";
const sdks = [
  { name: "@anthropic-ai/sdk", vendor: "anthropic", types: anthropic },
  { name: "openai", vendor: "openai", types: openai },
  { name: "@google/genai", vendor: "google", types: google },
];
const dayMs = 86_400_000;
const readMs = Date.parse(PRICES_DATE);

it("reads the models of the unions that are asked with text", () => {
  expect(modelIds(anthropic)).toEqual(["claude-opus-5-5", "claude-next-9"]);
  expect(modelIds(openai)).toEqual(["gpt-6.2-sol", "o3-2025-04-16", "gpt-6-rosalind", "gpt-9"]);
  expect(modelIds(google)).toEqual(["gemini-4-neon"]);
});

it("names ids without a row, and rows that are older than 30 days", () => {
  expect(priceReport({ prices, PRICES_DATE }, sdks, readMs + 31 * dayMs)).toEqual([
    "no list price for ids of @anthropic-ai/sdk: claude-next-9",
    "no list price for ids of openai: gpt-9",
    `the list prices were read 31 days ago, on ${PRICES_DATE}`,
  ]);
});

it("is empty while all is known, and without the SDKs", () => {
  expect(priceReport({ prices, PRICES_DATE }, sdks.slice(2), readMs + 30 * dayMs)).toEqual([]);
  expect(priceReport({ prices, PRICES_DATE }, [], readMs)).toEqual([]);
});
