/**
 * Seeded randomness: equal seeds give equal cuts, padding and ids, so a practice run can be compared byte by byte.
 * Not for secrets.
 */

/** Gives the next number in [0, 1). */
export type Random = () => number;

/** A generator whose numbers depend on `seed` only: mulberry32 over the FNV-1a hash of its UTF-16 units. */
export function seededRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A whole number from `low` to `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

const LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** `prefix` and `length` letters and digits, as vendors form their ids. */
export function mintId(random: Random, [prefix, length]: readonly [string, number]): string {
  return prefix + Array.from({ length }, () => LETTERS[between(random, 0, LETTERS.length - 1)]).join("");
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
