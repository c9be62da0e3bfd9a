/** Decisions of a run: which tools it calls with which inputs, in order, and how it ends. */
import { isObject } from "../../core/kit/check.js";
import type { FirstDifference, RunEnd, ComparedVerdict } from "./report.js";
import { textDiff } from "./text-diff.js";

/** A call of a tool, as far as it is a decision. */
export interface Called {
  readonly toolName: string;
  readonly input: unknown;
}

/** A difference with its verdict, or why no difference can be found. */
export interface Finding {
  readonly verdict: ComparedVerdict;
  readonly difference?: FirstDifference | undefined;
  readonly why?: string | undefined;
}

/** The first call that differs. */
export function callsDifference(
  before: readonly Called[],
  after: readonly Called[],
): FirstDifference | undefined {
  const [old, fresh] = [before.map(callText), after.map(callText)];
  const index = [...old, ...fresh].findIndex((_, at) => old[at] !== fresh[at]);
  if (index < 0) return undefined;
  const number = index + 1;
  const [was, is] = [old[index], fresh[index]];
  const what =
    was === undefined
      ? `Call ${number} is new: ${clipped(is!)}.`
      : is === undefined
        ? `Call ${number} is missing: ${clipped(was)}.`
        : `Call ${number} is ${clipped(is)}, and was ${clipped(was)}.`;
  return { kind: "call", what, number, parts: [], diff: textDiff(shown(before[index]), shown(after[index])) };
}

/** The difference of how two runs have ended. */
export function endingDifference(before: RunEnd, after: RunEnd): Finding | undefined {
  const [was = "unfinished", is = "unfinished"] = [before.outcome, after.outcome];
  if (was !== is) {
    const what = `The run is ${is}, and was ${was}.`;
    const difference = { kind: "outcome", what, parts: [], diff: textDiff(was, is) } as const;
    return { verdict: "another decision", difference };
  }
  const [old, fresh] = [answerOf(before), answerOf(after)];
  if (old === fresh) return undefined;
  const what = "The text at the end differs.";
  return {
    verdict: "other words",
    difference: { kind: "text", what, parts: [], diff: textDiff(old, fresh) },
  };
}

/** A call as one text: equal calls have equal texts, however the keys of their inputs are ordered. */
export function callText({ toolName, input }: Called): string {
  return `${toolName}(${canonical(input)})`;
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

function answerOf({ text, output }: RunEnd): string {
  return output === undefined ? text : JSON.stringify(sorted(output), undefined, 2);
}

function shown(call: Called | undefined): string {
  return call === undefined ? "" : `${call.toolName} ${JSON.stringify(sorted(call.input), undefined, 2)}`;
}

function clipped(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
