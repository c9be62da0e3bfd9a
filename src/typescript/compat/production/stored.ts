/** Messages as a job stores them: blocks of the Messages API, and looplet's own where that API has no equal. */
import type { Block, Message } from "../../core/api/index.js";
import { fromApi, toApi, type ApiBlock } from "../anthropic.js";
import type { StoredMessage } from "./types.js";

/** A message with only blocks that can be restored. */
export function storedMessage({ role, content, origin }: Message): StoredMessage {
  const blocks = content.flatMap((block): StoredMessage["content"] =>
    hasEqual(block) ? toApi(block) : [block],
  );
  return { role, content: blocks, ...(origin === undefined ? {} : { origin }) };
}

/** Whether the form of the Messages API has all of a block. */
function hasEqual(block: Block): boolean {
  if ("vendor" in block && block.vendor !== undefined) return false;
  if (block.type === "tool_call") return block.inputText === undefined;
  if (block.type !== "tool_result") return !["media", "raw", "refusal"].includes(block.type);
  const [first, ...others] = block.content;
  return first?.type === "text" && first.vendor === undefined && others.length === 0;
}

/** Converts a stored message, one of a vendor's requests, or one of looplet's own, to a looplet message. */
export function givenMessage(message: Message | StoredMessage): Message {
  const content: unknown = message.content;
  if (typeof content === "string") return { ...message, content: [{ type: "text", text: content }] };
  // What is not a list is left to the check of the history.
  if (!Array.isArray(content)) return message as Message;
  return { ...message, content: content.map(givenBlock) };
}

function givenBlock(block: Block | ApiBlock): Block {
  const isApi =
    block.type === "tool_use" ||
    (block.type === "thinking" && "thinking" in block) ||
    (block.type === "tool_result" && "tool_use_id" in block);
  return isApi ? fromApi(block as ApiBlock) : (block as Block);
}
