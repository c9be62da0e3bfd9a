/**
 * Models: what the engine is told about them, and what it must not know (the key), kept apart. The second part is
 * reached through `modelParts` only, so that printing or storing a model never shows a key.
 */
import { at, checkOptions, checkValue, describe, describeWord, isObject } from "./check.js";
import { LoopletError } from "./errors.js";
import { COMPATIBLE_TABLE, HTTP_MODEL_TABLE, PRICE_TABLE } from "./options.js";
import type {
  ApiKey,
  Authorize,
  CompatibleOptions,
  Fetch,
  HttpModelOptions,
  Model,
  ModelOptions,
  Price,
} from "./types.js";

/** The engine's `ModelConfig`, as JSON. */
export interface ModelConfig {
  vendor: string;
  protocol?: string;
  model: string;
  baseUrl?: string;
  headers?: [string, string][];
  stream?: boolean;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  seed?: number;
  stopSequences?: readonly string[];
  thinking?: unknown;
  effort?: string;
  toolChoice?: unknown;
  parallelToolCalls?: boolean;
  body?: unknown;
  price?: {
    inputNanoUsd: number;
    outputNanoUsd: number;
    cacheReadNanoUsd?: number;
    cacheWriteNanoUsd?: number;
  };
}

/** A model's inside. */
export interface ModelParts {
  readonly config: ModelConfig;
  readonly apiKey?: ApiKey | undefined;
  readonly authorize?: Authorize | undefined;
  readonly fetch?: Fetch | undefined;
  /** Requests go straight to the vendor, which wants its key. */
  readonly isDirect: boolean;
  readonly dangerouslyAllowBrowser: boolean;
}

const PARTS = Symbol.for("looplet.model");

/** A frozen model whose parts no enumeration, JSON or console shows. */
export function sealModel(parts: ModelParts): Model {
  const model = { vendor: parts.config.vendor, model: parts.config.model };
  Object.defineProperty(model, PARTS, { value: () => parts });
  return Object.freeze(model);
}

/** The inside of a model, or nothing for anything else. */
export function modelParts(model: unknown): ModelParts | undefined {
  if (!isObject(model)) return undefined;
  const read = (model as { [PARTS]?: () => ModelParts })[PARTS];
  return typeof read === "function" ? read() : undefined;
}

/**
 * A model of Anthropic (Messages API).
 *
 * @throws LoopletError `config_…`
 */
export function anthropic(model: string, options: HttpModelOptions = {}): Model {
  return vendorModel("anthropic", model, options);
}

/**
 * A model of OpenAI over Chat Completions.
 *
 * @throws LoopletError `config_…`
 */
export function openaiChat(model: string, options: HttpModelOptions = {}): Model {
  return vendorModel("openai", model, options, "openai_chat");
}

/**
 * A model behind any server that speaks a known protocol: a local server, a gateway, another vendor. Needs no key.
 *
 * @throws LoopletError `config_…`
 */
export function compatible(options: CompatibleOptions): Model {
  checkOptions(options, "model", COMPATIBLE_TABLE);
  const protocol = options.protocol ?? "openai_chat";
  if (protocol !== "openai_chat" && protocol !== "anthropic") {
    throw new LoopletError(
      "config_invalid_value",
      "model.protocol",
      `needs "openai_chat" or "anthropic", got ${describeWord(protocol)}`,
    );
  }
  return httpModel("compatible", options.model, options, protocol);
}

/** A model of a vendor whose row the engine has. */
export function vendorModel(
  vendor: string,
  model: string,
  options: HttpModelOptions,
  protocol?: string,
): Model {
  if (typeof model !== "string" || model.trim() === "") {
    throw new LoopletError(
      typeof model === "string" ? "config_missing" : "config_wrong_type",
      "model.model",
      `needs the model's name as its first argument, got ${typeof model === "string" ? "an empty one" : describe(model)}`,
    );
  }
  checkOptions(options, "model", HTTP_MODEL_TABLE);
  return httpModel(vendor, model, options, protocol);
}

function httpModel(vendor: string, model: string, options: HttpModelOptions, protocol?: string): Model {
  checkKey(options.apiKey);
  const baseUrl = options.baseUrl === undefined ? undefined : checkedUrl(options.baseUrl);
  const headers = checkedHeaders(options.headers === undefined ? {} : options.headers);
  return sealModel({
    config: {
      vendor,
      ...(protocol === undefined ? {} : { protocol }),
      model,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      headers,
      ...askedWith(options),
    },
    apiKey: options.apiKey,
    authorize: options.authorize,
    fetch: options.fetch,
    isDirect: baseUrl === undefined || VENDOR_HOSTS.some((end) => new URL(baseUrl).host.endsWith(end)),
    dangerouslyAllowBrowser: options.dangerouslyAllowBrowser === true,
  });
}

/** How they end. */
const VENDOR_HOSTS = ["api.anthropic.com", "api.openai.com", ".amazonaws.com"];

