/** The story of a failure: what happened in the run, in about ten lines. */
import type { Choice } from "./choices.js";
import type { Happening, SimulatedRun } from "./record.js";

/** Lines of a story between its head and its end. Lines with inputs may be more. */
const MOST_LINES = 12;
/** Lines with inputs: only a run that repeats itself has more. */
const MOST_INPUTS = 100;

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
  const chosen = chosenOf(lines);
  const told = chosen.map((at) => {
    const { atMs, text, times } = lines[at]!;
    const head = `${String(at + 1).padStart(3)}  ${timeOf(atMs).padStart(8)}`;
    return `${head}  ${text}${times > 1 ? ` (${times} times)` : ""}`;
  });
  const alone = "It holds if only this run is played: some state of your code survives a run.";
  return [
    `${invariant} is broken: ${message}`,
    `  ${from}, ${count}`,
    ...told,
    ...leftOut(lines, chosen),
    ...(isLonely ? [alone] : []),
    `  Play it again: simulate(agent, { world, invariants, replay: ${JSON.stringify(choices)} })`,
  ].join("\n");
}

interface Line {
  readonly kind: Happening["kind"];
  readonly atMs: number;
  readonly text: string;
  /** How often it was repeated. */
  readonly times: number;
}

/** The happenings of a run, equal neighbours as one. */
function linesOf(happenings: readonly Happening[]): Line[] {
  const lines: Line[] = [];
  for (const { atMs, kind, say } of happenings) {
    const text = say();
    const last = lines.at(-1);
    if (last?.text === text) lines[lines.length - 1] = { ...last, times: last.times + 1 };
    else lines.push({ atMs, kind, text, times: 1 });
  }
  return lines;
}

/**
 * The indexes of the lines to print. If there are too many, the model's texts are dropped first, then the earliest of
 * the least important lines. Inputs are never dropped.
 */
function chosenOf(lines: readonly Line[]): number[] {
  const all = [...lines.keys()];
  if (all.length <= MOST_LINES) return all;
  const inputs = all.filter((at) => lines[at]!.kind === "input").slice(-MOST_INPUTS);
  // One line says what is left out.
  const others = Math.max(LEAST_OTHERS, MOST_LINES - 1 - inputs.length);
  const chosen = all
    .filter((at) => lines[at]!.kind !== "input")
    .sort((one, other) => weightOf(lines[one]!) - weightOf(lines[other]!) || other - one)
    .slice(0, others);
  return [...chosen, ...inputs].sort((one, other) => one - other);
}

function leftOut(lines: readonly Line[], chosen: readonly number[]): string[] {
  const count = lines.length - chosen.length;
  if (count === 0) return [];
  const isTold = new Set(chosen);
  const inputs = lines.filter(({ kind }, at) => kind === "input" && !isTold.has(at)).length;
  const which = inputs === 0 ? "" : `, ${inputs} of them with inputs`;
  return [`  ${count} of ${lines.length} lines are left out${which}: run.happenings of the failure has all`];
}

/** Lines without inputs that a story has at least. */
const LEAST_OTHERS = 5;

const WEIGHTS = { process: 0, end: 1, fault: 2, act: 3, person: 4, model: 5 };

function weightOf({ kind }: Line): number {
  return kind === "input" ? 0 : WEIGHTS[kind];
}

function timeOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
