/** The answers of the world to the requests of a process: a turn of the model, and the faults on the way. */
import { LoopletError } from "../../../../core/api/errors.js";
import type { FetchedResponse, FetchInit } from "../../../../core/api/model.js";
import { cutChunks } from "../../../practice/body.js";
import { formatOf, receivedRequest } from "../../../practice/exchange.js";
import { seededRandom } from "../../../practice/random.js";
import { writtenAnswer, writtenRefusal, type WrittenAnswer } from "../../../practice/turn.js";
import type { ScriptedTurn } from "../../../practice/types.js";
import { IN_PROCESS, inProcess } from "./in-process.js";
import type { Process } from "../process.js";
import type { SimulatedRequest } from "../record.js";
import { never } from "../timeline.js";

/** The agent that asks, and its iteration. */
export interface AskedBy {
  readonly agentPath: string;
  readonly iteration: number;
}

/** Times from a request to its answer in milliseconds, and the chances of all but the first. */
const LATENCIES_MS = [20, 300, 4000, 30_000];
const LATENCY_CHANCES = [0.2, 0.08, 0.02];
/** Time between two chunks. */
const GAP_MS = 15;

/** Answers a request, or rejects as a network does. */
export async function answerRequest(
  process: Process,
  url: string,
  { method, headers, body, signal }: Pick<FetchInit, "method" | "headers" | "body" | "signal">,
  by: AskedBy,
): Promise<FetchedResponse> {
  const { world } = process;
  const { choices, record, rates } = world;
  await process.place("at a request");
  if (process.isDead) return never();
  const text = body === undefined ? "" : new TextDecoder().decode(body);
  const pairs: Record<string, string> = {};
  headers.forEach((value, name) => (pairs[name] = value));
  const isInside = url.startsWith(IN_PROCESS);
  const received = receivedRequest(url, method, pairs, text);
  if (received.protocol === undefined && !isInside) throw world.mistaken(unknownProtocol(url));
  const request = isInside ? { ...received, isStreaming: true } : received;
  const format = isInside ? inProcess : formatOf(request);
  const random = seededRandom(`answer ${record.requests.length + 1}`);
  const asked = { request, format, random };
  // The headers have the key.
  const kept: SimulatedRequest = {
    request: { ...request, headers: {} },
    process: process.number,
    atMs: world.atMs,
    tokensBefore: world.tokens,
    ...by,
  };
  record.requests.push(kept);
  process.interfere();
  const refusal = format.check(request, { areSignaturesOurs: false });
  if (refusal !== undefined) {
    kept.refused = refusal.message ?? `status ${refusal.status}`;
    process.tell("fault", () => `the vendor refuses the request: ${kept.refused}`);
    return sent(process, writtenRefusal(refusal, asked), signal, random);
  }
  const fault = choices.pick("the network", [
    rates.refused,
    rates.overloaded,
    rates.unreachable,
    rates.html,
    rates.silent,
    rates.cut,
    rates.truncated,
    rates.streamError,
    rates.stalled,
  ]);
  const [told, change] = FAULTS[fault]!;
  // A model that is not reached makes no turn, and no choices.
  const isReached = fault === 0 || fault > UNREACHED;
  if (isReached) choices.beginRound();
  const turn = isReached
    ? world.turnOf({ request, ...by, conversation: () => format.read(request.body) })
    : {};
  const faulty: ScriptedTurn = { ...turn, ...change };
  if (turn.body !== undefined) world.areInputsHidden = true;
  if (isReached) process.tell(hasCalls(turn) ? "input" : "model", () => `the model ${wordsOf(turn)}`);
  if (told !== "") process.tell("fault", () => told);
  await process.wait(LATENCIES_MS[choices.pick("the latency", LATENCY_CHANCES)]!, signal);
  if (faulty.hang === true) return process.until(never(), signal);
  if (faulty.reject !== undefined)
    throw typeof faulty.reject === "string" ? new TypeError(faulty.reject) : faulty.reject;
  const answer = writtenAnswer(faulty, asked);
  const whole = (): void => {
    if (answer.tokens === undefined || fault !== 0) return;
    kept.tokens = answer.tokens;
    world.tokens += answer.tokens;
  };
  return sent(process, answer, signal, random, whole);
}

