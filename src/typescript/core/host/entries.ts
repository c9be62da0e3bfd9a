/** Entries of a journal, as the engine writes and reads them: JSON, one a line. */
import { LoopletError } from "../api/errors.js";
import type { JournalEntry } from "../api/run.js";
import { describe, isObject } from "../options/check.js";

/** A journal from which a run resumes. */
export interface JournalText {
  /** The JSON of each entry. */
  readonly texts: readonly string[];
  /** The number of the last entry as its store has it, which damaged entries do not tell; 0 for an empty journal. */
  readonly last: number;
}

/** The entries that go to the engine at once. A copy of a long journal as a whole would take its size once more. */
const BATCH_ENTRIES = 100;

/** The text of an entry before its checksum was added. */
export function withoutChecksum(json: string): string {
  return json.replace(/,"crc":\d+\}$/, "}");
}

/**
 * Whether a run is over with this entry, the last one of its journal, so that no process needs to resume it.
 * `pending` of a store leaves its journal out.
 */
export function isRunEnd({ json }: Pick<JournalEntry, "json">): boolean {
  return (
    /^\{"seq":\d+,"agent":0,"fact":\{"run":\{/.test(json) && /"isOver":true\}\}(,"crc":\d+)?\}$/.test(json)
  );
}

/** The entries with these texts, of which the first has this number. */
export function entriesOf(firstSeq: number, texts: readonly string[]): JournalEntry[] {
  return texts.map((json, index) => ({ seq: firstSeq + index, json }));
}

/**
 * The journal of these entries.
 *
 * @throws LoopletError `misuse_invalid_argument` for a value that is not an entry of a journal
 */
export function journalOf(entries: readonly JournalEntry[]): JournalText {
  const texts = entries.map((entry: unknown, index) => {
    if (isObject(entry) && typeof entry["json"] === "string") return entry["json"];
    const problem = `needs the entries that looplet gave to the store, got ${describe(entry)}`;
    throw new LoopletError("misuse_invalid_argument", `entries[${index}]`, problem);
  });
  return { texts, last: entries.at(-1)?.seq ?? 0 };
}

/** Gives the entries of a journal as the engine reads them: by the number of their batch from 0, in UTF-8, one a line. */
export function batchesOf({ texts }: JournalText): (at: number) => Uint8Array | undefined {
  const encoder = new TextEncoder();
  return (at) => {
    const batch = texts.slice(at * BATCH_ENTRIES, (at + 1) * BATCH_ENTRIES);
    return batch.length === 0 ? undefined : encoder.encode(batch.map((text) => `${text}\n`).join(""));
  };
}
