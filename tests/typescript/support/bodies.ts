/** The body of a request, as your `fetch` gets it. */
import type { FetchInit } from "../../../src/typescript/core/api/index.js";

export function bodyText({ body }: Pick<FetchInit, "body">): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(body);
}

export function bodyJson(init: Pick<FetchInit, "body">): any {
  return JSON.parse(bodyText(init));
}

/** A request whose body is `body` in JSON. */
export function initOf(body: unknown): FetchInit {
  return {
    method: "POST",
    headers: new Headers(),
    body: new TextEncoder().encode(JSON.stringify(body)),
    signal: new AbortController().signal,
    redirect: "manual",
  };
}
