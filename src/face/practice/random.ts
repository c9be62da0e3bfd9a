/**
 * Seeded randomness: equal seeds give equal cuts, padding and ids, so a practice run can be compared byte by byte.
 * Not for secrets.
 */

/** Gives the next number in [0, 1). */
export type Random = () => number;

/** A generator whose numbers depend on `seed` only (mulberry32 over a hash of the seed). */
export function seededRandom(seed: string): Random {
  let state = hashText(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** FNV-1a of the UTF-16 units of `text`; 32 bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A whole number from `low` to `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

const LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** `prefix` and `length` letters and digits, as vendors form their ids. */
export function mintId(random: Random, [prefix, length]: readonly [string, number]): string {
  let id = prefix;
  for (let i = 0; i < length; i += 1) id += LETTERS.charAt(between(random, 0, LETTERS.length - 1));
  return id;
}

/** How every signature of the practice provider begins. */
export const SIGNATURE_PREFIX = "EqQBCkYICxgCKkA";

/**
 * The signature that the practice provider puts under `thinking`; it depends on the text only, so that a changed or
 * reordered thinking block is found out when the history comes back.
 */
export function signatureOf(thinking: string): string {
  return `${mintId(seededRandom(`signature:${thinking}`), [SIGNATURE_PREFIX, 92])}==`;
}
