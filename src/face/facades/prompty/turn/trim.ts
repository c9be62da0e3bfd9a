/** A conversation that fits its budget of characters. */
import { isSystem, textOfMessage } from "../model/content.js";
import type { Message } from "../types.js";

export interface Trimmed {
  /** The system messages that begin the conversation. */
  system: Message[];
  dropped: Message[];
  /** At least the last two messages. Results never stand without their calls. */
  rest: Message[];
}

/** What to drop from a conversation; `undefined` if it fits. */
export function trim(messages: readonly Message[], budget: number): Trimmed | undefined {
  if (sizeOf(messages) <= budget) return undefined;
  const from = messages.findIndex((message) => !isSystem(message));
  const system = messages.slice(0, Math.max(0, from));
  const others = messages.slice(system.length);
  const limit = budget - Math.min(5000, budget * 0.05);
  let size = sizeOf(messages);
  let count = 0;
  while (size > limit && others.length - count > 2) size -= sizeOf([others[count++]!]);
  while (count > 0 && count < others.length && isResult(others[count]!)) count++;
  if (count === 0) return undefined;
  return { system, dropped: others.slice(0, count), rest: others.slice(count) };
}

/** The size of messages in characters, as the specification estimates it. */
export function sizeOf(messages: readonly Message[]): number {
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

/** A summary without a model: who said what, in 200 characters each. */
export function summarize(messages: readonly Message[]): string {
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
