/** Invariants: sentences about a simulated run, and the functions that judge them. */
import { checkOptions } from "../../../core/kit/check.js";
import { namePattern } from "../../../extras/tools/name-pattern.js";
import { Effects } from "./effects.js";
import { inputText } from "./model/answers.js";
import type { SimulatedCall, SimulatedEffect, SimulatedRun } from "./record.js";

/** What must hold in a run. Contract: returns a text, or throws, if it is broken. */
export type Judge = (run: SimulatedRun) => unknown;

/** An invariant with its name. @beta */
export interface NamedInvariant {
  readonly name: string;
  /** `effects` is what all runs of the simulation have shown so far. Default: what this run shows. */
  readonly check: (run: SimulatedRun, effects?: Effects) => unknown;
  /** The tools whose calls break it in this run. A call does not count if a later run has an effect of its tool. */
  readonly restsOn?: (run: SimulatedRun, effects: Effects) => readonly string[];
  /** The tools and effects that it speaks of. One that no run knows is a mistake of the test. */
  readonly speaksOf?: readonly string[];
}

/** An invariant of `looplet/testing`, or your own function. @beta */
export type Invariant = NamedInvariant | Judge;

/**
 * No effect with this name happens twice for one key, in any process. `*` in a name matches any text. A tool with
 * this name is judged by its effects: those with its name, and those with a matching name and the id of its call as
 * key. For a tool without effects the calls themselves are counted: none starts twice.
 *
 * @beta
 */
export function neverTwice(name: string): NamedInvariant {
  const fits = namePattern(name, "neverTwice");
  const breach: Breaches = (run, effects) => {
    const seen = new Map<string, number>();
    const acts = [...actsOf(run, fits, effects)].sort(
      (one, other) => Number(one.isCall) - Number(other.isCall),
    );
    for (const { word, key, isCall } of acts) {
      const act = `${isCall ? "the call of " : ""}${word} ${key}`;
      seen.set(act, (seen.get(act) ?? 0) + 1);
    }
    const twice = [...seen].find(([, times]) => times > 1);
    if (twice === undefined) return undefined;
    const calls = acts.filter(({ word, key, isCall }) => isCall && `the call of ${word} ${key}` === twice[0]);
    return { says: `${twice[0]} happened ${twice[1]} times`, calls };
  };
  return { name: `neverTwice("${name}")`, speaksOf: [name], ...judgedBy(breach) };
}

/**
 * No call of the tool runs without an approval: by the user who was asked, by the agent's `canUseTool`, or by an
 * `allow` rule with the tool's name. A denial by the user takes precedence. A hook does not count.
 *
 * @beta
 */
export function alwaysApproved(name: string): NamedInvariant {
  const fits = namePattern(name, "alwaysApproved");
  const check = (run: SimulatedRun): string | undefined => {
    for (const { toolName, input, approval } of run.calls) {
      if (!fits(toolName)) continue;
      const { person, canUseTool } = approval;
      if (person === "allow" || (person === undefined && (canUseTool === "allow" || hasRule(run, toolName))))
        continue;
      const call = `${toolName}(${inputText(JSON.stringify(input) ?? "")})`;
      return person === "deny"
        ? `${call} ran although the user had denied it`
        : `${call} ran without an approval`;
    }
    return undefined;
  };
  return { name: `alwaysApproved("${name}")`, check, speaksOf: [name] };
}

/**
 * The first never begins after the second has been done. Both are names of tools or effects. As with
 * {@link neverTwice}, a tool with effects is judged by them.
 *
 * @beta
 */
export function neverAfter(late: string, before: string): NamedInvariant {
  const [isLate, isBefore] = [namePattern(late, "neverAfter"), namePattern(before, "neverAfter")];
  const breach: Breaches = (run, effects) => {
    const done = [...actsOf(run, isBefore, effects)].filter(({ doneMs }) => doneMs !== undefined);
    for (const act of actsOf(run, isLate, effects)) {
      const earlier = done.find(({ order, doneMs }) => order < act.order && doneMs! <= act.atMs);
      if (earlier === undefined) continue;
      const calls = [act, earlier].filter(({ isCall }) => isCall);
      return { says: `${act.word} happened after ${earlier.word}`, calls };
    }
    return undefined;
  };
  return { name: `neverAfter("${late}", "${before}")`, speaksOf: [late, before], ...judgedBy(breach) };
}

