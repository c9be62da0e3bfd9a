import { parse } from "yaml";
import { ValueError } from "../errors.js";

/** The frontmatter of a file as plain values, and the text below it. */
export interface Split {
  head: { [field: string]: unknown };
  instructions: string;
}

/** @throws ValueError `invalid frontmatter: …` */
export function splitFile(text: string): Split {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() !== "");
  const mark = lines[begin]?.trimEnd();
  if (mark !== "---" && mark !== "+++") return { head: {}, instructions: trimmed(lines) };
  const end = lines.findIndex((line, at) => at > begin && line.trimEnd() === mark);
  if (end < 0) throw new ValueError(`invalid frontmatter: no line ${mark} ends it`);
  const head = yaml(lines.slice(begin + 1, end).join("\n"), "invalid frontmatter");
  if (head !== null && !isMap(head)) throw new ValueError("invalid frontmatter: it is not a mapping");
  return { head: head ?? {}, instructions: trimmed(lines.slice(end + 1)) };
}

/** @throws ValueError that begins with `what` */
export function yaml(text: string, what: string): unknown {
  try {
    return parse(text, { logLevel: "error" }) ?? null;
  } catch (error) {
    throw new ValueError(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

export function isMap(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function trimmed(lines: string[]): string {
  return lines.join("\n").replace(/^\n+|\n+$/g, "");
}