/** The part of the configuration that says how a model is asked. */
export function askedWith(options: ModelOptions): Omit<ModelConfig, "vendor" | "model"> {
  const { stream, maxOutputTokens, temperature, topP, topK, seed, stopSequences } = options;
  const { thinking, effort, toolChoice, parallelToolCalls, body, price } = options;
  if (effort !== undefined && !["low", "medium", "high", "xhigh", "max"].includes(effort)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.effort",
      `needs "low", "medium", "high", "xhigh" or "max", got ${describeWord(effort)}`,
    );
  }
  checkToolChoice(toolChoice);
  const asked = {
    stream,
    maxOutputTokens,
    temperature,
    topP,
    topK,
    seed,
    stopSequences,
    thinking: plainJson(thinking, "model.thinking"),
    effort,
    toolChoice,
    parallelToolCalls,
    body: plainJson(body, "model.body"),
    price: price === undefined ? undefined : nanoPrice(price),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

function checkToolChoice(choice: unknown): void {
  if (choice === undefined || choice === "auto" || choice === "none" || choice === "required") return;
  if (isObject(choice) && typeof choice["tool"] === "string" && Object.keys(choice).length === 1) return;
  throw new LoopletError(
    "config_invalid_value",
    "model.toolChoice",
    `needs "auto", "none", "required" or { tool: name }, got ${describeWord(choice)}`,
  );
}

function plainJson(value: unknown, field: string): unknown {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    throw new LoopletError("config_invalid_value", field, "needs a value that JSON can hold");
  }
}

/** US dollars per million tokens as integers of nano-USD per token: a factor of 1000. */
function nanoPrice(price: Price): NonNullable<ModelConfig["price"]> {
  checkOptions(price, "model.price", PRICE_TABLE);
  const nano = (name: keyof Price): number | undefined => {
    const usd = price[name];
    if (usd === undefined) return undefined;
    if (usd < 0)
      throw new LoopletError("config_invalid_value", at("model.price", name), "must not be negative");
    return Math.round(usd * 1000);
  };
  const cacheReadNanoUsd = nano("cacheReadUsdPerMillion");
  const cacheWriteNanoUsd = nano("cacheWriteUsdPerMillion");
  return {
    inputNanoUsd: nano("inputUsdPerMillion") ?? 0,
    outputNanoUsd: nano("outputUsdPerMillion") ?? 0,
    ...(cacheReadNanoUsd === undefined ? {} : { cacheReadNanoUsd }),
    ...(cacheWriteNanoUsd === undefined ? {} : { cacheWriteNanoUsd }),
  };
}

function checkKey(apiKey: unknown): void {
  if (apiKey === undefined || typeof apiKey === "function") return;
  if (typeof apiKey !== "string") {
    throw new LoopletError(
      "config_wrong_type",
      "model.apiKey",
      `needs a string or a function, got ${describe(apiKey)}`,
    );
  }
  const problem = keyProblem(apiKey);
  if (problem !== undefined) throw new LoopletError("config_invalid_value", "model.apiKey", problem);
}

/** What is wrong with a key as a header value, without showing it. */
export function keyProblem(key: string): string | undefined {
  if (key.trim() === "") return "must not be empty";
  if (/[^\x21-\x7e]/.test(key))
    return "contains a space, a line break or a character that no key has; was it pasted whole?";
  return undefined;
}

function checkedUrl(baseUrl: string): string {
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(baseUrl, page);
  } catch {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      "needs an absolute URL, for example https://host/v1",
    );
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      `needs http or https, got ${url.protocol}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      "must not contain a name or password; use headers or authorize",
    );
  }
  if (/[?#]/.test(url.href)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      "must have no query and no hash, because the protocol's path comes behind it; add a query in a fetch of your own",
    );
  }
  return url.href;
}

function checkedHeaders(headers: unknown): [string, string][] {
  return pairsOf(headers).map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== "string") throw noHeaders(headers);
    const [name, value] = pair as [string, string];
    checkHeader(name, value, at("model.headers", name));
    return [name.toLowerCase(), value];
  });
}

function pairsOf(headers: unknown): unknown[] {
  if (typeof headers !== "object" || headers === null) throw noHeaders(headers);
  if (Symbol.iterator in headers) return Array.from(headers as Iterable<unknown>);
  if (Object.prototype.toString.call(headers) !== "[object Object]") throw noHeaders(headers);
  return Object.entries(headers);
}

function noHeaders(headers: unknown): LoopletError {
  return new LoopletError(
    "config_wrong_type",
    "model.headers",
    `needs an object, a Headers or pairs of strings, got ${describe(headers)}`,
  );
}

function checkHeader(name: string, value: unknown, field: string): void {
  checkValue(value, field, "string");
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
    throw new LoopletError("config_invalid_value", field, "is no header name");
  }
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value as string)) {
    throw new LoopletError(
      "config_invalid_value",
      field,
      "contains a line break or a character that no header can carry",
    );
  }
}
