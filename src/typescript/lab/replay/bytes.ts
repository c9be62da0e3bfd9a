/** Bytes as a text from which they can be restored, also if they are not UTF-8: such a byte is a lone surrogate. */

const FIRST = 0xdc00;

/** The texts of the chunks of one body. A character that is split over two chunks is in the second text. */
export function textsOf(chunks: readonly Uint8Array[]): string[] {
  let rest = new Uint8Array(0);
  return chunks.map((chunk, index) => {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    const isLast = index === chunks.length - 1;
    const end = isLast ? bytes.length : bytes.length - openBytes(bytes);
    rest = bytes.slice(end);
    return textOf(bytes.subarray(0, end));
  });
}

/** The number of bytes at the end that may be the beginning of a letter. */
function openBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthAt(byte) > back ? back : 0;
  }
  return 0;
}

function lengthAt(first: number): number {
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return mixed(bytes);
  }
}

/** Reads letter by letter, because some of the bytes are not valid UTF-8. */
function mixed(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!;
    const length = first < 0x80 ? 1 : first < 0xc0 ? 0 : lengthAt(first);
    let letter: string | undefined;
    try {
      if (length > 0) letter = strict.decode(bytes.subarray(at, at + length));
    } catch {
      letter = undefined;
    }
    pieces.push(letter ?? String.fromCharCode(FIRST + first));
    at += letter === undefined ? 1 : length;
  }
  return pieces.join("");
}

/** True for a text whose bytes are not UTF-8. */
export function isBinary(text: string): boolean {
  return /[\udc80-\udcff]/.test(text) && [...text].some(isByte);
}

/** The bytes of a text of {@link textsOf}, in base64. */
export function base64Of(text: string): string {
  const encoder = new TextEncoder();
  const pieces: string[] = [];
  for (const letter of text) {
    const bytes = isByte(letter) ? [letter.charCodeAt(0) - FIRST] : encoder.encode(letter);
    pieces.push(String.fromCharCode(...bytes));
  }
  return btoa(pieces.join(""));
}

/** Both halves of a surrogate pair are one letter here. Only a lone half represents a byte. */
function isByte(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return letter.length === 1 && code >= FIRST + 0x80 && code <= FIRST + 0xff;
}
