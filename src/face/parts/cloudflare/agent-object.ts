/**
 * One session in one Durable Object: its chat is kept in the object's SQLite, an alarm wakes a run whose object was
 * evicted, and clients follow the events by server-sent events or WebSockets that hibernate.
 */
import type { Agent, Chat, JournalEntry, KeptChat, RunEvent, Store } from "../../core/api/index.js";
import type { HostResponse } from "../../core/api/platform.js";
import type { QuestionAnswer } from "../../core/api/run.js";
import { isObject } from "../../core/options/check.js";
import { exported, imported } from "../sessions/transfer.js";
import { durableObjectStore } from "../stores/durable-object.js";
import { ended, HostedRun } from "../workers/hosted-run.js";
import type { Batch } from "../workers/feed.js";
import { Making } from "../workers/making.js";
import { checkedOrigins, refuseForeign, wordOf, type AllowedOrigins } from "./access.js";
import {
  json,
  respond,
  socketPair,
  type DurableObjectStateLike,
  type RequestLike,
  type WebSocketLike,
} from "./host.js";
import { BadRequest, ofRequest, problem, wordsFor } from "./problems.js";
import { SessionLog } from "./session-log.js";

/** The name of the chat in the object's store. */
const SESSION = "session";

export interface AgentObjectOptions {
  /** The time after which an alarm looks after a run that was begun, in milliseconds. Default 10,000. */
  alarmMs?: number | undefined;
  /** The number of events that stay for clients that come back. Default 20,000. */
  keepEvents?: number | undefined;
  /**
   * The origins whose pages may ask, beside the object's own, as `https://app.example`. A request of another page
   * gets status
   * 403. `"*"` lets every page ask. Default: every page whose request brings no cookie, because a browser sends the
   *   user's
   * cookies along for any page.
   */
  allowedOrigins?: AllowedOrigins;
  /**
   * The path of a session, without the word behind it, as `/^\/sessions\/[^/]+$/`. Every other path gets status 404.
   * Default: every path is that of the session.
   */
  base?: RegExp | undefined;
  /**
   * Whether `PUT …/session` takes a chat with a run that goes on. Its calls are made as the text says, also calls
   * that were not allowed here. So let only clients ask that may do everything. Default false.
   */
  trustedSessions?: boolean | undefined;
}

/** The session of an instance of the object. */
interface Opened {
  readonly chat: Chat;
  readonly agent: Agent;
  readonly store: Store;
}

/** What a client asks for, in a request or in a message of a WebSocket. */
type Order =
  | { readonly do: "run"; readonly prompt: string; readonly requestId?: string }
  | { readonly do: "answer"; readonly questionId: number; readonly answer: QuestionAnswer }
  | { readonly do: "abort"; readonly reason?: string };

/**
 * A class to extend, with one session for each object:
 *
 * - `POST …/run` with `{ prompt, requestId? }` begins a run, or steers the one under way. A second request with the
 *   same `requestId` changes nothing.
 * - `GET …/events` follows the events: as `text/event-stream`, behind `Last-Event-ID`; as a WebSocket, behind
 *   `?after=`.
 * - `POST …/answer` with `{ questionId, answer }` answers a question, `POST …/abort` ends the run.
 * - `GET …` tells the messages and the cursor of the last event.
 * - `GET …/session` has the whole chat as text, and `PUT …/session` takes it in, as `sessions.export` and
 *   `sessions.import` of `looplet/sessions` do.
 *
 * Contract: the Worker in front of it decides who may ask. The class needs `new_sqlite_classes` in the migrations.
 */
export abstract class AgentObject<Env = unknown> {
  /** The mark by which the types of Cloudflare know the class of a Durable Object. No instance has it. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly ctx: DurableObjectStateLike;
  readonly env: Env;
  readonly #log: SessionLog;
  readonly #alarmMs: number;
  readonly #allowedOrigins: AllowedOrigins;
  readonly #base: RegExp | undefined;
  readonly #trustedSessions: boolean;
  readonly #sessions = new Making<Opened>();
  /** The last run, which may be under way. */
  #hosted: HostedRun | undefined;

  constructor(ctx: DurableObjectStateLike, env: Env, options: AgentObjectOptions = {}) {
    const { alarmMs = 10_000, keepEvents = 20_000, allowedOrigins, base, trustedSessions = false } = options;
    this.ctx = ctx;
    this.env = env;
    this.#alarmMs = alarmMs;
    this.#allowedOrigins = checkedOrigins(allowedOrigins);
    this.#base = base;
    this.#trustedSessions = trustedSessions;
    this.#log = new SessionLog(ctx.storage, keepEvents);
  }

  /** The agent of the session. It is made once for each instance of the object, and must have this store. */
  abstract agent(store: Store): Agent;

