/** Blocks of the Messages API, to looplet's and back. */
import type { Block } from "../api/index.js";

/** A content block of the Messages API. */
export type ApiBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content: string; is_error?: true };

/** One block of the Messages API, or none for media and for blocks of another vendor. */
export function toApi(block: Block): ApiBlock[] {
  switch (block.type) {
    case "text":
    case "refusal":
      return [{ type: "text", text: block.text }];
    case "thinking": {
      const { text, signature } = block;
      return [{ type: "thinking", thinking: text, ...(signature === undefined ? {} : { signature }) }];
    }
    case "redacted_thinking":
      return [block];
    case "tool_call":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input ?? {} }];
    case "tool_result": {
      const text = block.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const failed = block.isError ? ({ is_error: true } as const) : {};
      return [{ type: "tool_result", tool_use_id: block.callId, content: text, ...failed }];
    }
    default:
      return [];
  }
}

export function fromApi(block: ApiBlock): Block {
  switch (block.type) {
    case "thinking": {
      const { thinking: text, signature } = block;
      return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
    }
    case "tool_use":
      return { type: "tool_call", id: block.id, name: block.name, input: block.input } as Block;
    case "tool_result": {
      const content = [{ type: "text", text: block.content }];
      return { type: "tool_result", callId: block.tool_use_id, content, isError: !!block.is_error } as Block;
    }
    default:
      return block;
  }
}