/**
 * The run stays within its own `limits`: iterations, tool calls, tokens and money. No request is sent when more
 * tokens or money than allowed are used; answers under way may exceed a limit. Tokens are those of all answers in
 * the world, also of agents that a tool runs itself.
 *
 * @beta
 */
export function underBudget(): NamedInvariant {
  return { name: "underBudget()", check: overBudget };
}

function overBudget({ options, calls, events, requests }: SimulatedRun): string | undefined {
  const { maxIterations = 50, maxToolCalls, maxTotalTokens, maxUsd } = options?.limits ?? {};
  const begun = new Set(
    events.flatMap(({ type, agentPath, iteration }) =>
      type === "iteration-start" && agentPath === "root" ? [iteration] : [],
    ),
  );
  if (begun.size > maxIterations) return `${begun.size} iterations began, and ${maxIterations} are allowed`;
  const ids = new Set(calls.map(({ toolCallId }) => toolCallId));
  if (maxToolCalls !== undefined && ids.size > maxToolCalls)
    return `${ids.size} calls ran, and ${maxToolCalls} are allowed`;
  const late = requests.find(({ tokensBefore }) => tokensBefore > (maxTotalTokens ?? Infinity));
  if (late !== undefined)
    return `a request is sent after ${late.tokensBefore} tokens, and ${maxTotalTokens} are allowed`;
  let costNanoUsd = 0;
  for (const event of events) {
    if (event.type === "usage") costNanoUsd = event.total.costNanoUsd ?? 0;
    if (event.type === "attempt-start" && costNanoUsd > (maxUsd ?? Infinity) * 1e9)
      return `a request is sent after $${costNanoUsd / 1e9}, and $${maxUsd} are allowed`;
  }
  return undefined;
}

/** Every request has a history that its vendor accepts. One of the default invariants. @beta */
export function legalTranscript(): NamedInvariant {
  const check = ({ requests }: SimulatedRun): string | undefined => {
    const at = requests.findIndex(({ refused }) => refused !== undefined);
    return at < 0 ? undefined : `the vendor refuses request ${at + 1}: ${requests[at]!.refused}`;
  };
  return { name: "legalTranscript()", check };
}

/** The run ends without help, or waits for a user who never answers. One of the default invariants. @beta */
export function ends(): NamedInvariant {
  return { name: "ends()", check: endless };
}

function endless({ outcome, calls, requests, errors }: SimulatedRun): string | undefined {
  if (errors.length > 0) return `it throws ${String(errors[0])}`;
  if (outcome === "endless") return `the run never ends: ${requests.length} requests so far`;
  if (outcome !== "stuck") return undefined;
  const open = calls.filter(({ endedMs }) => endedMs === undefined).map(({ toolName }) => toolName);
  const waits = open.length > 0 ? `: ${open.join(", ")} has not answered` : "";
  return `nothing happens any more, and the run has not ended${waits}; a tool without timeoutMs, and a run without timeouts.toolMs, wait for ever`;
}

/** The run ends within so many iterations of one agent, and so many milliseconds of virtual time. @beta */
export function endsWithin(bounds: {
  iterations?: number | undefined;
  ms?: number | undefined;
}): NamedInvariant {
  const { iterations = Infinity, ms = Infinity } = checkOptions(bounds, "endsWithin", {
    iterations: "count",
    ms: "count64",
  });
  const check = (run: SimulatedRun): string | undefined => {
    const most = Math.max(0, ...run.events.map(({ iteration }) => iteration));
    if (most > iterations) return `iteration ${most} began`;
    if (run.outcome !== "waiting" && run.elapsedMs > ms) return `the run took ${run.elapsedMs} ms`;
    return endless(run);
  };
  return { name: `endsWithin(${JSON.stringify(bounds)})`, check };
}

/** The run ends with one of these outcomes, if it ends and does not wait for the user. @beta */
export function endsAs(...outcomes: readonly SimulatedRun["outcome"][]): NamedInvariant {
  const check = ({ outcome, results }: SimulatedRun): string | undefined => {
    if (outcomes.includes(outcome) || outcome === "waiting") return undefined;
    const last = results.at(-1);
    return `the run ends as ${outcome}${last?.outcome === "failed" ? `: ${last.error.message}` : ""}`;
  };
  return { name: `endsAs(${outcomes.map((one) => `"${one}"`).join(", ")})`, check };
}

