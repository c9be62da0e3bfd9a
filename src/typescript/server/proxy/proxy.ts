/**
 * The route between a page and the vendors. It adds the API key to calls of the allowed models, and forwards them
 * unchanged. Any other request is refused without a request to a vendor.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Fetch, Model } from "../../core/api/index.js";
import type { HostRequest, HostResponse } from "../../core/api/platform.js";
import {
  authorizeRequest,
  fetchOnce,
  describeError,
  cancelBody,
  redirectOf,
  redactor,
  secretsOf,
} from "../../core/kit/http.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { checkOptions, isObject } from "../../core/kit/check.js";
import { readBytes } from "./body.js";
import { doubleField } from "./double-fields.js";
import { errorOf, isLost, TIMED_OUT, untilLeft } from "./failures.js";
import { folded, foldedBody, oddSpelling } from "./fields.js";
import { foreignObject } from "./foreign-objects.js";
import {
  asksForOne,
  BESIDE,
  boundsIn,
  dearField,
  OTHER_MODELS,
  placesIn,
  serverToolIn,
  type Body,
} from "./protocols.js";
import { checkQuota, type ProxyCall, type Quota, type QuotaRefusal } from "./quota.js";
import { isCount, mostOf, sizeOf, type SentSize } from "./sent-size.js";
import { KEEP_ALIVE, KeepAlive } from "../../extras/keep-alive.js";
import { upstreamOf, type Upstream } from "./upstream.js";
import { formOf, UsageReader, type ProxyUsage } from "./usage.js";

export interface ProxyOptions {
  /**
   * The models that pages may use, each with its key. A model's `maxOutputTokens` is the maximum that a page may
   * request, and its `price` is used for the quota. Pages set all other options of a model. Required.
   */
  models: readonly Model[];
  /**
   * Returns the owner of a request, such as the id of the signed-in user. If it returns nothing, the response has
   * status
   * 401. Required.
   */
  authorize: (request: HostRequest) => Owner | PromiseLike<Owner>;
  /** Counts what each owner spends, and refuses more. Default: no limit. */
  quota?: Quota | undefined;
  /** The path of the route, without the vendor. Default `"/api"`: Anthropic is below `/api/anthropic`. */
  base?: string | undefined;
  /** Other allowed origins of pages, such as `https://app.example`. Default: only the route's own origin. */
  origins?: readonly string[] | undefined;
  /** The longest body of a request, in bytes. Default 10,000,000. */
  maxBodyBytes?: number | undefined;
  /**
   * Whether requests may use hosted tools, such as web search or an MCP server, and what is stored at the vendor.
   * They cost more than their tokens. Default false.
   */
  serverTools?: boolean | undefined;
  /**
   * Contract: called with each request before it is forwarded. If it returns a text, the request is refused with
   * status 403 and this text. Default: no further refusals.
   */
  refuse?: ((body: Readonly<Body>, call: ProxyCall) => Refusal | PromiseLike<Refusal>) | undefined;
  /** Sends the requests. A model's own `fetch` wins. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
}

type Owner = string | null | undefined;
type Refusal = string | null | undefined;

/** The part of the context of a Worker by which work outlives a response. */
export interface ProxyContext {
  waitUntil(work: Promise<unknown>): void;
}

const TABLE = {
  models: "any!",
  authorize: "function!",
  quota: "any",
  base: "string",
  origins: "texts",
  maxBodyBytes: "count",
  serverTools: "boolean",
  refuse: "function",
  fetch: "function",
} as const;

/** The headers of a page that reach a vendor. Its cookies and its own keys do not. */
const PASSED_ON = ["accept", "anthropic-beta", "anthropic-version"];

/** The headers of a vendor that reach the page: those that looplet reads. */
const PASSED_BACK = ["request-id", "retry-after", "retry-after-ms", "x-request-id", "x-should-retry"];

