import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { asks, hasSeldomKeyword } from "../../src/face/parts.js";

const compile = readFileSync(new URL("../../src/engine/schema/compile.rs", import.meta.url), "utf8");

it("every keyword that the engine's own part reads is looked for, and plain schemas have none", () => {
  const list = /const SELDOM: \[&str; \d+\] = \[(.*?)\];/s.exec(compile)?.[1] ?? "";
  const keywords = [...list.matchAll(/"(.+?)"/g)].map(([, keyword]) => keyword!);
  expect(keywords.length).toBeGreaterThan(20);
  for (const keyword of keywords)
    expect(hasSeldomKeyword(JSON.stringify({ properties: { a: { [keyword]: 1 } } })), keyword).toBe(true);
  expect(hasSeldomKeyword(JSON.stringify({ type: "array", items: [{ type: "string" }] }))).toBe(true);
  const plain = {
    type: "object",
    title: "if, not",
    properties: {
      unit: { type: ["string", "null"], enum: ["c"] },
      list: { type: "array", items: { type: "string" } },
    },
    required: ["unit"],
    additionalProperties: false,
    $schema: "https://json-schema.org/draft/2020-12/schema",
  };
  expect(hasSeldomKeyword(JSON.stringify(plain))).toBe(false);
});

it("a configuration asks when it has what is not known to ask nothing", () => {
  expect(asks({ tools: [{ name: "weather", readOnly: true }], limits: {}, hooks: undefined })).toBe(false);
  expect(asks({ tools: [], hooks: [] })).toBe(true);
  expect(asks({ tools: [{ name: "weather", prepare: true }] })).toBe(true);
});
