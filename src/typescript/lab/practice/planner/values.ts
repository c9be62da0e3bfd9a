/** Values in sentences: arithmetic, numbers, places, time zones, addresses. Nothing is computed: that is for a calculator tool. */
import { splitName } from "./words.js";

/** The kind of value that a text property expects, by its format, its name and its description. Default `"text"`. */
export function kindOf(name: string, { format, description = "" }: any): string {
  const find = (text: string) => KINDS.find(([, about]) => about.test(text.toLowerCase()))?.[0];
  return find(`${format ?? ""}`) ?? find(splitName(name)) ?? find(description) ?? "text";
}

const KINDS: readonly [kind: string, about: RegExp][] = [
  ["expression", /\b(?:expression|formula|calculation|equation)\b/],
  ["zone", /\b(?:time ?zone|tz|zone)\b/],
  ["url", /\b(?:url|uri|link|website)\b/],
  ["path", /\b(?:path|file|filename|document|page)\b/],
  ["place", /\b(?:city|location|place|town|destination|country|address|region)\b/],
  ["query", /\b(?:query|search|q|keywords?|topic|question)\b/],
];

const PATTERNS: Record<string, RegExp> = {
  url: /\bhttps?:\/\/[^\s"'<>)]*[^\s"'<>).,?!]/g,
  path: /(?:[\w.~-]*\/)*[\w-]+\.[a-z]{2,5}\b/gi,
  quoted: /(?<=")[^"\n]+(?=")|(?<=“)[^”\n]+(?=”)/g,
};

/** Values of `kind` in `text`, in order. Empty for a kind without a recognizable form. */
export function valuesOf(kind: string, text: string): string[] {
  if (kind === "expression") return findArithmetic(text);
  if (kind === "place") return placesIn(text);
  if (kind === "zone") return zonesIn(text);
  const pattern = PATTERNS[kind];
  return pattern ? [...text.matchAll(pattern)].map(([value]) => value) : [];
}

const said = (words: string, symbol: string): [RegExp, string] => [
  new RegExp(`(?<=[\\d)]\\s*)(?:${words})(?=\\s*-?[\\d(.])`, "gi"),
  symbol,
];
const SAID: readonly [RegExp, string][] = [
  [/\b\d{4}-\d{2}-\d{2}\S*|\b\d{1,2}:\d{2}\b/g, "_"],
  [/(\d),(?=\d{3}\b)/g, "$1"],
  said("(?:%|\\s*percent) of(?: the)?", " / 100 *"),
  said("\\bmultiplied by\\b|\\btimes\\b|\\bx\\b|×|·", "*"),
  said("\\bdivided by\\b|\\bover\\b|÷", "/"),
  said("\\bplus\\b", "+"),
  said("\\bminus\\b|−|–", "-"),
];
const SPAN = /(?<![\w$€£/:#.-])-?(?:sqrt ?)?[(\d.](?:[\d\s.()+*/%^-]|sqrt)*[\d)](?![\w%:/])/g;

/** All expressions in `text`, in order, in plain infix notation with blanks around the operators. Lone numbers are not. */
export function findArithmetic(text: string): string[] {
  const source = SAID.reduce((rest, [pattern, symbol]) => rest.replace(pattern, symbol), text);
  return [...source.matchAll(SPAN)].flatMap(([span]) => {
    const isOpen = span.split("(").length < span.split(")").length;
    const closed = span.slice(0, isOpen ? -1 : undefined).trim();
    const expression = closed.replace(/\s*([+*/%^])\s*/g, " $1 ");
    const isSum = /[\d)]\s*[-+*/%^]\s*-?(?:[\d(.]|sqrt)|sqrt/.test(expression) && !/\d\s+\d/.test(expression);
    const isBalanced = expression.split("(").length === expression.split(")").length;
    return isSum && isBalanced ? [expression.replace(/(?<=[\d)])\s*-\s*/g, " - ").replace(/\s+/g, " ")] : [];
  });
}

/** Numbers in `text`, in order; those of dates and times are left out. */
export function findNumbers(text: string): number[] {
  const source = SAID.slice(0, 2).reduce((rest, [pattern, symbol]) => rest.replace(pattern, symbol), text);
  return [...source.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?(?!\w)/g)].map(([number]) => Number(number));
}

const OPERATORS: readonly [string, RegExp][] = [
  ["+", /\b(?:add|adds|sum|plus)\b/i],
  ["-", /\b(?:subtract\w*|minus|difference)\b/i],
  ["*", /\b(?:multipl\w*|product|times)\b/i],
  ["/", /\b(?:divid\w*|quotient|over)\b/i],
];

/** The operator that `text` names. */
export const operatorIn = (text: string) => OPERATORS.find(([, pattern]) => pattern.test(text))?.[0];

/** IANA zones by their cities: "new york" is in America/New_York. */
const CITIES = new Map(
  Intl.supportedValuesOf("timeZone").map((zone) => [cityOf(zone).toLowerCase(), zone] as const),
);
// Islands and stations are omitted: "easter" and "wake" are ordinary words.
const KNOWN = [...CITIES.values()]
  .filter((zone) => /^(?:Africa|America|Asia|Australia|Europe)\/[A-Za-z_]{4,}$/.test(zone))
  .flatMap((zone) => [cityOf(zone), cityOf(zone).toLowerCase()]);
const CITY = `(?<![\\p{L}\\p{N}])(?:${KNOWN.join("|")})(?![\\p{L}\\p{N}])`;
const WORD = "\\p{Lu}[\\p{L}'’-]*";
const NAMED = `(?<=\\b(?:in|at|for|near|to|from|of|and)\\s+)${WORD}(?: (?:de|la|${WORD}))*`;
const PLACE = new RegExp(`${CITY}|${NAMED}`, "gu");
const NO_PLACE = /^(?:I|UTC|GMT|Celsius|Fahrenheit|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b/;

/** Places in `text`, in order: cities of the time zones, also in lower case, and capitalised words behind "in" and the like. */
function placesIn(text: string): string[] {
  const names = [...text.matchAll(PLACE)].map(([name]) => name).filter((name) => !NO_PLACE.test(name));
  return [...new Set(names.map(properName))];
}

function zonesIn(text: string): string[] {
  const written = [...text.matchAll(/\b[A-Z][a-z]+\/\w+(?:\/\w+)?\b|\bUTC\b|\bGMT\b/g)].map(([zone]) => zone);
  return [...written, ...placesIn(text).flatMap((place) => CITIES.get(place.toLowerCase()) ?? [])];
}

function cityOf(zone: string): string {
  return (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");
}

// "paris" is Paris, but a name that was typed with its own capitals stays.
const properName = (typed: string) =>
  typed === typed.toLowerCase() ? typed.replace(/(?<!\p{L})\p{L}/gu, (one) => one.toUpperCase()) : typed;
