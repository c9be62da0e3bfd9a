/**
 * The messages of the person that the model has not got. With a store they outlive the page: a log has each message
 * that waits, and notes when it waits no more.
 */
import type { ContentBlock, Queued, Run, Store } from "../../../core/api/index.js";
import { randomUuid } from "../../random-uuid.js";
import { logsBeside } from "../../stores/logs/beside-chat.js";
import { SharedLog, type LogObject } from "../../stores/logs/shared-log.js";
import type { QueuedMessage } from "../snapshot.js";

interface Waiting extends QueuedMessage {
  /** The number under which its run has it; undefined when that run has ended. */
  readonly number: (() => number) | undefined;
  readonly withdraw?: (() => boolean) | undefined;
  /** Whether the log has it. */
  readonly isStored: boolean;
}

/** An entry of the log: a message waits. */
interface Stored {
  readonly waits: string;
  readonly content: readonly ContentBlock[];
  readonly run?: string | undefined;
  readonly number?: number | undefined;
}

/** An entry of the log: these messages wait no more. */
interface Gone {
  readonly gone: readonly string[];
}

export class MessageQueue {
  readonly #log: SharedLog | undefined;
  readonly #storesEarly: boolean;
  #all: readonly Waiting[] = [];

  /**
   * A host may give a message its number later, so one of a run elsewhere is stored when its run has ended without
   * it. Without a store all are kept as long as this object is.
   */
  constructor(store: Store | undefined, chat: string | undefined, isElsewhere: boolean) {
    this.#log =
      store === undefined || chat === undefined ? undefined : new SharedLog(store, logsBeside(chat).queue);
    this.#storesEarly = !isElsewhere;
  }

  get all(): readonly QueuedMessage[] {
    return this.#all;
  }

  /** Reads what an earlier page has left. The result takes it up, when it is known what the model has got. */
  async load(): Promise<(chat: { current: Run<any, any> | undefined }) => void> {
    const left = await this.#stored();
    return (chat) => {
      const waiting = left.map((entry) => waitingOf(entry, chat.current?.id));
      const open = waiting.filter(({ id, isUndelivered }) => !isUndelivered || !hasTaken(chat, id));
      this.#all = [...open, ...this.#all.filter(({ isStored }) => !isStored)];
    };
  }

  /** Sends a message into a run. @throws LoopletError `misuse_run_ended` */
  steer(run: Run<any, any>, content: readonly ContentBlock[]): void {
    const id = randomUuid();
    const queued: Queued = run.steer([...content], { requestId: id });
    const isStored = this.#storesEarly && this.#log !== undefined;
    if (isStored) this.#note({ waits: id, content, run: run.id, number: queued.id });
    const number = (): number => queued.id;
    const withdraw = (): boolean => queued.withdraw();
    this.#all = [...this.#all, { id, content, isUndelivered: false, number, withdraw, isStored }];
  }

  /** Takes a message back; false if the model has it. */
  withdraw(id: string): boolean {
    const message = this.#all.find((one) => one.id === id);
    if (message === undefined || (message.number !== undefined && message.withdraw?.() !== true))
      return false;
    this.#drop([message]);
    return true;
  }

  has(numbers: readonly number[]): boolean {
    return this.#of(numbers).length > 0;
  }

  /** The content of the messages with these numbers, which wait no more. */
  delivered(numbers: readonly number[]): ContentBlock[] {
    return this.#drop(this.#of(numbers));
  }

  /** The content of all, which goes with the next prompt. */
  takeAll(): ContentBlock[] {
    return this.#drop(this.#all);
  }

  /** Another page may have sent what a run has left. */
  async update(): Promise<void> {
    if (!this.#all.some(({ isStored, isUndelivered }) => isStored && isUndelivered)) return;
    const left = new Set((await this.#stored()).map(({ waits }) => waits));
    this.#all = this.#all.filter(({ id, isStored }) => !isStored || left.has(id));
  }

  /** The run has ended without the messages that still wait. */
  end(chat: object | undefined): void {
    const left = this.#all.filter(({ id, number }) => number === undefined || !hasTaken(chat, id));
    this.#drop(this.#all.filter((one) => !left.includes(one)));
    this.#all = left.map(({ id, content, isStored }) => {
      if (!isStored) this.#note({ waits: id, content });
      return { id, content, isUndelivered: true, number: undefined, isStored: this.#log !== undefined };
    });
  }

  #of(numbers: readonly number[]): Waiting[] {
    return this.#all.filter(({ number }) => number !== undefined && numbers.includes(number()));
  }

  #drop(messages: readonly Waiting[]): ContentBlock[] {
    const gone = messages.flatMap(({ id, isStored }) => (isStored ? [id] : []));
    if (gone.length > 0) this.#note({ gone });
    this.#all = this.#all.filter((one) => !messages.includes(one));
    return messages.flatMap(({ content }) => content);
  }

  #writing: Promise<unknown> = Promise.resolve();

  /** In their order. A store that fails tells of it by the run. */
  #note(entry: Stored | Gone): void {
    this.#writing = this.#writing.then(() => this.#log?.add(entry)).catch(() => {});
  }

  async #stored(): Promise<Stored[]> {
    await this.#writing;
    const entries = (await this.#log?.load()) ?? [];
    const waiting = new Map<string, Stored>();
    for (const entry of entries) {
      if (isWaiting(entry)) waiting.set(entry.waits, entry);
      else if (Array.isArray(entry["gone"])) for (const id of entry["gone"]) waiting.delete(id as string);
    }
    return [...waiting.values()];
  }
}

function waitingOf({ waits: id, content, run, number }: Stored, current?: string): Waiting {
  const isOfRun = current !== undefined && run === current && number !== undefined;
  const ofRun = isOfRun ? (): number => number : undefined;
  return { id, content, isUndelivered: !isOfRun, number: ofRun, isStored: true };
}

/** Whether a run has given the model this message. A chat that is elsewhere does not know. */
function hasTaken(chat: object | undefined, id: string): boolean {
  try {
    return (chat as { hasTaken?(id: string): boolean } | undefined)?.hasTaken?.(id) ?? false;
  } catch {
    return false;
  }
}

/** A damaged entry is left out. */
function isWaiting(entry: LogObject): entry is LogObject & Stored {
  return typeof entry["waits"] === "string" && Array.isArray(entry["content"]);
}
