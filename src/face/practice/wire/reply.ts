/** An answer on its way to the wire: neutral blocks with their exact deltas. */
import { mintId, signatureOf, type Random } from "../random.js";
import { estimateTokens } from "../tokens.js";
import type { Pieces, ReplyBlock, ReplyUsage, StopReason } from "../types.js";
import type { WireFormat } from "./format.js";

/** A block whose deltas are settled. */
export type WireBlock =
  | { type: "text" | "refusal"; pieces: string[] }
  | { type: "thinking"; pieces: string[]; signature: string }
  | { type: "tool-call"; id: string; name: string; pieces: string[] }
  | { type: "redacted-thinking"; data: string }
  | { type: "raw"; value: Record<string, unknown> };

/** Everything that a writer needs. */
export interface Reply {
  id: string;
  model: string;
  /** Unix time in seconds. */
  createdS: number;
  blocks: WireBlock[];
  stopReason: StopReason;
  /** The stop sequence that ended the answer. */
  stopSequence: string | undefined;
  usage: Required<ReplyUsage>;
}

/** Settles ids, signatures and deltas. */
export function settleBlocks(
  blocks: readonly ReplyBlock[],
  { ids, emptyArguments }: WireFormat,
  random: Random,
): WireBlock[] {
  const list = (given: Pieces) => (typeof given === "string" ? (given === "" ? [] : [given]) : [...given]);
  return blocks.map((block): WireBlock => {
    if (block.type === "raw" || block.type === "redacted-thinking") return block;
    if (block.type === "tool-call") {
      const { id = mintId(random, ids.call), name, input = {}, argumentsText } = block;
      const json = JSON.stringify(input);
      return {
        type: block.type,
        id,
        name,
        pieces: list(argumentsText ?? (json === "{}" ? emptyArguments : json)),
      };
    }
    const pieces = list(block.text);
    if (block.type !== "thinking") return { type: block.type, pieces };
    return { type: block.type, pieces, signature: block.signature ?? signatureOf(pieces.join("")) };
  });
}

/** Tokens that `blocks` are estimated at, and how many of them are reasoning. */
export function countBlocks(blocks: readonly WireBlock[]): { outputTokens: number; reasoningTokens: number } {
  const sum = (list: readonly WireBlock[]) => list.reduce((total, block) => total + tokensOf(block), 0);
  const reasoning = blocks.filter(({ type }) => type === "thinking" || type === "redacted-thinking");
  return { outputTokens: Math.max(1, sum(blocks)), reasoningTokens: sum(reasoning) };
}

function tokensOf(block: WireBlock): number {
  if (block.type === "raw") return estimateTokens(JSON.stringify(block.value));
  if (block.type === "redacted-thinking") return estimateTokens(block.data);
  const name = block.type === "tool-call" ? estimateTokens(block.name) : 0;
  return name + estimateTokens(block.pieces.join(""));
}
