/** One session at a time: prompts become queries that continue it. */
import type { PermissionResult } from "looplet";
import {
  InMemorySessionStore,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  query,
  type CanUseTool,
  type Options,
} from "looplet/agent-sdk";
import type { Answers, OpenQuestion } from "looplet/ui";
import type { Vfs } from "looplet/vfs";
import { Store } from "../chat/store.js";
import { modelOf, practiceConnection, type Connection } from "../words/connection.js";
import type { Mode } from "../words/permission.js";
import { folder } from "./project.js";
import { standIn } from "./stand-in.js";
import { begun, ended, textPart, turnsOf, withMessage, withPart, withQuestion, type Turn } from "./turn.js";

/** A session in the list: its first prompt says what it is about. */
export interface Session {
  id: string;
  title: string;
}

export interface State {
  readonly turns: readonly Turn[];
  readonly connection: Connection;
  readonly mode: Mode;
  readonly isRunning: boolean;
  readonly sessions: readonly Session[];
  /** The id of the current session. */
  readonly current: string | undefined;
  /** The files that were written or removed, the latest last. */
  readonly changed: readonly string[];
}

const fresh: State = {
  turns: [],
  connection: practiceConnection,
  mode: "default",
  isRunning: false,
  sessions: [],
  current: undefined,
  changed: [],
};

export class Talk extends Store<State> {
  readonly #vfs: Vfs;
  readonly #store = new InMemorySessionStore();
  /** The titles of forks; other sessions have their first prompt. */
  readonly #titles = new Map<string, string>();
  /** The questions that wait for the user, with their calls. */
  readonly #open = new Map<number, { toolCallId: string; resolve(result: PermissionResult): void }>();
  #questions = 0;
  #query: ReturnType<typeof query> | undefined;

  constructor(vfs: Vfs) {
    super(fresh);
    this.#vfs = vfs;
  }

  async ask(prompt: string): Promise<void> {
    this.set({ turns: [...this.getState().turns, begun(prompt)], isRunning: true });
    let thrown: unknown;
    try {
      this.#query = query({ prompt, options: this.#options() });
      for await (const message of this.#query) {
        this.#change((turn) => withMessage(turn, message), message.type === "stream_event");
        this.set({ current: message.session_id }, true);
      }
    } catch (error) {
      thrown = error;
    }
    this.#query = undefined;
    this.#change((turn) => ended(turn, thrown));
    this.set({ isRunning: false });
    await this.#list();
  }

  /** Adds a message for the model before its next answer. */
  async tell(text: string): Promise<void> {
    const message = { type: "user" as const, message: { role: "user" as const, content: text } };
    this.#change((turn) => withPart(turn, "user", textPart(text)));
    await this.#query?.streamInput(
      (async function* () {
        yield message;
      })(),
    );
  }

  stop(): void {
    void this.#query?.interrupt();
  }

  setMode(mode: Mode): void {
    this.set({ mode });
    void this.#query?.setPermissionMode(mode);
  }

  connect(connection: Connection): void {
    this.set({ connection });
  }

  /** A file was written or removed. */
  changed(path: string): void {
    const { changed } = this.getState();
    this.set({ changed: [...changed.filter((known) => known !== path), path] });
  }

  /** The tools are those of the SDK. */
  schemaOf(): undefined {
    return undefined;
  }

  answer({ questionId }: OpenQuestion, result: Answers[keyof Answers]): void {
    const asked = this.#open.get(questionId);
    this.#open.delete(questionId);
    if (!asked || !("behavior" in result)) return;
    this.#change((turn) => withQuestion(turn, asked.toolCallId, undefined));
    asked.resolve(result);
  }

  /** The next prompt starts a new session. */
  async begin(): Promise<void> {
    if (this.#query) return;
    this.set({ turns: [], current: undefined });
    await this.#list();
  }

  /** Continues another session, and shows its messages. */
  async open(id: string): Promise<void> {
    if (this.#query) return;
    const messages = await getSessionMessages(id, { sessionStore: this.#store, dir: folder });
    this.set({ turns: turnsOf(messages as Parameters<typeof turnsOf>[0]), current: id });
    await this.#list();
  }

  /** Continues in a copy of a session, which stays unchanged. */
  async fork(id: string): Promise<void> {
    if (this.#query) return;
    const { sessionId } = await forkSession(id, { sessionStore: this.#store, dir: folder });
    const info = await getSessionInfo(id, { sessionStore: this.#store, dir: folder });
    this.#titles.set(sessionId, `${this.#titles.get(id) ?? info?.summary} (fork)`);
    await this.open(sessionId);
  }

  readonly #ask: CanUseTool = (toolName, input, request) =>
    new Promise((resolve) => {
      const { toolCallId } = request;
      const questionId = (this.#questions += 1);
      this.#open.set(questionId, { toolCallId, resolve });
      const question = {
        ...request,
        questionId,
        kind: "permission",
        toolName,
        input,
      } as unknown as OpenQuestion;
      this.#change((turn) => withQuestion(turn, toolCallId, question));
    });

  /** Replaces the turn that began last. */
  #change(next: (turn: Turn) => Turn, isPiece = false): void {
    const { turns } = this.getState();
    this.set({ turns: [...turns.slice(0, -1), next(turns.at(-1)!)] }, isPiece);
  }

  #options(): Options {
    const { connection, mode, current } = this.getState();
    const model = connection.kind === "practice" ? standIn(connection.delayMs) : modelOf(connection);
    return {
      model,
      cwd: folder,
      systemPrompt: "You work on a small project. Its files are in /shop. Say briefly what you have done.",
      settingSources: ["project"],
      // Read-only tools run immediately. All others wait for the user.
      allowedTools: ["Read", "Glob", "Grep", "TodoWrite"],
      // The page cannot answer its questions.
      disallowedTools: ["AskUserQuestion"],
      includePartialMessages: true,
      maxTurns: 30,
      permissionMode: mode,
      canUseTool: this.#ask,
      sessionStore: this.#store,
      resume: current,
      host: { vfs: this.#vfs },
    };
  }

  async #list(): Promise<void> {
    const found = await listSessions({ sessionStore: this.#store, dir: folder });
    const sessions = found.map(({ sessionId: id, summary }) => ({
      id,
      title: this.#titles.get(id) ?? summary,
    }));
    this.set({ sessions });
  }
}
