import { expect, test } from "vitest";
import { simulate, SimulationFailure } from "looplet/testing";
import { PLANTED } from "../../support/planted.js";

/** Seeds for an agent with a fault, and for its mended twin; `npm run test:long -- seeds` takes 10,000 of both. */
const SEEDS = Number(process.env["LOOPLET_SEEDS"] ?? 200);
const TWIN_SEEDS = Number(process.env["LOOPLET_SEEDS"] ?? 25);
const TIMEOUT = { timeout: 1_800_000 };

for (const { fault, agent, invariants, breaks, world } of PLANTED) {
  test(`${fault} is found, and told in a story that shows it`, TIMEOUT, async () => {
    const found = await simulate(agent(false), { seeds: SEEDS, world, invariants }).catch(
      (error: unknown) => error,
    );
    expect(found).toBeInstanceOf(SimulationFailure);
    const { invariant, story, choices, seed } = found as SimulationFailure;
    expect(invariant).toBe(breaks);
    expect(story.split("\n").length).toBeLessThanOrEqual(15);
    console.log(`${fault}: seed ${seed}, ${choices.length} choices`);
    await expect(simulate(agent(false), { world, invariants, replay: choices })).rejects.toThrow(breaks);
    // The fault is in the agent and not in the world.
    await simulate(agent(true), { world, invariants, replay: choices });
  });

  test(`nothing is found in the mended twin of ${fault}`, TIMEOUT, async () => {
    const { runs } = await simulate(agent(true), { seeds: TWIN_SEEDS, world, invariants });
    expect(runs).toBe(TWIN_SEEDS);
  });
}
