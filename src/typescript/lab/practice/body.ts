/**
 * Response bodies: split into chunks, paced, ended or broken as configured. Has the only timers, and clears them all.
 */
import { between, type Random } from "./random.js";
import type { Chunking, Sleep } from "./types.js";

/** Waits `delayMs`, if that is any time at all. Rejects with the signal's reason on abort. */
export async function pause({ delayMs, sleep, signal }: Pace): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, signal ?? new AbortController().signal);
}

/** How a body is paced. */
export interface Pace {
  delayMs: number;
  sleep: Sleep;
  signal: AbortSignal | undefined;
}

/**
 * A byte stream of `chunks`, one a read (no read-ahead), that then closes, fails, or waits for an abort. An abort
 * errors it with `signal.reason`; cancelling it ends the wait in progress.
 */
export function bodyStream(
  chunks: readonly Uint8Array[],
  ending: "close" | "drop" | "stall",
  { delayMs, sleep, signal }: Pace,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const rest = [...chunks];
  const onAbort = () => stop.abort(signal?.reason);
  const release = () => signal?.removeEventListener("abort", onAbort);
  const closeAtEnd = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (rest.length > 0 || ending !== "close") return;
    release();
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop.signal.addEventListener("abort", () => (release(), controller.error(stop.signal.reason)));
        signal?.addEventListener("abort", onAbort);
        if (signal?.aborted) onAbort();
        else closeAtEnd(controller);
      },
      async pull(controller) {
        const chunk = rest.shift();
        // "drop" fails on the read after its last byte, so that those bytes arrive before the error.
        if (!chunk && ending === "drop") return (release(), controller.error(new TypeError("network error")));
        if (!chunk) return new Promise((resolve) => stop.signal.addEventListener("abort", () => resolve()));
        await pause({ delayMs, sleep, signal: stop.signal }).catch((reason) => {
          if (!stop.signal.aborted) throw (release(), reason);
        });
        if (stop.signal.aborted) return;
        controller.enqueue(chunk);
        closeAtEnd(controller);
      },
      cancel: (reason) => stop.abort(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The bytes of `parts`, each an event, cut as `chunking` says; no more than `maxBytes` of them. */
export function cutChunks(
  parts: readonly (string | Uint8Array)[],
  chunking: Chunking,
  maxBytes: number,
  random: Random,
): Uint8Array[] {
  const encoded = parts.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
  const sizes = encoded.map(({ length }) => length);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  encoded.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  const end = Math.min(maxBytes, bytes.length);
  const chunks: Uint8Array[] = [];
  for (let at = 0, size = 0; at < end; at += size) {
    if (chunking === "event") size = sizes[chunks.length] ?? end;
    else size = chunking === "split" ? between(random, 1, 64) : Math.max(1, Math.floor(chunking));
    chunks.push(bytes.slice(at, Math.min(end, at + size)));
  }
  return chunks;
}

/** The default `Sleep`, on `setTimeout`. */
export const timerSleep: Sleep = (delayMs, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal.removeEventListener("abort", onAbort), resolve()), delayMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
