/** Entries of one append as a text: JSON, one a line, each line with its end. */
import type { JournalEntry } from "../../core/api/run.js";

export function linesOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ json }) => `${json}\n`).join("");
}

/**
 * The entries of a text, of which the first has this number. `last` is the number that the last one had: a text that
 * does not end with it is damaged or that of another row, and a last entry says so.
 */
export function entriesOf(first: number, lines: string, last?: number): JournalEntry[] {
  const entries = lines
    .split("\n")
    .slice(0, -1)
    .map((json, at) => ({ seq: first + at, json }));
  if (last === undefined || entries.at(-1)?.seq === last) return entries;
  return [...entries.map(({ seq, json }) => ({ seq: Math.min(seq, last), json })), damaged(last)];
}

/** An entry in the place of damage: no reader takes it for a fact. */
export function damaged(seq: number): JournalEntry {
  return { seq, json: "damaged" };
}
