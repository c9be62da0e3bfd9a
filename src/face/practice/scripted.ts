/**
 * `scripted()` and `raw()`: a `fetch` for tests that answers with exact turns, delays and faults, in either protocol,
 * and records what it was asked. It checks nothing of the request unless told to.
 */
import type { HostResponse } from "../api/platform.js";
import { checkNames, type NamesOf } from "./names.js";
import { mintId, seededRandom } from "./random.js";
import { formatOf, readRequest, signalOf } from "./request.js";
import {
  bodyStream,
  deliveryOf,
  EVENT_STREAM,
  pause,
  refuse,
  respond,
  textResponse,
  timerSleep,
  type Delivery,
} from "./response.js";
import { estimateTokens } from "./tokens.js";
import type {
  Chunking,
  Pieces,
  PracticeFetch,
  Protocol,
  ReceivedRequest,
  ReplyBlock,
  ReplyUsage,
  Sleep,
  StopReason,
  StreamFaults,
} from "./types.js";
import { rejectionOf, type WireFormat } from "./wire/format.js";
import { countBlocks, settleBlocks, type Reply } from "./wire/reply.js";

/**
 * One answer, written neutrally: it is encoded for the protocol of the request that it answers, streamed or whole.
 * Order of the blocks: `thinking`, `redactedThinking`, `text`, `toolCalls`; any other order is written with `blocks`.
 */
export interface ScriptedTurn extends StreamFaults {
  /** A string is one delta; an array gives the exact deltas. */
  text?: Pieces;
  /** Anthropic: a thinking block, by default signed as `practice` signs. OpenAI Chat: `reasoning_content`. */
  thinking?: { text: Pieces; signature?: string };
  /** Data of a redacted thinking block; Anthropic only. */
  redactedThinking?: string;
  /** `argumentsText` is sent as it stands (also broken JSON); else `input` is serialised. Ids are minted when missing. */
  toolCalls?: readonly { id?: string; name: string; input?: unknown; argumentsText?: Pieces }[];
  /** All blocks in their exact order; the four fields above are ignored then. */
  blocks?: readonly ReplyBlock[];
  /** Default: `"tool-calls"` when there are calls, else `"end"`. */
  stopReason?: StopReason;
  /** The stop sequence that Anthropic reports. Default: null. */
  stopSequence?: string;
  /** Missing counts are estimated: four bytes a token. */
  usage?: ReplyUsage;
  /** Default: that of the options. */
  chunks?: Chunking;
  /** Wait before each chunk, in milliseconds. Default: that of the options. */
  delayMs?: number;
  /** HTTP status. 400 and more answers with the vendor's error body, unless `body` is given. Default 200. */
  status?: number;
  /** Response headers, over the vendor's. */
  headers?: Record<string, string>;
  /** The raw response body instead of all of the above: text as it stands, an object as JSON. */
  body?: string | Uint8Array | Record<string, unknown>;
  /** `fetch` itself rejects: with a `TypeError` of this message, or with this value. */
  reject?: string | Error;
  /** `fetch` itself never answers until the caller aborts. */
  hang?: boolean;
}

/** A turn, a finished response, or a function that makes either out of the request and its number, from 0. */
export type ScriptedStep =
  | ScriptedTurn
  | HostResponse
  | ((
      request: ReceivedRequest,
      index: number,
    ) => ScriptedTurn | HostResponse | Promise<ScriptedTurn | HostResponse>);

/** Options of `scripted()`. */
export interface ScriptedOptions {
  /** Default `"event"`. */
  chunking?: Chunking;
  /** Wait before each chunk, in milliseconds. Default 0: no timer at all. */
  delayMs?: number;
  /** Replaces the timer. Default: `setTimeout`. */
  sleep?: Sleep;
  /** Equal seeds give equal ids and cuts. Default `"scripted"`. */
  seed?: string;
  /** OpenAI's `created`, in milliseconds since 1970. Default 1,700,000,000,000. */
  nowMs?: number;
  /** Answer illegal requests with the vendor's 400 (without using up a turn). Default false. */
  validate?: boolean;
  /** Protocol of URLs that tell none. Default: such a request rejects with an error. */
  protocol?: Protocol;
}

