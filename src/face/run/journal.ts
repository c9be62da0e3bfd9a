/**
 * The journal of a run on its way into the store. Entries that come while the store writes wait for the next write, so
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

/** The run that is to go on: its id, and its entries if no store has them under that id. */
export interface Resumed {
  readonly key: string;
  readonly entries?: readonly JournalEntry[];
}

export class Journal {
  readonly #host: JournalHost;
  readonly #key: string;
  #entries: JournalEntry[] = [];
  #saves: number[] = [];
  #writing: Promise<void> | undefined;
  #error: unknown;
  /** The number of the last entry of this run; undefined before the first. */
  last: number | undefined;
  /** The journal of the chat's run before this one, and its end. */
  #before: Journal | undefined;
  #inherited: Promise<void> | undefined;
  /** Settles with the first save, or with the end of a run that has none. */
  readonly #begun: Promise<void>;
  #begin!: () => void;

  constructor(host: JournalHost, key: string, before?: Journal) {
    this.#host = host;
    this.#key = key;
    this.#before = before;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
  }

  /** Adds entries that the store does not have, without a save that waits for them. */
  add(entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
  }

  save(save: number, entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
    this.last = entries.at(-1)?.seq ?? this.last;
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
    await this.#inherit();
    await this.#writing;
    // Entries without an error have come since.
    if (this.#entries.length > 0 && this.#error !== undefined) throw this.#error;
  }

  /** All entries, those included that the store does not have. */
  async entries(): Promise<JournalEntry[]> {
    await this.#inherit();
    await this.#writing;
    return [...((await this.#host.store.load(this.#key)) ?? []), ...this.#entries];
  }

  /** Waits for the writes of the run before, and takes over the entries that they have not brought into the store. */
  #inherit(): Promise<void> {
    return (this.#inherited ??= this.#takeOver());
  }

  async #takeOver(): Promise<void> {
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined) return;
    await before.#inherit();
    await before.#writing;
    this.#entries.unshift(...before.#entries);
    this.#error = before.#error;
  }

  async #write(): Promise<void> {
    await this.#inherit();
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
        this.#error = undefined;
        return true;
      } catch (error) {
        if (error instanceof StoreConflict) {
          // A write that failed may have reached the store all the same.
          if (isRepeated && (await this.#has(entries.at(-1)!))) {
            this.#error = undefined;
            return true;
          }
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
