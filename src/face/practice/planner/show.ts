/** Tool inputs and results as Markdown, and as one plain line. */
import { isObject, parseJson } from "../json.js";
import { capitalise, shorten, splitName } from "./words.js";

const MAX_ROWS = 12;
const MAX_TEXT = 700;

/** A result as Markdown: a scalar in bold, an object as a list, a list of objects as a table, a text as a quotation. */
export function showResult(text: string): string {
  const value = parseJson(text);
  if (value === undefined || typeof value === "string")
    return showText(typeof value === "string" ? value : text);
  return showValue(value);
}

/** True when the result fits into a sentence. */
export function isShort(text: string): boolean {
  const value = parseJson(text) ?? text;
  if (isObject(value) || Array.isArray(value)) return false;
  return String(value).length <= 80 && !String(value).includes("\n");
}

/** A result as one line, led by what it is about: "Weather, Paris: temperature 18, sky cloudy". */
export function flatten(toolName: string, input: Record<string, unknown>, text: string): string {
  const value = parseJson(text) ?? text;
  const subject = Object.values(input)
    .filter((member) => typeof member === "string" || typeof member === "number")
    .join(", ");
  const isSum = /^[\d\s+\-*/^%().]+$|sqrt/.test(subject) && subject !== "";
  const lead = isSum
    ? `${subject} =`
    : `${capitalise(nounOf(toolName))}${subject === "" ? "" : `, ${subject}`}:`;
  return shorten(`${lead} ${flat(value)}`, 300);
}

/** The noun in a tool's name: `get_weather` is "weather", `notes_add` is "notes". */
export function nounOf(toolName: string): string {
  const words = splitName(toolName).split(" ");
  const rest = words.filter(
    (word) =>
      !/^(?:get|fetch|read|list|add|create|save|show|find|search|look|lookup|do|run|call|current|tool|set|delete|remove)$/.test(
        word,
      ),
  );
  return (rest.length > 0 ? rest : words).join(" ");
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return value.slice(0, MAX_ROWS).map(flat).join("; ");
  if (!isObject(value)) return String(value).replace(/\s+/g, " ").trim();
  const entries = Object.entries(value).filter(([, member]) => member != null);
  const [only] = entries;
  if (entries.length === 1 && only) return flat(only[1]);
  return entries.map(([key, member]) => `${splitName(key)} ${flat(member)}`).join(", ");
}

function showValue(value: unknown): string {
  if (Array.isArray(value)) return showList(value);
  if (!isObject(value)) return `**${String(value)}**`;
  const entries = Object.entries(value).filter(([, member]) => member != null);
  if (entries.length === 0) return "nothing";
  const lists = entries.filter(([, member]) => Array.isArray(member));
  const [list] = lists;
  if (list && lists.length === 1) {
    const rest = entries.filter((entry) => entry !== list).map(([key, member]) => showEntry(key, member));
    return [
      ...rest,
      rest.length > 0 ? `- ${capitalise(splitName(list[0]))}:\n\n${showValue(list[1])}` : showValue(list[1]),
    ].join("\n");
  }
  return entries.map(([key, member]) => showEntry(key, member)).join("\n");
}

function showEntry(key: string, member: unknown): string {
  const shown =
    isObject(member) || Array.isArray(member)
      ? `\`${shorten(JSON.stringify(member), 120)}\``
      : shorten(String(member), 300);
  return `- ${capitalise(splitName(key))}: **${shown.replace(/\n+/g, " ")}**`;
}

function showList(list: readonly unknown[]): string {
  if (list.length === 0) return "_nothing found_";
  const rows = list.slice(0, MAX_ROWS);
  const more = list.length > rows.length ? `\n\n… and ${list.length - rows.length} more.` : "";
  const keys = [...new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])))];
  const isTable = rows.every(isObject) && keys.length > 1 && keys.length <= 5;
  if (!isTable) return rows.map((row) => `- ${shorten(flat(row), 200)}`).join("\n") + more;
  const cell = (value: unknown) => shorten(flat(value ?? ""), 120).replace(/\|/g, "\\|");
  const lines = [
    `| ${keys.map((key) => capitalise(splitName(key))).join(" | ")} |`,
    `|${keys.map(() => " --- |").join("")}`,
    ...rows.map((row: any) => `| ${keys.map((key) => cell(row[key])).join(" | ")} |`),
  ];
  return lines.join("\n") + more;
}

function showText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "_an empty result_";
  if (trimmed.length <= 80 && !trimmed.includes("\n")) return `**${trimmed}**`;
  return shorten(trimmed, MAX_TEXT)
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
