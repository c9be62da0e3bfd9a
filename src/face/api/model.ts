/** Models and their options. */
import type { FailureCode, FinishReason, Usage } from "./event.js";
import type { Message } from "./message.js";
import type { HostAbortSignal, HostHeaders, HostRequestInit } from "./platform.js";

/** A model, as `anthropic()`, `openaiChat()`, `compatible()` and `custom()` return it. Holds its key where nothing prints it. */
export interface Model {
  /** A vendor's name, `"compatible"` or `"custom"`. */
  readonly vendor: string;
  /** The model's name. */
  readonly model: string;
}

/**
 * What sends a request: the host's `fetch`, or anything like it. `init` has `method`, `headers` (a `Headers`), `body` (a
 * string, the request's JSON) and `signal`.
 */
export type Fetch = (url: string, init: HostRequestInit) => Promise<FetchedResponse>;

/** A `Response`, or any object like one. */
export interface FetchedResponse {
  readonly status: number;
  /** A `Headers`, pairs or a record. */
  readonly headers?: unknown;
  /** A stream of bytes, an async iterable of bytes, bytes or a string. */
  readonly body?: unknown;
}

/** The key, or a function that fetches it before each request (it may be asynchronous; what it throws ends the run). */
export type ApiKey = string | (() => string | PromiseLike<string>);

/**
 * Contract: called before each request; returns the headers to send. Replaces the key: sign the request here, or add a
 * fresh token. `headers` are those looplet would send without a key. What it throws ends the run as `failed`.
 */
export type Authorize = (request: {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}) => AuthorizedHeaders | PromiseLike<AuthorizedHeaders>;

export type AuthorizedHeaders =
  HostHeaders | Record<string, string> | readonly (readonly [name: string, value: string])[];

/** How every model is asked. */
export interface ModelOptions {
  /** Tokens of one answer, a positive integer. Default: 8192 where the protocol demands a number, else the vendor's. */
  maxOutputTokens?: number | undefined;
  /** Default: the vendor's. */
  temperature?: number | undefined;
  /** Default: the vendor's. */
  topP?: number | undefined;
  /** Default: the vendor's. */
  topK?: number | undefined;
  /** Where the vendor has such a thing. */
  frequencyPenalty?: number | undefined;
  /** Where the vendor has such a thing. */
  presencePenalty?: number | undefined;
  /** Where the vendor has such a thing. */
  seed?: number | undefined;
  /** Default: none. */
  stopSequences?: readonly string[] | undefined;
  /** `{ budgetTokens }` for Anthropic's extended thinking, or the vendor's own object. Default: none. */
  thinking?: { budgetTokens: number } | { [field: string]: unknown } | undefined;
  /** How hard to think, where the vendor has such a thing. Default: the vendor's. */
  effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** Whether and what the model must call. Default: the vendor's (`"auto"`). */
  toolChoice?: "auto" | "none" | "required" | { tool: string } | undefined;
  /** `false` asks the vendor for at most one call per answer. Default: the vendor's. */
  parallelToolCalls?: boolean | undefined;
  /** The answer's text is JSON of this schema. Default: any text. */
  responseFormat?: ResponseFormat | undefined;
  /**
   * Have the vendor keep the prompt's prefix, which an agent sends again with every model call. `true` or an object:
   * markers are sent to the protocols that want them (Anthropic, Bedrock, and OpenRouter for models of Anthropic);
   * others cache by themselves. Default: `true` for `anthropic()`, else what the vendor does by itself.
   */
  promptCaching?: PromptCaching | undefined;
  /** What the vendor keeps with the request, for example `{ user_id }` for Anthropic. Default: none. */
  metadata?: { [field: string]: unknown } | undefined;
  /** Fields added to the request body; they win over looplet's own. */
  body?: { [field: string]: unknown } | undefined;
  /** Ask for a stream. Default true. */
  stream?: boolean | undefined;
  /**
   * What a token costs, or a table of prices: `prices` of `looplet/prices`. Without it `result.costBasis` is
   * `"unknown"`, unless the vendor reports the cost.
   */
  price?: Price | PriceTable | undefined;
}

