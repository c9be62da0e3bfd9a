/**
 * One iteration over a run's events. It holds what its reader has not taken yet; deltas of one block that wait behind
 * each other become one, so that a slow reader costs no more than the text itself, and never stalls the run.
 */
import type { RunEvent } from "./types.js";

type Delta = Extract<RunEvent, { text: string; block: number }>;

/** How far back a delta looks for an earlier one of its block: the blocks that vendors interleave. */
const LOOK_BACK = 8;

export class EventQueue implements AsyncIterableIterator<RunEvent> {
  #waiting: RunEvent[] = [];
  /** Readers that asked before there was an event, in order. */
  #readers: ((step: IteratorResult<RunEvent, void>) => void)[] = [];
  #ended = false;
  readonly #leave: (queue: EventQueue) => void;

  /** `first` is what a reader sees before anything else; `leave` is called when the reader goes before the end. */
  constructor(first: readonly RunEvent[], leave: (queue: EventQueue) => void) {
    for (const event of first) this.push(event);
    this.#leave = leave;
  }

  /** Takes an event; a delta may be joined to one that still waits. */
  push(event: RunEvent): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: event });
      return;
    }
    coalesce(this.#waiting, event);
  }

  /** There will be no more events. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const reader of this.#readers) reader({ done: true, value: undefined });
    this.#readers = [];
  }

  next(): Promise<IteratorResult<RunEvent, void>> {
    const value = this.#waiting.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** `break`, `return` or a throw in the loop. */
  return(): Promise<IteratorResult<RunEvent, void>> {
    const left = !this.#ended;
    this.#waiting = [];
    this.end();
    if (left) this.#leave(this);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Appends `event`, or joins it to a delta of its block with nothing but deltas behind it; `seq` keeps rising. */
export function coalesce(events: RunEvent[], event: RunEvent): void {
  if (isDelta(event)) {
    const oldest = Math.max(0, events.length - LOOK_BACK);
    for (let index = events.length - 1; index >= oldest; index--) {
      const earlier = events[index];
      if (earlier === undefined || !isDelta(earlier)) break;
      if (!sameBlock(earlier, event)) continue;
      events.splice(index, 1);
      events.push({ ...event, text: earlier.text + event.text });
      return;
    }
  }
  events.push(event);
}

function isDelta(event: RunEvent): event is Delta {
  return event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-input-delta";
}

function sameBlock(one: Delta, other: Delta): boolean {
  return (
    one.block === other.block &&
    one.type === other.type &&
    one.attempt === other.attempt &&
    one.iteration === other.iteration &&
    one.agentPath === other.agentPath
  );
}
