/** Writes the final answer out of tool results, in Markdown. */
import { isObject, parseJson } from "../json.js";
import { readError } from "./correct.js";
import { isAgent } from "./delegate.js";
import { flatten, isShort, nounOf, showResult } from "./show.js";
import type { Step } from "./steps.js";
import { capitalise, shorten, splitName, stems } from "./words.js";

/** The answer to finished `steps`; `unmatched` are pieces of the prompt that no tool was for. */
export function writeAnswer(steps: readonly Step[], unmatched: readonly string[]): string {
  const parts = steps.filter(({ result }) => result !== undefined).map(writeStep);
  const waiting = steps.filter(({ state }) => state === "waiting");
  for (const { tool } of waiting)
    parts.push(`I did not call \`${tool.name}\`, because what it needed is missing.`);
  const rest = unmatched.filter((text) => stems(text).size >= 3);
  const body = parts.length > 1 ? parts.map((part) => part.trim()).join("\n\n") : (parts[0] ?? "");
  const closing = rest.map((text) => `I have no tool for this part: “${shorten(text, 120)}”.`).join("\n\n");
  return [body, closing].filter((text) => text !== "").join("\n\n");
}

function writeStep(step: Step): string {
  const { result } = step;
  if (!result) return "";
  return result.isError ? writeFailure(step, result.text) : writeSuccess(step, result.text);
}

function writeFailure({ tool, input, isRetry }: Step, text: string): string {
  const { code, message, hint } = readError(text);
  const tries = isRetry ? " I tried twice, the second time with corrected arguments." : "";
  const advice = hint === undefined ? "" : ` Its hint: ${hint.replace(/[.!]?$/, ".")}`;
  const what = Object.keys(input).length > 0 ? ` with \`${shorten(JSON.stringify(input), 160)}\`` : "";
  if (code === "denied") return `I did not run \`${tool.name}\`${what}: ${shorten(message, 300)}`;
  return `The tool \`${tool.name}\` failed${what}: ${shorten(message, 300).replace(/[.!]?$/, ".")}${advice}${tries}`;
}

