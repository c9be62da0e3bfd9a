/** Entries of one append as a text: JSON, one a line, each line with its end. */
import type { JournalEntry } from "../api/run.js";

export function linesOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ json }) => `${json}\n`).join("");
}

/** The entries of a text, of which the first has this number. */
export function entriesOf(first: number, lines: string): JournalEntry[] {
  return lines
    .split("\n")
    .slice(0, -1)
    .map((json, at) => ({ seq: first + at, json }));
}
