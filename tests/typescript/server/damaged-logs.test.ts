import { describe, expect, it } from "vitest";
import type { JournalEntry, RunEvent, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { RunList } from "../../../src/typescript/server/workers/hosting/run-list.js";
import type { SessionEntry } from "../../../src/typescript/server/workers/hosting/session-log.js";
import { StoreLog } from "../../../src/typescript/server/workers/hosting/store-log.js";
import { follow } from "../support/follow.js";
import { settled } from "../support/virtual-clock.js";

const LOG = "looplet.events a";
const event = (seq: number): SessionEntry => ({
  run: "a",
  event: { seq, type: "text-delta", text: `${seq}` } as RunEvent,
});

async function append(log: StoreLog, ...entries: readonly SessionEntry[]): Promise<void> {
  for (const entry of entries) {
    log.append(entry);
    await log.written();
  }
}

type Damage = (entries: readonly JournalEntry[], at: number) => JournalEntry[];

const replaced =
  (json: string): Damage =>
  (entries, at) =>
    entries.map((entry, index) => (index === at ? { ...entry, json } : entry));

const damages: Record<string, Damage> = {
  "is full of zeros": replaced("\0".repeat(20)),
  "is null": replaced("null"),
  "is a number": replaced("5"),
  "is an object of something else": replaced('{"event":7}'),
  "is cut off": replaced('{"event":{"seq":2'),
  "is lost": (entries, at) => entries.filter((_, index) => index !== at),
};

/** What a page hears of a log: the numbers of events, and cursors. */
async function heardOf(log: StoreLog, cursor?: string) {
  const { heard, cursors, isKnown } = await follow(log, cursor);
  await settled();
  return { heard, cursors, isKnown };
}

/** A store that has what `damage` leaves of the journal of this key. */
function damaged(store: Store, key: string, at: number, damage: Damage): Store {
  let isDone = false;
  let rest: JournalEntry[] = [];
  return {
    load: async (asked) => {
      const entries = (await store.load(asked)) ?? [];
      if (asked !== key) return entries;
      if (!isDone) rest = damage(entries, at);
      isDone = true;
      return rest;
    },
    append: (asked, entries, expected) => {
      if (asked !== key) return store.append(asked, entries, expected);
      if ((rest.at(-1)?.seq ?? 0) !== expected) throw new Error(`expected ${expected}`);
      rest = [...rest, ...entries];
    },
  };
}

describe("a log whose store is damaged", () => {
  for (const [name, damage] of Object.entries(damages)) {
    it(`tells what is whole, and goes on, when an entry ${name}`, async () => {
      // The last entry of a log that is lost leaves no trace.
      for (const at of name === "is lost" ? [0, 1, 2] : [0, 1, 2, 3]) {
        const store = memoryStore();
        const first = new StoreLog(store, LOG);
        const page = await heardOf(first);
        await append(first, ...[1, 2, 3].map(event));
        await settled();
        expect(page.heard).toEqual([1, 2, 3]);
        const broken = damaged(store, LOG, at, damage);
        const next = new StoreLog(broken, LOG);
        // No page goes on behind a cursor that counts an entry which is gone.
        for (const cursor of page.cursors)
          expect(await heardOf(next, cursor), `${at}`).toMatchObject({ isKnown: false, heard: [] });
        const whole = [1, 2, 3].filter((seq) => seq !== at);
        const again = await heardOf(next);
        expect([again.isKnown, again.heard], `${at}`).toEqual([true, whole]);
        await append(next, event(4));
        await settled();
        expect(again.heard, `${at}`).toEqual([...whole, 4]);
        expect((await heardOf(new StoreLog(broken, LOG))).heard, `${at}`).toEqual([...whole, 4]);
      }
    });
  }

  it("rejects a page that follows it if the store cannot give it", async () => {
    const store = memoryStore();
    await append(new StoreLog(store, LOG), event(1));
    const broken: Store = {
      append: (...args) => store.append(...args),
      load: () => {
        throw new Error("bad sector");
      },
    };
    await expect(heardOf(new StoreLog(broken, LOG))).rejects.toThrow("bad sector");
  });
});

describe("a list of runs", () => {
  /** A list that has these runs, each with an event in its log. */
  async function listed(store: Store, ...runs: readonly string[]): Promise<void> {
    const list = new RunList(store, 20);
    for (const run of runs) {
      await list.add({ run });
      await append(list.logOf(run), { ...event(1), run });
    }
  }

  it("goes on with a run whose end the store has lost", async () => {
    const store = memoryStore();
    await listed(store, "a");
    const end = { result: { text: "Done." } as never };
    await append(new RunList(store, 20).logOf("a"), { run: "a", end });
    expect(await new RunList(store, 20).open(false)).toEqual([]);
    const broken = damaged(store, LOG, 2, damages["is null"]!);
    expect(await new RunList(broken, 20).open(false)).toEqual([{ run: "a" }]);
  });

  it("leaves other runs alone if the store cannot give one log", async () => {
    const store = memoryStore();
    await listed(store, "a", "b");
    const broken: Store = {
      append: (...args) => store.append(...args),
      load: (key) => {
        if (key === LOG) throw new Error("bad sector");
        return store.load(key);
      },
    };
    expect(await new RunList(broken, 20).open(false)).toEqual([{ run: "a" }, { run: "b" }]);
  });

  it("keeps the logs of the last runs, and of a chat as many as a page may ask for", async () => {
    const store = memoryStore();
    const list = new RunList(store, 2);
    const end = { result: { text: "Done." } as never };
    for (const run of ["a", "b", "c"]) {
      await list.add({ run });
      await append(list.logOf(run), { run, end });
    }
    const kept = async (): Promise<boolean[]> =>
      Promise.all(
        ["a", "b", "c", "chat"].map(async (key) => !!(await store.load(`looplet.events ${key}`))?.length),
      );
    expect(await kept()).toEqual([false, true, true, false]);
    const log = list.logOf("chat");
    const runs: number[] = [];
    for (const run of ["1", "2", "3", "4", "5", "6"]) {
      await list.add({ run, chat: "chat" });
      log.prune();
      await append(log, { ...event(1), run }, { run, end });
      runs.push(new Set(log.behind(0, 100).map(({ entry }) => entry.run)).size);
    }
    expect(runs).toEqual([1, 2, 3, 4, 2, 3]);
    expect(await kept()).toEqual([false, false, false, true]);
  });
});

describe("a list of runs whose store is damaged", () => {
  for (const [name, damage] of Object.entries(damages)) {
    it(`has all runs, and takes another one, when an entry ${name}`, async () => {
      for (const at of [0, 1, 2, 3, 4, 5]) {
        const store = memoryStore();
        const list = new RunList(store, 20);
        for (const run of ["a", "b", "c"]) await list.add({ run, chat: `chat of ${run}` });
        const broken = damaged(store, "looplet.runs", at, damage);
        const next = new RunList(broken, 20);
        const whole = ["a", "b", "c"];
        expect(
          (await next.open(false)).map(({ run }) => run),
          `${at}`,
        ).toEqual(whole);
        await next.add({ run: "d" });
        expect(await new RunList(broken, 20).open(false), `${at}`).toEqual([
          ...whole.map((run) => ({ run, chat: `chat of ${run}` })),
          { run: "d" },
        ]);
      }
    });
  }
});
