/**
 * A session: one chat, its runs one behind the other, and the log of their events. It knows nothing of requests; an
 * object of Cloudflare and a handler of requests ask it the same things.
 */
import type {
  Agent,
  Chat,
  JournalEntry,
  KeptChat,
  Prompt,
  ReadChatOptions,
  Run,
  RunEvent,
  Store,
} from "../../core/api/index.js";
import type { QuestionAnswer } from "../../core/api/run.js";
import { reportUnheard } from "../../core/host/failures.js";
import { TAKEN } from "../../core/run/journal.js";
import { titleOf } from "../sessions/changes.js";
import { exported, imported } from "../sessions/transfer.js";
import { SharedLog } from "../stores/logs/shared-log.js";
import type { Batch, Numbered } from "../workers/hosting/feed.js";
import { snapshotOf } from "../workers/host.js";
import { ended, HostedRun } from "../workers/hosting/hosted-run.js";
import { Making } from "../workers/hosting/making.js";
import { thrown, type ChatState, type RunEnd } from "../workers/protocol.js";
import { LeftTranscripts, leftOf } from "./left-transcripts.js";
import { checkedCall, checkedOrder } from "./orders.js";
import { BadRequest, ofRequest } from "../workers/hosting/problems.js";
import { logOf, upToEnd, withGap, type SessionLog, type ToldEvent } from "./session-log.js";

/** The parts that a session is made of. */
export interface SessionParts {
  /** The name of the chat in the store. */
  readonly id: string;
  readonly store: Store;
  readonly log: SessionLog;
  /** Makes the agent, whose store is that of the session, when the session is opened. */
  readonly agent: () => ChatAgent;
  /** Whether clients may do everything: bring histories, change permissions, raise limits. */
  readonly trusted: boolean;
  /** Whether an order takes a run from another process that is at work on it. */
  readonly takeOver?: boolean;
  /** Called when a run begins, goes on, or does not wait for a person any more. */
  readonly watch?: () => Promise<void> | void;
  /** Called when a run begins that belongs to a chat of a page. */
  readonly note?: (title: string | undefined) => Promise<void>;
  /** Called when a run has ended. */
  readonly unwatch?: () => Promise<void> | void;
}

/** The part of an agent that a session uses. */
export type ChatAgent = Pick<Agent, "openChat" | "readChat">;

/** The chat of a session. `isElsewhere`: another process goes on with a run of it. */
interface Opened {
  readonly chat: Chat;
  readonly agent: ChatAgent;
  readonly isElsewhere: boolean;
}

/** The chat as clients see it. */
export interface SessionState {
  readonly messages: Chat["messages"];
  readonly isRunning: boolean;
  /** The place behind the last event. */
  readonly cursor: string;
}

/** A run whose events are kept as soon as its id is known. */
interface Hosting {
  readonly hear: (event: RunEvent) => void;
  /** Resolves with false when the run has begun. */
  readonly begun: Promise<false>;
  take(run: Run): void;
}

const OPENED = "";

/** The time between two looks for the events of a run of another process, in milliseconds. */
const LOOK_MS = 1000;

/** The looks after which the session is opened again, because that process may be gone. */
const LOOKS = 5;

/** The entries that are read at once in search of a run. */
const AT_ONCE = 64;

