/**
 * Reads the events of one drain of the engine: records in linear memory, all in one crossing.
 *
 * A record is eight words: kind, seq, agent, iteration, attempt, block, bytes, UTF-16 units. The text of all records
 * is in one buffer, in their order. Kinds 0 to 2 are deltas, 3 is any other event as JSON. A single short delta has
 * its text as UTF-16 units after its words, because a call of `TextDecoder` costs as much as all other work on such a
 * chunk.
 */
import type { RunEvent } from "../api/index.js";
import type { HostBytes } from "../api/platform.js";

/** The listener of one run. An error that `onDelta` or `onEvent` throws goes to `onHostError`. */
export interface BatchListener {
  onDelta(
    kind: 0 | 1 | 2,
    text: string,
    block: number,
    seq: number,
    agent: number,
    iteration: number,
    attempt: number,
  ): void;
  /** `agent` is the agent's number, 0 for the root. */
  onEvent(event: RunEvent, agent: number): void;
  onHostError(error: unknown): void;
}

const recordWords = 8;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** One array per length, because setting the length of an array costs more than filling it. */
const codesOf: number[][] = [];

/** Reads batches and bodies out of one linear memory. The views are empty if that memory has grown since `look`. */
export class BatchReader {
  words!: Uint32Array;
  bytes!: Uint8Array;
  units!: Uint16Array;
  /** The address at which a chunk enters linear memory; `capacity` is the number of bytes that fit. */
  inletAt = 0;
  capacity = 0;

  /**
   * `memory` is the `WebAssembly.Memory`, a type that a project without a browser's library does not have.
   * `outletWord` is the index of the lent record, in words.
   */
  constructor(
    readonly memory: { readonly buffer: ArrayBuffer },
    readonly outletWord: number,
  ) {
    this.look();
  }

  /** Makes new views of the memory. */
  look(): void {
    this.words = new Uint32Array(this.memory.buffer);
    this.bytes = new Uint8Array(this.memory.buffer);
    this.units = new Uint16Array(this.memory.buffer);
  }

  /** Copies `length` bytes, because the engine reuses its memory. */
  copy(at: number, length: number): HostBytes {
    if (this.bytes.length === 0) this.look();
    return this.bytes.slice(at, at + length);
  }

  /**
   * Passes every record to `listener`, in order. All records are copied out of linear memory before the first call: a
   * listener may start work that makes the memory grow, which detaches every view of it.
   */
  read(wordsAt: number, records: number, textAt: number, textBytes: number, listener: BatchListener): void {
    if (this.bytes.length === 0) this.look();
    const start = wordsAt >>> 2;
    const words = this.words.slice(start, start + records * recordWords);
    const all = decoder.decode(this.bytes.subarray(textAt, textAt + textBytes));
    if (records === 1) return tell(listener, words, 0, all);
    let from = 0;
    for (let at = 0; at < words.length; at += recordWords) {
      const to = from + words[at + 7]!;
      tell(listener, words, at, all.slice(from, to));
      from = to;
    }
  }

  /** Passes the lent record, whose text has `units` UTF-16 units, to `listener`. */
  tellLent(units: number, listener: BatchListener): void {
    tell(listener, this.words, this.outletWord, this.lentText(units));
  }

  // A separate method that calls no user code, because the code that V8 optimises for it outlives its run.
  private lentText(length: number): string {
    const { units } = this;
    let at = (this.outletWord + recordWords) * 2;
    // One flat string from a plain array: `apply` on a view and `TextDecoder` each cost more than a word of text.
    const codes = (codesOf[length] ??= new Array<number>(length).fill(0));
    for (let i = 0; i < length; i++) codes[i] = units[at++]!;
    return String.fromCharCode.apply(null, codes);
  }
}

function tell(listener: BatchListener, words: Uint32Array, at: number, text: string): void {
  const kind = words[at]!;
  try {
    if (kind < 3) {
      listener.onDelta(
        kind as 0 | 1 | 2,
        text,
        words[at + 5]!,
        words[at + 1]!,
        words[at + 2]!,
        words[at + 3]!,
        words[at + 4]!,
      );
    } else {
      listener.onEvent(JSON.parse(text) as RunEvent, words[at + 2]!);
    }
  } catch (error) {
    report(listener, error);
  }
}

/** Reports an error of your code. Never throws. */
export function report(listener: Pick<BatchListener, "onHostError">, error: unknown): void {
  try {
    listener.onHostError(error);
  } catch {
    // The error listener itself has thrown, so there is no one left to report the error to.
  }
}
