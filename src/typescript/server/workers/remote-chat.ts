/** A stored chat as a page without its lease sees it. Every page that has opened it sees the runs of all of them. */
import { LoopletError } from "../../core/api/errors.js";
import type {
  OptionsSetByChat,
  Message,
  MessageInput,
  ModelUsage,
  Prompt,
  RunOptions,
  RunResult,
  SubagentMemory,
  TypedChat,
} from "../../core/api/index.js";
import { checkOptions, NoChatMethods, messagesOf } from "../../core/kit/check.js";
import { RUN_TABLE } from "../../core/kit/tables.js";
import { promptOf } from "../../core/kit/runs.js";
import type { AgentLink } from "./connection.js";
import type { ChatState } from "./protocol.js";
import { withAsked, type KnownHistory } from "./received-run.js";
import type { RemoteRun } from "./remote-run.js";

/** The options of a run in a chat. */
export type ChatRunOptions = Omit<RunOptions, keyof OptionsSetByChat>;

const { messages: _, subagents: __, agent: ___, chatUsage: ____, ...CHAT_RUN_TABLE } = RUN_TABLE;

/** Starts to follow a run of the chat. `onEnd` is called before its result settles. */
export type FollowRun = (
  run: string,
  options: ChatRunOptions,
  isFromHere: boolean,
  onEnd: (result: RunResult | undefined) => void,
  history: KnownHistory,
) => RemoteRun;

export class ChatOfHost extends NoChatMethods implements TypedChat<any, any> {
  readonly id: string;
  messages: readonly Message[];
  subagents: readonly SubagentMemory[];
  usage: ModelUsage | null;
  readonly isWhole: boolean;
  #current: RemoteRun | undefined;
  #isClosed = false;
  #isReset: Promise<unknown> = Promise.resolve();
  readonly #connection: AgentLink;
  readonly #follow: FollowRun;
  readonly #ids: () => string;
  readonly #listeners = new Set<(run: RemoteRun) => void>();
  readonly #resets = new Set<() => void>();
  readonly #leave: () => void;

  constructor(
    connection: AgentLink,
    id: string,
    { messages, subagents, usage, isWhole = true, run }: ChatState,
    options: ChatRunOptions,
    follow: FollowRun,
    ids: () => string,
  ) {
    super();
    this.id = id;
    this.messages = messages;
    this.subagents = subagents;
    this.usage = usage;
    this.isWhole = isWhole;
    this.#connection = connection;
    this.#follow = follow;
    this.#ids = ids;
    if (run !== null) this.#take(run, options, true);
    this.#leave = connection.onChat(id, (state) => this.#hear(state));
  }

  get current(): RemoteRun | undefined {
    return this.#current;
  }

  run(prompt: Prompt, options: ChatRunOptions = {}): RemoteRun {
    return this.#begin("run", options, [promptOf(prompt, {})]);
  }

  compact({
    instructions,
    ...options
  }: ChatRunOptions & { instructions?: string | undefined } = {}): RemoteRun {
    return this.#begin("compact", options, [], instructions === undefined ? {} : { instructions });
  }

  reset(given: readonly MessageInput[] = []): void {
    this.#refuse("reset");
    const messages = messagesOf(given, "messages");
    this.messages = [...messages];
    this.subagents = [];
    this.#isReset = this.#connection.call({ chat: this.id }, "reset", messages);
    // `saved` reports a reset that the host refuses.
    this.#isReset.catch(() => {});
  }

  hasTaken(): never {
    const problem = "what a chat has taken is known where the chat is: ask it there";
    throw new LoopletError("misuse_invalid_argument", "requestId", problem);
  }

  taken(requestIds: readonly string[]): Promise<string[]> {
    return this.#connection.call({ chat: this.id }, "taken", requestIds);
  }

  async saved(): Promise<void> {
    await this.#isReset;
    await this.#connection.call({ chat: this.id }, "saved");
  }

  close(): void {
    if (this.#isClosed) return;
    this.#refuse("close");
    this.#isClosed = true;
    this.#leave();
  }

  /**
   * Calls `listener` with the current run and with each later one, no matter which page started it. Returns a
   * function that unsubscribes.
   */
  onRun(listener: (run: RemoteRun) => void): () => void {
    this.#listeners.add(listener);
    if (this.#current !== undefined) listener(this.#current);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls `listener` when the chat's messages have changed without a run: another page rewound or deleted the chat.
   * Returns a function that unsubscribes.
   */
  onReset(listener: () => void): () => void {
    this.#resets.add(listener);
    return () => this.#resets.delete(listener);
  }

  #begin(method: string, given: ChatRunOptions, args: unknown[], more: object = {}): RemoteRun {
    this.#refuse(method);
    const options = checkOptions(given, "", CHAT_RUN_TABLE);
    const { id = this.#ids(), inputs } = options;
    const sent = { id, ...(inputs === undefined ? {} : { inputs }), ...more };
    const begun = this.#connection.call({ chat: this.id }, method, ...args, sent);
    const run = this.#take(id, options, false, args[0] as Message["content"] | undefined);
    begun.catch((error: unknown) => run.fail(error));
    return run;
  }

  #take(id: string, options: ChatRunOptions, isFromHere: boolean, asked: Message["content"] = []): RemoteRun {
    const { messages, subagents, usage: chatUsage } = this;
    const history = { messages: withAsked(messages, asked), subagents: [...subagents], chatUsage };
    const onEnd = (result: RunResult | undefined): void => {
      if (result !== undefined)
        [this.messages, this.subagents, this.usage] = [result.messages, result.subagents, result.chatUsage];
      if (this.#current === run) this.#current = undefined;
    };
    const run = this.#follow(id, options, isFromHere, onEnd, history);
    this.#current = run;
    for (const listener of [...this.#listeners]) listener(run);
    return run;
  }

  /** The host reports that a run has started or ended, or that the chat was reset. */
  #hear({ messages, subagents, usage, run }: ChatState): void {
    if (run !== null) {
      if (this.#current?.id !== run) this.#take(run, {}, false);
      return;
    }
    const isReset = this.#current === undefined && messages.length !== this.messages.length;
    [this.messages, this.subagents, this.usage] = [messages, subagents, usage];
    if (isReset) for (const listener of [...this.#resets]) listener();
  }

  #refuse(field: string): void {
    if (this.#isClosed)
      throw new LoopletError("misuse_chat_closed", field, "this chat was closed; open it again");
    if (this.#current === undefined) return;
    const problem = "a run of this chat goes on; await its result, steer it or abort it";
    throw new LoopletError("misuse_chat_busy", field, problem);
  }
}
