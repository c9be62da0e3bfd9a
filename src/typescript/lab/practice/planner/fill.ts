/** Fills the arguments of a tool from a piece of the prompt, after the tool's JSON Schema. */
import type { ToolSpec } from "../conversation.js";
import { isObject, listOf } from "../json.js";
import { fit } from "./fit.js";
import { isAgent, spoken } from "./match.js";
import { findNumbers, kindOf, operatorIn, valuesOf } from "./values.js";
import { capitalise, splitName, stem, stems } from "./words.js";

/** The material of a step. */
export interface Source {
  /** The piece of the prompt that the step is about. */
  text: string;
  /** The result that the step builds on ("save it"), and the number in it. */
  previous?: string;
  previousNumber?: number | undefined;
  /** Objects whose properties may be taken: inputs and results of tools. */
  records?: readonly Record<string, unknown>[];
}

interface Filling extends Source {
  tool: ToolSpec;
  /** Numbers that no property has used. */
  numbers: number[];
  records: readonly Record<string, unknown>[];
  /** Texts already given to a property. */
  used: Set<string>;
  depth: number;
}

/** The input for `tool`: every required property, and those optional ones that the text speaks of. */
export function fillInput(tool: ToolSpec, source: Source): Record<string, unknown> {
  const { text, previous } = source;
  if (isAgent(tool)) {
    const told = new RegExp(`\\b${spoken(tool)}\\b(?: agent)?,?(?: to)? (.+)$`, "is").exec(text)?.[1] ?? text;
    const prompt = capitalise(told.replace(/^(?:about|for)\s+/i, "look up "));
    // An agent starts with only its prompt, so the prompt must say what "it" is.
    return { prompt: previous === undefined ? prompt : `${prompt}: ${previous}` };
  }
  const value = fillValue(tool, source);
  return isObject(value) ? value : {};
}

/** A value that fits the schema of `tool`. */
export function fillValue(tool: ToolSpec, source: Source): unknown {
  const { text, previousNumber, records = [] } = source;
  const numbers = findNumbers(text);
  // "Multiply it by 4" has only the second operand.
  if (numbers.length < listOf(tool.schema["required"]).length && previousNumber !== undefined)
    numbers.unshift(previousNumber);
  const filling = { ...source, records, tool, numbers, used: new Set<string>(), depth: 0 };
  return neededValue("", resolve(tool.schema, tool.schema), filling);
}

