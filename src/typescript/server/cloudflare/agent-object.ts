/**
 * One session in one Durable Object. Its chat is stored in the object's SQLite, an alarm resumes a run after the
 * object was evicted, and clients follow the events by server-sent events or hibernating WebSockets.
 */
import type { Agent, Store } from "../../core/api/index.js";
import type { HostResponse } from "../../core/api/platform.js";
import { checkOrigins, refuseForeign, wordOf, type AllowedOrigins } from "../server/access.js";
import type { EventFormat } from "../server/formats.js";
import {
  MAX_BODY_BYTES,
  parsed,
  problem,
  respond,
  tooLong,
  wordsFor,
  type RequestLike,
} from "../server/http.js";
import { answerRequest, cursorOf } from "../server/routes.js";
import type { SessionEntry } from "../workers/hosting/session-log.js";
import { ChatSession } from "../server/chat-session.js";
import { durableObjectStore } from "../../extras/stores/durable-object.js";
import { ended } from "../workers/hosting/hosted-run.js";
import { socketPair, type DurableObjectStateLike, type WebSocketLike } from "./host.js";
import { ObjectLog } from "./object-log.js";

/** The name of the chat in the object's store. */
const SESSION = "session";

export interface AgentObjectOptions {
  /** The delay after which an alarm checks a started run, in milliseconds. Default 10,000. */
  alarmMs?: number | undefined;
  /** The number of events that stay for clients that come back. Default 20,000. */
  keepEvents?: number | undefined;
  /**
   * Allowed origins of pages, in addition to the object's own, such as `https://app.example`. A request from another
   * origin gets status 403. `"*"` allows every origin. Default: every request without a cookie, because a browser
   * sends the user's cookies for any page.
   */
  allowedOrigins?: AllowedOrigins;
  /**
   * The path of a session without its last segment, such as `/^\/sessions\/[^/]+$/`. Other paths get status 404.
   * Default: every path is the session's.
   */
  base?: RegExp | undefined;
  /**
   * The most bytes of a body, and the most characters of a message of a WebSocket. A longer body gets status 413.
   * Default 4,194,304.
   */
  maxBodyBytes?: number | undefined;
  /** Other formats for the events of a run, as for `handler` of `looplet/server`. Default: only looplet's own. */
  formats?: readonly EventFormat[] | undefined;
  /**
   * Whether clients are fully trusted. Then `PUT …/session` accepts a chat with an unfinished run, and performs its
   * calls as written, even calls that were not allowed here. `POST …/call` accepts histories, permission modes and
   * limits. Default false.
   */
  trustedSessions?: boolean | undefined;
}

/**
 * A class to extend. Each object is one session:
 *
 * - `POST …/run` with `{ prompt, requestId? }` starts a run, or steers the current one. A second request with the
 *   same `requestId` changes nothing.
 * - `GET …/events` follows the events: as `text/event-stream`, after `Last-Event-ID`; or as a WebSocket, after the
 * cursor
 *   in `?after=`.
 * - `POST …/answer` with `{ questionId, answer }` answers a question. `POST …/abort` ends the run.
 * - `GET …/stream` follows the current run up to its end. Status 204 if there is none.
 * - `POST …/call` is for the agent of `connectAgent`.
 * - `GET …` returns the messages and the cursor of the last event.
 * - `GET …/session` returns the whole chat as text, and `PUT …/session` imports it, like `sessions.export` and
 *   `sessions.import` of `looplet/sessions`.
 *
 * Contract: the Worker in front of it authorizes requests. The class needs `new_sqlite_classes` in the migrations.
 */
