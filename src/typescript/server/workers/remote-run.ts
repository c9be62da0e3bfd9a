/**
 * A run with a remote host, as a page sees it. It receives the log of the run, and asks the host for everything else.
 * Methods return immediately with what the page knows. The events report the outcome.
 */
import { LoopletError, type RunError } from "../../core/api/errors.js";
import type { Outcome, OutcomeKind, RunEvent } from "../../core/api/event.js";
import type { AddedBudget } from "../../core/api/iteration.js";
import type { Model } from "../../core/api/model.js";
import type { PermissionMode } from "../../core/api/permission.js";
import type { RunResult } from "../../core/api/result.js";
import type {
  EventsOptions,
  Prompt,
  QuestionAnswer,
  Queued,
  Run,
  RunOptions,
  SteerOptions,
} from "../../core/api/run.js";
import { isObject } from "../../core/kit/check.js";
import { Delivery, abortReason, onAbort, promptOf } from "../../core/kit/runs.js";
import type { AgentLink, Following } from "./connection.js";
import { errorOf, randomName, type LogEntry, type Target } from "./protocol.js";
import { ReceivedRun, type KnownHistory } from "./received-run.js";

export type RunTarget = Target & { readonly run: string };

/** The time that a host has to end a run that this page stops, in milliseconds. After it, the run ends here. */
const STOP_MS = 1000;

export class RemoteRun implements Run, Following {
  readonly id: string;
  readonly target: RunTarget;
  readonly result: Promise<RunResult>;
  readonly #connection: AgentLink;
  readonly #delivery: Delivery;
  readonly #onEnd: (result: RunResult | undefined) => void;
  readonly #dropSignal: () => void;
  /** The questions that are known to be answered. */
  readonly #answered = new Set<number>();
  /** The messages that the model has got. */
  readonly #delivered = new Set<number>();
  #cursor: string | undefined;
  #isFromHere: boolean;
  #ended: RunResult | undefined;
  #outcome: Outcome | undefined;
  #finish: RunEvent | undefined;
  #isOver = false;
  /** The events so far, for a stop that the host does not answer. */
  readonly #received: ReceivedRun;
  /** Ends the wait for the host's answer to a stop. Undefined before a stop. */
  #endWait: (() => void) | undefined;
  /** Whether this page has ended the run. It still follows the run, so that a chat gets the host's messages. */
  #isStopped = false;
  #settle!: (result: RunResult) => void;
  #reject!: (error: unknown) => void;

  /**
   * `cursor` is the position after which the page wants events, all by default. `isFromHere` requests a snapshot and
   * later events. `onEnd` receives the result first. If this page ended the run, it receives the host's result later.
   * `history` is what the page knows of the messages before the answer.
   */
  constructor(
    connection: AgentLink,
    target: RunTarget,
    options: RunOptions,
    cursor?: string,
    isFromHere = false,
    onEnd: (result: RunResult | undefined) => void = () => {},
    history?: Partial<KnownHistory>,
  ) {
    this.id = target.run;
    this.target = target;
    this.#connection = connection;
    this.#cursor = cursor;
    this.#isFromHere = isFromHere;
    this.#onEnd = onEnd;
    this.#received = new ReceivedRun(history);
    this.#delivery = new Delivery(options, () => undefined);
    this.result = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    this.#dropSignal = onAbort(options.signal, (reason) => this.abort(reason));
  }

