/**
 * Removes the secrets of a request from its failure, wherever the server repeats them.
 *
 * Only the words of a failure are searched. The text of an answer is not, because that would slow down every stream.
 */
import type { Failure } from "../api/index.js";
import { requestUrl } from "../models/models.js";
import { soundsSecret } from "../options/secret-name.js";

/** The shortest secret, in characters. Shorter values are not secrets, and removing them would garble texts. */
const MIN_SECRET_CHARS = 8;

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
  const long = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS);
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
 * The secrets of an address: its password, the values of its query, and the levels of its path that look like keys. Some
 * services give an address that is itself a key.
 */
export function urlSecrets(url: string): string[] {
  let read: URL;
  try {
    read = new URL(url, "http://page.invalid");
  } catch {
    return [];
  }
  const { username, password, searchParams, search, pathname } = read;
  const written = search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  const levels = pathname.split("/").filter(isKeyLike);
  const parts = [username, password, ...levels].flatMap((part) => [part, unescaped(part)]);
  return longestFirst([...parts, ...written, ...searchParams.values()]);
}

/** An address for an error: without a name, a password, a query, and levels that look like keys. */
export function shownUrl(url: string): string {
  const bare = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1").split(/[?#]/)[0]!;
  return bare
    .split("/")
    .map((level, at) => (at > 2 && isKeyLike(level) ? "…" : level))
    .join("/");
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
  const { message, requestId, body, url } = failure;
  return {
    ...failure,
    message: clean(message),
    // The address is yours, and no word of the server.
    ...(url == null ? {} : { url: redact(resolved(url), secrets ?? []) }),
    ...(requestId == null ? {} : { requestId: clean(requestId) }),
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
 * `text` without the secrets, as they are, escaped for JSON or for a URL, or in base64. A text that was cut off may end
 * with the beginning of a secret, which goes too. `mark` makes what stands in its place.
 */
export function redact(
  text: string,
  secrets: readonly string[],
  mark: (found: string) => string = () => REDACTED,
): string {
  return secrets.reduce((rest, secret) => {
    const forms = base64Forms(secret);
    const pattern = [patternOf(secret), ...forms.map((form) => EDGE + patternOf(form) + EDGE)].join("|");
    const searched = rest.replace(new RegExp(pattern, "gi"), (found) => mark(found));
    return [secret, ...forms].reduce((left, form) => withoutStart(left, form, mark), searched);
  }, text);
}

/** A pattern for the character of base64 that a secret shares with the byte beside it. It has bits of the secret. */
const EDGE = String.raw`(?:\\{0,4}[\w+/-]|\\{1,4}u00[0-9a-f]{2}|%(?:25){0,2}[0-9a-f]{2})?`;

/** A pattern for a text whose characters may be escaped. Its repetitions are bounded, so it takes linear time. */
function patternOf(text: string): string {
  return Array.from(text, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
    const plain = character.replace(/[^A-Za-z0-9]/, "\\$&");
    return `(?:\\\\{0,4}${plain}|\\\\{1,4}u00${hex}|%(?:25){0,2}${hex})`;
  }).join("");
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

function withoutStart(text: string, secret: string, mark: (found: string) => string): string {
  for (let length = secret.length - 1; length >= MIN_SECRET_CHARS; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + mark(text.slice(-length));
  }
  return text;
}
