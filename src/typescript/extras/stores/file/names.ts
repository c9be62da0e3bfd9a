/**
 * Keys as names of files and folders. Each key has a unique name on every file system: no capital letters, which some
 * file systems treat like small ones, no names that Windows reserves for devices, and no paths.
 */

/** Letters, digits and these are unchanged. */
const PLAIN = /^[a-z0-9_.-]$/;
/** Names of devices, and of folders of every folder. */
const TAKEN = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|^\.\.?$/;

export function nameOfKey(key: string): string {
  const isTaken = TAKEN.test(key);
  return Array.from(key, (letter, at) =>
    PLAIN.test(letter) && !(isTaken && at === 0) ? letter : escaped(letter),
  ).join("");
}

/** The key of this name. Undefined for any other name. */
export function keyOfName(name: string): string | undefined {
  try {
    const key = name.replace(/%u([0-9A-F]{4})|(?:%[0-9A-F]{2})+/g, (text, unit?: string) =>
      unit === undefined ? decodeURIComponent(text) : String.fromCharCode(Number.parseInt(unit, 16)),
    );
    return nameOfKey(key) === name ? key : undefined;
  } catch {
    return undefined;
  }
}

function escaped(letter: string): string {
  const code = letter.codePointAt(0)!;
  if (code < 0x80) return `%${hex(code, 2)}`;
  // One half of a pair has no UTF-8.
  if (code >= 0xd800 && code <= 0xdfff) return `%u${hex(code, 4)}`;
  return encodeURIComponent(letter);
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}
