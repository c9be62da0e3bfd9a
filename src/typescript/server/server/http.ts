/** Requests and responses with the members that every platform has. */
import type { HostRequest, HostResponse } from "../../core/api/platform.js";
import { isObject } from "../../core/kit/check.js";
import { isTooDeep, TOO_DEEP } from "../../extras/page-json.js";
import { readText } from "../proxy/body.js";
import { BadRequest } from "../workers/hosting/problems.js";

/** A request with the members that every platform has. */
export type RequestLike = HostRequest & {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
};

/** No cache may store what belongs to one user, and no browser may guess another content type. */
const PRIVATE = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** The platform's `Response`. Its type omits what Workers add. */
export const respond = (
  body: unknown,
  init: { status?: number; headers?: { [name: string]: string }; webSocket?: unknown } = {},
): HostResponse =>
  new (globalThis as unknown as { Response: new (body: unknown, init: object) => HostResponse }).Response(
    body,
    { ...init, headers: { ...PRIVATE, ...init.headers } },
  );

export const json = (value: unknown, status = 200): HostResponse =>
  respond(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

/** An error in the words for a client. */
export function wordsFor(error: unknown): { error: string } & BadRequest["more"] {
  if (!(error instanceof BadRequest)) {
    console.error("looplet: a request to a session has failed.", error);
    return { error: "The server cannot do this. Its log says why." };
  }
  return { error: error.message, ...error.more };
}

export function problem(error: unknown): HostResponse {
  return json(wordsFor(error), error instanceof BadRequest ? error.status : 500);
}

/** The most bytes of a body by default. */
export const MAX_BODY_BYTES = 4_194_304;

export function tooLong(maxBytes: number): BadRequest {
  return new BadRequest(`The body has more than ${maxBytes} bytes.`, 413);
}

/**
 * The body as text.
 *
 * @throws BadRequest 413 for a body with more bytes than `maxBytes`; it is not read to its end
 */
export async function textOf(request: RequestLike, maxBytes: number): Promise<string> {
  const isStream = (request as Partial<Request>).body !== undefined;
  const text = isStream ? await streamedText(request as Request, maxBytes) : await request.text();
  if (text === undefined) throw tooLong(maxBytes);
  return text;
}

async function streamedText(request: Request, maxBytes: number): Promise<string | undefined> {
  try {
    return await readText(request, maxBytes);
  } catch (error) {
    // A body that broke off has another error.
    if (error instanceof TypeError && !request.signal?.aborted)
      throw new BadRequest("The body is not text in UTF-8, or it broke off.", 400, {}, error);
    throw error;
  }
}

/** The JSON object of a body; an empty body is an empty object. @throws BadRequest */
export async function bodyOf(request: RequestLike, maxBytes: number): Promise<object> {
  const text = await textOf(request, maxBytes);
  return text === "" ? {} : parsed(text);
}

/** @throws BadRequest */
export function parsed(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequest("The body is not JSON.");
  }
  if (!isObject(value)) throw new BadRequest("The body needs a JSON object.");
  if (isTooDeep(value)) throw new BadRequest(`The body ${TOO_DEEP}.`);
  return value;
}
