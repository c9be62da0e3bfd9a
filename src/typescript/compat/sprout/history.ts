/** Histories of Sprout, to looplet's messages and back. */
import type { Message } from "../../core/api/index.js";
import { fromApi, toApi, type ApiBlock } from "../anthropic.js";
import type { SproutMessage } from "./types.js";

/** looplet's messages in the form of the Messages API, after the system prompt. */
export function historyOf(systemPrompt: string, messages: readonly Message[]): SproutMessage[] {
  const said = messages.map(({ role, content }) => ({ role, content: content.flatMap(toApi) }));
  return [{ role: "system", content: systemPrompt }, ...said];
}

/**
 * looplet's messages for a history. System prompts are left out, because `systemPrompt` has its own place.
 *
 * @throws TypeError
 */
export function messagesOf(history: readonly SproutMessage[]): Message[] {
  return history.flatMap(({ role, content }, at) => {
    if (role === "system") return [];
    if (role !== "user" && role !== "assistant")
      throw new TypeError(`agentLoop: conversationHistory[${at}].role needs "user" or "assistant"`);
    if (typeof content !== "string" && !Array.isArray(content))
      throw new TypeError(`agentLoop: conversationHistory[${at}].content needs a text or a list of blocks`);
    const blocks: readonly ApiBlock[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    return [{ role, content: blocks.map(fromApi) }];
  });
}
