/** An answer on its way to the wire: blocks with their exact deltas. */
import { mintId, signatureOf, type Random } from "../random.js";
import { estimateTokens } from "../tokens.js";
import type { Pieces, ReplyBlock, ReplyUsage, ReplyStopReason } from "../types.js";
import type { WireFormat } from "./format.js";

/** A block with settled deltas, id and signature. A field that its type does not have is empty. */
export interface WireBlock {
  type: ReplyBlock["type"];
  /** The deltas of its text or of its arguments; of redacted thinking, its data. */
  pieces: string[];
  /** Of a call. */
  id: string;
  name: string;
  /** Of thinking. */
  signature: string;
  /** The block itself, if it is sent unchanged. */
  value: Record<string, unknown> | undefined;
}

/** Everything that a writer needs. */
export interface Reply {
  id: string;
  model: string;
  blocks: WireBlock[];
  stopReason: ReplyStopReason;
  /** The stop sequence that ended the answer. */
  stopSequence: string | undefined;
  usage: Required<ReplyUsage>;
}

/** Settles id, signature and deltas. */
export function settleBlock(block: ReplyBlock, format: WireFormat, random: Random): WireBlock {
  const { ids, emptyArguments } = format;
  const { type } = block;
  const bare = { type, pieces: [], id: "", name: "", signature: "", value: undefined };
  if (type === "raw") return { ...bare, value: block.value };
  if (type === "redacted-thinking") return { ...bare, pieces: [block.data] };
  if (type === "tool-call") {
    const { id = mintId(random, ids.call), name, input = {}, argumentsText } = block;
    const json = JSON.stringify(input);
    return { ...bare, id, name, pieces: piecesOf(argumentsText ?? (json === "{}" ? emptyArguments : json)) };
  }
  const pieces = piecesOf(block.text);
  if (type !== "thinking") return { ...bare, pieces };
  return { ...bare, pieces, signature: block.signature ?? signatureOf(pieces.join("")) };
}

const piecesOf = (given: Pieces) => [given].flat().filter((piece) => piece !== "" || given !== "");

/** Tokens that a block is estimated at. */
export function tokensOf({ name, pieces, value }: WireBlock): number {
  return estimateTokens(name) + estimateTokens(value ? JSON.stringify(value) : pieces.join(""));
}
