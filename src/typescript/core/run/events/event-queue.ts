/**
 * One iteration over a run's events. It holds the events that its reader has not taken yet, and never stalls the run.
 */
import type { RunEvent } from "../../api/index.js";
import { EventBuffer } from "./event-buffer.js";

export class EventQueue implements AsyncIterableIterator<RunEvent> {
  #waiting = new EventBuffer();
  /** Readers that asked before an event came, in order. */
  #readers: ((step: IteratorResult<RunEvent, void>) => void)[] = [];
  #ended = false;
  #settle!: () => void;
  /** Resolves when the reader has taken everything, or has gone. */
  readonly drained = new Promise<void>((resolve) => (this.#settle = resolve));
  readonly #leave: (queue: EventQueue) => void;

  /** `first` are the events that the reader gets first; `leave` is called if the reader goes before the end. */
  constructor(first: readonly RunEvent[], leave: (queue: EventQueue) => void) {
    for (const event of first) this.push(event);
    this.#leave = leave;
  }

  /** Adds an event; a delta may be joined to one that still waits. */
  push(event: RunEvent): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: event });
      return;
    }
    this.#waiting.add(event);
  }

  /** Marks the end of the events. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#readers.length > 0) this.#settle();
    for (const reader of this.#readers) reader({ done: true, value: undefined });
    this.#readers = [];
  }

  next(): Promise<IteratorResult<RunEvent, void>> {
    const value = this.#waiting.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) {
      this.#settle();
      return Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Called for a `break`, `return` or throw in the loop. */
  return(): Promise<IteratorResult<RunEvent, void>> {
    const left = !this.#ended;
    this.#waiting = new EventBuffer();
    this.end();
    this.#settle();
    if (left) this.#leave(this);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
