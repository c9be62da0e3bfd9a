/** Which messages of a transcript the user wrote. */
import type { Block, ContentBlock, Message } from "../../core/api/message.js";

/** Whether looplet or a hook wrote the block for the model. No screen shows it. */
export function isNotice(block: Block): boolean {
  return block.type === "text" && block.purpose === "notice";
}

/** Whether a block of a user message is part of the user's prompt. */
export function isAsked(block: Block): block is ContentBlock {
  return block.type !== "tool_result" && !isNotice(block);
}

/** Whether a message has more than tool results and texts of looplet. */
export function isPrompt({ role, content }: Message): boolean {
  return role === "user" && content.some(isAsked);
}
