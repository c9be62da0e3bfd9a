/**
 * A run as its user sees it: the methods, the engine's driver behind them, and the result. It also keeps the calls
 * that come before the engine is loaded. Its {@link Delivery} brings the events to the listeners.
 *
 * The room `run/` owns runs, chats, their events and their results. It has no model of the run next to the engine's,
 * and decides nothing. Agents and chats start runs; users call the methods.
 *
 * A run loads the engine, opens a driver with its options, and repeats the early calls. Events then arrive until the
 * outcome is set. After that its readers end, its tracers get the result, and `result` settles. If the engine cannot
 * be loaded, refuses the options or is lost, the run ends without it as `failed`. A run with a journal continues when
 * the engine is lost.
 */
import type { AgentParts } from "./agent-parts.js";
import { LoopletError, type RunError } from "../api/errors.js";
import type { Failure, Outcome, OutcomeKind, RunEvent } from "../api/event.js";
import type { AddedBudget } from "../api/iteration.js";
import type { ContentBlock, SessionSource } from "../api/message.js";
import type { Model } from "../api/model.js";
import type { PermissionMode } from "../api/permission.js";
import type { RunResult } from "../api/result.js";
import type { QuestionAnswer, RunRecord } from "../api/run.js";
import type {
  EventsOptions,
  ExportOptions,
  Prompt,
  Queued,
  Run,
  RunOptions,
  SteerOptions,
} from "../api/run.js";
import { checkAnswer } from "../hooks/questions.js";
import { addedBudget } from "../hooks/preparing.js";
import { authorizeRequest } from "../host/authorize.js";
import type { Input } from "../generated/input.js";
import type { HostCallbacks, RunSource } from "../host/driver.js";
import { journalOf } from "../host/entries.js";
import { fail, refusal } from "../host/failures.js";
import { requestUrl, type ModelConfig } from "../models/models.js";
import { checkOptions, joined } from "../options/check.js";
import { compactInstructions } from "../options/context.js";
import { thrownFor } from "../options/finishing.js";
import { checkMode } from "../options/permissions.js";
import { message } from "../options/thrown.js";
import { mergedInputs } from "../options/tool-options.js";
import { ToolCalls } from "../tools/tool-calls.js";
import { traces } from "./tracing.js";
import type { ChatJournal } from "./saving/chat-journal.js";
import { Delivery } from "./delivery.js";
import { EarlyInputs } from "./early-inputs.js";
import { RunDependencies } from "./run-dependencies.js";
import { Journal } from "./journal.js";
import { CrashCount } from "./crash-count.js";
import { resultOf, type Driver, type EngineResult, type LoadEngine, type OpenRun } from "../host/engine.js";
import { abortReason, isOnlySummary, promptOf, runConfig, speakerAt, type OnlySummary } from "./prompt.js";
import { toRunResult, unfinished, soFar } from "./result.js";
import { inputOf, Steers, type Message } from "./steers.js";
import { journalHost } from "./saving/journal-host.js";
import { compacting, firstInputs, sourceOf, type Resumed } from "./source.js";
import { endedBy, onAbort, canResume, inResult, warnIfUnread, whyOf, type EndEvent } from "./run-end.js";

