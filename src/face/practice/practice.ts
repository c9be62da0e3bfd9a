/**
 * `practice()`: an in-process `fetch` that answers like the vendors, without a key and without a network. Requests are
 * checked as the vendors check them; answers come from a deterministic planner that reads the prompt, the tools and the
 * tool results (`planner/`).
 */
import type { Conversation, Plan } from "./conversation.js";
import { readDirective } from "./directive.js";
import { checkNames, type NamesOf } from "./names.js";
import { plan } from "./planner/plan.js";
import { between, hashText, mintId, seededRandom, signatureOf, type Random } from "./random.js";
import { formatOf, readRequest, signalOf } from "./request.js";
import { deliveryOf, refuse, respond, type Delivery } from "./response.js";
import { estimateTokens, PromptCache } from "./tokens.js";
import type {
  Chunking,
  Failure,
  PracticeFetch,
  ReceivedRequest,
  ReplyBlock,
  Sleep,
  StreamFaults,
} from "./types.js";
import { rejectionOf, type Rejection, type WireFormat } from "./wire/format.js";
import { countBlocks, cutWords, limitBlocks, settleBlocks, type Reply } from "./wire/reply.js";

/** Options of `practice()`. All have defaults; none is needed. */
export interface PracticeOptions {
  /** Wait before each chunk of a stream, and before a plain answer, in milliseconds. Default 12; 0 uses no timer at all. */
  delayMs?: number;
  /** How bodies are cut into chunks. Default `"event"`. */
  chunking?: Chunking;
  /** Whether a request that asks for reasoning gets it. Default true. */
  thinking?: boolean;
  /** Equal seeds give equal ids, cuts and padding for equal requests. Default `"looplet"`. */
  seed?: string;
  /** Replaces the timer that paces the answers, for tests in virtual time. Default: `setTimeout`. */
  sleep?: Sleep;
  /** The clock behind OpenAI's `created`; milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
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
  /** Prefixes below this many tokens are not cached. Default 1024, as with the vendors. */
  minCacheTokens?: number;
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
  const provider = new Provider(options);
  return (input, init) => provider.fetch(input, init);
}

// prettier-ignore
const OPTIONS: NamesOf<PracticeOptions> = {
  delayMs: true, chunking: true, thinking: true, seed: true, sleep: true, now: true, models: true, apiKey: true,
  failures: true, alternatingRoles: true, minCacheTokens: true,
};

/** Bodies whose repetitions are counted before the oldest are forgotten. */
const MAX_SEEN = 1024;

class Provider {
  readonly #options: PracticeOptions;
  readonly #cache: PromptCache;
  readonly #seen = new Map<string, number>();
  #requests = 0;

  constructor(options: PracticeOptions) {
    this.#options = options;
    this.#cache = new PromptCache(options.minCacheTokens ?? 1024);
  }

  async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const signal = signalOf(input, init);
    signal?.throwIfAborted();
    const index = this.#requests;
    this.#requests += 1;
    const request = await readRequest(input, init);
    signal?.throwIfAborted();

