/**
 * Turns an answer into a `Response`: encoded for its protocol, cut, paced, and with the faults that were asked for.
 * Both `practice` and `scripted` end here. Owns the only timers (through `Sleep`) and leaves none behind.
 */
import { between, mintId, type Random } from "./random.js";
import type { Chunking, Sleep, StreamFaults } from "./types.js";
import { rejectionOf, type Rejection, type WireFormat } from "./wire/format.js";
import type { Reply } from "./wire/reply.js";

/** How a response is delivered. */
export interface Delivery {
  chunking: Chunking;
  /** Wait before each chunk, in milliseconds; 0 uses no timer. */
  delayMs: number;
  sleep: Sleep;
  signal: AbortSignal | undefined;
  random: Random;
  status: number;
  headers: Record<string, string>;
  requestId: string;
}

/** The delivery that `options` ask for, with status 200. */
export function deliveryOf(
  options: { chunking?: Chunking; delayMs?: number; sleep?: Sleep },
  defaultDelayMs: number,
  format: WireFormat,
  random: Random,
  signal: AbortSignal | undefined,
): Delivery {
  const { chunking = "event", delayMs = defaultDelayMs, sleep = timerSleep } = options;
  const requestId = mintId(random, format.ids.request);
  return { chunking, delayMs, sleep, signal, random, status: 200, headers: {}, requestId };
}

/** The response that carries `reply`: streamed if `streamedBody`, the body of the request, is given, else whole. */
export async function respond(
  format: WireFormat,
  reply: Reply,
  streamedBody: unknown,
  faults: StreamFaults,
  delivery: Delivery,
): Promise<Response> {
  const headers = format.headers(delivery.requestId, delivery.status);
  if (streamedBody === undefined) {
    await pause(delivery);
    return textResponse([JSON.stringify(format.whole(reply))], faults, "application/json", headers, delivery);
  }
  const { events, terminalAt } = format.stream(reply, streamedBody);
  const { error, stall, truncate } = faults;
  if (error) {
    const words = rejectionOf(format, { status: format.streamErrorStatus, ...error });
    const event = format.errorEvent(words.type, words.message, delivery.requestId);
    events.splice(error.afterEvents ?? terminalAt, Infinity, event);
  } else if (stall === true || truncate) {
    events.length = terminalAt;
  }
  return textResponse(events, faults, EVENT_STREAM, headers, delivery);
}

/** The response that carries the vendor's error body. */
export async function refuse(
  format: WireFormat,
  rejection: Rejection,
  delivery: Delivery,
): Promise<Response> {
  await pause(delivery);
  const { requestId, headers } = delivery;
  return new Response(format.errorBody({ param: null, code: null, ...rejection }, requestId), {
    status: rejection.status,
    headers: {
      "content-type": "application/json",
      ...format.headers(requestId, rejection.status),
      ...headers,
    },
  });
}

/** Waits `delayMs`, if that is any time at all. Rejects with the signal's reason on abort. */
export async function pause({ delayMs, sleep, signal }: Delivery): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, signal ?? new AbortController().signal);
}

export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** A body from texts, each an event where `chunking` is `"event"`. */
export function textResponse(
  texts: readonly string[],
  { dropAfterEvents, dropAfterBytes, stall }: StreamFaults,
  contentType: string,
  headers: Record<string, string>,
  delivery: Delivery,
): Response {
  const stallAt = typeof stall === "number" ? stall : undefined;
  const all = cutChunks(texts.slice(0, dropAfterEvents ?? stallAt), delivery.chunking, delivery.random);
  const chunks = dropAfterBytes === undefined ? all : takeBytes(all, dropAfterBytes);
  const isDropped = dropAfterEvents !== undefined || dropAfterBytes !== undefined;
  const ending = isDropped ? "drop" : stall === true || stallAt !== undefined ? "stall" : "close";
  const isStream = contentType === EVENT_STREAM;
  const body = bodyStream(chunks, ending, isStream ? delivery : { ...delivery, delayMs: 0 });
  return new Response(body, {
    status: delivery.status,
    headers: {
      "content-type": contentType,
      ...(isStream ? { "cache-control": "no-cache" } : {}),
      ...headers,
      ...delivery.headers,
    },
  });
}

/**
 * A byte stream of `chunks`, one a read (no read-ahead), that then closes, fails, or waits for an abort. An abort errors it
 * with `signal.reason`; cancelling it ends the wait in progress.
 */
export function bodyStream(
  chunks: readonly Uint8Array[],
  ending: "close" | "drop" | "stall",
  { delayMs, sleep, signal }: Pick<Delivery, "delayMs" | "sleep" | "signal">,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  let at = 0;
  let onAbort = () => {};
  const release = () => signal?.removeEventListener("abort", onAbort);
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (at < chunks.length || ending === "stall") return;
    release();
    if (ending === "close") controller.close();
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
        finish(controller);
      },
      async pull(controller) {
        const chunk = chunks[at];
        if (chunk === undefined) {
          // "drop" fails on the read after its last byte, so that those bytes arrive before the error.
          if (ending === "drop") return controller.error(new TypeError("network error"));
          return new Promise((resolve) => stop.signal.addEventListener("abort", () => resolve()));
        }
        try {
          if (delayMs > 0) await sleep(delayMs, stop.signal);
        } catch (reason) {
          release();
          if (!stop.signal.aborted) throw reason;
        }
        if (stop.signal.aborted) return;
        at += 1;
        controller.enqueue(chunk);
        finish(controller);
      },
      cancel(reason) {
        release();
        stop.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function cutChunks(events: readonly string[], chunking: Chunking, random: Random): Uint8Array[] {
  const encoder = new TextEncoder();
  if (chunking === "event") return events.map((event) => encoder.encode(event));
  const bytes = encoder.encode(events.join(""));
  const chunks: Uint8Array[] = [];
  for (let at = 0, size = 0; at < bytes.length; at += size) {
    size = chunking === "split" ? between(random, 1, 64) : Math.max(1, Math.floor(chunking));
    chunks.push(bytes.slice(at, at + size));
  }
  return chunks;
}

function takeBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  return chunks.flatMap((chunk) => {
    const taken = chunk.slice(0, Math.max(0, left));
    left -= chunk.length;
    return taken.length > 0 ? [taken] : [];
  });
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
