/**
 * Models, each in two parts: one for the engine, and one that the engine must not know (the key). The second part is
 * reached only by `modelParts`, so that printing or storing a model never shows a key.
 *
 * The room `models/` owns the constructors of models and the parts that they make. It never encodes a request and
 * never reads an answer: the engine does, for models inside the process too. Users call the constructors;
 * `createAgent` and a run take the parts out.
 */
import type { NotOfModel } from "../peer-names.js";
import { LoopletError } from "../api/errors.js";
import type {
  ApiKey,
  Authorize,
  CompatibleOptions,
  Fetch,
  HttpModelOptions,
  Model,
  PriceTable,
  Quirks,
} from "../api/index.js";
import type * as engine from "../generated/input.js";
import { at, checkOptions, checkValue, describe, describeWord, isObject, joined } from "../options/check.js";
import { KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { configFromOptions } from "./model-options.js";
import { COMPATIBLE_TABLE, HTTP_MODEL_TABLE, QUIRK_TABLE, PROTOCOLS } from "../options/options.js";

/** A model as the engine reads it. */
export type ModelConfig = engine.ModelConfig & { vendor: string; model: string };

/** A model's inside. */
export interface ModelParts {
  readonly config: ModelConfig;
  readonly apiKey?: ApiKey | undefined;
  readonly authorize?: Authorize | undefined;
  readonly fetch?: Fetch | undefined;
  /** The header for the key, if it differs from the engine's choice. */
  readonly auth?: { readonly header: string; readonly prefix: string } | undefined;
  /** A table of prices, for a model without its own price. */
  readonly prices?: PriceTable | undefined;
  /** Whether requests go straight to the vendor, which requires its key. */
  readonly isDirect: boolean;
  readonly dangerouslyAllowBrowser: boolean;
}

const PARTS = Symbol.for("looplet.model");

/** A frozen model that hides its parts from enumeration, JSON and the console. */
export function sealModel(given: ModelParts): Model {
  const parts = joined(given, { config: joined(given.config) });
  const model = { vendor: parts.config.vendor, model: parts.config.model };
  Object.defineProperty(model, PARTS, { __proto__: null, value: () => parts } as PropertyDescriptor);
  return Object.freeze(model);
}

/** The parts of a model; undefined for any other value. */
export function modelParts(model: unknown): ModelParts | undefined {
  if (!isObject(model)) return undefined;
  const read = (model as { [PARTS]?: () => ModelParts })[PARTS];
  return typeof read === "function" ? read() : undefined;
}

/**
 * A model of Anthropic (Messages API).
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 *
 * const model = anthropic("claude-opus-5-5", {
 *   apiKey: process.env.ANTHROPIC_API_KEY,
 *   effort: "low",
 *   promptCaching: true,
 * });
 * console.log((await createAgent({ model }).run("Hello").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function anthropic(model: string, options: HttpModelOptions & NotOfModel = {}): Model {
  return vendorModel("anthropic", model, options);
}

/**
 * A model of OpenAI over the Responses API.
 *
 * @example
 * ```ts
 * import { createAgent, openai } from "looplet";
 *
 * const model = openai("gpt-6.2", { apiKey: process.env.OPENAI_API_KEY, effort: "medium" });
 * console.log((await createAgent({ model }).run("Hello").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function openai(model: string, options: HttpModelOptions & NotOfModel = {}): Model {
  return vendorModel("openai", model, options, "openai_responses");
}

/**
 * A model of OpenAI over Chat Completions.
 *
 * @example
 * ```ts
 * import { createAgent, openaiChat } from "looplet";
 *
 * const model = openaiChat("gpt-4.1-mini", { apiKey: process.env.OPENAI_API_KEY, temperature: 0 });
 * console.log((await createAgent({ model }).run("Hello").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function openaiChat(model: string, options: HttpModelOptions & NotOfModel = {}): Model {
  return vendorModel("openai", model, options, "openai_chat");
}

/**
 * A model of Google AI Studio (Gemini API).
 *
 * @example
 * ```ts
 * import { createAgent, gemini } from "looplet";
 *
 * const model = gemini("gemini-3-flash", { apiKey: process.env.GEMINI_API_KEY });
 * console.log((await createAgent({ model }).run("Hello").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function gemini(model: string, options: HttpModelOptions & NotOfModel = {}): Model {
  return vendorModel("google", model, options, "gemini");
}

/**
 * A model, by the name that the server knows, behind any server that speaks a known protocol: a local server, a
 * gateway, another vendor. It needs no key.
 *
 * @example
 * ```ts
 * import { compatible, createAgent } from "looplet";
 *
 * const model = compatible("qwen3", { baseUrl: "http://localhost:8080/v1", protocol: "openai_chat" });
 * console.log((await createAgent({ model }).run("Hello").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function compatible(model: string, options: CompatibleOptions & NotOfModel): Model {
  checkName(model);
  const own = checkOptions(options, "model", COMPATIBLE_TABLE, KNOWN_ELSEWHERE);
  const { protocol = "openai_chat", quirks } = own;
  if (!PROTOCOLS.includes(protocol)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.protocol",
      `needs one of "${PROTOCOLS.join('", "')}", got ${describeWord(protocol)}`,
    );
  }
  if (quirks !== undefined) checkQuirks(quirks);
  return httpModel("compatible", model, own, protocol, joined({ quirks }));
}

/**
 * Checks the names of quirks, because an unknown name would have no effect. The types of thinking are the vendor's
 * own words.
 */
function checkQuirks(quirks: object): void {
  const named = Object.entries(quirks).filter(([name]) => !name.startsWith("thinking."));
  checkOptions(Object.fromEntries(named), "model.quirks", QUIRK_TABLE);
}

/** How to reach a vendor that has no row in the engine. */
export interface Endpoint {
  /** The vendor's own base URL. */
  readonly baseUrl?: string;
  /** The header of the key, and the text before the key. Default: `authorization`, `Bearer `. */
  readonly auth?: { readonly header: string; readonly prefix: string };
  readonly quirks?: Quirks | undefined;
  /** Whether the server is on the user's own machine and needs no key. */
  readonly isLocal?: boolean;
}

/** A model of a vendor that has a row in the engine, or whose `reach` is given. */
export function vendorModel(
  vendor: string,
  model: string,
  options: HttpModelOptions,
  protocol?: string,
  reach?: Endpoint,
): Model {
  checkName(model);
  const own = checkOptions(options, "model", HTTP_MODEL_TABLE, KNOWN_ELSEWHERE);
  return httpModel(vendor, model, own, protocol, joined(reach));
}

function checkName(model: unknown): void {
  if (typeof model === "string" && model.trim() !== "") return;
  throw new LoopletError(
    typeof model === "string" ? "config_missing" : "config_wrong_type",
    "model.model",
    `needs the model's name as its first argument, got ${typeof model === "string" ? "an empty one" : describe(model)}`,
  );
}

function httpModel(
  vendor: string,
  model: string,
  options: HttpModelOptions,
  protocol: string | undefined,
  { baseUrl: usual, auth, quirks, isLocal = false }: Endpoint,
): Model {
  checkKey(options.apiKey);
  const given = options.baseUrl === undefined ? undefined : checkedUrl(options.baseUrl);
  const baseUrl = given ?? usual;
  const headers = checkedHeaders(options.headers === undefined ? {} : options.headers);
  const host = given === undefined ? undefined : hostOf(new URL(given, ANY_PAGE));
  const isVendors =
    host === undefined ||
    (usual !== undefined && host === hostOf(new URL(usual))) ||
    VENDOR_HOSTS.some((end) => host.endsWith(end));
  return sealModel({
    config: {
      vendor,
      ...(protocol === undefined ? {} : { protocol }),
      model,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(usual === undefined ? {} : { vendorUrl: usual }),
      headers,
      ...configFromOptions(options),
      ...(quirks === undefined ? {} : { quirks }),
    },
    apiKey: options.apiKey,
    authorize: options.authorize,
    fetch: options.fetch,
    auth,
    prices: typeof options.price === "function" ? options.price : undefined,
    isDirect: isVendors && !isLocal,
    dangerouslyAllowBrowser: options.dangerouslyAllowBrowser === true,
  });
}

/** The host without its port. A name with the root's dot (`api.anthropic.com.`) is the same host. */
function hostOf(url: URL): string {
  return url.hostname.replace(/\.+$/, "");
}

/** The ends of the host names of vendors that require a key. */
const VENDOR_HOSTS = [
  "api.anthropic.com",
  "api.openai.com",
  "generativelanguage.googleapis.com",
  ".amazonaws.com",
];

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

/** The problem with a key as a header value, without showing the key. */
export function keyProblem(key: string): string | undefined {
  if (key.trim() === "") return "must not be empty";
  if (/[^\x21-\x7e]/.test(key))
    return "contains a space, a line break or a character that no key has; was it pasted whole?";
  return undefined;
}

/** Replaces the page's URL while a relative URL is checked. */
const ANY_PAGE = "https://page.invalid/";

/**
 * The URL of a request, resolved by the address of the page. A relative `baseUrl` stays relative until then, because
 * a module with models may be evaluated on a server first.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function requestUrl(url: string): string {
  if (/^https?:/i.test(url)) return url;
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  try {
    return new URL(url, page).href;
  } catch {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      "is relative, and there is no page here whose address completes it; give an absolute URL, for example https://host/v1",
    );
  }
}

function checkedUrl(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl, ANY_PAGE);
  } catch {
    throw new LoopletError(
      "config_invalid_value",
      "model.baseUrl",
      "needs a URL, for example https://host/v1",
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
  return url.origin === new URL(ANY_PAGE).origin ? baseUrl : url.href;
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

/** Whether the code runs in a page or a worker of a browser. */
export function isBrowser(): boolean {
  const agent: unknown = (globalThis as { navigator?: { userAgent?: unknown } }).navigator?.userAgent;
  return typeof agent === "string" && agent.startsWith("Mozilla/");
}
