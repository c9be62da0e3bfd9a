/** The first difference between two replays: of requests, of the outcome, of the text. */
import { LoopletError } from "../../core/api/errors.js";
import { describe } from "../../core/kit/check.js";
import { internalsOf, type AgentInternals } from "../../core/kit/runs.js";
import type { LoopFile, LoopProcess } from "../replay/loop-file.js";
import type { SentRequest } from "../replay/playback.js";
import type { Replay } from "../replay/replay.js";

/** Characters of an excerpt before and after the difference. */
const BEFORE = 30;
const BEHIND = 60;

/** A difference between what should be and what is. */
export interface Difference {
  readonly what: string;
  /** The texts around it. */
  readonly expected: string;
  readonly actual: string;
  /** The number of the request, from 1; undefined for a difference of something else. */
  readonly request?: number | undefined;
  /** The first character that differs, from 0. */
  readonly at?: number | undefined;
}

/** How a replay has ended. */
export interface Ending {
  readonly outcome?: string | undefined;
  readonly text: string;
}

/** The first request that differs. */
export function requestDifference(
  expected: readonly SentRequest[],
  actual: readonly SentRequest[],
): Difference | undefined {
  for (const [index, request] of expected.entries()) {
    const found = differenceOf(index + 1, request, actual[index]);
    if (found !== undefined) return found;
  }
  const more = actual[expected.length];
  if (more === undefined) return undefined;
  const number = expected.length + 1;
  return { what: `Request ${number} is new.`, expected: "none", actual: start(more), request: number };
}

function differenceOf(
  number: number,
  expected: SentRequest,
  actual: SentRequest | undefined,
): Difference | undefined {
  const name = `Request ${number}`;
  if (actual === undefined)
    return { what: `${name} is missing.`, expected: start(expected), actual: "none", request: number };
  for (const part of ["method", "url", "body"] as const) {
    const [wanted, got] = [expected[part], actual[part]];
    if (wanted === got) continue;
    const { start: at } = shared(wanted, got);
    const what = `${name} differs in its ${part}, at character ${at}.`;
    return { what, expected: around(wanted, at), actual: around(got, at), request: number, at };
  }
  return undefined;
}

/** The difference of how two replays have ended. */
export function endDifference(expected: Ending, actual: Ending): Difference | undefined {
  return (
    textDifference("The outcome of the replay", expected.outcome, actual.outcome) ??
    textDifference("The text of the replay", expected.text, actual.text)
  );
}

/** The difference of two texts. `what` names them. */
export function textDifference(
  what: string,
  expected: string | undefined,
  actual: string | undefined,
): Difference | undefined {
  if (expected === actual) return undefined;
  const [wanted, got] = [expected ?? "none", actual ?? "none"];
  const { start: at } = shared(wanted, got);
  return { what: `${what} differs.`, expected: around(wanted, at), actual: around(got, at), at };
}

/** The part of a text around a character. */
export function around(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const to = at + BEHIND;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

function start({ method, url, body }: SentRequest): string {
  return `${method} ${url} ${around(body, 0)}`;
}

/**
 * The number of characters that two texts share at their start and, in addition, at their end. For two lists, the
 * number of lines.
 */
export function shared<T extends string | readonly string[]>(
  one: T,
  other: T,
): { start: number; end: number } {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return { start, end };
}

/** How a replay has ended. */
export function ends(played: Replay): Pick<LoopFile, "outcome"> & Ending {
  const { outcome, text } = played.at(played.steps.length - 1);
  return { outcome, text };
}

/** The file with the configuration of this agent, and what the agent was made of. */
export function withAgent(file: LoopFile, agent: unknown): AgentInternals & { readonly file: LoopFile } {
  const made = madeIn(agent);
  const config = JSON.parse(made.config()) as LoopProcess["config"];
  const processes = file.processes.map((process) => {
    // The ids of effects count the saves of the journal.
    const { journal, trace } = process.config;
    return { ...process, config: { ...config, journal, trace } };
  });
  return { ...made, file: { ...file, processes } };
}

/**
 * The options and the configuration of an agent.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function madeIn(agent: unknown): AgentInternals {
  const made = internalsOf(agent);
  if (made !== undefined) return made;
  const problem = `needs an agent that createAgent has made, got ${describe(agent)}`;
  throw new LoopletError("config_wrong_type", "agent", problem);
}
