/**
 * A page's connection to the host of an agent. It tracks calls without a reply and the runs that the page follows. It
 * pings the host at intervals, which also keeps a service worker alive, and repeats everything at a new host.
 */
import { LoopletError } from "../../core/api/errors.js";
import { linkTo, type AgentEndpoint, type Link } from "./links.js";
import {
  errorOf,
  randomName,
  type Call,
  type ChatState,
  type LogEntry,
  type Target,
  type Told,
} from "./protocol.js";

/** A run that receives its log. */
export interface Following {
  readonly target: Target;
  /** The cursor after the last received entry, and whether it skips the past. */
  readonly place: readonly [cursor: string | undefined, isFromHere: boolean];
  hear(cursor: string, entry: LogEntry): void;
  fail(error: unknown): void;
}

interface Waiting {
  readonly call: Call;
  readonly resolve: (value: any) => void;
  readonly reject: (error: Error) => void;
}

/** The page's half of a connection, as its agent, chats and runs use it. */
export type AgentLink = Pick<Connection, "call" | "tell" | "follow" | "leave" | "onChat" | "close"> & {
  /** Whether the host is currently unreachable. */
  readonly isReconnecting?: boolean;
  onReconnecting?(listener: (isReconnecting: boolean) => void): () => void;
};

/** Methods that another host must not perform a second time. */
const ONCE = ["addBudget"];

export class Connection {
  readonly #name = randomName();
  readonly #link: Link;
  readonly #heartbeatMs: number;
  /** The current host, and former ones. Late messages of former hosts are ignored. */
  #host: string | undefined;
  readonly #former = new Set<string>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #following = new Map<number, Following>();
  readonly #chats = new Map<string, Set<(state: ChatState) => void>>();
  #calls = 0;
  #timer: unknown;
  #isClosed = false;
  /** Why the host could not start. */
  #failure: Error | undefined;
  /** Pings since the last message of the host. */
  #unanswered = 0;
  /** Called when the host has not answered three pings. */
  onSilence: () => void = () => {};

  constructor(endpoint: AgentEndpoint, heartbeatMs: number) {
    this.#heartbeatMs = heartbeatMs;
    this.#link = linkTo(
      endpoint,
      (message) => this.#hear(message),
      () => void queueMicrotask(() => this.ping()),
      (why) => this.#fail(why),
    );
    this.ping();
  }

  /** Calls a method of the host; resolves with its value. */
  call(target: Target, method: string, ...args: readonly unknown[]): Promise<any> {
    if (this.#isClosed)
      return Promise.reject(
        new LoopletError("misuse_agent_closed", "", "this page has disconnected from the agent"),
      );
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const number = ++this.#calls;
    const call: Call = { looplet: "call", from: this.#name, number, target, method, args };
    return new Promise((resolve, reject) => {
      this.#link.post(call);
      this.#waiting.set(number, { call, resolve, reject });
      this.#beat();
    });
  }

  /** Calls a method without waiting. Its result and its failure are ignored. */
  tell(target: Target, method: string, ...args: readonly unknown[]): void {
    this.call(target, method, ...args).catch(() => {});
  }

  /** Sends a run its log until it leaves. */
  follow(run: Following): void {
    const follower = ++this.#calls;
    this.#following.set(follower, run);
    this.call(run.target, "follow", follower, ...run.place).catch((error: unknown) => {
      if (this.#following.get(follower) === run) run.fail(error);
    });
  }

  leave(run: Following): void {
    for (const [follower, other] of this.#following) {
      if (other !== run) continue;
      this.#following.delete(follower);
      this.tell(run.target, "leave", follower);
    }
  }

  onChat(id: string, listener: (state: ChatState) => void): () => void {
    const listeners = this.#chats.get(id) ?? new Set();
    this.#chats.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#chats.delete(id);
    };
  }

  /** Pings the host. */
  ping(): void {
    if (this.#isClosed) return;
    this.#link.post({ looplet: "ping", from: this.#name });
    this.#beat();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer as number);
    this.#link.close();
    const error = new LoopletError("misuse_agent_closed", "", "this page has disconnected from the agent");
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const run of this.#following.values()) run.fail(error);
    this.#waiting.clear();
    this.#following.clear();
  }

  /** The host cannot start. A host that has answered reports the failures of its runs itself. */
  #fail(why: string): void {
    if (this.#host !== undefined || this.#isClosed) return;
    const problem = `The worker of the agent could not start: ${why}. Check its address and its console.`;
    const error = (this.#failure = new Error(problem));
    const [waiting, following] = [[...this.#waiting.values()], [...this.#following.values()]];
    this.#waiting.clear();
    this.#following.clear();
    for (const { reject } of waiting) reject(error);
    for (const run of following) run.fail(error);
  }

  /** Pings again later, while this page waits for something. */
  #beat(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size === 0 && this.#following.size === 0 && this.#chats.size === 0) return;
      if (++this.#unanswered > 2) this.onSilence();
      this.ping();
    }, this.#heartbeatMs);
    this.#timer = timer;
  }

  #hear(message: unknown): void {
    const { looplet, to } = Object(message) as Partial<Told> | { looplet: "hello"; to?: never };
    // A host has just started on the channel.
    if (looplet === "hello") return this.ping();
    if (looplet !== "told" || to !== this.#name) return;
    const told = message as Told;
    if (this.#former.has(told.host)) return;
    this.#unanswered = 0;
    const isOther = this.#host !== undefined && this.#host !== told.host;
    if (isOther) this.#former.add(this.#host!);
    this.#host = told.host;
    this.#failure = undefined;
    if (isOther || (told.type === "pong" && told.isNew)) this.#repeat(isOther);
    if (told.type === "reply") this.#settle(told.number, told);
    else if (told.type === "entry") this.#following.get(told.follower)?.hear(told.cursor, told.entry);
    else if (told.type === "chat") for (const hear of this.#chats.get(told.chat) ?? []) hear(told.state);
  }

  #settle(number: number, { value, error }: Extract<Told, { type: "reply" }>): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(errorOf(error));
  }

  /**
   * A host that does not know this page may have missed its calls. `isOther`: another host may have performed them.
   */
  #repeat(isOther: boolean): void {
    for (const [number, { call, reject }] of [...this.#waiting]) {
      if (call.method === "follow") this.#waiting.delete(number);
      else if (!isOther || !ONCE.includes(call.method)) this.#link.post(call);
      else {
        this.#waiting.delete(number);
        reject(new Error(`The host of the agent was lost before it answered ${call.method}.`));
      }
    }
    for (const run of [...this.#following.values()]) {
      // Otherwise entries that are still in transit would arrive a second time.
      this.leave(run);
      this.follow(run);
    }
    for (const chat of this.#chats.keys()) this.#refreshChat(chat);
  }

  /** Another host may have started or ended a run of the chat. */
  #refreshChat(chat: string): void {
    this.call({}, "openChat", chat, {}).then(
      (state) => {
        for (const hear of this.#chats.get(chat) ?? []) hear(state);
      },
      () => {},
    );
  }
}
