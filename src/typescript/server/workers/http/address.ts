/** The address of a server with an agent: its requests, their headers and their failures. */
import { LoopletError } from "../../../core/api/errors.js";
import type { HostResponse } from "../../../core/api/platform.js";
import { fetchOnce, cancelBody, redirectOf } from "../../../core/kit/http.js";
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
  readonly redirect?: "manual";
}

/** A response with an error; `cause` is that error in words. */
export class AddressError extends Error {
  readonly status: number;

  constructor(status: number, cause: Error) {
    super(cause.message, { cause });
    this.status = status;
  }

  /** Whether the server may accept the request later. */
  get isPassing(): boolean {
    return [408, 409, 429].includes(this.status) || this.status > 500;
  }
}

export class Address {
  readonly url: string;
  /** Called when the server becomes unreachable, and when it is reached again. */
  onChange: (isReached: boolean) => void = () => {};
  #isReached = true;

  get isReached(): boolean {
    return this.#isReached;
  }

  readonly #headers: AddressHeaders;
  readonly #fetch: AddressFetch | undefined;

  constructor(url: string, headers: AddressHeaders = {}, fetch?: AddressFetch) {
    this.url = url.replace(/\/+$/, "");
    this.#headers = headers;
    this.#fetch = fetch;
  }

  /** @throws AddressError if the status is an error, and what `fetch` throws */
  async send(path: string, init: AddressInit): Promise<HostResponse> {
    const own = typeof this.#headers === "function" ? await this.#headers() : this.#headers;
    const headers = { ...init.headers, ...own };
    let status = 0;
    try {
      const url = `${this.url}/${path}`;
      const response = await fetchOnce<PromiseLike<HostResponse>>(this.#fetch, url, { ...init, headers });
      ({ status } = response);
      const redirect = redirectOf(response as never, url);
      if (redirect !== undefined) {
        // A browser hides the status of a redirect.
        ({ status } = redirect);
        cancelBody(response);
        throw new AddressError(status, redirected(redirect));
      }
      if (response.ok) return response;
      throw new AddressError(status, await refusalOf(response));
    } finally {
      // Statuses above 500 mean that the agent is unreachable from the responding server.
      if (init.signal?.aborted !== true) this.#note(status > 0 && status <= 500);
    }
  }

  #note(isReached: boolean): void {
    if (isReached === this.#isReached) return;
    this.#isReached = isReached;
    this.onChange(isReached);
  }
}

function redirected({ status, headers }: NonNullable<ReturnType<typeof redirectOf>>): Error {
  const origin = headers.find(([name]) => name === "location")?.[1] ?? "an address that is hidden here";
  const problem = `redirects to ${origin} (status ${status}), and no redirect is followed; give the address to which it leads`;
  return Object.assign(new LoopletError("misuse_invalid_argument", "url", problem), { status });
}

/** The error of a response, with its `status`. Those of looplet are `LoopletError`s again. */
async function refusalOf(response: HostResponse): Promise<Error> {
  const said = await response.json().catch(() => ({}));
  const { error, code, field, problem } = Object(said) as { [name: string]: string | undefined };
  const { status } = response;
  const message = error ?? `The server answered with status ${status}.`;
  if (code === undefined) return Object.assign(new Error(message), { status });
  const refusal = {
    name: "LoopletError",
    message,
    code,
    ...(field && { field }),
    problem: problem ?? message,
  };
  return Object.assign(errorOf(refusal), { status });
}

/** A method that belongs to the server. */
export function notHere(method: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", method, "belongs to the server: call it there");
}
