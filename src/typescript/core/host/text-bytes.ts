/**
 * The bytes of the engine that travels inside JavaScript: a text with a letter for each byte, because HTTP compresses
 * that almost as well as the file itself. Base64 of a gzip cannot be compressed again.
 *
 * @throws Error for a text of another length than `length`
 */
export function bytesOf(text: string, length: number): Uint8Array<ArrayBuffer> {
  if (text.length !== length)
    throw new Error(
      'The engine\'s text has changed on its way. A bundle with letters beyond ASCII has to be read as UTF-8: give the page <meta charset="utf-8">, or the file the type "text/javascript; charset=utf-8".',
    );
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
