/**
 * Requests' bodies, as strings. A conversation's body begins with the messages that the one before it had: those are
 * kept, and only what is new crosses from linear memory. A string that is two put together shares them, until somebody
 * reads it.
 */
import type { BatchReader } from "./batch.js";

/** How many agents' beginnings are kept; a body whose beginning is not kept crosses whole. */
const MAX_KEPT = 16;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The first bytes of the bodies of one name. */
interface Kept {
  name: number;
  bytes: number;
  text: string;
}

/** The beginnings of the bodies of one run. */
export class Bodies {
  /** By agent, the last one used at the end. */
  readonly #kept = new Map<number, Kept>();

  /**
   * The body that stands at `at` in linear memory: `length` bytes, of which the first `steady` are those of every later
   * body of this `name`. A `name` of 0 is that of no other.
   */
  take(
    { memory }: Pick<BatchReader, "memory">,
    agent: number,
    name: number,
    at: number,
    steady: number,
    length: number,
  ): string {
    const text = (from: number, to: number): string =>
      from < to ? decoder.decode(new Uint8Array(memory.buffer, at + from, to - from)) : "";
    if (name === 0) return text(0, length);
    let kept = this.#kept.get(agent);
    if (kept?.name !== name || kept.bytes > steady) kept = { name, bytes: 0, text: "" };
    kept.text += text(kept.bytes, steady);
    kept.bytes = steady;
    this.#kept.delete(agent);
    this.#kept.set(agent, kept);
    for (const first of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(first);
    }
    return kept.text + text(steady, length);
  }

  forget(): void {
    this.#kept.clear();
  }
}
