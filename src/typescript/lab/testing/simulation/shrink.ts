/** Shrinks the choices of a failure: fewer rounds, fewer choices, smaller ones, as long as it still fails. */
import type { Choice } from "./choices.js";

/** Runs that one failure may take. */
const MOST_RUNS = 400;

/** The shortest list that was found with which `fails` is still true. */
export async function shrunk(
  choices: readonly Choice[],
  fails: (choices: readonly Choice[]) => Promise<boolean>,
): Promise<readonly Choice[]> {
  let best = choices;
  let left = MOST_RUNS;
  const tries = async (other: readonly Choice[]): Promise<boolean> => {
    if (left-- <= 0 || !(await fails(other))) return false;
    best = other;
    return true;
  };
  if (await tries([])) return best;
  const rounds = async (): Promise<void> => {
    for (let round = Math.max(...best.map(roundOf)); round >= 0 && left > 0; round--)
      await tries(withoutRound(best, round));
  };
  await rounds();
  for (let size = best.length; size >= 1 && left > 0;) {
    let isShorter = false;
    // The last choices are removed first: what follows the failure is not part of it.
    for (let end = best.length; end > 0 && left > 0; end -= size) {
      const start = Math.max(0, end - size);
      isShorter = (await tries([...best.slice(0, start), ...best.slice(end)])) || isShorter;
    }
    // One choice may become removable only after another one is removed.
    if (size > 1 || !isShorter) size >>= 1;
  }
  await rounds();
  for (let at = 0; at < best.length && left > 0; at++) {
    for (const pick of smaller(best[at]!.pick)) {
      if (await tries(best.map((choice, index) => (index === at ? { ...choice, pick } : choice)))) break;
    }
  }
  return best;
}

/** The choices without those of a round. Later rounds move up. */
function withoutRound(choices: readonly Choice[], round: number): Choice[] {
  return choices.flatMap((choice) => {
    const own = roundOf(choice);
    if (own === round) return [];
    return own < round ? [choice] : [{ ...choice, at: choice.at.replace(/^\d+/, String(own - 1)) }];
  });
}

function roundOf({ at }: Choice): number {
  return Number.parseInt(at, 10);
}

function smaller(pick: number): number[] {
  return [1, pick >> 1, pick - 1].filter((one, at, all) => one > 0 && one < pick && all.indexOf(one) === at);
}
