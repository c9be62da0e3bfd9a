/**
 * A run: its start, its listeners, its events, its steering, and the store that keeps it.
 */
import type { OnSaveFailed } from "./result.js";
import type { Facts, RecoveryData, SubagentMemory, Usage } from "../generated/model.js";
import type { OutcomeKind, TypedEvent } from "./event.js";
import type { AddedBudget } from "./iteration.js";
import type { ContentBlock, MessageInput } from "./message.js";
import type { Fetch, Model } from "./model.js";
import type { PermissionMode, PermissionResult } from "./permission.js";
import type { HostAbortSignal } from "./platform.js";
import type { Partially, TypedResult } from "./result.js";
import type { ElicitationAnswer, Inputs, Tools, ToolTypes, ToolTypesOf } from "./tool.js";

/**
 * The prompt of a run: a text, or blocks (text and media). An empty or blank prompt throws `misuse_empty_prompt`. But
 * an empty list of blocks goes on with `messages` that end with a message of the user, such as results of tools.
 */
export type Prompt = string | readonly ContentBlock[];

/** The options of `agent.run`. `T` are the agent's tools, and `Output` is the type of its structured answer. */
export type RunOptions<T extends Tools = Tools, Output = unknown> = TypedRunOptions<ToolTypesOf<T>, Output>;