  /** An opaque cursor: the position in the log after the last received entry. `agent.attach` continues there. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  get place(): readonly [cursor: string | undefined, isFromHere: boolean] {
    return [this.#cursor, this.#isFromHere];
  }

  get outcome(): OutcomeKind | undefined {
    return this.#ended?.outcome;
  }

  hear(cursor: string, entry: LogEntry): void {
    if (this.#isStopped && !("event" in entry))
      return this.#takeLate("result" in entry ? entry.result : undefined);
    if (this.#isOver) return;
    this.#isFromHere = false;
    const event = "event" in entry ? (entry.event as RunEvent) : undefined;
    // The last event is emitted when the end is known, so that no listener of it finds a run in progress.
    if (event?.type === "finish") return void (this.#finish = event);
    this.#cursor = cursor;
    if ("event" in entry) this.#deliver(entry.event as RunEvent);
    else if ("result" in entry) this.#end(entry.result);
    else {
      const error = errorOf(entry.thrown);
      this.#end((error as Partial<RunError>).result, error);
    }
  }

  /** The host cannot perform the run. */
  fail(error: unknown): void {
    if (this.#isStopped) this.#takeLate(undefined);
    else if (!this.#isOver) this.#end(undefined, error);
  }

  steer(prompt: Prompt, options: SteerOptions = {}): Queued {
    return this.#queue("steer", prompt, options);
  }

  followUp(prompt: Prompt, options: SteerOptions = {}): Queued {
    return this.#queue("followUp", prompt, options);
  }

  abort(reason?: unknown): void {
    if (this.#isOver) return;
    const said = abortReason(reason);
    this.#tell("abort", said);
    if (this.#endWait === undefined) this.#waitForHost(said);
  }

  /** Ends the run here if its host cannot be reached, or does not end it in time. The host gets the stop later. */
  #waitForHost(reason: string): void {
    const end = (): void => this.#stopHere(reason);
    const timer = setTimeout(end, STOP_MS);
    const drop = this.#connection.onReconnecting?.((isReconnecting) => isReconnecting && end());
    this.#endWait = () => {
      clearTimeout(timer);
      drop?.();
    };
    // The caller may still add listeners in this task.
    if (this.#connection.isReconnecting === true) queueMicrotask(end);
  }

  #stopHere(reason: string): void {
    if (this.#isOver) return;
    this.#isStopped = true;
    const result = this.#received.result(this.id, reason);
    const outcome: Outcome = { outcome: "cancelled", abortReason: reason };
    this.#delivery.deliverNext({ type: "abort", reason });
    const { stamp } = this.#delivery;
    this.#finish = { ...stamp, seq: stamp.seq + 1, type: "finish", outcome };
    this.#end(result);
  }

  /** The host has ended a run that this page ended before. */
  #takeLate(result: RunResult | undefined): void {
    this.#isStopped = false;
    this.#connection.leave(this);
    if (result !== undefined) this.#onEnd(result);
  }

  answer(questionId: number, answer: QuestionAnswer): boolean {
    const names = ["behavior", "outcome", "action"];
    if (!isObject(answer) || !names.some((name) => name in answer)) {
      const problem = "needs { behavior } for an approval, { action } for a form, or { outcome } for a call";
      throw new LoopletError("misuse_invalid_argument", "answer", problem);
    }
    if (this.#isOver) return false;
    this.#tell("answer", questionId, answer);
    return !this.#answered.has(questionId);
  }

  saved(): Promise<void> {
    return this.#connection.call(this.target, "saved");
  }

  export(): never {
    const problem = "the record of a run is where the run is: export it there";
    throw new LoopletError("misuse_not_recorded", "export", problem);
  }

  setPermissionMode(mode: PermissionMode): void {
    this.#tell("setPermissionMode", mode);
  }

  setModel(_: Model): never {
    const problem = "a model has functions and keys, which no message carries: set it where the run is";
    throw new LoopletError("misuse_invalid_argument", "model", problem);
  }

  compact(options?: { instructions?: string | undefined }): void {
    this.#tell("compact", options ?? {});
  }

  addBudget(budget: AddedBudget): boolean {
    if (this.#isOver) return false;
    this.#tell("addBudget", budget);
    return true;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<RunEvent> {
    return this.events();
  }

  events({ detached = false }: EventsOptions = {}): AsyncIterableIterator<RunEvent> {
    const isWhole = this.#delivery.hasBacklog || this.#isOver;
    // The host has the run so far. A run that is followed from here on starts with a snapshot of it.
    const run = isWhole ? this : new RemoteRun(this.#connection, this.target, {}, undefined, true);
    if (!isWhole) this.#connection.follow(run);
    const leave = (): void => {
      if (!detached) this.abort("the loop over its events was left");
      else if (!isWhole) this.#connection.leave(run);
    };
    const reader = run.#delivery.reader(() => this.#lastSnapshot(), leave, this.#outcome);
    // A run that could not start has no outcome.
    if (this.#isOver) void this.#delivery.endReaders();
    return reader;
  }

  /** The first events of a loop that starts after the end. */
  #lastSnapshot(): RunEvent[] {
    if (this.#ended === undefined) return [];
    const { messages, usage, iterations } = this.#ended;
    return [{ ...this.#delivery.stamp, type: "snapshot", text: "", blocks: [], messages, usage, iterations }];
  }

  #queue(method: "steer" | "followUp", prompt: Prompt, options: SteerOptions): Queued {
    const said = promptOf(prompt, {});
    if (this.#isOver) {
      const problem = "this run has ended; begin another one with agent.run or chat.run";
      throw new LoopletError("misuse_run_ended", method, problem);
    }
    // Another host may get the message a second time.
    const requestId = options.requestId ?? randomName();
    const queued = { id: 0, withdraw: (): boolean => this.#withdraw(queued.id) };
    const took = (id: number): unknown => (queued.id = id);
    this.#connection.call(this.target, method, said, { requestId }).then(took, () => {});
    return queued;
  }

  #withdraw(id: number): boolean {
    if (this.#isOver || id === 0 || this.#delivered.has(id)) return false;
    this.#tell("withdraw", id);
    return true;
  }

  #tell(method: string, ...args: readonly unknown[]): void {
    this.#connection.call(this.target, method, ...args).catch(() => {});
  }

  #end(result: RunResult | undefined, error?: unknown): void {
    this.#isOver = true;
    this.#ended = result;
    this.#endWait?.();
    this.#dropSignal();
    if (!this.#isStopped) this.#connection.leave(this);
    this.#onEnd(result);
    if (this.#finish !== undefined) this.#deliver(this.#finish);
    void this.#delivery.endReaders();
    if (error === undefined) return this.#settle(result!);
    // A page that only listens gets the end from the last event, and a page that disconnected needs no more events.
    const isKnown = result !== undefined || (error as Partial<LoopletError>).code === "misuse_agent_closed";
    if (isKnown) this.result.catch(() => {});
    this.#reject(error);
  }

  #deliver(event: RunEvent): void {
    const { type } = event;
    this.#received.hear(event);
    if (type === "steer-delivered") for (const id of event.ids) this.#delivered.add(id);
    if (type === "finish") this.#outcome = event.outcome;
    if (type === "answered") this.#answered.add(event.questionId);
    this.#delivery.deliver(event);
  }
}
