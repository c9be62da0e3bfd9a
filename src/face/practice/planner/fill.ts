/**
 * Fills the arguments of a tool from a piece of the prompt, after the tool's JSON Schema: by enum values that are
 * mentioned, by values of the kind that a property asks for, and by type.
 */
import type { ToolSpec } from "../conversation.js";
import { listOf } from "../json.js";
import { isAgent, propertiesOf, spoken } from "./match.js";
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
  const wanted = Object.values(propertiesOf(tool)).filter(({ type }) => /number|integer/.test(type));
  // "Multiply it by 4" has only the second operand.
  if (
    numbers.length < listOf(tool.schema["required"]).length &&
    wanted.length > 1 &&
    previousNumber !== undefined
  )
    numbers.unshift(previousNumber);
  return fillObject(tool.schema, { ...source, tool, numbers, used: new Set(), depth: 0 });
}

interface Filling extends Source {
  tool: ToolSpec;
  /** Numbers not yet given to a property. */
  numbers: number[];
  /** Texts already given to a property. */
  used: Set<string>;
  depth: number;
}

function fillObject(schema: any, filling: Filling): Record<string, unknown> {
  const entries = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const isRequired = listOf(schema.required).includes(name);
    return [name, fillProperty(name, resolve(property, filling.tool.schema), isRequired, filling)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function fillProperty(name: string, schema: any, isRequired: boolean, filling: Filling): unknown {
  const { text, numbers, previousNumber } = filling;
  const otherwise = isRequired ? schema.default : undefined;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) {
    const found = schema.enum.find((value: unknown) => mentions(String(value), text));
    return found ?? otherwise ?? (isRequired ? schema.enum[0] : undefined);
  }
  switch (typeOf(schema)) {
    case "number":
    case "integer": {
      const next = isRequired ? (numbers.shift() ?? previousNumber ?? otherwise ?? 1) : undefined;
      const value = counted(name, text) ?? next;
      return value && Math.min(Math.max(value, schema.minimum ?? value), schema.maximum ?? value);
    }
    case "boolean":
      return mentions(name, text) || (isRequired ? (otherwise ?? false) : undefined);
    case "array":
      if (!isRequired) return undefined;
      if (/number|integer/.test(typeOf(schema.items ?? {}))) return numbers.splice(0);
      return /object|array/.test(typeOf(schema.items ?? {})) ? [] : [remainder(filling)];
    case "object":
      // A schema may hold itself.
      if (!isRequired || filling.depth >= 4) return undefined;
      return fillObject(schema, { ...filling, depth: filling.depth + 1 });
    default: {
      const value = textFor(kindOf(name, schema), isRequired, filling) ?? otherwise;
      if (value !== undefined) filling.used.add(value);
      return value ?? (isRequired ? text : undefined);
    }
  }
}

function textFor(kind: string, isRequired: boolean, filling: Filling): string | undefined {
  const { text, used, previous, previousNumber } = filling;
  const found = [...valuesOf(kind, text), ...valuesOf("quoted", text)].find((value) => !used.has(value));
  if (found !== undefined || !isRequired) return found;
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
  const isLimit = /^(?:limit|count|max|top|n|num|number)/i.test(name);
  const top = isLimit ? /\b(?:top|first|last)\s+(\d+)/i.exec(text) : null;
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
