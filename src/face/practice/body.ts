/**
 * Response bodies: cuts the encoded events into chunks and hands them out one per read, paced, until the end, a fault,
 * an abort or a cancelled reader. Owns the only timers of the practice provider (through `Sleep`) and leaves none behind.
 */
import { between, type Random } from "./random.js";
import type { Chunking, Sleep } from "./types.js";

/** How a body behaves beyond its bytes. */
export interface BodyPlan {
  chunks: readonly Uint8Array[];
  /** Wait before each chunk, in milliseconds; 0 uses no timer. */
  delayMs: number;
  /** What happens after the last chunk: a clean end, a failed stream, or nothing at all until an abort. */
  ending: "close" | "drop" | "stall";
  sleep: Sleep;
  signal: AbortSignal | undefined;
}

/**
 * A byte stream after `plan`. It works only while it is read (no read-ahead). An abort errors it with `signal.reason`;
 * cancelling it ends the wait in progress.
 */
export function bodyStream(plan: BodyPlan): ReadableStream<Uint8Array> {
  const { chunks, signal } = plan;
  const stop = new AbortController();
  let at = 0;
  let onAbort = () => {};
  const release = () => signal?.removeEventListener("abort", onAbort);
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (plan.ending === "stall") return;
    release();
    if (plan.ending === "close") controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => {
          release();
          stop.abort(signal?.reason);
          controller.error(signal?.reason);
        };
        if (signal?.aborted) onAbort();
        else signal?.addEventListener("abort", onAbort);
        if (chunks.length === 0) finish(controller);
      },
      async pull(controller) {
        const chunk = chunks[at];
        if (chunk === undefined) {
          // "drop" fails on the read after its last byte, so that those bytes arrive before the error.
          if (plan.ending === "drop") controller.error(new TypeError("network error"));
          else await new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
          return;
        }
        if (plan.delayMs > 0) {
          try {
            await plan.sleep(plan.delayMs, stop.signal);
          } catch (reason) {
            if (stop.signal.aborted) return;
            release();
            throw reason;
          }
          if (stop.signal.aborted) return;
        }
        at += 1;
        controller.enqueue(chunk);
        if (at === chunks.length) finish(controller);
      },
      cancel(reason) {
        release();
        stop.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Cuts `events` after `chunking`. `random` is used by `"split"` only. */
export function cutChunks(events: readonly string[], chunking: Chunking, random: Random): Uint8Array[] {
  const encoder = new TextEncoder();
  if (chunking === "event") return events.map((event) => encoder.encode(event));
  const bytes = encoder.encode(events.join(""));
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = chunking === "split" ? between(random, 1, 64) : Math.max(1, Math.floor(chunking));
    chunks.push(bytes.slice(at, at + size));
    at += size;
  }
  return chunks;
}

/** The chunks that hold the first `count` bytes. */
export function takeBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  const taken: Uint8Array[] = [];
  let left = count;
  for (const chunk of chunks) {
    if (left <= 0) break;
    taken.push(chunk.length <= left ? chunk : chunk.slice(0, left));
    left -= chunk.length;
  }
  return taken;
}

/** The default `Sleep`, on `setTimeout`. */
export const timerSleep: Sleep = (delayMs, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
