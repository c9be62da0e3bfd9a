/** A turn, and its performance: encoded for the protocol of the request, with the faults that it asks for. */
import { bodyStream, cutChunks, pause } from "./body.js";
import type { Exchange } from "./exchange.js";
import { mintId } from "./random.js";
import { estimateTokens } from "./tokens.js";
import type { Chunking, Pieces, ReplyBlock, ReplyUsage, StopReason, StreamFaults } from "./types.js";
import { rejectionOf, type Rejection } from "./wire/format.js";
import { countBlocks, settleBlocks, type Reply } from "./wire/reply.js";

/**
 * One answer, written neutrally: it is encoded for the protocol of the request that it answers, streamed or whole.
 * Order of the blocks: `thinking`, `text`, `toolCalls`; any other order is written with `blocks`.
 */
export interface ScriptedTurn extends StreamFaults {
  /** A string is one delta; an array gives the exact deltas. */
  text?: Pieces;
  /** Anthropic: a thinking block, by default signed as `practice` signs. OpenAI Chat: `reasoning_content`. */
  thinking?: { text: Pieces; signature?: string };
  /** `argumentsText` is sent as it stands (also broken JSON); else `input` is serialised. Ids are minted when missing. */
  toolCalls?: readonly { id?: string; name: string; input?: unknown; argumentsText?: Pieces }[];
  /** All blocks in their exact order; the three fields above are ignored then. */
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

/** The response to `exchange` that `turn` describes. @internal */
export async function perform(turn: ScriptedTurn, exchange: Exchange): Promise<Response> {
  const { request, format, signal, random } = exchange;
  const { chunks: chunking = exchange.chunking, delayMs = exchange.delayMs, status = 200, body } = turn;
  const paced = { ...exchange, chunking, delayMs };
  if (turn.hang)
    return new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
  if (turn.reject !== undefined) {
    await pause(paced);
    throw typeof turn.reject === "string" ? new TypeError(turn.reject) : turn.reject;
  }
  if (typeof body === "string") {
    const isStream = /^(event|data|id|retry|:)/m.test(body.trimStart().slice(0, 16));
    const parts = isStream ? body.split(/(?<=\n\n)/) : [body];
    return send(parts, isStream ? EVENT_STREAM : "text/plain", turn, {}, paced);
  }
  if (body instanceof Uint8Array) return send([body], EVENT_STREAM, turn, {}, paced);
  if (body !== undefined) return send([JSON.stringify(body)], JSON_TYPE, turn, {}, paced);
  if (request.protocol === undefined) throw new Error(`${request.url} is a path of no known protocol.`);
  if (status >= 400) return refuse(rejectionOf(format, { status }), paced, turn.headers);

  const requestId = mintId(random, format.ids.request);
  const headers = format.headers(requestId, status);
  const reply = replyOf(turn, exchange);
  if (!request.isStreaming) {
    await pause(paced);
    return send([JSON.stringify(format.whole(reply))], JSON_TYPE, turn, headers, paced);
  }
  const { events, ending } = format.stream(reply, request.body);
  const { error, stall, truncate } = turn;
  const all = truncate || stall === true ? events : [...events, ...ending];
  if (error) {
    const words = rejectionOf(format, { status: format.streamErrorStatus, ...error });
    const event = format.errorEvent(words.type, words.message, requestId);
    all.splice(error.afterEvents ?? events.length, Infinity, event);
  }
  return send(all, EVENT_STREAM, turn, headers, paced);
}

/** The response that carries the vendor's error body. @internal */
export async function refuse(
  rejection: Rejection,
  exchange: Exchange,
  headers: Record<string, string> = {},
): Promise<Response> {
  await pause(exchange);
  const { format, random } = exchange;
  const { status } = rejection;
  const requestId = mintId(random, format.ids.request);
  return new Response(format.errorBody({ param: null, code: null, ...rejection }, requestId), {
    status,
    headers: { "content-type": JSON_TYPE, ...format.headers(requestId, status), ...headers },
  });
}

const EVENT_STREAM = "text/event-stream; charset=utf-8";
const JSON_TYPE = "application/json";

function send(
  parts: readonly (string | Uint8Array)[],
  contentType: string,
  turn: ScriptedTurn,
  headers: Record<string, string>,
  { chunking, random, signal, sleep, delayMs }: Exchange,
): Response {
  const { dropAfterEvents, dropAfterBytes, stall = false, status = 200 } = turn;
  const kept = parts.slice(0, dropAfterEvents ?? (typeof stall === "number" ? stall : undefined));
  const isDropped = dropAfterEvents !== undefined || dropAfterBytes !== undefined;
  const chunks = cutChunks(kept, chunking, dropAfterBytes ?? Infinity, random);
  const isStream = contentType === EVENT_STREAM;
  const pace = { delayMs: isStream ? delayMs : 0, sleep, signal };
  const body = bodyStream(chunks, isDropped ? "drop" : stall === false ? "close" : "stall", pace);
  const own = { "content-type": contentType, ...(isStream ? { "cache-control": "no-cache" } : {}) };
  return new Response(body, { status, headers: { ...own, ...headers, ...turn.headers } });
}

/** OpenAI's `created`, in seconds since 1970: fixed, so that equal requests get equal bytes. */
const CREATED_S = 1_700_000_000;

function replyOf(turn: ScriptedTurn, { request, format, random }: Exchange): Reply {
  const blocks = settleBlocks(blocksOf(turn), format, random);
  const isCalling = blocks.some(({ type }) => type === "tool-call");
  const inputTokens = estimateTokens(request.bodyText);
  const counted = { inputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, ...countBlocks(blocks) };
  return {
    id: mintId(random, format.ids.reply),
    model: String(request.body?.model ?? "practice"),
    createdS: CREATED_S,
    blocks,
    stopReason: turn.stopReason ?? (isCalling ? "tool-calls" : "end"),
    stopSequence: turn.stopSequence,
    usage: { ...counted, ...turn.usage },
  };
}

function blocksOf({ blocks, thinking, text, toolCalls = [] }: ScriptedTurn): readonly ReplyBlock[] {
  if (blocks) return blocks;
  return [
    ...(thinking ? [{ type: "thinking" as const, ...thinking }] : []),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map((call) => ({ type: "tool-call" as const, ...call })),
  ];
}
