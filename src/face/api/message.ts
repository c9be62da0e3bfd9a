/**
 * Messages and their blocks: the neutral form of a conversation, equal for every provider, and plain JSON. You can
 * store `result.messages` anywhere and hand it to the next run.
 */

/**
 * One message. Tool results stand in the user message that follows the calls they answer. The system prompt is not a
 * message.
 */
export interface Message {
  role: "user" | "assistant";
  content: Block[];
  /** An abort or a limit cut the answer off; the part that arrived is kept and sent on. */
  partial?: boolean;
  /** `historyCompaction` shortened its thinking and its calls. The thinking is not sent back. */
  compacted?: boolean;
  /** The protocol and the model that wrote an assistant message. Signatures and raw blocks go back only to them. */
  origin?: { protocol: string; model: string };
}

/** One piece of a message. */
export type Block =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | RefusalBlock
  | ToolCallBlock
  | ToolResultBlock
  | MediaBlock
  | RawBlock;

/** A block that a prompt, a steer, a follow-up or a tool's `{ content }` may contain. */
export type ContentBlock = TextBlock | MediaBlock;

/** Fields of the vendor that have no neutral form; they return unchanged to the same protocol. */
export type VendorFields = { [field: string]: unknown };

export interface TextBlock {
  type: "text";
  text: string;
  vendor?: VendorFields;
}

/** The model's reasoning. */
export interface ThinkingBlock {
  type: "thinking";
  text: string;
  /** Proves to the vendor that it wrote this text itself. */
  signature?: string;
  vendor?: VendorFields;
}

/** Reasoning that the vendor encrypted. */
export interface RedactedThinkingBlock {
  type: "redacted_thinking";
  data: string;
}

/** A refusal that the vendor marks as such. */
export interface RefusalBlock {
  type: "refusal";
  text: string;
}

/** The model calls a tool. The call has `input`, or `inputText` when the model's arguments are not a JSON object. */
export interface ToolCallBlock {
  type: "tool_call";
  /** The provider's id, echoed in the result. */
  id: string;
  name: string;
  input?: unknown;
  inputText?: string;
  vendor?: VendorFields;
}

export interface ToolResultBlock {
  type: "tool_result";
  /** The id of the call that this answers. */
  callId: string;
  content: Block[];
  /** Whether the call failed. Default false. */
  isError?: boolean;
}

/** An image, a sound or a document, as base64 (`data`, without a `data:` prefix) or by `url`. */
export interface MediaBlock {
  type: "media";
  /** For example `image/png` or `application/pdf`. */
  mediaType: string;
  data?: string;
  url?: string;
  /** Further fields of the vendor whose model made it. */
  vendor?: VendorFields;
}

/** A block of the vendor that has no neutral form; looplet keeps it and sends it back unchanged. */
export interface RawBlock {
  type: "raw";
  json: unknown;
}
