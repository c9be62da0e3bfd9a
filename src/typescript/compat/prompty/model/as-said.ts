/** Looplet's own message of a model, stored with the message that represents it in a conversation. */
import type { Block, Message as EngineMessage } from "../../../core/api/index.js";
import type { Answer } from "./answer.js";
import { textOfMessage } from "./content.js";
import { extractTextContent, withText } from "./process.js";
import type { Message } from "../types.js";

/**
 * The blocks of the model's message with the text and the calls that the conversation has, because a guardrail may
 * have rewritten them. The other blocks stay, such as thinking.
 */
export function blocksAsSaid(message: EngineMessage, { content, metadata = {} }: Message): Block[] {
  const own: Answer = { kind: "answer", message };
  const text = textOfMessage({ content });
  const said = text === (extractTextContent(own) ?? "") ? own : (withText(own, text) as Answer);
  const calls: any[] = Array.isArray(metadata["tool_calls"]) ? [...metadata["tool_calls"]] : [];
  const blocks = said.message.content.flatMap((block): Block[] => {
    // Vendors refuse an empty text.
    if (block.type === "text" && block.text === "") return [];
    if (block.type !== "tool_call") return [block];
    const at = calls.findIndex((call) => call?.id === block.id);
    if (at < 0) return [];
    const { input: _, inputText: __, ...more } = block;
    return [{ ...more, ...callBlock(calls.splice(at, 1)[0]) }];
  });
  return [...blocks, ...calls.map(callBlock)];
}

/** A call in the form of Chat Completions as a block. */
export function callBlock({ id, function: { name, arguments: text } }: any): Block {
  try {
    return { type: "tool_call", id, name, input: JSON.parse(text) };
  } catch {
    return { type: "tool_call", id, name, inputText: text };
  }
}
