/**
 * Counts the crashes of a run's WebAssembly instances. It ends a run that crashes again and again without progress.
 * The count cannot live in the instance, because it must survive it.
 */
import type { JournalEntry } from "../api/run.js";

/** The most crashes in a row between which the journal got no further. The engine counts the others (`recovery`). */
const MAX_WITHOUT_PROGRESS = 3;
/** The facts of a journal that count as progress. */
const PROGRESS = ["messages", "call", "round"];

export class CrashCount {
  #entries = 0;
  #withoutProgress = 0;

  /** Counts a crash. `entries` is the journal so far. Returns false if the run has crashed too often. */
  add(entries: readonly JournalEntry[]): boolean {
    const hasProgress = entries.slice(this.#entries).some(({ json }) => {
      const { fact } = JSON.parse(json) as { fact: object };
      return PROGRESS.some((name) => Object.hasOwn(fact, name));
    });
    this.#entries = entries.length;
    this.#withoutProgress = hasProgress ? 1 : this.#withoutProgress + 1;
    return this.#withoutProgress <= MAX_WITHOUT_PROGRESS;
  }
}