export class Session {
  readonly #parts: SessionParts;
  readonly #opened = new Making<Opened>();
  #claimed: Promise<unknown> | undefined;
  readonly #deleted = new AbortController();
  #lost = new AbortController();
  /** The last run, which may be under way. */
  #hosted: HostedRun | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** The chat, in which a run that was cut off goes on. */
  async open(): Promise<Chat> {
    return (await this.#open()).chat;
  }

  /** The run under way, if it does not wait for a person. */
  async atWork(): Promise<Run | undefined> {
    const { current } = await this.open();
    return this.#hosted?.questions.length === 0 ? current : undefined;
  }

  /** The id of the last run of this process. */
  get latest(): string | undefined {
    return this.#hosted?.run.id;
  }

  /** The id of the run that is under way here. */
  get current(): string | undefined {
    return this.#hosted?.run.outcome === undefined ? this.latest : undefined;
  }

  /** The number of the last event in the log. */
  get last(): number {
    return this.#parts.log.last;
  }

  /** The events of a run so far. */
  told(run: string): RunEvent[] {
    const { log } = this.#parts;
    const [beginning = log.last] = this.#placesOf(run);
    const told = log.behind(beginning, log.last - beginning);
    return told.flatMap(({ entry }) => (entry.run === run ? [entry.event] : []));
  }

  /** Whether there is anything of the session. */
  async isKnown(): Promise<boolean> {
    const { messages, current } = await this.open();
    return current !== undefined || messages.length > 0 || this.#parts.log.last > 0;
  }

  async state(): Promise<SessionState> {
    const { chat, isElsewhere } = await this.#open();
    const isRunning = chat.current !== undefined || isElsewhere;
    return { messages: chat.messages, isRunning, cursor: this.#cursor };
  }

  /** Does what a client orders: `run`, `answer` or `abort`. @throws BadRequest */
  async obey(given: unknown): Promise<{ readonly taken: boolean; readonly after?: string }> {
    const order = checkedOrder(given);
    const chat = await this.#ready();
    const { current } = chat;
    if (order.do === "abort") {
      current?.abort(order.reason);
      return { taken: current !== undefined };
    }
    if (order.do === "answer") {
      const { questionId, answer } = order;
      return { taken: current !== undefined && (await this.#answer(questionId, answer)) };
    }
    const { prompt, requestId } = order;
    const after = this.#cursor;
    if (requestId !== undefined && chat.hasTaken(requestId)) return { taken: false, after };
    if (current === undefined)
      await this.#begin(chat, (onEvent) => chat.run(prompt, { onEvent, id: requestId }), prompt);
    else {
      await ofRequest(() => current.steer(prompt, { requestId }));
      await current.saved();
    }
    return { taken: true, after };
  }

  /** Performs a method that an agent of `connectAgent` calls. @throws BadRequest */
  async call(given: unknown): Promise<unknown> {
    const { method, run, args, isAlone } = checkedCall(given, this.#parts.trusted);
    if (run !== undefined) return this.#callRun(run, method, args);
    if (method === "openChat") return this.#chatState();
    if (method === "readChat") {
      const transcripts = (Object(args[0]) as ReadChatOptions).transcripts === true;
      return (await this.#open()).agent.readChat(this.#parts.id, { transcripts });
    }
    const chat = await this.#ready();
    if (method === "run" || method === "compact") {
      const { id, inputs, instructions } = args.at(-1) as {
        id: string;
        inputs?: object;
        instructions?: string;
      };
      if (chat.hasTaken(id)) return undefined;
      const start = (onEvent: (event: RunEvent) => void): Run => {
        const own = { id, onEvent, ...(inputs && { inputs: inputs as any }) };
        return method === "run" ? chat.run(args[0], own) : chat.compact({ ...own, instructions });
      };
      return this.#begin(chat, start, method === "run" ? args[0] : "", isAlone);
    }
    if (method === "reset") {
      const { store, id, trusted } = this.#parts;
      if (!trusted) await new LeftTranscripts(store, id).leave(chat.messages, args[0]);
      await ofRequest(() => chat.reset(args[0]));
      this.#tellMessages(chat);
    }
    return chat.saved();
  }

  /**
   * The events behind a cursor, all without one, and each that comes later, until `left` ends that.
   *
   * @throws BadRequest
   */
  async events(cursor: string | undefined, left: AbortSignal): Promise<AsyncGenerator<Batch<ToldEvent>>> {
    const signal = AbortSignal.any([left, this.#deleted.signal, this.#lost.signal]);
    const { isElsewhere } = await this.#open();
    const { log } = this.#parts;
    const place = log.placeOf(cursor);
    if (isElsewhere) this.#look(signal);
    return place === undefined ? withGap(log.feed.read(0, signal)) : log.feed.read(place, signal);
  }

  /** The place of a cursor; undefined if the log has begun anew since. @throws BadRequest */
  async placeOf(cursor: string | undefined): Promise<number | undefined> {
    await this.#open();
    return this.#parts.log.placeOf(cursor);
  }

  /**
   * The events of a run behind a cursor, from its beginning without one, up to its end; undefined if there are none
   * any more.
   *
   * @throws BadRequest 404 if the log has no such run
   */
  async eventsOf(
    run: string,
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Batch<ToldEvent>> | undefined> {
    await this.#open();
    const { feed, last } = this.#parts.log;
    const [beginning = last, end] = this.#placesOf(run);
    if (end === undefined && this.latest !== run) throw noRun(run);
    const from = cursor ?? feed.cursorOf(beginning);
    const isRead = end?.entry.event.type === "finish" && (feed.placeOf(from) ?? 0) >= end.seq;
    return isRead ? undefined : upToEnd(run, await this.events(from, signal));
  }

  /** The whole chat as text; undefined if there is none. */
  async text(): Promise<string | undefined> {
    await (await this.open()).saved();
    return exported(this.#parts.store, this.#parts.id);
  }

  /** Takes a chat that comes from another store. The clients get its messages as a `snapshot`. @throws BadRequest */
  async take(text: string): Promise<void> {
    const before = this.#open();
    const taken = before.then((session) => this.#take(session, text));
    // Whoever asks from here on waits for the chat that this one leaves.
    const after = taken.then(
      () => this.#openChat(),
      () => before,
    );
    this.#opened.put(OPENED, after);
    await taken;
    this.#tellMessages(await this.#ready());
  }

  /** Ends the run under way, and removes what the store has of the session. */
  async delete(): Promise<void> {
    const { store, id, log } = this.#parts;
    const { current } = await this.#ready();
    if (current !== undefined) {
      current.abort("the session was deleted");
      await ended(current);
    }
    await log.written();
    for (const key of [id, logOf(id), endOf(id), leftOf(id)]) await store.delete?.(key);
    // Clients that listen ask again, and find a new session.
    this.#deleted.abort();
  }

  async #open(): Promise<Opened> {
    const opened = await this.#opened.of(OPENED, () => this.#openChat());
    // The next one to ask looks whether the other process is still at work.
    if (opened.isElsewhere) this.#opened.forget(OPENED);
    return opened;
  }

  /** The chat for an order. @throws BadRequest 409 if another process goes on with it */
  async #ready(): Promise<Chat> {
    let { chat, isElsewhere } = await this.#open();
    if (isElsewhere && this.#parts.takeOver)
      ({ chat, isElsewhere } = await this.#opened.of(OPENED, () => this.#openChat(true)));
    if (isElsewhere)
      throw new BadRequest("Another process of the server goes on with this session. Try again later.", 409);
    await this.#claim();
    return chat;
  }

  async #claim(): Promise<void> {
    const { log } = this.#parts;
    await (this.#claimed ??= Promise.resolve(log.claim()));
    await log.written();
  }

  async #openChat(takeOver = false): Promise<Opened> {
    const { log, id } = this.#parts;
    await log.load();
    const agent = this.#parts.agent();
    const [last] = log.behind(log.last - 1, 1);
    const hosting = this.#host(true);
    const afterEvent = last?.entry.event.seq ?? 0;
    const chat = await agent.openChat(id, { afterEvent, takeOver, onEvent: hosting.hear });
    const { current } = chat;
    if (current === undefined) return { chat, agent, isElsewhere: false };
    const isElsewhere = await Promise.race([endOfRun(current).then(isTaken), hosting.begun]);
    if (!isElsewhere) {
      await this.#claim();
      hosting.take(current);
      await this.#parts.watch?.();
    }
    return { chat, agent, isElsewhere };
  }

  #host(goesOn: boolean): Hosting {
    const early: RunEvent[] = [];
    let begin = (): void => {};
    const begun = new Promise<false>((resolve) => (begin = () => resolve(false)));
    let tell = (event: RunEvent): void => {
      early.push(event);
      if (event.type === "run-start") begin();
    };
    const hosted = new HostedRun(goesOn, (event) => tell(event));
    const take = (run: Run): void => {
      this.#hosted = hosted.take(run);
      tell = (event) => this.#tell(run.id, event);
      early.forEach(tell);
      void this.#end(run).catch(reportUnheard);
    };
    return { hear: hosted.hear, begun, take };
  }

  #tell(run: string, event: RunEvent): void {
    // The run has stopped waiting for a person.
    if (event.type === "answered") void this.#parts.watch?.();
    this.#parts.log.append({ run, event });
  }

  /** Tells the clients that the chat has other messages. */
  #tellMessages({ messages }: Chat): void {
    const seen = { seq: 0, agentPath: "root", iteration: 0, attempt: 0, usage: null, iterations: 0 };
    this.#tell("", { ...seen, type: "snapshot", text: "", blocks: [], messages: [...messages] });
  }

  async #begin(
    { messages }: Chat,
    start: (onEvent: (event: RunEvent) => void) => Run,
    prompt: Prompt,
    isAlone = false,
  ): Promise<void> {
    const isFirst = messages.length === 0;
    this.#parts.log.prune();
    const hosting = this.#host(false);
    const run = await ofRequest(() => {
      const begun = start(hosting.hear);
      hosting.take(begun);
      return begun;
    });
    const title = isFirst ? titleOf(prompt) : undefined;
    const noted = isAlone ? undefined : this.#parts.note?.(title).catch(reportUnheard);
    await Promise.all([this.#parts.watch?.(), noted, run.saved()]);
  }

  async #end(run: Run): Promise<void> {
    const end = await endOfRun(run);
    await this.#parts.unwatch?.();
    if (!isTaken(end)) return this.#keepEnd(run.id, end);
    // Another process goes on with the session. Clients that listen ask again.
    this.#opened.forget(OPENED);
    this.#lost.abort();
    this.#lost = new AbortController();
    this.#claimed = undefined;
  }

  #answer(questionId: number, answer: QuestionAnswer): Promise<boolean> {
    return ofRequest(() => this.#hosted!.answer(questionId, answer));
  }

  async #callRun(run: string, method: string, args: readonly any[]): Promise<unknown> {
    await this.#ready();
    const hosted = this.#hosted?.run.id === run ? this.#hosted : undefined;
    if (method === "result") return hosted ? endOfRun(hosted.run) : this.#keptEnd(run);
    if (method === "snapshot") return this.#snapshot(run, hosted);
    if (hosted === undefined && this.#placesOf(run).length === 0) throw noRun(run);
    // A call after the end changes nothing.
    if (hosted === undefined) return false;
    const value = await ofRequest(() => hosted.perform(method, args));
    if (method === "steer" || method === "followUp") await hosted.run.saved();
    return value;
  }

  /** The run so far as events, and the cursor behind which the others are. */
  async #snapshot(run: string, hosted: HostedRun | undefined): Promise<object> {
    const { feed, last } = this.#parts.log;
    const snapshot = hosted && (await snapshotOf(hosted.run));
    if (snapshot !== undefined) {
      const questions = hosted!.questions.filter(({ seq }) => seq <= snapshot.seq);
      return { cursor: feed.cursorOf(last), events: [snapshot, ...questions] };
    }
    const [beginning = hosted && last] = this.#placesOf(run);
    if (beginning === undefined) throw noRun(run);
    return { cursor: feed.cursorOf(beginning), events: [] };
  }

  async #chatState(): Promise<ChatState & { readonly cursor: string }> {
    const { messages, subagents, usage, current } = await this.#ready();
    return { messages, subagents, usage, run: current?.id ?? null, cursor: this.#cursor };
  }

  get #cursor(): string {
    const { feed, last } = this.#parts.log;
    return feed.cursorOf(last);
  }

  /** The place before the first event of a run in the log, and its last event; nothing if the log has none of it. */
  #placesOf(run: string): [beginning?: number, end?: Numbered<ToldEvent>] {
    const { log } = this.#parts;
    let places: [beginning?: number, end?: Numbered<ToldEvent>] = [];
    for (let upto = log.last; upto > 0; upto -= AT_ONCE) {
      const from = Math.max(upto - AT_ONCE, 0);
      const told = log.behind(from, upto - from).filter(({ entry }) => entry.run === run);
      if (told.length > 0) places = [told[0]!.seq - 1, places[1] ?? told.at(-1)!];
      else if (places.length > 0) break;
    }
    return places;
  }

  /** Keeps the end of the last run, for pages that hear of it in another process. */
  async #keepEnd(run: string, end: RunEnd): Promise<void> {
    const { store, id } = this.#parts;
    await store.delete?.(endOf(id));
    await new SharedLog(store, endOf(id)).add({ run, ...end });
  }

  async #keptEnd(run: string): Promise<RunEnd> {
    const { store, id } = this.#parts;
    const kept = (await new SharedLog(store, endOf(id)).load()).reverse().find((end) => end["run"] === run);
    if (kept === undefined) throw noRun(run);
    return kept as unknown as RunEnd;
  }

  /** Gives the store what it does not have of a chat that no run goes on with. */
  async #take({ chat, agent }: Opened, text: string): Promise<void> {
    const { store, id, trusted } = this.#parts;
    // Requests that have the chat already begin their runs first.
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (chat.current !== undefined) throw new BadRequest("A run of this session goes on.", 409);
    await chat.saved();
    const read = (entries: readonly JournalEntry[]): Promise<KeptChat | undefined> =>
      agent.readChat(id, { entries });
    await ofRequest(() => imported(store, id, text, read, { trusted }));
  }

  /** Reads the events of a run of another process, until `signal` ends that or the run goes on here. */
  #look(signal: AbortSignal): void {
    let looks = 0;
    const look = async (): Promise<void> => {
      if (signal.aborted) return;
      const isElsewhere = (looks += 1) % LOOKS !== 0 || (await this.#open()).isElsewhere;
      if (!isElsewhere) return;
      await this.#parts.log.load();
      setTimeout(next, LOOK_MS);
    };
    const next = (): void => void look().catch(reportUnheard);
    setTimeout(next, LOOK_MS);
  }
}

/** The key of the end of the last run. */
const endOf = (id: string): string => `looplet.end ${id}`;

function noRun(run: string): BadRequest {
  return new BadRequest(`There is no run "${run}" here.`, 404);
}

/** Whether a run has ended here because another process has it. */
function isTaken(end: RunEnd): boolean {
  if (!("result" in end)) return false;
  const { error, abortReason } = end.result;
  return error?.code === "run_held" || abortReason === TAKEN;
}

function endOfRun(run: Run): Promise<RunEnd> {
  return run.result.then(
    (result) => ({ result }),
    (error: unknown) => ({ thrown: thrown(error) }),
  );
}
