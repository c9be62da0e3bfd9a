/**
 * Kinds of text arguments: what a string property is about, told by its name, format and description, and how a value of
 * that kind is found in a sentence.
 */
import { findArithmetic, showNumber } from "./arithmetic.js";
import { findQuoted } from "./clauses.js";
import type { Source } from "./fill.js";
import { findPlaces, findZones } from "./places.js";
import { splitName } from "./words.js";

/** What a text property asks for; `"any"` when nothing tells. */
export type Kind =
  | "expression" | "zone" | "place" | "query" | "url" | "path" | "email" | "date" | "time" | "id" | "language" | "currency" | "name" | "text" | "any"; // prettier-ignore

const BY_NAME: readonly [Kind, RegExp][] = [
  ["expression", /\b(?:expression|expr|formula|calculation|equation)\b/],
  ["zone", /\b(?:time ?zone|tz|zone)\b/],
  ["url", /\b(?:url|uri|link|href|website)\b/],
  ["path", /\b(?:path|file|filename|file name|document|doc|page)\b/],
  ["email", /\b(?:email|e mail)\b/],
  ["place", /\b(?:city|location|place|town|destination|origin|country|address|region|where)\b/],
  ["query", /\b(?:query|search|q|keywords?|term|terms|topic|question)\b/],
  ["date", /\b(?:date|day|when)\b/],
  ["time", /\b(?:time|hour|at)\b/],
  ["language", /\b(?:language|lang|locale)\b/],
  ["currency", /\bcurrenc(?:y|ies)\b/],
  ["id", /\b(?:id|identifier|key|code|number|symbol|ticker)\b/],
  [
    "text",
    /\b(?:text|content|note|message|body|prompt|description|todo|task|item|summary|memo|comment|value)\b/,
  ],
  ["name", /\b(?:name|title|to|recipient|person|subject|label|author)\b/],
];

const BY_FORMAT: Record<string, Kind> = {
  uri: "url",
  email: "email",
  date: "date",
  "date-time": "date",
  time: "time",
};

/** The kind of the property `name` with this schema. */
export function kindOf(name: string, schema: { format?: string; description?: string }): Kind {
  const byFormat = schema.format === undefined ? undefined : BY_FORMAT[schema.format];
  if (byFormat) return byFormat;
  const find = (text: string) => BY_NAME.find(([, pattern]) => pattern.test(text))?.[0];
  const description = (schema.description ?? "").toLowerCase();
  // "to" may be a person, a city or a currency: there the description knows better.
  const isVague = /^(?:to|from|at|value|number|key)$/.test(name);
  return (isVague ? find(description) : undefined) ?? find(splitName(name)) ?? find(description) ?? "any";
}

