import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Store } from "looplet";
import { memoryStore, sqliteStore, type SqliteDatabaseLike } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { between, seededRandom } from "../../../src/typescript/lab/practice/random.js";
import { live, once, safe, told, World, type Fate, type Life } from "../support/lives.js";

/** Random cuts; another seed gives other ones. */
const CUTS = Number(process.env["LOOPLET_CUTS"] ?? 200);
const SEED = process.env["LOOPLET_SEED"] ?? "kills";
/** One run in so many has a fresh instance for each process; that costs more than the run. */
const FRESH = 100;
const TIMEOUT = { timeout: 600_000 };

const names = ["fetch", "chunk", "tool start", "tool end", "save", "saved", "question", "timer"];

/**
 * Kills at random callbacks and goes on until the end, which `expectEnd` looks at. `callbacks` are those of a life
 * without a kill.
 */
async function killAtRandom(
  fate: Fate,
  callbacks: readonly string[],
  expectEnd: (life: Life, where: string) => void,
  makeStore: () => Store = memoryStore,
  times = CUTS,
): Promise<void> {
  const random = seededRandom(SEED);
  const seen = new Set<string>();
  for (let number = 0; number < times; number++) {
    const world = new World(makeStore());
    // Some are killed a second time.
    const cuts = [between(random, 0, callbacks.length - 1)];
    if (number % 3 === 0) cuts.push(between(random, 0, 60));
    const saveTasks = between(random, 0, 3);
    const where = `LOOPLET_SEED=${SEED}, number ${number}, cut at ${cuts.join(" and ")}, saves of ${saveTasks} tasks`;
    let life: Life | undefined;
    for (const cut of [...cuts, Infinity]) {
      if (life?.result !== undefined || life?.messages !== undefined) break;
      life = await live(world, { ...fate, cut, saveTasks, isFresh: number % FRESH === 0 }).catch(
        (error: unknown) => {
          throw new Error(where, { cause: error });
        },
      );
      seen.add(world.callbacks.at(-1)!);
    }
    expectEnd(life!, where);
    for (const id of once) expect(world.effects.get(id), `${id}: ${where}`).toBe(1);
    for (const id of safe) expect(world.effects.get(id), `${id}: ${where}`).toBeGreaterThan(0);
  }
  expect(seen.size).toBeGreaterThan(8);
}

it("a chat that is killed at any callback goes on, and ends with the same messages", TIMEOUT, async () => {
  const whole = new World();
  const { messages } = await live(whole, { isChat: true });
  const texts = JSON.stringify(messages);
  for (const text of ["All done.", "Bye.", "See you."]) expect(texts).toContain(text);
  expect(JSON.stringify(await whole.kept())).toContain("Hurry.");
  expect(texts).toContain("[Context summary: They read");
  expect(whole.callbacks).toEqual(expect.arrayContaining(names));
  await killAtRandom({ isChat: true }, whole.callbacks, (life, where) => {
    expect(life.messages, where).toEqual(messages);
  });
});

it(
  "a run that is killed at any callback goes on in a fresh instance and ends as if nothing had happened",
  TIMEOUT,
  async () => {
    const whole = new World();
    const { result } = await live(whole);
    const end = told(result!);
    expect(end).toMatchObject({ outcome: "completed", text: "All done.", iterations: 6 });
    expect(JSON.stringify(end)).toContain("[Context summary: They read");
    expect(JSON.stringify(await whole.kept())).toContain("Hurry.");
    expect(whole.isRefused).toBe(true);
    expect([...whole.effects.keys()].sort()).toEqual([...once, ...safe].sort());
    expect(whole.callbacks).toEqual(expect.arrayContaining(names));
    await killAtRandom({}, whole.callbacks, (life, where) => expect(told(life.result!), where).toEqual(end));
  },
);

/** Stores that outlive a process and work here. Those of other runtimes keep the same contract in theirs. */
const sqlite = (process.getBuiltinModule as ((name: string) => any) | undefined)?.("node:sqlite") as
  { DatabaseSync: new (path: string) => SqliteDatabaseLike } | undefined;
const folder = await mkdtemp(join(tmpdir(), "looplet-kills-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
let stores = 0;
/** A write of a process that was killed is over when the next one begins. */
function withoutLateWrites(store: Store): Store {
  let writing: Promise<unknown> = Promise.resolve();
  return {
    append: async (...args) => {
      const written = Promise.resolve(store.append(...args));
      writing = Promise.allSettled([writing, written]);
      await written;
    },
    load: async (key) => {
      await writing;
      return store.load(key);
    },
  };
}

const makers: { [name: string]: () => Store } = {
  files: () => withoutLateWrites(fileStore(join(folder, `${(stores += 1)}`))),
  ...(sqlite && { SQLite: () => sqliteStore(new sqlite.DatabaseSync(":memory:")) }),
};

it.each(Object.keys(makers))(
  "a run on %s is killed and goes on as on the store in memory",
  TIMEOUT,
  async (name) => {
    const whole = new World();
    const end = told((await live(whole)).result!);
    const check = (life: Life, where: string): void => expect(told(life.result!), where).toEqual(end);
    await killAtRandom({}, whole.callbacks, check, makers[name], Math.ceil(CUTS / 5));
    await rm(folder, { recursive: true, force: true });
  },
);
