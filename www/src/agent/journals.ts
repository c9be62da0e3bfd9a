/** The journals of this browser's runs, in IndexedDB: after a reload a run goes on from its own. */
import type { Store } from "looplet";
import { indexedDbStore } from "looplet/stores";

const kept = indexedDbStore({ name: "looplet-playground" });

export const journals: Store = {
  append: (key, entries, expectedSeq) => kept.append(key, entries, expectedSeq),
  async load(key) {
    const entries = await kept.load(key);
    // looplet keeps the first events of a run for a task. An iteration that begins later starts with a snapshot,
    // which shows what was before the reload.
    await new Promise((resolve) => setTimeout(resolve));
    return entries;
  },
};

/** Removes the journal of a run that needs none any more. A browser without storage has none. */
export function forgetJournal(key: string): void {
  Promise.resolve(kept.delete(key)).catch(() => {});
}
