/**
 * A log as its clients read it. Each client reads from its own position, a few entries at a time and only on demand,
 * so a client that does not read costs nothing. A position is the number of the entry before it. A client stores it
 * as a cursor, an opaque text.
 */

/** The entries of a log. */
export interface Source<E> {
  /** The name of the log, which is part of its cursors. Empty if the client uses only one log. */
  readonly name: string;
  /** The number of the last entry; 0 before the first. */
  readonly last: number;
  /** The entries after a position with their numbers, at most `most`. */
  behind(place: number, most: number): readonly Numbered<E>[];
}

export interface Numbered<E> {
  readonly seq: number;
  readonly entry: E;
}

/** Entries that a client receives in one read. */
export interface Batch<E> {
  /** Whether older entries that the client has not received were deleted. */
  readonly hasGap: boolean;
  readonly entries: readonly { readonly cursor: string; readonly entry: E }[];
  /** The position after them. */
  readonly place: number;
}

/** Entries of a batch; each may have some megabytes. */
const AT_ONCE = 16;

export class Feed<E> {
  readonly #source: Source<E>;
  readonly #waiting = new Set<() => void>();

  constructor(source: Source<E>) {
    this.#source = source;
  }

  /** A log without entries may get another name, so all logs have one cursor of the beginning. */
  cursorOf(place: number): string {
    const { name } = this.#source;
    return name === "" || place === 0 ? `${place}` : `${name}.${place}`;
  }

  /** The place of a cursor; undefined for a text that this log has not given. */
  placeOf(cursor: string): number | undefined {
    const at = cursor.lastIndexOf(".");
    const [name, digits] = [cursor.slice(0, Math.max(at, 0)), cursor.slice(at + 1)];
    const place = /^\d+$/.test(digits) ? Number(digits) : -1;
    const isOwn = name === this.#source.name || (name === "" && place === 0);
    return isOwn && Number.isSafeInteger(place) && place >= 0 ? place : undefined;
  }

  /** The next entries after a position. Empty if there are none yet. */
  take(place: number): Batch<E> {
    const found = this.#source.behind(place, AT_ONCE);
    return {
      hasGap: found.length > 0 && found[0]!.seq > place + 1,
      entries: found.map(({ seq, entry }) => ({ cursor: this.cursorOf(seq), entry })),
      place: found.at(-1)?.seq ?? place,
    };
  }

  /** The entries after a position and all later ones, until `signal` aborts. */
  async *read(place: number, signal: AbortSignal): AsyncGenerator<Batch<E>> {
    let wake = (): void => {};
    const woken = (): void => wake();
    this.#waiting.add(woken);
    signal.addEventListener("abort", woken);
    try {
      let { name } = this.#source;
      for (let at = place; !signal.aborted;) {
        const more = new Promise<void>((resolve) => (wake = resolve));
        const isAnew = name !== this.#source.name;
        // A log that was lost starts from the beginning.
        const batch = this.take(isAnew ? 0 : Math.min(at, this.#source.last));
        at = batch.place;
        if (batch.entries.length > 0) {
          name = this.#source.name;
          yield isAnew ? { ...batch, hasGap: true } : batch;
        } else await more;
      }
    } finally {
      this.#waiting.delete(woken);
    }
  }

  /** The log has got more. */
  wake(): void {
    for (const woken of this.#waiting) woken();
  }
}
