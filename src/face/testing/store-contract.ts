/**
 * The contract of a {@link Store} as cases for any test framework. Each case makes its own stores and throws an error that
 * says how the store breaks the contract. It needs no engine.
 */
import { StoreConflict } from "../api/errors.js";
import type { JournalEntry, Store } from "../api/run.js";

/** One rule of the contract. */
export interface StoreCase {
  readonly name: string;
  /** Rejects with an error that says what the store did. */
  run(): Promise<void>;
}

/**
 * The cases for a store. `makeStore` opens your store on the same data each time: two stores that it returns act as two
 * processes. Each case writes under keys of its own, which begin with `prefix` (default: a random one).
 */
export function storeCases(
  makeStore: () => Store | Promise<Store>,
  prefix = `check-${Math.random().toString(36).slice(2)}`,
): StoreCase[] {
  return Object.entries(CASES).map(([name, check], index) => ({
    name,
    run: async () => check(makeStore, `${prefix}-${index}`),
  }));
}

/** Runs all cases in turn. Rejects with one error that lists each broken rule. */
export async function checkStore(makeStore: () => Store | Promise<Store>): Promise<void> {
  const broken: string[] = [];
  for (const { name, run } of storeCases(makeStore)) {
    try {
      await run();
    } catch (error) {
      broken.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (broken.length > 0) throw new Error(`The store breaks its contract.\n${broken.join("\n")}`);
}

type Check = (makeStore: () => Store | Promise<Store>, key: string) => Promise<void>;

const CASES: { readonly [name: string]: Check } = {
  async "a missing journal is undefined or empty"(makeStore, key) {
    const loaded = await (await makeStore()).load(key);
    if (loaded !== undefined && loaded.length > 0) throw new Error(`load gave ${loaded.length} entries`);
  },
  async "entries come back in their order and unchanged"(makeStore, key) {
    const store = await makeStore();
    // Twelve entries, because numbers that are sorted as text put 10 before 2.
    await store.append(key, entries(1, 7), 0);
    await store.append(key, entries(8, 12), 7);
    await expectEntries(store, key, entries(1, 12));
    await expectEntries(await makeStore(), key, entries(1, 12));
  },
  async "a writer with a number that is too low is refused"(makeStore, key) {
    const store = await makeStore();
    await store.append(key, entries(1, 2), 0);
    await expectConflict(store, key, entries(2, 3), 1);
    await expectEntries(store, key, entries(1, 2));
  },
  async "a writer with a number that is too high is refused"(makeStore, key) {
    const store = await makeStore();
    await expectConflict(store, key, entries(6, 6), 5);
    await expectEntries(store, key, []);
  },
  async "a writer that has not seen another's append is refused"(makeStore, key) {
    const [first, second] = [await makeStore(), await makeStore()];
    await first.append(key, entries(1, 1), 0);
    await second.append(key, entries(2, 3), 1);
    await expectConflict(first, key, entries(2, 2, "stale"), 1);
    await expectEntries(first, key, entries(1, 3));
  },
  async "load gives copies, and append keeps copies"(makeStore, key) {
    const store = await makeStore();
    const given = entries(1, 1);
    await store.append(key, given, 0);
    (given[0] as { json: string }).json = "changed after append";
    const loaded = await store.load(key);
    (loaded![0] as { json: string }).json = "changed after load";
    await expectEntries(store, key, entries(1, 1));
  },
  async "a large entry is kept whole"(makeStore, key) {
    const store = await makeStore();
    const large = entries(1, 1, "ü".repeat(500_000));
    await store.append(key, large, 0);
    await expectEntries(store, key, large);
  },
  async "keys with unusual characters are told apart"(makeStore, key) {
    const store = await makeStore();
    const keys = ["/", "/..", "/../x", "%2F", " ", "Ä🦊", ":*?", "_", "%", "\u0000"].map((end) => key + end);
    for (const [index, odd] of keys.entries()) await store.append(odd, entries(1, 1, `${index}`), 0);
    for (const [index, odd] of keys.entries()) await expectEntries(store, odd, entries(1, 1, `${index}`));
  },
};

function entries(first: number, last: number, text = "fact"): JournalEntry[] {
  const count = last - first + 1;
  return Array.from({ length: count }, (_, at) => {
    const seq = first + at;
    return { seq, json: JSON.stringify({ seq, agent: 0, fact: { text, ü: [null, 1.5] } }) };
  });
}

async function expectEntries(store: Store, key: string, expected: readonly JournalEntry[]): Promise<void> {
  const loaded = (await store.load(key)) ?? [];
  const plain = loaded.map(({ seq, json }) => ({ seq, json }));
  if (JSON.stringify(plain) === JSON.stringify(expected)) return;
  const [got, wanted] = [plain, expected].map((list) => list.map(({ seq }) => seq).join(", "));
  throw new Error(`load gave the entries [${got}] and not [${wanted}], or changed their content`);
}

async function expectConflict(
  store: Store,
  key: string,
  added: readonly JournalEntry[],
  expectedSeq: number,
): Promise<void> {
  try {
    await store.append(key, added, expectedSeq);
  } catch (error) {
    if (error instanceof StoreConflict) return;
    throw new Error(`append threw ${String(error)} and not a StoreConflict`);
  }
  throw new Error(`append took entries after number ${expectedSeq}, where the journal does not end`);
}
