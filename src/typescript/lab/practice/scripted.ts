/**
 * `scripted()` and `raw()`: a `fetch` for tests that answers with exact turns, delays and faults, in any protocol,
 * and records the requests. It does not check the requests unless you enable that.
 */
import type { HostResponse } from "../../core/api/platform.js";
import { bodyStream, cutChunks, timerSleep } from "./body.js";
import { answering, PracticeError, refuseRequest, type PaceOptions } from "./exchange.js";
import { checkNames, type NamesOf } from "./names.js";
import { perform, refuse } from "./turn.js";
import type { PracticeFetch, ReceivedRequest, ScriptedTurn } from "./types.js";

/** A turn, a finished response, or a function that makes either out of the request and its number, from 0. @beta */
export type ScriptedStep = Answer | ((request: ReceivedRequest, index: number) => Answer | Promise<Answer>);

type Answer = ScriptedTurn | HostResponse;

/** Options of `scripted()`. @beta */
export interface ScriptedOptions extends PaceOptions {
  /** Answer illegal requests with the vendor's 400 (without using up a turn). Default false. */
  validate?: boolean;
}

/** A scripted `fetch` and what it saw. @beta */
export interface ScriptedFetch extends PracticeFetch {
  /** Every request in the order of arrival, also those that were refused. */
  readonly requests: ReceivedRequest[];
  /** The number of turns that are not used yet. */
  readonly remaining: number;
}

/**
 * Answers the first request with the first turn, the second with the second, and so on. After the last turn `fetch`
 * rejects with an error that says how many turns there were. That error, and what a function among the turns throws,
 * ends a run as `failed` with `custom_model`. Honours `init.signal` like `practice`.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { scripted } from "looplet/practice";
 *
 * const fetch = scripted([{ text: "Hello." }]);
 * const agent = createAgent({ model: anthropic("practice", { fetch }) });
 * console.log((await agent.run("Hi").result).text); // prints "Hello."
 * ```
 *
 * @throws TypeError for a turn or an option that has an unknown name
 */
export function scripted(turns: readonly ScriptedStep[], options: ScriptedOptions = {}): ScriptedFetch {
  refuseRequest(turns, "scripted", "scripted([…])");
  if (!Array.isArray(turns)) throw new TypeError("scripted() needs an array of turns.");
  checkNames(options, OPTIONS, "Options of scripted()");
  turns.forEach((step, index) => {
    if (typeof step !== "function" && !(step instanceof Response)) checkTurn(step, index);
  });
  const requests: ReceivedRequest[] = [];
  let used = 0;
  const fetch = answering(options, async (exchange) => {
    const { request, format } = exchange;
    requests.push(request);
    const isChecked = options.validate && request.protocol;
    const refusal = isChecked && format.check(request, { areSignaturesOurs: false });
    if (refusal) return refuse(refusal, { ...exchange, delayMs: 0 });
    const index = used;
    const step = turns[index];
    const count = `${turns.length} ${turns.length === 1 ? "turn" : "turns"}`;
    if (step === undefined)
      throw new PracticeError(`The script has ${count}, and request number ${index + 1} came.`);
    used += 1;
    const turn = typeof step === "function" ? await made(step, request, index) : step;
    if (turn instanceof Response) return turn.bodyUsed ? turn : turn.clone();
    return perform(turn, exchange);
  });
  return Object.defineProperties(fetch, {
    requests: { __proto__: null, value: requests, enumerable: true } as PropertyDescriptor,
    remaining: {
      __proto__: null,
      get: () => Math.max(0, turns.length - used),
      enumerable: true,
    } as PropertyDescriptor,
  }) as ScriptedFetch;
}

/** The turn that a function makes. What it throws is a mistake of the script. */
async function made(
  step: Exclude<ScriptedStep, Answer>,
  request: ReceivedRequest,
  index: number,
): Promise<Answer> {
  try {
    const turn = await step(request, index);
    if (!(turn instanceof Response)) checkTurn(turn, index);
    return turn;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PracticeError(`Turn ${index + 1} of the script has thrown: ${why}`, { cause: error });
  }
}

type TurnCall = NonNullable<ScriptedTurn["toolCalls"]>[number];
// prettier-ignore
const TURN: NamesOf<ScriptedTurn> = {
  text: true, thinking: true, toolCalls: true, blocks: true, stopReason: true, stopSequence: true, usage: true,
  chunks: true, delayMs: true, status: true, headers: true, body: true, reject: true, hang: true, error: true,
  dropAfterBytes: true, dropAfterEvents: true, stall: true, truncate: true,
};
const CALL: NamesOf<TurnCall> = { id: true, name: true, input: true, argumentsText: true };
const THINKING: NamesOf<NonNullable<ScriptedTurn["thinking"]>> = { text: true, signature: true };
// prettier-ignore
const OPTIONS: NamesOf<ScriptedOptions> = { chunking: true, delayMs: true, sleep: true, seed: true, validate: true };

function checkTurn(turn: ScriptedTurn, index: number): void {
  const where = `Turn ${index + 1} of the script`;
  checkNames(turn, TURN, where);
  if (turn.thinking !== undefined) checkNames(turn.thinking, THINKING, `${where}, thinking`);
  turn.toolCalls?.forEach((call, at) => checkNames(call, CALL, `${where}, toolCalls[${at}]`));
}

/** How `raw` answers. @beta */
export interface RawOptions {
  /** Default 200. */
  status?: number;
  /** Default: `content-type: text/event-stream`. */
  headers?: Record<string, string>;
}

/**
 * A response of exactly these bytes: one text or byte array is one chunk, a list gives the chunks. For `scripted`, or
 * as the answer of any `fetch`.
 *
 * @beta
 */
export function raw(
  content: string | Uint8Array | readonly (string | Uint8Array)[],
  { status = 200, headers = { "content-type": "text/event-stream; charset=utf-8" } }: RawOptions = {},
): HostResponse {
  const parts = typeof content === "string" || content instanceof Uint8Array ? [content] : content;
  const chunks = cutChunks(parts, "event", Infinity, () => 0);
  const pace = { delayMs: 0, sleep: timerSleep, signal: undefined };
  return new Response(bodyStream(chunks, "close", pace), { status, headers });
}
