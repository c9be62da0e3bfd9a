/** Entries for the cases of the store contract, and what the cases expect of a store. */
import { isStoreConflict } from "../../core/api/errors.js";
import type { JournalEntry, Store } from "../../core/api/run.js";

/**
 * Rules by name. A rule opens stores with `makeStore`, on the same data each time, and writes under `key`. It rejects
 * when a store breaks it. The methods that its list needs exist.
 */
export interface Cases {
  readonly [name: string]: (makeStore: () => Promise<Required<Store>>, key: string) => Promise<void>;
}

export function entries(first: number, last: number, text = "fact"): JournalEntry[] {
  const count = last - first + 1;
  return Array.from({ length: count }, (_, at) => {
    const seq = first + at;
    return { seq, json: JSON.stringify({ seq, agent: 0, fact: { text, ü: [null, 1.5] } }) };
  });
}

export async function expectEntries(
  store: Store,
  key: string,
  expected: readonly JournalEntry[],
): Promise<void> {
  const loaded = (await store.load(key)) ?? [];
  const plain = loaded.map(({ seq, json }) => ({ seq, json }));
  if (JSON.stringify(plain) === JSON.stringify(expected)) return;
  const [got, wanted] = [plain, expected].map((list) => list.map(({ seq }) => seq).join(", "));
  throw new Error(`load gave the entries [${got}] and not [${wanted}], or changed their content`);
}

export async function expectConflict(
  store: Store,
  key: string,
  added: readonly JournalEntry[],
  expectedSeq: number,
  fence?: number,
): Promise<void> {
  try {
    await store.append(key, added, expectedSeq, fence);
  } catch (error) {
    if (isStoreConflict(error)) return;
    throw new Error(`append threw ${String(error)} and not a StoreConflict`);
  }
  const why =
    fence === undefined
      ? `after number ${expectedSeq}, where the journal does not end`
      : `with the old fence ${fence}`;
  throw new Error(`append took entries ${why}`);
}
