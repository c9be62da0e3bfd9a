/** The session of a query: its id, its history, and what its store is given. */
import type { Message } from "../../../core/api/index.js";
import { HOST_CLOCK, withTimeLimit } from "../../../core/kit/journal.js";
import { wrong } from "../options/check.js";
import type { PlainOptions } from "../options/options.js";
import type { TranscriptMessage } from "../turn.js";
import { checkDropped } from "./dropped-turn.js";
import { Mirror } from "./mirror.js";
import {
  historyOf,
  loaded,
  markOf,
  processStore,
  type SessionEntry,
  type SessionKey,
  type SessionStore,
} from "./sessions.js";
import { subpathOf } from "./subagents.js";

/** The time that a hook waits for the store, in milliseconds. */
const HOOK_MS = 5_000;

export class KeptSession {
  id = "";
  readonly #options: PlainOptions;
  readonly #uuid: () => string;
  readonly #mirror: Mirror | undefined;
  /** The title of a new session, until its first message is saved. */
  #title: string | undefined;

  /** `lost` is called with errors of the store. */
  constructor(options: PlainOptions, uuid: () => string, lost: (error: unknown, key: SessionKey) => void) {
    this.#options = options;
    this.#uuid = uuid;
    const { sessionStoreFlush = "batched", host } = options;
    if (options.persistSession !== false)
      this.#mirror = new Mirror(this.#store, sessionStoreFlush, host?.clock, lost);
  }

  /** The history of the session that the options name. */
  async open(): Promise<Message[]> {
    const {
      resume,
      continue: continues,
      forkSession,
      sessionId,
      resumeSessionAt,
      resumeDropsTurn,
    } = this.#options;
    const before = resume ?? (continues ? await this.#latest() : undefined);
    if (before === undefined) {
      await this.#checkNew(sessionId);
      this.#title = this.#options.title;
      this.id = sessionId ?? this.#uuid();
      return [];
    }
    const entries = await loaded(this.#store, this.#key(before), resumeSessionAt);
    if (resumeDropsTurn !== undefined) {
      this.id = before;
      checkDropped((await loaded(this.#store, this.#key(before))).slice(entries.length), resumeDropsTurn);
    }
    if (forkSession) await this.#checkNew(sessionId);
    this.id = forkSession ? (sessionId ?? this.#uuid()) : before;
    if (forkSession) this.#keep(entries);
    // Messages after the cut do not belong to the session any more.
    else if (resumeSessionAt !== undefined) this.compacted(historyOf(entries));
    return historyOf(entries);
  }

  /** @throws TypeError for an id that another session may have: the two would be merged */
  async #checkNew(sessionId: string | undefined): Promise<void> {
    if (sessionId === undefined || this.#mirror === undefined) return;
    const entries = await this.#store.load(this.#key(sessionId));
    if (entries && entries.length > 0)
      wrong(
        "options.sessionId",
        `is the id of an existing session: "${sessionId}"; to continue it, pass the id as resume`,
      );
  }

  /** Begins a session without a history. */
  clear(): void {
    this.id = this.#uuid();
  }

  save(messages: readonly TranscriptMessage[]): void {
    if (messages.length === 0) return;
    const title = this.#title === undefined ? [] : [markOf("title", this.#title, this.#uuid(), this.now())];
    this.#title = undefined;
    this.#keep([...title, ...this.#entriesOf(messages)]);
  }

  /** Saves messages of an agent, if the store can list what is below a session. */
  saveOf(agentId: string, messages: readonly TranscriptMessage[]): void {
    if (messages.length === 0 || this.#store.listSubkeys === undefined) return;
    this.#mirror?.keep({ ...this.#key(this.id), subpath: subpathOf(agentId) }, this.#entriesOf(messages));
  }

  /** These messages replace all before them. */
  compacted(messages: readonly Message[]): void {
    this.#keep([{ ...this.#entry(messages), type: "compacted", uuid: this.#uuid() }]);
  }

  async flush(): Promise<void> {
    await this.#mirror?.flush();
  }

  /** The same, for as long as a hook waits for the store. */
  async flushForHook(): Promise<void> {
    const { clock = HOST_CLOCK } = this.#options.host ?? {};
    const isLate = () => new Error("The store is slow");
    await withTimeLimit(clock, HOOK_MS, this.flush(), isLate).catch(() => {});
  }

  get #store(): SessionStore {
    return this.#options.sessionStore ?? processStore;
  }

  async #latest(): Promise<string | undefined> {
    const store = this.#store;
    if (store.listSessions === undefined) wrong("options.continue", "needs a sessionStore with listSessions");
    const [latest] = await store.listSessions(this.#key("").projectKey);
    return latest?.sessionId;
  }

  #key(sessionId: string): SessionKey {
    return { projectKey: this.#options.cwd ?? "/", sessionId };
  }

  #entriesOf(messages: readonly TranscriptMessage[]): SessionEntry[] {
    return messages.map(({ uuid, message }) => ({ ...this.#entry([message]), type: message.role, uuid }));
  }

  #entry(messages: readonly Message[]): Pick<SessionEntry, "timestamp" | "messages"> {
    return { timestamp: new Date(this.now()).toISOString(), messages };
  }

  now(): number {
    return this.#options.host?.clock?.now() ?? Date.now();
  }

  #keep(entries: readonly SessionEntry[]): void {
    this.#mirror?.keep(this.#key(this.id), entries);
  }
}
