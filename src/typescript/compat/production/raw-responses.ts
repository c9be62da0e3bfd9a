/** The bodies of a model's responses, as the vendor sent them. */
import type { Fetch } from "../../core/api/index.js";

/** The maximum size of a stored body in bytes, the same as for a body that is not streamed. */
const MAX_BYTES = 64 * 1024 * 1024;

export class RawResponses {
  #last: Promise<string | undefined> = Promise.resolve(undefined);

  /** What the run has read of the last response. `undefined` if it was cut off, or exceeds the limit. */
  get last(): Promise<string | undefined> {
    return this.#last;
  }

  /** Wraps `fetch` and stores the bodies of the responses. */
  around(fetch: Fetch): Fetch {
    return async (url, init) => {
      const response = (await fetch(url, init)) as Response;
      // A copy would not show that `fetch` followed a redirect automatically, which must be refused.
      if (!(response.body instanceof ReadableStream) || response.redirected) return response;
      const copy = new Copy(response.body);
      this.#last = copy.text;
      const { status, statusText, headers } = response;
      return new Response(copy.body, { status, statusText, headers });
    };
  }
}

/**
 * A body that is stored while it is read. It reads nothing that the run does not read, and the source ends with the
 * run. The other half of a `tee` would read on, as long as a server sends.
 */
class Copy {
  readonly body: ReadableStream<Uint8Array>;
  readonly text: Promise<string | undefined>;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #finish: (text: string | undefined) => void = () => {};

  constructor(source: ReadableStream<Uint8Array>) {
    this.text = new Promise((resolve) => (this.#finish = resolve));
    const reader = source.getReader();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          this.#end();
          return controller.close();
        }
        this.#keep(value);
        controller.enqueue(value);
      } catch (error) {
        this.#finish(undefined);
        controller.error(error);
      }
    };
    const cancel = (reason: unknown): Promise<void> => {
      this.#end();
      return reader.cancel(reason);
    };
    this.body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  #keep(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BYTES) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  #end(): void {
    const decoder = new TextDecoder();
    const pieces = this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true }));
    this.#finish(this.#bytes > MAX_BYTES ? undefined : pieces.join("") + decoder.decode());
    this.#chunks = [];
  }
}