function writeSuccess(step: Step, text: string): string {
  const { tool, input } = step;
  const name = splitName(tool.name);
  if (isAgent(tool)) return `**${capitalise(name)}:**\n\n${bare(text).replace(/^/gm, "> ")}`;
  const expression = sumOf(input, name);
  if (expression !== undefined && (isShort(text) || isSingle(text)))
    return `**${expression} = ${bare(text)}**`;
  const subject = subjectOf(step);
  const isWriting = /\b(?:add|save|create|remember|store|write|append|send|set)\b/.test(name);
  if (isWriting) return writeSaved(subject, text);
  if (/\b(?:time|now|clock|date)\b/.test(name) && isShort(text)) {
    const place = subject.split("/").at(-1)?.replace(/_/g, " ") ?? "";
    return `It is **${bare(text)}**${place === "" || bare(text).includes(subject) ? "" : ` in ${place}`}.`;
  }
  const passage = passageOf(step, text);
  const title = `${capitalise(nounOf(tool.name))}${subject === "" ? "" : `, **${shorten(subject, 80)}**`}`;
  if (passage !== undefined)
    return `From ${subject === "" ? `\`${tool.name}\`` : `\`${subject}\``}:\n\n${passage}`;
  if (isShort(text) || isSingle(text)) return `${title}: ${showResult(isSingle(text) ? bare(text) : text)}`;
  return `${title}:\n\n${showResult(text)}`;
}

function writeSaved(subject: string, text: string): string {
  const answer =
    isShort(text) && bare(text) !== "" && !/^(?:ok|true|null|saved|done|undefined)\.?$/i.test(bare(text))
      ? ` (${bare(text)})`
      : "";
  return subject === "" ? `Done${answer}.` : `Saved: “${shorten(subject, 200)}”${answer}.`;
}

const SYMBOLS: readonly [RegExp, string][] = [
  [/\b(?:add|sum|plus)\b/, "+"],
  [/\b(?:subtract|minus)\b/, "-"],
  [/\b(?:multiply|times|product|mul)\b/, "×"],
  [/\b(?:divide|div)\b/, "÷"],
  [/\b(?:power|pow)\b/, "^"],
];

/** `12 * 7` of a calculator, or of `multiply({a: 12, b: 7})`. */
function sumOf(input: Record<string, unknown>, name: string): string | undefined {
  const values = Object.values(input);
  const [first, second] = values;
  if (
    values.length === 1 &&
    typeof first === "string" &&
    /\d/.test(first) &&
    /^[\d\s+\-*/^%().sqrt]+$/.test(first)
  )
    return first;
  const symbol = SYMBOLS.find(([pattern]) => pattern.test(name))?.[1];
  const arePair = values.length === 2 && typeof first === "number" && typeof second === "number";
  return arePair && symbol !== undefined ? `${first} ${symbol} ${second}` : undefined;
}

// Units and modes (properties with an enum) say how, not what.
function subjectOf({ tool, input }: Step): string {
  return Object.entries(input)
    .filter(
      ([name, value]) =>
        typeof value === "string" && value !== "" && !tool.schema["properties"]?.[name]?.enum,
    )
    .map(([, value]) => String(value))
    .join(", ");
}

function isSingle(text: string): boolean {
  const value = parseJson(text);
  return (
    isObject(value) &&
    Object.keys(value).length === 1 &&
    !Object.values(value).some((member) => typeof member === "object")
  );
}

function bare(text: string): string {
  const value = parseJson(text);
  if (isSingle(text) && isObject(value)) return String(Object.values(value)[0]);
  return typeof value === "string" ? value : text.trim();
}

const LONG_TEXT = 400;
const MAX_READ = 100_000;
const MAX_SENTENCES = 4;

/** The sentences of a long text that share most with the question, in their own order. */
function passageOf({ text: question, input }: Step, text: string): string | undefined {
  const parsed = parseJson(text);
  const content =
    typeof parsed === "string"
      ? parsed
      : parsed === undefined
        ? text
        : isObject(parsed)
          ? longest(parsed)
          : undefined;
  if (content === undefined || content.length < LONG_TEXT) return undefined;
  const inputWords = stems(Object.values(input).join(" "));
  const wanted = [...stems(question)].filter((word) => !inputWords.has(word));
  const sentences = content
    .slice(0, MAX_READ)
    .replace(/^#+\s+.*$/gm, "")
    .split(/(?<=[.!?])\s+|\n{2,}/)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence.length > 20);
  const scored = [...new Set(sentences)].map((sentence, at) => {
    const words = stems(sentence);
    return { sentence, at, score: wanted.filter((word) => words.has(word)).length };
  });
  const best = scored.sort((a, b) => b.score - a.score || a.at - b.at).slice(0, MAX_SENTENCES);
  return best
    .sort((a, b) => a.at - b.at)
    .map(({ sentence }) => `> ${shorten(sentence, 300)}`)
    .join("\n>\n");
}

function longest(value: Record<string, unknown>): string | undefined {
  return Object.values(value)
    .filter((member): member is string => typeof member === "string")
    .sort((a, b) => b.length - a.length)[0];
}

/** A line that says what is about to be looked up. */
export function writePreface(steps: readonly Step[]): string {
  const names = [...new Set(steps.map(({ tool }) => `\`${tool.name}\``))];
  if (steps.some(({ isRetry }) => isRetry))
    return `That failed, but the error says what to change. I try ${names.join(" and ")} once more.`;
  return names.length === 1
    ? `I use ${names[0]} for that.`
    : `I use ${names.slice(0, -1).join(", ")} and ${names.at(-1)} for that.`;
}

/** One plain line per result, for the reasoning text. */
export function noteResults(steps: readonly Step[]): string {
  return steps
    .flatMap(({ tool, input, result }) => (result ? [flatten(tool.name, input, result.text)] : []))
    .join("\n");
}