/** Asks for an answer that is JSON of a schema. */
export interface ResponseFormat {
  /** JSON Schema, sent as it is; each vendor takes a subset of its own. Required. */
  schema: { readonly [keyword: string]: unknown };
  /** A name of the schema for vendors that want one. Default `"answer"`. */
  name?: string | undefined;
  /** The vendor enforces the schema, where it can choose. Default true. */
  strict?: boolean | undefined;
}

/** `ttl`: how long the vendor keeps what is marked, `"5m"` (Anthropic's default) or `"1h"`; `key`: requests with one key go to one cache (OpenAI). */
export type PromptCaching =
  | boolean
  | { readonly ttl?: "5m" | "1h" | "24h" | (string & {}) | undefined; readonly key?: string | undefined };

/** The price of a vendor's model, if it is known. */
export type PriceTable = (vendor: string, model: string) => Price | undefined;

/** A wire protocol that a server may speak. */
export type WireProtocol = "openai_chat" | "openai_responses" | "anthropic" | "gemini" | "bedrock_converse";

/**
 * What a server of the Chat Completions protocol does otherwise than OpenAI. An option's value is the field's name, an
 * object of fields in which the string `"$"` stands for the value, or `false`: the server has no such option, and using
 * it is an error.
 */
export interface Quirks {
  readonly maxOutputTokens?: Quirk;
  readonly temperature?: Quirk;
  readonly topP?: Quirk;
  readonly topK?: Quirk;
  readonly frequencyPenalty?: Quirk;
  readonly presencePenalty?: Quirk;
  readonly seed?: Quirk;
  readonly effort?: Quirk;
  /** Of `thinking: { budgetTokens }`. */
  readonly budgetTokens?: Quirk;
  /** Of `thinking: { type: "enabled" }`; without it the object is sent in the field `thinking`. */
  readonly "thinking.enabled"?: Quirk;
  readonly "thinking.disabled"?: Quirk;
  readonly thinking?: Quirk;
  readonly parallelToolCalls?: Quirk;
  /** `"$"` is `{ name, schema, strict }`. */
  readonly responseFormat?: Quirk;
  readonly metadata?: Quirk;
  /** Of `promptCaching: true`; `"$"` is the time to live. */
  readonly promptCaching?: Quirk;
  readonly cacheKey?: Quirk;
  readonly cacheTtl?: Quirk;
  /** The role of the system prompt. Default `"system"`. */
  readonly systemRole?: string;
  /** `false`: the server refuses `stream_options`. Default true. */
  readonly streamUsage?: boolean;
  /** The field of reasoning that every assistant message with a call must have. */
  readonly requiredReasoning?: string;
}

export type Quirk = string | false | { readonly [field: string]: unknown };

