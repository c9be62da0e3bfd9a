/** Programs in simulated worlds. */
import { expect } from "vitest";
import { tool } from "looplet";
import { simulate, type SimulatedRun, type SimulateOptions, type World } from "looplet/testing";

export const SEEDS = Number(process.env["LOOPLET_SEEDS"] ?? 500);
export const TIMEOUT = { timeout: 1_800_000 };
export const model = "claude-sonnet-4-6";

export const hostOf = ({ fetch, platform: { clock, random, ids } }: World) => ({
  fetch,
  clock,
  random,
  ids,
  apiKey: "k",
});

/** A tool that tells its effect, by the number of the call. */
export const noting = (world: World) => {
  let calls = 0;
  return tool({
    description: "Takes a note",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    execute: ({ text }) => {
      world.effect("note", `${++calls}`);
      return `noted ${text}`;
    },
  });
};

/** An effect in each process that has come to its end says so. */
function comesToItsEnd({ effects, outcome, processes }: SimulatedRun): string | undefined {
  const ends = effects.filter(({ name }) => name === "end").length;
  const ended = processes.filter(({ end }) => end === "ended").length;
  return outcome === "over" && ends !== ended ? `${ended} processes told ${ends} ends` : undefined;
}

export async function holds(
  program: (world: World) => Promise<void>,
  options: SimulateOptions = {},
): Promise<void> {
  const seen = { requests: 0, effects: 0, processes: 0 };
  const count = ({ requests, effects, processes }: SimulatedRun): void => {
    seen.processes += processes.length;
    seen.requests += requests.length;
    seen.effects += effects.length;
  };
  const { invariants = [], ...rest } = options;
  const own = [...invariants, comesToItsEnd, count];
  const { runs } = await simulate(program, { seeds: SEEDS, ...rest, invariants: own });
  expect(runs).toBe(SEEDS);
  expect(seen.requests).toBeGreaterThan(SEEDS);
  expect(seen.effects).toBeGreaterThan(SEEDS);
  if (options.world?.crashes === true) expect(seen.processes).toBeGreaterThan(SEEDS);
}
