/**
 * What TypeScript infers, checked by `tsc -p tsconfig.tests.json` (`npm run lint`) and never run: a type that is
 * another than it says is an error there, and so is a `@ts-expect-error` above a line that TypeScript accepts.
 */
import { expectTypeOf } from "vitest";
import { z } from "zod";
import { anthropic, compatible } from "../../../src/typescript/core/models/models.js";
import { prices } from "../../../src/typescript/extras/prices.js";
import { tool } from "../../../src/typescript/core/tools/tool.js";
import type {
  Failure,
  FromJsonSchema,
  InputOf,
  RunResult,
  StandardJSONSchemaV1,
  StandardSchemaV1,
  Tools,
} from "../../../src/typescript/core/api/index.js";

const rest = { description: "A tool" };

export function theInputOfAToolComesFromAJsonSchemaWithoutAsConst(): void {
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
      // @ts-expect-error the schema has no such field
      input.country;
      // @ts-expect-error a field that is not required may be missing
      input.days.toFixed();
      // @ts-expect-error no such unit
      input.unit === "K";
    },
  });
}

export function theInputOfAToolIsTheOutputOfAStandardSchema(): void {
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
      // @ts-expect-error the schema's input is a string, the tool's a number
      input.n.trim();
    },
  });
  expectTypeOf<
    InputOf<StandardSchemaV1<string, Date> & StandardJSONSchemaV1<string, Date>>
  >().toEqualTypeOf<Date>();
}

export function theInputOfAToolIsUnknownWhereTheLiteralTypeOfTheSchemaIs(): void {
  expectTypeOf<FromJsonSchema<{ type: string }>>().toEqualTypeOf<unknown>();
  expectTypeOf<FromJsonSchema<{ not: { type: "string" } }>>().toEqualTypeOf<unknown>();
  expectTypeOf<FromJsonSchema<{ type: "object" }>>().toEqualTypeOf<{ [name: string]: unknown }>();
  expectTypeOf<FromJsonSchema<{ type: "array" }>>().toEqualTypeOf<unknown[]>();
  expectTypeOf<FromJsonSchema<{ type: "object"; additionalProperties: { type: "number" } }>>().toEqualTypeOf<{
    [name: string]: number;
  }>();
}

export function toolsMayBeOfDifferentInputsInARecordOrWithNamesInAnArray(): Tools[] {
  const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
  const one = tool({ ...rest, inputSchema: schema, execute: ({ a }) => a });
  const two = tool({ ...rest, inputSchema: z.object({ b: z.string() }), execute: ({ b }) => b });
  const named = tool({ ...rest, name: "three", inputSchema: schema, execute: ({ a }) => a });
  expectTypeOf([one]).not.toExtend<Tools>();
  // @ts-expect-error a tool in an array needs a name
  const nameless: Tools = [one];
  return [{ one, two }, [named], nameless];
}

export function aResultSaysByItsOutcomeWhatIsThere(result: RunResult): void {
  expectTypeOf(result.error?.code).toEqualTypeOf<Failure["code"] | undefined>();
  expectTypeOf(result.text).toEqualTypeOf<string>();
  if (result.outcome === "failed") expectTypeOf(result.error).toEqualTypeOf<Failure>();
  if (result.outcome === "stopped") expectTypeOf(result.stoppedBy).not.toBeNullable();
  if (result.outcome === "cancelled") expectTypeOf(result.abortReason).toEqualTypeOf<string>();
  if (result.outcome === "completed") expectTypeOf(result.error).toEqualTypeOf<undefined>();
  expectTypeOf<RunResult["costBasis"]>().toEqualTypeOf<"reported" | "option" | "table" | "unknown">();
  // @ts-expect-error a run that has not failed has no error
  result.error.code;
}

export function aModelTakesASchemaCachingAPriceTableAndQuirks(): void {
  anthropic("m", {
    apiKey: "k",
    responseFormat: { schema: { type: "object" } },
    promptCaching: { ttl: "1h" },
    price: prices,
    effort: "minimal",
  });
  // @ts-expect-error a schema is required
  anthropic("m", { responseFormat: { name: "x" } });
  // @ts-expect-error not an option
  anthropic("m", { quirks: {} });
  compatible("m", {
    baseUrl: "http://x",
    quirks: { topK: false, "thinking.disabled": { think: false } },
  });
}