function fillObject({ properties, required }: any, filling: Filling): Record<string, unknown> {
  const needed = listOf(required);
  const all = { ...Object.fromEntries(needed.map((name) => [name, {}])), ...properties };
  const known = Object.assign({}, ...filling.records);
  const entries = Object.entries(all).map(([name, property]) => {
    const schema = resolve(property, filling.tool.schema);
    const stated = isOf(known[name], schema) ? known[name] : statedValue(name, schema, filling);
    const value =
      schema.const ?? stated ?? (needed.includes(name) ? neededValue(name, schema, filling) : undefined);
    return [name, fit(value, schema, wordsOf(filling))];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Whether `value` is one that `schema` takes, as far as its type and its choices go. */
function isOf(value: unknown, schema: any): boolean {
  const type = typeOf(schema);
  const isType = type === "integer" ? Number.isInteger(value) : typeof value === type && value !== null;
  return isType && !isObject(value) && (!Array.isArray(schema.enum) || schema.enum.includes(value));
}

/** The value that the text itself has for a property. */
function statedValue(name: string, schema: any, { text, used }: Filling): unknown {
  if (Array.isArray(schema.enum)) return schema.enum.find((value: unknown) => mentions(String(value), text));
  const type = typeOf(schema);
  if (type === "number" || type === "integer") return counted(name, text);
  if (type === "boolean") return mentions(name, text) || undefined;
  if (type !== "string") return undefined;
  const values = [...valuesOf(kindOf(name, schema), text), ...valuesOf("quoted", text)];
  const found = values.find((value) => !used.has(value));
  if (found !== undefined) used.add(found);
  return found;
}

/** A value for a required property that the text has none for. */
function neededValue(name: string, schema: any, filling: Filling): unknown {
  const { numbers, previousNumber, depth } = filling;
  if (Array.isArray(schema.enum)) return schema.default ?? schema.enum[0];
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return numbers.shift() ?? previousNumber ?? schema.default ?? 1;
    case "null":
      return null;
    case "boolean":
      return schema.default ?? false;
    case "array":
      return fillArray(name, schema, filling);
    case "object":
      // A schema may hold itself.
      return depth < MAX_DEPTH ? fillObject(schema, { ...filling, depth: depth + 1 }) : undefined;
    default:
      return schema.default ?? neededText(kindOf(name, schema), filling);
  }
}

const MAX_DEPTH = 5;

/** A list of what the text or the records have; what is missing is made up. */
function fillArray(name: string, schema: any, filling: Filling): unknown[] {
  const { items, prefixItems, minItems = 0, maxItems = Infinity } = schema;
  const depth = filling.depth + 1;
  const make = (schema: any, records = filling.records) => {
    const resolved = resolve(schema, filling.tool.schema);
    return fit(neededValue(name, resolved, { ...filling, records, depth }), resolved, wordsOf(filling));
  };
  const item = resolve(items ?? {}, filling.tool.schema);
  const isAbout = (record: object) => Object.keys(item.properties ?? {}).some((key) => key in record);
  const records = typeOf(item) === "object" ? filling.records.filter(isAbout) : [];
  const head = listOf(prefixItems).map((schema) => make(schema));
  const made = records.map((record) => make(items, [record]));
  const said = statedItems(name, item, filling).map((value) => fit(value, item, []));
  const list = [...head, ...made, ...said].slice(0, maxItems);
  const least = Math.max(minItems, /^(?:object|string)$/.test(typeOf(item)) ? 1 : 0);
  if (depth >= MAX_DEPTH || items === false) return list;
  while (list.length < Math.min(least, maxItems)) list.push(unlike(list, make(items), item.enum));
  return list;
}

/** The members of a list that the text itself has. */
function statedItems(name: string, item: any, { text, numbers }: Filling): unknown[] {
  if (Array.isArray(item.enum)) return item.enum.filter((value: unknown) => mentions(String(value), text));
  const type = typeOf(item);
  if (type === "number" || type === "integer") return numbers.splice(0);
  const singular = name.replace(/ies$/i, "y").replace(/s$/i, "");
  return type === "string" ? valuesOf(kindOf(singular, item), text) : [];
}

/** `value`, or one like it that `list` does not have. */
function unlike(list: readonly unknown[], value: unknown, choices: unknown): unknown {
  if (!list.includes(value)) return value;
  if (Array.isArray(choices)) return choices.find((choice) => !list.includes(choice)) ?? value;
  if (typeof value === "number") return value + list.length;
  return typeof value === "string" ? `${value} ${list.length + 1}` : value;
}

const wordsOf = ({ text }: Filling) => text.split(/[\s,;]+/);

function neededText(kind: string, filling: Filling): string {
  const { text, previous, previousNumber } = filling;
  if (kind === "zone") return "UTC";
  const operator = operatorIn(text);
  if (kind === "expression" && operator && previousNumber !== undefined)
    return `${previousNumber} ${operator} ${findNumbers(text)[0] ?? previousNumber}`;
  const about = kind === "query" ? /\b(?:for|about)\s+(.+)/i.exec(text)?.[1] : undefined;
  return about?.replace(/[?.!]+$/, "") ?? (kind === "text" ? previous : undefined) ?? remainder(filling);
}

/** The text after a colon, or the text without the words at its ends that only name the tool. */
function remainder({ text, tool }: Filling): string {
  const behind = /:\s+(\S.*)$/s.exec(text)?.[1];
  const known = stems(`${tool.name} ${tool.description}`);
  const isMeant = (word: string) => stems(word).some((part) => known.includes(part));
  const words = text.replace(/[\s?.!,;]+$/, "").split(" ");
  const isLead = words.map((word) => stems(word).length === 0 || isMeant(word));
  const from = isLead.indexOf(false);
  const to = isLead.lastIndexOf(false) + 1;
  if (behind !== undefined || from < 0) return behind ?? text;
  const start = /^(?:the|an?|my|your)$/i.test(words[from - 1] ?? "") ? from - 1 : from;
  return words.slice(start, words.slice(to).some(isMeant) ? to : undefined).join(" ");
}

/** The number next to the property's name or a unit: `2 passengers`, `top 3`. */
function counted(name: string, text: string): number | undefined {
  const unit = stem(splitName(name).split(" ").at(-1) ?? name);
  const amounts = [...text.matchAll(/(-?\d+(?:\.\d+)?)[\s-]?([\p{L}]+)/gu)];
  const top = /limit|count|max|top/i.test(name) ? /\b(?:top|first|last)\s+(\d+)/i.exec(text) : null;
  const found = amounts.find(([, , word = ""]) => stem(word) === unit) ?? top;
  return found ? Number(found[1]) : undefined;
}

/** Whether `text` has all the words of `name`; an ending such as ".md" may be missing. */
function mentions(name: string, text: string): boolean {
  const split = (value: string) => (splitName(value).match(/[\p{L}\p{N}]+/gu) ?? []).map(stem);
  const wanted = split(name.replace(/\.\w{2,4}$/, ""));
  return wanted.length > 0 && wanted.every((word) => split(text).includes(word));
}

/** Follows a `$ref` within the schema, joins what all have to fit, and takes the first of a choice that is not null. */
function resolve(schema: any, root: any, depth = 0): any {
  if (depth > MAX_DEPTH) return Object(schema);
  const path = /^#\/(.+)/.exec(schema?.$ref ?? "")?.[1]?.split("/");
  const choice = listOf(schema?.anyOf ?? schema?.oneOf).find((option) => option?.type !== "null");
  const parts = [path?.reduce((value, key) => value?.[key], root), choice, ...listOf(schema?.allOf)];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => resolve(part, root, depth + 1))
    .reduce((all, part) => {
      const properties = { ...all.properties, ...part.properties };
      const required = [...listOf(all.required), ...listOf(part.required)];
      return { ...all, ...part, ...(all.properties || part.properties ? { properties, required } : {}) };
    }, Object(schema));
}

function typeOf({ type, properties }: any): string {
  const [first] = [type].flat().filter((one) => one !== "null");
  return first ?? (type === "null" ? type : properties ? "object" : "string");
}
