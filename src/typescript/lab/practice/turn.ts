/** The performance of a turn: encoded for the protocol of the request, with the faults that it asks for. */
import { bodyStream, cutChunks, pause } from "./body.js";
import type { Exchange } from "./exchange.js";
import { mintId } from "./random.js";
import { estimateTokens } from "./tokens.js";
import type { ReceivedRequest, ReplyBlock, ScriptedTurn } from "./types.js";
import { EVENT_STREAM, problemOf, type Refusal, type WireFormat } from "./wire/format.js";
import { settleBlock, tokensOf, type Reply } from "./wire/reply.js";

/** The response to `exchange` that `turn` describes. @internal */
export async function perform(turn: ScriptedTurn, given: Exchange): Promise<Response> {
  const { signal } = given;
  const { chunks: chunking = given.chunking, delayMs = given.delayMs } = turn;
  const exchange = { ...given, chunking, delayMs };
  if (turn.hang)
    return new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
  if (turn.reject !== undefined) {
    await pause(exchange);
    throw typeof turn.reject === "string" ? new TypeError(turn.reject) : turn.reject;
  }
  const { protocol, url } = exchange.request;
  if (turn.body === undefined && protocol === undefined)
    throw new Error(`${url} is a path of no known protocol.`);
  const answer = writtenAnswer(turn, exchange);
  if (turn.body === undefined && !answer.isStream) await pause(exchange);
  return send(answer, exchange);
}

/** An answer before it is sent. @internal */
export interface WrittenAnswer {
  status: number;
  headers: Record<string, string>;
  /** The events of a stream, or the whole body. */
  parts: readonly (string | Uint8Array)[];
  isStream: boolean;
  /** The bytes after which the connection drops. */
  maxBytes: number;
  /** How the body ends after its parts. */
  ending: "close" | "drop" | "stall";
  /** The tokens that an answer reports, input and output, if all of it arrives. */
  tokens?: number;
}

/** What an answer is written for. @internal */
export type Asked = Pick<Exchange, "request" | "format" | "random">;

/** The answer that `turn` describes, unless it describes a missing answer. @internal */
export function writtenAnswer(given: ScriptedTurn, asked: Asked): WrittenAnswer {
  const { request, format, random } = asked;
  const turn = asSummary(given, request);
  const { status = 200 } = turn;
  if (turn.body !== undefined) return writtenBody(turn.body, turn, format);
  if (status >= 400) return writtenRefusal({ status, headers: turn.headers ?? {} }, asked);

  const requestId = mintId(random, format.ids.request);
  const headers = format.headers(requestId, status, "");
  const reply = replyOf(turn, asked);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = reply.usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  if (!request.isStreaming)
    return {
      ...written([JSON.stringify(format.whole(reply, request.body))], JSON_TYPE, turn, headers),
      tokens,
    };
  const { events, ending } = format.stream(reply, request.body);
  const { error, stall, truncate } = turn;
  const all = truncate || stall === true ? events : [...events, ...ending];
  if (error) {
    const problem = problemOf(format, { status: format.streamErrorStatus, ...error });
    const data = format.streamError?.(problem) ?? format.error(problem, requestId);
    all.splice(error.afterEvents ?? events.length, Infinity, data);
  }
  const framed = all.map((event, index) => (typeof event === "string" ? event : format.frame(event, index)));
  return { ...written(framed, format.streamType, turn, headers), tokens };
}

/** Whether a request asks the vendor for a summary of the conversation. @internal */
export const asksForSummary = ({ url, body }: ReceivedRequest): boolean =>
  body?.compaction !== undefined || /\/responses\/compact$/.test(url);

