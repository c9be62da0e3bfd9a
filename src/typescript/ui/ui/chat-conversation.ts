/**
 * A conversation over a chat. It owns the chat and the run that it follows, and draws nothing: `reduce` makes the
 * view of the run's events.
 */
import { LoopletError } from "../../core/api/errors.js";
import type {
  Message,
  ModelUsage,
  Prompt,
  Run,
  RunBound,
  RunEvent,
  RunResult,
} from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { isAsked } from "../../extras/transcript/prompts.js";
import type {
  Conversation,
  ConversationAgent,
  ConversationOptions,
  OpenedChat,
  SendOptions,
} from "./conversation.js";
import { FramedEvents, pageFrame } from "./frame.js";
import { checkAgent } from "./input/checks.js";
import { blocksOf } from "./input/files.js";
import { isSame, lastOfPerson, readDuring, readView } from "./joined.js";
import { withMessages, withResult } from "./joined.js";
import { reduce } from "./reduce.js";
import type { Answers, OpenQuestion } from "./message.js";
import {
  HELD,
  OF_HELD_RUN,
  UNOPENED,
  addedUsage,
  errorOf,
  inWordsOfUi,
  leftOf,
  statusOfRun,
  type ConversationError,
  type ConversationSnapshot,
  type ConversationStatus,
} from "./snapshot.js";
import { Branches } from "./stored/branches.js";
import { MessageQueue, type SentMessage } from "./stored/message-queue.js";
import { noteSession } from "./stored/session-note.js";
import { placeOf, promptsOf, withoutText } from "./transcript.js";
import { viewOf, viewWith, withPrompt, type View } from "./view.js";

export class ChatConversation implements Conversation {
  #agent!: ConversationAgent;
  readonly #options: ConversationOptions;
  readonly #branches: Branches;
  readonly #queue: MessageQueue;
  readonly #listeners = new Set<() => void>();
  #snapshot = UNOPENED;
  #view: View = viewOf();
  #chat: OpenedChat | undefined;
  #opening: Promise<OpenedChat> | undefined;
  /** Whether the chat belongs to a previous agent. */
  #isOfOther = false;
  #run: Run<any, any> | undefined;
  /** Resolves when the run has ended and its result is shown. */
  #following: Promise<void> = Promise.resolve();
  /** Resolves when the run continues here and not in another page. */
  #beginning: Promise<void> = Promise.resolve();
  #begins = (): void => {};
  /** The events that the next frame takes. */
  readonly #heard: FramedEvents;
  #result: RunResult | undefined;
  /** The most that the run under way may use. */
  #bound: RunBound | undefined;
  #error: ConversationError | undefined;
  /** The positions of the user's messages in the transcript. */
  #prompts: ReadonlyMap<string, number> = new Map();
  #dropRuns = (): void => {};
  #isReconnecting = false;