/** Values of `kind` in the source, the likeliest first; empty when there is none. */
export function extract(kind: Kind, name: string, source: Source): string[] {
  const { text } = source;
  switch (kind) {
    case "expression":
      return expressions(source);
    case "zone":
      return findZones(text);
    case "place":
      return places(name, text);
    case "query":
      return [queryOf(source)];
    case "url":
      return [...text.matchAll(/\bhttps?:\/\/[^\s"'<>)]+[^\s"'<>).,?!]/g)].map(([url]) => url);
    case "path":
      return paths(text);
    case "email":
      return [...text.matchAll(/[\w.+-]+@[\w-]+\.[\w.-]*\w/g)].map(([email]) => email);
    case "date":
      return matches(
        text,
        /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b|\b(?:today|tomorrow|yesterday|(?:next |on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi,
      );
    case "time":
      return matches(text, /\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?(?:am|pm)\b|\bnoon\b|\bmidnight\b/gi);
    case "language":
      return matches(
        text,
        /(?<=\b(?:in|into|to)\s)(?:English|French|German|Spanish|Italian|Portuguese|Dutch|Polish|Japanese|Chinese|Korean|Russian|Arabic|Hindi|Turkish|Swedish|Greek|Latin)\b/gi,
      );
    case "currency":
      return currencies(name, text);
    case "id":
      return ids(text);
    case "name":
      return names(text);
    case "text":
      return [textOf(source)];
    default:
      return findQuoted(text);
  }
}

function expressions({ text, previousNumber }: Source): string[] {
  const found = findArithmetic(text).map(({ expression }) => expression);
  if (found.length > 0) return found;
  const chained =
    /\b(?:(plus|add)|(minus|subtract)|(times|multiply)|(divide[d]?|over))\b\D*?(-?\d+(?:\.\d+)?)/i.exec(text);
  if (!chained || previousNumber === undefined) return findQuoted(text);
  const operator = chained[1] ? "+" : chained[2] ? "-" : chained[3] ? "*" : "/";
  return [`${showNumber(previousNumber)} ${operator} ${chained[5]}`];
}

function places(name: string, text: string): string[] {
  const found = findPlaces(text);
  const route = /\bfrom\s+(.+?)\s+to\s+(.+)$/i.exec(text);
  if (route) {
    if (/from|origin|source|start|depart/i.test(name)) return [...findPlaces(`in ${route[1]}`), ...found];
    if (/\bto\b|dest|target|end|arriv/i.test(splitName(name)))
      return [...findPlaces(`in ${route[2]}`), ...found];
  }
  return found.length > 0 ? found : findQuoted(text);
}

const QUERY_LEAD =
  /^.*?\b(?:search(?:ing)?(?: the (?:web|internet|docs?|documents?|library))?(?: for| about| on)?|look(?:ing)? (?:up|for)|google|find(?: me| out)?(?: about| information (?:on|about)| (?:the )?(?:top \d+ )?articles? (?:on|about))?|information (?:on|about))\s+/i;
const QUESTION_LEAD =
  /^(?:please\s+)?(?:can|could|would) you\s+|^(?:please|tell me|do you know|i want to know|i need)\s+(?:about\s+)?|^(?:what|who|where|when|why|how)(?:'s|\s+(?:is|are|was|were|do|does|did))?\s+(?:the\s+)?/i;

function queryOf({ text }: Source): string {
  const [quoted] = findQuoted(text);
  if (quoted !== undefined) return quoted;
  const bare = QUERY_LEAD.test(text) ? text.replace(QUERY_LEAD, "") : text.replace(QUESTION_LEAD, "");
  return clean(bare.replace(/\s+(?:on|in) the (?:web|internet)\b.*$/i, "").replace(/\s*,?\s+please\b/i, ""));
}

const TEXT_LEAD =
  /^.*?\b(?:(?:add|save|create|make|write|take|leave|store|put)\s+(?:me\s+)?(?:(?:a|an|the|this|new|another|quick)\s+)*(?:note|memo|todo|to-do|reminder|task|item|message)s?(?:\s+(?:down|called|titled|saying|that says|that|to|for|about|of|with(?: the)? text))?|note\s+(?:down|that|to)|remember(?:\s+(?:that|to))?|remind me(?:\s+(?:that|to))?|write(?:\s+down)?(?:\s+that)?|jot(?:\s+down)?|save|store|add|append|send|say|tell (?:him|her|them))\b\s*:?\s*/i;
const BACK_REFERENCE = /^(?:it|this|that|them|the (?:results?|answers?|outcome|findings|weather|time))\b/i;

function textOf({ text, previous }: Source): string {
  const [quoted] = findQuoted(text);
  if (quoted !== undefined) return quoted;
  const afterColon = /:\s+(\S.*)$/s.exec(text)?.[1];
  const bare = clean(afterColon ?? text.replace(TEXT_LEAD, ""));
  const stripped = bare.replace(
    /\s+(?:(?:as|to|in|into)\s+)(?:a |an |my |the )?(?:new )?(?:notes?|memo|todo list|list|reminder)s?$/i,
    "",
  );
  const isReference =
    BACK_REFERENCE.test(stripped) || stripped === "" || /^(?:a |my )?notes?$/i.test(stripped);
  return isReference && previous !== undefined ? previous : stripped || clean(text);
}

function paths(text: string): string[] {
  const found = matches(
    text,
    /(?:[\w.~-]*\/)*[\w-]+\.(?:md|mdx|txt|json|csv|html?|pdf|ya?ml|toml|ts|js|rs|py|log|xml)\b/gi,
  );
  if (found.length > 0) return found;
  if (/\breadme\b/i.test(text)) return ["README.md"];
  const named =
    /\b(?:document|file|page|doc)\s+(?:called\s+|named\s+)?([\w/-]+)|\b([\w-]+)\s+(?:document|file|page|doc)\b/i.exec(
      text,
    );
  const name = named?.[1] ?? named?.[2];
  const isName =
    name !== undefined &&
    !/^(?:the|a|an|this|that|my|your|local|about|and|says?|for|what|in|is)$/i.test(name);
  return [...findQuoted(text), ...(isName ? [name] : [])];
}

function currencies(name: string, text: string): string[] {
  const codes = matches(
    text,
    /\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|INR|SEK|NOK|DKK|PLN|CZK|BRL|MXN|NZD|SGD|HKD|KRW|ZAR)\b/g,
  );
  return /\bto\b|target|dest|quote/i.test(splitName(name)) ? codes.slice(1) : codes;
}

function ids(text: string): string[] {
  const found = matches(
    text,
    /\b[A-Z]{2,}-\d+\b|(?<=#)\w+|(?<=\b(?:id|number|no\.|order|ticket|issue|note)\s+#?)\d[\w-]*/gi,
  );
  return found.length > 0 ? found : [...findQuoted(text), ...matches(text, /\b\d+\b/g)];
}

function names(text: string): string[] {
  const found = matches(
    text,
    /(?<=\b(?:called|named|titled|title|to|for|with|by)\s)\p{Lu}[\p{L}'-]*(?:\s\p{Lu}[\p{L}'-]*)*/gu,
  );
  return [...findQuoted(text), ...found];
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match.trim());
}

function clean(text: string): string {
  return text.trim().replace(/[\s?.!,;:]+$/, "");
}
