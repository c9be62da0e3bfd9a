import type {
  AgentOptions,
  Block,
  Message,
  Prompt,
  RunEvent,
  RunResult,
  Tools,
} from "../../core/api/index.js";
import type { JournalEntry } from "../../core/api/run.js";
import type { ApiBlock } from "../anthropic.js";
import type { Host } from "../host.js";
import type { Model } from "../../core/api/index.js";
import type { Sink, TraceRow } from "../../extras/trace/index.js";

/** The options of {@link runProduction}. Further ones are those of `createAgent`, and win over the loop's own. */
export interface ProductionOptions extends Omit<
  AgentOptions,
  "model" | "tools" | "trace" | "store" | "fetch"
> {
  /** The name of a model of Anthropic or of `host.model`, or a model. */
  model: string | Model;
  /**
   * Tools as for `createAgent`. A function may return the value of {@link toolError}. The calls of one answer run in
   * parallel, except those with equal `resourceKey`.
   */
  tools?: Tools | undefined;
  /** The task. Not needed with `resume`. */
  prompt?: Prompt | undefined;
  /** The history before it: messages of `messageStore`, of a result, or looplet's own. */
  messages?: readonly (Message | StoredMessage)[] | undefined;
  /** The most model calls, 1 or more. Default 50. `iterationPresets` has 50 for a builder and 12 for a router. */
  maxIters?: number | undefined;
  /**
   * The maximum number of tokens of the job. The loop stops after the answer that exceeds it, before its tools.
   * Default: no cap.
   */
  tokensCap?: number | undefined;
  /** The id of the job in rows and entries. Default: the id of the run. */
  jobId?: string | undefined;
  /** The store for checkpoints of jobs that a cap has stopped. Default: none are saved. */
  checkpointStore?: CheckpointStore | undefined;
  /** The id of a checkpoint to resume. Needs a higher cap, and `checkpointStore`. */
  resume?: string | undefined;
  /** Gets each message when it is complete, and the reason of the end. */
  messageStore?: Sink<MessageEntry> | undefined;
  /** Whether an entry also contains the model's raw response. It doubles the storage. Default false. */
  storeRawResponse?: boolean | undefined;
  /** Gets a row of `agent_loop_trace` per model call. */
  trace?: Sink<TraceRow> | undefined;
  /** Aborts the job. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: RunEvent) => void) | undefined;
  /** Called with errors of your functions and stores. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
  host?: Host | undefined;
}

/** A job that a cap has stopped, as JSON can hold it. */
export interface Checkpoint {
  readonly id: string;
  readonly jobId: string;
  readonly stopReason: StopReason;
  readonly iterations: number;
  readonly messages: readonly Message[];
  /** The journal of the run, from which it resumes. */
  readonly entries: readonly JournalEntry[];
}

export interface CheckpointStore {
  save(checkpoint: Checkpoint): Promise<void> | void;
  load(id: string): Promise<Checkpoint | undefined> | Checkpoint | undefined;
}

/** What {@link ProductionOptions.messageStore} gets: a message, or the end of the job. */
export interface MessageEntry {
  readonly job_id: string;
  /** The iteration of an answer, from 0. A message of the user has the iteration of the first request with it. */
  readonly iter: number;
  readonly message?: StoredMessage;
  /** The body of the model's response as the vendor sent it, with `storeRawResponse`. */
  readonly raw_response?: string;
  /** Only in the last entry. */
  readonly stop_reason?: StopReason;
}

/**
 * A message of the Messages API. A block that this API cannot hold whole is looplet's own: media, raw blocks of
 * another vendor, arguments that are not valid JSON, and results with more than a text.
 */
export interface StoredMessage {
  role: "user" | "assistant";
  content: (ApiBlock | Block)[];
  /** The model that wrote it. Its thinking and raw blocks are sent back only to that model. */
  origin?: NonNullable<Message["origin"]>;
}

/**
 * Why a job ended. `tool_error_fatal` is a tool error that is not recoverable, `model_error` a model call that failed
 * after all retries. Other limits of `createAgent` use its names (`time`, `repeat`, …).
 */
export type StopReason =
  "end_turn" | "max_iters" | "budget" | "user_cancel" | "tool_error_fatal" | "model_error" | (string & {});

/** The end of a job. */
export interface ProductionResult {
  readonly jobId: string;
  readonly stopReason: StopReason;
  /** The text of the last answer. */
  readonly text: string;
  readonly messages: readonly StoredMessage[];
  readonly iterations: number;
  readonly tokensUsed: number;
  /** Present unless the reason is `end_turn` or `user_cancel`. */
  readonly error?: { readonly code: StopReason; readonly message: string };
  /** The checkpoint of a job that a cap has stopped. */
  readonly checkpointId?: string;
  /** The run with everything that `createAgent` returns. */
  readonly run: RunResult;
}

/** A running job. It is not a promise: await `job.result`. */
export interface ProductionJob {
  /** The id of the job. A resumed job has the id of its checkpoint after the checkpoint is loaded. */
  readonly id: string;
  /**
   * Resolves at the end, also for a failure or a cap. Rejects with an error `unexpected stop_reason: …` for an answer
   * that ended neither with `end_turn` nor with `tool_use`; its `messages` are those so far.
   */
  readonly result: Promise<ProductionResult>;
  /**
   * `/cancel` ends the job. Any other message is delivered before the next model call, and never supersedes the job.
   * If the model has just finished, it is asked once more.
   */
  send(message: string): void;
}
