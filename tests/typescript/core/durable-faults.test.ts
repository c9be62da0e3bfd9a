import { describe, expect, it } from "vitest";
import { StoreConflict } from "looplet";
import type { JournalEntry, Store } from "looplet";
import { live, once, told, World, type Fate } from "../support/lives.js";

const TIMEOUT = { timeout: 600_000 };

type Wrap = NonNullable<Fate["wrap"]>;
type Append = Store["append"];
type Around = (append: Append, ...args: Parameters<Append>) => Promise<void>;

/** A store whose appends from number `from` up to `to` go through `around`. */
const faulty =
  (from: number, to: number, around: (die: () => never) => Around): Wrap =>
  (store, die) => {
    let number = 0;
    return {
      load: (key) => store.load(key),
      async append(...args) {
        const isFaulty = number >= from && number <= to;
        number += 1;
        if (isFaulty) await around(die)((...of) => store.append(...of), ...args);
        else await store.append(...args);
      },
    };
  };

const tasks = async (count: number): Promise<void> => {
  for (let task = 0; task < count; task++) await new Promise((resolve) => setImmediate(resolve));
};
const lost = new Error("connection lost");

async function wholeRun(): Promise<{ end: object; appends: number }> {
  let appends = 0;
  const count: Wrap = (store) => ({
    load: (key) => store.load(key),
    append: (...args) => {
      appends += 1;
      return store.append(...args);
    },
  });
  const { result } = await live(new World(), { wrap: count });
  return { end: told(result!), appends };
}

/** The run with each of its appends as the faulty one. */
async function each(work: (number: number, end: object, where: string) => Promise<void>): Promise<void> {
  const { end, appends } = await wholeRun();
  expect(appends).toBeGreaterThan(15);
  for (let number = 0; number < appends; number++) await work(number, end, `append ${number}`);
}

function expectOnce(world: World, where: string): void {
  for (const id of once) expect(world.effects.get(id), `${id}: ${where}`).toBe(1);
}

describe("a run whose store is faulty", () => {
  const faults: Record<string, Around> = {
    "fails once": async () => {
      throw lost;
    },
    "is slow": async (append, ...args) => {
      await tasks(40);
      await append(...args);
    },
    "fails after it has written": async (append, ...args) => {
      await append(...args);
      throw lost;
    },
    "fails and writes later": async (append, ...args) => {
      void tasks(2)
        .then(() => append(...args))
        .catch(() => {});
      throw lost;
    },
  };
  for (const [name, around] of Object.entries(faults)) {
    it(`goes on when one append ${name}`, TIMEOUT, async () => {
      await each(async (number, end, where) => {
        const world = new World();
        const { result, errors } = await live(world, { wrap: faulty(number, number, () => around) });
        expect(told(result!), where).toEqual(end);
        expect(errors, where).toEqual([]);
        expectOnce(world, where);
        // The journal is whole: another process comes to the same end, without a further effect.
        const again = await live(world);
        expect([told(again.result!), again.warnings], where).toEqual([end, []]);
        expectOnce(world, where);
      });
    });
  }

  it("goes on when every append is slow, or fails after it has written", TIMEOUT, async () => {
    const { end } = await wholeRun();
    for (const name of ["is slow", "fails after it has written"]) {
      const world = new World();
      const { result } = await live(world, { wrap: faulty(0, Infinity, () => faults[name]!) });
      expect(told(result!), name).toEqual(end);
      expectOnce(world, name);
    }
  });

  it("T-12 says what it could not save, and another process loses and repeats nothing", TIMEOUT, async () => {
    await each(async (number, end, where) => {
      const world = new World();
      const wrap = faulty(number, Infinity, () => faults["fails once"]!);
      const { result, errors } = await live(world, { wrap });
      expect(errors[0], where).toBe(lost);
      for (const { toolCallId, isError, output } of result!.toolCalls) {
        if (!once.includes(toolCallId) || world.effects.has(toolCallId)) continue;
        expect([isError, output], where).toMatchObject([true, { code: "save_failed" }]);
      }
      // The store works again. Whatever it did not get has not happened, and no payment had begun.
      const again = await live(world);
      expect(told(again.result!), where).toEqual(end);
      expectOnce(world, where);
    });
  });

  it("goes on from the entries that reached it when the process died in an append", TIMEOUT, async () => {
    await each(async (number, end, where) => {
      for (let kept = 0; ; kept++) {
        const world = new World();
        let isWhole = false;
        const torn = (die: () => never): Around => {
          return async (append, key, entries, expectedSeq) => {
            isWhole = kept >= entries.length;
            await append(key, entries.slice(0, kept), expectedSeq);
            die();
          };
        };
        await live(world, { wrap: faulty(number, number, torn) });
        const { result } = await live(world);
        if (number === 0 && result!.outcome === "failed") {
          // The prompt itself is torn, so there is nothing to go on with, and nothing was done.
          const message = expect.stringContaining("have no valid beginning") as string;
          expect(result).toMatchObject({ outcome: "failed", error: { message } });
          expect(world.effects.size).toBe(0);
          continue;
        }
        expect(told(result!), `${where}, ${kept} entries`).toEqual(end);
        expectOnce(world, `${where}, ${kept} entries`);
        if (isWhole) break;
      }
    });
  });

  it("counts entries once that the store has twice", TIMEOUT, async () => {
    await each(async (number, end, where) => {
      const world = new World(twice());
      const dies = (die: () => never): Around => {
        return async (append, ...args) => {
          await append(...args);
          die();
        };
      };
      await live(world, { wrap: faulty(number, number, dies) });
      const again = await live(world);
      expect(told(again.result!), where).toEqual(end);
      expectOnce(world, where);
    });
  });

  it("does nothing while its journal cannot be read", TIMEOUT, async () => {
    const { end } = await wholeRun();
    const world = new World();
    await live(world, { cut: 120 });
    const effects = new Map(world.effects);
    const unread: Wrap = (store) => ({
      ...store,
      load: () => {
        throw lost;
      },
    });
    const { result } = await live(world, { wrap: unread });
    expect(result).toMatchObject({
      outcome: "failed",
      error: { code: "store_failed", message: expect.stringContaining(lost.message) },
    });
    expect(world.effects).toEqual(effects);
    expect(told((await live(world)).result!)).toEqual(end);
    expectOnce(world, "after a load that failed");
  });
});

/** A store that writes each append twice. */
function twice(): Store {
  const journals = new Map<string, JournalEntry[]>();
  return {
    append(key, entries, expectedSeq) {
      const journal = journals.get(key) ?? [];
      if ((journal.at(-1)?.seq ?? 0) !== expectedSeq) throw new StoreConflict("another process");
      journals.set(key, [...journal, ...entries, ...entries]);
    },
    load: (key) => journals.get(key),
  };
}
