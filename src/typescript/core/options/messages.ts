/** Reads the messages of a history; the engine judges their blocks. */
import { LoopletError } from "../api/errors.js";
import type { Message, MessageInput } from "../api/message.js";
import { describe, isObject } from "./check.js";

/**
 * The messages of a history, with a block of text for each content that is a string. The engine judges the blocks.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function messagesOf(messages: unknown, field: string): readonly Message[] {
  if (!Array.isArray(messages)) {
    throw new LoopletError(
      "config_wrong_type",
      field,
      `needs an array of messages, got ${describe(messages)}`,
    );
  }
  const read = withTextBlocks(messages as readonly Message[]);
  for (const [index, message] of read.entries()) {
    const isMessage = isObject(message) && (message["role"] === "user" || message["role"] === "assistant");
    if (!isMessage || !Array.isArray(message["content"])) {
      throw new LoopletError(
        "config_wrong_type",
        `${field}[${index}]`,
        `needs { role: "user" | "assistant", content: string | Block[] }; the system prompt is the option system`,
      );
    }
  }
  return read;
}

/** The messages with a block of text for each content that is a string. Everything else stays as it is. */
export function withTextBlocks<T>(messages: T | readonly MessageInput[]): T | readonly Message[] {
  if (!Array.isArray(messages)) return messages as T;
  return (messages as readonly MessageInput[]).map((message) => {
    const text = isObject(message) ? message.content : undefined;
    const isText = typeof text === "string";
    return (isText ? { ...message, content: [{ type: "text", text }] } : message) as Message;
  });
}
