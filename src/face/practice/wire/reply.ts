/** An answer on its way to the wire: neutral blocks with their exact deltas, cut to the limits of the request. */
import type { Conversation } from "../conversation.js";
import { between, mintId, signatureOf, type Random } from "../random.js";
import { estimateTokens, takeTokens } from "../tokens.js";
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
  /** Blanks or letters that the vendor adds to hide token lengths; `undefined` adds none. */
  padding: (() => number) | undefined;
}

/** Settles ids and deltas. `cut` cuts a text into deltas; an array of pieces is kept as it is. */
export function settleBlocks(
  blocks: readonly ReplyBlock[],
  { ids, emptyArguments }: WireFormat,
  random: Random,
  cut: (text: string) => string[],
): WireBlock[] {
  const pieces = (given: Pieces) => (typeof given === "string" ? cut(given) : [...given]);
  return blocks.map((block): WireBlock => {
    switch (block.type) {
      case "text":
      case "refusal":
        return { type: block.type, pieces: pieces(block.text) };
      case "thinking": {
        const settled = pieces(block.text);
        return {
          type: "thinking",
          pieces: settled,
          signature: block.signature ?? signatureOf(settled.join("")),
        };
      }
      case "tool-call": {
        const json = JSON.stringify(block.input ?? {});
        const text = block.argumentsText ?? (json === "{}" ? emptyArguments : json);
        return {
          type: "tool-call",
          id: block.id ?? mintId(random, ids.call),
          name: block.name,
          pieces: pieces(text),
        };
      }
      default:
        return block;
    }
  });
}

/** Cuts a text into deltas of one to `maxWords` words; a word beyond 24 characters is cut too. */
export function cutWords(text: string, maxWords: number, random: Random): string[] {
  const words = text.match(/\s*\S{1,24}|\s+$/gu) ?? [];
  const pieces: string[] = [];
  while (words.length > 0) pieces.push(words.splice(0, between(random, 1, maxWords)).join(""));
  return pieces;
}

/** Tokens that `blocks` are estimated at, and how many of them are reasoning. */
export function countBlocks(blocks: readonly WireBlock[]): { outputTokens: number; reasoningTokens: number } {
  const sum = (list: readonly WireBlock[]) => list.reduce((total, block) => total + tokensOf(block), 0);
  const reasoning = blocks.filter(({ type }) => type === "thinking" || type === "redacted-thinking");
  return { outputTokens: Math.max(1, sum(blocks)), reasoningTokens: sum(reasoning) };
}

/** Applies the stop sequences and the output limit of the request, in that order, and says what ended the answer. */
export function limitBlocks(
  blocks: readonly WireBlock[],
  { stopSequences, maxOutputTokens = Infinity }: Conversation,
): Pick<Reply, "blocks" | "stopReason" | "stopSequence"> {
  const kept: WireBlock[] = [];
  let left = maxOutputTokens;
  let stopSequence: string | undefined;
  for (const whole of blocks) {
    let block = whole;
    if (block.type === "text") {
      const stop = firstStop(block.pieces.join(""), stopSequences);
      stopSequence = stop?.sequence;
      if (stop) block = { ...block, pieces: keepLength(block.pieces, stop.at) };
    }
    const tokens = tokensOf(block);
    if (tokens > left)
      return { blocks: [...kept, ...cutBlock(block, left)], stopReason: "length", stopSequence: undefined };
    left -= tokens;
    if (stopSequence === undefined || tokens > 0) kept.push(block);
    if (stopSequence !== undefined) return { blocks: kept, stopReason: "stop-sequence", stopSequence };
  }
  const isCalling = kept.some(({ type }) => type === "tool-call");
  return { blocks: kept, stopReason: isCalling ? "tool-calls" : "end", stopSequence };
}

function firstStop(text: string, sequences: readonly string[]): { sequence: string; at: number } | undefined {
  const found = sequences.map((sequence) => ({
    sequence,
    at: sequence === "" ? -1 : text.indexOf(sequence),
  }));
  return found.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0];
}

function cutBlock(block: WireBlock, tokens: number): WireBlock[] {
  if (!("pieces" in block)) return [];
  const left = tokens - (block.type === "tool-call" ? estimateTokens(block.name) : 0);
  const text = left <= 0 ? "" : takeTokens(block.pieces.join(""), left);
  const pieces = keepLength(block.pieces, text.length);
  if (pieces.length === 0) return [];
  return [block.type === "thinking" ? { ...block, pieces, signature: "" } : { ...block, pieces }];
}

function keepLength(pieces: readonly string[], length: number): string[] {
  let left = length;
  return pieces.flatMap((piece) => {
    const kept = piece.slice(0, Math.max(0, left));
    left -= piece.length;
    return kept === "" ? [] : [kept];
  });
}

function tokensOf(block: WireBlock): number {
  if (block.type === "raw") return estimateTokens(JSON.stringify(block.value));
  if (block.type === "redacted-thinking") return estimateTokens(block.data);
  const name = block.type === "tool-call" ? estimateTokens(block.name) : 0;
  return name + estimateTokens(block.pieces.join(""));
}
