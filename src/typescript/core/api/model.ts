/** Models and their options. */
import type { HttpModelData, ModelData, PromptCaching } from "../generated/model.js";
import type { FailureCode, FinishReason, Usage } from "./event.js";
import type { Message } from "./message.js";
import type { HostAbortSignal, HostBytes, HostHeaders } from "./platform.js";

export type { Effort, PromptCaching, ResponseFormat, ToolChoice } from "../generated/model.js";

/**
 * A model, as `anthropic()`, `openaiChat()`, `compatible()` and `custom()` return it. Printing it never shows its
 * key.
 */
export interface Model {
  /** A vendor's name, `"compatible"` or `"custom"`. */
  readonly vendor: string;
  /** The model's name. */
  readonly model: string;
}

/** A function that sends a request: the global `fetch`, or one like it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>;

/** A request as a {@link Fetch} gets it. */
export interface FetchInit {
  readonly method: string;
  readonly headers: HostHeaders;
  /**
   * The request's JSON in UTF-8. `await new Request(url, init).json()` reads it. Absent for a `GET`, which fetches
   * the rest of a background response.
   */
  readonly body?: HostBytes;
  /** Fires when the request is to be stopped. */
  readonly signal: HostAbortSignal;
  /**
   * looplet follows no redirect, because the key would go along. A function that follows one all the same has sent
   * the key before looplet can notice.
   */
  readonly redirect: "manual";
}

/** A `Response`, or an object like one. */
export interface FetchedResponse {
  readonly status: number;
  /** A `Headers`, a list of pairs or a record. */
  readonly headers?: unknown;
  /** A stream of bytes, an async iterable of bytes, bytes or a string. */
  readonly body?: unknown;
}

/**
 * The key, or a function that fetches it before each request. The function may be asynchronous; an error that it
 * throws ends the run.
 */
export type ApiKey = string | (() => string | PromiseLike<string>);

/**
 * Contract: called before each request; returns the headers to send. It replaces the key: sign the request here, or
 * add a fresh token. `headers` are the headers that looplet would send without a key. An error that it throws ends
 * the run as `failed`.
 */
export type Authorize = (request: {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes that will be sent. */
  readonly body: HostBytes;
}) => AuthorizedHeaders | PromiseLike<AuthorizedHeaders>;

export type AuthorizedHeaders =
  HostHeaders | Record<string, string> | readonly (readonly [name: string, value: string])[];

/** Options of every model. */
export interface ModelOptions extends ModelData {
  /**
   * Whether the vendor caches the prompt's prefix, which an agent sends again with every model call. `true` or an
   * object sends cache markers to the protocols that need them: Anthropic, Bedrock, and OpenRouter for Anthropic's
   * models. Other vendors cache without markers. Default: `true` for `anthropic()`, else the vendor's.
   */
  promptCaching?: boolean | PromptCaching | undefined;
  /**
   * The price of a token, or a table of prices such as `prices` of `looplet/prices`. Without it `result.costBasis` is
   * `"unknown"`, unless the vendor reports the cost.
   */
  price?: Price | PriceTable | undefined;
}

/** Returns the price of a vendor's model, if it is known. */
export type PriceTable = (vendor: string, model: string) => Price | undefined;

/** A wire protocol that a server may speak. */
export type WireProtocol = "openai_chat" | "openai_responses" | "anthropic" | "gemini" | "bedrock_converse";

