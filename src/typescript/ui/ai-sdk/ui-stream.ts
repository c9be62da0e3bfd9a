/** The UI message stream of a run, as chunks and as a response of a server. */
import { LoopletError } from "../../core/api/errors.js";
import type { RunEvent } from "../../core/api/event.js";
import type { HostResponse } from "../../core/api/platform.js";
import { checkOptions, describe, isObject, type OptionTable } from "../../core/kit/check.js";
import { json } from "../../server/server/http.js";
import { KEEP_ALIVE, KeepAlive } from "../../extras/keep-alive.js";
import { ChunkWriter, PAUSE_END } from "./chunk-writer.js";
import type { UiChunk, UiStream, UiStreamOptions } from "./types.js";

/** A run, here or elsewhere, by what a stream of it needs. */
export interface EventSource {
  readonly id: string;
  events(options: { detached: true }): AsyncIterable<RunEvent>;
}

/** The options of a stream. */
export const STREAM_TABLE: OptionTable = {
  version: "any",
  messageId: "id",
  holdAttempts: "boolean",
  staysOpen: "boolean",
  metadata: "function",
  onError: "function",
};

/**
 * The events of a run as chunks of the AI SDK's UI message stream, version 1. The stream ends with the run. It also
 * ends when the run waits for an approval or a client tool, because the AI SDK answers with a new request.
 * `LoopletChatTransport` finds the run of that request and resumes it. A reader that cancels does not stop the run.
 *
 * @throws LoopletError `config_…`, `misuse_invalid_argument` for a source without events
 */
export function uiStream(
  source: EventSource | AsyncIterable<RunEvent>,
  options: UiStreamOptions = {},
): UiStream {
  const writer = new ChunkWriter(
    checkStreamOptions(options),
    "id" in Object(source) ? (source as EventSource).id : "",
  );
  const isOpen = options.staysOpen === true;
  const events = eventsOf(source)[Symbol.asyncIterator]();
  return new ReadableStream<UiChunk>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await events.next();
        if (done) return controller.close();
        const chunks = writer.feed(value);
        const isPause = !isOpen && writer.isPause(value);
        if (isPause) chunks.push(...writer.pauseChunks(), ...PAUSE_END);
        for (const chunk of chunks) controller.enqueue(chunk);
        if (isPause) return controller.close();
        if (chunks.length > 0) return;
      }
    },
    async cancel() {
      // Returning early from the iterator would abort a run that is not detached.
      while (!(await events.next()).done);
    },
  }) as UiStream;
}

/**
 * A response with the stream of a run, or with a stream of chunks: server-sent events with the headers of the
 * protocol. `init` has more headers, a status, and the options of `uiStream`.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { toUIMessageStreamResponse } from "looplet/ai-sdk";
 *
 * const agent = createAgent({ model: custom(() => Promise.resolve("Hello.")) });
 * const response = toUIMessageStreamResponse(agent.run("Hi"));
 * console.log(response.headers.get("content-type")); // prints "text/event-stream"
 * ```
 *
 * @throws LoopletError as `uiStream`
 */
export function toUIMessageStreamResponse(
  source: EventSource | AsyncIterable<RunEvent> | UiStream,
  init: UiResponseInit = {},
): HostResponse {
  const { status = 200, statusText, headers, ...options } = init;
  const isChunks = source instanceof ReadableStream && !("events" in source);
  const chunks = (isChunks ? source : uiStream(source as EventSource, options)) as ReadableStream<UiChunk>;
  const encoder = new TextEncoder();
  const reader = chunks.getReader();
  const quiet = new KeepAlive<ReadableStreamReadResult<UiChunk>>();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await quiet.next(() => reader.read());
      if (read === undefined) return controller.enqueue(encoder.encode(KEEP_ALIVE));
      const { done, value } = read;
      controller.enqueue(encoder.encode(`data: ${done ? "[DONE]" : JSON.stringify(value)}\n\n`));
      if (done) controller.close();
    },
    cancel(reason) {
      quiet.stop();
      return reader.cancel(reason);
    },
  });
  const all = new Headers(UI_STREAM_HEADERS);
  new Headers(headers as HeadersInit).forEach((value, name) => all.set(name, value));
  const given = statusText === undefined ? {} : { statusText };
  return new Response(body, { status, headers: all, ...given }) as HostResponse;
}

/** The options of `toUIMessageStreamResponse`. */
export interface UiResponseInit extends UiStreamOptions {
  /** Default 200. */
  status?: number | undefined;
  statusText?: string | undefined;
  /** Additional headers. They override those of the protocol. Default: none. */
  headers?: { readonly [name: string]: string } | Iterable<readonly [string, string]> | undefined;
}

/**
 * The headers of a UI message stream: those of `ui-message-stream/ui-message-stream-headers.ts` in `ai` 7.0.173
 * without `connection`, which HTTP/2 does not allow. No cache stores what belongs to one user.
 */
export const UI_STREAM_HEADERS: { readonly [name: string]: string } = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

export function checkStreamOptions(given: UiStreamOptions): UiStreamOptions {
  const options = checkOptions(given, "", STREAM_TABLE);
  const { version } = options;
  if (version === undefined || version === 5 || version === 6 || version === 7) return options;
  throw new LoopletError(
    "config_invalid_value",
    "version",
    `needs 5, 6 or 7, the major version of ai, got ${String(version)}`,
  );
}

function eventsOf(source: EventSource | AsyncIterable<RunEvent>): AsyncIterable<RunEvent> {
  if (isObject(source) && "events" in source && typeof source.events === "function")
    return (source as EventSource).events({ detached: true });
  if (isObject(source) && Symbol.asyncIterator in source) return source as AsyncIterable<RunEvent>;
  throw new LoopletError(
    "misuse_invalid_argument",
    "run",
    `needs a run or its events, got ${describe(source)}`,
  );
}

/** What a page sends of a request to `sendMessages`. */
const OF_PAGE = ["chatId", "messages", "chat", "prompt", "abortSignal"];

/**
 * Returns a response with status 400 for an error of `request.json()` or of `LoopletChatTransport` that the page
 * caused. Throws any other error again, because it concerns the server.
 *
 * @throws the error itself
 */
export function mistakeResponse(error: unknown): HostResponse {
  // The class may be that of another bundle.
  const { name, message, code, field } = Object(error) as { [field: string]: unknown };
  if (name === "SyntaxError") return json({ error: "The body is not JSON." }, 400);
  const isOfPage = OF_PAGE.includes(/^\w*/.exec(String(field))![0]);
  const isMistake = String(code).startsWith("misuse_") || (isOfPage && String(code).startsWith("config_"));
  if (name !== "LoopletError" || !isMistake) throw error;
  return json({ error: message }, 400);
}
