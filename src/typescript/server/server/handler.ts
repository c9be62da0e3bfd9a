/** Serves the sessions of an agent. Each has an owner, which your code returns for every request. */
import { LoopletError } from "../../core/api/errors.js";
import type { Store } from "../../core/api/index.js";
import type { HostResponse } from "../../core/api/platform.js";
import { reportUncaught, internalsOf } from "../../core/kit/runs.js";
import { checkOptions } from "../../core/kit/check.js";
import { noteIn } from "../../extras/sessions/changes.js";
import { sessionsOf } from "../../extras/sessions/index.js";
import { SharedLog } from "../../extras/stores/logs/shared-log.js";
import { checkOrigins, refuseForeign, WORDS } from "./access.js";
import type { EventFormat } from "./formats.js";
import { bodyOf, json, MAX_BODY_BYTES, problem, type RequestLike } from "./http.js";
import { ownedAgent, ownedStore, prefixOf } from "./owned.js";
import { BadRequest } from "../workers/hosting/problems.js";
import { answerRequest } from "./routes.js";
import { logOf } from "../workers/hosting/session-log.js";
import { StoreLog } from "../workers/hosting/store-log.js";
import { ChatSession, type ChatAgent } from "./chat-session.js";

/** The options of `handler`. */
export interface HandlerOptions<Request = RequestLike> {
  /** Stores the lists and the events of the sessions. It must be the agent's store. */
  store: Store;
  /**
   * Contract: called first for each request. Returns the owner: a string that identifies the user, such as the user's
   * id. If it returns `undefined`, the response has status 401. If it returns a `Response`, that is sent. It must not
   * read the body. If it throws, the response has status 500.
   */
  authorize: (request: Request) => Owner | PromiseLike<Owner>;
  /** The path where the handler is mounted, such as `/api/agent`. Default: the root. */
  base?: string | undefined;
  /** Allowed origins of pages in addition to the server's own, or `"*"`. Default: as for `AgentObject`. */
  allowedOrigins?: readonly string[] | "*" | undefined;
  /** The most bytes of a body. A longer one gets status 413. Default 4,194,304. */
  maxBodyBytes?: number | undefined;
  /** The number of events of a session after which the next run starts a new log. Default 20,000. */
  keepEvents?: number | undefined;
  /** Other formats for the events of a run. Default: only looplet's own. */
  formats?: readonly EventFormat[] | undefined;
  /**
   * Whether pages are fully trusted: they can bring histories and whole chats, change the permission mode and raise
   * limits. Then their users can run every tool. Default false.
   */
  trusted?: boolean | undefined;
  /**
   * Whether an order acquires a run that another process is performing, such as one that a deploy left behind. A tool
   * call that the other process started may still be running there. Default false: the order gets status 409.
   */
  takeOver?: boolean | undefined;
}

/** A request handler. */
export interface Handler<Request = RequestLike> {
  (request: Request): Promise<HostResponse>;
  /**
   * Resumes the interrupted runs of all owners, as far as the store lists them (`pending`). Without it, a run resumes
   * when its session is requested. Call it when the server starts.
   */
  wake(): Promise<void>;
}

/** What `authorize` returns. */
export type Owner = string | HostResponse | undefined | null;

const TABLE = {
  store: "object!",
  authorize: "function!",
  base: "string",
  allowedOrigins: "any",
  maxBodyBytes: "count64",
  keepEvents: "count",
  formats: "any",
  trusted: "boolean",
  takeOver: "boolean",
} as const;

/** The list of an owner. No id of a session has a space in it. */
const LIST = "looplet sessions";

/** The ids of sessions. They are used in URLs, in keys and in file names. */
const ID = /^(?!\.{1,2}$)[\w.~:@=+-]{1,128}$/;

/** A session in memory, and the requests that use it. */
interface Live {
  readonly session: ChatSession;
  users: number;
}

