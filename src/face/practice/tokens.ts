/**
 * The token estimate and the prompt cache of the practice provider.
 * An estimate, not a tokeniser: one token per four UTF-8 bytes, rounded up for each text on its own.
 */
import { hashText } from "./random.js";

const BYTES_PER_TOKEN = 4;
const encoder = new TextEncoder();

/** Tokens of `text`: its UTF-8 length divided by four, rounded up; 0 for an empty text. */
export function estimateTokens(text: string): number {
  return Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN);
}

/** The longest prefix of `text` that is estimated at no more than `tokens`; never cuts a surrogate pair. */
export function takeTokens(text: string, tokens: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(tokens * BYTES_PER_TOKEN)).read);
}

/** One part of a prompt in the order in which a cache sees it: tools, system, messages. */
export interface PromptPart {
  text: string;
  /** Whether the prefix up to and including this part is written to the cache. */
  isBreakpoint: boolean;
}

/** Prefixes remembered before the oldest are forgotten. */
const MAX_PREFIXES = 4096;

/** Remembers prompt prefixes and counts what a later prompt shares with them. Linear in the prompt. */
export class PromptCache {
  readonly #minTokens: number;
  readonly #prefixes = new Set<string>();

  /** `minTokens`: shorter prefixes are neither written nor read, as with the vendors. */
  constructor(minTokens: number) {
    this.#minTokens = minTokens;
  }

  /** Tokens of the prompt, and those of the longest known prefix and of the prefix that is written, both included. */
  count(parts: readonly PromptPart[]): { total: number; read: number; written: number } {
    let [state, length, total, read, written] = [0x811c9dc5, 0, 0, 0, 0];
    const marked: string[] = [];
    for (const { text, isBreakpoint } of parts) {
      state = hashText(text, state);
      length += text.length;
      total += estimateTokens(text);
      if (total < this.#minTokens) continue;
      const key = `${state}:${length}`;
      if (this.#prefixes.has(key)) read = total;
      if (!isBreakpoint) continue;
      marked.push(key);
      written = total;
    }
    for (const key of marked) this.#remember(key);
    return { total, read, written: Math.max(0, written - read) };
  }

  #remember(key: string): void {
    this.#prefixes.delete(key);
    this.#prefixes.add(key);
    const [oldest] = this.#prefixes;
    if (this.#prefixes.size > MAX_PREFIXES && oldest !== undefined) this.#prefixes.delete(oldest);
  }
}
