/** The session of a chat on a server: what clients may order and call, and what the store has of it. */
import type {
  Agent,
  Chat,
  JournalEntry,
  SavedChat,
  Prompt,
  ReadChatOptions,
  Run,
  Store,
} from "../../core/api/index.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { titleOf } from "../../extras/sessions/changes.js";
import { exported, imported } from "../../extras/sessions/transfer.js";
import { BEGINNING, callChat, startOf, stateOf } from "../workers/hosting/chat-calls.js";
import { openedIn } from "../workers/hosting/opened-in.js";
import { BadRequest, heldElsewhere, ofRequest } from "../workers/hosting/problems.js";
import { logOf, type SessionLog } from "../workers/hosting/session-log.js";
import { Session, type SessionParts, type Start } from "../workers/hosting/session.js";
import { nextTask } from "../workers/hosting/task.js";
import { LeftTranscripts, leftOf } from "./left-transcripts.js";
import { checkedCall, checkedOrder } from "./orders.js";

/** The parts of a chat on a server. */
export interface ChatSessionParts extends Pick<SessionParts, "takeOver" | "watch" | "unwatch"> {
  /** The name of the chat in the store. */
  readonly id: string;
  readonly store: Store;
  readonly log: SessionLog;
  /** Creates the agent when the session is opened. Its store is the session's. */
  readonly agent: () => ChatAgent;
  /** Whether clients are fully trusted: they can bring histories, change permissions and raise limits. */
  readonly trusted: boolean;
  /** Called when a run starts in a chat of a page. */
  readonly note?: (title: string | undefined) => Promise<void>;
}

/** The part of an agent that a session uses. */
export type ChatAgent = Pick<Agent, "openChat" | "readChat"> & Partial<Pick<Agent, "resume">>;

/** The chat as clients see it. */
export interface SessionState {
  readonly messages: Chat["messages"];
  readonly isRunning: boolean;
  /** The cursor after the last event. */
  readonly cursor: string;
}

export class ChatSession {
  readonly #parts: ChatSessionParts;
  /** The agent with which the chat was opened. */
  #agent!: ChatAgent;
  readonly runs: Session;

  constructor(parts: ChatSessionParts) {
    this.#parts = parts;
    this.runs = new Session({
      ...parts,
      open: (options) => openedIn((this.#agent = parts.agent()), parts.store, parts.id, options),
    });
  }

  /** The chat. A run that was cut off resumes in it. */
  async open(): Promise<Chat> {
    return (await this.runs.open()).chat!;
  }

  /** Whether the session exists. */
  async isKnown(): Promise<boolean> {
    const { messages, current } = await this.open();
    return current !== undefined || messages.length > 0 || this.runs.last > 0;
  }

  async state(): Promise<SessionState> {
    const { chat, held } = await this.runs.open();
    const { messages, current } = chat!;
    return { messages, isRunning: (current ?? held) !== undefined, cursor: this.runs.cursor };
  }

  /** Executes a client's order: `run`, `answer` or `abort`. @throws BadRequest */
  async obey(given: unknown): Promise<{ readonly taken: boolean; readonly after?: string }> {
    const { trusted } = this.#parts;
    const order = await checkedOrder(given, trusted);
    const chat = await this.#ready();
    const { current } = chat;
    if (order.do === "abort") {
      current?.abort(order.reason);
      return { taken: current !== undefined };
    }
    if (order.do === "answer") {
      if (current === undefined) return { taken: false };
      const { questionId, answer } = order;
      return { taken: (await this.runs.call(current.id, "answer", [questionId, answer, !trusted])) === true };
    }
    const { prompt } = order;
    const requestId = order.requestId ?? undefined;
    const after = this.runs.cursor;
    if (requestId !== undefined && chat.hasTaken(requestId)) return { taken: false, after };
    if (current === undefined) {
      const run = await this.#begin(chat, (onEvent) => chat.run(prompt, { onEvent, id: requestId }), prompt);
      // Nothing of the prompt is saved then.
      if (run.outcome === "failed" && (await run.result).error?.code === "run_held") throw heldElsewhere();
    } else {
      await ofRequest(() => current.steer(prompt, { requestId }), true);
      await current.saved();
    }
    return { taken: true, after };
  }

  /** Performs a method that an agent of `connectAgent` calls. @throws BadRequest */
  async call(given: unknown): Promise<unknown> {
    const { store, id, trusted } = this.#parts;
    const { method, run, args, isAlone } = await checkedCall(given, trusted);
    if (run !== undefined) return this.#callRun(run, method, args);
    if (method === "readChat") {
      await this.open();
      const transcripts = (Object(args[0]) as ReadChatOptions).transcripts === true;
      return this.#agent.readChat(id, { transcripts });
    }
    const chat = await this.#ready();
    if (method === "openChat") return { ...stateOf(chat), cursor: this.runs.cursor };
    if (BEGINNING.includes(method)) {
      if (chat.hasTaken((args.at(-1) as { id: string }).id)) return undefined;
      await this.#begin(chat, startOf(chat, method, args), method === "run" ? args[0] : "", isAlone);
      return undefined;
    }
    if (method === "reset" && !trusted) await new LeftTranscripts(store, id).leave(chat.messages, args[0]);
    return callChat(this.runs, chat, method, args);
  }

  /** The whole chat as text, or undefined. */
  async text(): Promise<string | undefined> {
    await (await this.open()).saved();
    return exported(this.#parts.store, this.#parts.id);
  }

  /** Takes a chat that comes from another store. The clients get its messages as a `snapshot`. @throws BadRequest */
  async take(text: string): Promise<void> {
    const { store, id, trusted } = this.#parts;
    await this.runs.reopen(async ({ chat }) => {
      // Requests that already have the chat start their runs first.
      await nextTask();
      if (chat!.current !== undefined) throw new BadRequest("A run of this session is in progress.", 409);
      await chat!.saved();
      const read = (entries: readonly JournalEntry[]): Promise<SavedChat | undefined> =>
        this.#agent.readChat(id, { entries });
      await ofRequest(() => imported(store, id, text, read, { trusted }));
    });
    this.runs.tellMessages(await this.#ready());
  }

  /** Ends the current run, and deletes the session from the store. */
  async delete(): Promise<void> {
    const { store, id } = this.#parts;
    const { current } = await this.#ready();
    current?.abort("the session was deleted");
    await this.runs.idle();
    for (const key of [id, logOf(id), leftOf(id)]) await store.delete?.(key);
    // Connected clients reconnect and find a new session.
    this.runs.close();
  }

  async #ready(): Promise<Chat> {
    return (await this.runs.ready()).chat!;
  }

  /** The chat is ready, and the run starts immediately. */
  async #begin(chat: Chat, start: Start, prompt: Prompt, isAlone = false): Promise<Run> {
    const isFirst = chat.messages.length === 0;
    const run = await this.runs.begin(chat, start);
    // The run has checked the prompt.
    const title = isFirst ? titleOf(prompt) : undefined;
    const noted = isAlone ? undefined : this.#parts.note?.(title).catch(reportUncaught);
    await Promise.all([noted, run.saved()]);
    return run;
  }

  async #callRun(run: string, method: string, args: readonly any[]): Promise<unknown> {
    await this.runs.ready();
    const current: Run | undefined = this.runs.run;
    const value = await this.runs.call(run, method, args);
    if (method === "steer" || method === "followUp") await current?.saved();
    return value;
  }
}
