/**
 * Turns an answer into a `Response`: encoded for its protocol, cut, paced, and with the faults that were asked for.
 * Both `practice` and `scripted` end here.
 */
import { anthropicErrorEvent, anthropicMessage, anthropicStream } from "./anthropic_reply.js";
import { bodyStream, cutChunks, takeBytes } from "./body.js";
import { openaiChatCompletion, openaiChatStream, openaiErrorEvent } from "./openai_chat_reply.js";
import type { Random } from "./random.js";
import { errorBody, rejectionOf, vendorHeaders, type Rejection } from "./rejection.js";
import type { Reply } from "./reply.js";
import type { Chunking, Protocol, ReceivedRequest, Sleep, StreamFaults } from "./types.js";

/** How a response is delivered. */
export interface Delivery {
  chunking: Chunking;
  delayMs: number;
  sleep: Sleep;
  signal: AbortSignal | undefined;
  random: Random;
  status: number;
  headers: Record<string, string>;
  requestId: string;
}

/** The response that carries `reply`, streamed or whole as the request asked. */
export async function respond(
  request: ReceivedRequest,
  protocol: Protocol,
  reply: Reply,
  faults: StreamFaults,
  delivery: Delivery,
): Promise<Response> {
  const isAnthropic = protocol === "anthropic-messages";
  const vendor = vendorHeaders(protocol, delivery.requestId, delivery.status);
  if (!request.isStreaming) {
    const value = isAnthropic ? anthropicMessage(reply) : openaiChatCompletion(reply);
    await pause(delivery);
    return textResponse([JSON.stringify(value)], faults, "application/json", vendor, delivery);
  }
  const includeUsage = request.body?.stream_options?.include_usage === true;
  const { events, terminalAt } = isAnthropic
    ? anthropicStream(reply)
    : openaiChatStream(reply, { includeUsage });
  const { error } = faults;
  if (error) {
    const words = rejectionOf(protocol, { status: isAnthropic ? 529 : 500 });
    const type = error.type ?? words.type ?? "api_error";
    const message = error.message ?? words.message;
    events.splice(
      error.afterEvents ?? terminalAt,
      Infinity,
      isAnthropic ? anthropicErrorEvent(type, message, delivery.requestId) : openaiErrorEvent(type, message),
    );
  } else if (faults.stall === true || faults.truncate) {
    events.length = terminalAt;
  }
  return textResponse(events, faults, "text/event-stream; charset=utf-8", vendor, delivery);
}

/** The response that carries the vendor's error body. */
export function refuse(protocol: Protocol, rejection: Rejection, delivery: Delivery): Response {
  return new Response(errorBody(protocol, rejection, delivery.requestId), {
    status: rejection.status,
    headers: {
      "content-type": "application/json",
      ...vendorHeaders(protocol, delivery.requestId, rejection.status),
      ...delivery.headers,
    },
  });
}

/** Waits `delivery.delayMs`, if that is any time at all. Rejects with the signal's reason on abort. */
export async function pause(delivery: Pick<Delivery, "delayMs" | "sleep" | "signal">): Promise<void> {
  if (delivery.delayMs > 0)
    await delivery.sleep(delivery.delayMs, delivery.signal ?? new AbortController().signal);
}

/** A body from texts, each an event where `chunking` is `"event"`. */
export function textResponse(
  texts: readonly string[],
  faults: StreamFaults,
  contentType: string,
  headers: Record<string, string>,
  delivery: Delivery,
): Response {
  const { dropAfterEvents, dropAfterBytes, stall } = faults;
  const keep = dropAfterEvents ?? (typeof stall === "number" ? stall : undefined);
  const kept = keep === undefined ? texts : texts.slice(0, keep);
  const all = cutChunks(kept, delivery.chunking, delivery.random);
  const chunks = dropAfterBytes === undefined ? all : takeBytes(all, dropAfterBytes);
  const isDropped = dropAfterEvents !== undefined || dropAfterBytes !== undefined;
  const isStalled = stall === true || typeof stall === "number";
  const isStream = contentType.startsWith("text/event-stream");
  const body = bodyStream({
    chunks,
    delayMs: isStream ? delivery.delayMs : 0,
    ending: isDropped ? "drop" : isStalled ? "stall" : "close",
    sleep: delivery.sleep,
    signal: delivery.signal,
  });
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