/**
 * Passes the model calls of a page on to vendors, with your keys. A page reaches it by the option `baseUrl` of its
 * models: `/api/anthropic`, `/api/openai`, `/api/google`, or `/api/` and the name of another vendor. The second
 * argument is the context of a Worker.
 *
 * @example
 * ```ts
 * import { anthropic } from "looplet";
 * import { proxy } from "looplet/proxy";
 *
 * export const handle = proxy({
 *   models: [anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY, maxOutputTokens: 8_000 })],
 *   authorize: (request) => /\bsession=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1],
 * });
 * // Mount it under `/api`, for pages with `baseUrl: "/api/anthropic"`.
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function proxy(
  options: ProxyOptions,
): (request: HostRequest, context?: ProxyContext) => Promise<HostResponse> {
  const route = new Route(checkOptions(options, "", TABLE));
  return (request, context) => route.answer(request, context);
}

/** A request that is not passed on. */
class Refused extends Error {
  readonly status: number;
  readonly type: string;
  readonly headers: readonly [string, string][];
  /** Whether the vendor may have worked on the request. */
  isSent = false;

  constructor(
    status: number,
    message: string,
    type = "proxy_error",
    headers: readonly [string, string][] = [],
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.headers = headers;
  }
}

/** looplet tries again after a rate limit, and not after a quota that is used up. */
function overQuota({ message, retryAfterMs }: QuotaRefusal): Refused {
  if (retryAfterMs === undefined) return new Refused(429, message, "insufficient_quota");
  const seconds = String(Math.ceil(retryAfterMs / 1000));
  return new Refused(429, message, "rate_limit_error", [["retry-after", seconds]]);
}

/** The response of a vendor. */
interface VendorAnswer {
  readonly response: Response;
  /** Takes the secrets of the request out of a text. */
  readonly redact: (text: string) => string;
}

/** The target of a request. */
interface Asked {
  readonly vendor: string;
  /** The path after the vendor. */
  readonly path: string;
  /** The model, if the path names it. */
  readonly model: string | undefined;
  readonly upstreams: readonly Upstream[];
}

class Route {
  readonly #options: ProxyOptions;
  readonly #base: string;
  readonly #maxBodyBytes: number;
  readonly #upstreams: readonly Upstream[];

  constructor(options: ProxyOptions) {
    const { models, quota, base = "/api", maxBodyBytes = 10_000_000, fetch } = options;
    this.#options = options;
    this.#maxBodyBytes = maxBodyBytes;
    this.#base = base.replace(/\/+$/, "");
    if (!Array.isArray(models) || models.length === 0)
      throw new LoopletError("config_wrong_type", "models", "needs a list of models");
    this.#upstreams = models.map((model, at) => upstreamOf(model as Model, `models[${at}]`, fetch));
    for (const [at, origin] of (options.origins ?? []).entries())
      if (!URL.canParse(origin) || new URL(origin).origin !== origin)
        throw new LoopletError(
          "config_invalid_value",
          `origins[${at}]`,
          "needs an origin, as https://app.example",
        );
    if (quota === undefined) return;
    checkQuota(quota);
    const free = this.#upstreams.findIndex(({ price }) => price === undefined);
    if (quota.needsPrice && free >= 0)
      throw new LoopletError("config_missing", `models[${free}].price`, "is needed by the quota in dollars");
  }

