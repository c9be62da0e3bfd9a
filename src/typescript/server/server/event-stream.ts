/** Text responses that stay open as long as a client reads them. */
import type { HostResponse } from "../../core/api/platform.js";
import type { Batch } from "../workers/hosting/feed.js";
import { respond } from "./http.js";
import { KEEP_ALIVE, KeepAlive } from "../../extras/keep-alive.js";
import type { ToldEvent } from "../workers/hosting/session-log.js";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Otherwise nginx buffers the events.
  "x-accel-buffering": "no",
};

/** The events as server-sent events. `withRun`: each with the id of its run, for clients that follow several. */
export function eventStream(
  batches: AsyncGenerator<Batch<ToldEvent>>,
  gone: AbortController,
  withRun: boolean,
  onEnd: () => void,
): HostResponse {
  async function* texts(): AsyncGenerator<string> {
    yield ": looplet\n\n";
    for await (const { hasGap, entries } of batches) {
      const events = entries.map(
        ({ cursor, entry }) => `id: ${cursor}\ndata: ${JSON.stringify(withRun ? entry : entry.event)}\n\n`,
      );
      yield (hasGap ? "event: gap\ndata: {}\n\n" : "") + events.join("");
    }
  }
  return textStream(texts(), gone, HEADERS, onEnd, KEEP_ALIVE);
}

/** A response of texts, each sent as soon as the client can receive it. `quiet` is sent during silence. */
export function textStream(
  texts: AsyncIterable<string>,
  gone: AbortController,
  headers: { readonly [name: string]: string },
  onEnd: () => void,
  quiet?: string,
): HostResponse {
  const encoder = new TextEncoder();
  const reading = texts[Symbol.asyncIterator]();
  const silence = new KeepAlive<IteratorResult<string>>();
  let isOver = false;
  const end = (): void => {
    if (!isOver) onEnd();
    isOver = true;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const read = (): Promise<IteratorResult<string>> => reading.next();
        const chunk = quiet === undefined ? await read() : await silence.next(read);
        if (chunk === undefined) return isOver ? undefined : controller.enqueue(encoder.encode(quiet));
        if (isOver) return;
        if (chunk.done !== true) return controller.enqueue(encoder.encode(chunk.value));
        end();
        controller.close();
      } catch (error) {
        end();
        console.error("looplet: a stream of a session has failed.", error);
        controller.error(new Error("The stream has failed."));
      }
    },
    // The client comes back with the last number that it has.
    cancel() {
      gone.abort();
      silence.stop();
      end();
      void reading.return?.().catch(() => {});
    },
  });
  return respond(body, { headers: { ...headers } });
}
