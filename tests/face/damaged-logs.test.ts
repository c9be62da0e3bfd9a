import { describe, expect, it } from "vitest";
import type { JournalEntry, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { RunList } from "../../src/face/parts/workers/hosting/run-list.js";
import { RunLog } from "../../src/face/parts/workers/hosting/run-log.js";
import { follow } from "./support/follow.js";
import { settled } from "./support/virtual-clock.js";

const LOG = "looplet.events a";
const event = (seq: number): { event: object } => ({ event: { seq, type: "text-delta", text: `${seq}` } });

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
async function heardOf(log: RunLog, cursor?: string) {
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
        const first = new RunLog(store, LOG);
        const page = await heardOf(first);
        for (const seq of [1, 2, 3]) await first.append(event(seq));
        await settled();
        expect(page.heard).toEqual([1, 2, 3]);
        const broken = damaged(store, LOG, at, damage);
        const next = new RunLog(broken, LOG);
        expect(await next.state(), `${at}`).toBe("open");
        // No page goes on behind a cursor that counts an entry which is gone.
        for (const cursor of page.cursors)
          expect(await heardOf(next, cursor), `${at}`).toMatchObject({ isKnown: false, heard: [] });
        const whole = [1, 2, 3].filter((seq) => seq !== at);
        const again = await heardOf(next);
        expect([again.isKnown, again.heard], `${at}`).toEqual([true, whole]);
        await next.append(event(4));
        await settled();
        expect(again.heard, `${at}`).toEqual([...whole, 4]);
        expect((await heardOf(new RunLog(broken, LOG))).heard, `${at}`).toEqual([...whole, 4]);
      }
    });
  }

  it("is open if the store has lost its end", async () => {
    const store = memoryStore();
    const log = new RunLog(store, LOG);
    await log.append(event(1));
    await log.append({ result: { text: "Done." } as never });
    expect(await new RunLog(store, LOG).state()).toBe("over");
    expect(await new RunLog(damaged(store, LOG, 2, damages["is null"]!), LOG).state()).toBe("open");
  });

  it("rejects a page that follows it, and leaves other runs alone, if the store cannot give it", async () => {
    const store = memoryStore();
    const list = new RunList(store, 20);
    for (const run of ["a", "b"]) await (await list.add(run, undefined)).append(event(1));
    const broken: Store = {
      append: (...args) => store.append(...args),
      load: (key) => {
        if (key === LOG) throw new Error("bad sector");
        return store.load(key);
      },
    };
    await expect(heardOf(new RunLog(broken, LOG))).rejects.toThrow("bad sector");
    expect(await new RunList(broken, 20).open(false)).toEqual([{ run: "a" }, { run: "b" }]);
  });
});

describe("a list of runs whose store is damaged", () => {
  for (const [name, damage] of Object.entries(damages)) {
    it(`has the runs that are whole, and takes another one, when an entry ${name}`, async () => {
      for (const at of [0, 1, 2]) {
        const store = memoryStore();
        const list = new RunList(store, 20);
        for (const run of ["a", "b", "c"]) await list.add(run, "chat");
        const broken = damaged(store, "looplet.runs", at, damage);
        const next = new RunList(broken, 20);
        const whole = ["a", "b", "c"].filter((_, index) => index !== at);
        expect(
          (await next.open(false)).map(({ run }) => run),
          `${at}`,
        ).toEqual(whole);
        await next.add("d", undefined);
        expect(await new RunList(broken, 20).open(false), `${at}`).toEqual([
          ...whole.map((run) => ({ run, chat: "chat" })),
          { run: "d" },
        ]);
      }
    });
  }
});
