/** Which messages of a transcript a person has written. */
import type { Block, ContentBlock, Message } from "../../core/api/message.js";

/** Whether looplet or a hook has written the block for the model: no screen shows it. */
export function isNotice(block: Block): boolean {
  return block.type === "text" && block.purpose === "notice";
}

/** Whether a block of a user's message is part of what a person has asked. */
export function isAsked(block: Block): block is ContentBlock {
  return block.type !== "tool_result" && !isNotice(block);
}

/** Whether a message has more than the results of tools and the words of looplet. */
export function isPrompt({ role, content }: Message): boolean {
  return role === "user" && content.some(isAsked);
}
