/** The listeners of a channel with an other end that may disconnect and reconnect. */
import { PROTOCOL, toldIn, type DevtoolsChannel } from "./protocol.js";

type Listener = Parameters<DevtoolsChannel["addEventListener"]>[1];

export class Listeners {
  readonly #all = new Set<Listener>();
  /** The publishers that were seen. */
  readonly #sources = new Set<string>();

  add(listener: Listener): void {
    this.#all.add(listener);
  }

  delete(listener: Listener): void {
    this.#all.delete(listener);
  }

  hear(data: unknown): void {
    const source = toldIn(data)?.source;
    if (source !== undefined) this.#sources.add(source);
    for (const listener of this.#all) listener({ data });
  }

  /** The other end is away, and its publishers with it. */
  lose(): void {
    const sources = [...this.#sources];
    this.#sources.clear();
    for (const source of sources)
      for (const listener of this.#all) listener({ data: { looplet: PROTOCOL, source, type: "gone" } });
  }
}
