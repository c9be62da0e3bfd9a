// Printed from src/engine/model by `npm run format`: change the types there.

/** A model call that failed at the provider or on the network. */
export interface Failure {
  code: FailureCode;
  /** A text for a person. It never contains a key. */
  message: string;
  /** HTTP status. */
  status?: number;
  /** The wait that the server asked for, in milliseconds. */
  retryAfterMs?: number;
  /** True when another attempt could succeed. looplet has already made its own attempts. */
  retryable: boolean;
  /** The vendor's id of the request, for its support team. */
  requestId?: string;
  vendor?: string;
  /** The first 500 characters of a body that breaks the protocol. */
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
  /** The body breaks the protocol: it is not SSE but HTML, it is cut off, or an event is not valid JSON. */
  | "malformed_stream"
  /** The answer ended in a way that `strictStopReason` or `onMaxTokens` does not accept. The message says how. */
  | "finish_reason"
  /** A setting that only the engine can judge was refused. The message names the field. */
  | "config_invalid"
  /**
   * The WebAssembly module could not be loaded. The message says why; often a Content-Security-Policy forbids it.
   * Only the face reports this code.
   */
  | "config_wasm"
  /** One of your guardrails refused. Only the `error` event has this code. */
  | "guardrail"
  /** A defect of looplet. */
  | "bug";

/** The error of a tool call, as the model is told it. */
export interface ToolFault {
  /**
   * A short, stable code: `invalid_json`, `invalid_input`, `unknown_tool`, `tool_failed`, `timeout`, `cut_off`,
   * `cancelled`, `not_run`, or a code of the tool's own.
   */
  code: string;
  /** The defect in words, without a stack trace. */
  message: string;
  /** The step that the model should take instead. */
  hint: string;
  /** `false` ends the run. */
  recoverable: boolean;
}

/** Why the history is made shorter. */
export type CompactTrigger =
  /** The context window is nearly full. */
  | "auto"
  /** Your code asked for it. */
  | "manual"
  /** The vendor reported that the context window is full. */
  | "overflow"
  /** Old answers were shortened by `historyCompaction`. */
  | "history"
  /** The history exceeds `contextBudget`, a number of characters. */
  | "budget";

/**
 * Tokens of one model call or of a whole run, and their cost.
 *
 * `inputTokens` counts everything that the model read, cached or not, like OpenTelemetry's
 * `gen_ai.usage.input_tokens`. The cache counts are parts of it. `outputTokens` counts everything that the
 * model wrote. `reasoningTokens` is a part of it.
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
   * The cost as an integer of billionths of a US dollar: the vendor's own figure, else the cost by the model's
   * price; `null` when neither is known.
   */
  costNanoUsd: number | null;
  /** True when the whole cost is the vendor's own figure. */
  isCostReported: boolean;
}

/** Why the model stopped, in neutral words. */
export type FinishReason =
  | "tool_calls"
  | "content_filter"
  | "refusal"
  | "other"
  /** The model finished, or it hit a stop sequence. */
  | "stop"
  /** The output limit or the context window cut the answer off. */
  | "length"
  /** The vendor paused a long answer (Anthropic's `pause_turn`). The run goes on by itself. */
  | "pause";

/** How the run ended. */
export interface Outcome {
  outcome: OutcomeKind;
  stoppedBy?: StoppedBy;
  /** The reason that your code gave for its abort, or a hook or guardrail for its stop. */
  abortReason?: string;
  error?: Failure;
}

/** The end of a run in one word. */
export type OutcomeKind =
  /** The model finished. */
  | "completed"
  /** A limit or a condition ended the run; see `stoppedBy`. */
  | "stopped"
  /** Your code aborted the run. */
  | "cancelled"
  /** A provider, the network, the configuration or a defect ended the run; see `error`. */
  | "failed";

/** The cause of a stop. */
export type StoppedBy =
  | "iterations"
  | "tokens"
  | "usd"
  | "time"
  | "fatal_tool"
  | "tool_rounds"
  | "tool_calls"
  | "guardrail"
  /** A condition of `stopWhen`. */
  | "condition"
  /** Repeated rounds of tool calls. */
  | "repeat"
  /** Answers that never fitted the schema. */
  | "structured_output"
  /** A hook that said `continue: false` or refused the prompt. */
  | "hook";

/** The kinds of events. */
export type EventKind =
  | {
      type: "run-start";
      model: string;
      tools: string[];
    }
  | {
      type: "agent-start";
      /** The model that the agent asks first. */
      model: string;
      /** The vendor of that model. */
      vendor: string;
    }
  | {
      type: "iteration-start";
    }
  /** Another agent goes on with the conversation. */
  | {
      type: "handoff";
      /** The name of the tool that handed over. */
      to: string;
    }
  /** The agent asks this model from its next request on. */
  | {
      type: "model-change";
      model: string;
      vendor: string;
      /** The failure for which the model before it was given up. */
      error?: Failure;
    }
  | {
      type: "attempt-start";
    }
  | {
      type: "text-start";
      block: number;
    }
  /** New text of a block. Deltas of one block that arrive together come as one. */
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
  /** New JSON text of a tool call's arguments. */
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
      /** The hash of the input, in a traced run. */
      inputHash?: string;
    }
  /** Progress that a tool reported with `progress()` or `yield`. */
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
      /** The point of the run at which the question is asked. */
      question: string;
      /** The data that a person needs to answer; absent where looplet answers. */
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
  /** The text of `blocks` that this attempt delivered is void. The next attempt starts over. */
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
      /** The estimated length of the history, in tokens. */
      preTokens: number;
    }
  /** The history has been made shorter: later requests have a different beginning. */
  | {
      type: "compact-boundary";
      trigger: CompactTrigger;
      preTokens: number;
      postTokens: number;
      durationMs: number;
    }
  | {
      type: "usage";
      /** The usage of this model call so far. */
      usage: Usage;
      /** The usage of the run so far, this call included. */
      total: Usage;
    }
  /** The limits that count for this agent after `onLimit` or `run.addBudget` raised them. */
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
      /** The failure of the model call that the warning is about. */
      error?: Failure;
    }
  | {
      type: "iteration-finish";
      finishReason: FinishReason | null;
      rawFinishReason: string | null;
      usage: Usage;
      /** The vendor's id of the answer. */
      responseId: string | null;
      /** The model that answered, by the vendor's account. */
      responseModel: string | null;
    }
  /** This agent has ended. The run goes on when the agent was a subagent. */
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
  /** The run has ended. No event follows. */
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
