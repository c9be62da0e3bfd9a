/** Shrinks the choices of a failure: without a part of them, and then with smaller ones, as long as it still fails. */
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
  for (let size = best.length; size >= 1 && left > 0;) {
    let isShorter = false;
    // The last choices go first: what comes behind the failure has no part in it.
    for (let end = best.length; end > 0 && left > 0; end -= size) {
      const start = Math.max(0, end - size);
      isShorter = (await tries([...best.slice(0, start), ...best.slice(end)])) || isShorter;
    }
    // One choice may be needless only when another one has gone.
    if (size > 1 || !isShorter) size >>= 1;
  }
  // A round in the middle may be needless: without it, the choices behind it are made one place earlier.
  for (let at = best.length - 1; at >= 0 && left > 0; at--) {
    for (const spliced of withoutRound(best, best[Math.min(at, best.length - 1)]!))
      if (spliced.length <= best.length && (await tries(spliced))) break;
  }
  for (let isEarlier = true; isEarlier && left > 0;) {
    isEarlier = false;
    for (const earlier of moreEarly(best)) {
      isEarlier = await tries(earlier);
      if (isEarlier || left <= 0) break;
    }
  }
  for (let at = 0; at < best.length && left > 0; at++) {
    for (const pick of smaller(best[at]!.pick)) {
      if (await tries(best.map((choice, index) => (index === at ? { ...choice, pick } : choice)))) break;
    }
  }
  return best;
}

/** The lists without the round of this choice: those of all places move up, or those of its own place. */
function withoutRound(choices: readonly Choice[], { at }: Choice): Choice[][] {
  const [place, round] = placeOf(at);
  const moved = (isMoved: (other: string) => boolean): Choice[] =>
    choices.flatMap(({ at, pick }) => {
      const [other, times] = placeOf(at);
      if (!isMoved(other) || times < round) return [{ at, pick }];
      if (times === round) return [];
      return [{ at: times === 2 ? other : `${other} #${times - 1}`, pick }];
    });
  return [
    moved(() => true),
    moved((other) => !other.startsWith("the process")),
    moved((other) => other === place),
  ];
}

/** The lists in which a place is made once less often before its choice, also without one of the other choices. */
function* moreEarly(choices: readonly Choice[]): Generator<Choice[]> {
  const rounds = new Set(choices.map(({ at }) => placeOf(at).join(" #")));
  for (const { at } of choices) {
    const [place, round] = placeOf(at);
    if (round === 1 || rounds.has(`${place} #${round - 1}`)) continue;
    const moved = choices.map(({ at, pick }) => {
      const [other, times] = placeOf(at);
      if (other !== place || times < round) return { at, pick };
      return { at: times === 2 ? other : `${other} #${times - 1}`, pick };
    });
    for (const [index, other] of choices.entries())
      if (other.at !== at) yield moved.filter((_, kept) => kept !== index);
    yield moved;
  }
}

function placeOf(at: string): [place: string, times: number] {
  const [, place = at, times = "1"] = /^(.*) #(\d+)$/.exec(at) ?? [];
  return [place, Number(times)];
}

function smaller(pick: number): number[] {
  return [1, pick >> 1, pick - 1].filter((one, at, all) => one > 0 && one < pick && all.indexOf(one) === at);
}
