/**
 * A model of the AI SDK as a model of looplet. The AI SDK's provider sends the requests; looplet repeats, limits and
 * aborts them. `doStream` of the specifications V2, V3 and V4: `@ai-sdk/provider` 2.0.5, 3.0.19 and 4.0.38
 * (2026-11-26).
 */
import { LoopletError } from "../../../core/api/errors.js";
import type { CustomOptions, CustomPart, CustomRequest, Model } from "../../../core/api/index.js";
import { custom } from "../../../core/index.js";
import { base64Of } from "../../../core/kit/tools.js";
import { describe, describeWord, isObject, message } from "../../../core/kit/check.js";
import { callOptions, HOSTED, OF_CALL, type Specification } from "./request.js";

/** A `LanguageModelV2`, `V3` or `V4` of the AI SDK, by what looplet needs of it. */
export interface LanguageModelLike {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: any): PromiseLike<{ stream: any }>;
}

/** The options of `aiSdkModel`: those of every model, and what the provider gets with each request. */
export interface AiSdkModelOptions extends CustomOptions {
  /** Options of the vendor, by its name: `{ anthropic: { … } }`. Default: none. */
  providerOptions?: { readonly [vendor: string]: { readonly [option: string]: unknown } } | undefined;
  /** Additional headers. Default: none. */
  headers?: { readonly [name: string]: string } | undefined;
}

/**
 * The model of a provider of the AI SDK, for example `aiSdkModel(anthropic("claude-sonnet-4-6"))` with
 * `@ai-sdk/anthropic`. The provider handles the API key. Generated files, sources with a URL, and calls of hosted
 * tools are stored in the transcript, and are sent back to the model if it accepts them.
 *
 * @throws LoopletError `config_…`
 */
export function aiSdkModel(model: LanguageModelLike, options: AiSdkModelOptions = {}): Model {
  if (!isObject(model) || typeof model["doStream"] !== "function") {
    const problem = `aiSdkModel() needs a language model of a provider of the AI SDK, got ${describe(model)}`;
    throw new LoopletError("config_wrong_type", "model", problem);
  }
  const { specificationVersion, provider, modelId } = model;
  if (!["v2", "v3", "v4"].includes(specificationVersion)) {
    const problem = `needs "v2", "v3" or "v4", got ${describeWord(specificationVersion)}; update the provider's package`;
    throw new LoopletError("config_invalid_value", "model.specificationVersion", problem);
  }
  const { providerOptions, headers, ...rest } = isObject(options) ? (options as AiSdkModelOptions) : {};
  const answer = (request: CustomRequest): AsyncGenerator<CustomPart> => {
    const asked = callOptions(request, providerOptions, specificationVersion as Specification);
    return parts(model, { ...asked, ...(headers && { headers }) });
  };
  return custom(answer, { name: `${provider}/${modelId}`, ...rest });
}

/** A part of `doStream`, by the fields that looplet reads. */
interface StreamPart {
  type: string;
  id?: string;
  delta?: string;
  toolName?: string;
  toolCallId?: string;
  input?: string;
  providerExecuted?: boolean;
  providerMetadata?: object;
  modelId?: string;
  mediaType?: string;
  data?: unknown;
  sourceType?: string;
  url?: string;
  title?: string;
  result?: unknown;
  isError?: boolean;
  preliminary?: boolean;
  usage?: any;
  finishReason?: any;
  error?: unknown;
}

