/** The bodies of a model's responses, as the vendor sent them. */
import type { Fetch } from "../api/index.js";

export class RawResponses {
  #last: Promise<string | undefined> = Promise.resolve(undefined);

  /** The body of the last response; `undefined` if it was not read to its end. */
  get last(): Promise<string | undefined> {
    return this.#last;
  }

  /** A function that sends requests with `fetch` and keeps the bodies of their responses. */
  around(fetch: Fetch): Fetch {
    return async (url, init) => {
      const response = (await fetch(url, init)) as Response;
      if (!(response.body instanceof ReadableStream)) return response;
      const [own, kept] = response.body.tee();
      this.#last = new Response(kept).text().catch(() => undefined);
      const { status, statusText, headers } = response;
      return new Response(own, { status, statusText, headers });
    };
  }
}
