/** The address of a server with an agent: its requests, their headers and their failures. */
import { LoopletError } from "../../../core/api/errors.js";
import type { HostResponse } from "../../../core/api/platform.js";
import { errorOf } from "../protocol.js";

/** Headers of each request, or your function that makes them. */
export type AddressHeaders =
  | { readonly [name: string]: string }
  | (() => { readonly [name: string]: string } | PromiseLike<{ readonly [name: string]: string }>);

/** What {@link Address} needs of a `fetch`. */
export type AddressFetch = (url: string, init: AddressInit) => PromiseLike<HostResponse>;

export interface AddressInit {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly keepalive?: boolean;
}

/** A response with an error; `cause` is that error in words. */
export class AddressError extends Error {
  readonly status: number;

  constructor(status: number, cause: Error) {
    super(cause.message, { cause });
    this.status = status;
  }

  /** Whether the server may take the same request later. */
  get isPassing(): boolean {
    return [408, 409, 429].includes(this.status) || this.status > 500;
  }
}

export class Address {
  readonly url: string;
  readonly #headers: AddressHeaders;
  readonly #fetch: AddressFetch;

  constructor(
    url: string,
    headers: AddressHeaders = {},
    fetch: AddressFetch = (url, init) => globalThis.fetch(url, init),
  ) {
    this.url = url.replace(/\/+$/, "");
    this.#headers = headers;
    // Workers refuse a fetch that is called as a method of another object.
    this.#fetch = (url, init) => fetch(url, init);
  }

  /** @throws AddressError if the status is an error, and what `fetch` throws */
  async send(path: string, init: AddressInit): Promise<HostResponse> {
    const own = typeof this.#headers === "function" ? await this.#headers() : this.#headers;
    const headers = { ...init.headers, ...own };
    const response = await this.#fetch(`${this.url}/${path}`, { ...init, headers });
    if (response.ok) return response;
    throw new AddressError(response.status, await refusalOf(response));
  }
}

/** The error of a response. Those of looplet are `LoopletError`s again. */
async function refusalOf(response: HostResponse): Promise<Error> {
  const said = await response.json().catch(() => ({}));
  const { error, code, field, problem } = Object(said) as { [name: string]: string | undefined };
  const message = error ?? `The server answered with status ${response.status}.`;
  if (code === undefined) return new Error(message);
  return errorOf({
    name: "LoopletError",
    message,
    code,
    ...(field && { field }),
    problem: problem ?? message,
  });
}

/** A method that belongs to the server. */
export function notHere(method: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", method, "belongs to the server: call it there");
}
