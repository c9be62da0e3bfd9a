/**
 * `practice()`: an in-process `fetch` that answers like the vendors, without a key and without a network. Requests are
 * checked as the vendors check them; answers come from a deterministic planner that reads the prompt, the tools and the
 * tool results (`planner/`).
 */
import type { Conversation } from "./conversation.js";
import { readDirective } from "./directive.js";
import { answering, type Exchange, type PaceOptions } from "./exchange.js";
import { checkNames, type NamesOf } from "./names.js";
import { plan } from "./planner/plan.js";
import { between, signatureOf, type Random } from "./random.js";
import { estimateTokens, takeTokens } from "./tokens.js";
import { perform, refuse, type ScriptedTurn } from "./turn.js";
import type { Failure, PracticeFetch, ReceivedRequest, ReplyBlock } from "./types.js";
import { rejectionOf, type Rejection } from "./wire/format.js";

/** Options of `practice()`. All have defaults; none is needed. */
export interface PracticeOptions extends PaceOptions {
  /** Model names that exist; any other gets the vendor's 404. Default: every name exists. */
  models?: readonly string[];
  /** Ask for a key: `true` accepts any, a string accepts that one only. Default: no key is needed. */
  apiKey?: string | true;
  /**
   * Answers the first requests with HTTP errors: one entry per request (a status or a full `Failure`), `undefined` for a
   * request that succeeds. Or a function of the request and its number, from 0. Default: none.
   */
  failures?:
    | readonly (number | Failure | undefined)[]
    | ((request: ReceivedRequest, index: number) => number | Failure | undefined);
  /** Refuse two messages of one role in a row (Anthropic's rule; today it joins them, many gateways do not). Default true. */
  alternatingRoles?: boolean;
}

/**
 * Makes a `fetch` that answers `POST …/v1/messages` and `POST …/chat/completions`.
 *
 * Errors are the vendors' own: 400 for an illegal request, 401 without the key that `apiKey` asks for, 404 for an unknown
 * path or model, 405 for another method, and whatever `failures` says. A prompt can ask for a fault by itself, once per
 * conversation: `/practice 529`, `/practice 429 x2`, `/practice error`, `/practice drop`, `/practice stall`.
 *
 * Rejects with the reason of `init.signal` when that aborts; a stream that is read then fails with it.
 *
 * @throws TypeError for an option that has an unknown name
 */
export function practice(options: PracticeOptions = {}): PracticeFetch {
  checkNames(options, OPTIONS, "Options of practice()");
  /** How often each directive was followed. */
  const followed = new Map<string, number>();
  return answering({ delayMs: 12, ...options }, async (exchange) => {
    const { request, index, format, random } = exchange;
    const { failures } = options;
    const given = typeof failures === "function" ? failures(request, index) : failures?.[index];
    if (given !== undefined && request.protocol) {
      const failure = typeof given === "number" ? { status: given } : given;
      const { retryAfter, headers } = failure;
      const after: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": retryAfter };
      return refuse(rejectionOf(format, failure), exchange, { ...after, ...headers });
    }
    const rejection = rejectionFor(exchange, options);
    if (rejection) return refuse(rejection, exchange);
    const conversation = format.read(request.body);
    const { key = "", times = 0, fault = {} } = readDirective(conversation) ?? {};
    const count = followed.get(key) ?? 0;
    if (count < times) followed.set(key, count + 1);
    const turn = turnOf(conversation, format.deltaWords, random);
    return perform({ ...turn, ...(count < times ? fault : {}) }, exchange);
  });
}

// prettier-ignore
const OPTIONS: NamesOf<PracticeOptions> = {
  delayMs: true, chunking: true, seed: true, sleep: true, models: true, apiKey: true, failures: true,
  alternatingRoles: true,
};

function rejectionFor({ request, format }: Exchange, options: PracticeOptions): Rejection | undefined {
  const { apiKey, models, alternatingRoles: areRolesAlternating = true } = options;
  if (request.protocol === undefined) {
    const path = `${request.method} ${request.url.replace(/^[a-z]+:\/\/[^/]+/i, "")}`;
    return { ...rejectionOf(format, { status: 404 }), message: `Invalid URL (${path})` };
  }
  if (request.method !== "POST") return rejectionOf(format, { status: 405 });
  const key = format.keyOf(request.headers);
  if (apiKey !== undefined && !key) return format.noKey;
  if (typeof apiKey === "string" && key !== apiKey) return rejectionOf(format, { status: 401 });
  const fault = format.check(request, { areRolesAlternating, areSignaturesOurs: true });
  if (fault) return fault;
  const { model } = request.body;
  return !models || models.includes(model) ? undefined : format.unknownModel(model);
}

/** The planner's answer, cut to the limits of the request. */
function turnOf(conversation: Conversation, deltaWords: number, random: Random): ScriptedTurn {
  const { stopSequences, maxOutputTokens = Infinity, thinking: mode } = conversation;
  const { thinking, text, calls } = plan(conversation);
  let left = maxOutputTokens;
  let isCut = false;
  let spent = 0;
  const cut = (whole: string) => {
    const kept = estimateTokens(whole) <= left ? whole : takeTokens(whole, left);
    isCut ||= kept.length < whole.length;
    left -= estimateTokens(kept);
    spent += estimateTokens(kept);
    return cutWords(kept, deltaWords, random);
  };
  const stops = stopSequences.map((sequence) => ({ sequence, at: sequence ? text.indexOf(sequence) : -1 }));
  const [stop] = stops.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
  const blocks: ReplyBlock[] = [];
  if (mode === "omitted" || (mode === "shown" && thinking !== "")) {
    const pieces = mode === "omitted" ? [] : cut(thinking);
    blocks.push({ type: "thinking", text: pieces, signature: isCut ? "" : signatureOf(thinking) });
  }
  // Reasoning that is not sent costs all the same.
  const reasoningTokens = mode === "hidden" ? estimateTokens(thinking) : spent;
  const words = cut(text.slice(0, stop?.at));
  if (words.length > 0) blocks.push({ type: "text", text: words });
  for (const { name, input } of stop ? [] : calls) {
    if (isCut) break;
    const json = JSON.stringify(input);
    const pieces = json === "{}" ? undefined : cut(json);
    if (pieces?.length === 0) break;
    blocks.push({ type: "tool-call", name, ...(pieces && { argumentsText: pieces }) });
    spent += estimateTokens(name);
  }
  const outputTokens = Math.max(1, spent) + (mode === "hidden" ? reasoningTokens : 0);
  return {
    blocks,
    usage: { outputTokens, reasoningTokens },
    ...(isCut ? { stopReason: "length" } : stop && { stopReason: "stop-sequence" }),
    ...(!isCut && stop && { stopSequence: stop.sequence }),
  };
}

/** Cuts a text into deltas of one to `maxWords` words; a word beyond 24 characters is cut too. */
function cutWords(text: string, maxWords: number, random: Random): string[] {
  const words = text.match(/\s*\S{1,24}|\s+$/gu) ?? [];
  const pieces: string[] = [];
  while (words.length > 0) pieces.push(words.splice(0, between(random, 1, maxWords)).join(""));
  return pieces;
}
