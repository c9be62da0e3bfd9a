/**
 * The host of an agent: it performs the calls of pages, keeps a log of each run, and tells the pages what the logs
 * get. It goes on with runs that a host before it has begun.
 */
import type { Agent, Chat, Run, RunEvent, Store } from "../../core/api/index.js";
import { reportUnheard } from "../../core/host/failures.js";
import { TAKEN } from "../../core/run/journal.js";
import { checkValue } from "../../core/options/check.js";
import { HostedRun, unknownMethod } from "./hosting/hosted-run.js";
import { Making } from "./hosting/making.js";
import { RunList } from "./hosting/run-list.js";
import type { RunLog } from "./hosting/run-log.js";
import {
  randomName,
  thrown,
  type Call,
  type ChatState,
  type LogEntry,
  type Ping,
  type Target,
  type Told,
} from "./protocol.js";

/** The options of `serveAgent` and `shareAgent`. */
export interface HostOptions {
  /**
   * Keeps the logs of the runs, so that a page that follows a run misses no event when another worker or page goes on
   * with it. Best the store of the agent. Default: the memory of this worker or page.
   */
  store?: Store | undefined;
  /** The number of runs whose logs stay for pages that come back. Default 20. */
  keepRuns?: number | undefined;
}

/** The time after which a page that says nothing is forgotten, in milliseconds. Hidden pages speak once a minute. */
const FORGOTTEN_MS = 300_000;

/** The number of calls of a page that are remembered. A page repeats only calls without a reply. */
const REMEMBERED_CALLS = 1000;

/** Posts a message to one page. */
export type Send = (told: Told) => void;

type Content = Told extends infer T
  ? T extends unknown
    ? Omit<T, "looplet" | "host" | "to">
    : never
  : never;

interface Page {
  send: Send;
  heardMs: number;
  /** The calls that the host has heard. A page that does not know that repeats them. */
  readonly calls: Set<number>;
}

/** A run and its log. `hosted` is undefined if it has ended in another host. */
interface Logged {
  readonly log: RunLog;
  readonly hosted: HostedRun | undefined;
}

/** A chat, and the run with which it went on when this host opened it. */
interface Opened {
  readonly chat: Chat;
  readonly goesOn: Logged | undefined;
}

