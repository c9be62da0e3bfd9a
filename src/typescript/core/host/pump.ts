/**
 * Reads a response's body chunk by chunk and hands every chunk on at once, with no read-ahead.
 *
 * A loop in JavaScript, because a promise per read that crosses into WebAssembly costs more than the rest of the work
 * on a small chunk.
 */

/** The receiver of the bytes. None of its methods is called after `stop`, and none throws. */
export interface PumpSink {
  /** Takes the next bytes of a request's body, at least one. */
  feed(request: number, chunk: Uint8Array): void;
  /** The body is complete. */
  end(request: number): void;
  /** The body broke off, or it is not readable. */
  fail(request: number, error: unknown): void;
}

/** One body under way. */
export class Pump {
  private readonly state = { isStopped: false };
  private cancel: (() => unknown) | undefined;

  constructor(
    private readonly request: number,
    private readonly body: unknown,
    private readonly sink: PumpSink,
  ) {}

  /** Starts to read. Never rejects. */
  async start(): Promise<void> {
    try {
      await this.read(this.body as Partial<Body>);
    } catch (error) {
      if (!this.state.isStopped) this.sink.fail(this.request, error);
      return;
    } finally {
      this.cancel = undefined;
    }
    if (!this.state.isStopped) this.sink.end(this.request);
  }

  /** Stops reading and cancels the source; the lock is released immediately. */
  stop(): void {
    if (this.state.isStopped) return;
    this.state.isStopped = true;
    const cancel = this.cancel;
    this.cancel = undefined;
    try {
      Promise.resolve(cancel?.()).catch(ignore);
    } catch {
      // A source that cannot be cancelled has nothing more to say here.
    }
  }

  private async read(body: Partial<Body>): Promise<void> {
    if (typeof body.getReader === "function") return this.readStream(body as ReadableStream<unknown>);
    if (typeof body[Symbol.asyncIterator] === "function")
      return this.readIterable(body as AsyncIterable<unknown>);
    if (typeof body === "string" || isBinary(body)) return this.pass(body);
    if (typeof body.arrayBuffer === "function") return this.pass(await body.arrayBuffer());
    if (typeof body.text === "function") return this.pass(await body.text());
    throw new TypeError("the response's body is neither a stream nor has it arrayBuffer() or text()");
  }

  private async readStream(stream: ReadableStream<unknown>): Promise<void> {
    const reader = stream.getReader();
    this.cancel = () => {
      const cancelled = reader.cancel();
      release(reader);
      return cancelled;
    };
    // These are locals, because V8's code for the fields of a pump is dropped when a garbage collection finds no
    // pump.
    const { state, sink, request } = this;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || state.isStopped) return;
        // This test is cheaper than `instanceof`; `pass` handles any other value.
        const chunk = value as Uint8Array | null | undefined;
        if (chunk?.constructor === Uint8Array && chunk.length > 0) sink.feed(request, chunk);
        else this.pass(value);
      }
    } finally {
      release(reader);
    }
  }

  private async readIterable(source: AsyncIterable<unknown>): Promise<void> {
    const iterator = source[Symbol.asyncIterator]();
    this.cancel = () => iterator.return?.();
    for (;;) {
      const { done, value } = await iterator.next();
      if (done || this.state.isStopped) return;
      this.pass(value);
    }
  }

  private pass(chunk: unknown): void {
    if (this.state.isStopped) return;
    const bytes = chunk instanceof Uint8Array ? chunk : bytesOf(chunk);
    if (bytes.length > 0) this.sink.feed(this.request, bytes);
  }
}

/** The other forms of a body, besides bytes and strings. */
interface Body {
  getReader(): unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}

let encoder: TextEncoder | undefined;

function bytesOf(chunk: unknown): Uint8Array {
  if (typeof chunk === "string") return (encoder ??= new TextEncoder()).encode(chunk);
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (isBinary(chunk)) return new Uint8Array(chunk as ArrayBuffer);
  throw new TypeError("the response's body gave a chunk that is neither bytes nor a string");
}

function isBinary(value: unknown): boolean {
  return ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === "[object ArrayBuffer]";
}

// JavaScript engines from before 2022 throw while a read is pending; the loop releases the lock again after that
// read.
function release(reader: ReadableStreamDefaultReader<unknown>): void {
  try {
    reader.releaseLock();
  } catch {
    // The loop releases it.
  }
}

function ignore(): void {}