  async answer(request: Request, context: ProxyContext | undefined): Promise<Response> {
    const cors = this.#cors(request);
    try {
      if (cors === undefined) throw new Refused(403, "This origin is not allowed.");
      if (request.method === "OPTIONS")
        return new Response(null, { status: 204, headers: preflight(request, cors) });
      const response = await this.#answered(request, context);
      for (const [name, value] of cors) response.headers.set(name, value);
      return response;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, message, type, headers } = error;
      const body = JSON.stringify({ error: { type, code: type, message } });
      return new Response(body, {
        status,
        headers: [...(cors ?? []), ...headers, ...headersOf("application/json")],
      });
    }
  }

  /** The CORS headers for a page of another origin. Undefined if the origin is not allowed. */
  #cors({ headers, url }: Request): [string, string][] | undefined {
    const origin = headers.get("origin");
    const vary: [string, string] = ["vary", "origin"];
    if (origin === null || headers.get("sec-fetch-site") === "same-origin") return [vary];
    if (origin === new URL(url).origin) return [vary];
    if (!this.#options.origins?.includes(origin)) return undefined;
    return [vary, ["access-control-allow-origin", origin], ["access-control-allow-credentials", "true"]];
  }

  async #answered(request: Request, context: ProxyContext | undefined): Promise<Response> {
    const asked = this.#asked(request);
    if (request.method !== "POST")
      throw new Refused(405, "The proxy accepts only POST.", "proxy_error", [["allow", "POST, OPTIONS"]]);
    // A page of another origin may send every other type without asking first.
    if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? ""))
      throw new Refused(415, "The body needs the content-type application/json.");
    const owner = await this.#options.authorize(request);
    if (typeof owner !== "string" || owner === "") throw new Refused(401, "Sign in first.");
    const bytes = await readBytes(request, this.#maxBodyBytes);
    if (bytes === undefined) throw new Refused(413, `The body is longer than ${this.#maxBodyBytes} bytes.`);
    const body = bodyOf(bytes);
    const upstream = this.#chosen(asked, body);
    const { vendor, model } = upstream.parts.config;
    const size = sizeOf(upstream.protocol, upstream.parts.config, body, bytes);
    const most = mostOf(size, upstream.price);
    const call = { owner, vendor, model, most };
    const refusal = await this.#options.refuse?.(body, call);
    if (refusal) throw new Refused(403, refusal);
    const { quota } = this.#options;
    const full = await quota?.begin(call);
    if (full) throw overQuota(full);
    let settle = (): void => {};
    // From the start: a Worker may stop when the page disconnects, before the usage is written.
    if (quota !== undefined) context?.waitUntil(new Promise<void>((resolve) => (settle = resolve)));
    let ended: Promise<void> | undefined;
    const end = (usage: ProxyUsage): Promise<void> =>
      (ended ??= (async () => quota?.end(call, usage))().catch(reportUncaught).finally(settle));
    try {
      const answer = await this.#sent(request, asked.path, upstream, bytes);
      return this.#passed(request, answer, upstream, size, end);
    } catch (error) {
      const isCounted = error instanceof Refused && error.isSent;
      await end(isCounted ? most : NOTHING);
      throw error;
    }
  }

  /** @throws Refused 404 */
  #asked({ url }: Request): Asked {
    const { pathname, search } = new URL(url);
    const nothing = new Refused(404, "Not found. Send a POST request to a path of the vendor's API.");
    if (!pathname.startsWith(`${this.#base}/`)) throw nothing;
    const rest = pathname.slice(this.#base.length + 1);
    const slash = rest.indexOf("/");
    const vendor = rest.slice(0, Math.max(0, slash));
    const path = rest.slice(vendor.length);
    const known = this.#upstreams.filter(({ parts }) => parts.config.vendor === vendor);
    const asked = known
      .flatMap(({ protocol }) => protocol.read(path) ?? [])
      .find(({ query }) => query === search);
    if (asked === undefined) throw nothing;
    const upstreams = known.filter(({ protocol }) => protocol.read(path)?.path === asked.path);
    return { vendor, path: asked.path + asked.query, model: asked.model, upstreams };
  }

  /** The model that a body requests. @throws Refused */
  #chosen({ upstreams, model = "" }: Asked, body: Body): Upstream {
    const name = model === "" ? body["model"] : model;
    const upstream = upstreams.find(({ parts }) => parts.config.model === name);
    if (upstream === undefined) throw new Refused(403, "This model is not for you.");
    const { protocol, parts } = upstream;
    const { body: fields, double } = foldedBody(body);
    if (double !== undefined)
      throw new Refused(400, `The body has the field ${JSON.stringify(double)} twice, in two spellings.`);
    const odd = oddSpelling(body, protocol.spellings, protocol.isProtobuf === true);
    if (odd !== undefined)
      throw new Refused(400, `The field ${JSON.stringify(odd)} is not spelled as the vendor spells it.`);
    const places = placesIn(fields);
    const isSet = (field: string): boolean => places.some((place) => (place[folded(field)] ?? null) !== null);
    // If the path names the model, a gateway may still read the one in the body.
    const isOther = places.some(
      ({ model: own = null }) => own !== null && own !== name && own !== `models/${name}`,
    );
    if (isOther) throw new Refused(403, "The field model must not name other models.");
    const other = OTHER_MODELS.find(isSet);
    if (other !== undefined) throw new Refused(403, `The field ${other} must not name other models.`);
    if (!asksForOne(fields)) throw new Refused(403, "One request asks for one answer.");
    if (this.#options.serverTools !== true) {
      const field = [...protocol.beside, ...BESIDE].find(isSet) ?? dearField(places);
      if (field !== undefined) throw new Refused(403, `The field ${field} is not for you.`);
      if (serverToolIn(protocol, fields))
        throw new Refused(403, "This proxy does not allow tools that run at the vendor.");
      const foreign = foreignObject(body, upstream);
      if (foreign !== undefined)
        throw new Refused(403, `The field ${foreign} names something that is not in the request.`);
    }
    const most = parts.config.maxOutputTokens;
    const wanted = protocol.maxTokens(fields);
    const isBound =
      wanted.length > 0 &&
      [...wanted, ...boundsIn(fields)].every((bound) => isCount(bound, most ?? Infinity));
    if (most != null && !isBound)
      throw new Refused(403, `The field ${protocol.maxTokensField} needs a number up to ${most}.`);
    return upstream;
  }

  /** The vendor's response. @throws Refused 502 */
  async #sent(
    request: Request,
    path: string,
    upstream: Upstream,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<VendorAnswer> {
    const { parts, base, auth } = upstream;
    const url = base + path;
    const own: [string, string][] = PASSED_ON.flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    own.push(["content-type", "application/json"]);
    const given = parts.config.headers ?? [];
    const kept = own.filter(([name]) => !given.some(([known]) => known === name));
    const before: [string, string][] = [...kept, ...given];
    let headers: [string, string][] = before;
    let redact = (text: string): string => text;
    let isSending = false;
    try {
      headers = await authorizeRequest(parts, {
        method: "POST",
        url,
        headers: before,
        body: bytes,
        auth,
      } as never);
      redact = redactor(secretsOf(kept, headers));
      const init = {
        method: "POST",
        headers,
        body: bytes,
        redirect: "manual",
        signal: request.signal,
      } as never;
      request.signal.throwIfAborted();
      isSending = true;
      const sent = fetchOnce(parts.fetch ?? this.#options.fetch, url, init) as unknown as Promise<Response>;
      // The host's `fetch` might ignore the signal.
      const response = await untilLeft(Promise.resolve(sent), request.signal, cancelBody);
      isSending = false;
      const isRedirect = redirectOf(response as never, url) !== undefined;
      // The vendor refuses the proxy's key. The page must not see that.
      const { status } = response;
      const isKnown = status >= 200 && status < 600;
      if (!isRedirect && isKnown && status !== 401 && status !== 403)
        return { response: response.ok ? response : await errorOf(response, redact, request.signal), redact };
      cancelBody(response);
      const refusal = `${isKnown ? "refuses the key" : "answers"} with status ${status}`;
      throw new Error(`${upstream.parts.config.vendor} ${isRedirect ? "answers with a redirect" : refusal}`);
    } catch (error) {
      const problem = redact(`looplet/proxy: ${describeError(error)}`);
      if (!request.signal.aborted) reportUncaught(new Error(problem));
      const refused = new Refused(502, "The vendor did not answer. See the proxy's log for the reason.");
      refused.isSent = isSending && (request.signal.aborted || isLost(error));
      throw refused;
    }
  }

  /** The response for the page. Its body is the vendor's, looked at as it passes. */
  #passed(
    request: Request,
    { response, redact }: VendorAnswer,
    { protocolName, price }: Upstream,
    size: SentSize,
    end: (usage: ProxyUsage) => Promise<void>,
  ): Response {
    const type = response.headers.get("content-type") ?? "";
    const form = formOf(type);
    const headers = headersOf(form === "other" ? "text/plain" : redact(type));
    for (const name of PASSED_BACK) {
      const value = response.headers.get(name);
      if (value !== null) headers.push([name, redact(value)]);
    }
    const { status, body } = response;
    if (isBodyless(status)) {
      cancelBody(response);
      void end(new UsageReader(protocolName, form).spent(true, size, price));
      return new Response(null, { status, headers });
    }
    const reader = body?.getReader();
    const usage = new UsageReader(protocolName, form);
    const failed = TIMED_OUT.includes(status) ? mostOf(size, price) : NOTHING;
    const over = (isOver: boolean): Promise<void> =>
      end(response.ok ? usage.spent(isOver, size, price) : failed);
    // If a page neither reads nor cancels the answer, only the request's signal shows that it disconnected.
    const leave = (): void => {
      void Promise.allSettled([reader?.cancel(), over(false)]);
    };
    if (request.signal.aborted) leave();
    else request.signal.addEventListener("abort", leave, { once: true });
    const silence = new KeepAlive<ReadableStreamReadResult<Uint8Array>>();
    let [isWhole, isLeft] = [true, false];
    const passed = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const read = async (): Promise<ReadableStreamReadResult<Uint8Array>> =>
            (await reader?.read()) ?? { done: true, value: undefined };
          let came = form === "events" ? await silence.next(read) : await read();
          // Between two events a comment may come, and within one it would cut the event in two.
          if (came === undefined && isWhole && !isLeft) return controller.enqueue(COMMENT);
          while (came === undefined && !isLeft) came = await silence.next(read);
          if (came === undefined) return;
          const { done, value } = came;
          if (value !== undefined) {
            usage.look(value);
            if (value.length > 0) isWhole = endsEvent(value);
            return controller.enqueue(value);
          }
          if (done) await over(true);
          controller.close();
        } catch {
          await over(false);
          // The platform's error text could contain an address.
          controller.error(new Error("The answer has broken off."));
        }
      },
      cancel(reason) {
        isLeft = true;
        silence.stop();
        return Promise.allSettled([reader?.cancel(reason), over(false)]).then(() => {});
      },
    });
    return new Response(passed, { status, headers });
  }
}