/** What the network does, in the order of the chances: its words, and the change of the turn. */
const FAULTS: readonly (readonly [told: string, change: ScriptedTurn])[] = [
  ["", {}],
  ["the vendor answers with 429", { status: 429 }],
  ["the vendor answers with 500", { status: 500 }],
  ["the network refuses the request", { reject: "network error" }],
  [
    "a page of HTML with status 200 answers",
    { body: "<html><body>Please log in.</body></html>", headers: { "content-type": "text/html" } },
  ],
  ["no answer comes", { hang: true }],
  ["the connection drops in the middle of it", { dropAfterEvents: 3 }],
  ["the answer ends without its end", { truncate: true }],
  ["an error of the vendor ends it", { error: { afterEvents: 3 } }],
  ["the answer goes silent in its middle", { stall: 3 }],
];
/** The last of the faults that keep a request from the model. */
const UNREACHED = 5;

/** A response with chunks that arrive in virtual time. */
async function sent(
  process: Process,
  { status, headers, parts, maxBytes, ending, isStream }: WrittenAnswer,
  signal: AbortSignal,
  random: () => number,
  whole?: () => void,
): Promise<FetchedResponse> {
  const { choices } = process.world;
  // Few chunks are enough: bytes that come in one chunk are read as if they came one by one.
  const pieces = isStream ? choices.pick("the chunks", [0.15, 0.1]) : 0;
  const chunks =
    pieces === 1
      ? cutChunks(parts, "event", maxBytes, random)
      : halves(cutChunks(parts, 2 ** 30, maxBytes, random), pieces === 0 ? 1 : 2);
  const endsAt =
    whole !== undefined && isStream && process.mayEnd("within an answer") ? Math.ceil(chunks.length / 2) : -1;
  let at = 0;
  const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
    if (signal.aborted) throw signal.reason;
    if (at === endsAt) return process.end("within an answer");
    await process.wait(at === 0 ? 0 : GAP_MS, signal);
    const value = chunks[at++];
    if (value !== undefined) return { done: false, value };
    if (ending === "drop") throw new TypeError("network error");
    if (ending === "stall") return process.until(never(), signal);
    whole?.();
    return { done: true };
  };
  const body = { getReader: () => ({ read, cancel: async () => {}, releaseLock() {} }) };
  return { status, headers, body };
}

function halves([whole = new Uint8Array()]: readonly Uint8Array[], count: number): Uint8Array[] {
  if (whole.length === 0) return [];
  if (count === 1) return [whole];
  const middle = whole.length >> 1;
  return [whole.slice(0, middle), whole.slice(middle)];
}

/** Whether the line of a turn shows inputs. */
function hasCalls({ toolCalls = [], blocks, body }: ScriptedTurn): boolean {
  if (blocks !== undefined) return blocks.some(({ type }) => type === "tool-call");
  return body === undefined && toolCalls.length > 0;
}

function wordsOf({ text, toolCalls = [], thinking, blocks, body }: ScriptedTurn): string {
  if (blocks !== undefined)
    return `answers with ${blocks.map((block) => (block.type === "tool-call" ? callText(block) : block.type)).join(", ")}`;
  if (body !== undefined) return "answers as recorded";
  const said = [text].flat().join("");
  if (toolCalls.length > 0) return `asks for ${toolCalls.map(callText).join(" and ")}`;
  if (said === "") return thinking === undefined ? "answers with nothing" : "only thinks";
  return `answers ${short(JSON.stringify(said))}`;
}

function callText({ name, input, argumentsText }: NonNullable<ScriptedTurn["toolCalls"]>[number]): string {
  const written = argumentsText === undefined ? JSON.stringify(input ?? {}) : [argumentsText].flat().join("");
  return `${name}(${inputText(written)})`;
}

/** Characters of one input in a line of a story. */
const MOST_INPUT_CHARS = 2000;

/** An input in a line of a story. A story without its inputs cannot be understood, so only a huge one is cut. */
export function inputText(text: string): string {
  if (text.length <= MOST_INPUT_CHARS) return text;
  const left = text.length - MOST_INPUT_CHARS;
  return `${text.slice(0, MOST_INPUT_CHARS)}… (${left} more characters)`;
}

/** The beginning of a text, for a line of a story. */
function short(text: string, most = 60): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function unknownProtocol(url: string): LoopletError {
  const problem = `cannot answer a request to ${url}, because its path matches no protocol of looplet`;
  return new LoopletError("config_invalid_value", "world.model", problem);
}
