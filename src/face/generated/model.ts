// Printed from src/engine/model by `npm run format`: change the types there.

/** What a provider or the network did to a model call. */
export interface Failure {
  code: FailureCode;
  /** For a person; never contains a key. */
  message: string;
  /** HTTP status. */
  status?: number;
  /** How long the server asked to wait, in milliseconds. */
  retryAfterMs?: number;
  /** Whether another attempt could succeed (looplet has already made its own). */
  retryable: boolean;
  /** The vendor's id of the request, for its support. */
  requestId?: string;
  vendor?: string;
  /** The first 500 characters of a body that is not what the protocol promises. */
  body?: string;
}

/** The closed list of failure codes. */
export type FailureCode =
  | "rate_limit"
  | "overloaded"
  | "auth"
  | "billing"
  | "invalid_request"
  | "context_length"
  | "content_filter"
  | "not_found"
  | "server"
  | "network"
  | "timeout"
  /** The body is not what the protocol promises: no SSE, HTML, cut off, an event that is no JSON. */
  | "malformed_stream"
  /** The answer ended in a way that `strictStopReason` or `onMaxTokens` does not accept; the message says how. */
  | "finish_reason"
  /** A setting that only the engine can judge was refused; the message names the field. */
  | "config_invalid"
  /**
   * The WebAssembly module could not be loaded; the message says why (often a Content-Security-Policy). The face alone
   * says so.
   */
  | "config_wasm"
  /** A guardrail of yours said no; only in the `error` event. */
  | "guardrail"
  /** A defect of looplet. */
  | "bug";

/** The error of a tool call, as the model is told it. */
export interface ToolFault {
  /**
   * Short, stable, machine-readable: `invalid_json`, `invalid_input`, `unknown_tool`, `tool_failed`, `timeout`,
   * `cut_off`, `cancelled`, `not_run`, or the tool's own.
   */
  code: string;
  /** What happened, without a stack trace. */
  message: string;
  /** What to do instead. */
  hint: string;
  /** `false` ends the run. */
  recoverable: boolean;
}

/** Why the history is made shorter. */
export type CompactTrigger =
  /** The window is nearly full. */
  | "auto"
  /** You asked for it. */
  | "manual"
  /** The vendor says that the window is full. */
  | "overflow"
  /** Old answers were cut short: `historyCompaction`. */
  | "history"
  /** The budget of characters: `contextBudget`. */
  | "budget";

/**
 * Tokens of one model call or of a whole run, and their cost.
 *
 * `inputTokens` counts everything the model read, cached or not (as OpenTelemetry's
 * `gen_ai.usage.input_tokens`); the cache counts are parts of it. `outputTokens` counts everything it wrote;
 * `reasoningTokens` is a part of it.
 */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that the vendor keeps for an hour. */
  cacheWriteHourTokens: number;
  reasoningTokens: number;
  /**
   * The cost as an integer of billionths of a US dollar: the vendor's own figure, else that of the model's price;
   * `null` when neither is known.
   */
  costNanoUsd: number | null;
  /** The whole cost is the vendor's own figure. */
  isCostReported: boolean;
}

/** Why the model stopped, in neutral words. */
export type FinishReason =
  | "tool_calls"
  | "content_filter"
  | "refusal"
  | "other"
  /** The model finished, or hit a stop sequence. */
  | "stop"
  /** The output limit or the context window cut the answer off. */
  | "length"
  /** The vendor paused a long answer; the run goes on by itself (Anthropic's `pause_turn`). */
  | "pause";

/** How the run ended. */
export interface Outcome {
  outcome: OutcomeKind;
  stoppedBy?: StoppedBy;
  /** Why the host aborted, or what a hook or guardrail gave as its reason to stop. */
  abortReason?: string;
  error?: Failure;
}

/** The end of a run in one word. */
export type OutcomeKind =
  /** The model finished. */
  | "completed"
  /** A limit or a condition said stop; see `stoppedBy`. */
  | "stopped"
  /** You aborted. */
  | "cancelled"
  /** A provider, the network, the configuration or a defect; see `error`. */
  | "failed";

/** What stopped a run. */
export type StoppedBy =
  | "iterations"
  | "tokens"
  | "usd"
  | "time"
  | "fatal_tool"
  | "tool_rounds"
  | "tool_calls"
  | "guardrail"
  /** `stopWhen`. */
  | "condition"
  /** Rounds of tool calls that repeat themselves. */
  | "repeat"
  /** No answer fitted the schema. */
  | "structured_output"
  /** A hook said `continue: false`, or turned the prompt down. */
  | "hook";

