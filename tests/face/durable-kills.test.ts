import { expect, it } from "vitest";
import { between, seededRandom } from "../../src/face/practice/random.js";
import { live, once, safe, told, World, type Life } from "./support/lives.js";

/** Random cuts; another seed gives other ones. */
const CUTS = Number(process.env["LOOPLET_CUTS"] ?? 200);
const SEED = process.env["LOOPLET_SEED"] ?? "kills";
/** One run in so many has a fresh instance for each process; that costs more than the run. */
const FRESH = 100;

it(
  "a run that is killed at any callback goes on in a fresh instance and ends as if nothing had happened",
  { timeout: 600_000 },
  async () => {
    const whole = new World();
    const { result } = await live(whole);
    const end = told(result!);
    expect(end).toMatchObject({ outcome: "completed", text: "All done.", iterations: 6 });
    expect(JSON.stringify(end)).toContain("[Context summary: They read");
    expect(JSON.stringify(await whole.kept())).toContain("Hurry.");
    expect(whole.isRefused).toBe(true);
    expect([...whole.effects.keys()].sort()).toEqual([...once, ...safe].sort());
    const names = ["fetch", "chunk", "tool start", "tool end", "save", "saved", "question", "timer"];
    expect(whole.callbacks).toEqual(expect.arrayContaining(names));

    const random = seededRandom(SEED);
    const seen = new Set<string>();
    for (let number = 0; number < CUTS; number++) {
      const world = new World();
      // Some runs are killed a second time.
      const cuts = [between(random, 0, whole.callbacks.length - 1)];
      if (number % 3 === 0) cuts.push(between(random, 0, 60));
      const saveTasks = between(random, 0, 3);
      const where = `LOOPLET_SEED=${SEED}, run ${number}, cut at ${cuts.join(" and ")}, saves of ${saveTasks} tasks`;
      let life: Life | undefined;
      for (const cut of [...cuts, Infinity]) {
        if (life?.result !== undefined) break;
        life = await live(world, { cut, saveTasks, isFresh: number % FRESH === 0 }).catch(
          (error: unknown) => {
            throw new Error(where, { cause: error });
          },
        );
        seen.add(world.callbacks.at(-1)!);
      }
      expect(told(life!.result!), where).toEqual(end);
      for (const id of once) expect(world.effects.get(id), `${id}: ${where}`).toBe(1);
      for (const id of safe) expect(world.effects.get(id), `${id}: ${where}`).toBeGreaterThan(0);
    }
    expect(seen.size).toBeGreaterThan(8);
  },
);
