/**
 * `practice()`: an in-process `fetch` that answers like Anthropic Messages and OpenAI Chat Completions, without a key
 * and without a network. Requests are checked as the vendors check them; answers come from a deterministic planner that
 * reads the prompt, the tools and the tool results (`planner/`).
 */
import { checkAnthropic } from "./anthropic_check.js";
import { anthropicPromptParts, decodeAnthropic } from "./anthropic_request.js";
import { timerSleep } from "./body.js";
import type { Conversation, Plan } from "./conversation.js";
import { readDirective } from "./directive.js";
import { checkOpenaiChat } from "./openai_chat_check.js";
import { decodeOpenaiChat, openaiChatPromptParts } from "./openai_chat_request.js";
import { checkNames, type NamesOf } from "./names.js";
import { plan } from "./planner/plan.js";
import { between, hashText, mintId, seededRandom, signatureOf, type Random } from "./random.js";
import { readRequest, signalOf } from "./request.js";
import { illegal, rejectionOf, type Rejection } from "./rejection.js";
import { countBlocks, cutWords, limitBlocks, settleBlocks, type Reply } from "./reply.js";
import { pause, refuse, respond, type Delivery } from "./respond.js";
import { PromptCache } from "./tokens.js";
import type {
  Chunking,
  Failure,
  PracticeFetch,
  Protocol,
  ReceivedRequest,
  ReplyBlock,
  Sleep,
  StreamFaults,
} from "./types.js";

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

