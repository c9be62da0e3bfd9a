/**
 * Events that wait for a reader. Waiting deltas of one block are joined, so that a buffer costs no more than the text
 * itself.
 */
import type { RunEvent } from "../../api/index.js";

type Delta = Extract<RunEvent, { text: string; block: number }>;

/** The number of last events among which a delta looks for one of its block, because vendors interleave blocks. */
const LOOK_BACK = 8;

export class EventBuffer {
  #events: RunEvent[] = [];
  /** Joined deltas that only this buffer holds, so that their text may grow in place. */
  #own = new WeakSet<RunEvent>();
  /** Characters of all deltas ever added. */
  chars = 0;

  get size(): number {
    return this.#events.length;
  }

  /** Appends `event`, or joins it to a delta of its block if only deltas came after that one. `seq` keeps rising. */
  add(event: RunEvent): void {
    if (!isDelta(event)) {
      this.#events.push(event);
      return;
    }
    this.chars += event.text.length;
    const index = this.#indexOfSameBlock(event);
    if (index < 0) {
      this.#events.push(event);
      return;
    }
    const joined = this.#owned(index);
    joined.text += event.text;
    joined.seq = event.seq;
    if (index === this.#events.length - 1) return;
    this.#events.splice(index, 1);
    this.#events.push(joined);
  }

  /** Removes the oldest event; undefined if there is none. */
  shift(): RunEvent | undefined {
    return this.#events.shift();
  }

  /** A copy of the waiting events, for a separate reader. */
  copy(): RunEvent[] {
    return this.#events.map((event) => (this.#own.has(event) ? { ...event } : event));
  }

  #indexOfSameBlock(event: Delta): number {
    const oldest = Math.max(0, this.#events.length - LOOK_BACK);
    for (let index = this.#events.length - 1; index >= oldest; index--) {
      const earlier = this.#events[index];
      if (earlier === undefined || !isDelta(earlier)) return -1;
      if (isSameBlock(earlier, event)) return index;
    }
    return -1;
  }

  #owned(index: number): Delta {
    const event = this.#events[index] as Delta;
    if (this.#own.has(event)) return event;
    const own = { ...event };
    this.#events[index] = own;
    this.#own.add(own);
    return own;
  }
}

export function isDelta(event: RunEvent): event is Delta {
  return event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-input-delta";
}

function isSameBlock(one: Delta, other: Delta): boolean {
  return (
    one.block === other.block &&
    one.type === other.type &&
    one.attempt === other.attempt &&
    one.iteration === other.iteration &&
    one.agentPath === other.agentPath
  );
}
