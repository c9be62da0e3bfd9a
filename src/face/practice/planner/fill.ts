/**
 * Fills the arguments of a tool from a piece of the prompt, after the tool's JSON Schema: by explicit `name: value`, by
 * enum values that are mentioned, by what the name and description of a property ask for, and by type.
 */
import type { ToolSpec } from "../conversation.js";
import { isObject } from "../json.js";
import { findArithmetic, findNumbers } from "./arithmetic.js";
import { extract, kindOf, type Kind } from "./kinds.js";
import { operationOf } from "./match.js";
import { splitName, stem } from "./words.js";

/** What a step works with. */
export interface Source {
  /** The piece of the prompt that the step is about. */
  text: string;
  /** The whole prompt, for what the piece leaves out. */
  prompt: string;
  /** Text of the result that the step builds on ("save it"), if there is one. */
  previous: string | undefined;
  /** The number in that result. */
  previousNumber: number | undefined;
}

/** The input for `tool`: every required property, and those optional ones that the prompt speaks of. */
export function fillInput(tool: ToolSpec, source: Source): Record<string, unknown> {
  const operator = operationOf(tool);
  if (operator !== undefined) {
    const filled = fillOperation(tool, source, operator);
    if (filled) return filled;
  }
  return fillObject(tool.schema, tool.schema, {
    ...source,
    numbers: findNumbers(source.text),
    used: new Set(),
  });
}

interface Filling extends Source {
  /** Numbers not yet given to a property. */
  numbers: number[];
  /** Texts already given to a property. */
  used: Set<string>;
}

const MAX_DEPTH = 4;

function fillObject(schema: any, root: any, filling: Filling, depth = 0): Record<string, unknown> {
  const properties: Record<string, any> = isObject(schema.properties) ? schema.properties : {};
  const required = new Set<string>(Array.isArray(schema.required) ? schema.required : []);
  const input: Record<string, unknown> = {};
  const names = Object.keys(properties).sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
  for (const name of names) {
    const property = resolve(properties[name], root);
    const value = fillProperty(name, property, required.has(name), root, filling, depth);
    if (value !== undefined) input[name] = value;
  }
  // Models write arguments in the order of the schema.
  return Object.fromEntries(
    Object.keys(properties)
      .filter((name) => name in input)
      .map((name) => [name, input[name]]),
  );
}

function fillProperty(
  name: string,
  schema: any,
  isRequired: boolean,
  root: any,
  filling: Filling,
  depth: number,
): unknown {
  if (schema.const !== undefined) return schema.const;
  const explicit = assigned(name, filling.text);
  if (Array.isArray(schema.enum)) {
    const mentioned =
      mentionedValue(schema.enum, explicit ?? filling.text) ??
      (isRequired ? mentionedValue(schema.enum, filling.prompt) : undefined);
    return mentioned ?? (isRequired ? (schema.default ?? schema.enum[0]) : undefined);
  }
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return fillNumber(name, schema, isRequired, explicit, filling);
    case "boolean":
      return fillBoolean(name, schema, isRequired, explicit, filling);
    case "array":
      return fillArray(name, schema, isRequired, root, filling, depth);
    case "object": {
      if (depth >= MAX_DEPTH || (!isRequired && !mentions(name, filling.text))) return undefined;
      return fillObject(schema, root, filling, depth + 1);
    }
    default:
      return explicit ?? fillString(name, schema, isRequired, filling);
  }
}

function fillString(name: string, schema: any, isRequired: boolean, filling: Filling): string | undefined {
  const kind = kindOf(name, schema);
  const found = extract(kind, name, filling).filter((value) => value !== "" && !filling.used.has(value));
  const value = found[0] ?? (isRequired ? (schema.default ?? fallback(kind, schema, filling)) : undefined);
  if (typeof value !== "string") return undefined;
  filling.used.add(value);
  return value;
}

// What a required text gets when the prompt has nothing of its kind.
function fallback(kind: Kind, schema: any, filling: Filling): string {
  const example = schema.examples?.[0];
  if (kind === "zone") return "UTC";
  if (kind === "path" && typeof example === "string") return example;
  if (kind === "date") return "today";
  const fromPrompt = extract(kind, "", { ...filling, text: filling.prompt })[0];
  return fromPrompt ?? (typeof example === "string" ? example : filling.text.replace(/[?.!]+$/, ""));
}

function fillNumber(
  name: string,
  schema: any,
  isRequired: boolean,
  explicit: string | undefined,
  filling: Filling,
): number | undefined {
  const fit = (value: number) => {
    const whole = typeOf(schema) === "integer" ? Math.round(value) : value;
    return Math.min(Math.max(whole, schema.minimum ?? -Infinity), schema.maximum ?? Infinity);
  };
  const given = explicit === undefined ? NaN : Number.parseFloat(explicit);
  if (Number.isFinite(given)) {
    filling.numbers = filling.numbers.filter((number) => number !== given);
    return fit(given);
  }
  const unit = stem(splitName(name).split(" ").at(-1) ?? name);
  const isCount = /^(?:limit|count|max|top|n|num|number|results|amount|k|size)/i.test(name);
  const counted = [...filling.text.matchAll(/(-?\d+(?:\.\d+)?)\s*-?([\p{L}]+)/gu)].find(
    ([, , word = ""]) => stem(word) === unit,
  );
  const top = isCount
    ? /\b(?:top|first|last|limit(?: of| to)?|at most|up to)\s+(\d+)|\b(\d+)\s+(?:results?|items?|entries|hits)\b/i.exec(
        filling.text,
      )
    : null;
  const named = counted?.[1] ?? top?.[1] ?? top?.[2];
  if (named !== undefined) {
    filling.numbers = filling.numbers.filter((number) => number !== Number(named));
    return fit(Number(named));
  }
  if (!isRequired) return undefined;
  const next = filling.numbers.shift() ?? filling.previousNumber;
  return fit(next ?? schema.default ?? schema.minimum ?? 1);
}

