/**
 * The transport of `useChat` for a looplet agent, in the page or in a worker. It knows which run a chat has, and
 * passes the user's answers to the run that waits for them. The run decides everything else.
 */
import { LoopletError } from "../../core/api/errors.js";
import type {
  Agent,
  AgentTranscript,
  Chat,
  Message,
  QuestionAnswer,
  Run,
  RunEvent,
  RunOptions,
} from "../../core/api/index.js";
import type { HostAbortSignal } from "../../core/api/platform.js";
import { checkOptions, checkValue, describe, isObject, type OptionTable } from "../../core/kit/check.js";
import { fromUIMessages, promptOf } from "./from-ui.js";
import { StreamedRun, STOP } from "./streamed-run.js";
import { storedMessages } from "./stored-messages.js";
import { historyFromPage } from "../../extras/tools/from-page.js";
import { behindPrompt, promptsOf } from "./past.js";
import { answersIn, questionOf } from "./questions.js";
import { withSubagents } from "./subagent-parts.js";
import { toUIMessages } from "./to-ui.js";
import { checkMessages } from "./types.js";
import type { UIMessageLike, UiStream, UiStreamOptions } from "./types.js";
import { checkStreamOptions, STREAM_TABLE } from "./ui-stream.js";

/** An agent, or a remote one with the same methods, such as that of `connectAgent`. */
export type AgentLike = Pick<Agent<any, any>, "run" | "openChat" | "readChat"> & {
  attach?(id: string, options: { chat: string; onEvent: (event: RunEvent) => void }): Run;
};

/** The options of a transport. */
export interface TransportOptions extends Omit<UiStreamOptions, "messageId" | "staysOpen"> {
  /**
   * Contract: returns options for the run of a request, such as `inputs`. Called before each run with the request of
   * `useChat`. Default: none.
   */
  runOptions?:
    ((request: SendMessagesOptions) => Omit<RunOptions, "messages" | "signal" | "onEvent">) | undefined;
  /**
   * Whether messages of `useChat` may contain provider blocks and fields. These can name other users' files and can
   * act as system instructions. Default: true in a page, which has the agent itself, and false in a route.
   */
  trusted?: boolean | undefined;
}

const { messageId: _, staysOpen: __, ...STREAM } = STREAM_TABLE;
const TABLE: OptionTable = { ...STREAM, runOptions: "function", trusted: "boolean" };

/** The requests that `useChat` sends to a transport: `ChatTransport` of `ai` 5, 6 and 7. */
export interface SendMessagesOptions {
  trigger: "submit-message" | "regenerate-message";
  chatId: string;
  /** The message that was edited or answered. */
  messageId?: string | undefined;
  messages: readonly any[];
  abortSignal?: HostAbortSignal | undefined;
  headers?: unknown;
  body?: object | undefined;
  metadata?: unknown;
}

export interface ReconnectOptions {
  chatId: string;
  abortSignal?: HostAbortSignal | undefined;
}

/**
 * A transport for `useChat`. If the agent has a `store`, a chat is that of `agent.openChat` with the same id, and
 * continues after a reload. Otherwise the messages of the page are the history.
 *
 * Default `version`: 7. Chunks go to the page as they are, and older versions of `ai` ignore unknown ones.
 */
export class LoopletChatTransport {
  /** Tells `ai` 6.0.300 and later that a resumed stream starts from the beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #agent: AgentLike;
  readonly #streamOptions: UiStreamOptions;
  readonly #runOptions: TransportOptions["runOptions"];
  readonly #isTrusted: boolean;
  readonly #sessions = new Map<string, Session>();
  /** The chats that are being opened. */
  readonly #opening = new Map<string, Promise<Session>>();
  /** The number of times that a stream was joined again. */
  #joined = 0;

  /** @throws LoopletError `config_…` */
  constructor(agent: AgentLike, options: TransportOptions = {}) {
    if (!isObject(agent) || typeof agent["run"] !== "function" || typeof agent["openChat"] !== "function") {
      const problem = `needs an agent of createAgent or connectAgent, got ${describe(agent)}`;
      throw new LoopletError("config_wrong_type", "agent", problem);
    }
    const { runOptions, trusted = "document" in globalThis, ...stream } = checkOptions(options, "", TABLE);
    this.#isTrusted = trusted;
    this.#agent = agent;
    this.#runOptions = runOptions;
    this.#streamOptions = checkStreamOptions({ version: 7, ...stream });
  }

