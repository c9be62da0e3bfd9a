/** The requests to a session: the segments after its path, their methods and their responses. */
import type { RunEvent } from "../../core/api/event.js";
import type { SavedChat } from "../../core/api/message.js";
import type { HostResponse } from "../../core/api/platform.js";
import type { Batch } from "../workers/hosting/feed.js";
import { eventStream, textStream } from "./event-stream.js";
import { formatOf, type EventFormat, type FormattedRun } from "./formats.js";
import { bodyOf, json, respond, textOf, type RequestLike } from "./http.js";
import { KEEP_ALIVE } from "../../extras/keep-alive.js";
import { BadRequest, ofRequest } from "../workers/hosting/problems.js";
import type { ChatSession } from "./chat-session.js";
import type { ToldEvent } from "../workers/hosting/session-log.js";
import { takeTurn } from "./turns.js";

export interface Route {
  readonly session: ChatSession;
  readonly id: string;
  /** The segment after the session's path. Empty for the session itself. */
  readonly word: string;
  readonly request: RequestLike;
  readonly maxBytes: number;
  readonly formats: readonly EventFormat[];
  /** The format of the requested path. */
  readonly format?: EventFormat | undefined;
  /** The body, if it has been read. */
  readonly body?: object | undefined;
  /** Called when the response is a stream. The returned function is called when the stream ends. */
  readonly hold?: () => () => void;
}

/** @throws BadRequest */
export async function answerRequest(route: Route): Promise<HostResponse> {
  const { session, word, request, maxBytes } = route;
  const { method } = request;
  if (word === "session") return transfer(route);
  if (method === "POST") {
    if (word === "" || word === "events" || word === "stream")
      throw new BadRequest(`There is no POST ${new URL(request.url).pathname} here.`, 404);
    const body = route.body ?? (await bodyOf(request, maxBytes));
    if (word === "call") return json({ value: await session.call(body) });
    if (word === "run") return begin(route, body);
    return json(await session.obey({ ...body, do: word }));
  }
  if (method !== "GET") throw new BadRequest(`There is no ${method}.`, 405);
  if (word === "") return state(route);
  if (word === "events") return follow(route);
  if (word === "stream") return stream(route);
  throw new BadRequest(`${word} needs the method POST.`, 405);
}

async function state(route: Route): Promise<HostResponse> {
  const { session } = route;
  const state = await session.state();
  const format = asked(route);
  if (format?.messages === undefined) return json(state);
  // The chat's messages contain the prompt of the current run only after that run has ended.
  const kept = (await session.call({ method: "readChat", args: [{ transcripts: true }] })) as
    SavedChat | undefined;
  const { messages = [], isRunning = false } = kept ?? {};
  return json({ ...state, messages: format.messages(messages, isRunning, kept) });
}

/** The chat as text, or a chat that comes from another store. */
async function transfer({ session, request, maxBytes }: Route): Promise<HostResponse> {
  if (request.method === "PUT") {
    // A body may arrive slowly. Others can use the session until then.
    await session.take(await textOf(request, maxBytes));
    return json({ taken: true });
  }
  const text = await session.text();
  return respond(request.method === "GET" ? (text ?? null) : null, {
    status: text === undefined ? 404 : 200,
  });
}

/** Starts or steers a run. A client that accepts a stream gets the events of the run in the response. */
async function begin(route: Route, body: object): Promise<HostResponse> {
  const { session, request } = route;
  const format = asked(route);
  if (format?.read !== undefined) return turn(route, format, body);
  const begun = await session.obey({ ...body, do: "run" });
  const isStream = format !== undefined || wants(request, "text/event-stream");
  if (!isStream) return json(begun);
  // A short run may be over by now.
  const run = begun.taken ? session.runs.latest : session.runs.current;
  return format === undefined ? running(route, run, begun.after) : formatted(route, format, run, begun.after);
}

/** Handles a request in another system's format. */
async function turn(route: Route, format: EventFormat, body: object): Promise<HostResponse> {
  const { session } = route;
  await session.open();
  const { current } = session.runs;
  const events = current === undefined ? [] : session.runs.loggedEvents(current);
  const read = await ofRequest(() => format.read!(body, events, current));
  for (const answer of read.answers ?? []) await session.obey({ do: "answer", ...answer });
  if (read.prompt === undefined) {
    const { seen } = read;
    const run = seen === undefined ? session.runs.current : current;
    return formatted(route, format, run, undefined, { seen, body });
  }
  const begun = await takeTurn(session, read);
  const run = begun.taken ? session.runs.latest : read.isTurn ? read.requestId : session.runs.current;
  // The answers may have ended the run before the prompt was applied.
  const seen = run === current ? read.seen : undefined;
  const after = read.isTurn || seen !== undefined ? undefined : begun.after;
  return formatted(route, format, run, after, { seen, body });
}

