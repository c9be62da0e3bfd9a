/** A conversation: each run takes over the transcript of the run before it, and the memory of its subagents. */
import { LoopletError } from "../api/errors.js";
import type {
  Chat,
  ChatHistory,
  OptionsSetByChat,
  Message,
  MessageInput,
  ModelUsage,
  Prompt,
  Run,
  RunOptions,
  RunResult,
  SessionSource,
  SubagentMemory,
} from "../api/index.js";
import { checkValue, isObject, joined } from "../options/check.js";
import { NoChatMethods } from "../options/peer-methods.js";
import { messagesOf } from "../options/messages.js";
import type { ChatJournal } from "../run/saving/chat-journal.js";
import { compactInstructions } from "../options/context.js";
import { checkedHistory, type OnlySummary } from "../run/prompt.js";
import { withCost } from "../run/result.js";
import type { Resumed } from "../run/source.js";

/** Starts a run; `onEnd` is called as soon as it has ended. */
export type StartRun = (
  prompt: Prompt | OnlySummary,
  options: RunOptions,
  onEnd: (result: RunResult) => void,
  /** Set if the run is the first of its session. */
  session: SessionSource | undefined,
  /** Set if the run is not a new one. */
  resumed?: Resumed,
) => Run;

const KEPT: readonly (keyof OptionsSetByChat)[] = ["messages", "subagents", "agent", "chatUsage"];

export class Conversation extends NoChatMethods implements Chat {
  readonly #start: StartRun;
  #messages: readonly Message[];
  #subagents: readonly SubagentMemory[];
  #usage: ModelUsage | null;
  /** The agent that spoke last. */
  #agent: string | undefined;
  #current: Run | undefined;
  /** The way in which the next run begins the session; undefined if the session has begun. */
  #session: SessionSource | undefined;
  #isClosed = false;
  readonly #endSession: (reason: "clear" | "close") => void;
  readonly #kept: ChatJournal | undefined;

  /** `kept` is the journal of a chat that is kept in a store. */
  constructor(
    start: StartRun,
    history: ChatHistory & Pick<RunOptions, "agent">,
    endSession: (reason: "clear" | "close") => void,
    kept?: ChatJournal,
  ) {
    super();
    const { usage = null } = history;
    const { messages = [], subagents = [] } = checkedHistory(joined(history, { chatUsage: usage }));
    this.#start = start;
    this.#agent = history.agent;
    this.#kept = kept;
    this.#messages = [...messages];
    this.#subagents = [...subagents];
    this.#usage = withCost(usage);
    this.#session = messages.length === 0 ? "startup" : "resume";
    this.#endSession = endSession;
  }

  get id(): string | undefined {
    return this.#kept?.key;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get subagents(): readonly SubagentMemory[] {
    return this.#subagents;
  }

  get usage(): ModelUsage | null {
    return this.#usage;
  }

  get isWhole(): boolean {
    return this.#kept?.isWhole ?? true;
  }

  get current(): Run | undefined {
    return this.#current;
  }

  run(prompt: Prompt, options: Omit<RunOptions, keyof OptionsSetByChat> = {}): Run {
    return this.#begin("run", prompt, options);
  }

  compact(
    options: Omit<RunOptions, keyof OptionsSetByChat> & {
      instructions?: string | undefined;
    } = {},
  ): Run {
    const { instructions, ...run } = options;
    const onlySummary = compactInstructions(instructions === undefined ? {} : { instructions });
    return this.#begin("compact", { onlySummary }, run);
  }

  #begin(
    method: "run" | "compact",
    prompt: Prompt | OnlySummary,
    options: Omit<RunOptions, keyof OptionsSetByChat>,
  ): Run {
    this.#refuse(method);
    for (const kept of isObject(options) ? KEPT : []) {
      if (Object.hasOwn(options, kept)) {
        throw new LoopletError(
          "config_unknown_option",
          kept,
          "the chat keeps them: begin one with agent.chat({ messages, subagents, usage }), or use chat.reset(messages)",
        );
      }
    }
    const history: OptionsSetByChat = {
      messages: this.#messages,
      subagents: this.#subagents,
      agent: this.#agent,
      chatUsage: this.#usage,
    };
    const all = isObject(options) ? joined(options, history) : options;
    return this.startRun((onEnd) => this.#start(prompt, all, onEnd, this.#session));
  }

  /** Makes the run that `start` starts or resumes the current one. */
  startRun(start: (onEnd: (result: RunResult) => void) => Run): Run {
    const run = start((result) => {
      this.#messages = result.messages;
      this.#subagents = result.subagents;
      this.#agent = result.agent;
      this.#usage = result.chatUsage;
      this.#current = undefined;
      // A run without a model call has not begun the session.
      if (result.iterations > 0) this.#session = undefined;
    });
    this.#current = run;
    return run;
  }

  reset(given: readonly MessageInput[] = []): void {
    this.#refuse("reset");
    const messages = messagesOf(given, "messages");
    this.#kept?.reset(messages, this.#usage);
    this.#messages = [...messages];
    this.#subagents = [];
    this.#agent = undefined;
    this.#end("clear");
    this.#session = "clear";
  }

  hasTaken(requestId: string): boolean {
    checkValue(requestId, "requestId", "id");
    return this.#kept?.hasTaken(requestId) ?? false;
  }

  async saved(): Promise<void> {
    await this.#kept?.saved();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#refuse("close");
    this.#isClosed = true;
    this.#end("close");
  }

  /** Ends the session, if a run has begun it. */
  #end(reason: "clear" | "close"): void {
    if (this.#session === undefined) this.#endSession(reason);
  }

  #refuse(field: string): void {
    if (this.#isClosed)
      throw new LoopletError(
        "misuse_chat_closed",
        field,
        "this chat was closed; agent.chat() begins another",
      );
    if (this.#current === undefined) return;
    throw new LoopletError(
      "misuse_chat_busy",
      field,
      "a run of this chat goes on; await its result, steer it or abort it",
    );
  }
}
