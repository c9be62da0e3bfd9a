/** The requests to a session: the words behind its path, their methods and their responses. */
import type { RunEvent } from "../../core/api/event.js";
import type { HostResponse } from "../../core/api/platform.js";
import type { Batch } from "../workers/feed.js";
import { eventStream, textStream } from "./event-stream.js";
import { formatOf, type EventFormat } from "./formats.js";
import { bodyOf, json, respond, textOf, type RequestLike } from "./http.js";
import { BadRequest } from "./problems.js";
import type { Session } from "./session.js";
import type { ToldEvent } from "./session-log.js";

export interface Route {
  readonly session: Session;
  readonly id: string;
  /** The word behind the path of the session; empty for the session itself. */
  readonly word: string;
  readonly request: RequestLike;
  readonly maxBytes: number;
  readonly formats: readonly EventFormat[];
  /** Called when the response is a stream; the function that it returns is called at the end of the stream. */
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
    const body = await bodyOf(request, maxBytes);
    if (word === "call") return json({ value: await session.call(body) });
    if (word === "run") return begin(route, body);
    return json(await session.obey({ ...body, do: word }));
  }
  if (method !== "GET") throw new BadRequest(`There is no ${method}.`, 405);
  if (word === "") return json(await session.state());
  if (word === "events") return follow(route);
  if (word === "stream") return stream(route);
  throw new BadRequest(`${word} needs the method POST.`, 405);
}

/** The chat as text, or a chat that comes from another store. */
async function transfer({ session, request, maxBytes }: Route): Promise<HostResponse> {
  if (request.method === "PUT") {
    // A body may come slowly, and the session is there for others until then.
    await session.take(await textOf(request, maxBytes));
    return json({ taken: true });
  }
  const text = await session.text();
  return respond(request.method === "GET" ? (text ?? null) : null, {
    status: text === undefined ? 404 : 200,
  });
}

/** Begins or steers a run. A client that asks for a stream gets the events of the run in the response. */
async function begin(route: Route, body: object): Promise<HostResponse> {
  const { session, request } = route;
  const format = asked(route);
  const read = format?.read?.(body);
  for (const answer of read?.answers ?? []) await session.obey({ do: "answer", ...answer });
  if (read !== undefined && read.prompt === undefined) return running(route, format, session.current);
  const begun = await session.obey({ ...(read ?? body), do: "run" });
  const isStream = format !== undefined || wants(request, "text/event-stream");
  if (!isStream) return json(begun);
  // A short run may be over by now.
  return running(route, format, begun.taken ? session.latest : session.current, begun.after);
}

/** The events of the session behind a cursor, and each that comes later; with `?run=`, those of a run up to its end. */
async function follow(route: Route): Promise<HostResponse> {
  const { session, request, hold = free } = route;
  const query = new URL(request.url).searchParams;
  const gone = new AbortController();
  const [run, cursor] = [query.get("run"), cursorOf(request)];
  const batches =
    run === null
      ? await session.events(cursor, gone.signal)
      : await session.eventsOf(run, cursor, gone.signal);
  return batches === undefined ? none() : eventStream(batches, gone, query.get("with") === "run", hold());
}

/** The events of the run under way up to its end; status 204 if there is none. */
async function stream(route: Route): Promise<HostResponse> {
  await route.session.open();
  return running(route, asked(route), route.session.current, cursorOf(route.request));
}

async function running(
  { session, id, hold = free }: Route,
  format: EventFormat | undefined,
  run: string | undefined,
  cursor?: string,
): Promise<HostResponse> {
  const gone = new AbortController();
  const batches = run === undefined ? undefined : await session.eventsOf(run, cursor, gone.signal);
  if (run === undefined || batches === undefined) return none();
  if (format === undefined) return eventStream(batches, gone, false, hold());
  const headers = { "content-type": format.accept, "cache-control": "no-store", ...format.headers };
  const texts = format.stream(eventsIn(batches), { id: run, session: id });
  return textStream(texts, gone, headers, hold());
}

async function* eventsIn(batches: AsyncGenerator<Batch<ToldEvent>>): AsyncGenerator<RunEvent> {
  for await (const { entries } of batches) for (const { entry } of entries) yield entry.event;
}

function asked({ formats, request }: Route): EventFormat | undefined {
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
