/** The body of a request, read up to a limit. */

/** The bytes of a body. Undefined as soon as it is known to be longer. */
export async function readBytes(
  { body, headers }: Pick<Request, "body" | "headers">,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // A request with a too large content-length is refused before it is read. If the length is wrong, the body is cut
  // off below.
  if (Number(headers.get("content-length") ?? 0) > maxBytes) return undefined;
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** The text of a body; undefined if it is longer. @throws TypeError for bytes that are not UTF-8 */
export async function readText(request: Request, maxBytes: number): Promise<string | undefined> {
  const bytes = await readBytes(request, maxBytes);
  return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
