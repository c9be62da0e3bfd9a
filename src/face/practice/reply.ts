/**
 * An answer on its way to the wire: neutral blocks with their exact deltas, cut to the limits of the request.
 * `anthropic_reply.ts` and `openai_chat_reply.ts` encode it.
 */
import type { Conversation } from "./conversation.js";
import { between, mintId, signatureOf, type Random } from "./random.js";
import { estimateTokens, takeTokens } from "./tokens.js";
import type { Pieces, Protocol, ReplyBlock, ReplyUsage, StopReason } from "./types.js";

/** A block whose deltas are settled. */
export type WireBlock =
  | { type: "text"; pieces: string[] }
  | { type: "thinking"; pieces: string[]; signature: string }
  | { type: "redacted-thinking"; data: string }
  | { type: "tool-call"; id: string; name: string; pieces: string[] }
  | { type: "refusal"; pieces: string[] }
  | { type: "raw"; value: Record<string, unknown> };

/** Everything that an encoder needs. */
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

/** A stream as its events; those from `terminalAt` on say that the answer is complete. */
export interface EncodedStream {
  events: string[];
  terminalAt: number;
}

/** Settles ids and deltas. `cut` cuts a text into deltas; an array of pieces is kept as it is. */
export function settleBlocks(
  blocks: readonly ReplyBlock[],
  protocol: Protocol,
  random: Random,
  cut: (text: string) => string[],
): WireBlock[] {
  const isAnthropic = protocol === "anthropic-messages";
  const pieces = (given: Pieces) => (typeof given === "string" ? cut(given) : [...given]);
  return blocks.map((block): WireBlock => {
    switch (block.type) {
      case "text":
      case "refusal":
        return { type: block.type, pieces: pieces(block.text) };
      case "thinking":
        return thinkingBlock(pieces(block.text), block.signature);
      case "tool-call": {
        const text = block.argumentsText ?? argumentsOf(block.input, isAnthropic);
        const id = block.id ?? mintId(random, isAnthropic ? "toolu_01" : "call_", isAnthropic ? 22 : 24);
        return { type: "tool-call", id, name: block.name, pieces: pieces(text) };
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
  for (let at = 0; at < words.length;) {
    const count = between(random, 1, maxWords);
    pieces.push(words.slice(at, at + count).join(""));
    at += count;
  }
  return pieces;
}

/** Tokens that `blocks` are estimated at, and how many of them are reasoning. */
export function countBlocks(blocks: readonly WireBlock[]): { outputTokens: number; reasoningTokens: number } {
  let outputTokens = 0;
  let reasoningTokens = 0;
  for (const block of blocks) {
    const tokens = tokensOf(block);
    outputTokens += tokens;
    if (block.type === "thinking" || block.type === "redacted-thinking") reasoningTokens += tokens;
  }
  return { outputTokens: Math.max(1, outputTokens), reasoningTokens };
}

/** Applies the stop sequences and the output limit of `conversation`, in that order, and says what ended the answer. */
export function limitBlocks(
  blocks: readonly WireBlock[],
  conversation: Pick<Conversation, "stopSequences" | "maxOutputTokens">,
): { blocks: WireBlock[]; stopReason: StopReason; stopSequence: string | undefined } {
  const stopped = stopAt(blocks, conversation.stopSequences);
  const kept: WireBlock[] = [];
  let left = conversation.maxOutputTokens ?? Infinity;
  for (const block of stopped.blocks) {
    const tokens = tokensOf(block);
    if (tokens > left) {
      const cut = cutBlock(block, left);
      if (cut) kept.push(cut);
      return { blocks: kept, stopReason: "length", stopSequence: undefined };
    }
    left -= tokens;
    kept.push(block);
  }
  if (stopped.sequence !== undefined) {
    return { blocks: kept, stopReason: "stop-sequence", stopSequence: stopped.sequence };
  }
  const isCalling = kept.some((block) => block.type === "tool-call");
  return { blocks: kept, stopReason: isCalling ? "tool-calls" : "end", stopSequence: undefined };
}

function stopAt(blocks: readonly WireBlock[], sequences: readonly string[]) {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== "text") continue;
    const text = block.pieces.join("");
    let end = -1;
    let found: string | undefined;
    for (const sequence of sequences) {
      const at = sequence === "" ? -1 : text.indexOf(sequence);
      if (at >= 0 && (end < 0 || at < end)) [end, found] = [at, sequence];
    }
    if (found === undefined) continue;
    const pieces = keepLength(block.pieces, end);
    const rest = pieces.length > 0 ? [{ ...block, pieces }] : [];
    return { blocks: [...blocks.slice(0, index), ...rest], sequence: found };
  }
  return { blocks: [...blocks], sequence: undefined };
}

function cutBlock(block: WireBlock, tokens: number): WireBlock | undefined {
  if (!("pieces" in block)) return undefined;
  const nameTokens = block.type === "tool-call" ? estimateTokens(block.name) : 0;
  if (tokens <= nameTokens) return undefined;
  const text = takeTokens(block.pieces.join(""), tokens - nameTokens);
  const pieces = keepLength(block.pieces, text.length);
  if (pieces.length === 0) return undefined;
  return block.type === "thinking" ? { ...block, pieces, signature: "" } : { ...block, pieces };
}

function keepLength(pieces: readonly string[], length: number): string[] {
  const kept: string[] = [];
  let left = length;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.slice(0, left));
    left -= piece.length;
  }
  return kept;
}

function tokensOf(block: WireBlock): number {
  switch (block.type) {
    case "tool-call":
      return estimateTokens(block.name) + estimateTokens(block.pieces.join(""));
    case "redacted-thinking":
      return estimateTokens(block.data);
    case "raw":
      return estimateTokens(JSON.stringify(block.value));
    default:
      return estimateTokens(block.pieces.join(""));
  }
}

function thinkingBlock(pieces: string[], signature: string | undefined): WireBlock {
  return { type: "thinking", pieces, signature: signature ?? signatureOf(pieces.join("")) };
}

// A call without arguments streams as an empty text from Anthropic and as "{}" from OpenAI.
function argumentsOf(input: unknown, isAnthropic: boolean): string {
  const text = JSON.stringify(input ?? {});
  return text === "{}" && isAnthropic ? "" : text;
}
