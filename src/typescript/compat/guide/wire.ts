/** Sessions as requests of the Messages API, and its responses as messages of a session. */
import type { ApiBlock } from "../anthropic.js";
import type { ApiMessage, GenericMessage, Session } from "./types.js";

/**
 * The messages of a request. Consecutive messages of the model are merged, and so are consecutive results. The system
 * prompt is separate, and the last one is used. Cut thinking is dropped, because a vendor refuses signed thinking
 * that was changed.
 */
export function toApiMessages(session: Session): { system: string | null; messages: ApiMessage[] } {
  let system: string | null = null;
  const messages: ApiMessage[] = [];
  const said: ApiBlock[] = [];
  const results: ApiBlock[] = [];
  const flush = (role: ApiMessage["role"], buffer: ApiBlock[]): void => {
    if (buffer.length > 0) messages.push({ role, content: buffer.splice(0) });
  };
  const say = (block: ApiBlock): void => {
    flush("user", results);
    said.push(block);
  };
  for (const message of session.messages) {
    if ("role" in message) {
      const { role, content } = message;
      if (role === "system") system = content;
      else if (role === "assistant") say({ type: "text", text: content });
      else {
        flush("assistant", said);
        flush("user", results);
        messages.push({ role: "user", content });
      }
    } else if (message.type === "tool_result") {
      flush("assistant", said);
      results.push({ type: "tool_result", tool_use_id: message.id, content: message.output });
    } else if (message.type === "tool_call") {
      const { id, name, input } = message;
      say({ type: "tool_use", id, name, input });
    } else if (message.compacted !== true) {
      const { content: thinking, signature } = message;
      say({ type: "thinking", thinking, ...(signature === undefined ? {} : { signature }) });
    }
  }
  flush("assistant", said);
  flush("user", results);
  return { system, messages };
}

/** The messages for the blocks of a response, in their order. Blocks of other types are left out. */
export function parseResponse(response: { readonly content: readonly object[] }): GenericMessage[] {
  return (response.content as readonly ApiBlock[]).flatMap((block): GenericMessage[] => {
    switch (block.type) {
      case "thinking": {
        const { thinking: content, signature } = block;
        return [{ type: "thinking", content, ...(signature === undefined ? {} : { signature }) }];
      }
      case "text":
        return [{ role: "assistant", content: block.text }];
      case "tool_use":
        return [{ type: "tool_call", name: block.name, id: block.id, input: block.input as object }];
      default:
        return [];
    }
  });
}
