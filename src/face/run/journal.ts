/**
 * The journal of one run on its way into the store. Entries that come while the store writes wait for the next write, so
 * that the store gets them in order and few at a time. A write that fails is repeated. After the last failure the
 * entries wait for the next write, and the calls that needed the save are not made.
 */
import { StoreConflict } from "../api/errors.js";
import type { Clock, JournalEntry, Store } from "../api/index.js";

/** Tries of one write, and the waits between them in milliseconds. */
const WAITS_MS = [100, 1000];

/** Your store, and the functions that hear of its writes. */
export interface JournalHost {
  readonly store: Store;
  readonly clock: Clock;
  /** Hears of each save whether the store has it. */
  readonly saved: (save: number, ok: boolean) => void;
  /** Hears of errors of the store, the last of each write. */
  readonly report: (error: unknown) => void;
  /** Hears that another process goes on with the run. */
  readonly lost: () => void;
}

export class Journal {
  readonly #host: JournalHost;
  readonly #key: string;
  #entries: JournalEntry[] = [];
  #saves: number[] = [];
  #writing: Promise<void> | undefined;
  #error: unknown;
  /** Settles with the first save, or with the end of a run that has none. */
  readonly #begun: Promise<void>;
  #begin!: () => void;

  constructor(host: JournalHost, key: string) {
    this.#host = host;
    this.#key = key;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
  }

  /** Adds entries that the store does not have, without a save that waits for them. */
  add(entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
  }

  save(save: number, entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
    this.#saves.push(save);
    this.#writing ??= this.#write();
    this.#begin();
  }

  /** The run has ended: nothing more comes. */
  end(): void {
    this.#begin();
  }

  /** Resolves when the store has everything so far, the prompt at least. */
  async saved(): Promise<void> {
    await this.#begun;
    await this.#writing;
    if (this.#entries.length > 0) throw this.#error;
  }

  /** All entries, those included that the store does not have. */
  async entries(): Promise<JournalEntry[]> {
    await this.#writing;
    return [...((await this.#host.store.load(this.#key)) ?? []), ...this.#entries];
  }

  async #write(): Promise<void> {
    await null;
    while (this.#saves.length > 0) {
      const [saves, entries] = [this.#saves, this.#entries];
      [this.#saves, this.#entries] = [[], []];
      const isSaved = entries.length === 0 || (await this.#append(entries));
      if (!isSaved) this.#entries.unshift(...entries);
      for (const save of saves) this.#host.saved(save, isSaved);
    }
    this.#writing = undefined;
  }

  async #append(entries: readonly JournalEntry[]): Promise<boolean> {
    const { store, report, lost } = this.#host;
    const after = entries[0]!.seq - 1;
    let isRepeated = false;
    for (const waitMs of [...WAITS_MS, undefined]) {
      try {
        await store.append(this.#key, entries, after);
        return true;
      } catch (error) {
        if (error instanceof StoreConflict) {
          // A write that failed may have reached the store all the same.
          if (isRepeated && (await this.#has(entries.at(-1)!))) return true;
          this.#error = error;
          lost();
          return false;
        }
        this.#error = error;
        isRepeated = true;
        if (waitMs === undefined) report(error);
        else await this.#wait(waitMs);
      }
    }
    return false;
  }

  async #has(last: JournalEntry): Promise<boolean> {
    try {
      const kept = await this.#host.store.load(this.#key);
      return kept?.at(-1)?.json === last.json;
    } catch (error) {
      this.#host.report(error);
      return false;
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#host.clock.setTimer(resolve, delayMs));
  }
}
