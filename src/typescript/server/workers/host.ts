/**
 * The host of an agent for pages. It receives their calls, finds the session of each call, and sends each page the
 * runs that it follows. The sessions do the rest.
 */
import type { Agent, Chat, Run, RunOptions, Store } from "../../core/api/index.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { checkValue } from "../../core/kit/check.js";
import { BEGINNING, callChat, startOf, stateOf } from "./hosting/chat-calls.js";
import type { Batch } from "./hosting/feed.js";
import { unknownMethod } from "./hosting/hosted-run.js";
import { BadRequest } from "./hosting/problems.js";
import type { Session } from "./hosting/session.js";
import type { ToldEvent } from "./hosting/session-log.js";
import { Sessions } from "./hosting/sessions.js";
import { Pages, type Send, type Tell } from "./pages/pages.js";
import { thrown, type Call, type Ping, type Target } from "./protocol.js";

/** The options of `serveAgent` and `shareAgent`. */
export interface HostOptions {
  /**
   * Stores the logs of the runs, so that a page that follows a run misses no event when another worker or page
   * resumes it. Usually the agent's store. Default: the memory of this worker or page.
   */
  store?: Store | undefined;
  /** The number of runs with logs that are retained for pages that reconnect. Default 20. */
  keepRuns?: number | undefined;
}

export class AgentHost {
  readonly #agent: Agent;
  readonly #pages = new Pages();
  readonly #sessions: Sessions;

  /** `isAlone`: no other host can be at work, so that its runs may be taken from it. */
  constructor(agent: Agent, { store, keepRuns = 20 }: HostOptions, isAlone: boolean) {
    this.#agent = agent;
    // Pages that have not opened the chat ignore this.
    const changed = (id: string, chat: Chat): void =>
      this.#pages.postAll({ type: "chat", chat: id, state: stateOf(chat) });
    this.#sessions = new Sessions(agent, store, keepRuns, isAlone, changed);
  }

  /** Resumes the runs that have not ended. A failing store is reported. */
  wake(): Promise<void> {
    return this.#sessions.wake();
  }

  /** Resolves when no run is in progress, and all ends are logged. */
  idle(): Promise<void> {
    return this.#sessions.idle();
  }

  /** Sends nothing any more. Its runs end when they notice that another host has acquired them. */
  stop(): void {
    this.#pages.stop();
    this.#sessions.close();
  }

  /** Forgets a page with a closed port. */
  leave(page: string): void {
    this.#pages.leave(page);
  }

  /**
   * Handles a message of a page. Resolves when the call has been answered. Other messages on the channel are ignored.
   */
  async hear(message: unknown, send: Send): Promise<void> {
    const { looplet, from } = Object(message) as Partial<Call | Ping>;
    if (this.#pages.isStopped || from === undefined) return;
    if (looplet === "ping") return this.#pages.greet(from, send);
    if (looplet !== "call") return;
    const { number, target, method, args } = message as Call;
    if (this.#pages.isRepeated(from, number)) return;
    try {
      const value = await this.#perform(from, target, method, args, send);
      if (this.#pages.post(from, send, { type: "reply", number, value })) return;
      throw new TypeError(`no message carries what ${method} returns`);
    } catch (error) {
      const cause = error instanceof BadRequest ? (error.cause ?? error) : error;
      this.#pages.post(from, send, { type: "reply", number, error: thrown(cause) });
    }
  }

  async #perform(
    page: string,
    target: Target,
    method: string,
    args: readonly any[],
    send: Send,
  ): Promise<unknown> {
    const { run, chat } = target;
    if (run !== undefined) {
      if (method === "leave") return this.#pages.unfollow(page, args[0]);
      const session = await this.#sessions.ofRun(run, chat);
      if (method === "follow") return this.#follow(session, run, page, args, send);
      return session.call(run, method, args);
    }
    if (chat === undefined) return this.#performOnAgent(method, args);
    if (BEGINNING.includes(method))
      return this.#sessions.begin({ run: args.at(-1).id, chat }, (chat) => startOf(chat!, method, args));
    const session = this.#sessions.ofChat(chat);
    return callChat(session, (await session.ready()).chat!, method, args);
  }

  async #performOnAgent(method: string, args: readonly any[]): Promise<unknown> {
    const agent = this.#agent;
    const [first, second] = args;
    /** Starts a run without a chat. */
    const begin = (run: string, start: (own: RunOptions) => Run, takeOver?: boolean): Promise<void> =>
      this.#sessions.begin({ run }, () => (onEvent) => start({ ...second, id: run, onEvent }), takeOver);
    switch (method) {
      case "run":
        return begin(second.id, (own) => agent.run(first, own));
      case "resume":
        // Entries say which calls were allowed, and a page does not decide that.
        checkValue(first, "run", "id");
        return begin(second.id ?? first, (own) => agent.resume(first, own), second.takeOver);
      case "compact":
        return begin(second.id, (own) => agent.chat(first).compact(own));
      case "openChat": {
        const { chat, held } = await this.#sessions.ofChat(first).open(second?.takeOver);
        const state = stateOf(chat!);
        // A run that another host has fails here.
        return { ...state, run: state.run ?? held?.run ?? null };
      }
      case "readChat":
        return agent.readChat(first, second);
      case "bound":
        return agent.bound(first, second);
      case "pending":
        return agent.pending();
      case "resumePending":
        await this.wake();
        return this.#sessions.running.map(({ current }) => ({ run: current }));
      case "close":
        return agent.close(first);
    }
    throw unknownMethod(method);
  }

  /** Sends a page the events of a run after its cursor, or a snapshot and the events after it. */
  async #follow(
    session: Session,
    run: string,
    page: string,
    args: readonly unknown[],
    send: Send,
  ): Promise<void> {
    const [follower, given, isFromHere = false] = args as [number, string | null | undefined, boolean?];
    const [tell, left] = this.#pages.follow(page, follower, send);
    const { held } = await session.open();
    const rest = (heard: number, batches?: AsyncGenerator<Batch<ToldEvent>>): void =>
      void tellRest(session, run, heard, batches, left, tell).catch(reportUncaught);
    if (held?.run === run) return rest(0);
    const isKnown = !isFromHere && (await session.placeOf(given ?? undefined)) !== undefined;
    const { cursor, events } = isKnown ? { cursor: given, events: [] } : await session.snapshot(run);
    for (const event of events) tell(cursor!, { event });
    const batches = await session.eventsOf(run, cursor ?? undefined, left);
    rest(events[0]?.seq ?? 0, batches);
  }
}

/** Sends the events that a page does not have, and the end of the run. */
async function tellRest(
  session: Session,
  run: string,
  heard: number,
  batches: AsyncGenerator<Batch<ToldEvent>> | undefined,
  left: AbortSignal,
  tell: Tell,
): Promise<void> {
  // Events of a snapshot may not have reached the log yet.
  for await (const { entries } of batches ?? [])
    for (const { cursor, entry } of entries)
      if (entry.event.seq > heard) tell(cursor, { event: entry.event });
  if (left.aborted) return;
  // Another host continues the run.
  const held = session.held?.run === run ? session.held : undefined;
  for (const event of held?.events ?? []) tell(session.cursor, { event });
  tell(session.cursor, held?.end ?? (await session.endOf(run)));
}
