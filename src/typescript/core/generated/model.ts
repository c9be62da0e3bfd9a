// Printed from src/engine/model by `npm run format`: change the types there.

/** A model call that failed at the provider or on the network. */
export interface Failure {
  code: FailureCode;
  /**
   * A readable text. It never contains a key. The message of a failed model call begins with the vendor, the
   * model, the status, the code and the address. Then follows the text of the server or the platform.
   */
  message: string;
  /** HTTP status. */
  status?: number;
  /** The wait that the server asked for, in milliseconds. */
  retryAfterMs?: number;
  /** Whether another attempt could succeed. looplet has already made its own retries. */
  retryable: boolean;
  /** The vendor's id of the request, for its support team. */
  requestId?: string;
  /** The vendor's code for the error, for example `thread_not_found` in Anthropic's `error.details.error_code`. */
  vendorCode?: string;
  vendor?: string;
  /** The model of the request. */
  model?: string;
  /** The URL of the request, without its query. A model inside the process has none. */
  url?: string;
  /** The first 500 characters of a body that violates the protocol. */
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
  /**
   * The body violates the protocol: it is HTML instead of SSE, it is cut off, or an event is not valid JSON. Also
   * for an answer that exceeds `answers.maxBlocks`, `answers.maxTextBytes`, `answers.maxArgumentBytes` or
   * `answers.maxEventBytes`.
   */
  | "malformed_stream"
  /**
   * The server answered with a redirect. looplet never follows redirects, because they would receive the key. The
   * message names the target's origin if the platform shows it.
   */
  | "redirected"
  /**
   * Your code that replaces a server threw: the function of `custom()`, or a `scripted()` or `practice()` of
   * `looplet/practice`.
   */
  | "custom_model"
  /**
   * The answer ended in a way that `answers.strictStopReason` or `answers.onMaxTokens` does not accept. The
   * message says how it ended.
   */
  | "finish_reason"
  /** An invalid option that only the engine can detect. The message names the field. */
  | "config_invalid"
  /**
   * The WebAssembly module could not be loaded. The message has the reason, often a Content-Security-Policy. Only
   * the TypeScript reports this code.
   */
  | "config_wasm"
  /** Another process holds the lease of this run. Only the TypeScript reports this code. */
  | "run_held"
  /** The store does not have the run's journal any more, and no other process has acquired it. */
  | "journal_gone"
  /** The store has a run with this id that started with another prompt. */
  | "run_exists"
  /**
   * Your store could not load the journal of a run to resume, or it could not save one and `durable.onSaveFailed`
   * ended the run.
   */
  | "store_failed"
  /** One of your guardrails rejected something. Only the `error` event has this code. */
  | "guardrail"
  /** A bug in looplet. */
  | "bug";

/**
 * What a request has in common with the previous request of the same agent. Both are compared from the start: the
 * model, the effort and the format of answers, the tools, the system prompt, the kind of thinking, then each
 * message. Vendors read a common prefix from their cache, if it is long enough and recent. Tokens are estimated: 3.5
 * bytes each, also in images.
 */
export interface SharedPrefix {
  /** The length of the tools, the system prompt and the messages, as they are sent. */
  bytes: number;
  tokens: number;
  /**
   * The length of the common prefix with the previous request. The tools and the system prompt each count
   * completely or not at all.
   */
  sharedBytes: number;
  sharedTokens: number;
  /** The first difference. Absent if the request begins with the complete previous request. */
  broken?: PrefixBreak;
  /**
   * Who changed the system prompt, the tools, the effort or the format of answers, if the change is sent at the
   * end of this request.
   */
  appended?: PrefixCause;
}

/** Where a request differs from the one before it, and why. */
export interface PrefixBreak {
  part: PrefixPart;
  /** The index of the first different message among those of this request; present for the part `message`. */
  message?: number;
  cause: PrefixCause;
}

/** The part of a request that is different. */
export type PrefixPart =
  | "tools"
  | "system"
  | "message"
  /** Another model, which has its own cache. */
  | "model"
  /** Claude and OpenAI Responses have a cache for each effort. */
  | "effort"
  /** The format of structured answers: Claude and OpenAI Responses have a cache for each. */
  | "format"
  /** The kind of thinking or its budget: Claude reads only the tools and the system prompt from its cache. */
  | "thinking";

/** What changed the prefix of a request. If there are several causes, the first in this list is reported. */
export type PrefixCause =
  /** Another agent continues the conversation. */
  | "handoff"
  /** The history was summarised. */
  | "summary"
  /** The history exceeded `context.maxChars`. */
  | "budget"
  /** `context.pruning` shortened old answers. */
  | "pruning"
  /** An input guardrail rewrote the messages. */
  | "guardrail"
  /** `prepareIteration` changed the request, or the iteration that it had changed is over. */
  | "prepare"
  /** The vendor refused a change at the end of the request. */
  | "refused"
  /** `setModel` or a fallback model. */
  | "model"
  /** Reasoning is left out because the vendor refused it. */
  | "reasoning"
  /**
   * The agent has other options than in the run before: after a deploy or a hot reload, or because a list of tools
   * or a function among the options gave something else.
   */
  | "options"
  /** looplet does not know. */
  | "other";

/** How a call reaches another agent, in the terms of OpenTelemetry's conventions. */
export type Transfer =
  /** A subagent works for the caller, which continues with the result. */
  | "return_to_caller"
  /** The agent continues the conversation. */
  | "pass_control";

/** The error of a tool call, as it is sent to the model. */
export interface ToolFault {
  /**
   * A short, stable code: `tool_failed`, `invalid_json`, `invalid_input`, `cut_off`, `unknown_tool`, `denied`,
   * `timeout`, `call_limit`, `unusable_result`, `cancelled`, `not_run`, `save_failed`, `early_answer`,
   * `subagent_failed`, `depth_limit`, or a code of the tool.
   */
  code: string;
  /** The problem as text, without a stack trace. */
  message: string;
  /** What the model should do instead. */
  hint: string;
  /** `false` ends the run. */
  recoverable: boolean;
}

/** A point of a run at which it asks your code. */
export type Point =
  /** A call is about to be checked. The permission rules, the mode and `canUseTool` follow this hook. */
  | "PreToolUse"
  /** A tool has returned; the model has not seen the result yet. */
  | "PostToolUse"
  /** A tool has thrown or timed out. */
  | "PostToolUseFailure"
  /** All calls of an answer have ended. The model has seen none of their results yet. */
  | "PostToolBatch"
  /**
   * A session begins with its first prompt. A session is a chat, or a run outside a chat. This hook precedes
   * `UserPromptSubmit`.
   */
  | "SessionStart"
  /** A prompt, a steer or a follow-up is about to go to the model. */
  | "UserPromptSubmit"
  /** The model has finished. */
  | "Stop"
  /** A subagent is about to start. */
  | "SubagentStart"
  /** A subagent has finished. */
  | "SubagentStop"
  /** The history is about to be summarised. */
  | "PreCompact"
  /** A summary has replaced the history before it. */
  | "PostCompact"
  /** `canUseTool` or a `question` event is about to ask whether a call may run. */
  | "PermissionRequest"
  /** A rule, the mode or your code denied a call. */
  | "PermissionDenied"
  /**
   * The run waits for the user because a permission question is open. Nothing waits for this hook. Context that it
   * adds reaches the model later.
   */
  | "Notification"
  /** Messages are about to be sent. */
  | "InputGuardrail"
  /** An answer is complete and has not been used yet. */
  | "OutputGuardrail"
  /** A call is allowed and about to run. */
  | "ToolGuardrail"
  /** The next request can be changed before it is sent. */
  | "PrepareIteration"
  /** An iteration has ended. */
  | "IterationEnd"
  /** A limit is reached and may be raised. */
  | "Limit"
  /** Asks once per batch to validate the inputs and to name the resources of the calls, if their tools need it. */
  | "prepare_calls"
  /** How should the model be informed of the errors of this round? */
  | "word_errors"
  /** May this call run? The user or a function decides. */
  | "permission"
  /** May this call run? Your classifier answers. */
  | "classify"
  /** What happened to this call, which had started when the run was interrupted? */
  | "reconcile"
  /** A running tool asks the user. */
  | "elicitation"
  /** Which text should replace the first part of the conversation? */
  | "summarize"
  /** Does your Standard Schema or your function accept this answer, which matches its schema? */
  | "check_output"
  /** Do your conditions stop the run after this round of tools? */
  | "stop_condition"
  /** Should the run stop because its rounds repeat? */
  | "stop_repeat"
  /** Which messages does the agent start with after a handoff? */
  | "filter_handoff";

/** One piece of a message. */
export type Block =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | RefusalBlock
  | ToolCallBlock
  | ToolResultBlock
  | MediaBlock
  | RawBlock;

export interface TextBlock {
  type: "text";
  text: string;
  /** Why looplet has written this text. Absent for text of the user or of the model. */
  purpose?: TextPurpose;
  vendor?: { [field: string]: unknown };
}

/** The model's reasoning. It returns only to its origin, unchanged. */
export interface ThinkingBlock {
  type: "thinking";
  text: string;
  /** Proves to the vendor that it wrote this text itself. */
  signature?: string;
  vendor?: { [field: string]: unknown };
}

/** Reasoning that the vendor encrypted. */
export interface RedactedThinkingBlock {
  type: "redacted_thinking";
  data: string;
}

/** A refusal that the vendor marks as such. */
export interface RefusalBlock {
  type: "refusal";
  text: string;
}

/**
 * The model calls a tool. The call has `input`, or `inputText` when the model's arguments are not a JSON object.
 */
export interface ToolCallBlock {
  type: "tool_call";
  /** The provider's id, echoed in the result. */
  id: string;
  name: string;
  vendor?: { [field: string]: unknown };
  input?: unknown;
  inputText?: string;
}

export interface ToolResultBlock {
  type: "tool_result";
  /** The id of the call that this answers. */
  callId: string;
  content: Block[];
  /** Whether the call failed. Default false. */
  isError?: boolean;
  /**
   * Set if the call has no result yet because its run has not ended. The block is in the position of the
   * result.
   */
  pending?: PendingCall;
}

/** An image, a sound or a document, as base64 (`data`, without a `data:` prefix) or by `url`. */
export interface MediaBlock {
  type: "media";
  /** For example `image/png` or `application/pdf`. */
  mediaType: string;
  /**
   * The file's name, for example `report.pdf`. Vendors pass it to the model, except Gemini, which has no field
   * for it.
   */
  name?: string;
  /** Additional fields of the vendor that produced it. */
  vendor?: { [field: string]: unknown };
  data?: string;
  url?: string;
}

/** A vendor's block that has no neutral form. looplet stores it and sends it back unchanged. */
export interface RawBlock {
  type: "raw";
  json: unknown;
}

/** Why looplet has written a text of the transcript. */
export type TextPurpose =
  /** A summary that replaces the messages before it. */
  | "summary"
  /**
   * A note for the model: a repeated round, an answer that was cut off or does not match its schema, or a hook's
   * text.
   */
  | "notice";

/** The state of a call that has no result yet. */
export type PendingCall =
  /** A user has been asked about it, or by its tool or a subagent below it. */
  | "waiting"
  /** It has started. */
  | "running"
  /** It has not started. */
  | "queued";

/** Why the history is shortened. */
export type CompactTrigger =
  /** The context window is nearly full. */
  | "auto"
  /** Your code requested it. */
  | "manual"
  /** The vendor reported that the context window is full. */
  | "overflow"
  /** Old answers were shortened by `context.pruning`, or by `context_management` in the `body` of the model. */
  | "pruning"
  /** The history exceeds `context.maxChars`. */
  | "budget";

/** The author of a summary. */
export type SummaryBy =
  /** The vendor. It signs or encrypts the summary, so the model's later reasoning remains valid. */
  | "vendor"
  /** The model, in its answer to a prompt of looplet. */
  | "model"
  /** Your function. */
  | "host"
  /** looplet, from the first characters of each message. */
  | "built_in";

/**
 * Tokens of one model call or of a whole run, and their cost.
 *
 * `inputTokens` counts everything that the model read, cached or not, like OpenTelemetry's
 * `gen_ai.usage.input_tokens`, and includes the cache counts. `outputTokens` counts everything that the
 * model wrote, and includes `reasoningTokens`.
 */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that the vendor caches for an hour. */
  cacheWriteHourTokens: number;
  reasoningTokens: number;
  /**
   * The part of `inputTokens` that is sound. Vendors charge more for it, and a `price` does not know
   * that.
   */
  audioInputTokens: number;
  /** The part of `outputTokens` that is sound. */
  audioOutputTokens: number;
  /**
   * The cost as an integer of billionths of a US dollar: the vendor's own figure, else the cost by the model's
   * price; `null` when neither is known.
   */
  costNanoUsd: number | null;
  /** True if the vendor reported the whole cost. */
  isCostReported: boolean;
}

