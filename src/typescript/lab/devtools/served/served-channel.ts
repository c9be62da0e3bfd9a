/**
 * The server's end of a channel over HTTP: what is posted goes to every page that reads events, and what a page has
 * sent is heard. A page that comes, or comes back, is greeted as if it had said hello: it may have missed something.
 */
import { PROTOCOL, type DevtoolsChannel } from "../live/protocol.js";

/** The response of a page that reads events. */
export interface EventStream {
  write(text: string): unknown;
  readonly writableLength: number;
  destroy(): unknown;
}

type Listener = Parameters<DevtoolsChannel["addEventListener"]>[1];

/** Bytes that may wait for a page. One that does not read is let go; when it comes back, it is told all. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;

export class ServedChannel implements DevtoolsChannel {
  readonly #streams = new Set<EventStream>();
  readonly #listeners = new Set<Listener>();

  postMessage(message: unknown): void {
    if (this.#streams.size === 0) return;
    const event = `data: ${JSON.stringify(message)}\n\n`;
    for (const stream of this.#streams) {
      stream.write(event);
      if (stream.writableLength > MAX_WAITING_BYTES) stream.destroy();
    }
  }

  addEventListener(_type: "message", listener: Listener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "message", listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** A page begins to read. Returns a function that says that it has left. */
  join(stream: EventStream): () => void {
    this.#streams.add(stream);
    // A page waits this long before it comes back.
    stream.write("retry: 500\n\n");
    this.hear({ looplet: PROTOCOL, source: "", type: "hello" });
    return () => this.#streams.delete(stream);
  }

  /** A page has sent this. */
  hear(data: unknown): void {
    for (const listener of this.#listeners) listener({ data });
  }
}
