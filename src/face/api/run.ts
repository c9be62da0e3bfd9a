/** A run: how it is started, listened to, steered and iterated, and a chat as a row of runs. */
import type { SubagentMemory } from "./agent.js";
import type { OutcomeKind, RunEvent, RunEventOf } from "./event.js";
import type { AddedBudget } from "./iteration.js";
import type { ContentBlock, Message } from "./message.js";
import type { Model } from "./model.js";
import type { PermissionMode, PermissionResult } from "./permission.js";
import type { HostAbortSignal } from "./platform.js";
import type { Partially, RunResult } from "./result.js";
import type { Inputs } from "./tool.js";

/** What a run is asked: a text, or blocks (text and media). Empty or blank is an error (`misuse_empty_prompt`). */
export type Prompt = string | readonly ContentBlock[];

/** Callbacks of a run. One that throws goes to `onError`; the run goes on. */
export interface RunListeners<Output = unknown> {
  /** Contract: each piece of the model's text, in order. After a `reset` event the text of that answer starts over. */
  onText?: ((text: string) => void) | undefined;
  /** Contract: each piece of the model's reasoning, in order. */
  onThinking?: ((text: string) => void) | undefined;
  /**
   * Contract: the structured answer so far, about once for each network chunk that adds to it. It is one object that
   * grows: copy what you keep. Unchecked; it starts over with every answer and every attempt.
   */
  onPartialOutput?: ((partial: Partially<Output>) => void) | undefined;
  /** Contract: a complete call, before its tool runs. */
  onToolCall?: ((event: RunEventOf<"tool-call">) => void) | undefined;
  /** Contract: a call's result or error. */
  onToolResult?: ((event: RunEventOf<"tool-result"> | RunEventOf<"tool-error">) => void) | undefined;
  /** Contract: every event, in order, after the callbacks above. */
  onEvent?: ((event: RunEvent) => void) | undefined;
  /** Contract: what a listener threw. Default: `reportError` in browsers and Workers, else `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

export interface RunOptions<Output = unknown> extends RunListeners<Output> {
  /** The history to go on from, for example `result.messages` of an earlier run. Default: none. */
  messages?: readonly Message[] | undefined;
  /** What persistent subagents remember: `result.subagents` of an earlier run. Default: nothing. */
  subagents?: readonly SubagentMemory[] | undefined;
  /** Values for the tools' `bindings`, over the agent's own. Default: none. */
  inputs?: Inputs | undefined;
  /** Aborts the run; may be aborted already. Its reason becomes `result.abortReason`. */
  signal?: HostAbortSignal | undefined;
}

/** How the events of a run are iterated. */
export interface EventsOptions {
  /** Leaving the loop (`break`, `return`, a throw) does not abort the run. Default false. */
  detached?: boolean | undefined;
}

/** A message on its way into a running run. */
export interface Queued {
  readonly id: number;
  /** Takes it back; false when it has been delivered already. */
  withdraw(): boolean;
}

/**
 * A run: it has started when you get it. It is no promise: await `run.result`. Iterating it (`for await (const event
 * of run)`) is optional. An iteration that begins in the same task sees every event; a later one, or one after more
 * than 16 KiB of text, starts with a `snapshot`.
 */
export interface Run<Output = unknown> extends AsyncIterable<RunEvent> {
  /** Unique; made by the `ids` option. */
  readonly id: string;
  /** Never rejects for what a provider, a tool or a limit did, unless an option says `"throw"`. */
  readonly result: Promise<RunResult<Output>>;
  /** Set inside `abort()` and before `result` settles; `undefined` while the run goes on. */
  readonly outcome: OutcomeKind | undefined;
  /** The events, with options; `for await (… of run)` is `run.events()`. Several iterations may go on at once. */
  events(options?: EventsOptions): AsyncIterableIterator<RunEvent>;
  /**
   * Tells the model something before its next call. One more iteration begins if the model has just finished
   * and no limit is reached; what no call took is in `result.undelivered`.
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  steer(prompt: Prompt): Queued;
  /**
   * Asks something when the model has finished.
   *
   * @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`
   */
  followUp(prompt: Prompt): Queued;
  /** Ends the run now: `outcome` is set on return, `result` settles with everything that arrived. Again: nothing. */
  abort(reason?: string): void;
  /**
   * Answers a `question` event of the kind `permission`; false when it is closed already, or of another kind.
   *
   * @throws LoopletError `misuse_invalid_argument`
   */
  answer(questionId: number, answer: PermissionResult): boolean;
  /**
   * Switches the permission mode from the next tool call on, for the rest of the run. Without permissions so far, it
   * switches them on. In browsers, `acceptEdits` waits for the part of the engine that reads what calls are about, if the
   * run had no need of it before; until then the mode stays as it was, and a failed download goes to `onError`.
   *
   * @throws LoopletError `config_invalid_value`, `config_missing` for a mode that lacks what it needs
   */
  setPermissionMode(mode: PermissionMode): void;
  /**
   * Asks another model from the next request on, for the rest of the run; one that is under way is not touched. The
   * whole transcript goes to it, without what only the model before can read (signed reasoning). The event
   * `model-change` says when.
   *
   * @throws LoopletError `config_…` as `createAgent` for its `model`
   */
  setModel(model: Model): void;
  /**
   * Has the history summarised before the next model call, if there is anything before what is kept: see `compaction`.
   * Nothing happens if no model call follows.
   *
   * @throws LoopletError `config_…`
   */
  compact(options?: { instructions?: string | undefined }): void;
  /**
   * Raises limits while the run goes on; the event `limits` says what counts from now on. False when the run has ended, or
   * there is no such agent at work.
   *
   * @throws LoopletError `config_…`
   */
  addBudget(budget: AddedBudget): boolean;
}

/** The options of `createAgent` about `run.steer` and `run.followUp`. */
export interface SteerOptions {
  /**
   * Before a model call, all steers that wait are delivered, or the first; the others then wait for the next call.
   * Default `"all"`.
   */
  steeringMode?: "all" | "one" | undefined;
  /** When the model has finished, all follow-ups that wait are asked at once, or one by one. Default `"one"`. */
  followUpMode?: "all" | "one" | undefined;
}

/**
 * How a session begins: without a history (`startup`), with one that it is given (`resume`), or after `chat.reset`
 * (`clear`).
 */
export type SessionSource = "startup" | "resume" | "clear";

/** A conversation: each run goes on from where the last one ended, however it ended. */
export interface Chat<Output = unknown> {
  /** The transcript so far; replaced when a run ends. */
  readonly messages: readonly Message[];
  /** What persistent subagents remember so far. */
  readonly subagents: readonly SubagentMemory[];
  /** The run that is going on. */
  readonly current: Run<Output> | undefined;
  /**
   * Starts a run on the transcript.
   *
   * @throws LoopletError `misuse_chat_busy` while another run of this chat goes on, `misuse_chat_closed` after `close`
   */
  run(prompt: Prompt, options?: Omit<RunOptions<Output>, "messages" | "subagents">): Run<Output>;
  /**
   * Forgets the transcript and what subagents remember, or replaces the former. `SessionEnd` hooks hear `"clear"`.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on, `misuse_chat_closed`
   */
  reset(messages?: readonly Message[]): void;
  /**
   * Ends the conversation: `SessionEnd` hooks hear `"close"`, and no further run can start. Its messages stay. The second
   * call does nothing.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on
   */
  close(): void;
}
