/** The journals of this browser's runs, in IndexedDB: after a reload a run goes on from its own. */
import type { Store } from "looplet";
import { indexedDbStore } from "looplet/stores";

const name = "looplet-playground";
const kept = indexedDbStore({ name });

export const journals: Store = {
  append: (key, entries, expectedSeq) => kept.append(key, entries, expectedSeq),
  async load(key) {
    const entries = await kept.load(key);
    // looplet keeps the first events of a run for a task. An iteration that begins later starts with a snapshot, which
    // shows what was before the reload.
    await new Promise((resolve) => setTimeout(resolve));
    return entries;
  },
};

/** Removes the journal of a run that needs none any more. The table is that of `indexedDbStore`. */
export function forgetJournal(key: string): void {
  const opening = indexedDB.open(name);
  opening.onsuccess = () => {
    const { result: database } = opening;
    if (database.objectStoreNames.contains("entries"))
      database
        .transaction("entries", "readwrite")
        .objectStore("entries")
        .delete(IDBKeyRange.bound([key, 0], [key, Infinity]));
    database.close();
  };
  opening.onupgradeneeded = () => opening.transaction?.abort();
}
