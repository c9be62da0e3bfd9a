/**
 * The messages of the user that the model has not got. With a store they outlive the page: a log has each message
 * from the moment at which it is sent, and notes when a run has it.
 */
import type { ContentBlock, Queued, Run, Store } from "../../../core/api/index.js";
import { randomUuid } from "../../../extras/random-uuid.js";
import { logsBeside } from "../../../extras/stores/logs/beside-chat.js";
import { SharedLog, type LogObject } from "../../../extras/stores/logs/shared-log.js";
import type { OpenedChat } from "../conversation.js";
import type { QueuedMessage } from "../snapshot.js";

/** A message that is being sent. It gets its id first. */
export type SentMessage = Pick<QueuedMessage, "id" | "content" | "isFollowUp">;

interface Waiting extends QueuedMessage {
  /** The numbers that its run may know it by. Undefined after that run has ended. */
  readonly numbers: (() => readonly number[]) | undefined;
  readonly withdraw?: (() => boolean) | undefined;
}

/** An entry of the log: a message waits. A later entry of the same message replaces it. */
interface Stored {
  readonly waits: string;
  readonly content: readonly ContentBlock[];
  readonly isFollowUp?: boolean | undefined;
  /** The run into which it was sent, and its number there if it is known. */
  readonly run?: string | undefined;
  readonly number?: number | undefined;
  /** The run that has it in its prompt. */
  readonly prompt?: string | undefined;
}

/** An entry of the log: these messages wait no more. */
interface Gone {
  readonly gone: readonly string[];
}

export class MessageQueue {
  readonly #store: Store | undefined;
  readonly #key: string;
  readonly #log: SharedLog | undefined;
  #all: readonly Waiting[] = [];
  /** The messages that this page has sent, and that are on their way. */
  readonly #sending = new Set<string>();
  readonly #changed: () => void;

  /** Without a store all messages last as long as this object. `changed` is called when `all` changes later. */
  constructor(store: Store | undefined, chat: string | undefined, changed: () => void) {
    this.#store = store;
    this.#key = logsBeside(chat ?? "").queue;
    this.#log = store === undefined || chat === undefined ? undefined : new SharedLog(store, this.#key);
    this.#changed = changed;
  }

  get all(): readonly QueuedMessage[] {
    return this.#all;
  }

  /** Whether a reloaded page finds the sent messages. */
  get isStored(): boolean {
    return this.#log !== undefined;
  }

  /** Gives a message its id and stores it before it is sent. `run` is the current run, if it is sent into one. */
  write(content: readonly ContentBlock[], isFollowUp = false, run?: string): SentMessage {
    const message = { id: randomUuid(), content, isFollowUp };
    this.#sending.add(message.id);
    if (content.length > 0) this.#noteWaiting(message, { run });
    return message;
  }

  /** The message cannot be sent, or was sent again. */
  forget(id: string): void {
    this.#sending.delete(id);
    this.#note({ gone: [id] });
  }

  /** Reads what an earlier page left. Call the result when it is known what the model has received. */
  async load(): Promise<(chat: OpenedChat) => void> {
    const left = (await this.#stored()).filter(({ waits }) => !this.#isKnown(waits));
    return (chat) => {
      const { current } = chat;
      const ofRun = left.filter(({ run, prompt }) => run !== undefined && run === current?.id && !prompt);
      const others = left.filter((one) => !ofRun.includes(one));
      this.#all = [...this.#all, ...ofRun.map((one) => again(current!, one))];
      const requests = others.map(({ waits, prompt }) => prompt ?? waits);
      this.#whenTaken(chat, requests, (taken) => {
        const isGone = ({ waits, prompt }: Stored): boolean => taken.includes(prompt ?? waits);
        const gone = others.filter(isGone).map(({ waits }) => waits);
        if (gone.length > 0) this.#note({ gone });
        const open = others.filter((one) => !isGone(one) && !this.#isKnown(one.waits));
        this.#all = [...open.map((one) => undelivered(messageOf(one))), ...this.#all];
        return open.length > 0;
      });
    };
  }

