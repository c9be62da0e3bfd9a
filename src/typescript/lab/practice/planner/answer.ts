/** Writes tool results as Markdown, and as one plain line. */
import { isObject, parseJson } from "../json.js";
import { isAgent } from "./match.js";
import type { Step } from "./steps.js";
import { capitalise, isDeed, shorten, splitName, stem, stems } from "./words.js";

const MAX_ROWS = 12;

/** The answer to finished `steps`; `unmatched` are pieces of the prompt that no tool was for. */
export function writeAnswer(steps: readonly Step[], unmatched: readonly string[]): string {
  const lost = unmatched.filter((text) => stems(text).length >= 2);
  const regrets = lost.map((text) => `I have no tool for this part: “${shorten(text, 120)}”.`);
  return [...steps.map(writeStep), ...regrets].join("\n\n");
}

function writeStep({ tool, input, result }: Step): string {
  if (!result) return `I did not call \`${tool.name}\`, because what it needed is missing.`;
  const value = bareOf(newsIn(parseJson(result.text) ?? result.text.trim(), input));
  const subject = subjectOf(input);
  const title = titleOf(tool.name);
  if (result.isError) return writeFailure(tool.name, input, result.text);
  if (isAgent(tool)) return `**${title}:**\n\n${quote(String(value))}`;
  if (isSum(subject) && typeof value !== "object") return `**${subject} = ${value}**`;
  if (stems(tool.name).includes(stem("add")) && subject !== "") return `Saved: “${shorten(subject, 200)}”.`;
  const shown = show(value);
  const joint = /^\S+\.\w+$/.test(subject) ? " " : " for ";
  const head = subject === "" ? title : `${title}${joint}**${shorten(subject, 80)}**`;
  return `${head}:${/^(?:\*\*|_)/.test(shown) ? " " : "\n\n"}${shown}`;
}

/** `value` without the properties that only repeat the input. */
function newsIn(value: unknown, input: Step["input"]): unknown {
  if (!isObject(value)) return value;
  const news = Object.entries(value).filter(([key, one]) => input[key] !== one);
  return news.length > 0 ? Object.fromEntries(news) : value;
}

/** A failure in looplet's words (`{ error, code, message, hint }`), or as plain text. */
function writeFailure(name: string, input: Step["input"], text: string): string {
  const value = parseJson(text);
  const { code, message = text, hint } = isObject(value?.error) ? value.error : Object(value);
  // Hints about calls that were never made are for the model only.
  const isUnmade = /^(?:denied|cancelled|not_run)$/.test(code);
  const told = [String(message).replace(/^(?:Error:\s*)+/i, ""), isUnmade ? undefined : hint];
  const words = told.filter((one) => typeof one === "string");
  const given = Object.keys(input).length > 0 ? ` with \`${shorten(JSON.stringify(input), 160)}\`` : "";
  const lead = code === "denied" ? `I did not run \`${name}\`` : `The tool \`${name}\` failed`;
  return `${lead}${given}: ${words.map((one) => shorten(one, 300).replace(/(?<![.!?])$/, ".")).join(" ")}`;
}

/** A result as one line, led by its subject: "Weather, Paris: temperature 18, sky cloudy". */
export function flatten({ tool, input, result }: Step): string {
  const subject = subjectOf(input);
  const lead = isSum(subject) ? `${subject} =` : `${titleOf(tool.name)}${subject && `, ${subject}`}:`;
  return shorten(`${lead} ${flat(parseJson(result?.text ?? "") ?? result?.text)}`, 300);
}

/** The noun in a tool's name: `get_weather` is "Weather", `notes_add` is "Notes". */
function titleOf(toolName: string): string {
  const words = splitName(toolName).split(" ");
  const isVerb = (word: string) => isDeed(stem(word)) || /^(?:get|fetch|read|run|call|slow)$/.test(word);
  return capitalise(words.filter((word) => !isVerb(word)).join(" ") || words.join(" "));
}

/** The texts of an input, or its numbers if it has nothing else. */
function subjectOf(input: Record<string, unknown>): string {
  const values = Object.values(input);
  const isNumeric = values.every((one) => typeof one === "number");
  return values.filter((value) => isNumeric || typeof value === "string").join(", ");
}

const isSum = (subject: string) => /\d/.test(subject) && /^(?:[\d\s.()+*/%^-]|sqrt)+$/.test(subject);

/** The one value of an object with one property. */
function bareOf(value: unknown): unknown {
  const [only, ...more] = isObject(value) ? Object.values(value) : [];
  return only === undefined || more.length > 0 ? value : only;
}

function flat(value: unknown): string {
  const bare = bareOf(value);
  if (Array.isArray(bare)) return bare.slice(0, MAX_ROWS).map(flat).join("; ");
  if (!isObject(bare)) return shorten(String(bare ?? ""), 300);
  return Object.entries(bare)
    .map(([key, member]) => `${splitName(key)} ${flat(member)}`)
    .join(", ");
}

function show(value: unknown): string {
  if (Array.isArray(value))
    return (
      value
        .slice(0, MAX_ROWS)
        .map((row) => `- ${rowOf(row)}`)
        .join("\n") || "_nothing found_"
    );
  if (isObject(value))
    return Object.entries(value)
      .map(([key, one]) => `- ${capitalise(splitName(key))}: **${flat(one)}**`)
      .join("\n");
  const text = String(value).trim() || "an empty result";
  return text.length <= 80 && !text.includes("\n") ? `**${text}**` : quote(text.slice(0, 700));
}

/** One row of a list: an object with two values as a term and its description. */
function rowOf(value: unknown): string {
  const [term, words, ...more] = isObject(value) ? Object.values(value) : [];
  const isPair = words !== undefined && more.length === 0 && typeof term !== "object";
  return isPair ? `**${flat(term)}**: ${shorten(flat(words), 200)}` : shorten(flat(value), 200);
}

const quote = (text: string) => text.replace(/^/gm, "> ");
