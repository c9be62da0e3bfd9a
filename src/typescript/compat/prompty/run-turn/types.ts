/** The shapes of `runTurn`: a request, its ports, its events, its checkpoints and its results. */
import type { HostAbortSignal } from "../../../core/api/platform.js";

/** A message of the conversation. A `tool` message answers the request with its id. */
export interface TurnMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly toolRequests?: readonly ToolRequest[];
  readonly toolRequestId?: string;
}

export interface ToolRequest {
  readonly id: string;
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
}

export interface ToolResult {
  readonly requestId: string;
  readonly name: string;
  readonly output: string;
  /** Set if the tool has no output: it was denied, or it failed. `output` then gives the model the reason. */
  readonly failure?: "permission_denied" | "exception";
}

/** What a turn may do, fixed before its first effect. */
export interface TurnPlan {
  readonly maxIterations: number;
  readonly maxModelAttempts: number;
  /** The names of the tools that both the asset and the host have. */
  readonly tools: readonly string[];
}

export interface RunTurnRequest {
  /** Default: by the port `ids`. */
  readonly turnId?: string;
  /** The messages of the asset and the input. All of them are the stable prefix. */
  readonly messages: readonly TurnMessage[];
  /** The tools that the asset declares. Default: those of the host. An asset grants nothing: the host's count. */
  readonly tools?: readonly string[];
  /** Limits of the execution profile. Default: 10 iterations, 3 attempts of a model call. */
  readonly profile?: { readonly maxIterations?: number; readonly maxModelAttempts?: number };
  readonly signal?: HostAbortSignal;
}

/** A part that may go into the context. */
export interface ContextCandidate {
  /** Unique in the turn. */
  readonly id: string;
  readonly message: TurnMessage;
}

export interface ContextDecision {
  readonly id: string;
  readonly isIncluded: boolean;
  readonly reason?: string;
}

/** What a model call gets. It never changes, for any of its attempts. */
export interface ContextSnapshot {
  readonly id: string;
  readonly messages: readonly TurnMessage[];
  /** One for each candidate: nothing is dropped silently. */
  readonly decisions: readonly ContextDecision[];
  /** The number of messages at the beginning that are equal in all snapshots of the turn. */
  readonly stablePrefixMessages: number;
  /**
   * Whether a part of the context is a state that the model's host stores. From the packing, or from the last answer.
   */
  readonly portability: Portability;
  readonly delegatedState: readonly DelegatedState[];
}

/** `delegated` and `opaque`: only the host of this model can continue from what it stores. */
export type Portability = "portable" | "delegated" | "opaque";

/** What the model's host stores: a name, or a reference such as `{ provider, kind: "previous_response", id }`. */
export type DelegatedState = string | { readonly [field: string]: unknown };

/** An answer of the model: an output ends the turn, tools are run. */
export interface ModelResponse {
  readonly output?: string;
  /** The text in addition to the tools. */
  readonly assistant?: string;
  readonly tools?: readonly ToolRequest[];
  /** What the next snapshot depends on. Default: what this one did; with `delegatedState` `delegated`. */
  readonly nextPortability?: Portability;
  /** What the model's host stores of the conversation from this answer on. */
  readonly delegatedState?: readonly DelegatedState[];
}

/** An error of an effect that may have happened. It is never retried automatically. */
export class IndeterminateError extends Error {
  override readonly name = "IndeterminateError";
}

interface EffectContext {
  /** Stable: the same effect has the same id in another process. */
  readonly requestId: string;
  readonly signal: HostAbortSignal;
}