export class EngineRun implements Run {
  readonly id: string;
  readonly #result: Promise<RunResult>;
  /** True as soon as the result or the outcome has been read. */
  #isRead = false;
  readonly #options: RunOptions;
  readonly #onEnd: (result: RunResult) => void;
  readonly #prompt: ContentBlock[] | OnlySummary;
  /** What the driver has of the agent. */
  #own!: RunDependencies;
  readonly #tools: ToolCalls;
  readonly #delivery: Delivery;
  #settle!: (result: RunResult) => void;
  #reject!: (error: RunError) => void;
  #driver: Driver | undefined;
  #outcome: Outcome | undefined;
  /** The outcome of an abort inside a listener. The last events and the result follow when the listener returns. */
  #closing: Outcome | undefined;
  /** The result of a run that has ended, for iterations that begin later. */
  #ended: RunResult | undefined;
  /** The engine has not ended the run, so its journal has no end. */
  #isAlone = false;
  /** The run ends here and not in its journal. */
  isSuspended = false;
  readonly decided = (questionId: number): Promise<unknown> | undefined =>
    this.#own.questions.decided(questionId);
  /** The model of a `setModel` before the engine was loaded. */
  #model: ModelConfig | undefined;
  readonly #running = (): Driver | undefined => (this.#outcome === undefined ? this.#driver : undefined);
  readonly #early = new EarlyInputs();
  readonly #startedMs: number;
  readonly #journal: Journal | undefined;
  readonly #record: RunRecord | undefined;
  #resumed: Resumed | undefined;
  /** The index of the agent that begins. */
  readonly #first: number;
  readonly #steers = new Steers({
    lastId: () => ((this.#resumed ?? this.#options.id) ? Math.floor(this.#own.parts.random() * 2 ** 30) : 0),
    hasEnded: () => this.#outcomeNow() !== undefined,
    send: (message) => this.#send(message),
    withdraw: (id) => this.#withdraw(id),
  });
  /** Opens the driver, and a fresh one after a crash. */
  #open: ((source: RunSource) => Driver) | undefined;
  #crashes = new CrashCount();
  readonly #dropSignal: () => void;

