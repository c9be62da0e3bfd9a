/** The comparison that runs an agent's hooks: the run begins again, and recorded answers come in place of models. */
import type { Fetch, LimitOptions } from "../../core/api/index.js";
import type { AgentInternals } from "../../core/kit/runs.js";
import type { Input } from "../../core/kit/engine.js";
import type { LoopFile, LoopInput } from "../replay/loop-file.js";
import type { ReplayRequest, SentRequest } from "../replay/playback.js";
import { requestDifference } from "../testing/differences.js";
import { callsDifference, endingDifference } from "./decisions.js";
import { toldRequest, type Changed } from "./free.js";
import { LiveRun, unasked } from "./live.js";
import type { Recording } from "./recording.js";
import type { FirstDifference, RunEnd } from "./report.js";

/**
 * Runs the agent with the prompt of the recording, up to the first request that the recording does not have. Nothing
 * is sent, and no tool runs. `sent` are the requests of the replay, by their numbers in the file.
 */
export async function rerun(
  made: AgentInternals,
  recording: Recording,
  before: RunEnd,
  sent: ReadonlyMap<number, ReplayRequest>,
  file: LoopFile,
): Promise<Changed> {
  if (recording.problem !== undefined) return unasked(recording.problem);
  const answers = new RecordedAnswers(sent, file);
  const live: LiveRun = new LiveRun(made, recording, UNBOUND, {
    // Failed attempts come again, without their waits.
    retry: { ...made.options.retry, delaysMs: [0], jitterMs: 0, respectRetryAfter: false },
    steps: { fetch: () => answers.fetchFor(() => live.stop(ELSEWHERE)), call: (_, work) => work() },
  });
  const { result, why } = await live.run();
  const after = result as RunEnd;
  if (answers.difference !== undefined)
    return { verdict: "another request", why: "", firstDifference: answers.difference, after };
  if (why !== undefined) return { verdict: "stopped", why, after };
  const call = callsDifference(before.toolCalls, after.toolCalls);
  if (call !== undefined) return { verdict: "another decision", why: "", firstDifference: call, after };
  const ending = endingDifference(before, after);
  if (ending !== undefined)
    return { verdict: ending.verdict, why: "", firstDifference: ending.difference, after };
  const missing = answers.missing();
  if (missing !== undefined) return { verdict: "another request", why: "", firstDifference: missing, after };
  return { verdict: "equal", why: "", after };
}

const UNBOUND = { request: () => true, limits: (own: LimitOptions | undefined) => own ?? {} };

const ELSEWHERE = "The run asks for something else.";

type Told = LoopInput["input"];

/** A request of a file, and the inputs that answered it. */
interface Sent {
  readonly request: ReplayRequest;
  readonly inputs: readonly Told[];
}

/** The answers of a file, each for the request that it was given to. */
class RecordedAnswers {
  readonly #left: Sent[];
  readonly #given: SentRequest[] = [];
  difference: FirstDifference | undefined;

  constructor(sent: ReadonlyMap<number, ReplayRequest>, file: LoopFile) {
    const answers = new Map(
      Array.from(sent, ([number, request]) => [number, { request, inputs: [] as Told[] }]),
    );
    for (const { inputs } of file.processes)
      for (const { input } of inputs) answers.get(requestOf(input) ?? 0)?.inputs.push(input);
    this.#left = [...answers.values()];
  }

  /** A `fetch` that calls `stop` at the first request that was not recorded. */
  fetchFor(stop: () => Error): Fetch {
    return async (url, { method = "GET", body }) => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
      const asked = { method, url, body: text };
      const at = this.#left.findIndex(({ request }) => requestDifference([request], [asked]) === undefined);
      if (at < 0) {
        this.difference ??= this.#told(this.#left[0]?.request, asked);
        throw stop();
      }
      const [{ request, inputs }] = this.#left.splice(at, 1) as [Sent];
      this.#given.push(request);
      return responseOf(inputs);
    };
  }

  /** The first request that did not come. */
  missing(): FirstDifference | undefined {
    const next = this.#left[0]?.request;
    return next === undefined ? undefined : this.#told(next, undefined);
  }

  #told(old: SentRequest | undefined, fresh: SentRequest | undefined): FirstDifference {
    const lists = [old, fresh].map((one) => [...this.#given, ...(one === undefined ? [] : [one])]);
    return toldRequest(requestDifference(lists[0]!, lists[1]!)!, old, fresh);
  }
}

/** The number of the request that an input belongs to. */
function requestOf(input: Told): number | undefined {
  if ("text" in input) return input.text.request;
  if ("bytes" in input) return input.bytes.request;
  const told = input.json as Input;
  if (typeof told === "string") return undefined;
  const [value] = Object.values(told) as { readonly request?: unknown }[];
  return typeof value?.request === "number" ? value.request : undefined;
}

/**
 * A response as it was received, without delays. One that the recorded run did not wait for ends as a broken
 * connection.
 */
function responseOf(inputs: readonly Told[]): Response {
  let head = { status: 200, headers: [] as readonly (readonly [string, string])[] };
  let isWhole = false;
  const chunks: Uint8Array[] = [];
  for (const input of inputs) {
    if ("text" in input) chunks.push(new TextEncoder().encode(input.text.text));
    else if ("bytes" in input)
      chunks.push(Uint8Array.from(atob(input.bytes.base64), (character) => character.charCodeAt(0)));
    else {
      const told = input.json as Exclude<Input, string>;
      if ("head" in told) head = told.head;
      if ("end" in told) isWhole = true;
      const why =
        "networkFailed" in told ? told.networkFailed.why : "notSent" in told ? told.notSent.why : undefined;
      if (why !== undefined && chunks.length === 0) throw new TypeError(why);
    }
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (isWhole) controller.close();
      else controller.error(new TypeError("The recorded answer broke off."));
    },
  });
  const hasBody = ![204, 205, 304].includes(head.status);
  return new Response(hasBody ? body : null, {
    status: head.status,
    headers: Object.fromEntries(head.headers),
  });
}