const COMMENT = new TextEncoder().encode(KEEP_ALIVE);

/** Whether these bytes end with the empty line after an event. A line that is cut in two counts as incomplete. */
function endsEvent(bytes: Uint8Array): boolean {
  return /\n\r?\n$|\r\r$/.test(new TextDecoder().decode(bytes.subarray(-3)));
}

/** Statuses with no response body (https://fetch.spec.whatwg.org/#null-body-status). 304 counts as a redirect. */
function isBodyless(status: number): boolean {
  return status === 204 || status === 205;
}

const NOTHING: ProxyUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0, isReported: true };

/** The body of a request, if every parser reads the same in it. @throws Refused 400 */
function bodyOf(bytes: Uint8Array): Body {
  let text: string;
  let body: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    body = JSON.parse(text);
  } catch {
    throw new Refused(400, "The body is not JSON.");
  }
  if (!isObject(body)) throw new Refused(400, "The body needs a JSON object.");
  const field = doubleField(text);
  if (field !== undefined) throw new Refused(400, `The body has the field ${JSON.stringify(field)} twice.`);
  return body as Body;
}

function headersOf(type: string): [string, string][] {
  return [
    ["content-type", type],
    ["cache-control", "no-store, no-transform"],
    ["x-content-type-options", "nosniff"],
  ];
}

function preflight({ headers }: Request, cors: readonly [string, string][]): [string, string][] {
  return [
    ...cors,
    ["access-control-allow-methods", "POST"],
    ["access-control-allow-headers", headers.get("access-control-request-headers") ?? "content-type"],
    ["access-control-max-age", "600"],
  ];
}