/** A scripted `fetch` and what it saw. */
export interface ScriptedFetch extends PracticeFetch {
  /** Every request in the order of arrival, also those that were refused. */
  readonly requests: ReceivedRequest[];
  /** How many turns are not used yet. */
  readonly remaining: number;
}

/**
 * Answers the first request with the first turn, the second with the second, and so on. After the last turn `fetch`
 * rejects with an `Error` that says how many turns there were. Honours `init.signal` like `practice`.
 *
 * @throws TypeError for a turn or an option that has an unknown name
 */
export function scripted(turns: readonly ScriptedStep[], options: ScriptedOptions = {}): ScriptedFetch {
  if (!Array.isArray(turns)) throw new TypeError("scripted() needs an array of turns.");
  checkNames(options, OPTIONS, "Options of scripted()");
  turns.forEach((step, index) => {
    if (typeof step !== "function" && !(step instanceof Response)) checkTurn(step, index);
  });
  const requests: ReceivedRequest[] = [];
  let used = 0;
  const answer = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const signal = signalOf(input, init);
    signal?.throwIfAborted();
    const request = await readRequest(input, init);
    request.protocol ??= options.protocol;
    requests.push(request);
    signal?.throwIfAborted();
    const format = formatOf(request.protocol);
    const random = seededRandom(`${options.seed ?? "scripted"}:${requests.length}`);
    const delivery = deliveryOf(options, 0, format, random, signal);
    const rules = { areRolesAlternating: true, areSignaturesOurs: false };
    const rejection = options.validate && request.protocol ? format.check(request, rules) : undefined;
    if (rejection) return refuse(format, rejection, { ...delivery, delayMs: 0 });
    const index = used;
    const step = turns[index];
    const count = `${turns.length} ${turns.length === 1 ? "turn" : "turns"}`;
    if (step === undefined) throw new Error(`The script has ${count}, and request number ${index + 1} came.`);
    used += 1;
    const turn = typeof step === "function" ? await step(request, index) : step;
    if (turn instanceof Response) return turn.bodyUsed ? turn : turn.clone();
    if (turn !== step) checkTurn(turn, index);
    return perform(turn, request, format, options, delivery);
  };
  return Object.defineProperties(answer, {
    requests: { value: requests, enumerable: true },
    remaining: { get: () => Math.max(0, turns.length - used), enumerable: true },
  }) as ScriptedFetch;
}

// prettier-ignore
const TURN: NamesOf<ScriptedTurn> = {
  text: true, thinking: true, redactedThinking: true, toolCalls: true, blocks: true, stopReason: true,
  stopSequence: true, usage: true, chunks: true, delayMs: true, status: true, headers: true, body: true, reject: true,
  hang: true, error: true, dropAfterBytes: true, dropAfterEvents: true, stall: true, truncate: true,
};
// prettier-ignore
const CALL: NamesOf<NonNullable<ScriptedTurn["toolCalls"]>[number]> = {
  id: true, name: true, input: true, argumentsText: true,
};
const THINKING: NamesOf<NonNullable<ScriptedTurn["thinking"]>> = { text: true, signature: true };
// prettier-ignore
const OPTIONS: NamesOf<ScriptedOptions> = {
  chunking: true, delayMs: true, sleep: true, seed: true, nowMs: true, validate: true, protocol: true,
};

function checkTurn(turn: ScriptedTurn, index: number): void {
  const where = `Turn ${index + 1} of the script`;
  checkNames(turn, TURN, where);
  if (turn.thinking !== undefined) checkNames(turn.thinking, THINKING, `${where}, thinking`);
  turn.toolCalls?.forEach((call, at) => checkNames(call, CALL, `${where}, toolCalls[${at}]`));
}

