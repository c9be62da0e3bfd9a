/** Failures of a vendor: what they cost, and what of them the page gets. */

/** The longest body of a vendor's error that is passed on, in bytes, as `answers.maxErrorBodyBytes`. */
const MAX_ERROR_BYTES = 65_536;

/** Statuses by which a vendor or a gateway gives up a request that the model may have worked on until then. */
export const TIMED_OUT = [408, 504, 524];

/** Failures of a connection that was open, by the codes and words of Node, Deno and Bun. */
const LOST =
  /ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|ABORTED)|other side closed|socket hang up|terminated|connection (?:was )?(?:reset|closed|lost)|network connection lost/i;

/** Whether a request that has failed may have reached its vendor. */
export function isLost(error: unknown): boolean {
  const { code, message, cause } = Object(error) as { code?: unknown; message?: unknown; cause?: unknown };
  return LOST.test(`${String(code)} ${String(message)}`) || (cause != null && isLost(cause));
}

/** A failed response without the secrets of its request. */
export async function errorOf(response: Response, redact: (text: string) => string): Promise<Response> {
  const { status, headers } = response;
  const text = new TextDecoder().decode(await beginning(response));
  return new Response(redact(text), { status, headers });
}

async function beginning({ body }: Response): Promise<Uint8Array> {
  const bytes = new Uint8Array(MAX_ERROR_BYTES);
  let length = 0;
  const reader = body?.getReader();
  while (reader !== undefined && length < MAX_ERROR_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = value.subarray(0, MAX_ERROR_BYTES - length);
    bytes.set(part, length);
    length += part.byteLength;
  }
  void reader?.cancel().catch(() => {});
  return bytes.subarray(0, length);
}
