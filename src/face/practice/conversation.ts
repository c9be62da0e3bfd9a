/** A request in neutral words, as the planner reads it, whichever protocol it came in. `wire/` makes it. */
import { listOf } from "./json.js";

/** The text of a message's content, which is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = listOf(content).filter((part) => part?.type === "text");
  return parts.map(({ text }) => text).join("\n");
}

/** A tool as the request declares it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the input; an empty object when the request gave none. */
  schema: Record<string, any>;
}

/** A tool call of an earlier answer. */
export interface PastCall {
  id: string;
  name: string;
  /** Parsed arguments; `undefined` when they were not valid JSON. */
  input: unknown;
}

/** One thing that was said, in order. Results of parallel calls are separate entries. */
export type Said =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: PastCall[] }
  | { role: "tool"; callId: string; text: string; isError: boolean };

/** A request, decoded. */
export interface Conversation {
  said: Said[];
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
}

/** The decision of the planner. */
export interface Plan {
  thinking: string;
  /** Markdown; empty when only tools are called. */
  text: string;
  calls: { name: string; input: Record<string, unknown> }[];
}
