/**
 * A page's connection to the sessions of a server: those of `handler` of `looplet/server`, or `AgentObject`s that a
 * Worker finds by name. A chat is the session with its id, and a run without a chat is its own session. Calls are
 * requests that may be sent twice. Events arrive by streams that resume after their cursors.
 */
import { LoopletError } from "../../../core/api/errors.js";
import type { RunEvent } from "../../../core/api/event.js";
import type { AgentLink, Following } from "../connection.js";
import { AddressError, notHere, type Address } from "./address.js";
import { HttpStream, waited, type StreamListener } from "./http-stream.js";
import { type ChatState, type RunEnd, type Target } from "../protocol.js";
import { TabRuns } from "./tab-runs.js";
import { TabStops } from "./tab-stops.js";

/** Calls that wait for something, before which others go. */
const WAITING = ["result", "snapshot", "saved", "claim"];

/** A call that is retried until it is accepted. Other calls wait only for its first attempt. */
const STEADY = "abort";

/** A call of a page that is closed, which the browser sends all the same. */
const LAST = "unclaim";

/** A request that a second delivery would do again. */
const ONCE = ["addBudget"];

/** The stream of a chat, and its listeners. */
interface ChatStream {
  readonly listeners: Set<(state: ChatState) => void>;
  readonly runs: Set<Following>;
  readonly stream: HttpStream;
}

/** A method that the server performs. */
interface Request {
  readonly run?: string | undefined;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly isAlone?: true;
}

export class HttpConnection implements AgentLink {
  readonly #address: Address;
  readonly #silenceMs: number;
  readonly #maxAttempts: number;
  readonly #tab: TabRuns;
  readonly #stops: TabStops;
  readonly #closed = new AbortController();
  /** The last call of each session. The next call waits for it. */
  readonly #calls = new Map<string, Promise<unknown>>();
  readonly #chats = new Map<string, ChatStream>();
  /** The cursors at which chats were opened. */
  readonly #opened = new Map<string, string>();
  /** The runs that the page follows, and the streams that they have for themselves. */
  readonly #following = new Map<Following, HttpStream | undefined>();
  /** The chats of the runs that this page has followed. */
  readonly #chatOf = new Map<string, string>();
  /** Runs of chats that are about to start. Their events all arrive by the chat's stream. */
  readonly #beginning = new Set<string>();
  /** The runs of this tab that continue where the previous page left off. */
  readonly #goingOn = new Set<string>();

  /** Listeners for the state of the connection. */
  readonly #hearing = new Set<(isReconnecting: boolean) => void>();