  /**
   * Starts a run with the last message, or passes its answers to the waiting run. `abortSignal` stops the run. A
   * reader that disconnects does not.
   *
   * @throws LoopletError `misuse_…` for messages that cannot be sent
   */
  async sendMessages(request: SendMessagesOptions): Promise<UiStream> {
    const { trigger, chatId, messages, messageId } = request;
    checkValue(chatId, "chatId", "id");
    const last = Array.isArray(messages) ? (messages as UIMessageLike[]).at(-1) : undefined;
    if (last === undefined) {
      const problem = `needs the messages of useChat, one at least, got ${describe(messages)}`;
      throw new LoopletError("misuse_invalid_argument", "messages", problem);
    }
    checkMessages(messages);
    checkSignal(request.abortSignal);
    const session = await this.#open(chatId, true);
    const named = (messages as UIMessageLike[]).find(({ id }) => id === messageId);
    const answered = trigger === "submit-message" ? (named ?? last) : last;
    if (answered.role === "assistant") return this.#continueRun(request, session, answered);
    const signal = request.abortSignal as AbortSignal | undefined;
    return (await this.#begin(request, session, last)).stream(false, signal);
  }

  /**
   * The stream of this chat's current run from its beginning, or null. If another tab performs the run without
   * `shareAgent`, the stream has what is saved of it and ends with the error `run_held`.
   */
  async reconnectToStream({ chatId, abortSignal }: ReconnectOptions): Promise<UiStream | null> {
    checkValue(chatId, "chatId", "id");
    checkSignal(abortSignal);
    const joined = (this.#joined += 1);
    const signal = abortSignal as AbortSignal | undefined;
    const { run } = await this.#open(chatId);
    await run?.started;
    if (run?.isHeld === true) return run.stream(false, undefined);
    if (run === undefined || run.isOver) return null;
    // `useChat` also aborts a resume request immediately before it makes the next one.
    const stop = (): unknown => setTimeout(() => this.#joined === joined && run.abort(STOP), 0);
    return run.stream(false, signal, stop);
  }

  /**
   * The stored messages of a chat, for `useChat({ messages })` after a reload. Omits those of a run in progress,
   * because `resume: true` loads them. Empty for an unknown chat, and for an agent without a store.
   */
  async loadMessages(chatId: string): Promise<UIMessageLike[]> {
    await this.#sessions.get(chatId)?.chat?.saved();
    const kept = await withoutStore(this.#agent.readChat(chatId, { transcripts: true }));
    if (kept === undefined) return [];
    const { messages, isRunning, transcripts = [] } = kept;
    const { version } = this.#streamOptions;
    // The stream of a host has the run from its beginning, and one of this page what follows the last prompt.
    const prompts = this.#agent.attach === undefined ? 1 : promptsOf(kept);
    const shown = isRunning ? messages.slice(0, behindPrompt(messages, prompts)) : messages;
    return withSubagents(toUIMessages(shown, { version }), transcripts);
  }

  /**
   * Answers the question of a `data-question` part: an elicitation, a call with an unknown outcome, or a permission
   * with `ai` 5. `id` is the id of the part. Returns false if no run of this transport asked it.
   */
  answer(id: string, answer: QuestionAnswer): boolean {
    const runId = questionOf(id)?.runId;
    return [...this.#sessions.values()].some(({ run }) => run?.id === runId && run?.answer(id, answer));
  }

  /** Stops the run of a chat, for a server with a stop endpoint. Returns false if the chat has no current run. */
  stop(chatId: string, reason = STOP): boolean {
    const run = this.#sessions.get(chatId)?.run;
    if (run === undefined || run.isOver) return false;
    run.abort(reason);
    return true;
  }

  /**
   * Passes answers to the run that waits for them. Without such a run, the conversation continues from the page's
   * messages.
   */
  async #continueRun(
    request: SendMessagesOptions,
    session: Session,
    answered: UIMessageLike,
  ): Promise<UiStream> {
    const signal = request.abortSignal as AbortSignal | undefined;
    const run = this.#joinedHere(session);
    const isTaken = run?.take(answersIn(answered)) === true;
    if (run !== undefined && (isTaken || run.hasMore)) return run.stream(true, signal);
    const messages = request.messages as UIMessageLike[];
    const history = this.#historyOf(messages.slice(0, messages.indexOf(answered) + 1));
    if (session.chat !== undefined || history.at(-1)?.role !== "user") {
      const problem =
        "ends with an answer of the agent, and no run waits for one of its parts; send a message";
      throw new LoopletError("misuse_invalid_argument", "messages", problem);
    }
    const begin = (options: RunOptions): Run => this.#agent.run([], { ...options, messages: history });
    return this.#start(request, session, begin, answered.id).stream(true, signal);
  }

  async #begin(request: SendMessagesOptions, session: Session, last: UIMessageLike): Promise<StreamedRun> {
    const { trigger, messages, messageId } = request;
    const { run, chat } = session;
    if (run !== undefined && !run.isOver) {
      run.abort("the conversation went on");
      await run.ended;
    }
    const shown = (messages as UIMessageLike[]).slice(0, -1);
    const history = this.#historyOf(shown);
    const prompt = promptOf(last);
    if (chat === undefined)
      return this.#start(request, session, (options) =>
        this.#agent.run(prompt, { ...options, messages: history }),
      );
    const isRewritten = trigger === "regenerate-message" || messageId !== undefined;
    if (isRewritten || (chat.messages.length === 0 && history.length > 0)) {
      chat.reset(storedMessages(chat.messages, shown) ?? history);
      // A host may refuse to take a history from a page.
      await chat.saved();
    }
    return this.#start(request, session, (options) => chat.run(prompt, options));
  }

  #historyOf(messages: readonly UIMessageLike[]): Message[] {
    const history = fromUIMessages(messages);
    return this.#isTrusted ? history : historyFromPage(history);
  }

  /** Starts a run. `messageId` is the id of the message that it continues. */
  #start(
    request: SendMessagesOptions,
    session: Session,
    begin: (options: RunOptions) => Run,
    messageId?: string,
  ): StreamedRun {
    const listen = listener();
    const run = begin({ ...this.#runOptions?.(request), onEvent: listen.onEvent });
    return (session.run = listen.take(run, {
      ...this.#streamOptions,
      ...(messageId !== undefined && { messageId }),
    }));
  }

  /**
   * Opens the chat with this id and its current run. This page's own chat is opened again after each run, because
   * another page or process may have continued it. With `takeOver`, this page continues their run.
   */
  async #open(chatId: string, takeOver = false): Promise<Session> {
    const known = this.#sessions.get(chatId);
    const isKnown =
      known?.run?.isOver === false || (known?.chat !== undefined && this.#agent.attach !== undefined);
    let session = isKnown ? known : undefined;
    if (session === undefined) {
      const opening = this.#opening.get(chatId) ?? this.#openAnew(chatId, known?.run, takeOver);
      this.#opening.set(chatId, opening);
      session = await opening.finally(() => this.#opening.delete(chatId));
      this.#keep(chatId, session);
    }
    const current = session.chat?.current;
    // Another page has started a run.
    if (current !== undefined && session.run?.id !== current.id)
      session.run = this.#attach(chatId, current.id);
    return session;
  }

  async #openAnew(chatId: string, run: StreamedRun | undefined, takeOver: boolean): Promise<Session> {
    const listen = listener();
    const options = this.#agent.attach === undefined ? { onEvent: listen.onEvent, takeOver } : {};
    const isHere = this.#agent.attach === undefined;
    const kept = isHere ? await withoutStore(this.#agent.readChat(chatId, { transcripts: true })) : undefined;
    const chat = await withoutStore(this.#agent.openChat(chatId, options));
    if (!isHere || chat?.current === undefined) return { chat, run };
    return { chat, run: listen.take(chat.current, this.#streamOptions, chat.messages, kept?.transcripts) };
  }

  #keep(chatId: string, session: Session): void {
    this.#sessions.delete(chatId);
    this.#sessions.set(chatId, session);
    for (const [id, { run }] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) return;
      if (run === undefined || run.isOver) this.#sessions.delete(id);
    }
  }

  /** The current run of a chat. If it is a host's run that another page started, it is followed from here on. */
  #joinedHere(session: Session): StreamedRun | undefined {
    const { chat, run: known } = session;
    const current = chat?.current;
    if (this.#agent.attach === undefined || current === undefined || known?.isUnread !== true) return known;
    const run = new StreamedRun(current, this.#streamOptions, []);
    session.run = run;
    void (async () => {
      for await (const event of current.events({ detached: true })) run.listen(event);
    })().catch(() => {});
    return run;
  }

  /** Follows a run of a host from its beginning. */
  #attach(chat: string, id: string): StreamedRun | undefined {
    const listen = listener();
    const run = this.#agent.attach?.(id, { chat, onEvent: listen.onEvent });
    return run && listen.take(run, this.#streamOptions);
  }
}

/** A route may hand on what its page sends. @throws LoopletError `misuse_invalid_argument` */
function checkSignal(signal: unknown): void {
  if (signal == null || typeof (Object(signal) as Partial<AbortSignal>).addEventListener === "function")
    return;
  const problem = `needs an AbortSignal, got ${describe(signal)}; set it after what the page sends`;
  throw new LoopletError("misuse_invalid_argument", "abortSignal", problem);
}

/** A chat of `useChat`: that of the store, if there is one, and its latest run here. */
interface Session {
  readonly chat: Chat | undefined;
  run: StreamedRun | undefined;
}

/** The maximum number of chats with ended runs that stay in memory, for pages that have not read the end. */
const MAX_SESSIONS = 100;

/** `undefined` in the place of the error of an agent without a store. */
async function withoutStore<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { code, field } = error as Partial<LoopletError>;
    if (code === "config_missing" && field === "store") return undefined;
    throw error;
  }
}

/** A listener for a run that is not known yet. */
function listener() {
  const early: RunEvent[] = [];
  let started: StreamedRun | undefined;
  return {
    onEvent: (event: RunEvent): void =>
      started === undefined ? void early.push(event) : started.listen(event),
    /** `messages` and `transcripts` are those of a run that another process started. */
    take(
      run: Run,
      options: UiStreamOptions,
      messages?: readonly Message[],
      transcripts?: readonly AgentTranscript[],
    ): StreamedRun {
      const past = messages === undefined ? [] : [snapshotOf(messages)];
      return (started = new StreamedRun(run, options, [...past, ...early], transcripts));
    },
  };
}

function snapshotOf(messages: readonly Message[]): RunEvent {
  const stamp = { seq: 0, agentPath: "root", iteration: 0, attempt: 0 };
  return {
    ...stamp,
    type: "snapshot",
    text: "",
    blocks: [],
    messages: [...messages],
    usage: null,
    iterations: 0,
  };
}
