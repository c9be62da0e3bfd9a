/**
 * The contract of a {@link Store} as cases for any test framework. Each case makes its own stores and throws an error
 * that says how the store breaks the contract. It needs no engine.
 */
import type { Store } from "../../core/api/run.js";
import { entries, expectConflict, expectEntries, type Cases } from "./expect-store.js";
import { ENDED_CASES, LEASE_CASES } from "./lease-contract.js";

/** One rule of the contract. @beta */
export interface StoreCase {
  readonly name: string;
  /**
   * Rejects with an error that says what the store did. A store without `lease` or `delete` skips the rules about it,
   * and one with `consistency: "eventual"` that about two writers at the same moment.
   */
  run(): Promise<"passed" | "skipped">;
}

/**
 * The names of the rules that a store has passed, and of those that do not apply because it has no `lease` or no
 * `delete`.
 *
 * @beta
 */
export interface StoreVerdict {
  readonly passed: readonly string[];
  readonly skipped: readonly string[];
}

/**
 * The cases for a store. `makeStore` opens your store on the same data each time: two stores that it returns act as
 * two processes. Each case writes under its own keys, which begin with `prefix` (default: a random one).
 *
 * @beta
 */
export function storeCases(
  makeStore: () => Store | Promise<Store>,
  prefix = `check-${Math.random().toString(36).slice(2)}`,
): StoreCase[] {
  const made = async () => (await makeStore()) as Required<Store>;
  const listed = (cases: Cases, needs: keyof Store): StoreCase[] =>
    Object.entries(cases).map(([name, check], index) => ({
      name,
      async run() {
        const store: Store & { consistency?: string } = await makeStore();
        const isEventual = store.consistency === "eventual" && RACES.includes(name);
        if (store[needs] === undefined || isEventual) return "skipped";
        await check(made, `${prefix}-${needs}-${index}`);
        return "passed";
      },
    }));
  return [
    ...listed(CASES, "append"),
    ...listed(LEASE_CASES, "lease"),
    ...listed(ENDED_CASES, "ended"),
    ...listed(DELETE_CASES, "delete"),
  ];
}

