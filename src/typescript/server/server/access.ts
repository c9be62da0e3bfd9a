/** Which origins may send requests, and to which paths. */
import { LoopletError } from "../../core/api/errors.js";
import type { RequestLike } from "./http.js";
import { BadRequest } from "../workers/hosting/problems.js";

/** The path segments after a session. */
export const WORDS = ["run", "stream", "events", "answer", "abort", "session", "call"];

export type AllowedOrigins = readonly string[] | "*" | undefined;

/** A text would also be found in parts. @throws LoopletError */
export function checkOrigins(allowed: AllowedOrigins): void {
  if (allowed === undefined || allowed === "*" || Array.isArray(allowed)) return;
  const problem = 'needs "*" or a list, as ["https://app.example"]';
  throw new LoopletError("config_wrong_type", "allowedOrigins", problem);
}

/** The last word of a path if the object knows it; otherwise `""`, the word for the session itself. */
export function wordOf(pathname: string, base: RegExp | undefined): string {
  const at = pathname.lastIndexOf("/");
  const last = pathname.slice(at + 1);
  const word = WORDS.includes(last) ? last : "";
  const rest = word === "" && last !== "" ? pathname : pathname.slice(0, at);
  // A global expression would continue its search after the last match.
  if (base !== undefined && rest.search(base) < 0) throw new BadRequest(`There is no ${pathname} here.`, 404);
  return word;
}

/**
 * Refuses a request from a page of another origin. A browser adds the origin of the page, and sends the user's
 * cookies for any page. A POST of such a page needs the content type `application/json`, because a browser sends
 * every other type without a preflight request, with the user's credentials.
 *
 * @throws BadRequest 403, 415
 */
export function refuseForeign(
  { headers, url, method }: RequestLike,
  allowed: readonly string[] | "*" | undefined,
): void {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isPost = method === "POST";
  // A link on another page sends no origin, and only the user sees the response.
  const isLink = !isPost && headers.get("sec-fetch-mode") === "navigate";
  // If there is no origin, the browser reports the site.
  const isNamed = origin !== null || (!isLink && (site === "cross-site" || site === "same-site"));
  if (!isNamed || site === "same-origin" || origin === new URL(url).origin) return;
  const isJsonAsked = !isPost || isJson(headers.get("content-type"));
  const isAllowed = allowed === "*" || (origin !== null && allowed?.includes(origin) === true);
  // Without a list, requests without cookies are the responsibility of the Worker in front.
  const isLeft = allowed === undefined && headers.get("cookie") === null && isJsonAsked;
  if (!isAllowed && !isLeft)
    throw new BadRequest(`Pages of ${origin ?? "another origin"} are not allowed to use this session.`, 403);
  if (!isJsonAsked) throw new BadRequest("The body needs the content-type application/json.", 415);
}

/** Whether the content type of a body is JSON. */
export function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? "");
}
