/** The pages that a host knows: their ports, the calls that it has heard of them, and the runs that they follow. */
import { randomName, type LogEntry, type Told } from "../protocol.js";

/** The time after which a page that says nothing is forgotten, in milliseconds. Hidden pages speak once a minute. */
const FORGOTTEN_MS = 300_000;

/** The number of calls of a page that are remembered. A page repeats only calls without a reply. */
const REMEMBERED_CALLS = 1000;

/** Posts a message to one page. */
export type Send = (told: Told) => void;

/** Tells a page an entry of a run that it follows, with the cursor behind it. */
export type Tell = (cursor: string, entry: LogEntry) => void;

type Content = Told extends infer T
  ? T extends unknown
    ? Omit<T, "looplet" | "host" | "to">
    : never
  : never;

interface Page {
  send: Send;
  heardMs: number;
  /** The calls that the host has heard. A page that does not know that repeats them. */
  readonly calls: Set<number>;
}

export class Pages {
  /** The name of this life of the host. */
  readonly #host = randomName();
  readonly #pages = new Map<string, Page>();
  /** The runs that pages follow, by page and follower. */
  readonly #following = new Map<string, AbortController>();
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Tells nothing any more. */
  stop(): void {
    this.#isStopped = true;
    for (const left of this.#following.values()) left.abort();
  }

  /** A page is there, and asks whether the host is. */
  greet(name: string, send: Send): void {
    const now = Date.now();
    const known = this.#pages.get(name);
    const isNew = known === undefined;
    this.#pages.set(name, { calls: new Set(), ...known, send, heardMs: now });
    for (const [other, { heardMs }] of this.#pages) if (now - heardMs > FORGOTTEN_MS) this.leave(other);
    this.post(name, send, { type: "pong", isNew });
  }

  /** Forgets a page whose port is closed, or that has said nothing for long. */
  leave(name: string): void {
    this.#pages.delete(name);
    for (const follower of this.#following.keys())
      if (follower.startsWith(`${name} `)) this.#unfollow(follower);
  }

  /** Whether a known page repeats a call that has been heard. */
  isRepeated(name: string, number: number): boolean {
    const { calls } = this.#pages.get(name) ?? {};
    if (calls === undefined || calls.has(number)) return calls !== undefined;
    calls.add(number);
    if (calls.size > REMEMBERED_CALLS) calls.delete(calls.values().next().value!);
    return false;
  }

  /** False if the page is gone, or if no message carries the content. */
  post(to: string, send: Send, content: Content): boolean {
    if (this.#isStopped) return true;
    try {
      send({ looplet: "told", host: this.#host, to, ...content } as Told);
      return true;
    } catch {
      // The port of an extension throws when its page is closed.
      return false;
    }
  }

  postAll(content: Content): void {
    for (const [name, { send }] of this.#pages) this.post(name, send, content);
  }

  /** Lets a page follow a run, until it leaves the run or is gone. `send` posts to it as long as it has not said more. */
  follow(name: string, follower: number, send: Send): [tell: Tell, left: AbortSignal] {
    const key = `${name} ${follower}`;
    const left = new AbortController();
    this.#following.set(key, left);
    const tell: Tell = (cursor, entry) => {
      // The page may have another port by now. One that is gone follows again when it comes back.
      const port = this.#pages.get(name)?.send ?? send;
      if (!this.post(name, port, { type: "entry", follower, cursor, entry })) this.#unfollow(key);
    };
    return [tell, left.signal];
  }

  unfollow(name: string, follower: number): void {
    this.#unfollow(`${name} ${follower}`);
  }

  #unfollow(key: string): void {
    this.#following.get(key)?.abort();
    this.#following.delete(key);
  }
}