/** Runs all cases in turn. Rejects with one error that lists each broken rule. @beta */
export async function checkStore(makeStore: () => Store | Promise<Store>): Promise<StoreVerdict> {
  const broken: string[] = [];
  const verdict: { [verdict in "passed" | "skipped"]: string[] } = { passed: [], skipped: [] };
  for (const { name, run } of storeCases(makeStore)) {
    try {
      verdict[await run()].push(name);
    } catch (error) {
      broken.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (broken.length > 0) throw new Error(`The store breaks its contract.\n${broken.join("\n")}`);
  return verdict;
}

/** Rules that a store without a common order of its writers cannot keep. */
const RACES = ["of two appends at the same moment one is refused"];

/** JSON that changes when it is parsed and serialised again, and JSON without a number field. */
const TEXTS = [
  '{"b":9007199254740993,"a":1.0,"10":1e2,"2":[0.10,-0]}',
  '{"a":1,"a":2}',
  '{ "blank" : [ 1,\t2 ] }',
  '"\\u00e9 é \\ud83e\\udd8a 🦊 \u2028"',
  "null",
  "5",
  "{}",
  "[]",
  '""',
];

const CASES: Cases = {
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
  async "load gives every entry behind a number"(makeStore, key) {
    const store = await makeStore();
    await store.append(key, entries(1, 1), 0);
    await store.append(key, entries(2, 4), 1);
    await store.append(key, entries(5, 6), 4);
    for (let after = 0; after <= 7; after++)
      for (const one of [store, await makeStore()]) {
        // Entries up to the number may come too.
        const behind = ((await one.load(key, after)) ?? []).filter(({ seq }) => seq > after);
        const expected = entries(1, 6).slice(after);
        if (JSON.stringify(behind.map(({ seq, json }) => ({ seq, json }))) !== JSON.stringify(expected))
          throw new Error(`load gave the entries [${behind.map(({ seq }) => seq)}] behind ${after}`);
      }
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
  async "of two appends at the same moment one is refused"(makeStore, key) {
    const stores = [await makeStore(), await makeStore()];
    for (const after of [0, 1, 2]) {
      const given = stores.map((_, at) => entries(after + 1, after + 1, `of writer ${at}`));
      // A store may throw synchronously, so each append is in its own function.
      const appends = stores.map(async (store, at) => store.append(key, given[at]!, after));
      const settled = await Promise.allSettled(appends);
      const taken = settled.findIndex(({ status }) => status === "fulfilled");
      const isOne = settled.filter(({ status }) => status === "fulfilled").length === 1;
      if (!isOne) throw new Error(`${taken < 0 ? "none" : "both"} of two appends went through`);
      const last = (await stores[0]!.load(key))!.at(-1)!;
      if (last.json !== given[taken]![0]!.json) throw new Error("the append that was refused is kept");
    }
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
  async "an entry is kept as the text that it is, whatever JSON it has"(makeStore, key) {
    const store = await makeStore();
    const given = TEXTS.map((json, at) => ({ seq: at + 1, json }));
    // Each of them separately, and several together.
    for (const entry of given) await store.append(key, [entry], entry.seq - 1);
    const together = given.map(({ seq, json }) => ({ seq: seq + given.length, json }));
    await store.append(key, together, given.length);
    for (const one of [store, await makeStore()]) await expectEntries(one, key, [...given, ...together]);
  },
  async "a large entry is kept whole"(makeStore, key) {
    const store = await makeStore();
    const large = entries(1, 1, "ü".repeat(500_000));
    await store.append(key, large, 0);
    await expectEntries(store, key, large);
  },
  async "an append that is longer than a value of most hosts is kept whole"(makeStore, key) {
    const store = await makeStore();
    // 3 MB of characters with two to four bytes, so that a cut may split one of them.
    const given = [...entries(1, 1), ...entries(2, 2, `a${"🦊ü漢".repeat(330_000)}`), ...entries(3, 3)];
    await store.append(key, given, 0);
    await expectConflict(store, key, given, 0);
    await store.append(key, entries(4, 4), 3);
    for (const one of [store, await makeStore()]) await expectEntries(one, key, [...given, ...entries(4, 4)]);
  },
  async "keys with unusual characters are told apart"(makeStore, key) {
    const store = await makeStore();
    // Databases and file systems that take letters as one, or leave blanks out, mix runs up.
    const alike = ["a", "A", "ä", "Ä", "a\u0308", "a ", " a", "a.", "\u212a", "k"];
    const odd = ["/", "/..", "/../x", "%2F", "%2f", " ", "Ä🦊", ":*?", "_", "%", "\u0000"];
    const keys = [...alike, ...odd].map((end) => key + end);
    for (const [index, one] of keys.entries()) await store.append(one, entries(1, 1, `${index}`), 0);
    for (const [index, one] of keys.entries()) await expectEntries(store, one, entries(1, 1, `${index}`));
  },
};

const DELETE_CASES: Cases = {
  async "a journal that was deleted is gone, and no other"(makeStore, key) {
    const [store, other] = [await makeStore(), await makeStore()];
    for (const kept of [key, `${key}-kept`]) await store.append(kept, entries(1, 2), 0);
    await expectEntries(other, key, entries(1, 2));
    await store.delete(key);
    for (const one of [store, other, await makeStore()]) {
      await expectEntries(one, key, []);
      await expectEntries(one, `${key}-kept`, entries(1, 2));
    }
    await store.delete(key);
  },
  async "a writer of a journal that was deleted is refused, and the key begins anew"(makeStore, key) {
    const [store, late] = [await makeStore(), await makeStore()];
    await late.append(key, entries(1, 2), 0);
    await store.delete(key);
    await expectConflict(late, key, entries(3, 3), 2);
    await late.append(key, entries(1, 2), 0);
    await store.delete(key);
    await store.append(key, entries(1, 3, "longer than before"), 0);
    await expectConflict(late, key, entries(3, 3), 2);
    await expectEntries(late, key, entries(1, 3, "longer than before"));
  },
  async "a run that was deleted is not pending, and its holder is refused"(makeStore, key) {
    const [store, late] = [await makeStore(), await makeStore()];
    if ((store as Store).lease === undefined) return;
    const lease = (await late.lease(key, { holder: "late", ttlMs: 0 }))!;
    await late.append(key, entries(1, 1), 0, lease.fence);
    await store.delete(key);
    if ((await store.pending()).includes(key)) throw new Error(`pending lists "${key}", which was deleted`);
    await expectConflict(late, key, entries(1, 1), 0, lease.fence);
    if (await lease.renew(600_000)) throw new Error("the lease of a journal that was deleted was renewed");
    await lease.release(true);
    if ((await store.pending()).includes(key))
      throw new Error(`the end of a lease has made "${key}" pending`);
  },
};