/** What a turn needs of its host. All ports but `model` are optional. */
export interface TurnPorts {
  model: {
    /** An {@link IndeterminateError} means that the model may have been called. */
    invoke(
      snapshot: ContextSnapshot,
      context: EffectContext & { readonly attempt: number; readonly onToken: (token: string) => void },
    ): Promise<ModelResponse>;
  };
  /** Further parts of the context, in this order after the conversation. */
  contextSources?: readonly ((messages: readonly TurnMessage[]) => Promise<readonly ContextCandidate[]>)[];
  contextTransforms?: readonly ((
    candidates: readonly ContextCandidate[],
  ) => Promise<readonly ContextCandidate[]>)[];
  /** Chooses among the candidates. Default: all go in. */
  packing?: (candidates: readonly ContextCandidate[]) => Promise<{
    readonly decisions: readonly ContextDecision[];
    readonly portability?: Portability;
    readonly delegatedState?: readonly DelegatedState[];
  }>;
  /** Default: every call may run. */
  permission?: (
    request: ToolRequest,
    context: EffectContext,
  ) => Promise<{ readonly isAllowed: boolean; readonly reason?: string }>;
  tools?: {
    readonly names: readonly string[];
    /** Any error except {@link IndeterminateError} is reported to the model. */
    execute(request: ToolRequest, context: EffectContext): Promise<string>;
  };
  /** Writes events, and with them the checkpoint, all or nothing. */
  durability?: {
    commit(write: {
      readonly events: readonly TurnEvent[];
      readonly checkpoint?: TurnCheckpoint;
    }): Promise<void>;
  };
  clock?: { now(): number; wait(delayMs: number, signal: HostAbortSignal): Promise<void> };
  ids?: () => string;
  /** Judges the output before it is committed, and may rewrite it. */
  policy?: {
    beforeCommit(
      output: string,
    ): Promise<{ readonly isAllowed: boolean; readonly output?: string; readonly reason?: string }>;
  };
  /** The delay before another attempt of a model call, in milliseconds. `undefined`: no retry. */
  retry?: (error: unknown, attempt: number) => number | undefined;
  /** What happens when the turn is committed. Its failure takes nothing back. */
  postCommit?: readonly ((result: { readonly output: string }) => Promise<void>)[];
  onEvent?: (event: TurnEvent) => void;
  /** Tokens have a separate channel. */
  onToken?: (token: string) => void;
}

export type TurnEventKind =
  | "turn_started"
  | "policy_applied"
  | "context_prepared"
  | "model_invocation_started"
  | "model_invocation_completed"
  | "model_invocation_failed"
  | "model_reconciliation_required"
  | "model_invocation_reconciled"
  | "permission_requested"
  | "permission_resolved"
  | "tool_execution_started"
  | "tool_execution_completed"
  | "tool_result_committed"
  | "tool_result_reconciled"
  | "conversation_updated"
  | "checkpoint_created"
  | "turn_committed"
  | "turn_cancelled"
  | "turn_failed"
  | "turn_reconciliation_required"
  | "post_commit_started"
  | "post_commit_completed"
  | "post_commit_failed";

export interface TurnEvent {
  /** From 1 on, without a gap. */
  readonly sequence: number;
  readonly kind: TurnEventKind;
  readonly turnId: string;
  /** The round of the model, from 0. */
  readonly iteration: number;
  /** Milliseconds by the port `clock`. */
  readonly at: number;
  readonly data: { readonly [name: string]: unknown };
}

/** An effect with an unknown outcome. */
export interface Reconciliation {
  readonly kind: "model" | "tool" | "durability";
  readonly requestId: string;
  readonly message: string;
}

/** The state from which a turn resumes. It is plain JSON. */
export interface TurnCheckpoint {
  readonly turnId: string;
  readonly plan: TurnPlan;
  readonly iteration: number;
  readonly lastSequence: number;
  readonly messages: readonly TurnMessage[];
  readonly stablePrefixMessages: number;
  /** The calls of the open round. */
  readonly pending: readonly ToolRequest[];
  /** The results of the open round. */
  readonly results: readonly ToolResult[];
  /** The results of the rounds before. */
  readonly toolResults: readonly ToolResult[];
  /** What the next snapshot depends on. Absent: `portable`, and nothing. */
  readonly portability?: Portability;
  readonly delegatedState?: readonly DelegatedState[];
  /** The output that is not committed yet. */
  readonly pendingOutput?: string;
  readonly reconciliation?: Reconciliation;
}

interface TurnFacts {
  readonly turnId: string;
  readonly iterations: number;
  readonly messages: readonly TurnMessage[];
  readonly toolResults: readonly ToolResult[];
  readonly snapshots: readonly ContextSnapshot[];
  /** What a further turn depends on, by the last answer. */
  readonly portability: Portability;
  readonly delegatedState: readonly DelegatedState[];
  readonly events: readonly TurnEvent[];
  readonly checkpoint: TurnCheckpoint;
}

export type TurnFailureCode =
  "configuration" | "context" | "max_iterations" | "model" | "policy_rejected" | "durability";

export type RunTurnResult = TurnFacts &
  (
    | { readonly status: "success"; readonly output: string; readonly postCommitErrors: readonly string[] }
    | {
        readonly status: "failed";
        readonly error: { readonly code: TurnFailureCode; readonly message: string };
      }
    | { readonly status: "cancelled"; readonly reason: string }
    | { readonly status: "reconciliation_required"; readonly reconciliation: Reconciliation }
  );