/** The current limits of an agent. `null` means no limit. */
export interface CurrentLimits {
  maxIterations: number;
  maxTotalTokens: number | null;
  maxCostNanoUsd: number | null;
  maxToolRounds: number | null;
  maxToolCalls: number | null;
  /** The remaining part of `timeouts.totalMs`. */
  timeLeftMs: number | null;
}

/**
 * One message. Tool results are in the user message after the calls that they answer. The system prompt is not a
 * message.
 */
export interface Message {
  role: Role;
  content: Block[];
  /**
   * True if an abort or a limit interrupted the answer. The received part is in the history and is sent to the
   * model.
   */
  partial?: boolean;
  /** True if `pruning` shortened its thinking and its calls. The thinking is not sent back. */
  compacted?: boolean;
  /**
   * The protocol and the model that wrote an assistant message. Vendor fields, signatures and raw blocks are sent
   * back only to them.
   */
  origin?: Origin;
}

export type Role = "user" | "assistant";

/** The author of an assistant message. */
export interface Origin {
  /** The protocol's name, for example `anthropic`. */
  protocol: string;
  model: string;
  /**
   * A digest of the request's prefix, for a message with signed reasoning. The reasoning is sent back only after
   * the same prefix. An empty text means that the vendor has rejected the reasoning. Without a digest the vendor
   * decides.
   */
  prefix?: string;
  /**
   * With the option `serverState`: the vendor's id of the answer, a digest of the conversation up to it, and its
   * time in seconds since 1970. If nothing before it has changed, the next request sends only what follows it.
   */
  thread?: string;
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
  /** The vendor paused a long answer (Anthropic's `pause_turn`). The run continues automatically. */
  | "pause";

/** How a run or an agent ended. `outcome` determines which other fields are present. */
export type Outcome =
  | {
      outcome: "completed";
      stoppedBy?: undefined;
      abortReason?: undefined;
      error?: undefined;
    }
  | {
      outcome: "stopped";
      /**
       * The reason from `abort(reason)` or from the signal. In a `stopped` run: the reason of a hook or a guardrail,
       * or why the last answer did not match its schema.
       */
      abortReason?: string;
      stoppedBy: StoppedBy;
      error?: undefined;
    }
  | {
      outcome: "cancelled";
      /**
       * The reason from `abort(reason)` or from the signal. In a `stopped` run: the reason of a hook or a guardrail,
       * or why the last answer did not match its schema.
       */
      abortReason: string;
      stoppedBy?: undefined;
      error?: undefined;
    }
  | {
      outcome: "failed";
      error: Failure;
      stoppedBy?: undefined;
      abortReason?: undefined;
    };

/** How a run ended. */
export type OutcomeKind =
  /** The model finished. */
  | "completed"
  /** A limit or a condition ended the run: see `stoppedBy`. */
  | "stopped"
  /** Your code aborted the run. */
  | "cancelled"
  /** A provider, the network, the configuration or a bug ended the run: see `error`. */
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
  /** A condition of `limits.stopWhen`. */
  | "condition"
  /** Repeated rounds of tool calls. */
  | "repeat"
  /**
   * Several processes in a row have resumed the run and ended without progress (`durable.maxCrashes`,
   * `durable.maxInterruptions`).
   */
  | "recovery_exhausted"
  /** No answer matched the schema. */
  | "structured_output"
  /** A hook returned `continue: false` or blocked the prompt. */
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
  /**
   * Only after the `run-start` of a process that resumes a run. It has the part of the interrupted answer that the
   * previous process received. The model is asked again. It does not get this text, except with `onCutOff:
   * "continue"`: then the text is the first delta of the next answer.
   */
  | {
      type: "answer-cut-off";
      text: string;
      reasoning: string;
    }
  /** Another agent continues the conversation. */
  | {
      type: "handoff";
      /** The name of the tool that handed off. */
      to: string;
    }
  /** The agent uses this model from its next request on. */
  | {
      type: "model-change";
      model: string;
      vendor: string;
      /** The failure because of which the previous model was given up. */
      error?: Failure;
    }
  /** A request is sent. */
  | {
      type: "attempt-start";
      /**
       * Present if `events.prefix` is set, from an agent's second request on. A request for a summary has none,
       * and neither has a request that continues a partial answer.
       */
      prefix?: SharedPrefix;
    }
  | {
      type: "text-start";
      block: number;
      /** Whether the vendor marks the block as a refusal. Absent for ordinary text. */
      refusal?: boolean;
    }
  /** New text of a block. Deltas of one block that arrive together are joined. */
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
  /**
   * The vendor's estimate of the tokens of a block of reasoning so far, if the vendor does not send the text
   * (Claude with `thinking: { type: "adaptive", display: "omitted" }`). Use it for a progress indicator. `usage`
   * has the real count.
   */
  | {
      type: "reasoning-progress";
      block: number;
      estimatedTokens: number;
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
  /** A complete call, before looplet has checked or run it. */
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      input: unknown;
      /** The hash of the input, in a traced run. */
      inputHash?: string;
      /** How the call reaches another agent, in a traced run. */
      transfer?: Transfer;
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
      /**
       * The input that the tool got instead of the model's, if your code changed it. Fields filled by `bindings`
       * are left out.
       */
      updatedInput?: unknown;
      /** The hash of that input, in a traced run. */
      updatedInputHash?: string;
      output: unknown;
      durationMs: number;
    }
  | {
      type: "tool-error";
      toolCallId: string;
      toolName: string;
      /**
       * The input that the tool got instead of the model's, if your code changed it. Fields filled by `bindings`
       * are left out.
       */
      updatedInput?: unknown;
      /** The hash of that input, in a traced run. */
      updatedInputHash?: string;
      error: ToolFault;
      durationMs: number;
    }
  /**
   * The run asks a question. You answer the kinds `permission` (may this call run?), `reconcile` and
   * `elicitation`, with `Run.answer` or with functions in the options. looplet answers the other kinds itself.
   */
  | {
      type: "question";
      questionId: number;
      /** The point of the run at which the question is asked. */
      question: Exclude<Point, "classify">;
      /** The data that a user needs to answer. Absent if looplet answers. */
      data?: Facts["permission" | "reconcile" | "elicitation"];
    }
  /** The question is closed. Emitted once for each question. */
  | {
      type: "answered";
      questionId: number;
      /** The tool's input according to the answer, if it replaces the model's. */
      updatedInput?: unknown;
      /** True if no one has answered and an answer would have no effect, because the call or the run has ended. */
      isWithdrawn?: true;
    }
  /**
   * The run cannot continue before one of these questions is answered. No request is open, and the only running
   * tools are those that have asked. Emitted again when the set of questions changes. Your code can send a
   * notification now. In a run with a store it can also end the process after `run.saved()`.
   */
  | {
      type: "waiting";
      questionIds: number[];
    }
  /**
   * The store has not saved these entries of the journal, so a process that resumes the run would not have them.
   * `durable.onSaveFailed` decides whether the run continues. Emitted for each failed write. The next write
   * includes all of these entries.
   */
  | {
      type: "not-saved";
      /** The number of entries that are missing in the store. */
      entries: number;
      /** The position of the first one in the journal, from 1. */
      since: number;
      /** The message of the store's error. */
      message: string;
    }
  /** The model call failed and is retried after `delayMs`. */
  | {
      type: "retry";
      nextAttempt: number;
      maxAttempts: number;
      delayMs: number;
      error: Failure;
    }
  /**
   * The text that this attempt delivered in `blocks` is retracted. The next attempt starts
   * from scratch.
   */
  | {
      type: "reset";
      blocks: number[];
    }
  /** The steers and follow-ups with these ids are now part of the transcript. */
  | {
      type: "steer-delivered";
      ids: number[];
      /** The content of the message that the model gets, from all of them together. */
      content: Block[];
    }
  /** The history is about to be summarised. */
  | {
      type: "compact-start";
      trigger: CompactTrigger;
      /** The estimated length of the history, in tokens. */
      preTokens: number;
    }
  /**
   * The history has been shortened, so later requests have a different prefix. If the trigger is `pruning` and
   * `by` is `vendor`, the history and the requests are unchanged, and the vendor has hidden old calls from the
   * model.
   */
  | {
      type: "compact-boundary";
      trigger: CompactTrigger;
      /** Who wrote the summary, or `vendor` if the vendor has hidden old calls. Absent if looplet has pruned. */
      by?: SummaryBy;
      preTokens: number;
      postTokens: number;
      durationMs: number;
    }
  | {
      type: "usage";
      /** The usage of this model call so far. */
      usage: Usage;
      /** The usage of the run so far, including this call. */
      total: Usage;
    }
  /** `onLimit` or `run.addBudget` raised limits of this agent. */
  | {
      type: "limits";
      limits: CurrentLimits;
    }
  /**
   * A complete message of the transcript, if `events.messages` is set. The user's messages, including tool
   * results, are emitted when they are sent, and the model's when the answer has ended or is given up. A prompt
   * that is joined to an unanswered message is emitted separately.
   */
  | {
      type: "message";
      message: Message;
      /** The vendor's id of a complete answer. */
      responseId?: string;
      /** The vendor's finish reason of a complete answer. */
      rawFinishReason?: string;
    }
  /** A problem that does not stop the run. */
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
      /** The usage of the iteration's requests. `null` if the vendor reported none. */
      usage: Usage | null;
      /** The vendor's id of the answer. */
      responseId: string | null;
      /** The model that answered, as reported by the vendor. */
      responseModel: string | null;
    }
  /** How this agent ended. The end of a subagent does not end the run. */
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
  /** The last event of every run. */
  | {
      type: "finish";
      outcome: Outcome;
    };

