/**
 * A session: the runs of a chat one after another, or one run without a chat, and the log of their events and ends.
 * It is independent of requests, messages and pages. Every host of an agent has its runs in sessions: a worker, a
 * Cloudflare object and a request handler.
 */
import type { Chat, SavedChat, Run, RunEvent } from "../../../core/api/index.js";
import { reportUncaught } from "../../../core/kit/runs.js";
import type { RunEnd } from "../protocol.js";
import { endOfRun, endWith, isTaken, lostEnd } from "./ends.js";
import type { Batch } from "./feed.js";
import { HostedRun } from "./hosted-run.js";
import { OnceAsync } from "./once-async.js";
import type { OpenedIn, Opening } from "./opened-in.js";
import { BadRequest, heldElsewhere, ofRequest } from "./problems.js";
import {
  entriesOf,
  isLast,
  toldIn,
  withGap,
  type SessionEntry,
  type SessionLog,
  type ToldEvent,
} from "./session-log.js";
import { nextTask } from "./task.js";
import { unloggedIn } from "./unlogged.js";

/** The parts that a session is made of. */
export interface SessionParts {
  readonly log: SessionLog;
  /** Opens what the store has: the chat, and the run that resumes. */
  readonly open: (options: Opening) => Promise<OpenedIn>;
  /** Whether no other process can be running, so that a run is acquired from any earlier process. */
  readonly isOnly?: boolean;
  /** Whether an order acquires a run that another process is performing. */
  readonly takeOver?: boolean;
  /** Called when a run starts or resumes, and when it stops waiting for the user. */
  readonly watch?: () => Promise<void> | void;
  /** Called when a run has ended. */
  readonly unwatch?: () => Promise<void> | void;
  /** Called when a run of the chat starts, resumes or ends, and when the messages of the chat change. */
  readonly changed?: (chat: Chat) => void;
}

/** Starts a run with this listener. */
export type Start = (onEvent: (event: RunEvent) => void) => Run;

/** A session that is open. */
export interface Opened {
  readonly chat: Chat | undefined;
  /** The run that another process performs. */
  readonly held: Held | undefined;
}

/** A run that has ended here because another process performs it, as this process saw it end. */
export interface Held {
  readonly run: string;
  readonly events: readonly RunEvent[];
  readonly end: RunEnd;
}

const OPENED = "";

/** The options of a run that its client gives. Errors of others are the server's. */
const GIVEN = ["id", "prompt", "messages", "inputs", "instructions"];

/** The time between two looks for the events of a run of another process, in milliseconds. */
const LOOK_MS = 1000;

/** The number of polls after which the session is opened again, because that process may have crashed. */
const LOOKS = 5;

export class Session {
  readonly #parts: SessionParts;
  readonly #opened = new OnceAsync<Opened>();
  #claimed: unknown;
  readonly #closed = new AbortController();
  #lost = new AbortController();
  #held: Held | undefined;
  /** The current run, until its end is logged. */
  #hosted: HostedRun | undefined;
  #latest: string | undefined;
  #ending: Promise<void> = Promise.resolve();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** The run that is under way here. */
  get run(): Run | undefined {
    return this.#hosted?.run;
  }

  /** The id of the run that is under way here. */
  get current(): string | undefined {
    return this.run?.id;
  }

  /** Whether the current run waits for the user. */
  get isWaiting(): boolean {
    return this.#hosted !== undefined && this.#hosted.questions.length > 0;
  }

  /** The id of the last run of this process. */
  get latest(): string | undefined {
    return this.#latest;
  }

  /** The number of the last entry in the log. */
  get last(): number {
    return this.#parts.log.last;
  }

  /** The cursor after the last entry. */
  get cursor(): string {
    return this.#parts.log.feed.cursorOf(this.last);
  }