  async fetch(request: RequestLike): Promise<HostResponse> {
    const { pathname, searchParams } = new URL(request.url) as unknown as {
      pathname: string;
      searchParams: { get(name: string): string | null };
    };
    try {
      refuseForeign(request, this.#allowedOrigins);
      const word = wordOf(pathname, this.#base);
      if (word === "session") return await this.#transfer(request);
      if (request.method === "POST") {
        if (word === "" || word === "events") throw new BadRequest(`There is no POST ${pathname} here.`, 404);
        return json(await this.#obey({ ...(await bodyOf(request)), do: word }));
      }
      if (request.method !== "GET") throw new BadRequest(`There is no ${request.method}.`, 405);
      if (word === "") {
        const chat = await this.#open();
        return json({
          messages: chat.messages,
          isRunning: chat.current !== undefined,
          cursor: this.#cursor,
        });
      }
      if (word !== "events") throw new BadRequest(`${word} needs the method POST.`, 405);
      await this.#open();
      const after = this.#placeOf(request.headers.get("last-event-id") ?? searchParams.get("after"));
      const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
      return isSocket ? this.#socket(after) : this.#stream(after);
    } catch (error) {
      return problem(error);
    }
  }

  /** The chat as text, or a chat that comes from another store. The clients get its messages as a `snapshot`. */
  async #transfer(request: RequestLike): Promise<HostResponse> {
    if (request.method !== "PUT") {
      const { chat, store } = await this.#opened();
      await chat.saved();
      const text = request.method === "GET" ? await exported(store, SESSION) : undefined;
      return respond(text ?? null, { status: text === undefined ? 404 : 200 });
    }
    // A body may come slowly, and the session is there for others until then.
    const text = await request.text();
    const before = this.#opened();
    const taken = before.then((session) => this.#take(session, text));
    // Whoever asks from here on waits for the chat that this one leaves.
    const after = taken.then(
      () => this.#openSession(),
      () => before,
    );
    this.#sessions.put(SESSION, after);
    await taken;
    const { messages } = await this.#open();
    const seen = { seq: 0, agentPath: "root", iteration: 0, attempt: 0, usage: null, iterations: 0 };
    this.#tell({ ...seen, type: "snapshot", text: "", messages: [...messages] });
    return json({ taken: true });
  }

  /** Gives the store what it does not have of a chat that no run goes on with. */
  async #take({ chat, agent, store }: Opened, text: string): Promise<void> {
    // Requests that have the chat already begin their runs first.
    await pause(0);
    if (chat.current !== undefined) throw new BadRequest("A run of this session goes on.", 409);
    await chat.saved();
    const trusted = this.#trustedSessions;
    const read = (entries: readonly JournalEntry[]): Promise<KeptChat | undefined> =>
      agent.readChat(SESSION, { entries });
    await ofRequest(() => imported(store, SESSION, text, read, { trusted }));
  }

  /** Wakes a run whose object was evicted, and looks after one that is under way. An answer wakes one that waits. */
  async alarm(): Promise<void> {
    const { current } = await this.#open();
    if (current === undefined || this.#hosted!.questions.length > 0) return;
    await this.#watch();
    // The object stays as long as its alarm is at work.
    await Promise.race([ended(current), pause(this.#alarmMs)]);
  }

  /** An order of a client: `{ "do": "run", "prompt": "…" }`. */
  async webSocketMessage(socket: WebSocketLike, message: unknown): Promise<void> {
    try {
      socket.send(JSON.stringify({ reply: await this.#obey(parsed(String(message))) }));
    } catch (error) {
      socket.send(JSON.stringify({ error: wordsFor(error).error }));
    }
  }

  webSocketClose(socket: WebSocketLike, code: number): void {
    // The codes 1005 and 1006 mean that there was no code; they must not be sent.
    socket.close(code === 1005 || code === 1006 ? 1000 : code);
  }

  /** The chat of the session, in which a run that was cut off goes on. */
  async #open(): Promise<Chat> {
    return (await this.#opened()).chat;
  }

  #opened(): Promise<Opened> {
    return this.#sessions.of(SESSION, () => this.#openSession());
  }

  async #openSession(): Promise<Opened> {
    const store = durableObjectStore(this.ctx.storage);
    const agent = this.agent(store);
    const hosted = this.#host(true);
    const chat = await agent.openChat(SESSION, { afterEvent: this.#log.lastInRun, onEvent: hosted.hear });
    if (chat.current !== undefined) {
      this.#hosted = hosted.take(chat.current);
      await this.#watch();
    }
    return { chat, agent, store };
  }

  #host(goesOn: boolean): HostedRun {
    return new HostedRun(goesOn, (event) => {
      // The run has stopped waiting for a person.
      if (event.type === "answered") void this.#watch();
      this.#tell(event);
    });
  }

  /** Keeps an event, and tells it to all sockets, those included that an earlier instance has accepted. */
  #tell(event: RunEvent): void {
    send(this.ctx.getWebSockets(), [this.#log.append(event)]);
  }

  #watch(): Promise<void> {
    return this.ctx.storage.setAlarm(Date.now() + this.#alarmMs);
  }

  async #obey(given: unknown): Promise<object> {
    const order = checked(given);
    const chat = await this.#open();
    const { current } = chat;
    if (order.do === "abort") {
      current?.abort(order.reason);
      return { taken: current !== undefined };
    }
    if (order.do === "answer") {
      const { questionId, answer } = order;
      if (current === undefined) return { taken: false };
      return { taken: await ofRequest(() => this.#hosted!.answer(questionId, answer)) };
    }
    const { prompt, requestId } = order;
    const after = this.#cursor;
    if (requestId !== undefined && chat.hasTaken(requestId)) return { taken: false, after };
    if (current === undefined) await this.#begin(chat, prompt, requestId);
    else {
      await ofRequest(() => current.steer(prompt, { requestId }));
      await current.saved();
    }
    return { taken: true, after };
  }

  async #begin(chat: Chat, prompt: string, id: string | undefined): Promise<void> {
    this.#log.prune();
    const hosted = this.#host(false);
    const start = (): HostedRun => hosted.take(chat.run(prompt, { onEvent: hosted.hear, id }));
    const { run } = (this.#hosted = await ofRequest(start));
    void ended(run).then(() => this.ctx.storage.deleteAlarm());
    await Promise.all([this.#watch(), run.saved()]);
  }

  get #cursor(): string {
    return this.#log.feed.cursorOf(this.#log.last);
  }

  #placeOf(cursor: string | null): number {
    const place = this.#log.feed.placeOf(cursor || "0");
    if (place === undefined) throw new BadRequest(`There is no event "${cursor}".`);
    return place;
  }

  #socket(after: number): HostResponse {
    const [client, server] = socketPair();
    this.ctx.acceptWebSocket(server);
    // Later events go to all sockets.
    for (let place = after; place < this.#log.last;) {
      const batch = this.#log.feed.take(place);
      if (batch.hasGap) server.send('{"gap":true}');
      send([server], batch.entries);
      place = batch.place;
    }
    return respond(null, { status: 101, webSocket: client });
  }

  #stream(after: number): HostResponse {
    const encoder = new TextEncoder();
    const gone = new AbortController();
    const events = this.#log.feed.read(after, gone.signal);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(": looplet\n\n")),
      async pull(controller) {
        const { done, value } = await events.next();
        if (done === true) return;
        const texts = value.entries.map(({ cursor, entry }) => `id: ${cursor}\ndata: ${entry}\n\n`);
        controller.enqueue(encoder.encode((value.hasGap ? "event: gap\ndata: {}\n\n" : "") + texts.join("")));
      },
      // The client comes back with the last number that it has.
      cancel: () => gone.abort(),
    });
    const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
    return respond(body, { headers });
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

function send(sockets: readonly WebSocketLike[], entries: Batch<string>["entries"]): void {
  for (const { cursor, entry } of entries)
    for (const socket of sockets)
      try {
        socket.send(`{"id":"${cursor}","event":${entry}}`);
      } catch {
        // The client is gone, and comes back with the last number that it has.
      }
}

/** An order that has what it needs. @throws BadRequest */
function checked(given: unknown): Order {
  const order = given as { readonly do?: unknown; readonly [field: string]: unknown };
  const wrong = (needed: string): never => {
    throw new BadRequest(`${String(order.do)} needs ${needed}`);
  };
  if (order.do === "run") {
    if (typeof order["prompt"] !== "string") wrong('{ "prompt": "…" }');
    const { requestId = "r" } = order;
    if (typeof requestId !== "string" || requestId.trim() === "" || /\p{Surrogate}/u.test(requestId))
      wrong("a text of whole letters as its requestId");
  } else if (order.do === "answer") {
    // The engine counts them in 32 bits.
    const { questionId, answer } = order;
    if (typeof questionId !== "number" || questionId >>> 0 !== questionId || !isObject(answer))
      wrong('{ "questionId": 1, "answer": {…} }');
  } else if (order.do === "abort") {
    if (!["undefined", "string"].includes(typeof order["reason"])) wrong("a text as its reason");
  } else {
    throw new BadRequest(`There is no "${String(order.do)}": use run, answer or abort.`);
  }
  return order as unknown as Order;
}

async function bodyOf(request: RequestLike): Promise<object> {
  const text = await request.text();
  return text === "" ? {} : parsed(text);
}

function parsed(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequest("The body is not JSON.");
  }
  if (!isObject(value)) throw new BadRequest("The body needs a JSON object.");
  return value;
}
