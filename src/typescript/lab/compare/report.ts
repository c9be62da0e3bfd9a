/** What a comparison has found, as data. */
import type { ModelUsage, Usage } from "../../core/api/index.js";

/**
 * The effect of the change on a run.
 *
 * - `equal`: the same decisions, and the same text.
 * - `other words`: the same decisions, and another text.
 * - `another request`: the request to the model would differ, so its recorded answers prove nothing from there on.
 *   Only a comparison without `live` has this verdict.
 * - `another decision`: other tools are called, or with other inputs, or the run ends with another outcome.
 * - `stopped`: the comparison could not continue: a call was not recorded, or the budget is spent.
 * - `failed`: the file cannot be played, or looplet itself failed.
 *
 * @beta
 */
export type ComparedVerdict = (typeof VERDICTS)[number];

/** The verdicts, from the best to the worst. */
export const VERDICTS = [
  "equal",
  "other words",
  "another request",
  "another decision",
  "stopped",
  "failed",
] as const;

/** The first difference of a run. @beta */
export interface FirstDifference {
  /** A request to a model, a call of a tool, a result of a tool, the outcome, or the text at the end. */
  readonly kind: "request" | "call" | "result" | "outcome" | "text";
  /** One sentence: `Request 2 differs at character 812: system prompt.` */
  readonly what: string;
  /** The number of the request or call, from 1. */
  readonly number?: number | undefined;
  /** The first character of the request's body that differs, from 0. */
  readonly at?: number | undefined;
  /** The parts of the request that differ, up to 20: `system prompt`, "tool `weather`: description", "option `top_p`". */
  readonly parts: readonly string[];
  /** The lines that differ, with `-` before the recorded and `+` before the new ones. */
  readonly diff: string;
}

/** What a judge says of a run. @beta */
export interface Judgement {
  readonly pass: boolean;
  /** From 0 to 1, for a judge that returns a number. */
  readonly score?: number | undefined;
  readonly note?: string | undefined;
}

/** The comparison of one run. @beta */
export interface ComparedRun {
  /** The name that was given with the text, or else the id in the file. */
  readonly name: string;
  readonly verdict: ComparedVerdict;
  /** Why a run is `stopped` or `failed`; else empty. */
  readonly why: string;
  readonly firstDifference?: FirstDifference | undefined;
  /**
   * The options that the agent has other than the run: `system`, `tools.weather.description`. They are why the run
   * differs, and a run may be equal in spite of them.
   */
  readonly changed: readonly string[];
  /** The verdicts of the judges, by name. Empty for a run that is `stopped` or `failed`. */
  readonly judges: { readonly [name: string]: Judgement };
  /** Whether the run counts against the change. */
  readonly isFailed: boolean;
  /** The usage of the run with the change, judges not included; null for a comparison without `live`. */
  readonly usage: Usage | null;
  /** Its cost in US dollars; 0 if it is not known. */
  readonly usd: number;
}

/** A share of runs with its confidence interval of 95 %, after Wilson: each from 0 to 1. @beta */
export interface Share {
  readonly runs: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Runs with the same verdict, the same reason and the same place of the first difference. @beta */
export interface DifferenceKind {
  readonly verdict: ComparedVerdict;
  /** The number of runs. */
  readonly count: number;
  /** Their indexes in `runs` of the report. The first one is the example that the written reports show. */
  readonly runs: readonly number[];
}

/** The result of `compare`: plain data, which `JSON.stringify` writes whole. @beta */
export interface CompareReport {
  readonly runs: readonly ComparedRun[];
  /** How many runs have each verdict. Verdicts that no run has are left out. */
  readonly verdicts: { readonly [verdict in ComparedVerdict]?: Share };
  /** The runs that are not equal or that a judge does not pass, grouped by what differs. */
  readonly kinds: readonly DifferenceKind[];
  /** How many runs each judge passes. */
  readonly judges: { readonly [name: string]: Share };
  /** What was asked live, judges included. */
  readonly spent: { readonly requests: number; readonly tokens: number; readonly usd: number };
  /** Whether a run counts against the change: `expectSame` throws then. */
  readonly isFailed: boolean;
}

/** What a judge sees of a run: how it has ended. @beta */
export interface RunEnd {
  readonly outcome: string | undefined;
  readonly text: string;
  /** The structured answer of an agent with `output`. */
  readonly output: unknown;
  readonly toolCalls: readonly {
    readonly toolName: string;
    readonly input: unknown;
    readonly output: unknown;
    readonly isError: boolean;
  }[];
  readonly messages: readonly object[];
  readonly usage: Usage | ModelUsage | null;
}

/** The report of these runs. */
export function reportOf(runs: readonly ComparedRun[], spent: CompareReport["spent"]): CompareReport {
  const verdicts: { [verdict in ComparedVerdict]?: Share } = {};
  for (const verdict of VERDICTS) {
    const count = runs.filter((run) => run.verdict === verdict).length;
    if (count > 0) verdicts[verdict] = shareOf(count, runs.length);
  }
  const judges: { [name: string]: Share } = {};
  for (const name of new Set(runs.flatMap((run) => Object.keys(run.judges)))) {
    const judged = runs.flatMap((run) => run.judges[name] ?? []);
    judges[name] = shareOf(judged.filter(({ pass }) => pass).length, judged.length);
  }
  return {
    runs,
    verdicts,
    kinds: kindsOf(runs),
    judges,
    spent,
    isFailed: runs.some(({ isFailed }) => isFailed),
  };
}

/**
 * The kinds of differences of runs that are not equal, or that a judge does not pass: the worst verdict first, then
 * the most frequent one.
 */
export function kindsOf(runs: readonly ComparedRun[]): DifferenceKind[] {
  const kinds = new Map<string, { verdict: ComparedVerdict; runs: number[] }>();
  for (const [index, run] of runs.entries()) {
    if (run.verdict === "equal" && !run.isFailed) continue;
    const key = keyOf(run);
    const kind = kinds.get(key);
    if (kind === undefined) kinds.set(key, { verdict: run.verdict, runs: [index] });
    else kind.runs.push(index);
  }
  return [...kinds.values()]
    .map((kind) => ({ ...kind, count: kind.runs.length }))
    .sort(
      (one, other) =>
        VERDICTS.indexOf(other.verdict) - VERDICTS.indexOf(one.verdict) || other.count - one.count,
    );
}

/** Equal for runs of one kind: what differs counts, and not at which message, character or id. */
function keyOf({ verdict, why, firstDifference, changed, judges }: ComparedRun): string {
  const { kind, what = "", parts = [] } = firstDifference ?? {};
  const places = [...new Set(parts.map(withoutPlaces))].sort();
  const failed = Object.entries(judges).flatMap(([name, { pass }]) => (pass ? [] : [name]));
  const where = places.length > 0 ? places : [withoutPlaces(what)];
  return JSON.stringify([verdict, withoutPlaces(why), kind, where, changed, failed]);
}

function withoutPlaces(text: string): string {
  return text.replace(/\b(toolu|call|fc|tooluse)_[\w-]+/g, "ID").replace(/\d+/g, "N");
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959964;

/** Wilson's score interval (Journal of the American Statistical Association 22, 1927, p. 209). */
function shareOf(runs: number, of: number): Share {
  const share = runs / of;
  const weight = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / weight;
  const spread = (Z / weight) * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  return { runs, of, share, low: Math.max(0, middle - spread), high: Math.min(1, middle + spread) };
}