async function* parts(model: LanguageModelLike, options: object): AsyncGenerator<CustomPart> {
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined;
  try {
    const { stream } = await model.doStream(options);
    reader = (stream as ReadableStream<StreamPart>).getReader();
    const calls = new Calls();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { value } = next;
      if (value.type === "error") return yield failure(value.error);
      yield* calls.read(value);
    }
  } catch (error) {
    yield failure(error);
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

/** Reads the parts of an answer. */
class Calls {
  /** The calls that have started to stream, and have received a piece. */
  readonly #begun = new Set<string>();
  /** The vendors' data of each reasoning so far. */
  readonly #reasoning = new Map<string, object>();

  *read(part: StreamPart): Generator<CustomPart> {
    const { id = "", delta = "", providerMetadata } = part;
    switch (part.type) {
      case "text-delta":
        return yield { type: "text", text: delta };
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        if (providerMetadata !== undefined)
          this.#reasoning.set(id, { ...this.#reasoning.get(id), ...providerMetadata });
        if (delta !== "") yield { type: "reasoning", text: delta };
        const metadata = this.#reasoning.get(id);
        if (part.type === "reasoning-end" && metadata !== undefined)
          yield { type: "reasoning", text: "", signature: JSON.stringify(metadata) };
        return;
      }
      case "tool-input-start":
        if (part.providerExecuted) return;
        this.#begun.add(id);
        return yield { type: "tool_call_start", id, name: part.toolName! };
      case "tool-input-delta":
        if (this.#begun.has(id)) yield { type: "tool_call_delta", id, text: delta };
        return;
      case "tool-call":
        return yield* this.#call(part);
      case "tool-result":
        if (part.preliminary !== true) yield hosted(hostedResult(part));
        return;
      case "file":
        return yield* file(part);
      case "source":
        if (part.sourceType !== "url") return;
        return yield {
          type: "source",
          url: part.url!,
          ...(part.title !== undefined && { title: part.title }),
        };
      case "response-metadata":
        return yield {
          type: "response",
          ...(part.id && { id }),
          ...(part.modelId && { model: part.modelId }),
        };
      case "finish":
        yield usageOf(part.usage);
        return yield finishOf(part.finishReason);
    }
  }

  *#call(part: StreamPart): Generator<CustomPart> {
    const { toolCallId = "", toolName = "", input = "", providerExecuted, providerMetadata } = part;
    if (providerExecuted)
      return yield hosted({
        ...{ type: "tool-call", toolCallId, toolName, input: parsedInput(input), providerExecuted },
        ...(providerMetadata !== undefined && { providerOptions: providerMetadata }),
      });
    if (this.#begun.delete(toolCallId)) yield { type: "tool_call_end", id: toolCallId };
    else yield { type: "tool_call", id: toolCallId, name: toolName, input };
    // Only reasoning has a field for what a provider wants back with a call, such as Gemini's thought signatures.
    if (providerMetadata !== undefined)
      yield {
        type: "reasoning",
        text: "",
        signature: JSON.stringify({ [OF_CALL]: toolCallId, ...providerMetadata }),
      };
  }
}

/** A part that is sent back to the model in this position: a call of a hosted tool, or its result. */
function hosted(part: object): CustomPart {
  return { type: "raw", json: { type: HOSTED, part } };
}

function hostedResult({
  toolCallId,
  toolName,
  result = null,
  isError,
  providerMetadata,
}: StreamPart): object {
  const output = { type: isError === true ? "error-json" : "json", value: result };
  const vendors = providerMetadata !== undefined && { providerOptions: providerMetadata };
  return { type: "tool-result", toolCallId, toolName, output, ...vendors };
}

function parsedInput(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** V2 and V3 have the bytes or their base64. V4 has them in an object. A file that is a URL is skipped. */
function* file({ mediaType = "application/octet-stream", data }: StreamPart): Generator<CustomPart> {
  const bytes = isObject(data) && !(data instanceof Uint8Array) ? data["data"] : data;
  if (bytes instanceof Uint8Array) yield { type: "file", mediaType, data: base64Of(bytes) };
  else if (typeof bytes === "string") yield { type: "file", mediaType, data: bytes };
}

/** V2 has flat counts, V3 and V4 have groups. */
function usageOf(usage: any): CustomPart {
  const isFlat = typeof usage?.inputTokens !== "object";
  const { inputTokens: input, outputTokens: output } = usage ?? {};
  const counts = isFlat
    ? [input, output, usage?.cachedInputTokens, undefined, usage?.reasoningTokens]
    : [input?.total, output?.total, input?.cacheRead, input?.cacheWrite, output?.reasoning];
  const [inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0] =
    counts;
  return { type: "usage", inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
}

/** V2 has a string. V3 and V4 also have the provider's own value. */
function finishOf(finishReason: any): CustomPart {
  const word: unknown = isObject(finishReason) ? finishReason["unified"] : finishReason;
  switch (word) {
    case "length":
      return { type: "finish", reason: "length" };
    case "content-filter":
      return { type: "finish", reason: "content_filter" };
    case "tool-calls":
      return { type: "finish", reason: "tool_calls" };
    case "error":
      return { type: "error", message: "The provider ended the answer with an error.", retryable: true };
    default:
      return { type: "finish", reason: "stop" };
  }
}

/**
 * The failure of a request. `APICallError` says whether a retry may help. An `error` part of a stream may contain the
 * server's own object instead of an error.
 */
function failure(error: unknown): CustomPart {
  if (isObject(error) && !(error instanceof Error)) {
    const words = JSON.stringify(error);
    const code = /overloaded/.test(words) ? "overloaded" : /rate_limit/.test(words) ? "rate_limit" : "server";
    return { type: "error", message: typeof error["message"] === "string" ? error["message"] : words, code };
  }
  const { statusCode, isRetryable, responseHeaders, name } = Object(error) as {
    statusCode?: number;
    isRetryable?: boolean;
    responseHeaders?: { [name: string]: string };
    name?: string;
  };
  const seconds = Number(responseHeaders?.["retry-after"] ?? Number.NaN);
  const milliseconds = Number(responseHeaders?.["retry-after-ms"] ?? seconds * 1000);
  const code = codeOf(statusCode, name, error);
  return {
    type: "error",
    message: message(error),
    ...(code !== undefined && { code }),
    ...(statusCode !== undefined && { status: statusCode }),
    ...(isRetryable !== undefined && { retryable: isRetryable }),
    ...(Number.isFinite(milliseconds) && { retryAfterMs: Math.max(0, Math.ceil(milliseconds)) }),
  };
}

type Code = Extract<CustomPart, { type: "error" }>["code"];

const CODES: { readonly [status: number]: NonNullable<Code> } = {
  400: "invalid_request",
  401: "auth",
  402: "billing",
  403: "auth",
  404: "not_found",
  408: "timeout",
  413: "invalid_request",
  422: "invalid_request",
  429: "rate_limit",
  529: "overloaded",
};

function codeOf(status: number | undefined, name: string | undefined, error: unknown): Code {
  if (status !== undefined) return CODES[status] ?? (status < 500 ? "invalid_request" : "server");
  if (name === "AI_LoadAPIKeyError") return "auth";
  // Mistakes of the request itself, and of the code, which another attempt would repeat.
  if (name !== undefined && /^AI_(Unsupported|Invalid|NoSuch|LoadSetting|TypeValidation)/.test(name))
    return "invalid_request";
  // `fetch` rejects with a TypeError if the network is down. Some providers pass that error on.
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
    ? "network"
    : "custom_model";
}
