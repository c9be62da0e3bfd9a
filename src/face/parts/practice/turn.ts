/** The performance of a turn: encoded for the protocol of the request, with the faults that it asks for. */
import { bodyStream, cutChunks, pause } from "./body.js";
import type { Exchange } from "./exchange.js";
import { mintId } from "./random.js";
import { estimateTokens } from "./tokens.js";
import type { ReplyBlock, ScriptedTurn } from "./types.js";
import { EVENT_STREAM, problemOf, type Refusal } from "./wire/format.js";
import { settleBlock, tokensOf, type Reply } from "./wire/reply.js";

/** The response to `exchange` that `turn` describes. @internal */
export async function perform(turn: ScriptedTurn, given: Exchange): Promise<Response> {
  const { request, format, signal, random } = given;
  const { chunks: chunking = given.chunking, delayMs = given.delayMs, status = 200 } = turn;
  const exchange = { ...given, chunking, delayMs };
  if (turn.hang)
    return new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
  if (turn.reject !== undefined) {
    await pause(exchange);
    throw typeof turn.reject === "string" ? new TypeError(turn.reject) : turn.reject;
  }
  if (turn.body !== undefined) return sendBody(turn.body, turn, exchange);
  if (request.protocol === undefined) throw new Error(`${request.url} is a path of no known protocol.`);
  if (status >= 400) return refuse({ status, headers: turn.headers ?? {} }, exchange);

  const requestId = mintId(random, format.ids.request);
  const headers = format.headers(requestId, status, "");
  const reply = replyOf(turn, exchange);
  if (!request.isStreaming) {
    await pause(exchange);
    return send([JSON.stringify(format.whole(reply, request.body))], JSON_TYPE, turn, exchange, headers);
  }
  const { events, ending } = format.stream(reply, request.body);
  const { error, stall, truncate } = turn;
  const all = truncate || stall === true ? events : [...events, ...ending];
  if (error) {
    const problem = problemOf(format, { status: format.streamErrorStatus, ...error });
    const data = format.streamError?.(problem) ?? format.error(problem, requestId);
    all.splice(error.afterEvents ?? events.length, Infinity, data);
  }
  const framed = all.map((event, index) => (typeof event === "string" ? event : format.frame(event, index)));
  return send(framed, format.streamType, turn, exchange, headers);
}

/** The response that carries the vendor's error body. @internal */
export async function refuse(refusal: Refusal, exchange: Exchange): Promise<Response> {
  await pause(exchange);
  const { format, random } = exchange;
  const { status, retryAfter, headers } = refusal;
  const requestId = mintId(random, format.ids.request);
  const problem = problemOf(format, refusal);
  return new Response(JSON.stringify(format.error(problem, requestId), null, format.errorIndent), {
    status,
    headers: {
      "content-type": JSON_TYPE,
      ...format.headers(requestId, status, problem.type),
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      ...headers,
    },
  });
}

const JSON_TYPE = "application/json";

function sendBody(body: NonNullable<ScriptedTurn["body"]>, turn: ScriptedTurn, exchange: Exchange): Response {
  if (body instanceof Uint8Array) return send([body], exchange.format.streamType, turn, exchange);
  if (typeof body !== "string") return send([JSON.stringify(body)], JSON_TYPE, turn, exchange);
  const isStream = /^(event|data|id|retry|:)/m.test(body.trimStart().slice(0, 16));
  return isStream
    ? send(body.split(/(?<=\n\n)/), EVENT_STREAM, turn, exchange)
    : send([body], "text/plain", turn, exchange);
}

function send(
  parts: readonly (string | Uint8Array)[],
  contentType: string,
  turn: ScriptedTurn,
  { chunking, random, signal, sleep, delayMs }: Exchange,
  headers: Record<string, string> = {},
): Response {
  const { dropAfterEvents, dropAfterBytes, stall = false, status = 200 } = turn;
  const kept = parts.slice(0, dropAfterEvents ?? (typeof stall === "number" ? stall : undefined));
  const isDropped = dropAfterEvents !== undefined || dropAfterBytes !== undefined;
  const chunks = cutChunks(kept, chunking, dropAfterBytes ?? Infinity, random);
  const isStream = contentType.includes("stream");
  const pace = { delayMs: isStream ? delayMs : 0, sleep, signal };
  const body = bodyStream(chunks, isDropped ? "drop" : stall === false ? "close" : "stall", pace);
  const own = { "content-type": contentType, ...(isStream ? { "cache-control": "no-cache" } : {}) };
  return new Response(body, { status, headers: { ...own, ...headers, ...turn.headers } });
}

function replyOf(turn: ScriptedTurn, { request, format, random }: Exchange): Reply {
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
