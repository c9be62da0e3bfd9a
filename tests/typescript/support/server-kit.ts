import { handler, type Handler, type HandlerOptions } from "looplet/server";
import { connectAgent, type AddressOptions, type RemoteAgent } from "looplet/workers";
import { ends, Kit } from "./worker-kit.js";

export const BASE = "http://server.test/api/agent";

/** A server of a kit's agent. A request's header `user` is its owner. */
export class Server {
  readonly kit: Kit;
  readonly #options: Partial<HandlerOptions<Request>>;
  #handle: Handler<Request>;
  /** Performs the requests in the place of the server, such as a network that fails. */
  between: (request: Request, handle: (request: Request) => Promise<Response>) => Promise<Response> = (
    request,
    handle,
  ) => handle(request);

  constructor(kit = new Kit(), options: Partial<HandlerOptions<Request>> = {}) {
    this.kit = kit;
    this.#options = options;
    this.#handle = this.#started();
  }

  #started(): Handler<Request> {
    const { store } = this.kit;
    const authorize = ({ headers }: Request): string | undefined => headers.get("user") ?? undefined;
    return handler<Request>(this.kit.agent(), { store, authorize, base: "/api/agent", ...this.#options });
  }

  /** Another process on the same store. The connections of the one before are broken. */
  restart(): void {
    this.kit.live();
    for (const cut of this.#open.splice(0))
      try {
        cut();
      } catch {
        // It was closed.
      }
    this.#handle = this.#started();
  }

  wake(): Promise<void> {
    return this.#handle.wake();
  }

  readonly #open: (() => void)[] = [];

  readonly fetch = (url: string, init: object = {}): Promise<Response> =>
    this.between(new Request(url, init), async (request) => {
      const response = await this.#handle(request);
      return response.body === null ? response : new Response(this.#cuttable(response.body), response);
    });

  #cuttable(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) =>
          void this.#open.push(() => controller.error(new Error("The connection is lost."))),
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  asked(path: string, init: { user?: string | null; [name: string]: unknown } = {}): Promise<Response> {
    const { user = "ada", headers, ...rest } = init;
    const all = { ...(user === null ? {} : { user }), ...(headers as object) };
    return this.fetch(`${BASE}${path}`, { ...rest, headers: all });
  }

  async get(path: string, user = "ada"): Promise<any> {
    const response = await this.asked(path, { user });
    return { status: response.status, ...(response.status === 204 ? {} : await response.json()) };
  }

  async post(path: string, body: unknown, user = "ada"): Promise<any> {
    const response = await this.asked(path, { user, method: "POST", body: JSON.stringify(body) });
    return { status: response.status, ...(response.status === 204 ? {} : await response.json()) };
  }

  page(user = "ada", options: AddressOptions = {}): RemoteAgent {
    const agent = connectAgent(BASE, { headers: { user }, fetch: this.fetch as never, ...options });
    ends.push(() => agent.disconnect());
    return agent;
  }
}

/** The events of a response up to the one that `isLast`. */
export async function eventsIn(
  response: Response,
  isLast: (event: any) => boolean = ({ type }) => type === "finish",
): Promise<any[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events: any[] = [];
  for (let text = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return events;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const { id, data } = /^id: (?<id>\S+)\ndata: (?<data>.*)$/.exec(block)?.groups ?? {};
      if (data === undefined) continue;
      events.push({ id, ...JSON.parse(data) });
      if (!isLast(events.at(-1))) continue;
      await reader.cancel();
      return events;
    }
  }
}
