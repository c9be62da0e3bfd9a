/** Ready functions for the option `inputFilter` of `handoff`. */
import type { Block, HandoffInput, Message } from "../api/index.js";

/**
 * Takes tool calls, their results and reasoning out of a conversation, for `handoff(agent, { inputFilter:
 * removeAllTools })`. Texts, media and refusals stay.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, handoff, removeAllTools } from "looplet";
 *
 * const writer = createAgent({ model: anthropic("claude-opus-5-5", { apiKey: "key" }) });
 * const toWriter = handoff(writer, { description: "Writes the answer", inputFilter: removeAllTools });
 * ```
 */
export function removeAllTools({ messages }: Pick<HandoffInput, "messages">): Message[] {
  return messages.flatMap(({ role, content, origin, ...rest }) => {
    const kept = content.filter((block) => isSaid(block, role));
    if (kept.length === 0) return [];
    // A vendor takes its own fields back only in a message that is whole.
    const isWhole = origin !== undefined && kept.length === content.length;
    return [{ ...rest, role, content: kept, ...(isWhole ? { origin } : {}) }];
  });
}

/** Whether a block is a part of the conversation. A raw block of a model is a tool of its vendor. */
function isSaid({ type }: Block, role: Message["role"]): boolean {
  return type === "text" || type === "media" || type === "refusal" || (type === "raw" && role === "user");
}