/** One tool call of a run, as the result, the rounds and the inputs of hooks list it. */
export interface ToolCallRecord {
  /** The provider's id. */
  toolCallId: string;
  toolName: string;
  /** The model's arguments; a string when they are not a JSON object. */
  input: unknown;
  /**
   * The input that the tool got instead of the model's, if an approval, a hook or a guardrail changed it. Fields
   * filled by `bindings` are left out. The model reads it next to the result.
   */
  updatedInput?: unknown;
  /** The tool's result or the structured error. `null` while the call is open. */
  output: unknown;
  isError: boolean;
  durationMs: number;
}

/** The progress of an agent in its run, according to the journal. */
export interface AgentProgress {
  /** The number of the iteration of the last answer, from 1. 0 before the first. */
  iteration: number;
  /** Whether `iteration-finish` was emitted for that iteration. */
  isFinished: boolean;
  /** Why that answer ended, if its end is known. */
  finishReason: FinishReason | null;
  /** The ids of the open questions about the calls of that answer. */
  questionIds: number[];
  /** The ids of the messages that have waited in the agent's inbox and have left it. */
  deliveredIds: number[];
}

/** The transcript of an agent of a chat, from its first message on. */
export interface AgentTranscript {
  /** The agent's place in the tree, for example `root/researcher-2`. Runs of a chat use the same paths. */
  agentPath: string;
  /** The provider's id of the call that a subagent answers. */
  parentToolCallId?: string;
  /** How the agent ended. Absent while it is running. */
  outcome?: OutcomeKind;
  /** The original messages. A summary follows the messages that it has replaced for the model. */
  messages: Message[];
  /** The calls that have returned, in the order in which their rounds ended. */
  toolCalls: ToolCallRecord[];
  /** The agent's progress in the last run. Absent for agents of earlier runs. */
  progress?: AgentProgress;
}

/** What a `Bound` takes from the table of models. */
export interface AssumedLimits {
  vendor: string;
  model: string;
  /** The maximum number of tokens of a request and its answer, instead of `context.window`. */
  window?: number;
  /**
   * The maximum number of tokens of an answer, instead of `maxOutputTokens`: what looplet asks for, or what the
   * model can write.
   */
  maxOutputTokens?: number;
}

/**
 * The maximum that a run can use under its limits, including subagents, calculated before any request
 * (`bound`). A figure is `null` if nothing limits it, and `unbounded` has the
 * reason.
 */
export interface Bound {
  /** Requests to models: iterations, retries, fallback models, summaries and subagents. */
  requests: number | null;
  /** Tokens that the models read, cached ones included. */
  inputTokens: number | null;
  /** Tokens that the models write, reasoning included. */
  outputTokens: number | null;
  /** The cost in billionths of a US dollar, an integer. */
  costNanoUsd: number | null;
  /**
   * The options that would limit the figures that are `null` (`context.window`, `maxOutputTokens`, `price`,
   * `limits.maxToolCalls`), and your functions that can lift a limit (`prepareIteration`, `limits.onLimit`). Empty
   * when every figure has a limit.
   */
  unbounded: string[];
  /** What looplet knows of the models and counted with, because the options have no such number. */
  assumed: AssumedLimits[];
}

/** A call in the form that your code receives. */
export interface CallFacts {
  toolCallId: string;
  toolName: string;
  /** The input that the tool gets. */
  input: unknown;
  output?: unknown;
  error?: ToolFault;
  durationMs?: number;
  /** The reason for the question or the denial. */
  reason?: string;
  /**
   * True if a part of the run's journal is lost. That part may have had this call or a similar one with another
   * id, so an unknown id proves nothing.
   */
  isTorn?: boolean;
  /**
   * The tool's version when the call was approved, or an empty text if it had none. Absent if the version has not
   * changed.
   */
  otherVersion?: string;
  /** The agent that made the call. `"root"` is the run's own. */
  agentPath?: string;
  /**
   * The `ask` rule that caused the question. The rule requires a user's decision, so never answer it
   * automatically.
   */
  matchedAskRule?: PermissionRuleParts;
  /**
   * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. Absent if no
   * rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that rules
   * cannot express.
   */
  suggestions?: PermissionUpdate[];
  /** Context that `PostToolUse` hooks have returned for `classifyTool`. */
  classifierContext?: string[];
  /** The tool's request, in MCP's terms. */
  request?: ElicitationRequest;
}

