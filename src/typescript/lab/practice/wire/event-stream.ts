/**
 * Messages of `application/vnd.amazon.eventstream`: total length, length of the headers, CRC-32 of these two,
 * headers, payload, CRC-32 of all before. https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html
 * (2026-11-21)
 */

const encoder = new TextEncoder();

/** One message with string headers. */
export function eventMessage(headers: Record<string, string>, payload: string): Uint8Array {
  const head = Object.entries(headers).flatMap(([name, value]) => {
    const [key, text] = [encoder.encode(name), encoder.encode(value)];
    return [key.length, ...key, TEXT, text.length >> 8, text.length & 255, ...text];
  });
  const body = encoder.encode(payload);
  const bytes = new Uint8Array(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length);
  view.setUint32(4, head.length);
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  bytes.set(head, PRELUDE_BYTES);
  bytes.set(body, PRELUDE_BYTES + head.length);
  const end = bytes.length - CHECKSUM_BYTES;
  view.setUint32(end, crc32(bytes.subarray(0, end)));
  return bytes;
}

/** The type of a header with a string value. */
const TEXT = 7;
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
