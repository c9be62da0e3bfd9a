/**
 * `practice()`: an in-process `fetch` that answers like the vendors, without a key and without a network. Requests
 * are checked as the vendors check them; answers come from a deterministic planner that reads the prompt, the tools
 * and the tool results (`planner/`).
 */
import type { Conversation, Plan } from "./conversation.js";
import { readDirective } from "./directive.js";
import { answering, refuseRequest, type Exchange, type PaceOptions } from "./exchange.js";
import { checkNames, type NamesOf } from "./names.js";
import { plan } from "./planner/plan.js";
import { between, signatureOf, type Random } from "./random.js";
import { estimateTokens, takeTokens } from "./tokens.js";
import { asksForSummary, perform, refuse } from "./turn.js";
import type { ReplyFailure, PracticeFetch, ReceivedRequest, ReplyBlock, ScriptedTurn } from "./types.js";
import type { Refusal } from "./wire/format.js";

/** Options of `practice()`. All have defaults. @beta */
export interface PracticeOptions extends PaceOptions {
  /** Model names that exist; any other gets the vendor's 404. Default: every name exists. */
  models?: readonly string[];
  /** Ask for a key: `true` accepts any, a string accepts that one only. Default: no key is needed. */
  apiKey?: string | true;
  /**
   * HTTP errors for the first requests: one entry per request (a status or a full `ReplyFailure`), `undefined` for a
   * request that succeeds. Or a function of the request and its number, from 0. Default: none.
   */
  failures?:
    | readonly (number | ReplyFailure | undefined)[]
    | ((request: ReceivedRequest, index: number) => number | ReplyFailure | undefined);
  /** Refuse two messages of one role in a row (Anthropic's rule; today it joins them, many gateways do not). Default true. */
  alternatingRoles?: boolean;
}

/**
 * Creates a `fetch` that answers `POST` to `…/v1/messages`, `…/chat/completions`, `…/responses`,
 * `…/models/{model}:generateContent` and `:streamGenerateContent`, `…/model/{model}/converse` and `/converse-stream`.
 * An answer names what a request asks for and a practice model cannot do. A stream of Gemini is server-sent events,
 * also without `alt=sse`.
 *
 * Errors are the vendors' own: 400 for an invalid request, 401 without the key that `apiKey` requires (Gemini and
 * Bedrock use 403), 404 for an unknown path or model (Responses and Bedrock use 400 for a model), 405 for another
 * method, and the errors of `failures`. A prompt can request a fault itself, once per conversation: `/practice 529`,
 * `/practice 429 x2`, `/practice error`, `/practice drop`, `/practice stall`.
 *
 * Rejects with the reason of `init.signal` when that aborts. A stream that is being read then fails with it.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { practice } from "looplet/practice";
 *
 * const agent = createAgent({ model: anthropic("practice", { fetch: practice({ delayMs: 0 }) }) });
 * console.log((await agent.run("Hello").result).outcome); // prints "completed"
 * ```
 *
 * @throws TypeError for an option that has an unknown name
 */
export function practice(options: PracticeOptions = {}): PracticeFetch {
  refuseRequest(options, "practice", "practice()");
  checkNames(options, OPTIONS, "Options of practice()");
  /** How often each directive was followed. */
  const followed = new Map<string, number>();
  return answering({ delayMs: 12, ...options }, async (exchange) => {
    const { request, format, random } = exchange;
    const refusal = refusalOf(exchange, options);
    if (refusal) return refuse(refusal, exchange);
    const conversation = format.read(request.body);
    const turn = asksForSummary(request)
      ? { text: summaryOf(conversation) }
      : turnOf(plan(conversation), conversation, format.deltaWords, random);
    const { key = "", times = 0, fault } = readDirective(conversation) ?? {};
    const count = followed.get(key) ?? 0;
    if (count < times) followed.set(key, count + 1);
    return perform(count < times ? { ...turn, ...fault } : turn, exchange);
  });
}

// prettier-ignore
const OPTIONS: NamesOf<PracticeOptions> = {
  delayMs: true, chunking: true, seed: true, sleep: true, models: true, apiKey: true, failures: true,
  alternatingRoles: true,
};