    // Equal requests get equal answers whatever ran in between, and yet no two answers share an id.
    const repetition = this.#count(`body:${hashText(request.bodyText)}:${request.bodyText.length}`);
    const random = seededRandom(`${this.#options.seed ?? "looplet"}:${repetition}:${request.bodyText}`);
    const format = formatOf(request.protocol);
    const delivery = deliveryOf(this.#options, 12, format, random, signal);
    const rejection = this.#reject(request, index, format, delivery);
    if (rejection) return refuse(format, rejection, delivery);
    const conversation = format.read(request.body);
    if (this.#options.thinking === false) conversation.thinking = "none";
    const directive = this.#directive(conversation);
    if (directive?.status !== undefined)
      return refuse(format, rejectionOf(format, { status: directive.status }), delivery);
    const reply = this.#reply(request.body, format, conversation, random);
    return respond(
      format,
      reply,
      request.isStreaming ? request.body : undefined,
      directive?.faults ?? {},
      delivery,
    );
  }

  #reject(
    request: ReceivedRequest,
    index: number,
    format: WireFormat,
    delivery: Delivery,
  ): Rejection | undefined {
    if (request.protocol === undefined) {
      const path = `${request.method} ${request.url.replace(/^[a-z]+:\/\/[^/]+/i, "")}`;
      return { ...rejectionOf(format, { status: 404 }), message: `Invalid URL (${path})` };
    }
    if (request.method !== "POST") return rejectionOf(format, { status: 405 });
    const { failures, apiKey, models, alternatingRoles = true } = this.#options;
    const given = typeof failures === "function" ? failures(request, index) : failures?.[index];
    if (given !== undefined) {
      const failure = typeof given === "number" ? { status: given } : given;
      if (failure.retryAfter !== undefined) delivery.headers["retry-after"] = failure.retryAfter;
      Object.assign(delivery.headers, failure.headers);
      return rejectionOf(format, failure);
    }
    const key = format.keyOf(request.headers);
    if (apiKey !== undefined && !key) return format.noKey;
    if (typeof apiKey === "string" && key !== apiKey) return rejectionOf(format, { status: 401 });
    const fault = format.check(request, { areRolesAlternating: alternatingRoles, areSignaturesOurs: true });
    if (fault) return fault;
    const { model } = format.read(request.body);
    return !models || models.includes(model) ? undefined : format.unknownModel(model);
  }

  /** The directive of the last prompt, until it was followed as often as it says. */
  #directive(conversation: Conversation): { status: number | undefined; faults: StreamFaults } | undefined {
    const directive = readDirective(conversation);
    return directive && this.#count(`directive:${directive.key}`) < directive.times ? directive : undefined;
  }

  #reply(body: any, format: WireFormat, conversation: Conversation, random: Random): Reply {
    const answer = plan(conversation);
    const cut = (text: string) => cutWords(text, format.deltaWords, random);
    const blocks = settleBlocks(blocksOf(answer, conversation), format, random, cut);
    const limited = limitBlocks(blocks, conversation);
    const { total, read, written } = this.#cache.count(format.promptParts(body));
    const { stepTokens, countsWrites } = format.cache;
    const counted = countBlocks(limited.blocks);
    // Reasoning that is not sent costs all the same.
    const hidden = conversation.thinking === "hidden" ? estimateTokens(answer.thinking) : 0;
    const cacheReadTokens = read - (read % stepTokens);
    const cacheWriteTokens = countsWrites ? written : 0;
    const isPadded = body.stream_options?.include_obfuscation !== false;
    return {
      id: mintId(random, format.ids.reply),
      model: conversation.model,
      createdS: Math.floor((this.#options.now ?? Date.now)() / 1000),
      ...limited,
      usage: {
        inputTokens: total - cacheReadTokens - cacheWriteTokens,
        outputTokens: counted.outputTokens + hidden,
        cacheReadTokens,
        cacheWriteTokens,
        reasoningTokens: counted.reasoningTokens + hidden,
      },
      padding: isPadded ? () => between(random, 0, 15) : undefined,
    };
  }

  /** How often `key` came before. */
  #count(key: string): number {
    const times = this.#seen.get(key) ?? 0;
    this.#seen.delete(key);
    this.#seen.set(key, times + 1);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MAX_SEEN && oldest !== undefined) this.#seen.delete(oldest);
    return times;
  }
}

function blocksOf({ thinking, text, calls }: Plan, conversation: Conversation): ReplyBlock[] {
  const blocks: ReplyBlock[] = [];
  const shown = conversation.thinking === "shown" ? thinking : "";
  if (shown !== "" || conversation.thinking === "omitted")
    blocks.push({ type: "thinking", text: shown, signature: signatureOf(thinking) });
  if (text !== "") blocks.push({ type: "text", text });
  return [...blocks, ...calls.map((call) => ({ type: "tool-call" as const, ...call }))];
}
