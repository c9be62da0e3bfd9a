/** The pages that a host knows: their ports, the calls received from them, and the runs that they follow. */
import { randomName, type LogEntry, type Told } from "../protocol.js";

/** The time after which a silent page is forgotten, in milliseconds. The timers of hidden pages run once a minute. */
const FORGOTTEN_MS = 300_000;

/** The number of calls of a page that are remembered. A page repeats only calls without a reply. */
const REMEMBERED_CALLS = 1000;

/** Posts a message to one page. */
export type Send = (told: Told) => void;

/** Sends a page an entry of a run that it follows, with the cursor after it. */
export type Tell = (cursor: string, entry: LogEntry) => void;

type Content = Told extends infer T
  ? T extends unknown
    ? Omit<T, "looplet" | "host" | "to">
    : never
  : never;

interface Page {
  send: Send;
  heardMs: number;
  /** The calls that the host has received. A page without this information repeats them. */
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

  /** Stops sending. */
  stop(): void {
    this.#isStopped = true;
    for (const left of this.#following.values()) left.abort();
  }

  /** A page has connected or pings the host. */
  greet(name: string, send: Send): void {
    const now = Date.now();
    const known = this.#pages.get(name);
    const isNew = known === undefined;
    this.#pages.set(name, { calls: new Set(), ...known, send, heardMs: now });
    for (const [other, { heardMs }] of this.#pages) if (now - heardMs > FORGOTTEN_MS) this.leave(other);
    this.post(name, send, { type: "pong", isNew });
  }

  /** Forgets a page with a closed port, or one that was silent for too long. */
  leave(name: string): void {
    this.#pages.delete(name);
    for (const follower of this.#following.keys())
      if (follower.startsWith(`${name} `)) this.#unfollow(follower);
  }

  /** Whether a known page repeats a call that was received before. */
  isRepeated(name: string, number: number): boolean {
    const { calls } = this.#pages.get(name) ?? {};
    if (calls === undefined || calls.has(number)) return calls !== undefined;
    calls.add(number);
    if (calls.size > REMEMBERED_CALLS) calls.delete(calls.values().next().value!);
    return false;
  }

  /** Returns false if the page is gone, or if the content cannot be sent as a message. */
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

  /** Lets a page follow a run, until it leaves the run or disconnects. `send` is used until the page posts again. */
  follow(name: string, follower: number, send: Send): [tell: Tell, left: AbortSignal] {
    const key = `${name} ${follower}`;
    const left = new AbortController();
    this.#following.set(key, left);
    const tell: Tell = (cursor, entry) => {
      // The page may have another port by now. A page that is gone follows again when it reconnects.
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
