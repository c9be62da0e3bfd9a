import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { anthropic, compatible } from "../../src/face/models/models.js";
import { prices } from "../../src/face/models/prices.js";
import { knowTools, tool } from "../../src/face/tools/tool.js";
import type {
  Failure,
  FromJsonSchema,
  InputOf,
  RunResult,
  StandardJSONSchemaV1,
  StandardSchemaV1,
  Tools,
} from "../../src/face/api/index.js";

const rest = { description: "A tool" };

describe("a tool's input type", () => {
  it("comes from a JSON Schema literal, without as const", () => {
    tool({
      ...rest,
      inputSchema: {
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer" },
          unit: { enum: ["C", "F"] },
          kind: { const: "weather" },
          tags: { type: "array", items: { type: "string" } },
          near: { anyOf: [{ type: "string" }, { type: "null" }] },
          size: { type: ["number", "null"] },
          place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
          open: { type: "boolean" },
          extra: { $ref: "#/x" },
        },
        required: ["city", "unit"],
      },
      execute: (input) => {
        expectTypeOf(input.city).toEqualTypeOf<string>();
        expectTypeOf(input.unit).toEqualTypeOf<"C" | "F">();
        expectTypeOf(input.days).toEqualTypeOf<number | undefined>();
        expectTypeOf(input.kind).toEqualTypeOf<"weather" | undefined>();
        expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>();
        expectTypeOf(input.near).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(input.size).toEqualTypeOf<number | null | undefined>();
        expectTypeOf(input.place).toEqualTypeOf<{ lat: number } | undefined>();
        expectTypeOf(input.open).toEqualTypeOf<boolean | undefined>();
        expectTypeOf(input.extra).toEqualTypeOf<unknown>();
      },
    });
  });

  it("is the output of a Standard Schema", () => {
    const inputSchema = z.object({ n: z.string().transform(Number), when: z.string().optional() });
    tool({
      ...rest,
      inputSchema,
      resourceKey: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>();
        return undefined;
      },
      execute: async (input, { signal, toolCallId, progress, iteration }) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; when?: string | undefined }>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(toolCallId).toEqualTypeOf<string>();
        expectTypeOf(progress).toBeCallableWith({ any: "thing" });
        expectTypeOf(iteration).toEqualTypeOf<number>();
      },
    });
    expectTypeOf<
      InputOf<StandardSchemaV1<string, Date> & StandardJSONSchemaV1<string, Date>>
    >().toEqualTypeOf<Date>();
  });

  it("is unknown where the schema's literal type is", () => {
    expectTypeOf<FromJsonSchema<{ type: string }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromJsonSchema<{ not: { type: "string" } }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromJsonSchema<{ type: "object" }>>().toEqualTypeOf<{ [name: string]: unknown }>();
    expectTypeOf<FromJsonSchema<{ type: "array" }>>().toEqualTypeOf<unknown[]>();
    expectTypeOf<
      FromJsonSchema<{ type: "object"; additionalProperties: { type: "number" } }>
    >().toEqualTypeOf<{ [name: string]: number }>();
  });
});

describe("an agent's tools", () => {
  const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
  const one = tool({ ...rest, inputSchema: schema, execute: ({ a }) => a });
  const two = tool({ ...rest, inputSchema: z.object({ b: z.string() }), execute: ({ b }) => b });
  const named = tool({ ...rest, name: "three", inputSchema: schema, execute: ({ a }) => a });

  it("may be of different inputs, in a record or, with names, in an array", () => {
    const record: Tools = { one, two };
    const array: Tools = [named];
    expectTypeOf([one]).not.toExtend<Tools>();
    expect([...knowTools(record).keys(), ...knowTools(array).keys()]).toEqual(["one", "two", "three"]);
  });
});

describe("a result's type", () => {
  it("says by the outcome what is there, and lets everything be asked without it", () => {
    const look = (result: RunResult): unknown => {
      expectTypeOf(result.error?.code).toEqualTypeOf<Failure["code"] | undefined>();
      expectTypeOf(result.text).toEqualTypeOf<string>();
      if (result.outcome === "failed") expectTypeOf(result.error).toEqualTypeOf<Failure>();
      if (result.outcome === "stopped") expectTypeOf(result.stoppedBy).not.toBeNullable();
      if (result.outcome === "cancelled") expectTypeOf(result.abortReason).toEqualTypeOf<string>();
      if (result.outcome === "completed") expectTypeOf(result.error).toEqualTypeOf<undefined>();
      return result.outcome;
    };
    expect(look).toBeTypeOf("function");
  });
});

describe("a model's options", () => {
  it("take a schema, caching, a price table and quirks, and nothing else", () => {
    anthropic("m", {
      apiKey: "k",
      responseFormat: { schema: { type: "object" } },
      promptCaching: { ttl: "1h" },
      price: prices,
      effort: "minimal",
    });
    // @ts-expect-error a schema is required
    expect(() => anthropic("m", { responseFormat: { name: "x" } })).toThrow();
    // @ts-expect-error not an option
    expect(() => anthropic("m", { quirks: {} })).toThrow();
    compatible({
      baseUrl: "http://x",
      model: "m",
      quirks: { topK: false, "thinking.disabled": { think: false } },
    });
    expectTypeOf<RunResult["costBasis"]>().toEqualTypeOf<"reported" | "option" | "table" | "unknown">();
  });
});
