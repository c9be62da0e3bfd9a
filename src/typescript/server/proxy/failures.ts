/** Failures of a vendor: what they cost, and what of them the page gets. */

/** The maximum size of a vendor's error body that is passed on, in bytes, as `answers.maxErrorBodyBytes`. */
const MAX_ERROR_BYTES = 65_536;

/** Statuses with which a vendor or a gateway times out a request that the model may have worked on. */
export const TIMED_OUT = [408, 504, 524];

/** Failures of a connection that was open, by the codes and words of Node, Deno and Bun. */
const LOST =
  /ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|ABORTED)|other side closed|socket hang up|terminated|connection (?:was )?(?:reset|closed|lost)|network connection lost/i;

/** Whether a failed request may have reached its vendor. */
export function isLost(error: unknown): boolean {
  const { code, message, cause } = Object(error) as { code?: unknown; message?: unknown; cause?: unknown };
  return LOST.test(`${String(code)} ${String(message)}`) || (cause != null && isLost(cause));
}

/** The time that a vendor has for the body of an error, as `timeouts.errorBodyMs`. */
const ERROR_BODY_MS = 10_000;

/**
 * A failed response without the secrets of its request. A body that is too long, too slow or incomplete is cut, so
 * that it does not hold a connection or a slot of a quota. The rest of it is cancelled, also when `signal` aborts.
 */
export async function errorOf(
  response: Response,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<Response> {
  const { status, headers } = response;
  const text = new TextDecoder().decode(await beginning(response, signal));
  return new Response(redact(text), { status, headers });
}

async function beginning({ body }: Response, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(MAX_ERROR_BYTES);
  let length = 0;
  const reader = body?.getReader();
  const stop = (): void => void reader?.cancel().catch(() => {});
  const timer = setTimeout(stop, ERROR_BODY_MS);
  signal.addEventListener("abort", stop);
  try {
    while (reader !== undefined && length < MAX_ERROR_BYTES) {
      // Cancelling a reader settles its reads, even if the vendor never does.
      const { done, value } = await reader.read();
      if (done) break;
      const part = value.subarray(0, MAX_ERROR_BYTES - length);
      bytes.set(part, length);
      length += part.byteLength;
    }
  } catch {
    // The beginning of a body that breaks off is the error as far as it is known.
  }
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  stop();
  return bytes.subarray(0, length);
}

/** Settles as `sent` does, or rejects when `signal` fires first. What comes later is cancelled. */
export async function untilLeft<T>(
  sent: Promise<T>,
  signal: AbortSignal,
  discard: (late: T) => void,
): Promise<T> {
  let leave = (): void => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([sent, left]);
  } catch (error) {
    void sent.then(discard, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