/** Callbacks of a run. If one throws, the error goes to `onError` and the run continues. */
export interface RunListeners<C extends ToolTypes = ToolTypes, Output = unknown> {
  /**
   * Contract: called with each piece of the model's text, in order. After a `reset` event the text of that answer
   * starts over.
   */
  onText?: ((text: string) => void) | undefined;
  /** Contract: called with each piece of the model's reasoning, in order. Without a text: `reasoning-progress` events. */
  onThinking?: ((text: string) => void) | undefined;
  /**
   * Contract: called with the structured answer so far, about once for each network chunk that adds to it. All calls
   * get one object that grows: copy the parts that you keep. It is not validated, and it starts over with every
   * answer and every attempt.
   */
  onPartialOutput?: ((partial: Partially<Output>) => void) | undefined;
  /** Contract: called with each complete call, before its tool runs. */
  onToolCall?: ((event: Extract<TypedEvent<C>, { type: "tool-call" }>) => void) | undefined;
  /** Contract: called with each call's result or error. */
  onToolResult?:
    ((event: Extract<TypedEvent<C>, { type: "tool-result" | "tool-error" }>) => void) | undefined;
  /** Contract: called with every event, in order, after the callbacks above. */
  onEvent?: ((event: TypedEvent<C>) => void) | undefined;
  /**
   * Contract: called with every error that a listener throws, once for errors with the same stack, and with every
   * error of a tool that is not a `ToolError`. Default: `reportError` in browsers and Workers, else `console.error`;
   * always `console.error` for tools.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** The options of a run of an agent with tools of these types. */
export interface TypedRunOptions<C extends ToolTypes, Output> extends RunListeners<C, Output> {
  /** The history that the run continues, for example `result.messages` of an earlier run. Default: none. */
  messages?: readonly MessageInput[] | undefined;
  /** The memory of persistent subagents: `result.subagents` of an earlier run. Default: none. */
  subagents?: readonly SubagentMemory[] | undefined;
  /** The agent that begins: `result.agent` of an earlier run. Default: the agent whose `run` this is. */
  agent?: string | undefined;
  /** The usage of the conversation before this run: `result.chatUsage` of an earlier run. Default: none. */
  chatUsage?: Usage | null | undefined;
  /** Values for the tools' `bindings`; they win over the agent's own. Default: none. */
  inputs?: Inputs | undefined;
  /**
   * The run's id, and with a store the name of its journal. A second run with the same id and the same prompt is the
   * same run: it goes on with the journal, or ends again as the first one has. Default: by the option `ids`.
   */
  id?: string | undefined;
  /** A signal that aborts the run, even one that has fired already. Its reason becomes `result.abortReason`. */
  signal?: HostAbortSignal | undefined;
}

/** The options of `agent.resume`: those of a run, except the ones that the journal has. */
export type ResumeOptions<C extends ToolTypes = ToolTypes, Output = unknown> = Omit<
  TypedRunOptions<C, Output>,
  "messages" | "subagents" | "agent" | "chatUsage" | "inputs"
> & {
  /**
   * Whether to go on with a run that another process holds. That process ends its run as `cancelled` when it notices;
   * a tool call that it has begun may still be under way. Default false: the run fails with `run_held`.
   */
  takeOver?: boolean | undefined;
  /**
   * The number of the last event that your listeners have heard of this run from another process. The events of this
   * one have higher numbers. A crash may lose the numbers of the last events, mostly of text, and then they come
   * again. Default 0.
   */
  afterEvent?: number | undefined;
};

/** Options of an iteration of a run's events. */
export interface EventsOptions {
  /** Whether the run continues when the loop is left (`break`, `return`, a throw). Default false: it is aborted. */
  detached?: boolean | undefined;
}

/** The options of `run.export`. */
export interface ExportOptions {
  /**
   * Contract: called with each text of the record: prompts, answers, results of tools, pieces of streams. It returns
   * the text without what must not leave your process, best in equal length. Keys and texts that look like keys are
   * gone already. Default: nothing more is removed.
   */
  redact?: ((text: string) => string) | undefined;
}

/** Begins the record of the run of this id: `recorder()` of `looplet/replay` is one. */
export type Recorder = (runId: string) => RunRecord;

/**
 * The record of one run, which looplet writes.
 *
 * Contract: its methods but `ended` call nothing, and only `text` throws.
 */
export interface RunRecord {
  /** A process begins: the JSON of the agent's configuration, and of the run's options or the entries of its journal. */
  begin(config: string, source: string | { readonly texts: readonly string[]; readonly last: number }): void;
  /**
   * An input is about to reach the engine. `nowMs` is its time, unknown from 2^53 on; `random` its seed; `after` the
   * number of outputs that were performed before it; `input` its JSON, or a chunk of a response, whose bytes change
   * afterwards.
   */
  input(
    nowMs: number,
    random: bigint,
    after: number,
    input: string | { readonly request: number; readonly bytes: Uint8Array },
  ): void;
  /** These values were added to a request, and must stand in no file. */
  know(secrets: readonly string[]): void;
  /** The WebAssembly is lost. */
  lose(error: string): void;
  /**
   * Contract: called once, when the run has ended in this process, also if another process continues it. What it
   * throws, or its promise rejects with, goes to `onError` of the run.
   */
  ended?(id: string, outcome: OutcomeKind): void | PromiseLike<void>;
  /** The text of the file. */
  text(id: string, outcome: OutcomeKind | undefined, options: ExportOptions | undefined): string;
}

/** The options of `run.steer` and `run.followUp`. */
export interface SteerOptions {
  /**
   * The id of the message, which tells a second delivery from a second message: a steer or follow-up with an id that
   * the run has seen changes nothing. The journal keeps the last 256, so that this holds in another process too.
   * Default: each call is a message of its own.
   */
  requestId?: string | undefined;
}

/** A message on its way into a running run. */
export interface Queued {
  /** The id in `steer-delivered` and in `result.undelivered`: 1 for the first, or a random number in a run that goes on. */
  readonly id: number;
  /** Takes the message back; false if it has been delivered already. */
  withdraw(): boolean;
}

/**
 * A run, which has started by the time you get it. It is not a promise: await `run.result`. You may also iterate its
 * events: `for await (const event of run)`. An iteration that begins in the same task sees every event. A later
 * iteration starts with a `snapshot`, and so does one that begins after more than 2,048 characters of deltas or 100
 * events.
 *
 * `T` are the agent's tools, and `Output` is the type of its structured answer. `Run<T>` is a `Run`.
 */
export type Run<T extends Tools = Tools, Output = unknown> = TypedRun<ToolTypesOf<T>, Output>;

/** A run of an agent with tools of these types. */
export interface TypedRun<C extends ToolTypes, Output> extends AsyncIterable<TypedEvent<C>> {
  /** The run's unique id, made by the `ids` option. */
  readonly id: string;
  /**
   * The result. It never rejects for a failure of a provider or a tool, nor for a limit, unless an option says
   * `"throw"`.
   *
   * @example
   * ```ts
   * import { createAgent, custom } from "looplet";
   *
   * const run = createAgent({ model: custom(() => Promise.resolve("Hello.")) }).run("Hi");
   * const { outcome, text, usage, messages } = await run.result;
   * console.log(outcome, text, messages.length); // prints "completed Hello. 2"
   * ```
   */
  readonly result: Promise<TypedResult<C, Output>>;
  /** How the run ended, set inside `abort()` and before `result` settles; `undefined` while the run continues. */
  readonly outcome: OutcomeKind | undefined;
  /**
   * Iterates the events, with options; `for await (… of run)` is the same as `run.events()`. Several iterations may
   * run at once.
   *
   * @example
   * ```ts
   * import { createAgent, custom } from "looplet";
   *
   * const run = createAgent({ model: custom(() => Promise.resolve("Hello.")) }).run("Hi");
   * for await (const event of run.events()) {
   *   if (event.type === "text-delta") console.log(event.text); // prints "Hello."
   * }
   * ```
   */
  events(options?: EventsOptions): AsyncIterableIterator<TypedEvent<C>>;
  /**
   * Gives the model a message before its next call. If the model has just finished and no limit is reached, one more
   * iteration begins. `result.undelivered` has the messages that no call took.
   *
   * @example
   * ```ts
   * import { anthropic, createAgent } from "looplet";
   *
   * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
   * const run = createAgent({ model }).run("Write a poem about the sea.");
   * run.steer("Make it a short one.");
   * console.log((await run.result).undelivered.length); // prints "0"
   * ```
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  steer(prompt: Prompt, options?: SteerOptions): Queued;
  /**
   * Asks the model a further question when it has finished.
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  followUp(prompt: Prompt, options?: SteerOptions): Queued;
  /**
   * Ends the run at once: `outcome` is set on return, and `result` settles with everything that arrived. A second
   * call does nothing.
   *
   * @example
   * ```ts
   * import { anthropic, createAgent } from "looplet";
   *
   * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
   * const run = createAgent({ model }).run("Write a long story.");
   * run.abort("the user closed the page");
   * console.log((await run.result).abortReason); // prints "the user closed the page"
   * ```
   */
  abort(reason?: string): void;
  /**
   * Answers a `question` event: one of the kind `permission` with a `PermissionResult`, one of the kind `reconcile`
   * with a `Reconciliation`, one of the kind `elicitation` with an `ElicitationAnswer`. The same answer a second time
   * returns true and changes nothing. False if the question is closed otherwise or of another kind, and when the run
   * has ended.
   *
   * @example
   * ```ts
   * import { anthropic, createAgent, tool } from "looplet";
   *
   * const pay = tool({
   *   description: "Pays a bill",
   *   inputSchema: { type: "object", properties: { bill: { type: "string" } }, required: ["bill"] },
   *   needsApproval: true,
   *   execute: ({ bill }) => `Paid ${bill}`,
   * });
   * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
   * const run = createAgent({ model, tools: { pay } }).run("Pay the bill B-7.");
   * for await (const event of run) {
   *   if (event.type === "question") run.answer(event.questionId, { behavior: "allow" });
   * }
   * ```
   *
   * @throws LoopletError `misuse_invalid_argument`
   */
  answer(questionId: number, answer: QuestionAnswer): boolean;
  /**
   * Resolves when the store has everything so far, the prompt at least; at once without a store. Rejects with the
   * store's error if it could not be saved, and after 30 s (and `durable.flushMs`) by the agent's clock if the store
   * does not answer. What a store has refused is written again by the next save and by the next call of `saved()`,
   * also after the end of the run. Give it to `waitUntil` where a platform ends your process after the response.
   *
   * @example
   * ```ts
   * import { anthropic, createAgent } from "looplet";
   * import { memoryStore } from "looplet/stores";
   *
   * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
   * const run = createAgent({ model, store: memoryStore() }).run("Hello");
   * await run.saved(); // the prompt is in the store
   * ```
   */
  saved(): Promise<void>;
  /**
   * The run so far as the text of a `.loop` file, which `replay` of `looplet/replay` plays again: for a bug report or
   * a test. Keys are not in it. It works during the run, after it, and after the loss of the WebAssembly. The agent
   * needs `record: recorder()`.
   *
   * @throws LoopletError `misuse_not_recorded`, `misuse_invalid_argument`, `config_…`
   */
  export(options?: ExportOptions): string;
  /**
   * Switches the permission mode for the rest of the run, from the next tool call on. In a run without permissions it
   * switches them on.
   *
   * @throws LoopletError `config_invalid_value`, or `config_missing` if the mode needs an option that is missing
   */
  setPermissionMode(mode: PermissionMode): void;
  /**
   * Switches to another model for the rest of the run, from the next request on; a request under way is not touched.
   * The new model gets the whole transcript, except for parts that only the model before it can read (signed
   * reasoning). The event `model-change` marks the switch.
   *
   * @throws LoopletError `config_…` as `createAgent` for its `model`
   */
  setModel(model: Model): void;
  /**
   * Has the history summarised before the next model call, if it is longer than the part that `compaction` keeps.
   * Nothing happens if no model call follows.
   *
   * @throws LoopletError `config_…`
   */
  compact(options?: { instructions?: string | undefined }): void;
  /**
   * Raises limits while the run continues; the event `limits` has the new ones. False if the run has ended, or if no
   * such agent is at work.
   *
   * @throws LoopletError `config_…`
   */
  addBudget(budget: AddedBudget): boolean;
}

/** A fact of a run. */
export interface JournalEntry {
  /** From 1 on, without a gap. */
  readonly seq: number;
  /**
   * The fact as JSON text in one line, which ends in its checksum. Keep it as the text that it is, letter by letter:
   * a store that reads the JSON and writes it anew (a column `jsonb`) changes numbers and the order of keys, and the
   * run counts as damaged.
   */
  readonly json: string;
}

/**
 * Keeps journals, by the ids of their runs. `looplet/stores` has stores for memory, browsers, Cloudflare, Deno KV
 * and SQL databases, `looplet/stores/node` one for files.
 */
export interface Store {
  /**
   * Adds entries to a journal, all or none.
   *
   * Contract: rejects with {@link StoreConflict} if the journal's last entry does not have the number `expectedSeq`
   * (0 for a journal that is empty or not there), because another process goes on with the run then. It does so too
   * if `fence` is given and is not the one of the journal's latest lease. looplet calls it again after any other
   * error, three times in all, and never twice at once for one journal.
   */
  append(
    key: string,
    entries: readonly JournalEntry[],
    expectedSeq: number,
    fence?: number,
  ): Promise<void> | void;
  /**
   * The entries in their order, with the numbers that they were given; `undefined` or an empty array if there is no
   * such journal.
   *
   * Contract: gives all that is there, with a gap in the numbers where entries are lost, and any text for one that
   * cannot be read. looplet finds damage by numbers and checksums, and goes on from the last whole save. Of entries
   * whose number is not above `after`, none is needed: a store that finds entries by their numbers reads no more than
   * the others. Default 0.
   */
  load(
    key: string,
    after?: number,
  ): Promise<readonly JournalEntry[] | undefined> | readonly JournalEntry[] | undefined;
  /**
   * Takes the lease of a journal, by which one process at a time goes on with a run. Default: there are no leases.
   *
   * Contract: `undefined` if another holder has a lease that has not run out, and `takeOver` is not set. Of several
   * processes that ask at the same moment, one gets it. The store judges by its own time, and may give the lease at
   * once when it knows that its holder is gone.
   */
  lease?(key: string, options: LeaseOptions): Promise<Lease | undefined> | Lease | undefined;
  /**
   * The keys of the journals whose lease has run out or was given back as pending, so that another process may resume
   * the run. Needed with `lease`.
   *
   * Contract: without the journals whose last entry ends the run, as `isRunEnd` of `looplet/stores` says: a process
   * that crashed after its run had ended has not given the lease back.
   */
  pending?(): Promise<readonly string[]> | readonly string[];
  /**
   * The keys of the journals whose latest lease was given back as ended at least `ageMs` milliseconds ago, by the
   * store's time, or has run out that long ago after an entry that ends the run. A chat has ended so between two
   * runs. For `dropEnded`.
   */
  ended?(ageMs: number): Promise<readonly string[]> | readonly string[];
  /**
   * Removes a journal and its lease; nothing happens if there is none. looplet never calls it: you decide how long
   * runs are kept. A process that goes on with the run is refused at its next append.
   */
  delete?(key: string): Promise<void> | void;
}

/** The options of {@link Store.lease}. */
export interface LeaseOptions {
  /** A text of its own for each run of each process. A holder that asks again gets its lease again. */
  readonly holder: string;
  /** The time after which the lease runs out, in milliseconds. */
  readonly ttlMs: number;
  /** Whether to take it from a holder that has it still. Default false. */
  readonly takeOver?: boolean | undefined;
}

/** The right of one process to go on with a run. */
export interface Lease {
  /** Higher than that of every lease of this journal before. */
  readonly fence: number;
  /** Has the lease run out in `ttlMs` from now. False if it has a later holder, or was given back. */
  renew(ttlMs: number): Promise<boolean> | boolean;
  /**
   * Gives the lease back. `isPending` says that the run has not ended and that any process may go on with it. Nothing
   * happens if the lease has a later holder.
   */
  release(isPending: boolean): Promise<void> | void;
}

/**
 * The fate of a call that had begun when its process ended: it was done, it was not done and runs now, or it failed.
 */
export type Reconciliation =
  | { readonly outcome: "done"; readonly output: unknown }
  | { readonly outcome: "run" }
  | { readonly outcome: "fail"; readonly message: string };

/** What `run.answer` takes. */
export type QuestionAnswer = PermissionResult | Reconciliation | ElicitationAnswer;

/** A call that had begun when its process ended, or whose tool is not there any more. */
export interface ReconcileRequest extends Omit<Facts["reconcile"], "agentPath"> {
  readonly agentPath: string;
  /** The argument for `run.answer`. */
  readonly questionId: number;
  /** The fence of the run's lease, as tools get it; undefined in an agent whose store has no leases. */
  readonly fence: number | undefined;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/**
 * Contract: called for a call whose outcome looplet cannot know. The rest of the run waits for it, and the answer may
 * take days. `null` leaves the question open for `run.answer(questionId, …)`. So does an error that it throws, with a
 * warning.
 */
export type Reconcile = (
  call: ReconcileRequest,
) => Reconciliation | null | PromiseLike<Reconciliation | null>;

/** The steps that effects become. Their values are JSON. */
export interface EffectSteps {
  /** Returns a `fetch` whose answers are steps. */
  fetch(send: Fetch): Fetch;
  /** Performs a call as the step of this name. */
  call<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** The options of `createAgent` about runs that outlive their process. */
export interface StoreOptions {
  /**
   * Keeps every input of a run in memory, chunks of answers included, so that `run.export()` writes the run into a
   * file: `recorder()` of `looplet/replay`, or `recorder({ save })`, which gives you each file. Tools behave as
   * with a `store`. Default: nothing is kept.
   */
  record?: Recorder | undefined;
  /** Keeps the journals of the runs, so that `agent.resume` goes on with them in another process. Default: none. */
  store?: Store | undefined;
  /**
   * Makes each model call and each tool call a step of a durable engine: `inSteps(id, step)` of `looplet/steps`.
   * Default: effects do not become steps.
   */
  steps?: EffectSteps | undefined;
  /** How runs are saved and picked up, and what becomes of a run that cannot be saved. */
  durable?: DurableOptions | undefined;
}

/** The option `durable` of `createAgent`: how runs are saved and picked up. */
export interface DurableOptions extends RecoveryData {
  /**
   * The time that entries of a journal wait for others, so that the store is written less often, in milliseconds.
   * Steps that need a save wait as long: a tool that must not run twice, the answer to a question, `saved()`.
   * Default 0: entries wait for the write under way alone.
   */
  flushMs?: number | undefined;
  /**
   * The fate of a run whose store does not take its journal, in three tries or within 30 s. Default `"go on"`: your
   * `onError` gets the error, the event `not-saved` says what is missing, and the next save takes it along. `"stop"`
   * ends the run at once as `failed` with the code `store_failed`, and its journal without an end: the store has
   * everything up to the failure. A function decides each time. With anything but `"go on"` no request is sent and no
   * tool begins before the store has everything that came before, so each of them waits for a write.
   */
  onSaveFailed?: OnSaveFailed | undefined;
  /** Your function that knows what became of a call. Default: the question stays open for `run.answer`. */
  reconcile?: Reconcile | undefined;
}