/**
 * Differences between a server of the Chat Completions protocol and OpenAI's. The value for an option is the name of
 * the server's field, or an object of fields in which the string `"$"` stands for the option's value. `false` means
 * that the server has no such option; using it throws an error.
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
  /** The field for `thinking: { budgetTokens }`. */
  readonly budgetTokens?: Quirk;
  /** The field for `thinking: { type: "enabled" }`. Without this quirk the object is sent in the field `thinking`. */
  readonly "thinking.enabled"?: Quirk;
  readonly "thinking.disabled"?: Quirk;
  readonly thinking?: Quirk;
  readonly parallelToolCalls?: Quirk;
  /** The field for `responseFormat`; `"$"` is `{ name, schema, strict }`. */
  readonly responseFormat?: Quirk;
  readonly metadata?: Quirk;
  /** The field for `promptCaching: true`; `"$"` is the time to live. */
  readonly promptCaching?: Quirk;
  readonly cacheKey?: Quirk;
  readonly cacheTtl?: Quirk;
  /** The role of the system prompt. Default `"system"`. */
  readonly systemRole?: string;
  /** Whether the server accepts `stream_options`. Default true. */
  readonly streamUsage?: boolean;
  /** The field of reasoning that the server requires in every assistant message with a call. */
  readonly requiredReasoning?: string;
  /** The length of each call's id, where the server wants letters and digits of one length. Others get a checksum. */
  readonly callIdChars?: number;
  /**
   * How the server continues a partial last assistant message (`onCutOff: "continue"`). The fields of `message` are
   * added to that message, those of `body` to the request. Default: the server does not support this.
   */
  readonly prefill?: {
    readonly message?: { readonly [field: string]: unknown };
    readonly body?: { readonly [field: string]: unknown };
  };
}

export type Quirk = string | false | { readonly [field: string]: unknown };

/** Options of a model that is reached over HTTP. */
export interface HttpModelOptions extends ModelOptions, HttpModelData {
  /**
   * The key. Required, unless `authorize`, a `fetch` or the `baseUrl` of your proxy is given. looplet sends it only
   * to that URL and never stores or prints it.
   */
  apiKey?: ApiKey | undefined;
  /** A function that adds the key or signs the request, instead of `apiKey`. */
  authorize?: Authorize | undefined;
  /** Further request headers as a record, a `Headers` or pairs; put no keys here. Default: none. */
  headers?:
    HostHeaders | Record<string, string> | Iterable<readonly [name: string, value: string]> | undefined;
  /** Your function that sends this model's requests; wins over the agent's `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Whether a browser may send the key straight to the vendor. Anyone who opens the page can read the key; use a
   * proxy to keep it secret. Default false: the model throws `config_browser_key`.
   */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/**
 * A model on any server that supports one of these protocols. Its key, if it has one, is sent as `authorization:
 * Bearer`. For a server that needs `x-api-key`, use `anthropic(model, { baseUrl, apiKey })`.
 */
export interface CompatibleOptions extends HttpModelOptions {
  /** The URL before the protocol's path, for example `http://localhost:11434/v1`. Required. */
  baseUrl: string;
  /** The wire protocol. Default `"openai_chat"` (OpenAI Chat Completions). */
  protocol?: WireProtocol | undefined;
  /** Differences between the server and OpenAI's, for `"openai_chat"`. Default: none. */
  quirks?: Quirks | undefined;
}

/**
 * US dollars per million tokens, as vendors print them. The engine's `Price` is in whole billionths of a dollar per
 * token, so 0.001 is the smallest step. looplet converts the values.
 */
export interface Price {
  inputUsdPerMillion: number;
  outputUsdPerMillion: number;
  /** Default: the input price. */
  cacheReadUsdPerMillion?: number | undefined;
  /** Default: the input price. */
  cacheWriteUsdPerMillion?: number | undefined;
  /** Tokens that the vendor caches for an hour. Default: the price of any other write to the cache. */
  cacheWriteHourUsdPerMillion?: number | undefined;
  /**
   * A surcharge on long prompts: a call that reads more than `aboveTokens` costs `inputFactor` and `outputFactor`
   * times as much, to the hundredth. Default: none.
   */
  longPrompt?: { aboveTokens: number; inputFactor: number; outputFactor: number } | undefined;
  /** Default: none. */
  factors?: PriceFactors | undefined;
}

/**
 * How many times as much a call costs, to the hundredth, if the vendor reports that it served the call in this way.
 * Several factors are multiplied. Without a report or a factor a call costs the price itself.
 */
export interface PriceFactors {
  /** As a batch: `usage.service_tier` of Anthropic, `service_tier` of OpenAI. */
  readonly batch?: number | undefined;
  /** In the service tier `flex` of OpenAI, Gemini or Bedrock. */
  readonly flex?: number | undefined;
  /** In the service tier `priority` of OpenAI (also named `fast`), Gemini, Bedrock or Anthropic. */
  readonly priority?: number | undefined;
  /** At Anthropic's `usage.speed: "fast"`. */
  readonly fast?: number | undefined;
  /** In the USA only: Anthropic's `usage.inference_geo: "us"`. */
  readonly us?: number | undefined;
}

/** The argument of a custom model. */
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
  /** `true` if the tool is defined with `strict`. */
  readonly strict?: boolean;
}