const OPTIONS: NamesOf<PracticeOptions> = {
  delayMs: true,
  chunking: true,
  thinking: true,
  seed: true,
  sleep: true,
  now: true,
  models: true,
  apiKey: true,
  failures: true,
  alternatingRoles: true,
  minCacheTokens: true,
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
    const protocol = request.protocol ?? "openai-chat";
    const isAnthropic = request.protocol === "anthropic-messages";
    const delivery: Delivery = {
      chunking: this.#options.chunking ?? "event",
      delayMs: this.#options.delayMs ?? 12,
      sleep: this.#options.sleep ?? timerSleep,
      signal,
      random,
      status: 200,
      headers: {},
      requestId: mintId(random, isAnthropic ? "req_011C" : "req_", isAnthropic ? 20 : 32),
    };
    const rejection = this.#reject(request, index, delivery);
    if (rejection) return this.#refuse(protocol, rejection, delivery);
    const conversation = isAnthropic ? decodeAnthropic(request.body) : decodeOpenaiChat(request.body);
    if (this.#options.thinking === false) conversation.thinking = "none";
    const faults = this.#directed(protocol, conversation);
    if ("status" in faults) return this.#refuse(protocol, faults, delivery);
    return respond(request, protocol, this.#reply(request, protocol, conversation, random), faults, delivery);
  }

  async #refuse(protocol: Protocol, rejection: Rejection, delivery: Delivery): Promise<Response> {
    await pause(delivery);
    return refuse(protocol, rejection, delivery);
  }

  #reject(request: ReceivedRequest, index: number, delivery: Delivery): Rejection | undefined {
    const { protocol } = request;
    if (protocol === undefined) {
      const path = `${request.method} ${request.url.replace(/^[a-z]+:\/\/[^/]+/i, "")}`;
      return { status: 404, type: "invalid_request_error", message: `Invalid URL (${path})`, code: null };
    }
    if (request.method !== "POST") return rejectionOf(protocol, { status: 405 });
    const { failures } = this.#options;
    const given = typeof failures === "function" ? failures(request, index) : failures?.[index];
    if (given !== undefined) {
      const failure = typeof given === "number" ? { status: given } : given;
      if (failure.retryAfter !== undefined) delivery.headers["retry-after"] = failure.retryAfter;
      Object.assign(delivery.headers, failure.headers);
      return rejectionOf(protocol, failure);
    }
    return this.#checkKey(request) ?? this.#check(request, protocol) ?? this.#checkModel(request, protocol);
  }

  #checkKey({ protocol, headers }: ReceivedRequest): Rejection | undefined {
    const wanted = this.#options.apiKey;
    if (wanted === undefined) return undefined;
    const isAnthropic = protocol === "anthropic-messages";
    const bearer = headers["authorization"]?.replace(/^Bearer\s+/i, "");
    const key = isAnthropic ? (headers["x-api-key"] ?? bearer) : bearer;
    if (!key) {
      const message = isAnthropic ? "x-api-key header is required" : NO_KEY;
      return { status: 401, type: isAnthropic ? "authentication_error" : "invalid_request_error", message };
    }
    return wanted === true || key === wanted
      ? undefined
      : rejectionOf(protocol ?? "openai-chat", { status: 401 });
  }

  #check(request: ReceivedRequest, protocol: Protocol): Rejection | undefined {
    if (protocol === "openai-chat") return checkOpenaiChat(request.body);
    if (request.headers["anthropic-version"] === undefined)
      return illegal("anthropic-version: header is required");
    return checkAnthropic(request.body, {
      areRolesAlternating: this.#options.alternatingRoles !== false,
      areSignaturesOurs: true,
    });
  }

  #checkModel(request: ReceivedRequest, protocol: Protocol): Rejection | undefined {
    const { models } = this.#options;
    const model = String(request.body.model);
    if (!models || models.includes(model)) return undefined;
    if (protocol === "anthropic-messages") {
      return { status: 404, type: "not_found_error", message: `model: ${model}` };
    }
    const message = `The model \`${model}\` does not exist or you do not have access to it.`;
    return { status: 404, type: "invalid_request_error", message, code: "model_not_found" };
  }

  /** The fault that the last prompt asks for, as often as it asks; then none. */
  #directed(protocol: Protocol, conversation: Conversation): StreamFaults | Rejection {
    const directive = readDirective(conversation);
    if (!directive) return {};
    if (this.#count(`directive:${directive.key}`) >= directive.times) return {};
    return directive.status === undefined
      ? directive.faults
      : rejectionOf(protocol, { status: directive.status });
  }

  #reply(request: ReceivedRequest, protocol: Protocol, conversation: Conversation, random: Random): Reply {
    const isAnthropic = protocol === "anthropic-messages";
    const answer = plan(conversation);
    const cut = (text: string) => cutWords(text, isAnthropic ? 4 : 1, random);
    const limited = limitBlocks(
      settleBlocks(blocksOf(answer, conversation, isAnthropic), protocol, random, cut),
      conversation,
    );
    const prompt = this.#cache.count(
      isAnthropic ? anthropicPromptParts(request.body) : openaiChatPromptParts(request.body),
    );
    const counted = countBlocks(limited.blocks);
    // Reasoning that is not shown costs all the same.
    const hidden = !isAnthropic && conversation.thinking !== "none" ? hiddenTokens(answer) : 0;
    const cacheRead = isAnthropic ? prompt.readTokens : Math.floor(prompt.readTokens / 128) * 128;
    const cacheWrite = isAnthropic ? prompt.writtenTokens : 0;
    const total = prompt.uncachedTokens + prompt.readTokens + prompt.writtenTokens;
    return {
      id: isAnthropic ? mintId(random, "msg_01", 22) : mintId(random, "chatcmpl-", 29),
      model: String(request.body.model),
      createdS: Math.floor((this.#options.now ?? Date.now)() / 1000),
      ...limited,
      usage: {
        inputTokens: total - cacheRead - cacheWrite,
        outputTokens: counted.outputTokens + hidden,
        cacheReadTokens: cacheRead,
        cacheWriteTokens: cacheWrite,
        reasoningTokens: counted.reasoningTokens + hidden,
      },
      padding:
        request.body.stream_options?.include_obfuscation === false ? undefined : () => between(random, 0, 15),
    };
  }

  /** How often `key` came before. */
  #count(key: string): number {
    const times = this.#seen.get(key) ?? 0;
    this.#seen.delete(key);
    this.#seen.set(key, times + 1);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) break;
      this.#seen.delete(oldest);
    }
    return times;
  }
}

function blocksOf(answer: Plan, conversation: Conversation, isAnthropic: boolean): ReplyBlock[] {
  const blocks: ReplyBlock[] = [];
  if (isAnthropic && conversation.thinking !== "none") {
    const isShown = conversation.thinking === "shown";
    const signature = signatureOf(answer.thinking);
    blocks.push({ type: "thinking", text: isShown ? answer.thinking : "", signature });
  }
  if (answer.text !== "") blocks.push({ type: "text", text: answer.text });
  for (const { name, input } of answer.calls) blocks.push({ type: "tool-call", name, input });
  return blocks;
}

function hiddenTokens(answer: Plan): number {
  return Math.ceil(answer.thinking.length / 4);
}

const NO_KEY =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. " +
  "Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your " +
  "browser and are prompted for a username and password. You can obtain an API key from " +
  "https://platform.openai.com/account/api-keys.";
