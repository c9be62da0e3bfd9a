/** Pages of the web for WebFetch: without keys, from public addresses, within limits. */
import { send, SendError, type FetchLike, type LimitedResponse } from "../../core/kit/send.js";
import { failed } from "./files.js";
import type { WebFetchPort } from "./ports.js";

export interface PageOptions {
  /** FetchLike the requests. Default: the global `fetch`. */
  fetch?: FetchLike | undefined;
  /**
   * Contract: called with each address before it is requested, also for redirects. Return false to refuse it.
   * Default: addresses of your own network are refused by name and number. A DNS name that resolves to one is not
   * detected.
   */
  allows?: ((url: string) => boolean) | undefined;
  /** The most bytes of a page. Default 2 MiB. */
  maxBytes?: number | undefined;
  /** The most characters that the model gets. Default 100,000. */
  maxChars?: number | undefined;
  /** The time limit for a page, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
}

/** The most redirects on one host. */
const MAX_REDIRECTS = 5;

/**
 * The port of WebFetch: the text of a page. A redirect on the same host is followed. A redirect to another host is
 * reported to the model, which requests the address in a new call, so that rules on domains apply to it.
 */
export function fetchPages(options: PageOptions = {}): WebFetchPort {
  const { fetch, allows = isPublic, maxBytes = 2 ** 21, maxChars = 100_000, timeoutMs = 60_000 } = options;
  return async (asked, { signal }) => {
    let url = addressOf(asked);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      if (!allows(url.href))
        throw failed("refused_url", `${url.origin} is not an address that may be fetched.`);
      try {
        const place = `GET ${url.origin}`;
        const headers = { accept: "text/markdown, text/html, text/plain, */*" };
        const answer = await send({ url: url.href, place, method: "GET", headers, fetch, signal, timeoutMs });
        return await textOf(answer, url, maxBytes, maxChars);
      } catch (error) {
        if (!(error instanceof SendError)) throw error;
        const next = error.target === undefined ? undefined : addressOf(error.target, url);
        if (next === undefined) throw failed(error.code, error.message);
        if (next.host !== url.host || (url.protocol === "https:" && next.protocol === "http:"))
          return `The page redirects to another host: ${next.href}\nCall WebFetch with this address if you need it.`;
        url = next;
      }
    }
    throw failed("redirected", `${url.origin} redirects more than ${MAX_REDIRECTS} times.`);
  };
}

async function textOf(
  answer: LimitedResponse,
  url: URL,
  maxBytes: number,
  maxChars: number,
): Promise<string> {
  const type = answer.header("content-type") ?? "text/plain";
  const isText = /^(?:text\/|application\/(?:[\w.-]{1,60}\+)?(?:json|xml|javascript)\b)/i.test(type);
  if (answer.status < 200 || answer.status > 299 || !isText) {
    answer.end();
    const why = isText ? `status ${answer.status}` : `no text but ${type.slice(0, 100)}`;
    throw failed("http", `${url.origin} answered with ${why}.`);
  }
  const text = await answer.text({ left: maxBytes });
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}\n[The page is longer.]`;
}

/** @throws ToolError for an address that does not begin with http or https, or has a user name and a password */
function addressOf(text: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw failed("invalid_url", "url is not an address");
  }
  if (!/^https?:$/.test(url.protocol)) throw failed("invalid_url", "url must begin with http:// or https://");
  if (url.username !== "" || url.password !== "")
    throw failed("invalid_url", "url must have no name and no password");
  return url;
}

/** False for an address of this machine or of a private network. */
function isPublic(address: string): boolean {
  // The platform writes every form of a number in one way.
  const host = new URL(address).hostname.replace(/\.$/, "");
  if (host.startsWith("[")) return /^\[2[0-9a-f]{3}:/.test(host) && !host.startsWith("[2002:");
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(host))
    return host.includes(".") && !/\.(?:localhost|local|internal|home\.arpa|lan)$/.test(host);
  const [first = 0, second = 0] = host.split(".").map(Number);
  const isPrivate =
    [0, 10, 127].includes(first) ||
    first >= 224 ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && [0, 168].includes(second)) ||
    (first === 198 && [18, 19].includes(second)) ||
    (first === 100 && second >= 64 && second < 128);
  return !isPrivate;
}