function refusalOf({ request, index, format }: Exchange, options: PracticeOptions): Refusal | undefined {
  const { apiKey, models, failures, alternatingRoles: areRolesAlternating = true } = options;
  const { protocol, method, url, headers, model } = request;
  const failure = typeof failures === "function" ? failures(request, index) : failures?.[index];
  if (protocol === undefined) {
    const path = url.replace(/^[a-z]+:\/\/[^/]+/i, "");
    return { status: 404, message: `Invalid URL (${method} ${path})` };
  }
  if (failure !== undefined) return typeof failure === "number" ? { status: failure } : failure;
  if (method !== "POST") return { status: 405 };
  const key = keyIn(headers);
  if (apiKey !== undefined && !key) return format.noKey;
  if (typeof apiKey === "string" && key !== apiKey) return format.wrongKey;
  const refusal = format.check(request, { areRolesAlternating, areSignaturesOurs: true });
  return refusal ?? (models?.includes(model) === false ? format.unknownModel(model) : undefined);
}

/** The key of a request, wherever a vendor has it; of a signature of AWS, the id of its access key. */
function keyIn({ authorization, ...headers }: Record<string, string>): string | undefined {
  const named = headers["x-api-key"] ?? headers["api-key"] ?? headers["x-goog-api-key"];
  const [, signer] = /^AWS4-HMAC-SHA256 Credential=([^/]+)/.exec(authorization ?? "") ?? [];
  return named ?? signer ?? authorization?.replace(/^Bearer\s+/i, "");
}

/** The summary of a conversation: the beginnings of the user's latest messages. */
function summaryOf({ said }: Conversation): string {
  const asked = said.flatMap((one) => (one.role === "user" ? [`“${one.text.slice(0, 60)}”`] : []));
  return `The user wrote: ${asked.slice(-10).join(", ")}`;
}

/** The planner's answer, cut to the limits of the request. */
function turnOf(
  { thinking, text, calls }: Plan,
  { stopSequences, maxOutputTokens: left = Infinity, thinking: mode }: Conversation,
  deltaWords: number,
  random: Random,
): ScriptedTurn {
  let isCut = false;
  const cut = (whole: string) => {
    const kept = estimateTokens(whole) <= left ? whole : takeTokens(whole, left);
    isCut ||= kept.length < whole.length;
    left -= estimateTokens(kept);
    return cutWords(kept, deltaWords, random);
  };
  const blocks: ReplyBlock[] = [];
  if (mode === "omitted" || (mode === "shown" && thinking !== "")) {
    const pieces = mode === "omitted" ? [] : cut(thinking);
    blocks.push({ type: "thinking", text: pieces, signature: isCut ? "" : signatureOf(thinking) });
  }
  const stops = stopSequences.map((sequence) => ({ sequence, at: sequence ? text.indexOf(sequence) : -1 }));
  const [stop] = stops.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
  const words = cut(text.slice(0, stop?.at));
  if (words.length > 0) blocks.push({ type: "text", text: words });
  for (const { name, input } of stop ? [] : calls) {
    const json = JSON.stringify(input);
    const pieces = json === "{}" ? undefined : cut(json);
    if (pieces?.length === 0) break;
    blocks.push({ type: "tool-call", name, ...(pieces && { argumentsText: pieces }) });
    if (isCut) break;
  }
  return {
    blocks,
    // Reasoning that is not sent costs all the same.
    ...(mode === "hidden" && { usage: { reasoningTokens: estimateTokens(thinking) } }),
    ...(isCut
      ? { stopReason: "length" }
      : stop && { stopReason: "stop-sequence", stopSequence: stop.sequence }),
  };
}

/** Cuts a text into deltas of one to `maxWords` words; a word beyond 24 characters is cut too. */
function cutWords(text: string, maxWords: number, random: Random): string[] {
  const words = text.match(/\s*\S{1,24}|\s+$/gu) ?? [];
  const pieces: string[] = [];
  while (words.length > 0) pieces.push(words.splice(0, between(random, 1, maxWords)).join(""));
  return pieces;
}
