/**
 * The server's end of a channel over HTTP: posted messages go to every page that reads events, and messages from a
 * page are dispatched. A page that connects is treated as if it had said hello, because it may have missed something.
 */
import { PROTOCOL, type DevtoolsChannel } from "../live/protocol.js";

/** The response of a page that reads events. */
export interface EventStream {
  write(text: string): unknown;
  readonly writableLength: number;
  destroy(): unknown;
}

type Listener = Parameters<DevtoolsChannel["addEventListener"]>[1];

/**
 * The maximum number of bytes that may wait for a page. Beyond it, the page is disconnected. When it reconnects, it
 * gets everything again.
 */
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
