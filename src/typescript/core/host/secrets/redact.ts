/**
 * Removes the secrets of a request from its failure, wherever the server repeats them.
 *
 * Only the words of a failure are searched. The text of an answer is not, because that would slow down every stream.
 */
import type { Failure } from "../../api/index.js";
import { requestUrl } from "../../models/models.js";
import { soundsSecret } from "../../options/secret-name.js";
import { find, MIN_LETTERS, needleOf, readingsOf, replaced, type Needle, type Place } from "./occurrences.js";

const REDACTED = "[redacted]";

type Pair = readonly [name: string, value: string];

/**
 * The values of `after` that `before` lacks or whose header sounds secret, without a scheme such as `Bearer`, longest
 * first.
 */
export function secretsOf(before: readonly Pair[], after: readonly Pair[]): string[] {
  const secrets: string[] = [];
  for (const [added, text] of after) {
    const name = added.toLowerCase();
    const value = text.trim();
    const isGiven = before.some(([known, given]) => known.toLowerCase() === name && given === text);
    if (isGiven && !soundsSecret(name)) continue;
    secrets.push(value, value.replace(/^[A-Za-z][\w-]* +(?=\S+$)/, ""));
    if (name === "cookie")
      secrets.push(...value.split(/; */).map((pair) => pair.slice(pair.indexOf("=") + 1)));
    else secrets.push(...basicSecrets(value));
  }
  return longestFirst(secrets);
}

function longestFirst(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= MIN_LETTERS);
  return [...new Set(long)].sort((a, b) => b.length - a.length);
}

/** The name with the password, and the password, of Basic authentication. */
function basicSecrets(value: string): string[] {
  const coded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(value)?.[1];
  if (coded === undefined) return [];
  try {
    const pair = atob(coded);
    return [pair, pair.slice(pair.indexOf(":") + 1)];
  } catch {
    return [];
  }
}

/**
 * The secrets of an address: its password, the values of its query, and the levels of its path that look like keys.
 * Some services give an address that is itself a key.
 */
export function urlSecrets(url: string): string[] {
  const read = readUrl(url);
  if (read === undefined) return [];
  const { username, password, searchParams, search, pathname } = read;
  const written = search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  const levels = pathname.split("/").filter(isKeyLike);
  const parts = [username, password, ...levels].flatMap((part) => [part, unescaped(part)]);
  return longestFirst([...parts, ...written, ...searchParams.values()]);
}

/**
 * An address for an error, as `fetch` reads it: without a name, a password, a query, and levels that look like keys.
 * In `https://one.test\@two.test` the host is `one.test`, whatever comes last.
 */
export function shownUrl(url: string): string {
  const read = readUrl(url);
  if (read === undefined) return "an address that cannot be read";
  const { protocol, host, pathname } = read;
  const path = pathname
    .split("/")
    .map((level) => (isKeyLike(level) ? "…" : level))
    .join("/");
  // A page completes an address without a scheme or a host.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.test(url.trim()) ? protocol : "";
  const place = host === PAGE_HOST ? "" : host === "" ? scheme : `${scheme}//${host}`;
  const isWritten = path !== "/" || place === "" || /^[^?#]*[^/?#]\/(?:$|[?#])/.test(url);
  return isWritten ? place + path : place;
}

const PAGE_HOST = "page.invalid";

/** Undefined for an address that `fetch` refuses. */
export function readUrl(url: string): URL | undefined {
  try {
    return new URL(url, `http://${PAGE_HOST}`);
  } catch {
    return undefined;
  }
}

/** True for 16 characters and more with digits and letters, as no word has them. */
function isKeyLike(level: string): boolean {
  return level.length >= 16 && /\d/.test(level) && /[a-z]/i.test(level);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `failure` without the secrets of its request. Without a request nothing of the server's words is kept. */
export function redactFailure(failure: Failure, secrets: readonly string[] | undefined): Failure {
  const clean = (text: string): string => (secrets === undefined ? REDACTED : redact(text, secrets));
  const { message, requestId, vendorCode, body, url } = failure;
  return {
    ...failure,
    message: clean(message),
    // The address is yours, and no word of the server.
    ...(url == null ? {} : { url: redact(resolved(url), secrets ?? []) }),
    ...(requestId == null ? {} : { requestId: clean(requestId) }),
    ...(vendorCode == null ? {} : { vendorCode: clean(vendorCode) }),
    ...(body == null ? {} : { body: clean(body) }),
  };
}

/** The address as the page completes it. */
function resolved(url: string): string {
  try {
    return requestUrl(url);
  } catch {
    return url;
  }
}

/**
 * `text` without the secrets, as they are, escaped for JSON or for a URL, or in base64. A text that was cut off may
 * end with the beginning of a secret, which goes too. `mark` returns its replacement.
 */
export function redact(text: string, secrets: readonly string[], mark?: (found: string) => string): string {
  return redactor(secrets)(text, mark);
}

/** A {@link redact} for many texts, which prepares the search once. */
export function redactor(
  secrets: readonly string[],
): (text: string, mark?: (found: string) => string) => string {
  let needles: readonly Needle[] | undefined;
  return (text, mark = () => REDACTED) => {
    if (secrets.length === 0) return text;
    // A secret, and its base64 with the letters on both sides, which have bits of it.
    needles ??= secrets.flatMap((secret) => [
      needleOf(secret),
      ...base64Forms(secret).map((form) => needleOf(form, true)),
    ]);
    const places: Place[] = [];
    const readings = readingsOf(text);
    for (const needle of needles) for (const reading of readings) find(needle, reading, places);
    return replaced(text, places, mark);
  };
}

/** The base64 of a secret behind 0, 1 and 2 other bytes, in both alphabets, without the characters that it shares. */
function base64Forms(secret: string): string[] {
  // A header with other characters is refused before it is sent.
  if (/[^\0-\xff]/.test(secret)) return [];
  const forms = [0, 1, 2].flatMap((before) => {
    const text = btoa("\0".repeat(before) + secret);
    const whole = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + secret.length) * 8) / 6));
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...new Set(forms)];
}