  /** `onEnd` gets the result first, inside `abort` if that ended the run. `session` is set if the run begins one. */
  constructor(
    parts: AgentParts,
    prompt: Prompt | OnlySummary,
    options: RunOptions,
    private readonly load: LoadEngine,
    onEnd: (result: RunResult) => void = () => {},
    session?: SessionSource,
    resumed?: Resumed,
    private readonly chat?: ChatJournal,
  ) {
    this.#onEnd = onEnd;
    this.#options = options;
    this.#prompt = resumed !== undefined ? [] : isOnlySummary(prompt) ? prompt : promptOf(prompt, options);
    this.#resumed = resumed;
    const inputs = mergedInputs(parts.toolRun.inputs, options.inputs);
    const config = parts.config();
    this.#first = speakerAt(parts.speakers, options.agent);
    const ownOptions = runConfig(options, inputs, session, this.#first);
    this.id = options.id ?? resumed?.key ?? parts.ids();
    this.#result = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    const running = this.#running;
    this.#delivery = new Delivery(options, running, (report) => traces(parts, this.id, report));
    const { report, onToolThrow } = this.#delivery;
    const host = journalHost(parts, this, running, report);
    if (host !== undefined)
      this.#journal = chat?.next(host, this.id) ?? new Journal(host, this.id, undefined, resumed?.held);
    this.#record = parts.record?.(this.id);
    this.#tools = new ToolCalls(parts.sets, running, report);
    this.#tools.follow({
      onThrow: onToolThrow,
      saved: () => this.saved(),
      permit: () => this.#journal?.permit() ?? "granted",
      fence: () => this.#journal?.fence,
    });
    this.equip(parts, config);
    this.#startedMs = this.#nowMs();
    this.#dropSignal = onAbort(options.signal, (reason) => this.abort(reason));
    void this.#start(ownOptions);
  }

  /** Takes the parts of the agent, or those of another agent, for the drivers that are opened from here on. */
  equip(parts: AgentParts, config: string): void {
    const inputs = mergedInputs(parts.toolRun.inputs, this.#options.inputs);
    this.#tools.renew(parts.sets, joined(parts.toolRun, { inputs }));
    const fence = (): number | undefined => this.#journal?.fence;
    const { report } = this.#delivery;
    const run = { tools: this.#tools, running: this.#running, fence, report };
    this.#own = new RunDependencies(parts, config, run, this.#own);
  }

  /** Resumes from the journal in a new driver. The previous driver must no longer have listeners. */
  renew(why: string): void {
    this.#driver?.tell({ suspend: { why } });
    this.#crashes = new CrashCount();
    this.#lose();
  }

  get result(): Promise<RunResult> {
    this.#isRead = true;
    return this.#result;
  }

  get outcome(): OutcomeKind | undefined {
    const outcome = this.#outcomeNow();
    this.#isRead ||= outcome !== undefined;
    return outcome;
  }

  /** @throws LoopletError `misuse_result` */
  get text(): never {
    throw inResult("text");
  }

  /** @throws LoopletError `misuse_result` */
  get messages(): never {
    throw inResult("messages");
  }

  /** @throws LoopletError `misuse_result` */
  get usage(): never {
    throw inResult("usage");
  }

  #outcomeNow(): OutcomeKind | undefined {
    // The engine's run ends before its last events are delivered.
    return (this.#outcome ?? this.#closing ?? this.#driver?.outcome())?.outcome;
  }

  steer(prompt: Prompt, options: SteerOptions = {}): Queued {
    return this.#steers.queue(true, prompt, options);
  }

  followUp(prompt: Prompt, options: SteerOptions = {}): Queued {
    return this.#steers.queue(false, prompt, options);
  }

  abort(reason: unknown = "aborted"): void {
    const why = abortReason(reason);
    this.#stop(endedBy(why), (driver) => driver.tell({ cancel: { why } }));
  }

  /**
   * Ends the run here, with this failure if there is one, and not in its journal, so that another process continues
   * with it. Without a journal it is aborted.
   */
  suspend(reason: string, error?: Failure): void {
    if (this.#journal === undefined) return this.abort(reason);
    this.isSuspended ||= this.#outcomeNow() === undefined;
    const input: Input = error === undefined ? { suspend: { why: reason } } : { giveUp: { failure: error } };
    this.#stop(endedBy(reason, error), (driver) => driver.tell(input));
  }

  #stop(alone: Outcome, stop: (driver: Driver) => void): void {
    if (this.#outcomeNow() !== undefined) return;
    try {
      if (this.#driver !== undefined) stop(this.#driver);
      this.#closing = this.#driver?.outcome();
    } catch (error) {
      this.#delivery.report(error);
    }
    // The driver ends its run inside `abort`. If there is no driver, or if it fails, the run ends here.
    if (this.#outcomeNow() === undefined) this.#endAlone(alone, whyOf(alone));
  }

  answer(questionId: number, answer: QuestionAnswer): boolean {
    const given = checkAnswer(answer, this.#own.parts);
    const isOpen = this.#driver?.answer(questionId, given) ?? false;
    if (!isOpen) return this.#outcomeNow() === undefined && this.#own.questions.answerKept(questionId, given);
    this.#own.questions.withdraw(questionId, "the question was answered");
    return true;
  }

  async saved(): Promise<void> {
    await this.#journal?.saved();
  }

  export(options?: ExportOptions): string {
    if (this.#record === undefined)
      throw new LoopletError("misuse_not_recorded", "export", "needs createAgent({ record: recorder() })");
    return this.#record.text(this.id, this.#outcomeNow(), options);
  }

  setPermissionMode(mode: PermissionMode): void {
    checkMode(mode, "mode", this.#own.parts.permissions);
    this.#tellDriver({ setMode: { mode } });
  }

  compact(options?: { instructions?: string | undefined }): void {
    this.#tellDriver(compacting(compactInstructions(options)));
  }

  addBudget(budget: AddedBudget): boolean {
    const more = addedBudget(budget);
    if (this.#outcomeNow() !== undefined) return false;
    if (this.#driver !== undefined) return this.#driver.tell({ addBudget: more });
    this.#early.budgets.push(more);
    return more.agentPath === "root";
  }

  #tellDriver(input: Input): void {
    const driver = this.#driver;
    driver?.tell(input);
    // An input that is lost with its instance is repeated.
    if (driver === undefined || this.#isLost(driver)) this.#early.first.push(input);
  }

  #isLost(driver: Driver): boolean {
    return this.#driver !== driver && this.#outcomeNow() === undefined;
  }

  setModel(model: Model): void {
    const { tools, asked } = this.#own.parts;
    const config = { ...this.#own.models.add(model, "model", tools), ...asked };
    this.#model = config;
    try {
      this.#driver?.tell({ setModel: { model: config } });
    } catch (error) {
      throw new LoopletError("config_invalid_value", "model", refusal(error).message);
    }
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<RunEvent> {
    return this.events();
  }

  events(given: EventsOptions = {}): AsyncIterableIterator<RunEvent> {
    const options = checkOptions(given, "", { detached: "boolean" });
    const isNew = this.#driver === undefined && this.#outcome === undefined;
    const leave = () => this.abort("the loop over its events was left");
    return this.#delivery.reader(
      () => (isNew ? [] : [this.#snapshot()]),
      options.detached === true ? undefined : leave,
      this.#outcome,
    );
  }

  async #start(options: string): Promise<void> {
    let open: OpenRun;
    try {
      open = await this.load();
    } catch (error) {
      return this.#failAlone(fail("config_wasm", `The WebAssembly could not be loaded: ${message(error)}`));
    }
    if (this.#outcome !== undefined) return;
    try {
      const { store } = this.#own.parts;
      const own = { id: this.id, isNew: this.#options.id === undefined, options, chat: this.chat };
      const source = await sourceOf(own, this.#resumed, store, this.#journal);
      if (this.#outcome !== undefined) return;
      if (typeof source === "object" && "code" in source) return this.#failAlone(source);
      // A long journal takes much memory, and the engine has it.
      this.#resumed &&= { ...this.#resumed, entries: undefined };
      const through = this.#own.parts.between?.(this, open) ?? open;
      this.#open = (source) => through(this.#own.config, source, this.#host());
      this.#begin(source, (driver) => {
        for (const input of firstInputs(this.#prompt, this.#resumed)) driver.tell(input);
      });
    } catch (error) {
      this.#failAlone(refusal(error));
    }
  }

  #begin(source: RunSource, go: (driver: Driver) => void): void {
    const driver = (this.#driver = this.#open!(source));
    if (typeof source === "string") this.chat?.follow(driver, this.id);
    this.#delivery.want();
    if (this.#model !== undefined) driver.tell({ setModel: { model: this.#model } });
    this.#early.begin(driver, () => go(driver));
  }

  /** Resumes from the journal when the instance is lost; false if there is no journal. */
  #lose(): boolean {
    const driver = this.#driver;
    if (this.#journal === undefined || this.#outcome !== undefined || driver === undefined) return false;
    this.#driver = undefined;
    this.#own.questions.loseInstance();
    this.#delivery.forgetAgents();
    driver.free();
    void this.#recover(this.#journal);
    return true;
  }

  async #recover(journal: Journal): Promise<void> {
    try {
      // Frames of the lost instance may still be on the stack. A fresh one is made when they are gone.
      await null;
      const entries = await journal.entries();
      if (this.#outcome !== undefined) return;
      const isNew = this.#resumed === undefined && journal.last === undefined;
      const early = "The WebAssembly instance was lost before the journal had the prompt.";
      if (entries.length === 0 || isNew) return this.#failAlone(fail("bug", early));
      if (!this.#crashes.add(entries))
        return this.#endAlone({ outcome: "stopped", stoppedBy: "recovery_exhausted" }, undefined);
      this.#begin(journalOf(entries), (driver) => {
        const { stamp, shownBlocks } = this.#delivery;
        driver.tell({ recover: { running: this.#tools.open, nextEvent: stamp.seq + 1, shownBlocks } });
      });
      this.#tools.handAgain();
    } catch (error) {
      this.#failAlone(fail("bug", message(error)));
    }
  }

  #host(): HostCallbacks {
    const { clock, now, random } = this.#own.parts;
    return {
      fetch: (url, init, slot) => {
        const send = () => this.#own.models.fetch(slot)(requestUrl(url), init);
        return this.#journal === undefined ? send() : this.#journal.asHolder(send);
      },
      authorize: (request) =>
        authorizeRequest(this.#own.models.at(request.model), { ...request, url: requestUrl(request.url) }),
      perform: (output) => this.#own.perform(output),
      onDelta: this.#delivery.deltas(),
      onEvent: (event, agent) => this.#delivery.deliver(event, agent),
      save: (save, entries) => {
        const driver = this.#driver;
        const saved = (ok: boolean): void => {
          // An instance that was lost since has other saves.
          if (driver === this.#driver && this.#outcome === undefined) driver?.tell({ saved: { save, ok } });
        };
        if (this.#journal !== undefined) return this.#journal.save(entries, saved);
        // A recorded run writes a journal that goes to no store. The answer to a save comes later.
        queueMicrotask(() => saved(true));
      },
      record: this.#record,
      lost: () => this.#lose(),
      done: () => this.#done(),
      now,
      random,
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      clearTimer: (timer) => clock.clearTimer(timer),
      onHostError: this.#delivery.report,
    };
  }

  #send(message: Message): void {
    if (message.requestId !== undefined) this.chat?.take(message.requestId);
    const driver = this.#driver;
    driver?.tell(inputOf(message));
    if (driver === undefined || this.#isLost(driver)) this.#early.queue(message);
  }

  #withdraw(id: number): boolean {
    if (this.#outcomeNow() !== undefined) return false;
    if (this.#driver !== undefined) return this.#driver.tell({ withdraw: { id } });
    return this.#early.withdraw(id);
  }

  #snapshot(): RunEvent {
    const now = this.#driver && resultOf(this.#driver);
    return { ...this.#delivery.stamp, ...soFar(now ?? this.#ended ?? this.#alone()) };
  }

  /** The driver's run is over: takes its result and frees its memory. */
  #done(): void {
    const driver = this.#driver;
    if (driver === undefined || this.#outcome !== undefined) return;
    try {
      const outcome = driver.outcome() ?? {
        outcome: "failed",
        error: fail("bug", "The run ended without an outcome."),
      };
      const result = resultOf(driver);
      if (result === undefined) return this.#endAlone(outcome, whyOf(outcome));
      this.chat?.end(driver.tail());
      this.#driver = undefined;
      this.#outcome = outcome;
      result.output = this.#own.output.value(result.output);
      this.#conclude(this.#finished(result, outcome));
    } catch (error) {
      this.#driver = undefined;
      this.#outcome = { outcome: "failed", error: fail("bug", message(error)) };
      this.#conclude(this.#finished(this.#alone(), this.#outcome));
    }
    driver.free();
  }

  #failAlone(error: Failure): void {
    if (this.#outcome === undefined) this.#endAlone({ outcome: "failed", error }, { type: "error", error });
  }

  /** Ends a run that the engine has not taken over or cannot end itself. */
  #endAlone(outcome: Outcome, why: EndEvent | undefined): void {
    this.chat?.end();
    this.#isAlone = true;
    this.#outcome = outcome;
    const driver = this.#driver;
    this.#driver = undefined;
    if (why !== undefined) this.#delivery.deliverNext(why);
    this.#delivery.deliverNext({ type: "finish", outcome });
    this.#conclude(this.#finished(this.#alone(), outcome));
    driver?.free();
  }

  #alone(): EngineResult {
    const hasPrice = this.#own.models.priceBasis() !== undefined;
    const { text } = this.#delivery.received;
    const durationMs = Math.max(0, this.#nowMs() - this.#startedMs) || 0;
    return unfinished(this.#options, this.#prompt, text, this.#early.ids, hasPrice, this.#first, durationMs);
  }

  /** The platform's time; `NaN` for a run with the user's clock, because that one counts its reads. */
  #nowMs(): number {
    return this.#own.parts.now === undefined ? Date.now() : NaN;
  }

  #finished(raw: EngineResult, outcome: Outcome): RunResult {
    const agent = this.#own.parts.speakers[raw.profile] ?? "root";
    return toRunResult(this.id, raw, outcome, agent, this.#own.models.priceBasis());
  }

  #conclude(result: RunResult): void {
    this.#ended = result;
    this.#dropSignal();
    const isPending = this.isSuspended || canResume(result);
    this.#journal?.end(isPending ? "pending" : this.#isAlone ? "unread" : "ended");
    this.#tools.abortAll(result.abortReason ?? "the run has ended", this.isSuspended);
    this.#own.questions.withdrawAll(result.abortReason ?? "the run has ended");
    void warnIfUnread(result, this.#delivery.endReaders(), () => this.#isRead);
    this.#onEnd(result);
    this.#delivery.endTraces(result, () => this.#record?.ended?.(this.id, result.outcome));
    const thrown = thrownFor(result, this.#own.parts.finishing);
    if (thrown === undefined) return this.#settle(result);
    // A user who only listens learns of the end from the last event, so the rejection must not count as unhandled.
    this.#result.catch(() => {});
    this.#reject(thrown);
  }
}
