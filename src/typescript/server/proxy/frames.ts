/**
 * The frames of Amazon's event stream, as far as a proxy looks into them: the texts of their payloads. Checksums and
 * headers are the page's business. <https://smithy.io/2.0/aws/amazon-eventstream.html> (2026-11-26)
 */

/** Bytes before the headers: the length of the frame, that of the headers, and a checksum. */
const PRELUDE_BYTES = 12;
/** The bytes after the payload. */
const CHECKSUM_BYTES = 4;
/** The longest frame that is read; the service sends 16 MiB at most. */
const MAX_FRAME_BYTES = 16_777_216;

export class Frames {
  readonly #decoder = new TextDecoder();
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** The bytes that complete the next frame, as far as its length is known. */
  #needed = PRELUDE_BYTES;
  /** Whether an invalid length was received. Then nothing after it can be read. */
  #isLost = false;

  /** The payloads of the frames that these bytes complete. */
  *feed(bytes: Uint8Array): Generator<string> {
    if (this.#isLost) return;
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    // A long frame comes in many chunks, and is copied once.
    if (this.#length < this.#needed) return;
    const all = this.#joined();
    const view = new DataView(all.buffer);
    let at = 0;
    this.#needed = PRELUDE_BYTES;
    while (all.length - at >= PRELUDE_BYTES) {
      const length = view.getUint32(at);
      const headers = view.getUint32(at + 4);
      if (length > MAX_FRAME_BYTES || length < PRELUDE_BYTES + headers + CHECKSUM_BYTES) {
        this.#isLost = true;
        this.#chunks = [];
        return;
      }
      this.#needed = length;
      if (all.length - at < length) break;
      yield this.#decoder.decode(all.subarray(at + PRELUDE_BYTES + headers, at + length - CHECKSUM_BYTES));
      at += length;
      this.#needed = PRELUDE_BYTES;
    }
    this.#chunks = [all.slice(at)];
    this.#length = all.length - at;
  }

  #joined(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }
}
