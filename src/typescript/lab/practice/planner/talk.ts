/** Answers without tools: the introduction of the practice model, and summaries of conversations. */
import type { Conversation } from "../conversation.js";
import { shorten } from "./words.js";

const SELF = `I am the **practice model** built into looplet: a small deterministic program that runs here, without a key and without a network, and speaks the wire formats of real providers.`;
const GREETING =
  /^(?:hi|hello|hey|help|good (?:morning|afternoon|evening)|who are you|what can you do)\b[^.?!]{0,20}[.?!]*$/i;
const ALONE = `This request came without tools, so I can only say what I am. With tools I pick those whose names and descriptions share words with your prompt, fill their inputs from it, and answer with their results.

My words stream as those of a real model do: one after the other, in events of the vendor's own format.`;

/** An answer to `prompt` without tools, in Markdown. */
export function talk(prompt: string, { tools }: Conversation): string {
  const beyond = `You wrote: “${shorten(prompt, 160)}”. That is beyond a practice model.`;
  const opening = `${GREETING.test(prompt) ? "Hello!" : beyond} ${SELF}`;
  if (tools.length === 0) return `${opening}\n\n${ALONE}`;
  const list = tools.map(({ name, description }) => `- \`${name}\`: ${shorten(description, 100)}`);
  return `${opening}\n\nI can use these tools when your words fit them:\n\n${list.slice(0, 20).join("\n")}`;
}

const SUMMARY = /(?:\bstop here and )?\bwrite (?:a|the) summary of (?:this|the|our) conversation\b/i;

/** The summary that the last prompt asks for, if it asks for one: a line for each thing that was asked and answered. */
export function summaryOf({ said }: Conversation): string | undefined {
  const last = said.at(-1);
  const at = last?.role === "user" ? last.text.search(SUMMARY) : -1;
  if (!last || at < 0) return undefined;
  // Text of the last prompt before the request belongs to the summary.
  const lines = [...said.slice(0, -1), { ...last, text: last.text.slice(0, at) }].flatMap(
    ({ role, text }) => {
      const line = shorten(text, 160);
      if (line === "" || role === "tool") return [];
      const summed = /^\[Context summary: (.*?)\]?$/.exec(line)?.[1];
      if (summed !== undefined) return [`- Before: ${summed}`];
      return [role === "user" ? `- Asked: ${line}` : `  Answered: ${line}`];
    },
  );
  return lines.length === 0 ? undefined : lines.join("\n");
}