export class AgentHost {
  readonly name = randomName();
  readonly #agent: Agent;
  readonly #list: RunList;
  /** Whether no other host can be at work, so that its runs may be taken from it. */
  readonly #isAlone: boolean;
  readonly #pages = new Map<string, Page>();
  readonly #runs = new Making<Logged>();
  readonly #chats = new Making<Opened>();
  /** The runs that pages follow, by page and follower. */
  readonly #following = new Map<string, AbortController>();
  readonly #working = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(agent: Agent, { store, keepRuns = 20 }: HostOptions, isAlone: boolean) {
    this.#agent = agent;
    this.#list = new RunList(store, keepRuns);
    this.#isAlone = isAlone;
  }

  /** Goes on with the runs that have not ended. A store that fails is reported. */
  async wake(): Promise<void> {
    try {
      for (const { run, chat } of await this.#list.open(!this.#isAlone))
        await this.#logged(run, chat).catch(reportUnheard);
    } catch (error) {
      reportUnheard(error);
    }
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  /** Tells nothing any more. Its runs end when they notice that another host has taken them. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Forgets a page whose port is closed, or that has said nothing for long. */
  leave(page: string): void {
    this.#pages.delete(page);
    for (const name of this.#following.keys()) if (name.startsWith(`${page} `)) this.#unfollow(name);
  }

  #unfollow(name: string): void {
    this.#following.get(name)?.abort();
    this.#following.delete(name);
  }

  /** Hears a message of a page; resolves when the call has been answered. Anything else on the channel is left alone. */
  async hear(message: unknown, send: Send): Promise<void> {
    const { looplet, from } = Object(message) as Partial<Call | Ping>;
    if (this.#isStopped || from === undefined) return;
    if (looplet === "ping") return this.#greet(from, send);
    if (looplet !== "call") return;
    const { number, target, method, args } = message as Call;
    if (this.#isRepeated(from, number)) return;
    try {
      const value = await this.#perform(from, target, method, args, send);
      if (this.#post(from, send, { type: "reply", number, value })) return;
      throw new TypeError(`no message carries what ${method} returns`);
    } catch (error) {
      this.#post(from, send, { type: "reply", number, error: thrown(error) });
    }
  }

  /** Whether a known page repeats a call that has been heard. */
  #isRepeated(page: string, number: number): boolean {
    const { calls } = this.#pages.get(page) ?? {};
    if (calls === undefined || calls.has(number)) return calls !== undefined;
    calls.add(number);
    if (calls.size > REMEMBERED_CALLS) calls.delete(calls.values().next().value!);
    return false;
  }

  #greet(page: string, send: Send): void {
    const now = Date.now();
    const known = this.#pages.get(page);
    const isNew = known === undefined;
    this.#pages.set(page, { calls: new Set(), ...known, send, heardMs: now });
    for (const [name, { heardMs }] of this.#pages) if (now - heardMs > FORGOTTEN_MS) this.leave(name);
    this.#post(page, send, { type: "pong", isNew });
  }

  /** False if the page is gone, or if no message carries the content. */
  #post(to: string, send: Send, content: Content): boolean {
    if (this.#isStopped) return true;
    try {
      send({ looplet: "told", host: this.name, to, ...content } as Told);
      return true;
    } catch {
      // The port of an extension throws when its page is closed.
      return false;
    }
  }

  async #perform(
    page: string,
    { run, chat }: Target,
    method: string,
    args: readonly unknown[],
    send: Send,
  ): Promise<unknown> {
    if (run !== undefined) {
      if (method === "leave") return this.#unfollow(`${page} ${args[0] as number}`);
      if (method === "follow") return this.#follow(page, { run, chat }, args, send);
      const { hosted } = await this.#logged(run, chat);
      // A call after the end changes nothing.
      return hosted === undefined ? false : hosted.perform(method, args);
    }
    if (chat !== undefined) return this.#performOnChat(chat, method, args);
    return this.#performOnAgent(method, args);
  }

  async #performOnAgent(method: string, args: readonly any[]): Promise<unknown> {
    const agent = this.#agent;
    const [first, second] = args;
    switch (method) {
      case "run":
        return this.#begin(second.id, undefined, (own) => agent.run(first, { ...second, ...own }));
      case "resume":
        // Entries say which calls were allowed, and a page does not decide that.
        checkValue(first, "run", "id");
        return this.#begin(second.id ?? first, undefined, (own) =>
          agent.resume(first, { ...second, ...own }),
        );
      case "compact":
        return this.#begin(second.id, undefined, (own) => agent.chat(first).compact({ ...second, ...own }));
      case "openChat":
        return stateOf((await this.#chat(first, second)).chat);
      case "readChat":
        return agent.readChat(first, second);
      case "bound":
        return agent.bound(first, second);
      case "pending":
        return agent.pending();
      case "resumePending": {
        await this.wake();
        const runs = (await this.#runs.all()).flatMap(({ hosted }) => hosted?.run ?? []);
        return runs.filter(({ outcome }) => outcome === undefined).map(({ id }) => ({ run: id }));
      }
      case "close":
        return agent.close(first);
    }
    throw unknownMethod(method);
  }

  async #performOnChat(id: string, method: string, args: readonly any[]): Promise<unknown> {
    const { chat } = await this.#chat(id);
    const [first, second] = args;
    switch (method) {
      case "run":
        return this.#begin(second.id, id, (own) => chat.run(first, { ...second, ...own }));
      case "compact":
        return this.#begin(first.id, id, (own) => chat.compact({ ...first, ...own }));
      case "reset":
        chat.reset(first);
        this.#tellChat(id, chat);
        return chat.saved();
      case "saved":
        return chat.saved();
    }
    throw unknownMethod(method);
  }

  /** Begins a run, if no host has begun it before. */
  async #begin(id: string, chat: string | undefined, start: (own: Own) => Run): Promise<void> {
    await this.#runs.of(id, () => this.#begun(id, chat, start));
  }

  async #begun(id: string, chat: string | undefined, start: (own: Own) => Run): Promise<Logged> {
    const log = await this.#list.add(id, chat);
    if ((await log.claim()) !== "new") return this.#revived(id, chat, log);
    const hosted = new HostedRun(false, (event) => void log.append({ event }));
    return this.#host(hosted.take(start({ id, onEvent: hosted.hear })), log, chat);
  }

  /** The run of this id: under way, or the log of one that has ended. A run of a host before this one goes on. */
  #logged(id: string, chat: string | undefined): Promise<Logged> {
    return this.#runs.of(id, () => this.#revived(id, chat, this.#list.log(id)));
  }

  async #revived(id: string, given: string | undefined, log: RunLog): Promise<Logged> {
    if ((await log.state()) === "over") return { log, hosted: undefined };
    const chat = given ?? (await this.#list.chatOf(id));
    if (chat !== undefined) {
      const { goesOn } = await this.#chat(chat);
      if (goesOn?.hosted?.run.id === id) return goesOn;
    }
    if ((await log.claim()) === "over") return { log, hosted: undefined };
    const hosted = new HostedRun(true, (event) => void log.append({ event }));
    const { lastEvent: afterEvent } = log;
    const run = this.#agent.resume(id, { id, takeOver: this.#isAlone, afterEvent, onEvent: hosted.hear });
    return this.#host(hosted.take(run), log, undefined);
  }

  #chat(id: string, options: { takeOver?: boolean } = {}): Promise<Opened> {
    return this.#chats.of(id, () => this.#opened(id, { takeOver: this.#isAlone, ...options }));
  }

  async #opened(id: string, options: { takeOver: boolean }): Promise<Opened> {
    const early: RunEvent[] = [];
    let tell = (event: RunEvent): unknown => early.push(event);
    const hosted = new HostedRun(true, (event) => void tell(event));
    const afterEvent = await this.#lastEventOf(id);
    const chat = await this.#agent.openChat(id, { ...options, afterEvent, onEvent: hosted.hear });
    const { current } = chat;
    if (current === undefined) return { chat, goesOn: undefined };
    const log = this.#list.log(current.id);
    await log.claim();
    tell = (event) => log.append({ event });
    early.forEach(tell);
    const goesOn = this.#host(hosted.take(current), log, id, chat);
    // After its first task the run gives late pages a snapshot.
    await new Promise((resolve) => setTimeout(resolve, 0));
    return { chat, goesOn };
  }

  /** The number of the last event that pages may have heard of a chat's last run. */
  async #lastEventOf(chat: string): Promise<number> {
    const run = await this.#list.lastOf(chat);
    if (run === undefined) return 0;
    const log = this.#list.log(run);
    await log.state();
    return log.lastEvent;
  }

  /** Keeps the end of a run in its log, and tells the pages of its chat. */
  #host(hosted: HostedRun, log: RunLog, chat: string | undefined, opened?: Chat): Logged {
    const { run } = hosted;
    const tellChat = async (): Promise<void> => {
      if (chat !== undefined) this.#tellChat(chat, opened ?? (await this.#chat(chat)).chat);
    };
    const end = run.result.then(
      (result) => {
        const isElsewhere = result.error?.code === "run_held" || result.abortReason === TAKEN;
        return isElsewhere ? log.lose({ result }) : log.append({ result });
      },
      (error: unknown) => log.append({ thrown: thrown(error) }),
    );
    const done = end.then(tellChat).catch(reportUnheard);
    this.#working.add(done);
    void done.then(() => {
      this.#working.delete(done);
      // The list of runs has the logs of the last ones.
      this.#runs.forget(run.id);
    });
    void tellChat().catch(reportUnheard);
    return { log, hosted };
  }

  /** Tells all pages; those that have not opened the chat leave it alone. */
  #tellChat(id: string, chat: Chat): void {
    for (const [page, { send }] of this.#pages)
      this.#post(page, send, { type: "chat", chat: id, state: stateOf(chat) });
  }

  /** Tells a page the log behind its cursor, or a snapshot and what comes behind it. */
  async #follow(page: string, { run, chat }: Target, args: readonly unknown[], send: Send): Promise<void> {
    const [follower, cursor, isFromHere] = args as [number, string | null | undefined, boolean | undefined];
    const name = `${page} ${follower}`;
    const left = new AbortController();
    this.#following.set(name, left);
    const logged = await this.#logged(run!, chat);
    const tell: Tell = (cursor, entry) => {
      // The page may have another port by now. One that is gone follows again when it comes back.
      const port = this.#pages.get(page)?.send ?? send;
      if (!this.#post(page, port, { type: "entry", follower, cursor, entry })) this.#unfollow(name);
    };
    const known = isFromHere ? undefined : await logged.log.placeOf(cursor ?? undefined);
    const [place, heard] = known === undefined ? await tellSoFar(logged, tell) : [known, 0];
    void tellRest(logged.log, place, heard, left.signal, tell);
  }
}

