/** Writes tool results as Markdown, and as one plain line. */
import { isObject, parseJson } from "../json.js";
import { isAgent } from "./match.js";
import type { Step } from "./steps.js";
import { capitalise, isDeed, shorten, splitName, stem, stems } from "./words.js";

const MAX_ROWS = 12;

/** The answer to finished `steps`; `unmatched` are pieces of the prompt that no tool was for. */
export function writeAnswer(steps: readonly Step[], unmatched: readonly string[]): string {
  const parts = steps.map(({ tool, input, result }) => {
    if (!result) return `I did not call \`${tool.name}\`, because what it needed is missing.`;
    return result.isError
      ? writeFailure(tool.name, input, result.text)
      : writeResult({ tool, input }, result.text);
  });
  const rest = unmatched.filter((text) => stems(text).length >= 2);
  return [...parts, ...rest.map((text) => `I have no tool for this part: “${shorten(text, 120)}”.`)].join(
    "\n\n",
  );
}

/** A failure in looplet's words (`{ error, code, message, hint }`), in common shapes, or as plain text. */
function writeFailure(name: string, input: Step["input"], text: string): string {
  const value = parseJson(text);
  const error = isObject(value?.error) ? value.error : isObject(value) ? value : {};
  const message =
    [error["message"], error["error"], error["detail"]].find((one) => typeof one === "string") ?? text;
  const words = [message.replace(/^(?:Error:\s*)+/i, ""), error["hint"]].filter(
    (one) => typeof one === "string",
  );
  const given = Object.keys(input).length > 0 ? ` with \`${shorten(JSON.stringify(input), 160)}\`` : "";
  const lead =
    error["code"] === "denied" ? `I did not run \`${name}\`${given}` : `The tool \`${name}\` failed${given}`;
  return `${lead}: ${words.map((one) => shorten(one, 300).replace(/(?<![.!?])$/, ".")).join(" ")}`;
}

function writeResult({ tool, input }: Pick<Step, "tool" | "input">, text: string): string {
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
  const lead = capitalise(nounOf(tool.name)) + (subject === "" ? ":" : `, ${subject}:`);
  return shorten(
    `${isSum(subject) ? `${subject} =` : lead} ${flat(parseJson(result?.text ?? "") ?? result?.text)}`,
    300,
  );
}

/** The noun in a tool's name: `get_weather` is "weather", `notes_add` is "notes". */
function nounOf(toolName: string): string {
  const words = splitName(toolName).split(" ");
  const nouns = words.filter(
    (word) => !isDeed(stem(word)) && !/^(?:get|fetch|read|run|call|slow)$/.test(word),
  );
  return (nouns.length > 0 ? nouns : words).join(" ");
}

/** The texts of an input, or its numbers if it has nothing else. */
function subjectOf(input: Record<string, unknown>): string {
  const values = Object.values(input);
  return values
    .filter((value) => typeof value === "string" || values.every((one) => typeof one === "number"))
    .join(", ");
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
  if (Array.isArray(value)) return showList(value);
  if (isObject(value)) {
    const lines = Object.entries(value).map(
      ([key, member]) => `- ${capitalise(splitName(key))}: **${flat(member)}**`,
    );
    return lines.join("\n") || "_nothing_";
  }
  const text = String(value).trim() || "an empty result";
  return text.length <= 80 && !text.includes("\n") ? `**${text}**` : text.slice(0, 700).replace(/^/gm, "> ");
}

function showList(list: readonly unknown[]): string {
  const rows = list.slice(0, MAX_ROWS);
  const more = list.length > rows.length ? `\n\n… and ${list.length - rows.length} more.` : "";
  const keys = [...new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])))];
  if (list.length === 0) return "_nothing found_";
  if (!rows.every(isObject) || keys.length < 2 || keys.length > 5)
    return rows.map((row) => `- ${shorten(flat(row), 200)}`).join("\n") + more;
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const cell = (value: unknown) => shorten(flat(value), 200).replace(/\|/g, "\\|");
  const head = [line(keys.map((key) => capitalise(splitName(key)))), line(keys.map(() => "---"))];
  return [...head, ...rows.map((row) => line(keys.map((key) => cell(row[key]))))].join("\n") + more;
}
