/** A conversation that fits its budget of characters. */
import { isSystem, textOfMessage } from "../model/content.js";
import type { Message } from "../types.js";
import { textParts } from "./guardrails.js";
import type { TurnContext } from "./options.js";

/** The conversation with a summary in place of its oldest messages; `undefined` if it is within its budget. */
export async function fitting(
  messages: readonly Message[],
  { options: { contextBudget, compaction }, tell, around }: TurnContext,
): Promise<Message[] | undefined> {
  if (contextBudget === undefined) return undefined;
  const others = messages.slice(
    Math.max(
      0,
      messages.findIndex((message) => !isSystem(message)),
    ),
  );
  const gone = dropped(messages, others, contextBudget);
  if (gone.length === 0) return undefined;
  const [system, rest] = [messages.slice(0, -others.length), others.slice(gone.length)];
  let summary = "";
  if (compaction !== undefined) {
    tell("compaction_start", {});
    try {
      summary = await around("compaction", () => compaction(gone));
      tell("compaction_complete", { removed: gone.length, remaining: system.length + rest.length + 1 });
    } catch (error) {
      tell("compaction_failed", { message: (error as Error)?.message ?? String(error) });
    }
  }
  const content = textParts(`[Context summary: ${summary || summarize(gone)}]`);
  return [...system, { role: "user", content }, ...rest];
}

/** The messages that a conversation drops to fit; at least the last two stay, and no result without its call. */
function dropped(messages: readonly Message[], others: readonly Message[], budget: number): Message[] {
  let size = sizeOf(messages);
  if (size <= budget) return [];
  const limit = budget - Math.min(5000, budget * 0.05);
  let count = 0;
  while (size > limit && others.length - count > 2) size -= sizeOf([others[count++]!]);
  while (count > 0 && count < others.length && isResult(others[count]!)) count++;
  return others.slice(0, count);
}

/** The size of messages in characters, as the specification estimates it. */
function sizeOf(messages: readonly Message[]): number {
  const sizes = messages.map(({ role, content, metadata }) => {
    const parts = content.map((part) => (part.kind === "text" ? part.value.length : 200));
    const calls = metadata?.["tool_calls"];
    return (
      role.length +
      4 +
      parts.reduce((sum, size) => sum + size, 0) +
      (calls ? JSON.stringify(calls).length : 0)
    );
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function isResult({ role, metadata }: Message): boolean {
  return role === "tool" || metadata?.["tool_results"] !== undefined;
}

/** A summary without a model: who said what, with 200 characters each. */
function summarize(messages: readonly Message[]): string {
  const lines = messages.flatMap((message) => {
    const text = textOfMessage(message).slice(0, 200);
    if (message.role === "user" && text !== "") return [`User asked: ${text}`];
    if (message.role !== "assistant") return [];
    const calls: unknown = message.metadata?.["tool_calls"];
    const names = Array.isArray(calls) ? calls.map((call) => call?.function?.name).join(", ") : "";
    return [...(text === "" ? [] : [`Assistant: ${text}`]), ...(names ? [`  Called tools: ${names}`] : [])];
  });
  return lines.join("\n").slice(0, 4000);
}