  constructor(agent: ConversationAgent, options: ConversationOptions) {
    this.#options = options;
    this.#heard = new FramedEvents(options.frame ?? pageFrame, () => {
      this.#takeHeard();
      this.#emit();
    });
    this.#branches = new Branches(options.store, options.id);
    this.#queue = new MessageQueue(options.store, options.id, () => this.#emit());
    this.setAgent(agent);
  }

  readonly setAgent = (agent: ConversationAgent): void => {
    checkAgent(agent);
    this.#agent = agent;
    this.#isOfOther = this.#opening !== undefined;
    this.#isReconnecting = false;
    agent.onReconnecting?.((isReconnecting) => {
      if (this.#agent !== agent) return;
      this.#isReconnecting = isReconnecting;
      this.#emit();
    });
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    // The snapshot's `error` reports a chat that cannot be opened.
    this.#open().catch(() => {});
    return () => {
      this.#listeners.delete(listener);
      // A framework may subscribe again in the same task.
      setTimeout(() => this.#leave(), 0);
    };
  };

  readonly getSnapshot = (): ConversationSnapshot => this.#snapshot;

  get current(): Run<any, any> | undefined {
    return this.#run;
  }

  #leave(): void {
    if (this.#listeners.size === 0 && this.#options.id === undefined)
      this.stop("no component shows it any more");
  }

  readonly send = (prompt: Prompt, options: SendOptions = {}): Promise<boolean> =>
    this.#told(async () => {
      const blocks = await blocksOf(prompt, options, ["files", "followUp"]);
      const waits = this.#run === undefined && this.#queue.all.length > 0;
      if (blocks.length === 0 && !waits) return;
      const message = this.#queue.write(blocks, options.followUp === true, this.#run?.id);
      await this.#written(message, this.#sent(message));
    });

  async #sent(message: SentMessage, isAgain = false): Promise<void> {
    const isEmpty = message.content.length === 0;
    await this.#writable();
    if (this.#queue.isUnsure) {
      await this.#reopen();
      await this.#queue.decide(await this.#open());
    }
    await this.#queue.update();
    for (;;) {
      const chat = await this.#open();
      if (this.#run === undefined) {
        // Another page may have sent what waits.
        if (!isEmpty || this.#queue.all.length > 0) this.#begin(chat, message, isAgain);
        return;
      }
      if (isEmpty || this.#sendInto(this.#run, message)) return;
      await this.#following;
    }
  }

  /** Sends a message after storing it. If the page reloads in between, it finds the message. */
  async #written({ id }: SentMessage, sending: Promise<void>): Promise<void> {
    try {
      await sending;
    } catch (error) {
      this.#queue.forget(id);
      throw error;
    }
  }

  /** Opens the chat again if another page had a run of it. @throws the error while that run is under way */
  async #writable(): Promise<void> {
    if (this.#error?.code !== HELD) return;
    await this.#reopen();
    await Promise.race([this.#following, this.#beginning]);
    if (this.#error?.code === HELD) throw this.#error;
  }

  /** Runs a user action. An error goes to the snapshot, because a rejected form action would crash the page. */
  async #told(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#error = errorOf(error);
      this.#emit();
      return false;
    }
  }

  readonly withdraw = (id: string): boolean => {
    if (!this.#queue.withdraw(id)) return false;
    this.#emit();
    return true;
  };

  readonly stop = (reason = "stopped by the user"): void => {
    this.#run?.abort(reason);
  };

  readonly answer = (question: OpenQuestion, answer: Answers[keyof Answers]): boolean => {
    if (!isObject(question))
      throw new LoopletError("misuse_invalid_argument", "question", "needs a question of the snapshot");
    return this.#run?.answer(question.questionId, answer) ?? false;
  };

  readonly regenerate = (): Promise<boolean> => this.#told(() => this.#askAgain());

  async #askAgain(): Promise<void> {
    // The run belongs to another page, which asked and waits for its own answer.
    if (this.#error?.code === HELD) return this.#reopen();
    if (this.#queue.isUnsure) return this.#sent(this.#queue.write([]));
    const chat = await this.#idle();
    const last = this.#view.messages[lastOfPerson(this.#view.messages)];
    if (last === undefined) return;
    const place = placeOf(last.id, this.#prompts, this.#view.messages);
    const asked = chat.messages[place]!.content.filter(isAsked);
    const isVersion = chat.messages.length > place + 1;
    const message = this.#queue.write(asked);
    await this.#written(message, this.#again(chat, last.id, message, isVersion));
  }

  readonly retry = this.regenerate;

  readonly edit = (messageId: string, prompt: Prompt, options: SendOptions = {}): Promise<boolean> =>
    this.#told(async () => {
      const blocks = await blocksOf(prompt, options);
      if (blocks.length === 0) return;
      const message = this.#queue.write(blocks);
      const sending = this.#idle().then((chat) => this.#again(chat, messageId, message, true));
      await this.#written(message, sending);
    });

  /** Puts other messages in place of the transcript. A host may refuse them. */
  async #reset(chat: OpenedChat, messages: readonly Message[]): Promise<void> {
    try {
      chat.reset(messages);
      await chat.saved();
    } catch (error) {
      this.#branches.settle(chat.messages);
      await this.#reopen().catch(() => {});
      throw error;
    }
  }

  /** Goes back to before a message, and sends another in its place. */
  async #again(chat: OpenedChat, messageId: string, by: SentMessage, isVersion: boolean): Promise<void> {
    const place = placeOf(messageId, this.#prompts, this.#view.messages);
    const index = this.#view.messages.findIndex(({ id }) => id === messageId);
    const before = chat.messages;
    if (isVersion) await this.#branches.begin(place, before);
    await this.#reset(chat, withoutText(before, place));
    if (isVersion) await this.#branches.done();
    this.#view = viewWith(this.#view.messages.slice(0, index));
    this.#begin(chat, by);
  }

  readonly select = (messageId: string, number: number): Promise<boolean> =>
    this.#told(() => this.#selected(messageId, number));

  async #selected(messageId: string, number: number): Promise<void> {
    const chat = await this.#idle();
    const place = placeOf(messageId, this.#prompts, this.#view.messages);
    const count = this.#branches.at(place)?.count ?? 1;
    if (!Number.isInteger(number) || number < 1 || number > count)
      throw new LoopletError("misuse_invalid_argument", "number", `needs a version from 1 to ${count}`);
    if (count === 1) return;
    const before = chat.messages;
    const transcript = this.#branches.with(place, number - 1, before);
    await this.#branches.select(place, number - 1, before);
    await this.#reset(chat, transcript);
    await this.#branches.done();
    const { id } = this.#options;
    this.#show(id === undefined ? viewOf(chat.messages) : (await readView(this.#agent, id)).view);
  }

  readonly resume = ({ takeOver }: { takeOver?: boolean | undefined } = {}): Promise<boolean> =>
    this.#told(() => this.#reopen(takeOver));

  async #reopen(takeOver?: boolean): Promise<void> {
    if (this.#run !== undefined) return;
    this.#dropRuns();
    if (this.#options.id !== undefined) this.#opening = this.#chat = undefined;
    await this.#open(takeOver);
  }

  readonly bound = async (prompt: Prompt): Promise<RunBound> => {
    const { messages } = await this.#open();
    return this.#agent.bound(prompt, { messages });
  };

  /** The chat, while no run is in progress. */
  async #idle(): Promise<OpenedChat> {
    await this.#open();
    this.stop();
    await this.#following;
    return this.#open();
  }

  #open(takeOver?: boolean): Promise<OpenedChat> {
    if (this.#isOfOther && this.#run === undefined) {
      this.#isOfOther = false;
      this.#opening = undefined;
      this.#dropRuns();
    }
    this.#opening ??= this.#opened(takeOver).catch((error: unknown) => {
      this.#opening = undefined;
      this.#error = errorOf(error);
      this.#emit();
      throw error;
    });
    return this.#opening;
  }

  async #opened(takeOver: boolean | undefined): Promise<OpenedChat> {
    const { id } = this.#options;
    this.#error = undefined;
    const before = this.#chat;
    // The last run of another agent gives its lease back.
    if (before) await before.saved().catch(() => {});
    if (id === undefined) {
      const { messages, subagents, usage } = before ?? {};
      const chat = this.#agent.chat(before ? { messages, subagents, usage } : this.#options.history);
      this.#show(viewOf((this.#chat = chat).messages));
      return chat;
    }
    this.#emit();
    await this.#branches.load();
    const takeQueue = await this.#queue.load();
    const known = await readView(this.#agent, id).catch(inWordsOfUi);
    const chat = await this.#agent.openChat(id, { takeOver });
    // No `await` between these: a resumed run asks its questions immediately.
    this.#chat = chat;
    this.#branches.settle(chat.messages);
    const { current } = chat;
    takeQueue(chat);
    const isNow = isSame(known.messages, chat.messages);
    const view = isNow ? known.view : withMessages(known.view, chat.messages);
    // A run in this page emits everything from here on. A run of another page is joined from its beginning.
    if (current === undefined) this.#show(view);
    else if (this.#agent.attach === undefined) this.#follow(current, view);
    else this.#view = view;
    const drops = [chat.onRun?.((run) => this.#join(id, run)), chat.onReset?.(() => this.#takeReset(chat))];
    this.#dropRuns = () => drops.forEach((drop) => drop?.());
    return chat;
  }

  /** Another page has rewound or deleted the chat. */
  #takeReset(chat: OpenedChat): void {
    if (this.#run === undefined) this.#show(withMessages(this.#view, chat.messages));
  }

  /** Shows a run that another page started. */
  #join(id: string, { id: runId }: Run<any, any>): void {
    if (this.#run?.id === runId || this.#isBeginning) return;
    this.#queue.begun(runId);
    const run = this.#agent.attach!(runId);
    // What cannot be read comes with the result.
    const before = readDuring(run, this.#agent, id).then((stored) => stored?.beforeRun ?? this.#view);
    this.#follow(run, before);
  }

  #isBeginning = false;

  /** The last run that started here, until it ends. */
  #unsaved: { readonly run: Run<any, any>; readonly message: SentMessage } | undefined;

  /** `isAgain`: another page had continued the chat before. */
  #begin(chat: OpenedChat, { id, content }: SentMessage, isAgain = false): void {
    const asked = [...this.#queue.all.flatMap((waiting) => waiting.content), ...content];
    const view = withPrompt(this.#view, asked);
    const { messages } = chat;
    let run: Run<any, any>;
    this.#isBeginning = true;
    try {
      run = chat.run(asked, this.#queue.isStored ? { id } : {});
    } finally {
      this.#isBeginning = false;
    }
    this.#queue.sent(run);
    this.#unsaved = isAgain ? undefined : { run, message: { id, content: asked, isFollowUp: false } };
    noteSession(this.#options, run, this.#view.messages.length === 0 ? asked : undefined);
    const shown = view.messages.at(-1)!.id;
    if (!this.#prompts.has(shown)) this.#prompts = new Map([...this.#prompts, [shown, messages.length]]);
    this.#follow(run, view);
    const bind = (bound: RunBound): void => {
      if (this.#run === run) this.#bound = bound;
    };
    // The agent of a server reports no bounds.
    this.#agent.bound(asked, { messages }).then(bind, () => {});
  }

  /** Returns false if the run has ended and its result has not arrived yet. */
  #sendInto(run: Run<any, any>, message: SentMessage): boolean {
    try {
      this.#queue.send(run, message);
    } catch (error) {
      if ((error as Partial<LoopletError>).code === "misuse_run_ended") return false;
      throw error;
    }
    this.#emit();
    return true;
  }

  /** Shows a run from its events. `from` is the view before the first of them. */
  #follow(run: Run<any, any>, from: View | Promise<View>): void {
    this.#run = run;
    this.#result = this.#error = this.#bound = undefined;
    this.#heard.clear();
    this.#beginning = new Promise((resolve) => (this.#begins = resolve));
    // Until `from` resolves, the run continues while the old view is shown.
    if (from instanceof Promise) this.#emit();
    const events = run.events({ detached: true });
    this.#following = this.#followed(run, events, from);
    // No caller may be waiting any more.
    this.#following.catch(() => {});
  }

  async #followed(
    run: Run<any, any>,
    events: AsyncIterable<RunEvent>,
    from: View | Promise<View>,
  ): Promise<void> {
    this.#show(from instanceof Promise ? await from : from);
    let result: RunResult | undefined;
    let thrown: unknown;
    try {
      for await (const event of events) {
        this.#heard.add(event);
        if (!OF_HELD_RUN.has(event.type)) this.#begins();
      }
      result = await run.result;
    } catch (error) {
      // The options `onFailure`, `onCancel` and others make the result a rejection.
      thrown = error;
      result = (Object(error) as { result?: RunResult }).result;
    }
    if (this.#run !== run) return;
    this.#takeHeard();
    this.#run = undefined;
    this.#result = result;
    const failure = result?.error ?? (result === undefined ? errorOf(thrown) : undefined);
    this.#error = failure && errorOf(failure);
    this.#queue.end(this.#chat);
    // A run that another page performs continues there, with its calls.
    const isHere = result !== undefined && failure?.code !== HELD;
    this.#show(isHere ? withResult(this.#view, result!) : this.#view);
    const unsaved = this.#unsaved;
    if (result === undefined && unsaved?.run === run) this.#queue.doubt({ ...unsaved.message, id: run.id });
    if (isHere || unsaved?.run !== run || result?.iterations !== 0) return;
    this.#queue.keep(unsaved.message);
    // Another page has continued the chat, which is opened again.
    void this.#told(() => this.#sent(this.#queue.write([]), true));
  }

  #takeHeard(): void {
    for (let event = this.#heard.shift(); event !== undefined; event = this.#heard.shift()) {
      if (event.type === "steer-delivered") {
        // Messages that were queued are part of the transcript from here on, and so are those of other pages.
        this.#queue.delivered(event.ids);
        this.#view = withPrompt(this.#view, event.content.filter(isAsked));
      }
      this.#view = reduce(this.#view, event);
      if (event.type !== "compact-boundary" || event.agentPath !== "root") continue;
      this.#prompts = new Map();
      this.#branches.forget().catch(() => {});
    }
  }

  #show(view: View): void {
    this.#view = view;
    if (this.#run === undefined) this.#prompts = promptsOf(view.messages, this.#chat?.messages ?? []);
    this.#emit();
  }

  #emit(): void {
    const { messages, questions } = this.#view;
    const notice = this.#isReconnecting ? ({ type: "reconnecting" } as const) : this.#view.notice;
    const shown = {
      status: this.#status(),
      messages: this.#branches.on(messages, this.#prompts, this.#snapshot.messages),
      questions,
      queue: this.#queue.all,
      notice,
      error: this.#error,
      outcome: this.#result?.outcome,
      reason: this.#result?.stoppedBy ?? this.#result?.abortReason,
      usage: this.#usage(),
      left: this.#run && leftOf(this.#bound, this.#view.usage),
    };
    this.#snapshot = shown;
    for (const listener of [...this.#listeners]) listener();
  }

  #status(): ConversationStatus {
    if (this.#run !== undefined) return statusOfRun(this.#view);
    if (this.#error !== undefined) return "error";
    return this.#chat === undefined ? "opening" : "ready";
  }

  #usage(): ModelUsage | null {
    const before = this.#chat?.usage ?? null;
    if (this.#run !== undefined) return addedUsage(before, this.#view.usage);
    // The host of a chat may report it later, and it never decreases.
    return this.#result?.chatUsage ?? before ?? this.#snapshot.usage;
  }
}
