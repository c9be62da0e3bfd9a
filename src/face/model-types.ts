/** Models and their options. */
import type { FailureCode, FinishReason, Usage } from "./event.js";
import type { HostAbortSignal, HostHeaders, HostRequestInit } from "./host-types.js";
import type { Message } from "./message.js";

/** A model, as `anthropic()`, `openaiChat()`, `compatible()` and `custom()` return it. Holds its key where nothing prints it. */
export interface Model {
  /** A vendor's name, `"compatible"` or `"custom"`. */
  readonly vendor: string;
  /** The model's name. */
  readonly model: string;
}

/** What sends a request: the host's `fetch`, or anything like it. */
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
  seed?: number | undefined;
  /** Default: none. */
  stopSequences?: readonly string[] | undefined;
  /** `{ budgetTokens }` for Anthropic's extended thinking, or the vendor's own object. Default: none. */
  thinking?: { budgetTokens: number } | { [field: string]: unknown } | undefined;
  /** How hard to think, where the vendor has such a thing. Default: the vendor's. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** Whether and what the model must call. Default: the vendor's (`"auto"`). */
  toolChoice?: "auto" | "none" | "required" | { tool: string } | undefined;
  /** `false` asks the vendor for at most one call per answer. Default: the vendor's. */
  parallelToolCalls?: boolean | undefined;
  /** Fields added to the request body; they win over looplet's own. */
  body?: { [field: string]: unknown } | undefined;
  /** Ask for a stream. Default true. */
  stream?: boolean | undefined;
  /** What a token costs; without it `result.costBasis` is `"unknown"`. */
  price?: Price | undefined;
}

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
  protocol?: "openai_chat" | "anthropic" | undefined;
}

/** US dollars per million tokens; kept as integers of billionths of a dollar per token, so 0.001 is the smallest step. */
export interface Price {
  inputUsdPerMillion: number;
  outputUsdPerMillion: number;
  /** Default: the input price. */
  cacheReadUsdPerMillion?: number | undefined;
  /** Default: the input price. */
  cacheWriteUsdPerMillion?: number | undefined;
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
  | ({ type: "usage" } & Partial<Usage>)
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
