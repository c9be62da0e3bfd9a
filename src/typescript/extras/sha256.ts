/** SHA-256 where the platform has it, and of our own in pages over plain http, which have no `crypto.subtle`. */

/** The digest of these bytes: 32 bytes. <https://csrc.nist.gov/pubs/fips/180-4/upd1/final> */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { subtle } = (globalThis as { crypto?: Partial<Crypto> }).crypto ?? {};
  if (subtle !== undefined) return new Uint8Array(await subtle.digest("SHA-256", bytes));
  return ownSha256(bytes);
}

const PRIMES = Array.from({ length: 312 }, (_, at) => at).filter(
  (n) => n > 1 && Array.from({ length: n - 2 }, (_, at) => at + 2).every((by) => n % by !== 0),
);

/** The first 32 fractional bits. */
const fraction = (value: number): number => ((value % 1) * 2 ** 32) | 0;

function ownSha256(bytes: Uint8Array): Uint8Array {
  const state = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const keys = PRIMES.slice(0, 64).map((prime) => fraction(Math.cbrt(prime)));
  const padded = new DataView(new ArrayBuffer((((bytes.length + 8) >> 6) + 1) << 6));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  padded.setUint32(padded.byteLength - 4, bytes.length << 3);
  const words = new Int32Array(64);
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let at = 0; at < 64; at += 1)
      words[at] = at < 16 ? padded.getInt32(block + 4 * at) : nextWord(words, at);
    let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
    for (let at = 0; at < 64; at += 1) {
      const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const first = (h + one + ((e & f) ^ (~e & g)) + keys[at]! + words[at]!) | 0;
      const zero = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at]! + value) | 0;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [at, value] of state.entries()) digest.setInt32(4 * at, value);
  return new Uint8Array(digest.buffer);
}

function nextWord(words: Int32Array, at: number): number {
  const [two, fifteen] = [words[at - 2]!, words[at - 15]!];
  const one = turned(two, 17) ^ turned(two, 19) ^ (two >>> 10);
  const zero = turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3);
  return (words[at - 16]! + zero + words[at - 7]! + one) | 0;
}

/** The bits turned to the right. */
function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