  /** Sends a message of `write` into a run. @throws LoopletError `misuse_run_ended` */
  send(run: Run<any, any>, message: SentMessage): void {
    const queued = queueIn(run, message);
    const { id } = message;
    const withdraw = (): boolean => queued.withdraw();
    this.#sending.delete(id);
    this.#all = [...this.#all, { ...message, isUndelivered: false, numbers: () => [queued.id], withdraw }];
    const note = (): void => {
      if (this.#isKnown(id)) this.#noteWaiting(message, { run: run.id, number: queued.id || undefined });
    };
    note();
    // The host of a run gives the message its number later.
    if (queued.id === 0 && this.isStored) run.saved().then(note, () => {});
  }

  /** Takes a message back; false if the model has it. */
  withdraw(id: string): boolean {
    const message = this.#all.find((one) => one.id === id);
    if (message === undefined || (message.numbers !== undefined && message.withdraw?.() !== true))
      return false;
    this.#drop([message]);
    return true;
  }

  /** The messages with these numbers wait no more. */
  delivered(numbers: readonly number[]): void {
    this.#drop(this.#all.filter((message) => message.numbers?.().some((number) => numbers.includes(number))));
  }

  /** All messages are in the prompt of this run, which has the id of `write`. They are removed when it is saved. */
  sent(run: Run<any, any>): void {
    const [all, id] = [this.#all, run.id];
    this.#all = [];
    for (const message of all) {
      this.#sending.add(message.id);
      this.#noteWaiting(message, { prompt: id });
    }
    const saved = (): void => {
      // A run that could not start has not received it.
      if (this.#all.some((one) => one.id === id)) return;
      for (const waits of [...all.map((one) => one.id), id]) this.#sending.delete(waits);
      this.#note({ gone: [...all.map((one) => one.id), id] });
    };
    if (this.isStored) run.saved().then(saved, () => {});
  }

  /** A run could not start with this prompt, which has the id of `write`. It waits for the next run. */
  keep(message: SentMessage): void {
    this.#sending.delete(message.id);
    this.#all = [...this.#all, undelivered(message)];
    this.#noteWaiting(message);
  }

  /** The prompt of a run that failed here, although its host may have started it. */
  #unsure: SentMessage | undefined;

  get isUnsure(): boolean {
    return this.#unsure !== undefined;
  }

  /** The host of the chat may have started a run with this prompt, which has the id of the run. */
  doubt(message: SentMessage): void {
    this.#unsure = message;
  }

  /** A run has started at the host of the chat. */
  begun(run: string): void {
    if (this.#unsure?.id === run) this.#unsure = undefined;
  }

  /** A prompt that its host has not got waits for the next run. */
  async decide(chat: OpenedChat): Promise<void> {
    const unsure = this.#unsure;
    const taken = unsure && (await chat.taken?.([unsure.id]));
    if (unsure === undefined || this.#unsure !== unsure) return;
    this.#unsure = undefined;
    if (taken?.includes(unsure.id) !== true && chat.current?.id !== unsure.id) this.keep(unsure);
  }

  /** Another page may have sent what a run left undelivered. */
  async update(): Promise<void> {
    if (!this.isStored || !this.#all.some(({ isUndelivered }) => isUndelivered)) return;
    const left = new Set((await this.#stored()).map(({ waits }) => waits));
    this.#all = this.#all.filter(({ id, isUndelivered }) => !isUndelivered || left.has(id));
    this.#changed();
  }

  /** The run ended without the messages that still wait. */
  end(chat: OpenedChat | undefined): void {
    this.#all = this.#all.map(undelivered);
    const ids = this.#all.map(({ id }) => id);
    this.#whenTaken(chat, ids, (taken) => {
      const gone = this.#all.filter(({ id }) => taken.includes(id));
      this.#drop(gone);
      return gone.length > 0;
    });
  }

  /**
   * Calls `then` with the requests that runs of the chat have received: immediately, or when its host reports them.
   * `then` returns whether `all` has changed.
   */
  #whenTaken(
    chat: OpenedChat | undefined,
    requests: readonly string[],
    then: (taken: readonly string[]) => boolean,
  ): void {
    if (requests.length === 0) return;
    const later = (taken: readonly string[]): void => {
      if (then(taken)) this.#changed();
    };
    if (chat?.taken !== undefined) return void chat.taken(requests).then(later, () => later([]));
    const { hasTaken } = (chat ?? {}) as { hasTaken?(id: string): boolean };
    then(requests.filter((id) => hasTaken?.call(chat, id) === true));
  }

  #isKnown(id: string): boolean {
    return this.#sending.has(id) || this.#all.some((one) => one.id === id);
  }

  #drop(messages: readonly Waiting[]): void {
    if (messages.length > 0) this.#note({ gone: messages.map(({ id }) => id) });
    this.#all = this.#all.filter((one) => !messages.includes(one));
  }

  #writing: Promise<unknown> = Promise.resolve();

  #noteWaiting(
    { id: waits, content, isFollowUp }: SentMessage,
    place: Pick<Stored, "run" | "number" | "prompt"> = {},
  ): void {
    this.#note({ waits, content, ...(isFollowUp && { isFollowUp }), ...place });
  }

  /** In their order. The run reports a store that fails. */
  #note(entry: Stored | Gone): void {
    if (this.#log !== undefined) this.#writing = this.#writing.then(() => this.#add(entry)).catch(() => {});
  }

  /** Deletes a log with no waiting messages: the chat has the messages, which may be large. */
  async #add(entry: Stored | Gone): Promise<void> {
    if (!("gone" in entry)) return this.#log!.append(entry);
    const before = await this.#log!.add(entry);
    if (waitingIn([...before, { ...entry }]).length === 0) await this.#store?.delete?.(this.#key);
  }

  async #stored(): Promise<Stored[]> {
    await this.#writing;
    return waitingIn((await this.#log?.load()) ?? []);
  }
}

function waitingIn(entries: readonly LogObject[]): Stored[] {
  const waiting = new Map<string, Stored>();
  for (const entry of entries) {
    if (isWaiting(entry)) waiting.set(entry.waits, entry);
    else if (Array.isArray(entry["gone"])) for (const id of entry["gone"]) waiting.delete(id as string);
  }
  return [...waiting.values()];
}

function messageOf({ waits: id, content, isFollowUp }: Stored): SentMessage {
  return { id, content, isFollowUp: isFollowUp === true };
}

function undelivered({ id, content, isFollowUp }: SentMessage): Waiting {
  return { id, content, isFollowUp, isUndelivered: true, numbers: undefined };
}

function queueIn(run: Run<any, any>, { id, content, isFollowUp }: SentMessage): Queued {
  const given = [[...content], { requestId: id }] as const;
  return isFollowUp ? run.followUp(...given) : run.steer(...given);
}

/**
 * Sends a message into the current run again. The page may have closed before the journal or the host received it. A
 * run that has it already ignores it.
 */
function again(run: Run<any, any>, stored: Stored): Waiting {
  const message = messageOf(stored);
  const earlier = stored.number === undefined ? [] : [stored.number];
  try {
    const queued = queueIn(run, message);
    const withdraw = (): boolean => queued.withdraw();
    return { ...message, isUndelivered: false, numbers: () => [...earlier, queued.id], withdraw };
  } catch {
    // It has just ended.
    return undelivered(message);
  }
}

/** A damaged entry is ignored. */
function isWaiting(entry: LogObject): entry is LogObject & Stored {
  return typeof entry["waits"] === "string" && Array.isArray(entry["content"]);
}
