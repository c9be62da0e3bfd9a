/** Sums a conversation up when it is asked to, in a line for each thing that was asked and answered. */
import type { Conversation } from "../conversation.js";
import { shorten } from "./words.js";

const ASKED = /(?:\bstop here and )?\bwrite (?:a|the) summary of (?:this|the|our) conversation\b/i;
const MAX_LINE = 160;

/** The summary that the last prompt asks for, if it asks for one. */
export function summaryOf({ said }: Conversation): string | undefined {
  const last = said.at(-1);
  const asked = last?.role === "user" ? last.text.search(ASKED) : -1;
  if (last?.role !== "user" || asked < 0) return undefined;
  // What stands before the request was said to go on with.
  const before = { role: last.role, text: last.text.slice(0, asked) };
  const lines = [...said.slice(0, -1), before].flatMap((entry) => {
    const text = shorten(entry.text.replace(/\s+/g, " ").trim(), MAX_LINE);
    if (text === "" || entry.role === "tool") return [];
    const summed = /^\[Context summary: ([^]*?)\]?$/.exec(text)?.[1];
    if (summed !== undefined) return [`- Before: ${summed}`];
    return [entry.role === "user" ? `- Asked: ${text}` : `  Answered: ${text}`];
  });
  return lines.length === 0 ? undefined : lines.join("\n");
}
