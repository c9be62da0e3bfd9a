/** The sessions of a host by their names: each a chat, or a run without one. Those of the last runs stay. */
import type { Agent, Chat, Run, Store } from "../../../core/api/index.js";
import { reportUncaught } from "../../../core/kit/runs.js";
import { OnceAsync } from "./once-async.js";
import { openedIn, type Opening } from "./opened-in.js";
import { RunList, sessionOf, type ListedRun } from "./run-list.js";
import { Session, type Start } from "./session.js";

export class Sessions {
  readonly #agent: Agent;
  readonly #store: Store | undefined;
  readonly #list: RunList;
  readonly #keep: number;
  readonly #isOnly: boolean;
  readonly #changed: (id: string, chat: Chat) => void;
  /** In order of use: the last used session is last. */
  readonly #sessions = new Map<string, Session>();
  /** The runs that clients start. Calls of such a run wait until it has started. */
  readonly #beginning = new OnceAsync<void>();

  /**
   * `keep` is the number of runs to retain. `isOnly`: no other host can be running. `changed` is called when a run of
   * a chat starts, resumes or ends, and when the messages of a chat change.
   */
  constructor(
    agent: Agent,
    store: Store | undefined,
    keep: number,
    isOnly: boolean,
    changed: (id: string, chat: Chat) => void,
  ) {
    this.#agent = agent;
    this.#store = store;
    this.#list = new RunList(store, keep);
    this.#keep = keep;
    this.#isOnly = isOnly;
    this.#changed = changed;
  }

  /** The sessions with a run under way. */
  get running(): Session[] {
    return [...this.#sessions.values()].filter(({ run }) => run !== undefined);
  }

  /** Resumes the runs that have not ended. A failing store is reported. */
  async wake(): Promise<void> {
    try {
      for (const listed of await this.#list.open(!this.#isOnly))
        await this.#session(listed).open().catch(reportUncaught);
    } catch (error) {
      reportUncaught(error);
    }
  }

  async idle(): Promise<void> {
    do await Promise.all([...this.#sessions.values()].map((session) => session.idle()));
    while (this.running.length > 0);
  }

  /** Stops all sessions from sending. */
  close(): void {
    for (const session of this.#sessions.values()) session.close();
  }

  ofChat(id: string): Session {
    return this.#session({ run: "", chat: id });
  }

  /** The session of a run, after its start. */
  async ofRun(run: string, chat: string | undefined): Promise<Session> {
    await this.#beginning.get(run);
    if (chat !== undefined) return this.ofChat(chat);
    for (const session of this.#sessions.values()) if (session.latest === run) return session;
    const known = await this.#list.chatOf(run);
    return known === undefined ? this.#session({ run }) : this.ofChat(known);
  }

  /** Starts a run, unless a host has started it before. With `takeOver`, acquires it from that host. */
  begin(listed: ListedRun, start: (chat: Chat | undefined) => Start, takeOver?: boolean): Promise<void> {
    const { run } = listed;
    const begun = this.#beginning.of(run, async () => {
      await this.#list.add(listed);
      const session = this.#session(listed, true);
      await session.open(takeOver);
      const { chat } = await session.ready();
      if (!(chat?.hasTaken(run) ?? session.has(run))) await session.begin(chat, start(chat));
      if (this.#beginning.size === 1) this.#forgetOld();
    });
    return begun.finally(() => this.#beginning.forget(run));
  }

  /** `isNew`: starts a run without a chat, if the log does not contain it. */
  #session(listed: ListedRun, isNew = false): Session {
    const name = sessionOf(listed);
    const session = this.#sessions.get(name) ?? this.#make(listed, isNew);
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    return session;
  }

  #make(listed: ListedRun, isNew: boolean): Session {
    const { run, chat: id } = listed;
    const log = this.#list.logOf(sessionOf(listed));
    const resumeRun = async ({ unfinished: _, ...options }: Opening): Promise<{ run?: Run }> => {
      // Another host may start the run at the same moment.
      if (isNew && log.last === 0) await session.claim();
      const [last] = log.behind(log.last - 1, 1);
      const isUnderWay = last === undefined ? !isNew : last.entry.end === undefined;
      if (!isUnderWay) return {};
      const kept = await this.#agent.readChat(run, { transcripts: true });
      const afterEvent = kept && options.afterEvent(kept);
      return { run: this.#agent.resume(run, { ...options, id: run, afterEvent }) };
    };
    const session = new Session({
      log,
      isOnly: this.#isOnly,
      takeOver: this.#isOnly,
      open: (options) =>
        id === undefined ? resumeRun(options) : openedIn(this.#agent, this.#store, id, options),
      changed: (chat) => this.#changed(id!, chat),
    });
    return session;
  }

  /** Forgets the least recently used sessions without a current run. */
  #forgetOld(): void {
    for (const [name, { latest, run }] of this.#sessions) {
      if (this.#sessions.size <= this.#keep) return;
      if (latest !== undefined && run === undefined) this.#sessions.delete(name);
    }
  }
}
