/** Writes tool results as Markdown, and as one plain line. */
import { isObject, parseJson } from "../json.js";
import { isAgent } from "./match.js";
import type { Step } from "./steps.js";
import { capitalise, isDeed, shorten, splitName, stem, stems } from "./words.js";

const MAX_ROWS = 12;

/** The answer to finished `steps`; `unmatched` are pieces of the prompt that no tool was for. */
export function writeAnswer(steps: readonly Step[], unmatched: readonly string[]): string {
  const parts = steps.map((step) => {
    if (!step.result) return `I did not call \`${step.tool.name}\`, because what it needed is missing.`;
    return step.result.isError ? writeFailure(step, step.result.text) : writeResult(step, step.result.text);
  });
  const rest = unmatched.filter((text) => stems(text).length >= 2);
  const lost = rest.map((text) => `I have no tool for this part: “${shorten(text, 120)}”.`);
  return [...parts, ...lost].join("\n\n");
}

/** A failure in looplet's words (`{ error, code, message, hint }`), or as plain text. */
function writeFailure({ tool: { name }, input }: Step, text: string): string {
  const value = parseJson(text);
  const error = isObject(value?.error) ? value.error : isObject(value) ? value : {};
  const message = String(error["message"] ?? text).replace(/^(?:Error:\s*)+/i, "");
  const words = [message, error["hint"]].filter((one) => typeof one === "string");
  const given = Object.keys(input).length > 0 ? ` with \`${shorten(JSON.stringify(input), 160)}\`` : "";
  const lead =
    error["code"] === "denied" ? `I did not run \`${name}\`${given}` : `The tool \`${name}\` failed${given}`;
  return `${lead}: ${words.map((one) => shorten(one, 300).replace(/(?<![.!?])$/, ".")).join(" ")}`;
}

function writeResult({ tool, input }: Step, text: string): string {
  const bare = bareOf(parseJson(text) ?? text.trim());
  const title = capitalise(nounOf(tool.name));
  const subject = subjectOf(input);
  if (isAgent(tool)) return `**${title}:**\n\n${String(bare).replace(/^/gm, "> ")}`;
  if (isSum(subject) && !isObject(bare)) return `**${subject} = ${bare}**`;
  if (stems(tool.name).includes(stem("add")) && subject !== "") return `Saved: “${shorten(subject, 200)}”.`;
  const head = subject === "" ? title : `${title}, **${shorten(subject, 80)}**`;
  const shown = show(bare);
  return `${head}:${shown.startsWith("**") ? " " : "\n\n"}${shown}`;
}

/** A result as one line, led by what it is about: "Weather, Paris: temperature 18, sky cloudy". */
export function flatten({ tool, input, result }: Step): string {
  const subject = subjectOf(input);
  const noun = capitalise(nounOf(tool.name));
  const lead = isSum(subject) ? `${subject} =` : `${noun}${subject && `, ${subject}`}:`;
  return shorten(`${lead} ${flat(parseJson(result?.text ?? "") ?? result?.text)}`, 300);
}

/** The noun in a tool's name: `get_weather` is "weather", `notes_add` is "notes". */
function nounOf(toolName: string): string {
  const words = splitName(toolName).split(" ");
  const isVerb = (word: string) => isDeed(stem(word)) || /^(?:get|fetch|read|run|call|slow)$/.test(word);
  return words.filter((word) => !isVerb(word)).join(" ") || words.join(" ");
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
  const entries = Object.entries(bare);
  return entries.map(([key, member]) => `${splitName(key)} ${flat(member)}`).join(", ");
}

function show(value: unknown): string {
  if (Array.isArray(value)) {
    const rows = value.slice(0, MAX_ROWS).map((row) => `- ${shorten(flat(row), 200)}`);
    return rows.join("\n") || "_nothing found_";
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    return entries.map(([key, member]) => `- ${capitalise(splitName(key))}: **${flat(member)}**`).join("\n");
  }
  const text = String(value).trim() || "an empty result";
  return text.length <= 80 && !text.includes("\n") ? `**${text}**` : text.slice(0, 700).replace(/^/gm, "> ");
}
