/** Fills the arguments of a tool from a piece of the prompt, after the tool's JSON Schema. */
import type { ToolSpec } from "../conversation.js";
import { listOf } from "../json.js";
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
}

interface Filling extends Source {
  tool: ToolSpec;
  /** Numbers not yet given to a property. */
  numbers: number[];
  /** Texts already given to a property. */
  used: Set<string>;
  depth: number;
}

/** The input for `tool`: every required property, and those optional ones that the text speaks of. */
export function fillInput(tool: ToolSpec, source: Source): Record<string, unknown> {
  const { text, previous, previousNumber } = source;
  if (isAgent(tool)) {
    const told = new RegExp(`\\b${spoken(tool)}\\b(?: agent)?,?(?: to)? (.+)$`, "is").exec(text)?.[1] ?? text;
    const prompt = capitalise(told.replace(/^(?:about|for)\s+/i, "look up "));
    // An agent begins with nothing but its prompt: what "it" is, it must be told.
    return { prompt: previous === undefined ? prompt : `${prompt}: ${previous}` };
  }
  const numbers = findNumbers(text);
  // "Multiply it by 4" has only the second operand.
  if (numbers.length < listOf(tool.schema["required"]).length && previousNumber !== undefined)
    numbers.unshift(previousNumber);
  return fillObject(tool.schema, { ...source, tool, numbers, used: new Set(), depth: 0 });
}

function fillObject({ properties = {}, required }: any, filling: Filling): Record<string, unknown> {
  const entries = Object.entries(properties).map(([name, property]) => {
    const schema = resolve(property, filling.tool.schema);
    const isRequired = listOf(required).includes(name);
    const value = schema.const ?? statedValue(name, schema, filling);
    return [name, value ?? (isRequired ? neededValue(name, schema, filling) : undefined)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
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
      return Math.max(numbers.shift() ?? previousNumber ?? schema.default ?? 1, schema.minimum ?? -Infinity);
    case "boolean":
      return schema.default ?? false;
    case "array": {
      const type = typeOf(schema.items ?? {});
      if (type === "number" || type === "integer") return numbers.splice(0);
      return type === "string" ? [remainder(filling)] : [];
    }
    case "object":
      // A schema may hold itself.
      return depth < 4 ? fillObject(schema, { ...filling, depth: depth + 1 }) : undefined;
    default:
      return schema.default ?? neededText(kindOf(name, schema), filling);
  }
}

function neededText(kind: string, filling: Filling): string {
  const { text, previous, previousNumber } = filling;
  if (kind === "zone") return "UTC";
  const operator = operatorIn(text);
  if (kind === "expression" && operator && previousNumber !== undefined)
    return `${previousNumber} ${operator} ${findNumbers(text)[0] ?? previousNumber}`;
  const about = kind === "query" ? /\b(?:for|about)\s+(.+)/i.exec(text)?.[1] : undefined;
  return about?.replace(/[?.!]+$/, "") ?? (kind === "text" ? previous : undefined) ?? remainder(filling);
}

/** The text behind a colon, else the text without the words at its ends that only say which tool is meant. */
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

/** The number that stands by the property's name or by a word for an amount: `2 passengers`, `top 3`. */
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

/** Follows a `$ref` within the schema, or takes the first member of a union that is not null. */
function resolve(schema: any, root: any): any {
  const path = /^#\/(.+)/.exec(schema?.$ref ?? "")?.[1]?.split("/");
  const union = listOf(schema?.anyOf ?? schema?.oneOf).find((option) => option?.type !== "null");
  return { ...schema, ...(path ? path.reduce((value, key) => value?.[key], root) : union) };
}

function typeOf({ type, properties }: any): string {
  const [first] = [type].flat().filter((one) => one !== "null");
  return first ?? (properties ? "object" : "string");
}
