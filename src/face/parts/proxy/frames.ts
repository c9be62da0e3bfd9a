/**
 * The frames of Amazon's event stream, as far as a proxy looks into them: the texts of their payloads. Checksums and
 * headers are the page's business. <https://smithy.io/2.0/aws/amazon-eventstream.html> (2026-11-26)
 */

/** Bytes before the headers: the length of the frame, that of the headers, and a checksum. */
const PRELUDE_BYTES = 12;
/** Bytes behind the payload. */
const CHECKSUM_BYTES = 4;
/** The longest frame that is read; the service sends 16 MiB at most. */
const MAX_FRAME_BYTES = 16_777_216;

export class Frames {
  readonly #decoder = new TextDecoder();
  #rest = new Uint8Array(0);
  /** A length that cannot be right has come: nothing behind it is known. */
  #isLost = false;

  /** The payloads of the frames that these bytes complete. */
  *feed(bytes: Uint8Array): Generator<string> {
    if (this.#isLost) return;
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const view = new DataView(all.buffer);
    let at = 0;
    while (all.length - at >= PRELUDE_BYTES) {
      const length = view.getUint32(at);
      const headers = view.getUint32(at + 4);
      if (length > MAX_FRAME_BYTES || length < PRELUDE_BYTES + headers + CHECKSUM_BYTES) {
        this.#isLost = true;
        this.#rest = new Uint8Array(0);
        return;
      }
      if (all.length - at < length) break;
      yield this.#decoder.decode(all.subarray(at + PRELUDE_BYTES + headers, at + length - CHECKSUM_BYTES));
      at += length;
    }
    this.#rest = all.slice(at);
  }
}