/** How a model over HTTP is reached. */
export interface HttpModelOptions extends ModelOptions {
  /**
   * Required, unless `authorize`, a `fetch` or a `baseUrl` (of your proxy) is given. Never stored, printed or sent
   * anywhere but to that URL.
   */
  apiKey?: ApiKey | undefined;
  /** In place of `apiKey`: adds the key or signs the request. */
  authorize?: Authorize | undefined;
  /**
   * The URL before the protocol's path, for example that of your proxy. Default: the vendor's. A relative one is
   * resolved against the page. Without a query or a hash; a `fetch` of your own can add a query.
   */
  baseUrl?: string | undefined;
  /** Further request headers: a record, a `Headers` or pairs. Not for keys. Default: none. */
  headers?:
    HostHeaders | Record<string, string> | Iterable<readonly [name: string, value: string]> | undefined;
  /** Sends this model's requests; wins over the agent's `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Send a key straight from a browser to the vendor. Everybody who opens the page can read that key; a proxy keeps it.
   * Default false: `config_browser_key`.
   */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/**
 * A model behind any server that speaks a known protocol. Its key, if any, goes as `authorization: Bearer`; a server that
 * wants `x-api-key` is reached by `anthropic(model, { baseUrl, apiKey })`.
 */
export interface CompatibleOptions extends HttpModelOptions {
  /** The URL before the protocol's path, for example `http://localhost:11434/v1`. Required. */
  baseUrl: string;
  /** The model's name, as the server knows it. Required. */
  model: string;
  /** Default `"openai_chat"` (OpenAI Chat Completions). */
  protocol?: WireProtocol | undefined;
  /** What the server does otherwise than OpenAI, with `"openai_chat"`. Default: nothing. */
  quirks?: Quirks | undefined;
}

/** US dollars per million tokens; kept as integers of billionths of a dollar per token, so 0.001 is the smallest step. */
export interface Price {
  inputUsdPerMillion: number;
  outputUsdPerMillion: number;
  /** Default: the input price. */
  cacheReadUsdPerMillion?: number | undefined;
  /** Default: the input price. */
  cacheWriteUsdPerMillion?: number | undefined;
  /** Of what the vendor keeps for an hour. Default: as any other written to the cache. */
  cacheWriteHourUsdPerMillion?: number | undefined;
  /**
   * A call that reads more than `aboveTokens` costs as a whole that many times more, to the hundredth. Default: none
   * does.
   */
  longPrompt?: { aboveTokens: number; inputFactor: number; outputFactor: number } | undefined;
}

/** What a custom model is asked. */
export interface CustomRequest {
  readonly model: string;
  readonly system: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly CustomToolDefinition[];
  /** Fires when the run is aborted or the attempt has timed out. */
  readonly signal: HostAbortSignal;
  /** The model options that were set, for example `maxOutputTokens` and `temperature`, and the fields of `body`. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface CustomToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: unknown;
  /** `true` where the tool's `strict` is. */
  readonly strict?: boolean;
}

/**
 * Contract: called once per attempt. Answers with a text, with parts, or with a stream of both (an async generator);
 * plain strings are text. What it throws is a retryable failure, unless it yields an `error` part that says otherwise;
 * a part that is none ends the run as `failed` with `invalid_request`, without another attempt.
 */
export type CustomModel = (request: CustomRequest) => CustomAnswer | Promise<CustomAnswer>;

export type CustomAnswer = string | Iterable<CustomPart | string> | AsyncIterable<CustomPart | string>;

/** One part of a custom model's answer. Consecutive parts of one type belong to one block. */
export type CustomPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; signature?: string }
  | { type: "refusal"; text: string }
  /** A complete call. `id`: default minted. `input`: an object, or its JSON text. */
  | { type: "tool_call"; id?: string; name: string; input: unknown }
  /** A call in pieces; `index` or `id` says which one a piece belongs to, default the last. */
  | { type: "tool_call_start"; id?: string; name: string; index?: number }
  | { type: "tool_call_delta"; text: string; id?: string; index?: number }
  | { type: "tool_call_end"; id?: string; index?: number }
  /** `costUsd`: what the call cost, if you know better than `price`. */
  | ({ type: "usage"; costUsd?: number } & Partial<Omit<Usage, "costNanoUsd" | "isCostReported">>)
  /** The vendor's id of the answer, and the model that has answered. */
  | { type: "response"; id?: string; model?: string }
  /** Default: `tool_calls` after calls, else `stop`. */
  | { type: "finish"; reason: Exclude<FinishReason, "other"> }
  /** `code`: default `server`. `retryable`: default by code. */
  | {
      type: "error";
      message: string;
      code?: FailureCode;
      status?: number;
      retryAfterMs?: number;
      retryable?: boolean;
    };

/** Options of `custom()`. */
export interface CustomOptions extends Omit<ModelOptions, "stream"> {
  /** The name in events and in `Message.origin`. Default `"custom"`. */
  name?: string | undefined;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface AwsSigV4Options {
  /** For example `"us-east-1"`. */
  region: string;
  /** The service's name in the signature. Default `"bedrock"`. */
  service?: string | undefined;
  /**
   * Contract: a function is called before each request; it keeps what it has fetched and renews it when it expires.
   * What it throws ends the run as `failed`.
   */
  credentials: AwsCredentials | (() => AwsCredentials | PromiseLike<AwsCredentials>);
}

/** A model of Amazon Bedrock: the options of every model, a region, and `apiKey` or `credentials`. */
export interface BedrockOptions extends HttpModelOptions {
  /** For example `"us-east-1"`; makes the default `baseUrl`, `https://bedrock-runtime.<region>.amazonaws.com`. */
  region: string;
  /** Signs each request (Signature Version 4). Default: none, `apiKey` is a Bedrock API key. */
  credentials?: AwsSigV4Options["credentials"] | undefined;
}
