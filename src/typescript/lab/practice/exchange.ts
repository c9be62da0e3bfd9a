/**
 * One request and how it is answered: the flow that `practice` and `scripted` share. They differ in who makes the
 * turn. Accepts a string, a `URL` or a `Request`, and any body that `fetch` accepts. Of a URL only the path is looked
 * at.
 */
import { parseJson } from "./json.js";
import { seededRandom, type Random } from "./random.js";
import { timerSleep } from "./body.js";
import type { Chunking, PracticeFetch, Protocol, ReceivedRequest, Sleep } from "./types.js";
import { anthropic } from "./wire/anthropic.js";
import { bedrock } from "./wire/bedrock.js";
import type { WireFormat } from "./wire/format.js";
import { gemini } from "./wire/gemini.js";
import { openaiChat } from "./wire/openai-chat.js";
import { openaiResponses } from "./wire/openai-responses.js";

/** Options that `practice` and `scripted` have in common. */
export interface PaceOptions {
  /** How bodies are cut into chunks. Default `"event"`. */
  chunking?: Chunking;
  /** Wait before each chunk of a stream, in milliseconds; 0 uses no timer at all. Default: 12 for `practice`, 0 for `scripted`. */
  delayMs?: number;
  /** Replaces the timer that paces the answers, for tests in virtual time. Default: `setTimeout`. */
  sleep?: Sleep;
  /** Equal seeds give equal ids and cuts for equal requests in equal places. Default `"looplet"`. */
  seed?: string;
}

/**
 * The error that a script has thrown, or the wrong use of one. Its `code` becomes that of the run's failure: no
 * network is at fault, so looplet does not try again.
 */
export class PracticeError extends Error {
  override readonly name = "PracticeError";
  readonly code = "custom_model";
}

/** Refuses to be called as a `fetch`: looplet was given the function that makes one. @internal */
export function refuseRequest(given: unknown, name: string, example: string): void {
  if (typeof given !== "string" && !(given instanceof URL) && !(given instanceof Request)) return;
  throw new PracticeError(
    `${name} creates a fetch and is not one itself: pass fetch: ${example}, not fetch: ${name}`,
  );
}

/** A request with all that its answer needs. @internal */
export interface Exchange extends Omit<Required<PaceOptions>, "seed"> {
  request: ReceivedRequest;
  /** Number of the request, from 0. */
  index: number;
  /** OpenAI Chat is the fallback when the path matches no known protocol. */
  format: WireFormat;
  random: Random;
  signal: AbortSignal | undefined;
}

/** A `fetch` that gives every request to `answer`. Rejects with the reason of the signal when that aborts. @internal */
export function answering(
  { chunking = "event", delayMs = 0, sleep = timerSleep, seed = "looplet" }: PaceOptions,
  answer: (exchange: Exchange) => Promise<Response>,
): PracticeFetch {
  let count = 0;
  const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const given = typeof input === "object" && "headers" in input ? input : undefined;
    const signal = init?.signal ?? given?.signal ?? undefined;
    signal?.throwIfAborted();
    const index = count++;
    const request = await readRequest(given ?? String(input), init);
    signal?.throwIfAborted();
    const random = seededRandom(`${seed}:${index}:${request.bodyText}`);
    const format = formatOf(request);
    return answer({ request, index, format, random, signal, chunking, delayMs, sleep });
  };
  return Object.assign(fetch, { preconnect() {} });
}

const FORMATS: Record<Protocol, WireFormat> = {
  "anthropic-messages": anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  gemini,
  "bedrock-converse": bedrock,
};
const PROTOCOLS = Object.keys(FORMATS) as Protocol[];

/** The format of a request; that of Chat Completions where the path is of no known protocol. @internal */
export function formatOf({ protocol = "openai-chat" }: ReceivedRequest): WireFormat {
  return FORMATS[protocol];
}

/** A part of a path without its escapes, or unchanged if the escapes are not valid. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function readRequest(input: string | Request, init: RequestInit = {}): Promise<ReceivedRequest> {
  const request = typeof input === "string" ? undefined : input;
  const url = request?.url ?? String(input);
  const headers: Record<string, string> = {};
  new Headers(init.headers ?? request?.headers).forEach((value, name) => (headers[name] = value));
  const source = init.body == null ? request?.clone() : new Response(init.body);
  const method = (init.method ?? request?.method ?? "GET").toUpperCase();
  return receivedRequest(url, method, headers, (await source?.text()) ?? "");
}

/** A request, read by its path and its body. @internal */
export function receivedRequest(
  url: string,
  method: string,
  headers: Record<string, string>,
  bodyText: string,
): ReceivedRequest {
  const body = parseJson(bodyText);
  const path = url.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const protocol = PROTOCOLS.find((protocol) => FORMATS[protocol].path.test(path));
  const groups = (protocol && FORMATS[protocol].path.exec(path)?.groups) ?? {};
  return {
    url,
    method,
    headers,
    bodyText,
    body,
    protocol,
    model: groups["model"] === undefined ? String(body?.model ?? "") : unescaped(groups["model"]),
    isStreaming: groups["method"] === undefined ? body?.stream === true : /stream/i.test(groups["method"]),
  };
}
