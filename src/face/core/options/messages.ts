/** Checks the messages of a history; the engine judges their blocks. */
import { LoopletError } from "../api/errors.js";
import type { Message } from "../api/message.js";
import { describe, isObject } from "./check.js";

/**
 * Checks that a history is an array of messages; the engine judges their content.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function checkMessages(messages: unknown, field: string): void {
  if (messages === undefined) return;
  if (!Array.isArray(messages)) {
    throw new LoopletError(
      "config_wrong_type",
      field,
      `needs an array of messages, got ${describe(messages)}`,
    );
  }
  for (const [index, message] of (messages as Message[]).entries()) {
    const isMessage = isObject(message) && (message["role"] === "user" || message["role"] === "assistant");
    if (isMessage && typeof message["content"] === "string") {
      throw new LoopletError(
        "config_wrong_type",
        `${field}[${index}].content`,
        `needs an array of blocks, got a string: [{ type: "text", text: "…" }]`,
      );
    }
    if (!isMessage || !Array.isArray(message["content"])) {
      throw new LoopletError(
        "config_wrong_type",
        `${field}[${index}]`,
        `needs { role: "user" | "assistant", content: Block[] }; the system prompt is the option system`,
      );
    }
  }
}
