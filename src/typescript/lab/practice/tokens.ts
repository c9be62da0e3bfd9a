/** An estimate of tokens, not a tokeniser: one token per four UTF-8 bytes, rounded up for each text on its own. */

const BYTES_PER_TOKEN = 4;
const encoder = new TextEncoder();

/** Tokens of `text`: its UTF-8 length divided by four, rounded up; 0 for an empty text. @beta */
export function estimateTokens(text: string): number {
  return Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN);
}

/** The longest prefix of `text` that is estimated at no more than `tokens`; never cuts a surrogate pair. */
export function takeTokens(text: string, tokens: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(tokens * BYTES_PER_TOKEN)).read);
}
