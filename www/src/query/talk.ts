/** One session at a time: prompts become queries that go on with it. */
import {
  InMemorySessionStore,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  query,
  type CanUseTool,
  type Options,
  type PermissionMode,
  type SDKMessage,
} from "looplet/agent-sdk";
import type { Vfs } from "looplet/vfs";
import { modelOf, type Connection } from "../connection.js";
import { folder } from "./project.js";
import { standIn } from "./stand-in.js";

/** A session in the list: its first prompt says what it is about. */
export interface Session {
  id: string;
  title: string;
}

export interface TalkEvents {
  /** A query begins. */
  started(prompt: string): void;
  message(message: SDKMessage): void;
  /** The query is over; `error` is what it threw. */
  ended(error?: unknown): void;
  sessions(sessions: readonly Session[], current: string | undefined): void;
  canUseTool: CanUseTool;
}

export class Talk {
  connection: Connection;
  readonly #events: TalkEvents;
  readonly #vfs: Vfs;
  readonly #store = new InMemorySessionStore();
  /** The titles of forks; other sessions have their first prompt. */
  readonly #titles = new Map<string, string>();
  #mode: PermissionMode = "default";
  #session: string | undefined;
  #query: ReturnType<typeof query> | undefined;

  constructor(vfs: Vfs, connection: Connection, events: TalkEvents) {
    this.#vfs = vfs;
    this.connection = connection;
    this.#events = events;
  }

  get isRunning(): boolean {
    return this.#query !== undefined;
  }

  async ask(prompt: string): Promise<void> {
    this.#events.started(prompt);
    try {
      this.#query = query({ prompt, options: this.#options() });
      for await (const message of this.#query) {
        this.#session = message.session_id;
        this.#events.message(message);
      }
      this.#query = undefined;
      this.#events.ended();
    } catch (error) {
      this.#query = undefined;
      this.#events.ended(error);
    }
    await this.#list();
  }

  /** Tells the model something before its next answer. */
  async tell(text: string): Promise<void> {
    const message = { type: "user" as const, message: { role: "user" as const, content: text } };
    await this.#query?.streamInput(
      (async function* () {
        yield message;
      })(),
    );
  }

  stop(): void {
    void this.#query?.interrupt();
  }

  setMode(mode: PermissionMode): void {
    this.#mode = mode;
    void this.#query?.setPermissionMode(mode);
  }

  /** The next prompt begins a session of its own. */
  async begin(): Promise<void> {
    this.#session = undefined;
    await this.#list();
  }

  /** Goes on with another session; returns its messages. */
  async open(id: string) {
    this.#session = id;
    await this.#list();
    return getSessionMessages(id, { sessionStore: this.#store, dir: folder });
  }

  /** Goes on in a copy of a session, which stays as it is. */
  async fork(id: string): Promise<void> {
    const { sessionId } = await forkSession(id, { sessionStore: this.#store, dir: folder });
    const info = await getSessionInfo(id, { sessionStore: this.#store, dir: folder });
    this.#titles.set(sessionId, `${this.#titles.get(id) ?? info?.summary} (fork)`);
    await this.open(sessionId);
  }

  #options(): Options {
    const { connection } = this;
    const model = connection.kind === "practice" ? standIn(connection.delayMs) : modelOf(connection);
    return {
      model,
      cwd: folder,
      systemPrompt: "You work on a small project. Its files are in /shop. Say briefly what you have done.",
      settingSources: ["project"],
      // What only looks runs at once; all else waits for the person.
      allowedTools: ["Read", "Glob", "Grep", "TodoWrite"],
      // Nobody here answers its questions.
      disallowedTools: ["AskUserQuestion"],
      includePartialMessages: true,
      maxTurns: 30,
      permissionMode: this.#mode,
      canUseTool: this.#events.canUseTool,
      sessionStore: this.#store,
      resume: this.#session,
      host: { vfs: this.#vfs },
    };
  }

  async #list(): Promise<void> {
    const found = await listSessions({ sessionStore: this.#store, dir: folder });
    const sessions = found.map(({ sessionId: id, summary }) => ({
      id,
      title: this.#titles.get(id) ?? summary,
    }));
    this.#events.sessions(sessions, this.#session);
  }
}