/** Tells a page an entry, with the cursor behind it. */
type Tell = (cursor: string, entry: LogEntry) => void;

/**
 * Tells a snapshot of the run and its open questions, if it has a snapshot. Returns the place in the log behind which
 * the page needs the entries, and the number of the last event that it has.
 */
async function tellSoFar({ log, hosted }: Logged, tell: Tell): Promise<[place: number, heard: number]> {
  const here = log.last;
  const snapshot = hosted && (await snapshotOf(hosted.run));
  if (snapshot === undefined) return [0, 0];
  const questions = hosted!.questions.filter(({ seq }) => seq <= snapshot.seq);
  for (const event of [snapshot, ...questions]) tell(log.feed.cursorOf(here), { event });
  return [here, snapshot.seq];
}

/** Tells what the log has behind a place. Events that a snapshot has may still be on their way into the log. */
async function tellRest(
  { feed }: RunLog,
  place: number,
  heard: number,
  signal: AbortSignal,
  tell: Tell,
): Promise<void> {
  const isNew = (entry: LogEntry): boolean => !("event" in entry) || (entry.event as RunEvent).seq > heard;
  for await (const { entries } of feed.read(place, signal))
    for (const { cursor, entry } of entries) if (isNew(entry)) tell(cursor, entry);
}

/** The options that every run of a host has. */
interface Own {
  readonly id: string;
  readonly onEvent: (event: RunEvent) => void;
}

function stateOf({ messages, subagents, usage, current }: Chat): ChatState {
  return { messages, subagents, usage, run: current?.id ?? null };
}

/** The run so far as an event; undefined if an iteration can still have all events, or if it has ended. */
export async function snapshotOf(run: Run): Promise<RunEvent | undefined> {
  if (run.outcome !== undefined) return undefined;
  const events = run.events({ detached: true });
  const { value } = await events.next();
  await events.return?.();
  return value?.type === "snapshot" ? value : undefined;
}
