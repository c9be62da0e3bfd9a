/**
 * Messages and their blocks: the neutral form of a conversation, equal for every provider, and plain JSON. You can
 * store `result.messages` anywhere and hand it to the next run.
 */
import type { MediaBlock, RawBlock, TextBlock } from "../generated/model.js";

export type {
  Block,
  MediaBlock,
  Message,
  PendingCall,
  RawBlock,
  RedactedThinkingBlock,
  RefusalBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultBlock,
} from "../generated/model.js";

/**
 * A block that a prompt, a steer, a follow-up or a tool's `{ content }` may contain. A raw block is one of the vendor's
 * own form; it goes out as it is, so the model must speak that protocol.
 */
export type ContentBlock = TextBlock | MediaBlock | RawBlock;