/**
 * Creates a handler for the sessions of an agent. Mount it at `base`, for every method:
 *
 * - `GET …` lists the sessions of the owner.
 * - `…/<id>` is a session, with the paths of `AgentObject`.
 * - `DELETE …/<id>` ends and deletes it.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { handler } from "looplet/server";
 * import { memoryStore } from "looplet/stores";
 *
 * const store = memoryStore();
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const handle = handler(createAgent({ model, store }), {
 *   store,
 *   base: "/api/agent",
 *   authorize: () => "ada", // the id of the signed-in user
 * });
 * const response = await handle(new Request("http://localhost/api/agent"));
 * console.log(response.status); // prints "200"
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function handler<Request extends RequestLike = RequestLike>(
  agent: ChatAgent,
  options: HandlerOptions<Request>,
): Handler<Request> {
  if (typeof (Object(agent) as Partial<ChatAgent>).openChat !== "function")
    throw new LoopletError("config_wrong_type", "agent", "needs an agent: createAgent({ …, store })");
  const {
    store,
    authorize,
    formats = [],
    trusted = false,
    takeOver = false,
    ...rest
  } = checkOptions(options, "", TABLE);
  const { keepEvents = 20_000, maxBodyBytes: maxBytes = MAX_BODY_BYTES, allowedOrigins } = rest;
  const made = internalsOf(agent)?.options;
  if (made !== undefined && made.store !== store)
    throw new LoopletError("config_invalid_value", "store", "needs to be the store of the agent");
  const base = checkedBase(rest.base ?? "");
  checkOrigins(allowedOrigins);
  checkFormats(formats);
  const lives = new Map<string, Live>();

  const sessionOf = (prefix: string, id: string): ChatSession => {
    const own = ownedStore(store, prefix);
    const list = new SharedLog(own, LIST, { twice: true });
    return new ChatSession({
      id,
      store: own,
      log: new StoreLog(own, logOf(id), ({ length }) => (length > keepEvents ? length : 0), made?.clock),
      agent: () => ownedAgent(agent, prefix),
      trusted,
      takeOver,
      note: (title) => noteIn(list, { id, ...(title !== undefined && { title }) }),
      unwatch: () => leave(prefix + id),
    });
  };
  /** Forgets a session that is not in use and has no current run. */
  const leave = (key: string): void => {
    const live = lives.get(key);
    if (live?.users === 0 && live.session.runs.run === undefined) lives.delete(key);
  };
  const use = (prefix: string, id: string): [session: ChatSession, done: () => void] => {
    const key = prefix + id;
    const live = lives.get(key) ?? { session: sessionOf(prefix, id), users: 0 };
    lives.set(key, live);
    live.users += 1;
    return [live.session, () => ((live.users -= 1), leave(key))];
  };
  const list = async (prefix: string): Promise<object[]> => {
    const sessions = await sessionsOf(ownedStore(store, prefix), { key: LIST }).list();
    return sessions.map((info) => ({
      ...info,
      isRunning: lives.get(prefix + info.id)?.session.runs.run !== undefined,
    }));
  };
  const isListed = async (prefix: string, id: string): Promise<boolean> =>
    (await sessionsOf(ownedStore(store, prefix), { key: LIST }).get(id)) !== undefined;
  const remove = async (session: ChatSession, prefix: string, id: string): Promise<void> => {
    await session.delete();
    await sessionsOf(ownedStore(store, prefix), { key: LIST }).delete(id);
    lives.delete(prefix + id);
  };

  const answer = async (request: Request): Promise<HostResponse> => {
    refuseForeign(request, allowedOrigins);
    const owner = await authorize(request);
    if (owner === undefined || owner === null || owner === "") throw new BadRequest("Sign in first.", 401);
    if (typeof owner === "object" && "status" in owner) return owner;
    const prefix = prefixOf(owner);
    const { method } = request;
    const { format, segment, word: found } = pathOf(request, base, formats);
    const isPost = segment === "" && method === "POST" && format?.session !== undefined;
    if (segment === "" && !isPost) {
      if (method !== "GET") throw new BadRequest(`The list has no ${method}.`, 405);
      return json({ sessions: await list(prefix) });
    }
    const body = isPost ? await bodyOf(request, maxBytes) : undefined;
    const word = isPost ? "run" : found;
    const id = checkedId(body === undefined ? decoded(segment) : format!.session!(body));
    if (word === "session" && method === "PUT" && !trusted)
      throw new BadRequest("This server accepts no chats from pages.", 405);
    const [session, done] = use(prefix, id);
    try {
      const isNeeded = !BEGINNING.includes(word) && method !== "PUT";
      // A crash may have left a chat in the list without its journal.
      const isThere = async (): Promise<boolean> =>
        (await session.isKnown()) || (method === "DELETE" && (await isListed(prefix, id)));
      if (isNeeded && !(await isThere())) throw new BadRequest(`There is no session "${id}".`, 404);
      const hold = (): (() => void) => use(prefix, id)[1];
      if (word !== "" || method !== "DELETE")
        return await answerRequest({ session, id, word, request, maxBytes, formats, format, body, hold });
      await remove(session, prefix, id);
      return json({ deleted: true });
    } finally {
      done();
    }
  };
  const wake = async (): Promise<void> => {
    for (const key of (await store.pending?.()) ?? []) {
      const id = key.slice(key.indexOf("/") + 1);
      const prefix = key.slice(0, -id.length);
      if (prefix === "" || !ID.test(id)) continue;
      const [session, done] = use(prefix, id);
      await session.open().catch(reportUncaught).finally(done);
    }
  };
  return Object.assign((request: Request) => answer(request).catch(problem), { wake });
}

/** The path segments for a session that need not exist yet. */
const BEGINNING = ["run", "stream", "events", "call"];

interface Path {
  /** The format named by the first segment. */
  readonly format: EventFormat | undefined;
  /** The id of the session as the path has it; empty for the list, and for a body that names the session. */
  readonly segment: string;
  /** The segment after it. */
  readonly word: string;
}

/** @throws BadRequest */
function pathOf({ url }: RequestLike, base: string, formats: readonly EventFormat[]): Path {
  const { pathname } = new URL(url);
  const none = (): BadRequest => new BadRequest(`There is no ${pathname} here.`, 404);
  if (!pathname.startsWith(base)) throw none();
  const [beginning, ...segments] = pathname.slice(base.length).split("/");
  const format = formats.find(({ name }) => name === segments[0]);
  const [segment = "", word = "", ...more] = format === undefined ? segments : segments.slice(1);
  if (beginning !== "" || more.length > 0 || !["", ...WORDS].includes(word)) throw none();
  if (segment === "" && word !== "") throw none();
  return { format, segment, word };
}

/** @throws BadRequest */
function checkedId(id: unknown): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new BadRequest("The id of a session needs 1 to 128 letters, digits and . _ ~ : @ = + -", 400);
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** @throws LoopletError */
function checkedBase(base: string): string {
  if (base === "" || /^\/[^?#]*[^/?#]$/.test(base)) return base;
  throw new LoopletError("config_invalid_value", "base", `needs a path as "/api/agent", got "${base}"`);
}

/** @throws LoopletError */
function checkFormats(formats: readonly EventFormat[]): void {
  if (!Array.isArray(formats))
    throw new LoopletError("config_wrong_type", "formats", "needs a list of formats");
  for (const [index, format] of formats.entries()) checkOptions(format, `formats[${index}]`, FORMAT_TABLE);
}

const FORMAT_TABLE = {
  name: "text!",
  accept: "text!",
  headers: "object",
  session: "function",
  read: "function",
  messages: "function",
  stream: "function!",
} as const;
