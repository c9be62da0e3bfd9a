/** A server over a store that takes the journals of its runs and, from an event on, no entry of their logs. */
import type { JournalEntry, Store } from "looplet";
import { handler, type Handler, type HandlerOptions } from "looplet/server";
import { tick, type World } from "./processes.js";

export class LaggingServer {
  readonly #world: World;
  readonly #options: Partial<HandlerOptions<Request>>;
  #handle!: Handler<Request>;
  #crash = new Promise<never>(() => {});
  #broken = (_error: Error): void => {};

  /** The log of a session gets its first `events` events. The process crashes when its run has emitted `lag` more. */
  constructor(world: World, events: number, lag: number, options: Partial<HandlerOptions<Request>> = {}) {
    this.#world = world;
    this.#options = options;
    this.#begin(events, () => void this.#crashAfter(lag));
  }

  #begin(events: number, lags: () => void): void {
    // The first entry names the log.
    let left = events + 1;
    const { store } = this.#world;
    const append: Store["append"] = (key, entries, ...rest) => {
      const isLog = key.includes("looplet.events ");
      const taken: readonly JournalEntry[] = isLog ? entries.slice(0, left) : entries;
      if (isLog) left -= taken.length;
      const done = taken.length === 0 ? undefined : store.append(key, taken, ...rest);
      if (taken.length === entries.length) return done!;
      lags();
      return new Promise<never>(() => {});
    };
    const lagging = { ...store, append };
    this.#handle = handler(this.#world.agent(lagging), {
      store: lagging,
      authorize: () => "ada",
      ...this.#options,
    });
    this.#crash = new Promise((_, reject) => (this.#broken = reject));
    this.#crash.catch(() => {});
  }

  /** A run that waits for a page which does not get its question emits no more. */
  async #crashAfter(lag: number): Promise<void> {
    const begin = this.#world.seen;
    let seen = begin;
    for (let still = 0; this.#world.seen < begin + lag && still < 100; still += 1) {
      await tick();
      if (this.#world.seen > seen) still = 0;
      seen = this.#world.seen;
    }
    const broken = this.#broken;
    this.#world.end();
    this.#begin(Infinity, () => {});
    broken(new TypeError("The connection is lost."));
  }

  /** The `fetch` of a page. */
  readonly fetch = async (url: string, init: object = {}): Promise<Response> => {
    const crash = this.#crash;
    const request = new Request(new URL(url, "http://server.test"), init);
    const response = (await Promise.race([this.#handle(request), crash])) as Response;
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await Promise.race([reader.read(), crash]);
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, response);
  };
}