function fillBoolean(
  name: string,
  schema: any,
  isRequired: boolean,
  explicit: string | undefined,
  { text }: Filling,
): boolean | undefined {
  if (explicit !== undefined && /^(?:true|false|yes|no|on|off)\b/i.test(explicit))
    return /^(?:true|yes|on)/i.test(explicit);
  if (mentions(name, text)) {
    const word = splitName(name).replace(/^(?:is|has|include|with) /, "");
    return !new RegExp(`\\b(?:no|not|without|don't|do not|skip)\\b[^.]{0,20}${word}`, "i").test(text);
  }
  return isRequired ? (schema.default ?? false) : undefined;
}

function fillArray(
  name: string,
  schema: any,
  isRequired: boolean,
  root: any,
  filling: Filling,
  depth: number,
): unknown[] | undefined {
  const items = resolve(schema.items ?? {}, root);
  if (!isRequired && !mentions(name, filling.text)) return undefined;
  if (Array.isArray(items.enum)) {
    return items.enum.filter((value: unknown) => mentionedValue([value], filling.text) !== undefined);
  }
  const type = typeOf(items);
  if (type === "number" || type === "integer") return filling.numbers.splice(0);
  if (type === "object") return depth < MAX_DEPTH ? [fillObject(items, root, filling, depth + 1)] : [];
  const kind = kindOf(name, {
    ...items,
    description: `${schema.description ?? ""} ${items.description ?? ""}`,
  });
  const found = extract(kind, name, filling);
  if (kind !== "text" && kind !== "query" && found.length > 0) return found;
  const list = (found[0] ?? filling.text).split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((item) => item.trim());
  return list.filter((item) => item !== "");
}

/** `add({a, b})`: both operands of the one operation, or the result before and the number that is there. */
function fillOperation(
  tool: ToolSpec,
  source: Source,
  operator: string,
): Record<string, unknown> | undefined {
  const [first, second] = Object.keys(tool.schema["properties"] ?? {});
  if (first === undefined || second === undefined) return undefined;
  const binary = findArithmetic(source.text).find((found) => found.binary?.operator === operator)?.binary;
  if (binary) return { [first]: binary.left, [second]: binary.right };
  const [number] = findNumbers(source.text);
  if (source.previousNumber === undefined || number === undefined) return undefined;
  return { [first]: source.previousNumber, [second]: number };
}

/** A value that the prompt assigns by the property's own name: `limit: 5`, `limit=5`, `title "X"`. */
function assigned(name: string, text: string): string | undefined {
  const label = splitName(name).split(" ").join("[ _-]?");
  const pattern = new RegExp(
    `\\b${label}\\s*(?:[:=]|\\bis\\b)\\s*(?:"([^"]*)"|'([^']*)'|([^,;\\n]+?))(?=[,;\\n]|[.?!]?\\s*$|\\s+(?:and|with)\\s)`,
    "i",
  );
  const match = pattern.exec(text);
  const value = match?.[1] ?? match?.[2] ?? match?.[3];
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

const SYNONYMS: Record<string, RegExp> = {
  celsius: /\bcelsius\b|°\s?c\b|\bmetric\b/i,
  fahrenheit: /\bfahrenheit\b|°\s?f\b|\bimperial\b/i,
  metric: /\bmetric\b|\bcelsius\b|°\s?c\b/i,
  imperial: /\bimperial\b|\bfahrenheit\b|°\s?f\b/i,
  asc: /\b(?:asc|ascending|oldest|smallest|lowest) ?(?:first)?\b/i,
  desc: /\b(?:desc|descending|newest|latest|largest|highest) ?(?:first)?\b/i,
  high: /\b(?:high|urgent|important)\b/i,
};

function mentionedValue(values: readonly unknown[], text: string): unknown {
  const words = splitName(text);
  return values.find((value) => {
    if (typeof value !== "string") return typeof value === "number" && findNumbers(text).includes(value);
    if (SYNONYMS[value.toLowerCase()]?.test(text)) return true;
    const spelled = splitName(value).trim();
    const escaped = spelled.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return spelled !== "" && new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "iu").test(words);
  });
}

function mentions(name: string, text: string): boolean {
  const words = splitName(text)
    .split(/[^\p{L}\p{N}]+/u)
    .map(stem);
  return splitName(name)
    .split(" ")
    .filter((word) => !["is", "has", "include", "with"].includes(word))
    .every((word) => words.includes(stem(word)));
}

/** Follows a local `$ref` and takes the first member of a union that is not null. */
function resolve(schema: any, root: any, depth = 0): any {
  if (!isObject(schema) || depth > 8) return {};
  if (typeof schema["$ref"] === "string" && schema["$ref"].startsWith("#/")) {
    const target = schema["$ref"]
      .slice(2)
      .split("/")
      .reduce((value: any, key: string) => value?.[key], root);
    return resolve(target, root, depth + 1);
  }
  const union = schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"];
  if (!Array.isArray(union)) return schema;
  const member = union.find((option: any) => option?.type !== "null");
  return {
    ...resolve(member, root, depth + 1),
    ...(schema["description"] ? { description: schema["description"] } : {}),
  };
}

function typeOf(schema: any): string {
  const type = Array.isArray(schema.type)
    ? schema.type.find((name: unknown) => name !== "null")
    : schema.type;
  return type ?? (schema.properties ? "object" : schema.items ? "array" : "string");
}