/**
 * Contract: called once per attempt. It answers with a text, with parts, or with a stream of both (an async
 * generator); plain strings are text. An error that it throws, or a part of an unknown form, ends the run as `failed`
 * with `custom_model`, without another attempt. Yield an `error` part for a failure that may be tried again.
 */
export type CustomModel = (request: CustomRequest) => CustomAnswer | Promise<CustomAnswer>;

export type CustomAnswer = string | Iterable<CustomPart | string> | AsyncIterable<CustomPart | string>;

/** One part of a custom model's answer. Consecutive parts of the same type belong to one block. */
export type CustomPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; signature?: string }
  | { type: "refusal"; text: string }
  /** A file that the model has made, as base64. */
  | { type: "file"; mediaType: string; data: string }
  /** A page that the preceding text cites. */
  | { type: "source"; url: string; title?: string }
  /** A block without a neutral form. It is added to the transcript, and to the messages of later requests. */
  | { type: "raw"; json: unknown }
  /** A complete call. looplet makes an `id` if there is none. `input` is an object, or its JSON text. */
  | { type: "tool_call"; id?: string; name: string; input: unknown }
  /**
   * The start of a call that comes in pieces. `index` or `id` says to which call a piece belongs; the default is the
   * last one.
   */
  | { type: "tool_call_start"; id?: string; name: string; index?: number }
  | { type: "tool_call_delta"; text: string; id?: string; index?: number }
  | { type: "tool_call_end"; id?: string; index?: number }
  /** Token counts. `costUsd` is the cost of the call, if you know it better than `price`. */
  | ({ type: "usage"; costUsd?: number } & Partial<Omit<Usage, "costNanoUsd" | "isCostReported">>)
  /** The vendor's id of the answer, and the model that answered. */
  | { type: "response"; id?: string; model?: string }
  /** Why the answer ended. Default: `tool_calls` after calls, else `stop`. */
  | { type: "finish"; reason: Exclude<FinishReason, "other"> }
  /** A failure. `code` defaults to `server`, and `retryable` follows from the code. */
  | {
      type: "error";
      message: string;
      code?: FailureCode;
      status?: number;
      retryAfterMs?: number;
      retryable?: boolean;
    };

/** Options of `custom()`. */
export interface CustomOptions extends ModelOptions {
  /** The name in events and in `Message.origin`. Default `"custom"`. */
  name?: string | undefined;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface AwsSigV4Options {
  /** The AWS region, for example `"us-east-1"`. */
  region: string;
  /** The service's name in the signature. Default `"bedrock"`. */
  service?: string | undefined;
  /**
   * The credentials. Contract: a function is called before each request; it must cache the credentials and renew them
   * when they expire. An error that it throws ends the run as `failed`.
   */
  credentials: AwsCredentials | (() => AwsCredentials | PromiseLike<AwsCredentials>);
}

/** A model of Amazon Bedrock: the options of every model, a region, and `apiKey` or `credentials`. */
export interface BedrockOptions extends HttpModelOptions {
  /**
   * The AWS region, for example `"us-east-1"`. The default `baseUrl` is
   * `https://bedrock-runtime.<region>.amazonaws.com`.
   */
  region: string;
  /** Credentials that sign each request (Signature Version 4). Default: none, and `apiKey` is a Bedrock API key. */
  credentials?: AwsSigV4Options["credentials"] | undefined;
}
