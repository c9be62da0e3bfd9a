/**
 * Messages and their blocks: the neutral form of a conversation, the same for every provider, and plain JSON. What a
 * run returns in `result.messages` can be stored anywhere and handed to the next run.
 */

/** One message. Tool results stand in the user message that follows the calls they answer; the system prompt is no message. */
export interface Message {
  role: "user" | "assistant";
  content: Block[];
  /** The answer was cut off by an abort or a limit; what arrived is kept and sent on. */
  partial?: boolean;
  /** Its thinking and its calls were cut short by `historyCompaction`: it goes back without the former. */
  compacted?: boolean;
  /** Which protocol and model wrote an assistant message. Signatures and raw blocks only go back there. */
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

/** What a prompt, a steer, a follow-up or a tool's `{ content }` may consist of. */
export type ContentBlock = TextBlock | MediaBlock;

/** Fields of the vendor that have no neutral form; they go back to the same protocol unchanged. */
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

/** The model asks for a tool. Either `input` or, when it wrote no JSON object, `inputText`. */
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
  /** Default false. */
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

/** A block of the vendor that has no neutral form, kept and sent back as it is. */
export interface RawBlock {
  type: "raw";
  json: unknown;
}
