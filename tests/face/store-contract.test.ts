import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JournalEntry, Store } from "../../src/face/api/run.js";
import { memoryStore } from "../../src/face/stores/memory.js";
import { fileStore } from "../../src/face/stores/node.js";
import { checkStore, storeCases } from "../../src/face/testing/store-contract.js";

const folder = await mkdtemp(join(tmpdir(), "looplet-store-"));
afterAll(() => rm(folder, { recursive: true }));
const memory = memoryStore();

describe("the store in memory", () => {
  for (const { name, run } of storeCases(() => memory))
    it(name, () => expect(run()).resolves.toBeUndefined());
});

describe("the store in files", () => {
  for (const { name, run } of storeCases(() => fileStore(folder)))
    it(name, () => expect(run()).resolves.toBeUndefined());
});

/** A store that keeps the contract but for what `broken` changes. */
function brokenStore(broken: Partial<Store>): Store {
  const whole = memoryStore();
  return { append: whole.append, load: whole.load, ...broken };
}

describe("a broken store", () => {
  const plain = new Map<string, JournalEntry[]>();
  const unchecked = (): Store => ({
    append: (key, added) => void plain.set(key, [...(plain.get(key) ?? []), ...structuredClone(added)]),
    load: (key) => structuredClone(plain.get(key)),
  });
  it.each([
    ["too low", unchecked()],
    ["too high", unchecked()],
    ["another's append", unchecked()],
    ["missing journal", brokenStore({ load: () => [{ seq: 1, json: "{}" }] })],
    ["not a StoreConflict", brokenStore({ append: () => Promise.reject(new Error("down")) })],
  ])("is found: %s", async (what, store) => {
    await expect(checkStore(() => store)).rejects.toThrow(what);
  });

  it.each<[string, (store: Store) => Partial<Store>]>([
    ["in their order", ({ load }) => ({ load: async (key) => [...((await load(key)) ?? [])].reverse() })],
    [
      "large entry",
      ({ append }) => ({
        append(key, added, after) {
          if (JSON.stringify(added).length > 100_000) throw new Error("too large");
          return append(key, added, after);
        },
      }),
    ],
    [
      "unusual characters",
      ({ append, load }) => ({
        append: (key, added, after) => append(key.replace(/[^\w-]/g, "_"), added, after),
        load: (key) => load(key.replace(/[^\w-]/g, "_")),
      }),
    ],
    [
      "gives copies",
      ({ load }) => {
        const kept = new Map<string, Promise<readonly JournalEntry[] | undefined>>();
        const cached = async (key: string) => {
          const now = await load(key);
          const before = await kept.get(key);
          if (before?.length !== now?.length || before === undefined) kept.set(key, Promise.resolve(now));
          return kept.get(key);
        };
        return { load: cached };
      },
    ],
  ])("is found: %s", async (what, breakIt) => {
    const whole = memoryStore();
    const store = { ...whole, ...breakIt(whole) };
    await expect(checkStore(() => store)).rejects.toThrow(what);
  });
});