/** How `raw` answers. */
export interface RawOptions {
  /** Default 200. */
  status?: number;
  /** Default: `content-type: text/event-stream`. */
  headers?: Record<string, string>;
}

/**
 * A response of exactly these bytes: one text or byte array is one chunk, a list gives the chunks. For `scripted`, or as
 * the answer of any `fetch`.
 */
export function raw(
  content: string | Uint8Array | readonly (string | Uint8Array)[],
  options: RawOptions = {},
): HostResponse {
  const { status = 200, headers = { "content-type": EVENT_STREAM } } = options;
  const list = typeof content === "string" || content instanceof Uint8Array ? [content] : content;
  const encoder = new TextEncoder();
  const chunks = list.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const body = bodyStream(chunks, "close", { delayMs: 0, sleep: timerSleep, signal: undefined });
  return new Response(body, { status, headers });
}

async function perform(
  turn: ScriptedTurn,
  request: ReceivedRequest,
  format: WireFormat,
  options: ScriptedOptions,
  given: Delivery,
): Promise<Response> {
  const { chunks: chunking = given.chunking, delayMs = given.delayMs, status = 200, headers = {} } = turn;
  const delivery = { ...given, chunking, delayMs, status, headers };
  if (turn.hang) return untilAbort(delivery.signal);
  if (turn.reject !== undefined) {
    await pause(delivery);
    throw typeof turn.reject === "string" ? new TypeError(turn.reject) : turn.reject;
  }
  if (turn.body !== undefined) return bodyResponse(turn.body, turn, delivery);
  if (request.protocol === undefined)
    throw new Error(`${request.url} is a path of no known protocol: give scripted() the option "protocol".`);
  if (status >= 400) return refuse(format, rejectionOf(format, { status }), delivery);
  const reply = replyOf(turn, request, format, options, delivery);
  return respond(format, reply, request.isStreaming ? request.body : undefined, turn, delivery);
}

function replyOf(
  turn: ScriptedTurn,
  { body, bodyText }: ReceivedRequest,
  format: WireFormat,
  options: ScriptedOptions,
  { random }: Delivery,
): Reply {
  const blocks = settleBlocks(blocksOf(turn), format, random, (text) => (text === "" ? [] : [text]));
  const isCalling = blocks.some(({ type }) => type === "tool-call");
  return {
    id: mintId(random, format.ids.reply),
    model: String(body?.model ?? "practice"),
    createdS: Math.floor((options.nowMs ?? 1_700_000_000_000) / 1000),
    blocks,
    stopReason: turn.stopReason ?? (isCalling ? "tool-calls" : "end"),
    stopSequence: turn.stopSequence,
    usage: {
      inputTokens: estimateTokens(bodyText),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      ...countBlocks(blocks),
      ...turn.usage,
    },
    padding: undefined,
  };
}

function blocksOf({ blocks, thinking, redactedThinking, text, toolCalls = [] }: ScriptedTurn): ReplyBlock[] {
  if (blocks) return [...blocks];
  return [
    ...(thinking ? [{ type: "thinking" as const, ...thinking }] : []),
    ...(redactedThinking === undefined
      ? []
      : [{ type: "redacted-thinking" as const, data: redactedThinking }]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map((call) => ({ type: "tool-call" as const, ...call })),
  ];
}

function bodyResponse(
  body: NonNullable<ScriptedTurn["body"]>,
  turn: ScriptedTurn,
  delivery: Delivery,
): Response {
  if (body instanceof Uint8Array) return raw(body, delivery) as Response;
  if (typeof body !== "string")
    return textResponse([JSON.stringify(body)], turn, "application/json", {}, delivery);
  const isStream = /^(event|data|id|retry|:)/m.test(body.trimStart().slice(0, 16));
  const texts = isStream ? body.split(/(?<=\n\n)/) : [body];
  return textResponse(texts, turn, isStream ? EVENT_STREAM : "text/plain", {}, delivery);
}

function untilAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
