import { describe, expect, it } from "vitest";
import { compatible, createAgent, openai, tool } from "looplet";
import { practice } from "looplet/practice";
import type { Model, WireProtocol } from "../../../../src/typescript/core/api/index.js";
import { fillValue } from "../../../../src/typescript/lab/practice/planner/fill.js";

const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: "object" as const,
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const string = { type: "string" };
const text = { type: "string", minLength: 3, maxLength: 8 };

/** Schemas, and what a prompt makes of them where that matters. */
const SCHEMAS: [name: string, schema: object, output?: object][] = [
  ["values of the prompt", object({ city: string, days: { type: "integer", minimum: 1 } }), { city: "Rome", days: 3 }],
  ["a least number", object({ days: { type: "integer", minimum: 7 } }), { days: 7 }],
  ["a greatest number", object({ days: { type: "integer", maximum: 2 } }), { days: 2 }],
  ["open limits", object({ share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 } }), { share: 0.5 }],
  ["steps of a number", object({ days: { type: "integer", multipleOf: 5 } }), { days: 5 }],
  ["lengths of a text", object({ short: text, long: { type: "string", minLength: 90 } })],
  ["choices", object({ mood: { enum: ["calm", "busy"] }, kind: { const: "trip" } }), { mood: "calm", kind: "trip" }],
  ["a choice of types", object({ count: { type: ["null", "integer"] }, none: { type: "null" } }), { count: 3, none: null }],
  ["anyOf", object({ value: { anyOf: [{ type: "null" }, object({ days: { type: "integer" } })] } }), { value: { days: 3 } }],
  ["allOf", object({ value: { allOf: [object({ a: string }, { additionalProperties: true }), object({ b: string }, { additionalProperties: true })] } })],
  ["a reference", { ...object({ home: { $ref: "#/$defs/place" } }), $defs: { place: object({ city: string }) } }, { home: { city: "Rome" } }],
  ["a schema that holds itself", { ...object({ root: { $ref: "#/$defs/node" } }), $defs: { node: object({ name: string, children: { type: "array", items: { $ref: "#/$defs/node" } } }) } }],
  ["a list of objects", object({ stops: { type: "array", items: object({ city: string }), minItems: 2 } })],
  ["a list of different texts", object({ tags: { type: "array", items: string, minItems: 3, uniqueItems: true } })],
  ["a list of choices", object({ days: { type: "array", items: { enum: ["mon", "tue", "wed"] }, minItems: 2, uniqueItems: true } })],
  ["a list of numbers", object({ sizes: { type: "array", items: { type: "integer", minimum: 5 }, minItems: 2, maxItems: 2 } })],
  ["a tuple", object({ pair: { type: "array", prefixItems: [string, { type: "boolean" }], items: false, minItems: 2 } })],
  ["a required property without a schema", { type: "object", properties: {}, required: ["note"] }],
  ["a list of the prompt's places", object({ cities: { type: "array", items: string } }), { cities: ["Rome"] }],
]; // prettier-ignore

const PROTOCOLS: WireProtocol[] = [
  "openai_chat",
  "openai_responses",
  "anthropic",
  "gemini",
  "bedrock_converse",
];
const modelOf = (protocol: WireProtocol): Model =>
  compatible("m", { baseUrl: "https://host.example", protocol, fetch: practice({ delayMs: 0 }) });

const prompt = "A trip to Rome for 3 days";

describe.each(PROTOCOLS)("structured output over %s", (protocol) => {
  for (const mode of ["native", "tool"] as const) {
    it.each(SCHEMAS)(`fits the schema in ${mode} mode: %s`, async (_, schema, output) => {
      const agent = createAgent({ model: modelOf(protocol), output: { schema: schema as any, mode } });
      const result = await agent.run(prompt).result;
      expect(result).toMatchObject({ outcome: "completed", ...(output && { output }) });
    });

    it(`is filled from the results of tools in ${mode} mode`, async () => {
      const weather = tool({
        description: "Current weather of a city",
        inputSchema: object({ city: string }),
        execute: ({ city }) => ({ sky: city === "Oslo" ? "clear" : "grey", degrees: 4 }),
      });
      const schema = object({ days: { type: "array", items: object({ city: string, sky: string }) } });
      const agent = createAgent({
        model: modelOf(protocol),
        tools: { weather },
        output: { schema, mode },
        limits: { maxIterations: 3 },
      });
      const prompt = "What is the weather in Oslo and in Rome? Then give the final answer.";
      const result = await agent.run(prompt).result;
      const days = [
        { city: "Oslo", sky: "clear" },
        { city: "Rome", sky: "grey" },
      ];
      expect(result).toMatchObject({ outcome: "completed", output: { days } });
      expect(result.toolCalls).toHaveLength(2);
    });
  }
});

it("reads what was wrong with an answer, and keeps to the question", async () => {
  const schema = object({ city: string, days: { type: "integer" } });
  let asked = 0;
  const validate = () => (asked++ === 0 ? "try again" : undefined);
  const model = openai("gpt-5", { fetch: practice({ delayMs: 0 }) });
  const result = await createAgent({ model, output: { schema, validate } }).run(prompt).result;
  expect(result).toMatchObject({ outcome: "completed", output: { city: "Rome", days: 3 }, iterations: 2 });
});

describe("a text that has a form", () => {
  const filled = (schema: object, prompt = "Write to bob@example.com on 2027-03-04") =>
    fillValue({ name: "answer", description: "", schema: object({ it: schema }) }, { text: prompt });

  it.each([
    [{ format: "date" }, "2027-03-04"],
    [{ format: "email" }, "bob@example.com"],
    [{ format: "uuid" }, "00000000-0000-4000-8000-000000000000"],
    [{ format: "date-time" }, "2026-01-01T12:00:00Z"],
    [{ pattern: "^[a-z]+@" }, "bob@example.com"],
    [{ pattern: "^[A-Z]{3}$" }, "AAA"],
  ])("has it: %o", (form, value) => {
    expect(filled({ type: "string", ...form })).toEqual({ it: value });
  });

  it("is left as it is where its pattern is beyond the planner or no pattern at all", () => {
    expect(filled({ type: "string", pattern: "^\\d{11}x$" }, "Hello there")).toEqual({ it: "Hello there" });
    expect(filled({ type: "string", pattern: "(" }, "Hello there")).toEqual({ it: "Hello there" });
  });
});
