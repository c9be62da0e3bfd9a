/** The story of a failure: what happened in the run, in about ten lines. */
import type { Choice } from "./choices.js";
import type { Happening, SimulatedRun } from "./record.js";

/** Lines of a story between its head and its end. */
const MOST_LINES = 12;

/** A failure as its story needs it. */
export interface Told {
  readonly seed: number | undefined;
  readonly invariant: string;
  readonly message: string;
  readonly run: SimulatedRun;
  /** The number of choices before it was shrunk. */
  readonly before: number;
  readonly choices: readonly Choice[];
  readonly isLonely: boolean;
}

export function storyOf({ seed, invariant, message, run, before, choices, isLonely }: Told): string {
  const from = seed === undefined ? "these choices" : `seed ${seed}`;
  const count =
    choices.length === before ? `${before} choices` : `shrunk from ${before} choices to ${choices.length}`;
  const lines = linesOf(run.happenings);
  const told = lines.map(({ atMs, text, times }, at) => {
    const head = `${String(at + 1).padStart(3)}  ${timeOf(atMs).padStart(8)}`;
    return `${head}  ${text}${times > 1 ? ` (${times} times)` : ""}`;
  });
  const alone = "It holds when this run is played alone: something of your code outlives a run.";
  return [
    `${invariant} is broken: ${message}`,
    `  ${from}, ${count}`,
    ...told,
    ...(isLonely ? [alone] : []),
    `  Play it again: simulate(agent, { world, invariants, replay: ${JSON.stringify(choices)} })`,
  ].join("\n");
}

interface Line {
  readonly atMs: number;
  readonly text: string;
  /** How often it was said in a row. */
  readonly times: number;
}

/**
 * The happenings of a run, equal neighbours as one. Of many, words of the model are left out first, and then the
 * earliest of those that matter least.
 */
function linesOf(happenings: readonly Happening[]): Line[] {
  const lines: (Line & { readonly kind: Happening["kind"] })[] = [];
  for (const { atMs, kind, say } of happenings) {
    const text = say();
    const last = lines.at(-1);
    if (last?.text === text) lines[lines.length - 1] = { ...last, times: last.times + 1 };
    else lines.push({ atMs, kind, text, times: 1 });
  }
  const chosen = new Set(
    [...lines.keys()]
      .sort((one, other) => WEIGHTS[lines[one]!.kind] - WEIGHTS[lines[other]!.kind] || other - one)
      .slice(0, MOST_LINES),
  );
  return lines.filter((_, at) => chosen.has(at));
}

const WEIGHTS = { process: 0, end: 1, fault: 2, act: 3, person: 4, model: 5 };

function timeOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
