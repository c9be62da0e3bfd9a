/**
 * The bodies of requests, as strings. A conversation's body begins with the messages of the body before it. That
 * beginning is kept, so only new messages cross from linear memory. A concatenated string shares its beginning with
 * the kept one until somebody reads it.
 */
import type { BatchReader } from "./batch.js";

/** The number of agents whose beginnings are kept. Any other body crosses whole. */
const MAX_KEPT = 16;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The beginning that all bodies of one name share. */
interface Kept {
  name: number;
  bytes: number;
  text: string;
}

/** The beginnings of the bodies of one run. */
export class Bodies {
  /** The beginnings by agent, with the last used one at the end. */
  readonly #kept = new Map<number, Kept>();

  /**
   * The body at `at` in linear memory, of `length` bytes. Every later body with this `name` begins with its first
   * `steady` bytes. A body with the name 0 shares its beginning with no other.
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