  /** `maxAttempts` is the number of attempts of a call before it fails. Calls of a run under way have no limit. */
  constructor(address: Address, silenceMs: number, maxAttempts: number) {
    this.#address = address;
    this.#silenceMs = silenceMs;
    this.#maxAttempts = maxAttempts;
    this.#tab = new TabRuns(address.url);
    this.#stops = new TabStops(address.url);
    address.onChange = (isReached) => {
      for (const listener of [...this.#hearing]) listener(!isReached);
    };
    for (const [run, { session, args }] of this.#stops.all)
      this.#ask(session, { run, method: STEADY, args }).catch(() => {});
  }

  get isReconnecting(): boolean {
    return !this.#address.isReached;
  }

  onReconnecting(listener: (isReconnecting: boolean) => void): () => void {
    this.#hearing.add(listener);
    return () => this.#hearing.delete(listener);
  }

  call(target: Target, method: string, ...args: readonly any[]): Promise<any> {
    if (this.#closed.signal.aborted) return Promise.reject(gone());
    const { run } = target;
    const session = this.#sessionOf(target);
    if (run === undefined && (method === "run" || method === "compact")) this.#beginning.add(args.at(-1).id);
    if (session !== undefined) return this.#ask(session, { run, method, args });
    switch (method) {
      case "run":
      case "compact":
        return this.#ask(args[1].id, { method, args, isAlone: true });
      case "resume":
        return this.#ask(args[0], { method: "openChat", args: [] });
      case "openChat":
        return this.#openChat(args[0]);
      case "readChat":
        return this.#ask(args[0], { method, args: args.slice(1) });
      case "resumePending":
        return Promise.resolve(this.#resumePending());
    }
    return Promise.reject(notHere(method));
  }

  tell(target: Target, method: string, ...args: readonly unknown[]): void {
    this.call(target, method, ...args).catch(() => {});
  }

  follow(run: Following): void {
    const [cursor, isFromHere] = run.place;
    const id = run.target.run!;
    if (run.target.chat !== undefined) this.#chatOf.set(id, run.target.chat);
    const kept = this.#goingOn.delete(id) ? this.#tab.cursorOf(id) : undefined;
    const chat = this.#chats.get(run.target.chat ?? "");
    this.#following.set(run, undefined);
    if (isFromHere) void this.#fromHere(run).catch((error: unknown) => run.fail(error));
    else if (this.#beginning.delete(id) && chat !== undefined) chat.runs.add(run);
    else void this.#alone(run, cursor ?? kept);
  }

  leave(run: Following): void {
    this.#following.get(run)?.leave();
    this.#following.delete(run);
    for (const [id, chat] of this.#chats) if (chat.runs.delete(run)) this.#leaveChat(id, chat);
    if (!this.#closed.signal.aborted) this.#tab.forget(run);
  }

  onChat(id: string, listener: (state: ChatState) => void): () => void {
    const chat = this.#chats.get(id) ?? this.#followChat(id);
    chat.listeners.add(listener);
    return () => {
      chat.listeners.delete(listener);
      this.#leaveChat(id, chat);
    };
  }

  close(): void {
    this.#closed.abort();
    for (const { stream } of this.#chats.values()) stream.leave();
    for (const run of [...this.#following.keys()]) run.fail(gone());
  }

  /** A run without a chat is its own session. */
  #sessionOf({ chat, run = "" }: Target): string | undefined {
    return chat ?? this.#chatOf.get(run) ?? (run || undefined);
  }

  async #openChat(id: string): Promise<ChatState> {
    const state = (await this.#ask(id, { method: "openChat", args: [] })) as ChatState & { cursor: string };
    this.#opened.set(id, state.cursor);
    return state;
  }

  /** The runs that this tab followed when its page was closed. */
  #resumePending(): readonly Target[] {
    const runs = this.#tab.left();
    for (const { run } of runs) this.#goingOn.add(run);
    return runs;
  }

  /** Follows a chat from where it was opened: which runs start, and the events of those that the page follows. */
  #followChat(id: string): ChatStream {
    const hear = (cursor: string, data: unknown): void => {
      const { run, event } = data as { run: string; event: RunEvent };
      if (run === "") return this.#refresh(id, chat);
      if (event.type === "run-start") {
        this.#beginning.add(run);
        for (const listener of [...chat.listeners])
          listener({ messages: [], subagents: [], usage: null, run });
        this.#beginning.delete(run);
      }
      for (const follower of [...chat.runs])
        if (follower.target.run === run) this.#hear(follower, cursor, event);
    };
    const gap = (): void => {
      this.#refresh(id, chat);
      for (const run of chat.runs) this.#again(run);
      chat.runs.clear();
    };
    const fail = (error: Error): void => {
      for (const run of [...chat.runs]) run.fail(error);
      this.#chats.delete(id);
    };
    const path = `${encodeURIComponent(id)}/events?with=run`;
    const stream = this.#stream(path, this.#opened.get(id), { hear, gap, end: () => {}, fail });
    const chat: ChatStream = { listeners: new Set(), runs: new Set(), stream };
    this.#chats.set(id, chat);
    return chat;
  }

  #leaveChat(id: string, chat: ChatStream): void {
    if (chat.listeners.size + chat.runs.size > 0) return;
    chat.stream.leave();
    if (this.#chats.get(id) === chat) this.#chats.delete(id);
  }

  /** The messages of a chat have changed otherwise than by a run. */
  #refresh(id: string, { listeners }: ChatStream): void {
    const tell = (state: ChatState): void => {
      for (const listener of [...listeners]) listener(state);
    };
    this.#ask(id, { method: "openChat", args: [] }).then(tell, () => {});
  }

  /** Follows a run by its own stream, after a cursor. */
  async #alone(run: Following, cursor: string | undefined, heard = 0): Promise<void> {
    const { run: id = "" } = run.target;
    const session = this.#sessionOf(run.target)!;
    // A run that this page starts must exist first.
    await this.#calls.get(session);
    if (!this.#following.has(run)) return;
    const path = `${encodeURIComponent(session)}/events?run=${encodeURIComponent(id)}`;
    const hear = (cursor: string, data: unknown): void => {
      const event = data as RunEvent;
      if (event.seq > heard) this.#hear(run, cursor, event);
    };
    const fail = (error: Error): void => run.fail(error);
    const end = (cursor = ""): void => this.#end(run, cursor);
    this.#following.set(run, this.#stream(path, cursor, { hear, gap: () => this.#again(run), end, fail }));
  }

  /** Follows a run from a snapshot on. */
  async #fromHere(run: Following): Promise<void> {
    const { cursor, events } = (await this.call(run.target, "snapshot")) as {
      cursor: string;
      events: RunEvent[];
    };
    if (!this.#following.has(run)) return;
    for (const event of events) this.#hear(run, cursor, event);
    await this.#alone(run, cursor, events[0]?.seq);
  }

  /** Follows a run again, after its next events were deleted. */
  #again(run: Following): void {
    this.#following.get(run)?.leave();
    void this.#fromHere(run).catch((error: unknown) => run.fail(error));
  }

  #hear(run: Following, cursor: string, event: RunEvent): void {
    run.hear(cursor, { event });
    // A reloaded page receives the last event together with the end.
    if (event.type === "finish") this.#end(run, cursor);
    else this.#tab.keep(run, cursor);
  }

  /** The page has all events of a run. */
  #end(run: Following, cursor: string): void {
    const end = (end: RunEnd): void => run.hear(cursor, end);
    this.call(run.target, "result").then(end, (error: unknown) => run.fail(error));
  }

  #stream(path: string, cursor: string | undefined, listener: StreamListener): HttpStream {
    return new HttpStream(this.#address, path, cursor, this.#silenceMs, listener);
  }

  /** Sends calls one after another, except those that wait for something. */
  #ask(session: string, body: Request): Promise<any> {
    const { run = "", args } = body;
    if (body.method === STEADY) this.#stops.add(run, { session, args });
    let release = (): void => {};
    const isTried = new Promise<void>((resolve) => (release = resolve));
    const asked = (this.#calls.get(session) ?? Promise.resolve()).then(() =>
      this.#post(session, body, release),
    );
    if (WAITING.includes(body.method)) return asked;
    const isDone = asked.catch(() => {});
    const settled: Promise<unknown> = (
      body.method === STEADY ? Promise.race([isDone, isTried]) : isDone
    ).then(() => this.#calls.get(session) === settled && this.#calls.delete(session));
    this.#calls.set(session, settled);
    return asked;
  }

  /** The server has taken or refused a call. */
  #settle({ run = "", method }: Request): void {
    if (method === STEADY) this.#stops.remove(run);
  }

  /** `failed` is called when a try has failed. */
  async #post(session: string, request: Request, failed: () => void): Promise<unknown> {
    const { signal } = this.#closed;
    const path = `${encodeURIComponent(session)}/call`;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(request);
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) throw gone();
      try {
        const keepalive = request.method === LAST;
        const sent = { method: "POST", headers, body, signal, ...(keepalive && { keepalive }) };
        const response = await this.#address.send(path, sent);
        this.#settle(request);
        return ((await response.json()) as { value?: unknown }).value;
      } catch (error) {
        if (signal.aborted) throw gone();
        const isRefused = error instanceof AddressError && !error.isPassing;
        if (isRefused) this.#settle(request);
        if (isRefused) throw error.cause;
        failed();
        const isLast = attempt >= this.#maxAttempts && request.run === undefined;
        if (isLast || ONCE.includes(request.method)) throw error;
        await waited(attempt, signal);
      }
    }
  }
}

function gone(): LoopletError {
  return new LoopletError("misuse_agent_closed", "", "this page has disconnected from the agent");
}
