/** A stream of events over HTTP that reconnects after the last complete event. */
import { streamEvents } from "../../../extras/mcp/events.js";
import { AddressError, type Address } from "./address.js";

/** The listener of a stream. */
export interface StreamListener {
  /** An event, its data as JSON, and the cursor after it. */
  hear(cursor: string, data: unknown): void;
  /** Events were deleted that the stream has not received. */
  gap(): void;
  /** There is nothing more to come. */
  end(cursor: string | undefined): void;
  /** The server refuses the stream. */
  fail(error: Error): void;
}

/** Waits between two tries, in milliseconds: the first and the longest. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export class HttpStream {
  readonly #address: Address;
  readonly #path: string;
  readonly #silenceMs: number;
  readonly #listener: StreamListener;
  readonly #left = new AbortController();
  #cursor: string | undefined;

  /** `silenceMs` is the time without a byte after which the stream counts as broken. */
  constructor(
    address: Address,
    path: string,
    cursor: string | undefined,
    silenceMs: number,
    listener: StreamListener,
  ) {
    this.#address = address;
    this.#path = path;
    this.#cursor = cursor;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    void this.#go();
  }

  leave(): void {
    this.#left.abort();
  }

  async #go(): Promise<void> {
    const { signal } = this.#left;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const before = this.#cursor;
      try {
        if (await this.#read()) return;
      } catch (error) {
        if (error instanceof AddressError && !error.isPassing) {
          if (!signal.aborted) this.#listener.fail(error.cause as Error);
          return;
        }
      }
      if (this.#cursor !== before) failures = 0;
      await waited(failures, signal);
    }
  }

  /** Reads one response to its end. Resolves with true if no more events will follow. */
  async #read(): Promise<boolean> {
    const broken = new AbortController();
    const stop = (): void => broken.abort();
    this.#left.signal.addEventListener("abort", stop);
    let timer: unknown;
    const alive = (): void => {
      clearTimeout(timer as number);
      timer = setTimeout(stop, this.#silenceMs);
    };
    alive();
    try {
      const after = this.#cursor === undefined ? "" : `&after=${encodeURIComponent(this.#cursor)}`;
      const headers = { accept: "text/event-stream" };
      const response = await this.#address.send(this.#path + after, { headers, signal: broken.signal });
      if (response.status === 204) {
        this.#listener.end(this.#cursor);
        return true;
      }
      for await (const { id, event, data } of streamEvents(chunksOf(response.body!, broken.signal, alive))) {
        if (this.#left.signal.aborted) return true;
        if (event === "gap") this.#listener.gap();
        else if (id !== undefined) {
          this.#cursor = id;
          this.#listener.hear(id, JSON.parse(data));
        }
      }
      return false;
    } finally {
      clearTimeout(timer as number);
      this.#left.signal.removeEventListener("abort", stop);
      broken.abort();
    }
  }
}

/** Waits longer after each failure. Resolves early if `signal` aborts. */
export function waited(failures: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    // Jitter: pages that lost a server at the same time reconnect one by one.
    const timer = setTimeout(done, longest * (0.5 + Math.random() / 2));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/** The chunks of a body until `signal` aborts, even if the bodies of `fetch` ignore its signal. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  alive: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      yield value;
    }
  } finally {
    cancel();
  }
}
