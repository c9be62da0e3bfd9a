/** Entries of one append as text: one JSON line each, with its line break. */
import type { JournalEntry } from "../../core/api/run.js";

export function linesOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ json }) => `${json}\n`).join("");
}

/**
 * The entries of a text. The first has number `first`. If `last` is given and the text does not end with this number,
 * it is damaged or belongs to another row, and a last entry marks that.
 */
export function entriesOf(first: number, lines: string, last?: number): JournalEntry[] {
  const entries = lines
    .split("\n")
    .slice(0, -1)
    .map((json, at) => ({ seq: first + at, json }));
  if (last === undefined || entries.at(-1)?.seq === last) return entries;
  return [...entries.map(({ seq, json }) => ({ seq: Math.min(seq, last), json })), damaged(last)];
}

/** An entry that marks damage. Readers do not treat it as data. */
export function damaged(seq: number): JournalEntry {
  return { seq, json: "damaged" };
}
