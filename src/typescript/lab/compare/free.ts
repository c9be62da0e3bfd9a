/** The free comparison: a run is played with the options of another agent, against its recorded answers. */
import type { LoadedWasm, ToolInvocation } from "../../core/kit/engine.js";
import type { AgentInternals } from "../../core/kit/runs.js";
import type { LoopFile } from "../replay/loop-file.js";
import type { ReplayCall, SentRequest, ReplayStep } from "../replay/playback.js";
import { play, type Replay } from "../replay/replay.js";
import { requestDifference, type Difference } from "../testing/differences.js";
import { whole } from "../testing/expect-replay.js";
import { resultOf, runTools } from "../testing/run-tools.js";
import { callsDifference, endingDifference, type Finding } from "./decisions.js";
import type { FirstDifference, RunEnd, ComparedVerdict } from "./report.js";
import { requestParts, type RequestPart } from "./request-parts.js";
import { textDiff } from "./text-diff.js";

/** A run with the change. */
export interface Changed {
  readonly verdict: ComparedVerdict;
  readonly why: string;
  readonly firstDifference?: FirstDifference | undefined;
  readonly after: RunEnd;
}

/**
 * Plays a file with the options of an agent, and finds where it first differs from `before`, which ended as `end`
 * says. With `runsTools` the functions of the tools run too, for the calls before that.
 *
 * @throws LoopletError, ReplayDifference
 */
export async function playedWith(
  wasm: LoadedWasm,
  made: AgentInternals & { readonly file: LoopFile },
  before: Replay,
  end: RunEnd,
  runsTools: boolean,
): Promise<Changed> {
  const invocations: ToolInvocation[] = [];
  const played = whole(play(wasm, made.file, { onCall: (call) => void invocations.push(call) }));
  const after = endOf(played);
  const isOver = after.outcome !== undefined;
  // An additional question has no effect as long as the run does not wait for it.
  const asked = isOver ? undefined : questionPlace(before, played);
  const places = [asked, requestPlace(before, played), callPlace(before, played)];
  const [first] = places.flatMap((place) => place ?? []).sort((one, other) => one.step - other.step);
  if (runsTools) {
    const until = first?.step ?? played.steps.length;
    const count = played.steps.slice(0, until).reduce((sum, { calls }) => sum + calls.length, 0);
    for await (const run of runTools(made, made.file, invocations.slice(0, count))) {
      if (run.expected === run.actual) continue;
      const number = invocations.indexOf(run.invocation) + 1;
      const what = `${resultOf(run.invocation)} differs.`;
      const diff = textDiff(indented(run.expected), indented(run.actual));
      return {
        verdict: "another request",
        why: "",
        firstDifference: { kind: "result", what, number, parts: [], diff },
        after,
      };
    }
  }
  const ending = isOver ? endingDifference(end, after) : undefined;
  // Where the run is over already, its end is the difference, and not the request that does not come any more.
  const found = first?.isMissing === true ? (ending ?? first) : (first ?? ending);
  if (found === undefined) return { verdict: "equal", why: "", after };
  const { verdict, difference, why = "" } = found;
  return { verdict, why, ...(difference === undefined ? {} : { firstDifference: difference }), after };
}

/** How a replay has ended, for judges. */
export function endOf(played: Replay): RunEnd {
  return played.at(played.steps.length - 1) as RunEnd;
}

/** A finding, and the step of the replay in which it comes. */
interface Place extends Finding {
  readonly step: number;
  /** Whether it is a request that does not come with the change. */
  readonly isMissing?: boolean;
}

/** The first question to a function of the agent that the run of the file did not ask. */
function questionPlace(before: Replay, after: Replay): Place | undefined {
  const [old, fresh] = [before, after].map(({ steps }) => steps.flatMap(({ questions }) => questions));
  const index = fresh!.findIndex(({ point }, at) => old![at]?.point !== point);
  if (index < 0) return undefined;
  const step = stepOf(after, index + 1, ({ questions }) => questions.length);
  const { point } = fresh![index]!;
  const why = `The file has no answer of the agent's function at the point ${point}: compare with hooks: "run".`;
  return { step, verdict: "stopped", why };
}

function requestPlace(before: Replay, after: Replay): Place | undefined {
  const found = requestDifference(before.requests, after.requests);
  if (found === undefined) return undefined;
  const number = found.request!;
  const [old, fresh] = [before.requests[number - 1], after.requests[number - 1]];
  const step = stepOf(fresh === undefined ? before : after, number, ({ requests }) => requests.length);
  const difference = toldRequest(found, old, fresh);
  return { step, verdict: "another request", difference, isMissing: fresh === undefined };
}

/** The difference of a request, in words. */
export function toldRequest(
  found: Difference,
  old: SentRequest | undefined,
  fresh: SentRequest | undefined,
): FirstDifference {
  const parts = old === undefined || fresh === undefined ? [] : partsOf(old, fresh);
  const [part] = parts;
  const { request: number, at } = found;
  const what =
    part === undefined ? found.what : `Request ${number} differs at character ${at}: ${part.name}.`;
  const { before, after } = part ?? { before: found.expected, after: found.actual };
  const diff = textDiff(before, after);
  return { kind: "request", what, number, at, parts: parts.map(({ name }) => name), diff };
}

function partsOf(old: SentRequest, fresh: SentRequest): RequestPart[] {
  const [before, after] = [`${old.method} ${old.url}`, `${fresh.method} ${fresh.url}`];
  const address = before === after ? [] : [{ name: "address", before, after }];
  return [...address, ...requestParts(old.body, fresh.body)];
}

function callPlace(before: Replay, after: Replay): Place | undefined {
  const found = callsDifference(callsOf(before), callsOf(after));
  if (found === undefined) return undefined;
  const isLonger = callsOf(after).length >= found.number!;
  const step = stepOf(isLonger ? after : before, found.number!, ({ calls }) => calls.length);
  return { step, verdict: "another decision", difference: found };
}

function callsOf(played: Replay): ReplayCall[] {
  return played.steps.flatMap(({ calls }) => calls);
}

/** The step that has the thing of this number, from 1. */
function stepOf(played: Replay, number: number, count: (step: ReplayStep) => number): number {
  let seen = 0;
  return played.steps.findIndex((step) => (seen += count(step)) >= number);
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), undefined, 2);
}
