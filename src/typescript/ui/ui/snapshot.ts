/** What a screen draws of a conversation. */
import { LoopletError } from "../../core/api/errors.js";
import type { ContentBlock, ModelUsage, OutcomeKind, RunBound, Usage } from "../../core/api/index.js";
import type { OpenQuestion, UiMessage } from "./message.js";
import type { Notice, View } from "./view.js";

export type ConversationStatus =
  /** The chat is being read. */
  | "opening"
  | "ready"
  /** A message was sent, and no part of the answer has arrived. */
  | "submitted"
  | "streaming"
  /** Only answers to open questions continue the run. */
  | "waiting"
  /** The last run failed, or the chat could not be opened. See `error`. */
  | "error";

/** What a screen draws. It never changes: an update is another object, with the parts that stay in it. */
export interface ConversationSnapshot {
  readonly status: ConversationStatus;
  readonly messages: readonly UiMessage[];
  /** The questions that wait for the user, the oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** Messages that were sent during a run, and that the model has not received. */
  readonly queue: readonly QueuedMessage[];
  /**
   * Information next to the messages, such as a failed attempt that is retried. Present until the answer continues.
   * `reconnecting`: the server of a remote agent cannot be reached, and the request is retried.
   */
  readonly notice: Notice | { readonly type: "reconnecting" } | undefined;
  readonly error: ConversationError | undefined;
  /** How the last run ended. Undefined while a run is in progress, and before the first. */
  readonly outcome: OutcomeKind | undefined;
  /** Why the last run was stopped or cancelled, in one word or in the words of `stop`. */
  readonly reason: string | undefined;
  /** The tokens and the money of the whole conversation; `null` before the first report. */
  readonly usage: ModelUsage | null;
  /**
   * What the current run may still use. Undefined without a run, if another page started it, or if the agent is on a
   * server.
   */
  readonly left: BudgetLeft | undefined;
}

/** The `bound` of a run without what it has used. A figure is `null` if nothing limits it. */
export interface BudgetLeft {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

/** Why a run has failed, or why a chat cannot be opened. */
export interface ConversationError {
  /** A code of a `Failure` or a `LoopletError`; `"error"` for anything else. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status of the provider or server that refused, such as 401. */
  readonly status?: number;
  /** The delay that the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number;
}

export interface QueuedMessage {
  /** The argument of `withdraw`. */
  readonly id: string;
  readonly content: readonly ContentBlock[];
  /** Whether it was sent with `followUp`. */
  readonly isFollowUp: boolean;
  /** The run ended without it. It is sent with the next message, unless you call `withdraw`. */
  readonly isUndelivered: boolean;
}

/** The code of a run that another process performs. */
export const HELD = "run_held";

/** The only events of such a run. */
export const OF_HELD_RUN: ReadonlySet<string> = new Set(["snapshot", "error", "finish"]);

/** The snapshot of a conversation before it is opened, also on a page that a server renders. */
export const UNOPENED: ConversationSnapshot = {
  status: "opening",
  messages: [],
  questions: [],
  queue: [],
  notice: undefined,
  error: undefined,
  outcome: undefined,
  reason: undefined,
  usage: null,
  left: undefined,
};

export function statusOfRun({ isWaiting, messages }: View): ConversationStatus {
  if (isWaiting) return "waiting";
  return messages.at(-1)?.role === "assistant" ? "streaming" : "submitted";
}

/** What remains of this bound after this usage. */
export function leftOf(bound: RunBound | undefined, used: Usage | null): BudgetLeft | undefined {
  if (bound === undefined) return undefined;
  const left = (most: number | null, now = 0): number | null =>
    most === null ? null : Math.max(most - now, 0);
  const cost = left(bound.costNanoUsd, used?.costNanoUsd ?? 0);
  return {
    inputTokens: left(bound.inputTokens, used?.inputTokens),
    outputTokens: left(bound.outputTokens, used?.outputTokens),
    costUsd: cost === null ? null : cost / 1e9,
  };
}

/** The sum of the usage before a run and that of the run so far. The cost is known if both are known. */
export function addedUsage(before: ModelUsage | null, run: Usage | null): ModelUsage | null {
  if (run === null) return before;
  const sum = { ...run };
  for (const [field, value] of Object.entries(before ?? {})) {
    const name = field as keyof Usage;
    if (typeof value === "number" && typeof sum[name] === "number") (sum[name] as number) += value;
  }
  const isKnown = run.costNanoUsd !== null && (before === null || before.costNanoUsd !== null);
  const costNanoUsd = isKnown ? sum.costNanoUsd : null;
  const isCostReported = run.isCostReported && (before?.isCostReported ?? true);
  return { ...sum, costNanoUsd, isCostReported, costUsd: (costNanoUsd ?? 0) / 1e9 };
}

/** The error of a conversation, from a thrown value. */
export function errorOf(error: unknown): ConversationError {
  const given = Object(error) as Partial<ConversationError>;
  const { code = "error", message = String(error), status, retryAfterMs } = given;
  return {
    code,
    message,
    ...(typeof status === "number" && { status }),
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
  };
}

/** @throws the error of `openChat`, in words that name the option of the agent if it is missing */
export function inWordsOfUi(error: unknown): never {
  const { code, field } = Object(error) as Partial<LoopletError>;
  if (code !== "config_missing" || field !== "store") throw error;
  const problem =
    "has no store, but a conversation with an id is saved there: createAgent({ store }). The `store` of `conversation` holds only versions, queue and list";
  throw new LoopletError("config_missing", "agent", problem);
}