/** The events of the session after a cursor, and all later ones. With `?run=`, those of a run up to its end. */
async function follow(route: Route): Promise<HostResponse> {
  const { session, request, hold = free } = route;
  const query = new URL(request.url).searchParams;
  const gone = new AbortController();
  const [run, cursor] = [query.get("run"), cursorOf(request)];
  const batches =
    run === null
      ? await session.runs.events(cursor, gone.signal)
      : await session.runs.eventsOf(run, cursor, gone.signal);
  return batches === undefined ? none() : eventStream(batches, gone, query.get("with") === "run", hold());
}

/** The events of the current run up to its end. Status 204 if there is none. */
async function stream(route: Route): Promise<HostResponse> {
  const { session, request } = route;
  await session.open();
  const format = asked(route);
  const cursor = cursorOf(request);
  if (format === undefined) return running(route, session.runs.current, cursor);
  // The run of a client that comes back may be over by now.
  const [, run, after] = /^([\w%.!~*'()-]+):(.*)$/.exec(cursor ?? "") ?? [];
  return formatted(route, format, run === undefined ? session.runs.current : decoded(run), undefined, {
    after,
  });
}

async function running(
  { session, hold = free }: Route,
  run: string | undefined,
  cursor: string | undefined,
): Promise<HostResponse> {
  const gone = new AbortController();
  const batches = run === undefined ? undefined : await session.runs.eventsOf(run, cursor, gone.signal);
  return batches === undefined ? none() : eventStream(batches, gone, false, hold());
}

/** The events of a run in another system's form. */
async function formatted(
  { session, id, hold = free }: Route,
  format: EventFormat,
  run: string | undefined,
  cursor?: string,
  from: Pick<FormattedRun, "seen" | "after" | "body"> = {},
): Promise<HostResponse> {
  const gone = new AbortController();
  const batches = run === undefined ? undefined : await session.runs.eventsOf(run, cursor, gone.signal);
  if (run === undefined || batches === undefined) return none();
  const headers = { "content-type": format.accept, "cache-control": "no-store", ...format.headers };
  const { events, hasMore } = eventsIn(session, batches);
  const output = async (): Promise<unknown> => {
    const end = await session.runs.endOf(run);
    return "result" in end ? end.result.output : undefined;
  };
  const texts = format.stream(events, { id: run, session: id, hasMore, output, ...from });
  const isEvents = new Headers(headers).get("content-type")!.startsWith("text/event-stream");
  return textStream(texts, gone, headers, hold(), isEvents ? KEEP_ALIVE : undefined);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadRequest(`There is no event "${text}".`);
  }
}

function eventsIn(session: ChatSession, batches: AsyncGenerator<Batch<ToldEvent>>) {
  let left = 0;
  let behind = 0;
  async function* events(): AsyncGenerator<RunEvent> {
    for await (const { entries, place } of batches) {
      [left, behind] = [entries.length, place];
      for (const { entry } of entries) {
        left -= 1;
        yield entry.event;
      }
    }
  }
  return { events: events(), hasMore: () => left > 0 || session.runs.last > behind };
}

function asked({ format: own, formats, request }: Route): EventFormat | undefined {
  if (own !== undefined) return own;
  const named = new URL(request.url).searchParams.get("format");
  const format = formatOf(formats, request.headers.get("accept") ?? "", named);
  if (named === null || format !== undefined) return format;
  const names = formats.map(({ name }) => name).join(", ") || "none";
  throw new BadRequest(`There is no format "${named}" here; known: ${names}.`, 406);
}

function wants({ headers }: RequestLike, type: string): boolean {
  return headers.get("accept")?.toLowerCase().includes(type) === true;
}

/** The cursor of a client that comes back. */
export function cursorOf({ headers, url }: RequestLike): string | undefined {
  return headers.get("last-event-id") || new URL(url).searchParams.get("after") || undefined;
}

/** Nothing runs, or the client has all events of the run. */
function none(): HostResponse {
  return respond(null, { status: 204 });
}

function free(): () => void {
  return () => {};
}