/** What happened. */
export type EventKind =
  | {
      type: "run-start";
      model: string;
      tools: string[];
    }
  | {
      type: "agent-start";
      /** What it asks at first. */
      model: string;
      /** Whose model that is. */
      vendor: string;
    }
  | {
      type: "iteration-start";
    }
  /** Another agent goes on with the conversation. */
  | {
      type: "handoff";
      /** The tool's name. */
      to: string;
    }
  /** The agent asks this model from its next request on. */
  | {
      type: "model-change";
      model: string;
      vendor: string;
      /** Why the model before it was given up. */
      error?: Failure;
    }
  | {
      type: "attempt-start";
    }
  | {
      type: "text-start";
      block: number;
    }
  /** New text of a block. Deltas of one block that arrived together come as one. */
  | {
      type: "text-delta";
      block: number;
      text: string;
    }
  | {
      type: "text-end";
      block: number;
    }
  | {
      type: "reasoning-start";
      block: number;
    }
  | {
      type: "reasoning-delta";
      block: number;
      text: string;
    }
  | {
      type: "reasoning-end";
      block: number;
    }
  | {
      type: "tool-input-start";
      block: number;
      toolCallId: string;
      toolName: string;
    }
  /** More of the JSON text of the arguments. */
  | {
      type: "tool-input-delta";
      block: number;
      text: string;
    }
  | {
      type: "tool-input-end";
      block: number;
    }
  /** A complete call, before anything is done with it. */
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      input: unknown;
      /** In a traced run: see `trace::input_hash`. */
      inputHash?: string;
    }
  /** Progress that a tool reported, by `progress()` or `yield`. */
  | {
      type: "tool-progress";
      toolCallId: string;
      toolName: string;
      data: unknown;
    }
  | {
      type: "tool-result";
      toolCallId: string;
      toolName: string;
      output: unknown;
      durationMs: number;
    }
  | {
      type: "tool-error";
      toolCallId: string;
      toolName: string;
      error: ToolFault;
      durationMs: number;
    }
  | {
      type: "question";
      questionId: number;
      /** The point of the run that it is asked at. */
      question: string;
      /** What a person needs to answer it; absent where looplet answers. */
      data?: unknown;
    }
  | {
      type: "answered";
      questionId: number;
    }
  /** The model call failed and is tried again after `delayMs`. */
  | {
      type: "retry";
      nextAttempt: number;
      maxAttempts: number;
      delayMs: number;
      error: Failure;
    }
  /** What `blocks` delivered in this attempt is void; the next attempt starts over. */
  | {
      type: "reset";
      blocks: number[];
    }
  /** The steers and follow-ups with these ids have become part of the transcript. */
  | {
      type: "steer-delivered";
      ids: number[];
    }
  /** The history is about to be summarised. */
  | {
      type: "compact-start";
      trigger: CompactTrigger;
      /** Estimated. */
      preTokens: number;
    }
  /** The history has been made shorter: from here on requests begin otherwise. */
  | {
      type: "compact-boundary";
      trigger: CompactTrigger;
      preTokens: number;
      postTokens: number;
      durationMs: number;
    }
  | {
      type: "usage";
      /** Of this model call, so far. */
      usage: Usage;
      /** Of the run, this call included. */
      total: Usage;
    }
  /** Limits of this agent were raised, by `onLimit` or `run.addBudget`: the limits that count from now on. */
  | {
      type: "limits";
      /** `{ maxIterations, maxTotalTokens, maxCostNanoUsd, maxToolRounds, maxToolCalls, timeLeftMs }` */
      limits: unknown;
    }
  /** Something is odd, and the run goes on. */
  | {
      type: "warning";
      code: string;
      message: string;
      /** The failed model call that this is about. */
      error?: Failure;
    }
  | {
      type: "iteration-finish";
      finishReason: FinishReason | null;
      rawFinishReason: string | null;
      usage: Usage;
      /** The vendor's id of the answer. */
      responseId: string | null;
      /** The model that the vendor says has answered. */
      responseModel: string | null;
    }
  /** How this agent ended; the end of a subagent ends no run. */
  | {
      type: "agent-finish";
      outcome: Outcome;
    }
  | {
      type: "abort";
      reason: string;
    }
  | {
      type: "error";
      error: Failure;
    }
  /** Always the last event. */
  | {
      type: "finish";
      outcome: Outcome;
    };

/** A place in a run at which it asks. The hooks' points come first, then the guardrails', then those around iterations. */
export type Point =
  | "PreToolUse"
  | "PostToolUse"
  | "PostToolUseFailure"
  | "PostToolBatch"
  | "UserPromptSubmit"
  | "Stop"
  | "SubagentStart"
  | "SubagentStop"
  | "PreCompact"
  | "PostCompact"
  | "PermissionRequest"
  | "PermissionDenied"
  | "InputGuardrail"
  | "OutputGuardrail"
  | "ToolGuardrail"
  | "IterationEnd"
  /** The run is the first of its session. Those of its root only. */
  | "SessionStart"
  /** A person is waited for; nothing waits for what hooks say to that. */
  | "Notification"
  /** The next request can be made otherwise. */
  | "PrepareIteration"
  /** A limit is hit and may be raised. */
  | "Limit"
  /** Once per batch, for the calls whose tools want it: validate, name the resource. */
  | "prepare_calls"
  /** How shall the model be told what went wrong in this round? */
  | "word_errors"
  /** May this call run? A person may answer, or a function in their place. */
  | "permission"
  /** The same, asked of a classifier. */
  | "classify"
  /** What stands for the first part of the conversation? */
  | "summarize"
  /** Is this answer, which fits its schema, one? (Standard Schema, a function of yours) */
  | "check_output"
  /** Shall the run stop after this round of tools, by conditions of yours? */
  | "stop_condition"
  /** The same, because the rounds repeat themselves. */
  | "stop_repeat";

/** What is done with a call that no rule speaks of. */
export type PermissionMode =
  /** The host decides. */
  | "default"
  /** File edits and file-system commands run that stay where the run works; else as `default`. */
  | "acceptEdits"
  /** What changes anything goes to the host, whatever the allow rules say; else as `default`. */
  | "plan"
  /** Nobody is asked: what no rule allows is denied. */
  | "dontAsk"
  /** The host's classifier decides. */
  | "auto"
  /** Everything runs that no deny or ask rule holds back. */
  | "bypassPermissions";
