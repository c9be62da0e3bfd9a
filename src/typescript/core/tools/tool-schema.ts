/** A tool's input schema: its kind, and the JSON Schema that the model sees. */
import { LoopletError } from "../api/errors.js";
import type { StandardIssue, StandardJSONSchemaV1, StandardSchemaV1 } from "../api/index.js";
import { at, describe, isObject } from "../options/check.js";
import { message } from "../options/thrown.js";

/** True for a Standard Schema; arktype's schemas are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard = (schema as { "~standard"?: unknown })["~standard"];
  return isObject(standard) && typeof standard["validate"] === "function";
}

/**
 * The JSON Schema of a tool's input, as plain JSON.
 *
 * @throws LoopletError `config_invalid_schema`
 */
export function inputJsonSchema(schema: unknown, field: string): Record<string, unknown> {
  const json = isStandardSchema(schema) ? writtenAsJson(schema, field) : schema;
  if (!isObject(json))
    throw invalid(field, `needs a JSON Schema object or a Standard Schema, got ${describe(json)}`);
  if (isOldZod(json)) {
    throw invalid(field, "is a zod schema without its JSON Schema extension; zod 4.2 or newer has it");
  }
  if (isRawShape(json)) {
    throw invalid(field, "is the shape of an object, not its schema; wrap it: z.object({ … })");
  }
  checkObjectSchema(json, field);
  let copy: Record<string, unknown>;
  try {
    copy = JSON.parse(JSON.stringify(json)) as Record<string, unknown>;
  } catch {
    throw invalid(field, "holds something that JSON cannot (a cycle or a bigint)");
  }
  delete copy["$schema"];
  return copy;
}

/** True for the fields of an object as its library describes them: `{ city: z.string() }`. */
export function isRawShape(json: Record<string, unknown>): boolean {
  const fields = Object.values(json);
  return fields.length > 0 && fields.every((field) => isStandardSchema(field) || isOldZod(field));
}

function isOldZod(schema: unknown): boolean {
  return isObject(schema) && ("_def" in schema || "safeParse" in schema);
}

function writtenAsJson(schema: StandardSchemaV1, field: string): unknown {
  const standard: Partial<StandardJSONSchemaV1["~standard"]> = schema["~standard"];
  const converter = standard.jsonSchema;
  const vendor = schema["~standard"].vendor;
  if (typeof converter?.input !== "function") {
    throw invalid(field, `this schema of ${vendor} cannot be written as JSON Schema; ${EXTENSION}`);
  }
  try {
    return converter.input({ target: "draft-2020-12" });
  } catch (first) {
    try {
      return converter.input({ target: "draft-07" });
    } catch {
      throw invalid(field, `${vendor} cannot write this schema as JSON Schema: ${message(first)}`);
    }
  }
}

const EXTENSION =
  "zod 4.2 and arktype 2.1.28 or newer can, valibot by toStandardJsonSchema() of @valibot/to-json-schema";

/** Checks the demands that every provider makes; the engine judges the rest of the schema. */
function checkObjectSchema(schema: Record<string, unknown>, field: string): void {
  if (schema["type"] !== "object") {
    throw invalid(
      field,
      `needs type: "object" at its top: { type: "object", properties: { … }, required: [ … ] }`,
    );
  }
  const { properties, required } = schema;
  if (properties !== undefined && !isObject(properties)) {
    throw invalid(at(field, "properties"), `needs an object, got ${describe(properties)}`);
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (!isObject(property) && typeof property !== "boolean") {
      throw invalid(at(at(field, "properties"), name), `needs a schema, got ${describe(property)}`);
    }
  }
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === "string"))
  ) {
    throw invalid(at(field, "required"), "needs an array of property names");
  }
}

function invalid(field: string, problem: string): LoopletError {
  return new LoopletError("config_invalid_schema", field, problem);
}

/** The issues of a check in one line, for the model: `city: must be a string; days: too many`. */
export function issuesInWords(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ message: problem, path }) => {
      const keys = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
      return keys.length === 0 ? problem : `${keys.join(".")}: ${problem}`;
    })
    .join("; ");
}