/** The text of a turn as the vendor's own summary, if the request asks for one. */
function asSummary(turn: ScriptedTurn, request: ReceivedRequest): ScriptedTurn {
  const { body } = request;
  const { text, status = 200, ...rest } = turn;
  if (text === undefined || turn.toolCalls !== undefined || turn.body !== undefined || status >= 400)
    return turn;
  if (body?.compaction !== undefined) {
    const value = { type: "compaction", content: String(text), signature: SIGNATURE };
    return { ...rest, blocks: [{ type: "raw", value }], stopReason: "compaction" };
  }
  if (!asksForSummary(request)) return turn;
  const input: readonly { role?: string }[] = Array.isArray(body?.input) ? body.input : [];
  const summary = { type: "compaction", id: "cmp_practice", encrypted_content: SIGNATURE };
  const { inputTokens = 0, outputTokens = 0 } = turn.usage ?? {};
  return {
    body: {
      id: "resp_practice",
      object: "response.compaction",
      created_at: 0,
      output: [...input.filter(({ role }) => role === "user"), summary],
      usage: {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    },
  };
}

const SIGNATURE = "cHJhY3RpY2U=";

/** The response that carries the vendor's error body. @internal */
export async function refuse(refusal: Refusal, exchange: Exchange): Promise<Response> {
  await pause(exchange);
  return send(writtenRefusal(refusal, exchange), exchange);
}

/** The answer that carries the vendor's error body. @internal */
export function writtenRefusal(refusal: Refusal, { format, random }: Asked): WrittenAnswer {
  const { status, retryAfter, headers } = refusal;
  const requestId = mintId(random, format.ids.request);
  const problem = problemOf(format, refusal);
  const body = JSON.stringify(format.error(problem, requestId), null, format.errorIndent);
  return {
    status,
    headers: {
      "content-type": JSON_TYPE,
      ...format.headers(requestId, status, problem.type),
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      ...headers,
    },
    parts: [body],
    isStream: false,
    maxBytes: Infinity,
    ending: "close",
  };
}

const JSON_TYPE = "application/json";

function writtenBody(
  body: NonNullable<ScriptedTurn["body"]>,
  turn: ScriptedTurn,
  format: WireFormat,
): WrittenAnswer {
  if (body instanceof Uint8Array) return written([body], format.streamType, turn);
  if (typeof body !== "string") return written([JSON.stringify(body)], JSON_TYPE, turn);
  const isStream = /^(event|data|id|retry|:)/m.test(body.trimStart().slice(0, 16));
  return isStream
    ? written(body.split(/(?<=\n\n)/), EVENT_STREAM, turn)
    : written([body], "text/plain", turn);
}

function written(
  parts: readonly (string | Uint8Array)[],
  contentType: string,
  turn: ScriptedTurn,
  headers: Record<string, string> = {},
): WrittenAnswer {
  const { dropAfterEvents, dropAfterBytes, stall = false, status = 200 } = turn;
  const isDropped = dropAfterEvents !== undefined || dropAfterBytes !== undefined;
  const isStream = contentType.includes("stream");
  const own = { "content-type": contentType, ...(isStream ? { "cache-control": "no-cache" } : {}) };
  return {
    status,
    headers: { ...own, ...headers, ...turn.headers },
    parts: parts.slice(0, dropAfterEvents ?? (typeof stall === "number" ? stall : undefined)),
    isStream,
    maxBytes: dropAfterBytes ?? Infinity,
    ending: isDropped ? "drop" : stall === false ? "close" : "stall",
  };
}

function send(
  { status, headers, parts, isStream, maxBytes, ending }: WrittenAnswer,
  { chunking, random, signal, sleep, delayMs }: Exchange,
): Response {
  const chunks = cutChunks(parts, chunking, maxBytes, random);
  const body = bodyStream(chunks, ending, { delayMs: isStream ? delayMs : 0, sleep, signal });
  return new Response(body, { status, headers });
}

function replyOf(turn: ScriptedTurn, { request, format, random }: Asked): Reply {
  const blocks = blocksOf(turn).map((block) => settleBlock(block, format, random));
  const isCalling = blocks.some(({ type }) => type === "tool-call");
  const count = (ofThinking: boolean) =>
    blocks
      .filter(({ type }) => type.endsWith("thinking") === ofThinking)
      .reduce((total, block) => total + tokensOf(block), 0);
  const { reasoningTokens = count(true) } = turn.usage ?? {};
  return {
    id: mintId(random, format.ids.reply),
    model: request.model || "practice",
    blocks,
    stopReason: turn.stopReason ?? (isCalling ? "tool-calls" : "end"),
    stopSequence: turn.stopSequence,
    usage: {
      inputTokens: estimateTokens(request.bodyText),
      outputTokens: Math.max(1, count(false) + reasoningTokens),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens,
      ...turn.usage,
    },
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