/** A rule in two parts: `Bash(npm *)` is `{ toolName: "Bash", ruleContent: "npm *" }`. */
export interface PermissionRuleParts {
  toolName: string;
  ruleContent?: string;
}

/** A change of the rules or the mode, for the rest of the run. */
export type PermissionUpdate =
  | {
      type: "addRules" | "replaceRules" | "removeRules";
      /**
       * Where to store the change. looplet does not store it, so any value except `"session"` causes a `warning` event
       * (`permission_update`). Default: none.
       */
      destination?: string | undefined;
      /** The list of the `rules`. */
      behavior: RuleKind;
      /** Texts of rules, or their parts. */
      rules: readonly (string | PermissionRuleParts)[];
      mode?: undefined;
    }
  | {
      type: "setMode";
      /**
       * Where to store the change. looplet does not store it, so any value except `"session"` causes a `warning` event
       * (`permission_update`). Default: none.
       */
      destination?: string | undefined;
      mode: PermissionMode;
      behavior?: undefined;
      rules?: undefined;
    }
  | {
      type: "addDirectories" | "removeDirectories";
      /**
       * Where to store the change. looplet does not store it, so any value except `"session"` causes a `warning` event
       * (`permission_update`). Default: none.
       */
      destination?: string | undefined;
      behavior?: undefined;
      rules?: undefined;
      mode?: undefined;
    };

/** The target of a `PermissionUpdate`. */
export type UpdateType =
  | "addRules"
  | "replaceRules"
  | "removeRules"
  | "setMode"
  /** Changes nothing: a run has no folders. */
  | "addDirectories"
  /** Changes nothing either. */
  | "removeDirectories";

/** The list of a rule. */
export type RuleKind = "allow" | "ask" | "deny";

/** A permission rule, read from its text. */
export type Rule = string;

/**
 * How a call is judged that no rule matches.
 *
 * In `acceptEdits` an edit must show its path in `file_path`, `path`, `notebook_path`, `filePath` or its
 * `ruleSubject`. Every path must be relative, must not climb, and must not name a hidden file or folder.
 */
export type PermissionMode =
  /** `canUseTool` decides. Without it, the call is denied. */
  | "default"
  /**
   * Tools with `access: "edit"` run, and so do plain command lines that only move files (`mkdir`, `touch`, `rm`,
   * `rmdir`, `mv`, `cp`). Other calls, and calls with unsafe paths, are decided as in `default`.
   */
  | "acceptEdits"
  /**
   * Every call that is not read-only is denied, regardless of rules, hooks and `canUseTool`. Other calls are
   * decided as in `default`.
   */
  | "plan"
  /** A call is denied unless a rule allows it. An `ask` rule denies too. */
  | "dontAsk"
  /** `classifyTool` decides. */
  | "auto"
  /**
   * The call runs, unless a `deny` or `ask` rule matches, or the engine cannot decide whether a `deny` rule
   * matches.
   */
  | "bypassPermissions";

/** A tool's request to the user, in MCP's terms. The engine passes it through without reading it. */
export interface ElicitationRequest {
  /** The text for the user. */
  message: string;
  /** A form to fill in, or a page to open. Default `"form"`. */
  mode?: "form" | "url";
  /** The JSON Schema of the answer's `content`, for a form: an object of texts, numbers, booleans and choices. */
  requestedSchema?: { readonly [key: string]: unknown };
  /** The page to open. */
  url?: string;
}

/** A call of one of your tools. */
export interface ToolInvocation {
  call: number;
  toolCallId: string;
  toolName: string;
  /** The JSON text of the arguments: the validated input if your code gave one, else the model's own. */
  input: unknown;
  iteration: number;
  /** The index of the calling agent in the run's tree. */
  agent: number;
  /** The index of the configuration that has the tool, 0 for the run's own. */
  profile: number;
  /** The call must not be made twice. */
  once?: boolean;
  /** The state from which the call resumes, if another process has saved one. */
  checkpoint?: ToolCheckpoint;
}

/** The state from which a tool call resumes in another process. */
export interface ToolCheckpoint {
  state: unknown;
  /** The number of questions that the call has asked before. */
  asked: number;
}

/** A failed call. */
export interface FaultyCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  error: ToolFault;
}

/**
 * The data of a question, by its point. The marks `x-of` name the points of a variant or a field, with `!` if the
 * field is always present.
 */