export abstract class AgentObject<Env = unknown> {
  /** The mark by which the types of Cloudflare know the class of a Durable Object. No instance has it. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly ctx: DurableObjectStateLike;
  readonly env: Env;
  readonly #log: ObjectLog;
  readonly #session: ChatSession;
  readonly #alarmMs: number;
  readonly #options: AgentObjectOptions;

  constructor(ctx: DurableObjectStateLike, env: Env, options: AgentObjectOptions = {}) {
    const { alarmMs = 10_000, keepEvents = 20_000, allowedOrigins, trustedSessions = false } = options;
    checkOrigins(allowedOrigins);
    this.ctx = ctx;
    this.env = env;
    this.#alarmMs = alarmMs;
    this.#options = options;
    // An earlier instance may have accepted sockets too.
    this.#log = new ObjectLog(ctx.storage, keepEvents, (cursor, entry) =>
      send(ctx.getWebSockets(), cursor, entry),
    );
    const store = durableObjectStore(ctx.storage);
    this.#session = new ChatSession({
      id: SESSION,
      store,
      log: this.#log,
      agent: () => this.agent(store),
      trusted: trustedSessions,
      watch: () => this.#watch(),
      unwatch: () => ctx.storage.deleteAlarm(),
    });
  }

  /** The agent of the session. It is made once for each instance of the object, and must have this store. */
  abstract agent(store: Store): Agent;

  async fetch(request: RequestLike): Promise<HostResponse> {
    try {
      refuseForeign(request, this.#options.allowedOrigins);
      const word = wordOf(new URL(request.url).pathname, this.#options.base);
      const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
      if (word === "events" && isSocket) return await this.#socket(request);
      const { formats = [] } = this.#options;
      const [session, maxBytes] = [this.#session, this.#maxBodyBytes];
      return await answerRequest({ session, id: SESSION, word, request, maxBytes, formats });
    } catch (error) {
      return problem(error);
    }
  }

  /**
   * Resumes a run after its object was evicted, and checks a run in progress. A waiting run resumes when it is
   * answered.
   */
  async alarm(): Promise<void> {
    await this.#session.open();
    const { run, isWaiting } = this.#session.runs;
    if (run === undefined || isWaiting) return;
    await this.#watch();
    // The object stays in memory while its alarm handler runs.
    await Promise.race([ended(run), pause(this.#alarmMs)]);
  }

  /** An order of a client: `{ "do": "run", "prompt": "…" }`. */
  async webSocketMessage(socket: WebSocketLike, message: unknown): Promise<void> {
    try {
      const text = String(message);
      if (text.length > this.#maxBodyBytes) throw tooLong(this.#maxBodyBytes);
      socket.send(JSON.stringify({ reply: await this.#session.obey(parsed(text)) }));
    } catch (error) {
      socket.send(JSON.stringify({ error: wordsFor(error).error }));
    }
  }

  webSocketClose(socket: WebSocketLike, code: number): void {
    // The codes 1005 and 1006 mean that there was no code; they must not be sent.
    socket.close(code === 1005 || code === 1006 ? 1000 : code);
  }

  get #maxBodyBytes(): number {
    return this.#options.maxBodyBytes ?? MAX_BODY_BYTES;
  }

  #watch(): Promise<void> {
    return this.ctx.storage.setAlarm(Date.now() + this.#alarmMs);
  }

  async #socket(request: RequestLike): Promise<HostResponse> {
    const place = (await this.#session.runs.placeOf(cursorOf(request)))!;
    const [client, server] = socketPair();
    this.ctx.acceptWebSocket(server);
    // Later events go to all sockets.
    const { feed } = this.#log;
    for (let at = place; at < this.#log.last;) {
      const batch = feed.take(at);
      if (batch.hasGap) server.send('{"gap":true}');
      for (const { cursor, entry } of batch.entries) send([server], cursor, entry);
      at = batch.place;
    }
    return respond(null, { status: 101, webSocket: client });
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

function send(sockets: readonly WebSocketLike[], id: string, { run, event }: SessionEntry): void {
  if (event === undefined) return;
  const message = JSON.stringify({ id, run, event });
  for (const socket of sockets)
    try {
      socket.send(message);
    } catch {
      // The client has disconnected. It reconnects with its last cursor.
    }
}
