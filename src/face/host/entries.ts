/** Entries of a journal, as the engine writes and reads them: JSON, one a line. */
import { LoopletError } from "../api/errors.js";
import type { JournalEntry } from "../api/run.js";
import { describe, isObject } from "../options/check.js";

/** A journal from which a run goes on. */
export interface JournalText {
  readonly lines: string;
  /** The number of the last entry as its store has it, which damaged lines do not tell; 0 for an empty journal. */
  readonly last: number;
}

/** The entries of these lines, of which the first has this number. */
export function entriesOf(firstSeq: number, lines: string): JournalEntry[] {
  return lines.split("\n").map((json, index) => ({ seq: firstSeq + index, json }));
}

/**
 * The journal of these entries.
 *
 * @throws LoopletError `misuse_invalid_argument` for a value that is no entry of a journal
 */
export function journalOf(entries: readonly JournalEntry[]): JournalText {
  return { lines: linesOf(entries), last: entries.at(-1)?.seq ?? 0 };
}

/**
 * The JSON of entries, one a line.
 *
 * @throws LoopletError `misuse_invalid_argument` for a value that is no entry of a journal
 */
export function linesOf(entries: readonly JournalEntry[]): string {
  const lines = entries.map((entry: unknown, index) => {
    if (isObject(entry) && typeof entry["json"] === "string") return entry["json"];
    const problem = `needs the entries that looplet gave to the store, got ${describe(entry)}`;
    throw new LoopletError("misuse_invalid_argument", `entries[${index}]`, problem);
  });
  return lines.join("\n");
}
