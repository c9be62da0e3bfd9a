/** A request in neutral words, as the planner reads it, whichever protocol it came in. `wire/` makes it. */
import { listOf } from "./json.js";

/** The text of a message's content, which is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = listOf(content).filter((part) => part?.thought !== true);
  return parts.flatMap((part) => part?.text ?? (part?.json ? JSON.stringify(part.json) : [])).join("\n");
}

/** The kinds of the `parts` that `known` does not fit: their types or keys, or the types of their media. */
export function othersIn(parts: unknown, known: RegExp): string[] {
  const names = listOf(parts).map((part) => {
    const { type = Object.keys(part).find((key) => !key.startsWith("thought")) } = Object(part);
    return String(part?.[type]?.mimeType ?? type);
  });
  return names.filter((name) => !known.test(name));
}

/** The text of `content`, and what else is in it. */
export const told = (content: unknown, known: RegExp) => ({
  text: textOf(content),
  others: othersIn(content, known),
});

/** What a user's message says: results of tools, then its own words, if it has any. */
export function saidByUser(results: readonly PastMessage[], content: unknown, known: RegExp): PastMessage[] {
  const own = told(content, known);
  return own.text === "" && own.others.length === 0 ? [...results] : [...results, { role: "user", ...own }];
}

/** The names of fields of `body` that are set and not listed in `known`. */
export function fieldsBeyond(known: string, body: Record<string, unknown>): string[] {
  const names = Object.keys(body).filter((name) => !known.split(" ").includes(name));
  return names.filter((name) => ![undefined, null, false].includes(body[name] as null));
}

/** A tool as the request declares it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the input; an empty object when the request gave none. */
  schema: Record<string, any>;
}

/** The tools of a request's list, with the schemas in `field`. */
export const toolsIn = (list: unknown, field: string): ToolSpec[] =>
  listOf(list).map(({ name, description, [field]: schema }) => {
    return { name, description: description ?? "", schema: schema ?? {} };
  });

/** A tool call of an earlier answer. */
export interface PastCall {
  id: string;
  name: string;
  /** Parsed arguments; `undefined` when they were not valid JSON. */
  input: unknown;
}

/**
 * One message, in order. Results of parallel calls are separate entries. `others` names the parts that are not text.
 */
export type PastMessage =
  | { role: "user"; text: string; others?: string[] }
  | { role: "assistant"; text: string; calls: PastCall[] }
  | { role: "tool"; callId: string; text: string; isError: boolean; others?: string[] };

/** `said` with adjacent entries of the assistant merged. */
export function joined(said: readonly PastMessage[]): PastMessage[] {
  return said.reduce<PastMessage[]>((all, next) => {
    const last = all.at(-1);
    if (last?.role !== "assistant" || next.role !== "assistant") return [...all, next];
    const text = [last.text, next.text].filter((one) => one !== "").join("\n");
    return [...all.slice(0, -1), { role: "assistant", text, calls: [...last.calls, ...next.calls] }];
  }, []);
}

/** A request, decoded. */
export interface Conversation {
  said: PastMessage[];
  tools: ToolSpec[];
  /** Whether the answer may call tools, has to, must not, or has to call the one of that name. */
  choice: { type: "auto" | "any" | "none" | "tool"; name?: string };
  /** False when the request forbids parallel tool calls. */
  isParallel: boolean;
  /** JSON Schema that the answer has to fit, if the request asks for one. */
  outputSchema: Record<string, any> | undefined;
  /** Tokens; `undefined` means no limit. */
  maxOutputTokens: number | undefined;
  stopSequences: string[];
  /** Reasoning: none, counted only (`"hidden"`), sent as a block without text (`"omitted"`), or sent. */
  thinking: "none" | "hidden" | "omitted" | "shown";
  /** Names of fields and tools of the vendor that are not read. */
  others: string[];
}

/** The schema of an answer that has to be any JSON. */
export const ANY_JSON = {
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
};

/** The decision of the planner. */
export interface Plan {
  thinking: string;
  /** Markdown; empty when only tools are called. */
  text: string;
  calls: { name: string; input: Record<string, unknown> }[];
}
