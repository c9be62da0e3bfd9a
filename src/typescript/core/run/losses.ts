/** The losses of a run's instances, which end a run that gets no further. */
import type { JournalEntry } from "../api/run.js";

/** The losses in a row that leave no trace in the journal. The engine counts the others itself (`recovery`). */
const MAX_FRUITLESS = 3;
/** The facts of a journal that bring a run further. */
const FURTHER = ["messages", "call", "round"];

export class Losses {
  #entries = 0;
  #fruitless = 0;

  /** Takes note of a loss, with the journal by then. Returns false if the run has lost its instance too often. */
  add(entries: readonly JournalEntry[]): boolean {
    const isFurther = entries.slice(this.#entries).some(({ json }) => {
      const { fact } = JSON.parse(json) as { fact: object };
      return FURTHER.some((name) => Object.hasOwn(fact, name));
    });
    this.#entries = entries.length;
    this.#fruitless = isFurther ? 1 : this.#fruitless + 1;
    return this.#fruitless <= MAX_FRUITLESS;
  }
}