/**
 * When the run has ended, no request is sent any more, no tool begins, and the store has no run that waits for
 * another process. One of the default invariants.
 *
 * @beta
 */
export function nothingAfterTheEnd(): NamedInvariant {
  const check = (run: SimulatedRun): string | undefined => {
    const { outcome, elapsedMs, requests, calls, pending } = run;
    if (outcome === "waiting" || outcome === "stuck" || outcome === "endless") return undefined;
    if (requests.some(({ atMs }) => atMs > elapsedMs)) return "a request is sent after the end";
    const call = calls.find(({ startedMs }) => startedMs > elapsedMs);
    if (call !== undefined) return `${call.toolName} begins after the end`;
    // A run whose processes crashed too often stays in the store until a developer has found the cause.
    const last = run.results.at(-1);
    const isKept = last?.outcome === "stopped" && last.stoppedBy === "recovery_exhausted";
    return pending.length > 0 && !isKept ? "the run has ended, and the store has it as pending" : undefined;
  };
  return { name: "nothingAfterTheEnd()", check };
}

/** No run fails because of looplet itself, with the code `bug`. One of the default invariants. @beta */
export function noDefects(): NamedInvariant {
  const check = ({ results }: SimulatedRun): string | undefined => {
    for (const result of results)
      if (result.outcome === "failed" && result.error.code === "bug") return result.error.message;
    return undefined;
  };
  return { name: "noDefects()", check };
}

/** Those that are judged in every run. */
export const DEFAULT_INVARIANTS: readonly NamedInvariant[] = [
  noDefects(),
  legalTranscript(),
  ends(),
  nothingAfterTheEnd(),
];

/** The invariants, with unique names. */
export function namedInvariants(given: readonly Invariant[]): NamedInvariant[] {
  const own = given.map((one, at) =>
    typeof one === "function" ? { name: one.name || `invariant ${at + 1}`, check: one } : one,
  );
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...DEFAULT_INVARIANTS.filter(({ name }) => !names.has(name))];
}

/** The words of an invariant that is broken; undefined if it holds. */
export function broken({ check }: NamedInvariant, run: SimulatedRun, effects?: Effects): string | undefined {
  try {
    const told = check(run, effects);
    return told === undefined || told === null || told === true || told === "" ? undefined : String(told);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Act {
  /** Whether it is a call of a tool, and not an effect. */
  readonly isCall: boolean;
  readonly word: string;
  readonly key: string;
  readonly atMs: number;
  readonly doneMs: number | undefined;
  readonly order: number;
}

/** How an invariant is broken, and the calls of tools on which that rests. */
type Breaches = (
  run: SimulatedRun,
  effects: Effects,
) => { readonly says: string; readonly calls: readonly Act[] } | undefined;

function judgedBy(breach: Breaches): Pick<NamedInvariant, "check" | "restsOn"> {
  return {
    check: (run, effects = Effects.of(run)) => breach(run, effects)?.says,
    restsOn: (run, effects) => [...new Set((breach(run, effects)?.calls ?? []).map(({ word }) => word))],
  };
}

/** Effects with a matching name, and calls of tools without such effects, in order of time. */
function* actsOf(
  { calls, effects }: SimulatedRun,
  fits: (name: string) => boolean,
  known: Effects,
): Generator<Act> {
  for (const [order, call] of calls.entries())
    if (fits(call.toolName) && !known.has(call.toolName, fits)) yield actOfCall(call, order);
  for (const [order, effect] of effects.entries()) if (fits(effect.name)) yield actOfEffect(effect, order);
}

function actOfCall({ toolName, toolCallId, startedMs, endedMs, isError }: SimulatedCall, order: number): Act {
  const doneMs = isError === true ? undefined : endedMs;
  return { isCall: true, word: toolName, key: toolCallId, atMs: startedMs, doneMs, order };
}

function actOfEffect({ name, key, atMs }: SimulatedEffect, order: number): Act {
  return { isCall: false, word: name, key, atMs, doneMs: atMs, order };
}

function hasRule({ options }: SimulatedRun, toolName: string): boolean {
  return (options?.permissions?.allow ?? []).some((rule) => {
    const name = typeof rule === "string" ? rule.replace(/\(.*$/s, "") : "";
    return name !== "" && namePattern(name, "allow")(toolName);
  });
}
