/** Brings the return values and errors of your functions around a request into one form. */
import type { FailureCode } from "../api/index.js";
import type { ResponseLike } from "./driver.js";

/** The fields of a `Headers`, of an object with its methods, of pairs or of a plain object. */
export function headerPairs(headers: unknown): [string, string][] {
  return Array.from(entriesOf(headers), ([name, value]) => [String(name), String(value)]);
}

function entriesOf(headers: unknown): Iterable<[string, string]> {
  if (headers === null || typeof headers !== "object") return [];
  const { entries, forEach } = headers as Partial<Headers>;
  if (Symbol.iterator in headers) return headers as Iterable<[string, string]>;
  if (typeof entries === "function") return entries.call(headers as Headers);
  if (typeof forEach !== "function") return Object.entries(headers as { [name: string]: string });
  const pairs: [string, string][] = [];
  forEach.call(headers as Headers, (value, name) => pairs.push([name, value]));
  return pairs;
}

/**
 * The head of a redirect; undefined for any other response. Its `location` is the target's origin. A browser hides
 * the target and the status; a `fetch` of yours that has followed a redirect itself shows the target, and the
 * engine's words for it begin at the header `x-looplet-followed`.
 */
export function redirectOf(
  response: ResponseLike,
  asked: string,
): { status: number; headers: [string, string][] } | undefined {
  const { status, redirected, type, url } = response;
  const isHidden = redirected === true || type === "opaqueredirect";
  if (!isHidden && !(status >= 300 && status < 400)) return undefined;
  const headers = headerPairs(response.headers);
  const isLocation = ([name]: [string, string]): boolean => name.toLowerCase() === "location";
  const target = redirected === true ? url : headers.find(isLocation)?.[1];
  const others = headers.filter((pair) => !isLocation(pair));
  const origin = originOf(target, asked);
  if (origin !== undefined) others.push(["location", origin]);
  if (redirected === true) others.push(["x-looplet-followed", "1"]);
  return { status: isHidden ? 302 : status, headers: others };
}

function originOf(target: string | undefined, base: string): string | undefined {
  try {
    return target === undefined ? undefined : new URL(target, base).origin;
  } catch {
    return undefined;
  }
}

/** Checks the headers of `authorize`. Unlike a response's they can be wrong, and are then a mistake in your code. */
export function textPairs(pairs: Iterable<[string, string]>): [string, string][] {
  return Array.from(pairs, ([name, value]) => {
    if (typeof name !== "string" || typeof value !== "string")
      throw new TypeError("authorize must return pairs of strings");
    return [name, value];
  });
}

/** Releases the connection of a response that came too late. */
export function cancelBody(response: unknown): void {
  const body = (response as { body?: Partial<ReadableStream> } | undefined)?.body;
  if (typeof body?.cancel !== "function" || body.locked) return;
  void (async () => body.cancel!())().catch(() => {});
}

/** One line about a thrown value, with its causes. */
export function describeError(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const { name, message, cause } = error as Partial<Error>;
  if (message === undefined) return name ?? Object.prototype.toString.call(error);
  const text = name && name !== "Error" ? `${name}: ${message}` : message;
  return cause === undefined || cause === null ? text : `${text} (${describeError(cause)})`;
}

/** One line about the error with which `fetch` has rejected. Browsers hide the cause, so the line lists the usual ones. */
export function describeRejection(error: unknown): string {
  const text = describeError(error);
  return HIDDEN.test(text) ? `${text} (the browser hides why: CORS, a wrong base URL or no network)` : text;
}

/** The words of Chromium, Firefox and Safari for any failure of a network; a host may stand behind them. */
const HIDDEN = /^TypeError: (Failed to fetch|NetworkError when attempting to fetch|Load failed)/;

/**
 * The code of an error around a request. Before `fetch` it is the fault of `authorize`; code that answers in place of
 * a server says `custom_model` in the error's own `code`. Deno names the missing permission in a `NotCapable`, which
 * no further attempt brings.
 */
export function codeOf(error: unknown, isSent: boolean): FailureCode {
  if (!isSent) return "config_invalid";
  try {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    if (name === "NotCapable") return "config_invalid";
    return code === "custom_model" ? "custom_model" : "network";
  } catch {
    return "network";
  }
}
