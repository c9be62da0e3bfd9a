/**
 * The token estimate and the prompt cache of the practice provider.
 * An estimate, not a tokeniser: one token per four UTF-8 bytes, rounded up for each text on its own.
 */
import { hashText } from "./random.js";

/** UTF-8 bytes that count as one token. */
export const BYTES_PER_TOKEN = 4;

/** Tokens of `text`: its UTF-8 length divided by four, rounded up; 0 for an empty text. */
export function estimateTokens(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) bytes += 2;
    else bytes += 3;
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** The longest prefix of `text` that is estimated at no more than `tokens`; never cuts a surrogate pair. */
export function takeTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text;
  let end = 0;
  let bytes = 0;
  const budget = tokens * BYTES_PER_TOKEN;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > budget) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** One part of a prompt in the order in which a cache sees it: tools, system, messages. */
export interface PromptPart {
  text: string;
  /** Whether the prefix up to and including this part is written to the cache. */
  isBreakpoint: boolean;
}

/** How many prompt tokens came from where. The three add up to the whole prompt. */
export interface PromptCount {
  uncachedTokens: number;
  readTokens: number;
  writtenTokens: number;
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

  /** Counts `parts`; reads the longest known prefix and remembers every prefix that ends in a breakpoint. */
  count(parts: readonly PromptPart[]): PromptCount {
    let state = 0x811c9dc5;
    let length = 0;
    let total = 0;
    let read = 0;
    let written = 0;
    const marked: string[] = [];
    for (const part of parts) {
      state = hashText(part.text, state);
      length += part.text.length;
      total += estimateTokens(part.text);
      if (total < this.#minTokens) continue;
      const key = `${state}:${length}`;
      if (this.#prefixes.has(key)) read = total;
      if (part.isBreakpoint) {
        marked.push(key);
        written = total;
      }
    }
    for (const key of marked) this.#remember(key);
    const writtenTokens = Math.max(0, written - read);
    return { uncachedTokens: total - read - writtenTokens, readTokens: read, writtenTokens };
  }

  #remember(key: string): void {
    this.#prefixes.delete(key);
    this.#prefixes.add(key);
    if (this.#prefixes.size <= MAX_PREFIXES) return;
    for (const oldest of this.#prefixes) {
      this.#prefixes.delete(oldest);
      return;
    }
  }
}