  /** The events of a run so far. */
  loggedEvents(run: string): RunEvent[] {
    return entriesOf(this.#parts.log, run).flatMap(({ entry }) => entry.event ?? []);
  }

  /** Resolves when the current run has ended, and its end is logged. */
  idle(): Promise<void> {
    return this.#ending;
  }

  /**
   * The contents of the store, opened once. A run that was cut off resumes. With `takeOver`, a run of another process
   * does too.
   */
  async open(takeOver = false): Promise<Opened> {
    const opened = await this.#openOnce();
    return opened.held !== undefined && takeOver ? this.#openOnce(true) : opened;
  }

  #openOnce(takeOver?: boolean): Promise<Opened> {
    return this.#opened.of(OPENED, async () => {
      const opened = await this.#open(takeOver);
      // The next caller checks whether the other process is still running.
      if (opened.held !== undefined) this.#opened.forget(OPENED);
      return opened;
    });
  }

  /** The session for an order. @throws BadRequest 409 if another process performs its run */
  async ready(): Promise<Opened> {
    const opened = await this.open(this.#parts.takeOver);
    if (opened.held !== undefined) throw heldElsewhere();
    await this.claim();
    // The end of a run is logged before the next one starts.
    if (this.run?.outcome !== undefined) await this.#ending;
    return opened;
  }

  /** Makes the log this process's. */
  async claim(): Promise<void> {
    const { log } = this.#parts;
    await (this.#claimed ??= log.claim() ?? true);
    await log.written();
  }

  /** Makes later callers wait until `work` has changed the store, which is then opened again. */
  async reopen(work: (opened: Opened) => Promise<void>): Promise<void> {
    const before = this.open();
    const done = before.then(work);
    const after = done.then(
      () => this.#open(),
      () => before,
    );
    this.#opened.put(OPENED, after);
    await done;
  }

  /** Whether the log has a run, or will have it. */
  has(run: string): boolean {
    return this.#latest === run || entriesOf(this.#parts.log, run).length > 0;
  }

  /** Starts a run immediately when the session is ready: in its chat, or without a chat. @throws BadRequest */
  async begin(chat: Chat | undefined, start: Start): Promise<Run> {
    this.#parts.log.prune();
    const hosted = new HostedRun(false);
    const run = await ofRequest(() => {
      const begun = start(hosted.hear);
      this.#take(hosted, begun, chat);
      return begun;
    }, GIVEN);
    await this.#parts.watch?.();
    return run;
  }

  /** Performs a method of a run that a client calls. @throws BadRequest */
  async call(run: string, method: string, args: readonly any[]): Promise<unknown> {
    await this.ready();
    if (method === "result") return this.endOf(run);
    if (method === "snapshot") return this.snapshot(run);
    const hosted = this.#hostedAs(run);
    if (hosted !== undefined) return ofRequest(() => hosted.perform(method, args), true);
    if (!this.has(run)) throw noRun(run);
    // A call after the end has no effect.
    return false;
  }

  /** The run so far as events, and the cursor after which the others follow. @throws BadRequest 404 */
  async snapshot(run: string): Promise<{ readonly cursor: string; readonly events: readonly RunEvent[] }> {
    const { log } = this.#parts;
    const hosted = this.#hostedAs(run);
    const here = log.last;
    const events = (await hosted?.snapshot()) ?? [];
    return { cursor: log.feed.cursorOf(events.length > 0 ? here : this.#beginningOf(run)), events };
  }

  /** The end of a run. For a run of a chat, it has the chat's current messages. @throws BadRequest 404 */
  async endOf(run: string): Promise<RunEnd> {
    const hosted = this.#hostedAs(run);
    if (hosted !== undefined) return endOfRun(hosted.run);
    const { chat } = await this.open();
    await this.#parts.log.written();
    const { end } = entriesOf(this.#parts.log, run).at(-1)?.entry ?? {};
    if (end === undefined) throw noRun(run);
    return chat === undefined ? end : endWith(end, chat);
  }

  /** The run that another process performs, as far as this process knows. */
  get held(): Held | undefined {
    return this.#held;
  }

  /** The position of a cursor. Undefined if the log has been restarted since. @throws BadRequest */
  async placeOf(cursor: string | undefined): Promise<number | undefined> {
    await this.open();
    return this.#parts.log.placeOf(cursor);
  }

  /**
   * The events after a cursor, or all without one, and all later ones, until `left` aborts.
   *
   * @throws BadRequest
   */
  async events(cursor: string | undefined, left: AbortSignal): Promise<AsyncGenerator<Batch<ToldEvent>>> {
    return toldIn(await this.#read(cursor, left));
  }

  /**
   * The events of a run after a cursor, or from its start without one, up to its end. Undefined if no more will
   * follow.
   *
   * @throws BadRequest 404 if the log has no such run
   */
  async eventsOf(
    run: string,
    cursor: string | undefined,
    left: AbortSignal,
  ): Promise<AsyncGenerator<Batch<ToldEvent>> | undefined> {
    const { held } = await this.open();
    const { log } = this.#parts;
    const isUnderWay = this.current === run || held?.run === run;
    if (!isUnderWay) await log.written();
    const last = entriesOf(log, run).at(-1);
    const isOver = last !== undefined && isLast(last.entry);
    // Its process may have crashed before the end was logged.
    if (!isOver && !isUnderWay) throw noRun(run);
    const from = cursor ?? log.feed.cursorOf(this.#beginningOf(run));
    const isRead = isOver && (log.feed.placeOf(from) ?? 0) >= last.seq;
    return isRead ? undefined : toldIn(await this.#read(from, left), run);
  }

  /** Sends the clients the changed messages of the chat. */
  tellMessages(chat: Chat): void {
    const seen = { seq: 0, agentPath: "root", iteration: 0, attempt: 0, usage: null, iterations: 0 };
    this.#parts.log.append({
      run: "",
      event: { ...seen, type: "snapshot", text: "", blocks: [], messages: [...chat.messages] },
    });
    this.#parts.changed?.(chat);
  }

  /** Stops writing to clients and to the log. Clients that reconnect find another session. */
  close(): void {
    this.#closed.abort();
  }

  async #open(takeOver = this.#parts.isOnly === true && this.#held === undefined): Promise<Opened> {
    const { log, open, watch } = this.#parts;
    await log.load();
    const [last] = log.behind(log.last - 1, 1);
    const hosted = new HostedRun(true);
    const isUnfinished = last !== undefined && last.entry.run !== "" && !isLast(last.entry);
    const unfinished = isUnfinished ? last.entry.run : undefined;
    let unlogged = (): RunEvent[] => [];
    const afterEvent = (kept: SavedChat): number => {
      const log = (): RunEvent[] => this.loggedEvents(kept.lastRun);
      unlogged = () => unloggedIn(kept, log());
      return [...log(), ...unlogged()].at(-1)?.seq ?? 0;
    };
    const { chat, run, isLost } = await open({ afterEvent, takeOver, onEvent: hosted.hear, unfinished });
    const end = run && (await Promise.race([endOfRun(run), hosted.begun]));
    const held = end && isTaken(run, end) ? { run: run.id, events: hosted.early, end } : undefined;
    this.#held = held;
    if (unfinished !== undefined && isLost === true && held === undefined) {
      await this.claim();
      this.#tell({ run: unfinished, ...lostEnd(unfinished, (last?.entry.event?.seq ?? 0) + 1) });
    }
    if (run !== undefined && held === undefined) {
      await this.claim();
      for (const event of unlogged()) this.#tell({ run: run.id, event });
      this.#take(hosted, run, chat);
      await watch?.();
      // After its first task the run gives late clients a snapshot.
      await nextTask();
    }
    return { chat, held };
  }

  /** Writes the events of a run and its end to the log. */
  #take(hosted: HostedRun, run: Run, chat: Chat | undefined): void {
    this.#hosted = hosted;
    this.#latest = run.id;
    hosted.take(run, (event) => {
      this.#tell({ run: run.id, event });
      // The run has stopped waiting for the user.
      if (event.type === "answered") void this.#parts.watch?.();
    });
    if (chat !== undefined) this.#parts.changed?.(chat);
    const end = endOfRun(run).then((end) => this.#end(hosted, end, chat));
    this.#ending = end.catch(reportUncaught);
  }

  #tell(entry: SessionEntry): void {
    if (!this.#closed.signal.aborted) this.#parts.log.append(entry);
  }

  async #end({ run, last }: HostedRun, end: RunEnd, chat: Chat | undefined): Promise<void> {
    const { log, unwatch, changed } = this.#parts;
    const { id } = run;
    if (this.current === id) this.#hosted = undefined;
    if (isTaken(run, end)) {
      this.#held = { run: id, events: last, end };
      this.#opened.forget(OPENED);
      this.#claimed = undefined;
      // Another process performs the session's run. Connected clients reconnect.
      this.#lost.abort();
      this.#lost = new AbortController();
    } else {
      const event = last.pop();
      for (const event of last) this.#tell({ run: id, event });
      this.#tell({ run: id, event, end: chat === undefined ? end : endWith(end, {}) });
    }
    await log.written();
    await unwatch?.();
    if (chat !== undefined) changed?.(chat);
  }

  #hostedAs(run: string): HostedRun | undefined {
    return this.#hosted?.run.id === run ? this.#hosted : undefined;
  }

  /** The place before the first event of a run. @throws BadRequest 404 */
  #beginningOf(run: string): number {
    const { log } = this.#parts;
    const [first] = entriesOf(log, run);
    if (first === undefined && this.#latest !== run) throw noRun(run);
    return (first?.seq ?? log.last + 1) - 1;
  }

  async #read(cursor: string | undefined, left: AbortSignal): Promise<AsyncGenerator<Batch<SessionEntry>>> {
    const signal = AbortSignal.any([left, this.#closed.signal, this.#lost.signal]);
    const { held } = await this.open();
    const { log } = this.#parts;
    const place = log.placeOf(cursor);
    if (held !== undefined) this.#look(signal);
    return place === undefined ? withGap(log.feed.read(0, signal)) : log.feed.read(place, signal);
  }

  /** Reads the events of another process's run, until `signal` aborts or the run resumes here. */
  #look(signal: AbortSignal): void {
    let looks = 0;
    const look = async (): Promise<void> => {
      if (signal.aborted) return;
      const isHeld = (looks += 1) % LOOKS !== 0 || (await this.open()).held !== undefined;
      if (!isHeld) return;
      await this.#parts.log.load();
      setTimeout(next, LOOK_MS);
    };
    const next = (): void => void look().catch(reportUncaught);
    setTimeout(next, LOOK_MS);
  }
}

function noRun(run: string): BadRequest {
  return new BadRequest(`There is no run "${run}" here.`, 404);
}
