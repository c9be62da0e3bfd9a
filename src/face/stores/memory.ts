import { StoreConflict } from "../api/errors.js";
import type { Store } from "../api/run.js";

/** A store that ends with its process: for tests, and for an isolate that outlives a lost engine. */
export function memoryStore(): Store {
  const journals = new Map<string, string[]>();
  return {
    append(key, entries, expectedSeq) {
      const journal = journals.get(key) ?? [];
      checkSeq(key, journal.length, expectedSeq);
      for (const { json } of entries) journal.push(json);
      journals.set(key, journal);
    },
    load: (key) => journals.get(key)?.map((json, index) => ({ seq: index + 1, json })),
  };
}

/**
 * Compares the number of a journal's last entry with the one that a writer knows.
 *
 * @throws StoreConflict if they differ
 */
export function checkSeq(key: string, last: number | undefined, expectedSeq: number): void {
  if ((last ?? 0) === expectedSeq) return;
  throw new StoreConflict(
    `The journal "${key}" ends with entry ${last ?? 0} and not with ${expectedSeq}: another process goes on with this run.`,
  );
}