export interface Facts {
  /** A call is about to be checked. The permission rules, the mode and `canUseTool` follow this hook. */
  PreToolUse: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
  };
  /** A tool has returned; the model has not seen the result yet. */
  PostToolUse: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    readonly output: any;
    readonly durationMs: number;
  };
  /** A tool has thrown or timed out. */
  PostToolUseFailure: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    readonly error: ToolFault;
    readonly durationMs: number;
  };
  /** All calls of an answer have ended. The model has seen none of their results yet. */
  PostToolBatch: {
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /**
   * A session begins with its first prompt. A session is a chat, or a run outside a chat. This hook precedes
   * `UserPromptSubmit`.
   */
  SessionStart: {
    readonly source: "startup" | "resume" | "clear";
    /** The name of the model, as in `model.model`. */
    readonly model: string;
  };
  /** A prompt, a steer or a follow-up is about to go to the model. */
  UserPromptSubmit: {
    /** The text of the prompt. */
    readonly prompt: string;
    readonly source: "prompt" | "steer" | "followUp";
  };
  /** The model has finished. */
  Stop: {
    /** Whether a `Stop` hook has already made the model continue. Check it to avoid an endless loop. */
    readonly stopHookActive: boolean;
    readonly lastAssistantMessage: string;
  };
  /** A subagent is about to start. */
  SubagentStart: {
    /** The id of the call that the subagent answers. */
    readonly toolCallId: string;
    /** The text of the prompt. */
    readonly prompt: string;
    readonly source: "prompt" | "steer" | "followUp";
  };
  /** A subagent has finished. */
  SubagentStop: {
    /** The id of the call that the subagent answers. */
    readonly toolCallId: string;
    /** Whether a `Stop` hook has already made the model continue. Check it to avoid an endless loop. */
    readonly stopHookActive: boolean;
    readonly lastAssistantMessage: string;
  };
  /** The history is about to be summarised. */
  PreCompact: {
    readonly trigger: "auto" | "manual" | "overflow";
    /** Estimated tokens of the history. */
    readonly preTokens: number;
    /** Additional instructions for the summary, from `run.compact` or the option `context.compaction`. */
    readonly instructions?: string;
  };
  /** A summary has replaced the history before it. */
  PostCompact: {
    readonly trigger: "auto" | "manual" | "overflow";
    readonly summary: string;
  };
  /** `canUseTool` or a `question` event is about to ask whether a call may run. */
  PermissionRequest: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /**
     * The `ask` rule that caused the question. The rule requires a user's decision, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. Absent if no
     * rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that rules
     * cannot express.
     */
    readonly suggestions?: readonly PermissionUpdate[];
  };
  /** A rule, the mode or your code denied a call. */
  PermissionDenied: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
  };
  /**
   * The run waits for the user because a permission question is open. Nothing waits for this hook. Context that it
   * adds reaches the model later.
   */
  Notification: {
    readonly notificationType: "permission_prompt";
    readonly message: string;
    /** The argument for `run.answer`. */
    readonly questionId: number;
    readonly toolName: string;
  };
  /** Messages are about to be sent. */
  InputGuardrail: {
    readonly messages: readonly Message[];
  };
  /** An answer is complete and has not been used yet. */
  OutputGuardrail: {
    readonly message: Message;
  };
  /** A call is allowed and about to run. */
  ToolGuardrail: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
  };
  /** The next request can be changed before it is sent. */
  PrepareIteration: {
    /** The name of the model that answers, unless `prepareIteration` chooses another. */
    readonly model: string;
    readonly messages: readonly Message[];
  };
  /** An iteration has ended. */
  IterationEnd: {
    readonly text: string;
    readonly finishReason: FinishReason | null;
    /** `null` if the vendor reported none. */
    readonly usage: Usage | null;
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** A limit is reached and may be raised. */
  Limit: {
    readonly limit: Extract<
      StoppedBy,
      "iterations" | "tokens" | "usd" | "time" | "tool_rounds" | "tool_calls"
    >;
    /** Which timeout was reached, for the limit `time`. */
    readonly timeout?: "totalMs" | "iterationMs";
    /** Usage of the run so far. `null` if no vendor reported any. */
    readonly usage: Usage | null;
    readonly toolRounds: number;
    /** Tool calls of the run, including those that would exceed the limit. */
    readonly toolCalls: number;
  };
  /** Asks once per batch to validate the inputs and to name the resources of the calls, if their tools need it. */
  prepare_calls: {
    readonly calls: readonly ToolInvocation[];
    /** Texts that rules compare. The answer has the platform's readings of them. */
    readonly texts: readonly string[];
  };
  /** How should the model be informed of the errors of this round? */
  word_errors: {
    readonly errors: readonly FaultyCall[];
  };
  /** May this call run? The user or a function decides. */
  permission: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /** The agent that made the call. `"root"` is the run's own. */
    readonly agentPath?: string;
    /**
     * The `ask` rule that caused the question. The rule requires a user's decision, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. Absent if no
     * rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that rules
     * cannot express.
     */
    readonly suggestions?: readonly PermissionUpdate[];
  };
  /** May this call run? Your classifier answers. */
  classify: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /** The agent that made the call. `"root"` is the run's own. */
    readonly agentPath?: string;
    /**
     * The `ask` rule that caused the question. The rule requires a user's decision, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. Absent if no
     * rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that rules
     * cannot express.
     */
    readonly suggestions?: readonly PermissionUpdate[];
    /** Context that `PostToolUse` hooks have returned for `classifyTool`. */
    readonly classifierContext?: readonly string[];
  };
  /** What happened to this call, which had started when the run was interrupted? */
  reconcile: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /**
     * True if a part of the run's journal is lost. That part may have had this call or a similar one with another
     * id, so an unknown id proves nothing.
     */
    readonly isTorn?: boolean;
    /**
     * The tool's version when the call was approved, or an empty text if it had none. Absent if the version has not
     * changed.
     */
    readonly otherVersion?: string;
    /** The agent that made the call. `"root"` is the run's own. */
    readonly agentPath?: string;
  };
  /** A running tool asks the user. */
  elicitation: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /** The agent that made the call. `"root"` is the run's own. */
    readonly agentPath?: string;
    /** The tool's request, in MCP's terms. */
    readonly request: ElicitationRequest;
  };
  /** Which text should replace the first part of the conversation? */
  summarize: {
    readonly trigger: "auto" | "manual" | "overflow";
    readonly instructions?: string;
    /** The messages that the summary will replace. */
    readonly messages: readonly Message[];
  };
  /** Does your Standard Schema or your function accept this answer, which matches its schema? */
  check_output: {
    readonly output: any;
  };
  /** Do your conditions stop the run after this round of tools? */
  stop_condition: {
    /** The number of the model call that requested it, from 1. */
    readonly iteration: number;
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** Should the run stop because its rounds repeat? */
  stop_repeat: {
    /** The number of the model call that requested it, from 1. */
    readonly iteration: number;
    /** How many times the calls have repeated. */
    readonly times: number;
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** Which messages does the agent start with after a handoff? */
  filter_handoff: {
    /** The name of the tool that hands off. */
    readonly toolName: string;
    readonly input: any;
    /** The conversation, with the result of the handoff. */
    readonly messages: readonly Message[];
  };
}

/** A point at which hooks are asked. */
export type HookPoint =
  | "PreToolUse"
  | "PostToolUse"
  | "PostToolUseFailure"
  | "PostToolBatch"
  | "SessionStart"
  | "UserPromptSubmit"
  | "Stop"
  | "SubagentStart"
  | "SubagentStop"
  | "PreCompact"
  | "PostCompact"
  | "PermissionRequest"
  | "PermissionDenied"
  | "Notification";

/** The saved conversation of a persistent subagent. */
export interface SubagentMemory {
  /** The agent's path at its first call, for example `"root/researcher"`. */
  agentPath: string;
  /** The agent's conversation, valid to send again. */
  messages: Message[];
}

/** The head that requests begin with. */
export interface Head {
  system?: string;
  tools: Declaration[];
  /** The effort; absent if it is the model's own. */
  effort?: string;
  /** True if the effort has changed where a message could not change it: it stays a field of the request. */
  editsEffort?: boolean;
  /** The format of answers as the vendor has it; absent if that is text, or if the vendor does not compare it. */
  format?: unknown;
  /** The changes since, in their order. */
  changes: HeadChange[];
  /** Digests of what the last request began with, if `events.prefix` is set. */
  sent?: string;
  /** True if there is only that digest. */
  isDigest?: boolean;
}

/** The declaration of a tool. */
export interface Declaration {
  name: string;
  description: string;
  inputSchema: unknown;
  strict?: boolean;
  deferLoading?: boolean;
  loader?: Loader;
  /** The digest of a vendor's entry. */
  entry?: string;
}

/** The role of a tool for tools with `defer_loading`. */
export type Loader =
  /** It searches for them. */
  | "search"
  /** It searches for them with your function, which also replaces the vendor's search. */
  | "own_search"
  /** It calls one of them. Its input has the `name` and the `input` of the call. */
  | "call";

/** A change of the head, sent after a message of the user. */
export interface HeadChange {
  /** The index of that message. */
  at: number;
  /** The system prompt from here on; empty for none. Absent if it stays. */
  system?: string;
  /** Tools that are new, or that have another declaration than before. */
  added: Declaration[];
  /** The names of removed tools that are offered again, as the model knows them. */
  restored: string[];
  removed: string[];
  /** The effort from here on. Absent if it stays. */
  effort?: string;
  /** The format of answers from here on, as the vendor has it. Absent if it stays. */
  format?: unknown;
}

/** The long part of a run's result. */
export interface History {
  toolCalls: ToolCallRecord[];
  /** The complete transcript including the given history, always valid to send again. */
  messages: Message[];
  /**
   * The saved conversations of persistent subagents, including subagents that were not called. Pass them to the
   * next run as `subagents`.
   */
  subagents: SubagentMemory[];
  /** The head of the requests, for the next run with these messages. */
  head?: Head;
}

/** The end of a journal, where the next run of a chat continues. */
export interface JournalTail {
  /** The number of the last entry; 0 before the first. */
  seq: number;
  /** The number of the last valid entry. */
  whole: number;
  /** The number of messages that the journal has, of those of the result. */
  messages: number;
  /** The id of the run, if the journal's name is another one. */
  run: string | null;
  /** Whether the run has ended, or has received no prompt. */
  isOver: boolean;
  /** How many times the run was stopped by crashes, if that is how it ended. Otherwise 0. */
  stops: number;
  /** The number of invalid entries. */
  leftOut: number;
  /**
   * The requests of your code that the runs of the chat have received: their ids, and the ids of messages that
   * were joined to them. A message that a run has not delivered by its end may be sent again.
   */
  requests: string[];
}

/** A question to one function. */
export interface Question {
  point: Point;
  /** The index of the function in `hooks`. 0 at a point with one function. */
  asker: number;
  /** The index of the configuration that has the function. 0 is the run's own. */
  profile: number;
  /** The agent in the run's tree. `"root"` is the run's own agent. */
  agentPath: string;
  /** The number of the agent's model call before this point, from 1. 0 before the first. */
  iteration: number;
  /** The name of the subagent's tool. Absent for the run's own agent. */
  agentName?: string;
  /** The current mode, in a run with permissions. */
  permissionMode?: PermissionMode;
  /** The model's option `effort`, if it has one. */
  effort?: string;
  /** The `Facts` of the point. */
  data: unknown;
}

/** A block of an answer that is streaming, as far as it has been emitted. */
export type StreamedBlock =
  | {
      type: "text";
      /** The number of the block in the events. */
      block: number;
      text: string;
      /** True if the block is complete. */
      isOver: boolean;
      /** True if the model refuses. */
      refusal?: boolean;
    }
  | {
      type: "reasoning";
      block: number;
      text: string;
      isOver: boolean;
    }
  | {
      type: "tool-input";
      block: number;
      /** The JSON text of the input. */
      text: string;
      isOver: boolean;
      /** The provider's id. */
      toolCallId: string;
      toolName: string;
      /** The input, if its `tool-call` event has been emitted. Some calls begin while the answer streams. */
      input?: unknown;
    };

/** The short part of a run's result. */
export interface Report {
  /** The last answer that matches the schema. */
  output: unknown;
  /**
   * The usage that vendors have reported, including subagents. `null` if no vendor reported any. Answers without
   * reported usage are not included.
   */
  usage: Usage | null;
  /** `usage` plus the usage of the conversation before the run. */
  chatUsage: Usage | null;
  /** The part of `usage` for each requested model. `null` for a model that has answered without reporting usage. */
  modelUsage: { [field: string]: Usage | null };
  /**
   * Milliseconds from the prompt to the end on the run's clock, including waits for tools and users and between
   * attempts.
   */
  durationMs: number;
  /**
   * Milliseconds that requests to models have taken, from sending to the end of the answer. It is the sum over all
   * requests, including failed ones and those of subagents and summaries. Requests that overlap each count in
   * full, so the sum may exceed `durationMs`.
   */
  apiDurationMs: number;
  /** The cost in billionths of a US dollar, an integer. `null` if it is not known. */
  costNanoUsd: number | null;
  /** The index of the last active agent: 0, or the agent to which the conversation was handed off. */
  profile: number;
  /** The number of model calls. */
  iterations: number;
  /** Why the last answer ended. `null` if no answer was complete. */
  finishReason: FinishReason | null;
  /** The vendor's own word for `finishReason`. */
  rawFinishReason: string | null;
  /**
   * The vendor's details of the finish reason, unchanged. For a refusal by Claude `{ type, category, explanation,
   * recommended_model }`, each of which may be missing.
   */
  stopDetails?: unknown;
  /** The blocks of the answer that is streaming. The messages do not have them. */
  streaming?: StreamedBlock[];
  /** Ids of the steers and follow-ups that no model call has included. */
  undelivered: number[];
}

/** A user's answer to a tool, in MCP's terms. */
export interface ElicitationAnswer {
  action: ElicitationAction;
  /** The values that the user has filled in, for `accept`. */
  content?: { readonly [field: string]: unknown };
}

export type ElicitationAction =
  | "accept"
  /** The user has declined. */
  | "decline"
  /** The user has not answered. */
  | "cancel";

/**
 * One output, to be performed in order. Ask `run.is_live(effect)` before you perform an effect. The outputs that
 * have no way of their own into JavaScript go there as JSON.
 */
export type Output =
  /** Cancels a request. The run ignores everything that it still delivers. */
  | {
      abort: {
        request: number;
      };
    }
  /**
   * Removes the request's secrets from its failure, before anything in the run reads the server's words. The
   * answer is `RequestFailed`.
   */
  | {
      redact: {
        request: number;
        failure: Failure;
      };
    }
  | {
      callTool: ToolInvocation;
    }
  /** Asks a running tool to stop. The run does not wait for it. */
  | {
      abortTool: {
        call: number;
        why: string;
      };
    }
  /** Hands a running tool the answer to its question of this number. */
  | {
      answerTool: {
        call: number;
        number: number;
        answer: ElicitationAnswer;
      };
    }
  | {
      ask: {
        question: number;
        ask: Question;
      };
    }
  /** Withdraws a question because its answer would be too late or have no effect. */
  | {
      withdraw: {
        question: number;
        why: string;
      };
    };

/** The options of an agent that are plain data and stand in no group. */
export interface AgentData {
  /** Time limits of the run and its parts. */
  timeouts?: Timeouts | undefined;
  /** When and how looplet repeats a failed model call. */
  retry?: RetryPolicy | undefined;
}

/** The options of a run with all of its agents that are plain data and stand in no group. */
export interface RunData {
  /** How many of the waiting steers one model call includes. Default `"all"`. */
  steeringMode?: QueueMode | undefined;
  /** How many of the waiting follow-ups are sent when the model has finished. Default `"one"`. */
  followUpMode?: QueueMode | undefined;
}

/** The limits that each agent can set separately. */
export interface AgentLimits {
  /**
   * Maximum number of model calls of one run, a positive integer. Default: 50, or more if `maxToolRounds`,
   * `iterationCount(n)` and `output.maxRetries` need it. A run that needs more is `stopped` by `iterations`.
   */
  maxIterations?: number | undefined;
  /**
   * Maximum number of input and output tokens of one run, a positive integer. A run that uses more is `stopped` by
   * `tokens`. Default: none.
   */
  maxTotalTokens?: number | undefined;
  /**
   * Maximum number of answers with tool calls in one run, a non-negative integer. A final answer is always
   * allowed. Further calls end the run as `stopped` by `tool_rounds`. With 0, looplet runs no tools, and
   * `result.toolCalls` has the calls of the first answer. Default: none.
   */
  maxToolRounds?: number | undefined;
  /**
   * Maximum number of tool calls of one run and its subagents, a positive integer. If an answer would exceed it,
   * the run ends as `stopped` by `tool_calls` before the tools run. Default: none.
   */
  maxToolCalls?: number | undefined;
}

/** The limits that a run has for all of its agents. */
export interface RunLimits {
  /** Maximum depth of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number | undefined;
  /**
   * Whether the token and cost limits also count estimates of usage that the vendor has not reported yet: the
   * request that is about to be sent, the answer that is streaming, and complete answers of servers that never
   * report usage. looplet reserves the estimate of each request, so parallel subagents see each other's. A request
   * that does not fit in the rest of the limit is not sent. An estimate counts 3.5 bytes as one token. Default
   * false: only reported usage counts.
   */
  estimateUsage?: boolean | undefined;
}

/** The options of `context` that are plain data. */
export interface ContextData {
  /**
   * The size of the context window in tokens, a positive integer. Default: the known size of the model's window.
   * If it is not known, looplet learns only from the vendor's error that the window is full.
   */
  window?: number | undefined;
  /**
   * Maximum number of characters of a request, a positive integer. looplet replaces the oldest messages of a
   * longer request with a few lines about them. It does not ask a model. Default: none.
   */
  maxChars?: number | undefined;
}

/** The bounds of one answer of a model, and how looplet treats one that is not whole. */
export interface AnswerOptions {
  /**
   * Maximum number of blocks in one answer, including tool calls, a positive integer. An answer with more fails as
   * `malformed_stream`. Default 1,000.
   */
  maxBlocks?: number | undefined;
  /**
   * Maximum bytes of text and reasoning in one answer, a positive integer up to 64 MiB (67,108,864). An answer
   * with more fails as `malformed_stream`. Default 33,554,432.
   */
  maxTextBytes?: number | undefined;
  /**
   * Maximum bytes of tool arguments and media in one answer, a positive integer up to 128 MiB (134,217,728). An
   * answer with more fails as `malformed_stream`. Default 67,108,864.
   */
  maxArgumentBytes?: number | undefined;
  /**
   * Maximum bytes of one stream event, or of a body that is not streamed, a positive integer up to 256 MiB
   * (268,435,456). A longer one fails as `malformed_stream`. Default 67,108,864.
   */
  maxEventBytes?: number | undefined;
  /**
   * Maximum bytes that looplet reads of a failed response's body, a positive integer up to 64 MiB (67,108,864).
   * looplet then cancels the request, and the failure has the part that was received. `timeouts.errorBodyMs` is
   * the time limit. Default 65,536.
   */
  maxErrorBodyBytes?: number | undefined;
  /**
   * How looplet treats an answer without tool calls that reached the limit of output tokens. Default `"return"`.
   */
  onMaxTokens?: OnOutputLimit | undefined;
  /**
   * How looplet retries an answer that was interrupted: the connection was lost, or the process ended and the run
   * has a `store`. Default `"again"`.
   */
  onCutOff?: OnCutOff | undefined;
  /**
   * Whether a run fails (code `finish_reason`) if an answer ends in any way other than finished, paused or with
   * tool calls. In that mode an answer that reports that it is finished ends the run, even if it has calls.
   * Default false: a run continues as long as there are calls.
   */
  strictStopReason?: boolean | undefined;
}

/** How the tool calls of one agent run. */
export interface AgentToolCalls {
  /**
   * Which calls of one answer may run at the same time. Results are always in the order of the calls.
   * Default `"read-only-parallel"`.
   */
  execution?: ToolExecution | undefined;
  /** Maximum number of tool calls that run at the same time, a positive integer. Default 8. */
  maxConcurrency?: number | undefined;
  /**
   * Maximum number of characters (code points) of a tool's result that the model sees, a positive integer. A
   * longer result is cut, with a note of how much is missing and a `warning` event (`result_cut`). Events and
   * `result.toolCalls` have the complete result, and media are never cut. A tool's `maxResultChars` overrides it.
   * Default 100,000.
   */
  maxResultChars?: number | undefined;
  /**
   * Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
   * still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
   * an output guardrail. Default false.
   */
  eager?: boolean | undefined;
  /**
   * Whether the last call of an answer runs if the limit of output tokens ended the answer directly after
   * arguments that are complete JSON. Default false: the call gets an error result (`cut_off`), because gateways
   * close the JSON of arguments that a model did not finish. A call that `toolCalls.eager` has already started
   * keeps its result.
   */
  runCutOff?: boolean | undefined;
}

/** The options of `toolCalls` that are plain data and the same for all agents of a run. */
export interface RunToolCalls {
  /**
   * Whether the model reads the input with which a tool ran, in a text block after the result, if an approval, a
   * hook or a guardrail changed it. Fields filled by `bindings` are left out. Use `false` for changes that the
   * model must not see. Default true.
   */
  tellUpdatedInput?: boolean | undefined;
}

/** Which events a run emits. */
export interface EventOptions {
  /** Whether deltas of one block that arrive in the same network chunk are emitted as one event. Default true. */
  joinDeltas?: boolean | undefined;
  /**
   * Whether the text of an answer is held until the answer has ended without tool calls. Each block is then one
   * delta. Default false: text streams.
   */
  holdText?: boolean | undefined;
  /** Whether the run emits a `message` event for each complete message of the transcript. Default false. */
  messages?: boolean | undefined;
  /**
   * Whether `attempt-start` reports what each request shares with the previous one, and what changed its prefix.
   * Default: false, or true in a run that is recorded.
   */
  prefix?: boolean | undefined;
}

/** How often processes may end with a run that has a `store` before they bring it further. */
export interface RecoveryData {
  /**
   * Maximum number of processes that ended while a tool's function ran and may have caused the end, a positive
   * integer. Crashes of the WebAssembly instance also count here. Default 3.
   */
  maxCrashes?: number | undefined;
  /**
   * All other processes, a positive integer. They ended while the model was asked, for example by a deploy or a
   * closed tab. Default 20.
   */
  maxInterruptions?: number | undefined;
}

/** The options of a tool that are plain data. */
export interface ToolData {
  /**
   * Whether the vendor enforces the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such a schema must
   * be within the vendor's subset of JSON Schema. Default false.
   */
  strict?: boolean | undefined;
  /**
   * Maximum number of characters of a result that the model sees, a positive integer. Default: the agent's
   * `toolCalls.maxResultChars`.
   */
  maxResultChars?: number | undefined;
  /**
   * Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
   * does. Empty arguments of a tool with required fields are always an error. Default true.
   */
  validate?: boolean | undefined;
  /**
   * Whether the tool changes nothing, so that its calls may run in parallel with other read-only calls. Default false.
   */
  readOnly?: boolean | undefined;
  /**
   * The version of what the tool does: any text, which you change when the tool changes. When a run resumes, a
   * call of another version is checked again. For a call that was already approved or started, looplet asks
   * `reconcile`. Default: none.
   */
  version?: string | undefined;
  /**
   * Timeout of a call in milliseconds, a positive integer. The model gets an error result. Default:
   * `timeouts.toolMs`.
   */
  timeoutMs?: number | undefined;
  /**
   * Maximum number of calls in one run, a positive integer. Further calls get an error result (`call_limit`).
   * Default: no limit.
   */
  maxCalls?: number | undefined;
  /**
   * The kind of access, for permission modes and the specifiers of rules. Default: none, or the kind that a
   * well-known tool name implies.
   */
  access?: ToolAccess | undefined;
  /**
   * The input field that permission rules compare with their specifiers. The mode `acceptEdits` uses it too: an
   * edit without a path in this field needs a decision. Default: by `access`.
   */
  ruleSubject?: string | undefined;
  /**
   * Whether the model gets the definition only after it has found the tool by a search. Anthropic and OpenAI run
   * their own search. For other vendors the model gets the tools `search_tools` and `call_tool`. Default false.
   */
  deferLoading?: boolean | undefined;
}

/** The options of every model that are plain data. */
export interface ModelData {
  /**
   * Maximum number of tokens in one answer, a positive integer. Default: the vendor's. If the protocol requires a
   * number, it is 8192, 32,000 for a model that thinks, and 64,000 with an effort above `high`.
   */
  maxOutputTokens?: number | undefined;
  /** Default: the vendor's. */
  temperature?: number | undefined;
  /** Default: the vendor's. */
  topP?: number | undefined;
  /** Default: the vendor's. */
  topK?: number | undefined;
  /** A number for vendors that support it. Default: the vendor's. */
  frequencyPenalty?: number | undefined;
  /** A number for vendors that support it. Default: the vendor's. */
  presencePenalty?: number | undefined;
  /** A number for vendors that support it. Default: the vendor's. */
  seed?: number | undefined;
  /** Texts that end the answer. Default: none. */
  stopSequences?: readonly string[] | undefined;
  /** `{ budgetTokens }` for extended thinking, as Anthropic has it, or the vendor's own object. Default: none. */
  thinking?: { [field: string]: unknown } | undefined;
  /**
   * How much the model thinks, for vendors that support it. If a model is known to reject it, looplet leaves it
   * out and emits the warning `effort_not_sent`. Default: the vendor's.
   */
  effort?: Effort | undefined;
  /** Whether the model must call a tool, and which one. Default: the vendor's (`"auto"`). */
  toolChoice?: ToolChoice | undefined;
  /**
   * Whether one answer may have several calls. With `false`, looplet asks the vendor for at most one. Default: the
   * vendor's.
   */
  parallelToolCalls?: boolean | undefined;
  /** The schema of the answer's text, which is then JSON. Default: any text. */
  responseFormat?: ResponseFormat | undefined;
  /** Data that the vendor stores with the request, for example `{ user_id }` for Anthropic. Default: none. */
  metadata?: { [field: string]: unknown } | undefined;
  /** Fields that are added to the request body. They override looplet's own. Default: none. */
  body?: { [field: string]: unknown } | undefined;
}

/** The options of a model over HTTP that are plain data. */
export interface HttpModelData {
  /**
   * The URL before the protocol's path, for example the URL of your proxy, without a query or a hash. The version
   * (`/v1`), a trailing slash and the endpoint's path are optional. A relative URL is resolved against the page.
   * To add a query, pass your own `fetch`. Default: the vendor's.
   */
  baseUrl?: string | undefined;
  /** Whether the answer is streamed. Default true. */
  stream?: boolean | undefined;
  /**
   * Whether the vendor stores the conversation between requests, so that a request sends only what is new. The
   * vendor stores the content for a short time. Tokens cost the same. Only for Anthropic's message threads.
   * Default: false.
   * <https://platform.claude.com/docs/en/build-with-claude/message-threads> (2026-11-29)
   */
  serverState?: boolean | undefined;
}

/** The options of `context.compaction` that are plain data. */
export interface CompactionData {
  /**
   * Whether looplet summarises when the window is nearly full, or when the vendor reports that it is full.
   * `run.compact()` works in any case. Default true.
   */
  auto?: boolean | undefined;
  /** How many of the last answers stay unchanged, with their tools' results, a non-negative integer. Default 3. */
  keepLast?: number | undefined;
  /** Additional instructions for the summary. Default: none. */
  instructions?: string | undefined;
}

/** Steps against tool calls that repeat. */
export interface RepeatOptions {
  /** looplet notes it next to the results, for the model. Default 3. */
  nudgeAfter?: number | null | undefined;
  /** looplet calls `onRepeat`, or repeats the note if you have no `onRepeat`. Default 6. */
  askAfter?: number | null | undefined;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null | undefined;
}

/** Rules of the form `Tool` or `Tool(specifier)`. */
export interface PermissionRules {
  /** Rules for calls that run without a question. A name with a `*` must name its MCP server (`mcp__files__*`). */
  allow?: readonly string[] | undefined;
  /** Rules for calls that need a decision in every mode. `"dontAsk"` denies them. */
  ask?: readonly string[] | undefined;
  /** Rules for calls that never run. A rule without a specifier hides the tool from the model. */
  deny?: readonly string[] | undefined;
  /**
   * The base folder of relative paths, an absolute path (`/srv/app`). With it, rules compare the resolved path.
   * Calls with `access: "read"` below it need no rule, and `"acceptEdits"` accepts absolute paths below it.
   * Default: unknown.
   */
  cwd?: string | undefined;
  /** Additional folders that are treated like `cwd`. They require `cwd`. Default: none. */
  additionalDirectories?: readonly string[] | undefined;
  /**
   * Whether calls that would change the settings of agents, shells, repositories and editors (`.claude`, `.git`,
   * `.bashrc` …) are asked about although a rule or hook allows them. Without `canUseTool` they are denied.
   * Default false.
   */
  protectSettings?: boolean | undefined;
}

/** The options of `output` that are plain data. */
export interface OutputData {
  /** The schema's name for the vendor, and the tool's name in tool mode. Default `"answer"`. */
  name?: string | undefined;
  /** A description of the answer, for the model; used in tool mode. Default: none. */
  description?: string | undefined;
  /**
   * Whether native mode uses the vendor's strict mode, for vendors that let you choose. Default: true if the
   * schema allows it.
   */
  strict?: boolean | undefined;
  /** How the answer is requested. Default `"auto"`. */
  mode?: OutputMode | undefined;
  /**
   * How many times looplet asks again after an answer that does not match the schema, a non-negative integer.
   * After the last retry the run is `stopped` by `structured_output`. Default 3.
   */
  maxRetries?: number | undefined;
}

/** New limits for the rest of the run; a limit that is left out stays. */
export interface RaisedData {
  /**
   */
  maxIterations?: number | undefined;
  /**
   */
  maxTotalTokens?: number | undefined;
  /**
   */
  maxToolRounds?: number | undefined;
  /**
   */
  maxToolCalls?: number | undefined;
  /**
   * Milliseconds that are added from the answer on, for the limit `time`. `run.addBudget` adds them to
   * `timeouts.totalMs`.
   */
  timeMs?: number | undefined;
}

/** The answer of a hook that is plain data. */
export interface HookData {
  /** The reason for the decision; the model reads it. */
  reason?: string | undefined;
  /**
   * `PreToolUse` (not with `"defer"`), `PermissionRequest`: the tool's new input. The history has the model's
   * input, and the model reads the new one next to the result.
   */
  updatedInput?: { [field: string]: unknown } | undefined;
  /** `PostToolUse`: the new output for the model, the events and the result. */
  updatedOutput?: unknown | undefined;
  /** `PermissionDenied`: whether the model may retry the call. */
  retry?: boolean | undefined;
  /** `PermissionRequest` with `"deny"`: ends the run as `cancelled`. */
  interrupt?: boolean | undefined;
  /** `PermissionRequest`: changes of the rules for the rest of the run. */
  updatedPermissions?: readonly PermissionUpdate[] | undefined;
  /** Text for the user, not for the model: a `warning` event with the code `hook_message`. */
  systemMessage?: string | undefined;
}

/** Changes of one iteration that are plain data. */
export interface PreparedData {
  /** Names of the tools that the model may see, in this order; a call of any other tool is denied. */
  tools?: readonly string[] | undefined;
  /**
   */
  toolChoice?: ToolChoice | undefined;
  /** The system prompt; `""` sends none. */
  system?: string | undefined;
}

/** Requests an answer that is JSON and matches a schema. */
export interface ResponseFormat {
  /** The JSON Schema, sent unchanged. Each vendor supports its own subset. Required. */
  schema: { [field: string]: unknown };
  /** The schema's name, for vendors that need one. Default `"answer"`. */
  name?: string | undefined;
  /** Whether the vendor enforces the schema, for vendors that let you choose. Default true. */
  strict?: boolean | undefined;
}

/** How the vendor caches the prompt's prefix. */
export interface PromptCaching {
  /**
   * How long the vendor caches the marked prefix, for example `"5m"` (Anthropic's default) or `"1h"`. Default: none.
   */
  ttl?: "5m" | "1h" | "24h" | (string & {}) | undefined;
  /** Requests with the same key go to the same cache (OpenAI). Default: none. */
  key?: string | undefined;
}

/** Time limits in milliseconds: non-negative integers, or `null` for no limit. */
export interface Timeouts {
  /** For the whole run, which then ends as `stopped` by `time`. Default: none. */
  totalMs?: number | null | undefined;
  /**
   * For one iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools,
   * and your functions. The clock pauses while looplet waits for a user (`canUseTool`). The run ends as `stopped`
   * by `time`. Default: none.
   */
  iterationMs?: number | null | undefined;
  /**
   * From sending a request to the first byte of the response's body. The default is ten minutes, as in the
   * vendors' SDKs. A timeout counts as a retryable failure. Default 600,000.
   */
  firstChunkMs?: number | null | undefined;
  /** Between two chunks of a body. A timeout counts as a retryable failure. Default 120,000. */
  chunkMs?: number | null | undefined;
  /** For the whole body of a failed response. The failure then has the part that was received. Default 10,000. */
  errorBodyMs?: number | null | undefined;
  /** For one call of a tool that has no `timeoutMs`. The model gets an error result. Default: none. */
  toolMs?: number | null | undefined;
  /** For your decision whether a call may run. Without a decision the call is denied. Default: none. */
  permissionMs?: number | null | undefined;
}

/** How old answers are shortened. */
export interface Pruning {
  /**
   * Who shortens them. With `"vendor"`, the model's vendor hides the inputs and results of old calls from the
   * model, where it can. The history and the reasoning stay complete. With `"looplet"`, and if the vendor cannot,
   * looplet cuts thinking and the inputs of calls in the history. Default `"vendor"`.
   */
  by?: PruneBy | undefined;
  /**
   * How many later answers make an answer old, a positive integer. A vendor shortens this many answers at a time:
   * it shows at least this many of the latest answers, and fewer than twice as many. Default 5.
   */
  afterResponses?: number | undefined;
  /** How many characters remain of each part that looplet cuts, a non-negative integer. Default 100. */
  prefixChars?: number | undefined;
}

/**
 * Retries of a model call after status 408, 409, 429 or 5xx, a network failure or a broken stream.
 *
 * The n-th retry waits `min(maxMs, baseMs × factor^n)` plus up to `jitterMs`, or longer if the server asks for it.
 * While the network rejects the first request of a run, all waits together take at most 3 s, unless `delaysMs` lists
 * them. All numbers are non-negative integers.
 */
export interface RetryPolicy {
  /** Maximum number of retries. 0 disables retries. Default 3. */
  maxRetries?: number | undefined;
  /** The first wait, in milliseconds. Default 1,000. */
  baseMs?: number | undefined;
  /** The factor between one wait and the next, a positive integer. Default 2. */
  factor?: number | undefined;
  /**
   * The waits before each retry in milliseconds, instead of `baseMs` and `factor`. The last one also applies to
   * all later retries. Default: none.
   */
  delaysMs?: readonly number[] | undefined;
  /** The maximum of the random part, in milliseconds. Default 1,000. */
  jitterMs?: number | undefined;
  /** How random the waits are. Default `"added"`. */
  jitter?: Jitter | undefined;
  /**
   * The longest wait in milliseconds, at least `baseMs`. Default 60,000, or `baseMs` if that is more. A longer
   * `Retry-After` ends the retries.
   */
  maxMs?: number | undefined;
  /** Whether looplet waits as long as the server asks (`Retry-After`). Default true. */
  respectRetryAfter?: boolean | undefined;
  /** The failure codes to retry. Default: all failures that are `retryable`. */
  on?: readonly FailureCode[] | undefined;
  /**
   * How many times looplet repeats a whole model call, a non-negative integer. It starts the next call when all
   * attempts of the previous one have failed, for any reason. Each call has its own attempts. Default 0.
   */
  maxModelCallRetries?: number | undefined;
}

/** The answer to a question whether a call may run. */
export type PermissionResult =
  | {
      behavior: "allow";
      /** Changes of the rules or the mode for the rest of the run. Default: none. */
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
      /**
       * The tool's new input. The history has the model's input, and the model reads the new one next to the result.
       * Default: none.
       */
      updatedInput?: object | undefined;
      message?: undefined;
      interrupt?: undefined;
    }
  | {
      behavior: "deny";
      /** Changes of the rules or the mode for the rest of the run. Default: none. */
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
      /** The reason, which the model reads. Default: none. */
      message?: string | undefined;
      /** Whether the denial ends the run as `cancelled`, with the message as its reason. Default false. */
      interrupt?: boolean | undefined;
      updatedInput?: undefined;
    };

/** How much the model thinks. The engine sends the word unchanged. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** How the random share enters a wait. */
export type Jitter =
  /** Adds up to `jitterMs` to the formula's wait. */
  | "added"
  /** Picks a wait between 0 and the formula's, which spreads many clients best. */
  | "full";

/** How the run retries an answer that was interrupted. */
export type OnCutOff =
  /** The model writes the whole answer again. */
  | "again"
  /**
   * The model continues after the received text, if the protocol and the model support it. Otherwise it writes the
   * whole answer again, and the warning `not_continued` has the reason.
   */
  | "continue";

/** How the run treats an answer without tool calls that reached the limit of output tokens. */
export type OnOutputLimit =
  /** It is the last answer, with `finishReason: "length"`. */
  | "return"
  /** The model continues where it stopped, within `maxIterations`. `result.text` is the complete text. */
  | "continue"
  /** The run is `failed` with the code `finish_reason`. */
  | "error";

/** Who shortens old answers. */
export type PruneBy = "vendor" | "looplet";

/** How a call of an unknown tool is answered. */
export type OnUnknownTool =
  /** The model gets an error result. */
  | "tool_result"
  /** The run is `failed` with the code `config_invalid`; `agent.run` itself throws nothing. */
  | "throw";

/** How the schema is enforced. */
export type OutputMode =
  /** Native if the vendor is known to enforce this schema, else by a tool. */
  | "auto"
  /** The vendor enforces the schema on the answer's text. */
  | "native"
  /** The model answers by a call of a tool that looplet adds; events and results do not show it. */
  | "tool";

/** How many waiting messages are sent together. */
export type QueueMode = "all" | "one";

/** A condition on the round of tools that has just finished. JSON: `{"toolCall":"name"}`, `{"iterations":n}`. */
export type StopCondition =
  /** The round called this tool. */
  | {
      toolCall: string;
    }
  /** The round belongs to this iteration or a later one. */
  | {
      iterations: number;
    };

/** A kind of access. */
export type ToolAccess =
  /** Reads files. */
  | "read"
  /** Writes files. */
  | "edit"
  /** Runs commands. */
  | "shell"
  /** Fetches web addresses. */
  | "fetch";

/** The calls that the model may or must make. JSON: `"auto"`, `"none"`, `"required"` or `{"tool":"name"}`. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | {
      tool: string;
    };

/** Which calls of one answer may run at the same time. */
export type ToolExecution =
  /**
   * Read-only calls run in parallel, and so do calls with different resource keys. All other calls run in order.
   */
  | "read-only-parallel"
  /** All calls run at the same time, except that calls with the same resource key run in order. */
  | "parallel"
  /** One call runs after the other. */
  | "sequential";
