// Printed from src/engine/model by `npm run format`: change the types there.

/** A model call that failed at the provider or on the network. */
export interface Failure {
  code: FailureCode;
  /**
   * A text for a person. It never contains a key. That of a model call names vendor, model, status, code and
   * address before the words of the server or of the platform.
   */
  message: string;
  /** HTTP status. */
  status?: number;
  /** The wait that the server asked for, in milliseconds. */
  retryAfterMs?: number;
  /** True when another attempt could succeed. looplet has already made its own attempts. */
  retryable: boolean;
  /** The vendor's id of the request, for its support team. */
  requestId?: string;
  /**
   * The vendor's own code for the error: `error.details.error_code` of Anthropic, for example `thread_not_found`.
   */
  vendorCode?: string;
  vendor?: string;
  /** The model that was asked. */
  model?: string;
  /** The address that was asked, without its query. A model inside the process has none. */
  url?: string;
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
  /**
   * The body breaks the protocol: it is not SSE but HTML, it is cut off, or an event is not valid JSON. Also an
   * answer beyond `answers.maxBlocks`, `answers.maxTextBytes`, `answers.maxArgumentBytes` or
   * `answers.maxEventBytes`.
   */
  | "malformed_stream"
  /**
   * The server answered with a redirect, which looplet never follows: the key would go along. The message names
   * the target's origin where the platform shows it.
   */
  | "redirected"
  /**
   * Your code that answers in place of a server has thrown: the function of `custom()`, or a `scripted()` or
   * `practice()` of `looplet/practice`.
   */
  | "custom_model"
  /**
   * The answer ended in a way that `answers.strictStopReason` or `answers.onMaxTokens` does not accept. The
   * message says how.
   */
  | "finish_reason"
  /** A setting that only the engine can judge was refused. The message names the field. */
  | "config_invalid"
  /**
   * The WebAssembly module could not be loaded. The message says why; often a Content-Security-Policy forbids it.
   * Only the TypeScript reports this code.
   */
  | "config_wasm"
  /** Another process holds the lease of this run. Only the TypeScript reports this code. */
  | "run_held"
  /** The store does not have the journal of the run any more, although no other process has taken it. */
  | "journal_gone"
  /** The store has a run with this id that began with another prompt. */
  | "run_exists"
  /**
   * Your store could not give the journal of a run that is to go on, or it could not save one and
   * `durable.onSaveFailed` ended the run.
   */
  | "store_failed"
  /** One of your guardrails refused. Only the `error` event has this code. */
  | "guardrail"
  /** A defect of looplet. */
  | "bug";

/**
 * What a request shares with the request before it of the same agent. Both are compared from their beginning: the
 * model, the effort and the format of answers, the tools, the system prompt, the kind of thinking, then each
 * message. Vendors read what is shared from their cache, if it is long enough and recent. Tokens are estimated from
 * bytes: 3.5 bytes each, also in pictures.
 */
export interface SharedPrefix {
  /** The length of the tools, the system prompt and the messages. Messages count as they are sent. */
  bytes: number;
  tokens: number;
  /** The length of what the request before began with, too. Tools and system prompt count whole or not at all. */
  sharedBytes: number;
  sharedTokens: number;
  /** The first difference. Absent if the request begins with everything of the request before. */
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
  /** Another model is asked, which has its own cache. */
  | "model"
  /** Claude and OpenAI Responses have a cache for each effort. */
  | "effort"
  /** The format of structured answers, of which Claude and OpenAI Responses have a cache each, too. */
  | "format"
  /** The kind of thinking or its budget: Claude reads only the tools and the system prompt from its cache. */
  | "thinking";

/** What changed the beginning of a request. If several did, the first of this list that changes such a part. */
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

/** How a call reaches another agent, in the words of OpenTelemetry's conventions. */
export type Transfer =
  /** A subagent works for the caller, which goes on with the result. */
  | "return_to_caller"
  /** The agent goes on with the conversation. */
  | "pass_control";

/** The error of a tool call, as the model is told it. */
export interface ToolFault {
  /**
   * A short, stable code: `tool_failed`, `invalid_json`, `invalid_input`, `cut_off`, `unknown_tool`, `denied`,
   * `timeout`, `call_limit`, `unusable_result`, `cancelled`, `not_run`, `save_failed`, `early_answer`,
   * `subagent_failed`, `depth_limit`, or a code of the tool's own.
   */
  code: string;
  /** The defect in words, without a stack trace. */
  message: string;
  /** The step that the model should take instead. */
  hint: string;
  /** `false` ends the run. */
  recoverable: boolean;
}

/** A point of a run at which it asks your code. */
export type Point =
  /** A call is about to be judged: the permission rules, the mode and `canUseTool` come after this hook. */
  | "PreToolUse"
  /** A tool has returned; the model has not seen the result yet. */
  | "PostToolUse"
  /** A tool has thrown or run out of time. */
  | "PostToolUseFailure"
  /** All calls of an answer are done; the model has seen none of their results yet. */
  | "PostToolBatch"
  /**
   * A session begins with its first prompt; a session is a chat, or a run outside of one. This hook comes before
   * `UserPromptSubmit`.
   */
  | "SessionStart"
  /** A prompt, a steer or a follow-up is about to go to the model. */
  | "UserPromptSubmit"
  /** The model has finished. */
  | "Stop"
  /** A subagent is about to begin. */
  | "SubagentStart"
  /** A subagent has finished. */
  | "SubagentStop"
  /** A summary of the history is about to be made. */
  | "PreCompact"
  /** A summary has taken the place of the history before it. */
  | "PostCompact"
  /** `canUseTool` or a `question` event is about to ask whether a call may run. */
  | "PermissionRequest"
  /** A rule, the mode or your code denied a call. */
  | "PermissionDenied"
  /**
   * The run waits for a person, because a permission question is open. Nothing waits for this hook; context that
   * it adds reaches the model later.
   */
  | "Notification"
  /** Messages are about to be sent. */
  | "InputGuardrail"
  /** An answer is over, and nothing has been done with it yet. */
  | "OutputGuardrail"
  /** A call may run, and is about to. */
  | "ToolGuardrail"
  /** The next request can be changed before it is sent. */
  | "PrepareIteration"
  /** An iteration is over. */
  | "IterationEnd"
  /** A limit is reached and may be raised. */
  | "Limit"
  /** Asks once per batch to validate the inputs and to name the resources of the calls whose tools want it. */
  | "prepare_calls"
  /** How should the model be told about the errors of this round? */
  | "word_errors"
  /** May this call run? A person may answer, or a function in their place. */
  | "permission"
  /** May this call run? Your classifier answers. */
  | "classify"
  /** Was this call done, which had begun when the run was cut off? */
  | "reconcile"
  /** A tool asks a person while its call is under way. */
  | "elicitation"
  /** Which text stands for the first part of the conversation? */
  | "summarize"
  /** Is this answer, which fits its schema, acceptable to your Standard Schema or your function? */
  | "check_output"
  /** Should the run stop after this round of tools, by your conditions? */
  | "stop_condition"
  /** Should the run stop because its rounds repeat themselves? */
  | "stop_repeat"
  /** Which messages does the agent that takes the conversation over begin with? */
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
  /** Why looplet has written this text. Absent for a text of a person or of the model. */
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
  /** Set if the call has no result yet, because its run goes on. The block stands in the place of the result. */
  pending?: PendingCall;
}

/** An image, a sound or a document, as base64 (`data`, without a `data:` prefix) or by `url`. */
export interface MediaBlock {
  type: "media";
  /** For example `image/png` or `application/pdf`. */
  mediaType: string;
  /** The file's name, for example `report.pdf`. Vendors tell it to the model; Gemini has no place for it. */
  name?: string;
  /** Further fields of the vendor whose model made it. */
  vendor?: { [field: string]: unknown };
  data?: string;
  url?: string;
}

/** A block of the vendor that has no neutral form; looplet keeps it and sends it back unchanged. */
export interface RawBlock {
  type: "raw";
  json: unknown;
}

/** Why looplet has written a text of the transcript. */
export type TextPurpose =
  /** The text stands for messages before it. */
  | "summary"
  /**
   * The model is told something: a repeated round, an answer that was cut off or does not fit its schema, the
   * words of a hook.
   */
  | "notice";

/** How far a call has come that has no result yet. */
export type PendingCall =
  /** A person is asked about it, or by its tool or a subagent below it. */
  | "waiting"
  /** It has begun. */
  | "running"
  /** It has not begun. */
  | "queued";

/** Why the history is made shorter. */
export type CompactTrigger =
  /** The context window is nearly full. */
  | "auto"
  /** Your code asked for it. */
  | "manual"
  /** The vendor reported that the context window is full. */
  | "overflow"
  /** Old answers were shortened by `context.pruning`, or by `context_management` in the `body` of the model. */
  | "pruning"
  /** The history exceeds `context.maxChars`, a number of characters. */
  | "budget";

/** The author of a summary. */
export type SummaryBy =
  /** The vendor, which signs or encrypts it, so that the model's later reasoning stays. */
  | "vendor"
  /** The model, in an answer to a prompt of looplet. */
  | "model"
  /** Your function. */
  | "host"
  /** looplet, from the beginnings of the messages. */
  | "built_in";

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
  /** True when the whole cost is the vendor's own figure. */
  isCostReported: boolean;
}

/** The limits that count for an agent; `null` for a limit that does not exist. */
export interface CurrentLimits {
  maxIterations: number;
  maxTotalTokens: number | null;
  maxCostNanoUsd: number | null;
  maxToolRounds: number | null;
  maxToolCalls: number | null;
  /** The rest of `timeouts.totalMs`. */
  timeLeftMs: number | null;
}

/**
 * One message. Tool results stand in the user message that follows the calls they answer. The system prompt is not a
 * message.
 */
export interface Message {
  role: Role;
  content: Block[];
  /** An abort or a limit cut the answer off; the part that arrived is kept and sent on. */
  partial?: boolean;
  /** `pruning` shortened its thinking and its calls. The thinking is not sent back. */
  compacted?: boolean;
  /**
   * The protocol and the model that wrote an assistant message. Vendor fields, signatures and raw blocks go back
   * only to them.
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
   * A digest of what the request of a message with signed reasoning began with: the reasoning goes back only
   * behind the same beginning. An empty text stands for reasoning that the vendor has refused. Without a digest
   * the vendor decides.
   */
  prefix?: string;
  /**
   * With the option `serverState`: the vendor's id of the answer, a digest of the conversation up to it, and when
   * it came, in seconds since 1970. The next request sends only what follows it, if nothing before has changed.
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
  /** The vendor paused a long answer (Anthropic's `pause_turn`). The run goes on by itself. */
  | "pause";

/** How a run or an agent ended. `outcome` tells which of the other fields are there. */
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
       * The reason that `abort(reason)` or the signal gave. In a `stopped` run it is the reason of a hook or a
       * guardrail, or the problem of the last answer that did not fit its schema.
       */
      abortReason?: string;
      stoppedBy: StoppedBy;
      error?: undefined;
    }
  | {
      outcome: "cancelled";
      /**
       * The reason that `abort(reason)` or the signal gave. In a `stopped` run it is the reason of a hook or a
       * guardrail, or the problem of the last answer that did not fit its schema.
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
  /** A condition of `limits.stopWhen`. */
  | "condition"
  /** Repeated rounds of tool calls. */
  | "repeat"
  /**
   * Processes have gone on with the run, one after the other, and ended without bringing it further
   * (`durable.maxCrashes`, `durable.maxInterruptions`).
   */
  | "recovery_exhausted"
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
  /**
   * Only behind the `run-start` of a process that goes on with a run: another process has received so much of an
   * answer that its end cut off. The model is asked again. It does not get these texts, except with `onCutOff:
   * "continue"`: then the text is the first delta of the next answer.
   */
  | {
      type: "answer-cut-off";
      text: string;
      reasoning: string;
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
  /** A request is sent. */
  | {
      type: "attempt-start";
      /**
       * Present if `events.prefix` is set, from the second request of an agent on. The request for a summary has
       * none, and neither has one that lets the model continue a partial answer.
       */
      prefix?: SharedPrefix;
    }
  | {
      type: "text-start";
      block: number;
      /** Whether the block is a refusal that the vendor marks as such. Absent for an ordinary text. */
      refusal?: boolean;
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
  /**
   * The vendor's estimate of the tokens of a block of reasoning so far, where it does not send the text: Claude
   * with `thinking: { type: "adaptive", display: "omitted" }`. It is for a progress indicator; `usage` counts.
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
  /** A complete call, before anything is done with it. */
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
       * The input that the tool got in place of the model's, if your code changed it. Fields that `bindings` fill
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
       * The input that the tool got in place of the model's, if your code changed it. Fields that `bindings` fill
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
      /** The data that a person needs to answer; absent where looplet answers. */
      data?: Facts["permission" | "reconcile" | "elicitation"];
    }
  /** The question is closed. It comes once for each question. */
  | {
      type: "answered";
      questionId: number;
      /** The input that the answer gives the tool in place of the model's. */
      updatedInput?: unknown;
      /** True if nobody has answered, and nobody waits for the answer any more: the call has ended, or the run. */
      isWithdrawn?: true;
    }
  /**
   * Nothing goes on before somebody answers one of these questions: no request and no tool is under way, but tools
   * that have asked themselves. It comes again when the questions are others. Your code may send a notice at this
   * moment or, in a run with a store, end the process after `run.saved()`.
   */
  | {
      type: "waiting";
      questionIds: number[];
    }
  /**
   * The store has not taken these entries of the journal, so a process that went on with the run would not know
   * what they say. `durable.onSaveFailed` decides whether the run goes on. The event comes for each write that
   * fails; the next write takes all entries along.
   */
  | {
      type: "not-saved";
      /** The number of entries that the store does not have. */
      entries: number;
      /** The number of the first of them in the journal, from 1. */
      since: number;
      /** The words of the store's error. */
      message: string;
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
      /** The content of the message that the model gets: that of all of them. */
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
   * The history has been made shorter: later requests have a different beginning. If the trigger is `pruning` and
   * `by` is `vendor`, requests and history are what they were, and the vendor has hidden old calls from the model.
   */
  | {
      type: "compact-boundary";
      trigger: CompactTrigger;
      /** Who has written the summary, or the vendor if it has hidden old calls; absent if looplet has pruned. */
      by?: SummaryBy;
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
  /** `onLimit` or `run.addBudget` raised limits of this agent. */
  | {
      type: "limits";
      limits: CurrentLimits;
    }
  /**
   * A whole message of the transcript, if `events.messages` is set. The user's messages come when they are sent,
   * with the results of tools in them, the model's when its answer is over or given up. A prompt that joins a
   * message without an answer comes by itself.
   */
  | {
      type: "message";
      message: Message;
      /** The vendor's id of an answer that is over. */
      responseId?: string;
      /** The vendor's word for the end of an answer that is over. */
      rawFinishReason?: string;
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
      /** The usage of the iteration's requests; `null` if the vendor reported none. */
      usage: Usage | null;
      /** The vendor's id of the answer. */
      responseId: string | null;
      /** The model that answered, by the vendor's account. */
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
   * The input that the tool got in place of the model's, if an approval, a hook or a guardrail changed it. Fields
   * that `bindings` fill are left out. The model reads it beside the result.
   */
  updatedInput?: unknown;
  /** The tool's result or the structured error; `null` while the call is open. */
  output: unknown;
  isError: boolean;
  durationMs: number;
}

/** The place of an agent in its run, as the journal has it. */
export interface AgentProgress {
  /** The number of the iteration of the last answer, from 1; 0 before the first. */
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
  /** How the agent ended; absent while it is at work. */
  outcome?: OutcomeKind;
  /** The messages as they were said. A summary stands behind those that it has replaced for the model. */
  messages: Message[];
  /** The calls that have come back, in the order in which their rounds have ended. */
  toolCalls: ToolCallRecord[];
  /** The place that the journal has of an agent of the last run; absent for those of earlier runs. */
  progress?: AgentProgress;
}

/** What a `Bound` takes from the table of models. */
export interface AssumedLimits {
  vendor: string;
  model: string;
  /** The most tokens of a request with its answer, in place of `context.window`. */
  window?: number;
  /**
   * The most tokens of an answer, in place of `maxOutputTokens`: what looplet asks for, or what the model can
   * write.
   */
  maxOutputTokens?: number;
}

/**
 * The most that a run may use under its limits, subagents included, told before any request
 * (`bound`). A figure is `null` when nothing limits it, and
 * `unbounded` says why.
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

/** A call as your code is told about it. */
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
   * A part of the run's journal is lost. The call, or one like it under another id, may have been made in that
   * part, so an id that nobody knows proves nothing.
   */
  isTorn?: boolean;
  /**
   * The version of the tool when the call was let through, empty for none; absent if it is the tool's version of
   * now.
   */
  otherVersion?: string;
  /** The agent that made the call; `"root"` is the run's own. */
  agentPath?: string;
  /**
   * The `ask` rule that caused the question. Its author wants a person to decide, so never answer it
   * automatically.
   */
  matchedAskRule?: PermissionRuleParts;
  /**
   * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. They are
   * absent where no rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for
   * calls that rules cannot express.
   */
  suggestions?: PermissionUpdate[];
  /** Context for `classifyTool` that `PostToolUse` hooks have given. */
  classifierContext?: string[];
  /** The request of the tool, in the words of MCP. */
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
       * Where the change is to be kept. looplet stores nothing, so any value but `"session"` is a `warning` event
       * (`permission_update`). Default: none.
       */
      destination?: string | undefined;
      /** The list to which `rules` belong. */
      behavior: RuleKind;
      /** Texts of rules, or their parts. */
      rules: readonly (string | PermissionRuleParts)[];
      mode?: undefined;
    }
  | {
      type: "setMode";
      /**
       * Where the change is to be kept. looplet stores nothing, so any value but `"session"` is a `warning` event
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
       * Where the change is to be kept. looplet stores nothing, so any value but `"session"` is a `warning` event
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

/** The list to which a rule belongs. */
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
  /** `canUseTool` decides; without it the call is denied. */
  | "default"
  /**
   * Tools with `access: "edit"` run, and so do plain command lines that only move files about (`mkdir`, `touch`,
   * `rm`, `rmdir`, `mv`, `cp`). Other calls, and calls with unsafe paths, are judged as in `default`.
   */
  | "acceptEdits"
  /**
   * Every call that is not read-only is denied, whatever rules, hooks and `canUseTool` say. Other calls are judged
   * as in `default`.
   */
  | "plan"
  /** A call is denied unless a rule allows it; an `ask` rule denies too. */
  | "dontAsk"
  /** `classifyTool` decides. */
  | "auto"
  /** The call runs, unless a `deny` or `ask` rule matches, or a `deny` rule cannot read the call for sure. */
  | "bypassPermissions";

/** A request of a tool to a person, in the words of MCP. The engine hands it on and reads nothing of it. */
export interface ElicitationRequest {
  /** The words for the person. */
  message: string;
  /** A form to fill in, or a page to visit. Default `"form"`. */
  mode?: "form" | "url";
  /** The JSON Schema of the answer's `content`, for a form: an object of texts, numbers, booleans and choices. */
  requestedSchema?: { readonly [key: string]: unknown };
  /** The page to visit. */
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
  /** The state from which the call goes on, if another process has left one. */
  checkpoint?: ToolCheckpoint;
}

/** The state from which a tool call goes on in another process. */
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
 * The facts that a question tells, by its point. The marks `x-of` name the points of a variant or a field, with `!`
 * where the field is always told.
 */
export interface Facts {
  /** A call is about to be judged: the permission rules, the mode and `canUseTool` come after this hook. */
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
  /** A tool has thrown or run out of time. */
  PostToolUseFailure: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    readonly error: ToolFault;
    readonly durationMs: number;
  };
  /** All calls of an answer are done; the model has seen none of their results yet. */
  PostToolBatch: {
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /**
   * A session begins with its first prompt; a session is a chat, or a run outside of one. This hook comes before
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
    /** Whether a `Stop` hook has made the model continue before; check it to avoid an endless loop. */
    readonly stopHookActive: boolean;
    readonly lastAssistantMessage: string;
  };
  /** A subagent is about to begin. */
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
    /** Whether a `Stop` hook has made the model continue before; check it to avoid an endless loop. */
    readonly stopHookActive: boolean;
    readonly lastAssistantMessage: string;
  };
  /** A summary of the history is about to be made. */
  PreCompact: {
    readonly trigger: "auto" | "manual" | "overflow";
    /** Estimated tokens of the history. */
    readonly preTokens: number;
    /**
     * Wishes for the summary, if there are any: the instructions of `run.compact` or of the option
     * `context.compaction`.
     */
    readonly instructions?: string;
  };
  /** A summary has taken the place of the history before it. */
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
     * The `ask` rule that caused the question. Its author wants a person to decide, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. They are
     * absent where no rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for
     * calls that rules cannot express.
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
   * The run waits for a person, because a permission question is open. Nothing waits for this hook; context that
   * it adds reaches the model later.
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
  /** An answer is over, and nothing has been done with it yet. */
  OutputGuardrail: {
    readonly message: Message;
  };
  /** A call may run, and is about to. */
  ToolGuardrail: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
  };
  /** The next request can be changed before it is sent. */
  PrepareIteration: {
    /** The name of the model that answers unless `prepareIteration` chooses another. */
    readonly model: string;
    readonly messages: readonly Message[];
  };
  /** An iteration is over. */
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
    /** The option of the timeout that was reached, for the limit `time`. */
    readonly timeout?: "totalMs" | "iterationMs";
    /** Usage of the run so far; `null` if no vendor reported any. */
    readonly usage: Usage | null;
    readonly toolRounds: number;
    /** Tool calls of the run, including the calls that would exceed the limit. */
    readonly toolCalls: number;
  };
  /** Asks once per batch to validate the inputs and to name the resources of the calls whose tools want it. */
  prepare_calls: {
    readonly calls: readonly ToolInvocation[];
    /** Texts that rules compare. The answer brings the platform's readings of them. */
    readonly texts: readonly string[];
  };
  /** How should the model be told about the errors of this round? */
  word_errors: {
    readonly errors: readonly FaultyCall[];
  };
  /** May this call run? A person may answer, or a function in their place. */
  permission: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /** The agent that made the call; `"root"` is the run's own. */
    readonly agentPath?: string;
    /**
     * The `ask` rule that caused the question. Its author wants a person to decide, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. They are
     * absent where no rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for
     * calls that rules cannot express.
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
    /** The agent that made the call; `"root"` is the run's own. */
    readonly agentPath?: string;
    /**
     * The `ask` rule that caused the question. Its author wants a person to decide, so never answer it
     * automatically.
     */
    readonly matchedAskRule?: PermissionRuleParts;
    /**
     * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. They are
     * absent where no rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for
     * calls that rules cannot express.
     */
    readonly suggestions?: readonly PermissionUpdate[];
    /** Context for `classifyTool` that `PostToolUse` hooks have given. */
    readonly classifierContext?: readonly string[];
  };
  /** Was this call done, which had begun when the run was cut off? */
  reconcile: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /**
     * A part of the run's journal is lost. The call, or one like it under another id, may have been made in that
     * part, so an id that nobody knows proves nothing.
     */
    readonly isTorn?: boolean;
    /**
     * The version of the tool when the call was let through, empty for none; absent if it is the tool's version of
     * now.
     */
    readonly otherVersion?: string;
    /** The agent that made the call; `"root"` is the run's own. */
    readonly agentPath?: string;
  };
  /** A tool asks a person while its call is under way. */
  elicitation: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** The input that the tool gets. */
    readonly input: any;
    /** The reason for the question or the denial. */
    readonly reason: string;
    /** The agent that made the call; `"root"` is the run's own. */
    readonly agentPath?: string;
    /** The request of the tool, in the words of MCP. */
    readonly request: ElicitationRequest;
  };
  /** Which text stands for the first part of the conversation? */
  summarize: {
    readonly trigger: "auto" | "manual" | "overflow";
    readonly instructions?: string;
    /** The messages that the summary will replace. */
    readonly messages: readonly Message[];
  };
  /** Is this answer, which fits its schema, acceptable to your Standard Schema or your function? */
  check_output: {
    readonly output: any;
  };
  /** Should the run stop after this round of tools, by your conditions? */
  stop_condition: {
    /** The model call that asked for it, from 1. */
    readonly iteration: number;
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** Should the run stop because its rounds repeat themselves? */
  stop_repeat: {
    /** The model call that asked for it, from 1. */
    readonly iteration: number;
    /** The number of times that the calls have repeated. */
    readonly times: number;
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** Which messages does the agent that takes the conversation over begin with? */
  filter_handoff: {
    /** The name of the tool that hands over. */
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

/** The memory of a persistent subagent. */
export interface SubagentMemory {
  /** The agent's path at its first call, for example `"root/researcher"`. */
  agentPath: string;
  /** The agent's conversation, legal to send again. */
  messages: Message[];
}

/** The head with which requests begin. */
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

/** What a tool does for tools with `defer_loading`. */
export type Loader =
  /** It finds them. */
  | "search"
  /** It finds them by a function of yours, which takes the place of the vendor's search too. */
  | "own_search"
  /** It calls one of them: its input has the `name` and the `input` of the call. */
  | "call";

/** A change of the head, which is sent after a message of the user. */
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

/** The long half of a run's result. */
export interface History {
  toolCalls: ToolCallRecord[];
  /** The whole transcript with the given history, legal to send again in every case. */
  messages: Message[];
  /**
   * The memory of persistent subagents, including subagents that were not called. Pass it to the next run as
   * `subagents`.
   */
  subagents: SubagentMemory[];
  /** The head of the requests, for the next run with these messages. */
  head?: Head;
}

/** The end of a journal, in which the next run of a chat goes on. */
export interface JournalTail {
  /** The number of the last entry; 0 before the first. */
  seq: number;
  /** The number of the last entry that counts. */
  whole: number;
  /** The number of messages that the journal has, of those of the result. */
  messages: number;
  /** The id of the run, if the journal's name is another one. */
  run: string | null;
  /** The run has ended, or nobody has asked it anything. */
  isOver: boolean;
  /** How often the run was stopped because its processes ended, if that is its end; else 0. */
  stops: number;
  /** The number of entries that do not count. */
  leftOut: number;
  /**
   * The requests of your code that the runs of the chat have taken: their ids, and those of the messages that have
   * joined them. A message that a run has not delivered by its end may come again.
   */
  requests: string[];
}

/** A question to one function. */
export interface Question {
  point: Point;
  /** The index of the function in `hooks`; 0 at a point with one function. */
  asker: number;
  /** The index of the configuration that has the function, 0 for the run's own. */
  profile: number;
  /** The agent in the run's tree; `"root"` is the one that was started. */
  agentPath: string;
  /** The agent's model call before this point, from 1; 0 before the first. */
  iteration: number;
  /** The name of the subagent's tool; absent for the run's own agent. */
  agentName?: string;
  /** The current mode, in a run with permissions. */
  permissionMode?: PermissionMode;
  /** The model's option `effort`, if it has one. */
  effort?: string;
  /** The `Facts` of the point. */
  data: unknown;
}

/** A block of an answer that streams, as far as events have told it. */
export type StreamedBlock =
  | {
      type: "text";
      /** The number of the block, as the events have it. */
      block: number;
      text: string;
      /** True if it does not grow any more. */
      isOver: boolean;
      /** True if the model declines. */
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
      /** The input of a call that has been told: some begin while the answer streams. */
      input?: unknown;
    };

/** The short half of a run's result. */
export interface Report {
  /** The last answer that fits the schema. */
  output: unknown;
  /**
   * The usage that vendors have reported, subagents included; `null` if no answer came with any. An answer without
   * a report is not in it.
   */
  usage: Usage | null;
  /** `usage` with that of the conversation before the run. */
  chatUsage: Usage | null;
  /**
   * The part of `usage` that each model has used, by the name under which the model was asked. A model that has
   * answered without a report is `null`.
   */
  modelUsage: { [field: string]: Usage | null };
  /**
   * Milliseconds from the prompt to the end, by the run's clock: with the waits for tools, for people and between
   * attempts.
   */
  durationMs: number;
  /**
   * Milliseconds that requests to models have taken, from sending to the end of the answer: the sum over all
   * requests, failed ones and those of subagents and summaries included. Requests that overlap each count, so the
   * sum may exceed `durationMs`.
   */
  apiDurationMs: number;
  /** The cost in billionths of a US dollar, an integer; `null` when it is not known. */
  costNanoUsd: number | null;
  /** The index of the agent that spoke last: 0, or that of the agent which has taken over. */
  profile: number;
  /** Model calls made. */
  iterations: number;
  /** Why the last answer ended; `null` when no answer was complete. */
  finishReason: FinishReason | null;
  /** The vendor's own word for `finishReason`. */
  rawFinishReason: string | null;
  /**
   * What the vendor says beside it, as it says it. Of a refusal by Claude `{ type, category, explanation,
   * recommended_model }`, each of which may be missing.
   */
  stopDetails?: unknown;
  /** The blocks of the answer that streams, which the messages do not have. */
  streaming?: StreamedBlock[];
  /** Ids of the steers and follow-ups that no model call has taken. */
  undelivered: number[];
}

/** The answer of a person to a tool, in the words of MCP. */
export interface ElicitationAnswer {
  action: ElicitationAction;
  /** The values that the person has filled in, for `accept`. */
  content?: { readonly [field: string]: unknown };
}

export type ElicitationAction =
  | "accept"
  /** The person has said no. */
  | "decline"
  /** Nobody has said anything. */
  | "cancel";

/**
 * One output, to be performed in order. Ask `run.is_live(effect)` before you perform an effect. The outputs that
 * have no way of their own into JavaScript go there as JSON.
 */
export type Output =
  /** Stops a request. The run ignores everything that still comes from it. */
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
  /** Tells a running tool to stop. The run does not wait for it. */
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
  /** Withdraws a question whose answer would come too late or has no effect any more. */
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
  /** How many of the waiting steers a model call takes. Default `"all"`. */
  steeringMode?: QueueMode | undefined;
  /** How many of the waiting follow-ups are asked when the model has finished. Default `"one"`. */
  followUpMode?: QueueMode | undefined;
}

/** The limits that each agent may have of its own. */
export interface AgentLimits {
  /**
   * Model calls of one run, a positive integer. Default 50, or as many as `maxToolRounds`, `iterationCount(n)` and
   * `output.maxRetries` need. A run that wants more is `stopped` by `iterations`.
   */
  maxIterations?: number | undefined;
  /**
   * Input plus output tokens of one run, a positive integer. A run that uses more is `stopped` by `tokens`.
   * Default: none.
   */
  maxTotalTokens?: number | undefined;
  /**
   * Answers with tool calls in one run, a non-negative integer. A final answer is always allowed; further calls
   * end the run as `stopped` by `tool_rounds`. With 0 the calls of the first answer are left to you:
   * `result.toolCalls` has them. Default: none.
   */
  maxToolRounds?: number | undefined;
  /**
   * Tool calls of one run with its subagents, a positive integer. An answer that would exceed it ends the run as
   * `stopped` by `tool_calls`, before its tools run. Default: none.
   */
  maxToolCalls?: number | undefined;
}

/** The limits that a run has for all of its agents. */
export interface RunLimits {
  /** Levels of subagents below the run's own agent, from 1 to 8. Default 1: subagents have no subagents. */
  maxSubagentDepth?: number | undefined;
  /**
   * Whether limits of tokens and money also count estimates of usage that no vendor has reported yet. Estimates
   * cover the request that is about to be sent, the answer that streams, and whole answers of servers that never
   * report usage. A request's estimate is reserved, so that parallel subagents see each other's, and a request
   * that does not fit in the rest of the limit is not sent. An estimate takes 3.5 bytes for a token. Default
   * false: only reported usage counts.
   */
  estimateUsage?: boolean | undefined;
}

/** The options of `context` that are plain data. */
export interface ContextData {
  /**
   * Tokens that the model can read, a positive integer. Default: what is known of the model. Where nothing is,
   * looplet learns only from the vendor's error that the window is full.
   */
  window?: number | undefined;
  /**
   * Characters of a request, a positive integer. looplet drops messages from the front of a longer request and
   * puts a few lines about them in their place. No model is asked. Default: none.
   */
  maxChars?: number | undefined;
}

/** The bounds of one answer of a model, and how looplet treats one that is not whole. */
export interface AnswerOptions {
  /**
   * Blocks of one answer, tool calls among them, a positive integer. An answer with more fails as
   * `malformed_stream`. Default 1,000.
   */
  maxBlocks?: number | undefined;
  /**
   * Bytes of text and reasoning of one answer, a positive integer up to 64 MiB (67,108,864). An answer with more
   * fails as `malformed_stream`. Default 33,554,432.
   */
  maxTextBytes?: number | undefined;
  /**
   * Bytes of tool arguments and media of one answer, a positive integer up to 128 MiB (134,217,728). An answer
   * with more fails as `malformed_stream`. Default 67,108,864.
   */
  maxArgumentBytes?: number | undefined;
  /**
   * Bytes of one event of a stream, and of a body that comes whole, a positive integer up to 256 MiB
   * (268,435,456). A longer one fails as `malformed_stream`. Default 67,108,864.
   */
  maxEventBytes?: number | undefined;
  /**
   * Bytes of a failed response's body that are read, a positive integer up to 64 MiB (67,108,864). The request is
   * cancelled behind them, and the failure tells what has come. `timeouts.errorBodyMs` is the time for it.
   * Default 65,536.
   */
  maxErrorBodyBytes?: number | undefined;
  /**
   * How looplet treats an answer without tool calls that the limit of output tokens cut off. Default `"return"`.
   */
  onMaxTokens?: OnOutputLimit | undefined;
  /**
   * How looplet asks again for an answer that broke off: the connection was lost, or the process ended and the run
   * has a `store`. Default `"again"`.
   */
  onCutOff?: OnCutOff | undefined;
  /**
   * Whether a run fails (code `finish_reason`) when an answer ends in any way but finished, paused or with tool
   * calls. An answer that says it is finished then ends the run, even with calls beside it. Default false: a run
   * continues as long as there are calls.
   */
  strictStopReason?: boolean | undefined;
}

/** How the tool calls of one agent run. */
export interface AgentToolCalls {
  /**
   * Which calls of one answer may run at the same time. Results always keep the order of the calls.
   * Default `"read-only-parallel"`.
   */
  execution?: ToolExecution | undefined;
  /** Tool calls that run at once, a positive integer. Default 8. */
  maxConcurrency?: number | undefined;
  /**
   * Characters (code points) of a tool's result that the model sees, a positive integer. A longer result is cut
   * there, with a note of how much is missing and a `warning` event (`result_cut`). Events and `result.toolCalls`
   * have the whole result, and media are never cut. A tool's `maxResultChars` wins. Default 100,000.
   */
  maxResultChars?: number | undefined;
  /**
   * Whether calls of tools with `readOnly: true` start as soon as they are complete, while the rest of the answer
   * still streams. If the attempt fails, its calls are aborted and forgotten. No call starts early when there is
   * an output guardrail. Default false.
   */
  eager?: boolean | undefined;
  /**
   * Whether the last call of an answer runs if its arguments are complete JSON and the limit of output tokens
   * ended the answer right behind them. Default false: gateways close the JSON of arguments that a model did not
   * finish, so the call gets an error result (`cut_off`). A call that `toolCalls.eager` has started already keeps
   * its result.
   */
  runCutOff?: boolean | undefined;
}

/** The options of `toolCalls` that are plain data and the same for all agents of a run. */
export interface RunToolCalls {
  /**
   * Whether the model reads, in a text block behind the result, the input with which a tool ran, if an approval, a
   * hook or a guardrail changed it. Fields that `bindings` fill are left out. `false` is for changes that the
   * model must not see. Default true.
   */
  tellUpdatedInput?: boolean | undefined;
}

/** Which events a run tells. */
export interface EventOptions {
  /** Whether deltas of one block that arrive in the same network chunk are delivered as one event. Default true. */
  joinDeltas?: boolean | undefined;
  /**
   * Whether the text of an answer is told only when the answer is over and has no tool calls, as one delta a
   * block. Default false: text streams.
   */
  holdText?: boolean | undefined;
  /** Whether each whole message of the transcript is an event. Default false. */
  messages?: boolean | undefined;
  /**
   * Whether `attempt-start` says what each request shares with the one before it, and what changed its beginning.
   * Default false, and true in a run that is recorded.
   */
  prefix?: boolean | undefined;
}

/** How often processes may end with a run that has a `store` before they bring it further. */
export interface RecoveryData {
  /**
   * Processes that ended while a function of a tool ran, which may have been the cause; a positive integer. Losses
   * of the WebAssembly instance count here too. Default 3.
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
   * Whether the vendor makes the model follow the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such
   * a schema must stay within the vendor's subset of JSON Schema. Default false.
   */
  strict?: boolean | undefined;
  /**
   * Characters of a result that the model is shown, a positive integer. Default: the agent's
   * `toolCalls.maxResultChars`.
   */
  maxResultChars?: number | undefined;
  /**
   * Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
   * does. Empty arguments of a tool with required fields are an error in any case. Default true.
   */
  validate?: boolean | undefined;
  /** Whether the tool changes nothing, so that its calls may run beside other read-only calls. Default false. */
  readOnly?: boolean | undefined;
  /**
   * The version of what the tool does, any text that you change with it. A run that goes on in another process
   * judges a call of another version anew, and asks `reconcile` about one that was let through or had begun.
   * Default: none.
   */
  version?: string | undefined;
  /**
   * Milliseconds after which looplet gives a call up and tells the model, a positive integer. Default:
   * `timeouts.toolMs`.
   */
  timeoutMs?: number | undefined;
  /**
   * Calls in one run, a positive integer; further calls get an error result (`call_limit`). Default: any number.
   */
  maxCalls?: number | undefined;
  /**
   * The kind of access that permission modes and the specifiers of rules look at. Default: none, or the kind that
   * a well-known tool name implies.
   */
  access?: ToolAccess | undefined;
  /**
   * The input field that permission rules compare their specifiers with. The mode `acceptEdits` looks at
   * it too: an edit that shows no path there needs a decision. Default: by `access`.
   */
  ruleSubject?: string | undefined;
  /**
   * Whether the model gets the definition only when it has found the tool by a search. Vendors that have such a
   * search (Anthropic, OpenAI) run it; elsewhere the model gets the tools `search_tools` and `call_tool`. Default
   * false.
   */
  deferLoading?: boolean | undefined;
}

/** The options of every model that are plain data. */
export interface ModelData {
  /**
   * Tokens of one answer, a positive integer. Default: where the protocol demands a number 8192, 32,000 for a
   * model that thinks, and 64,000 with an effort above `high`; else the vendor's.
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
  /** Texts at which the answer ends. Default: none. */
  stopSequences?: readonly string[] | undefined;
  /** `{ budgetTokens }` for extended thinking, as Anthropic has it, or the vendor's own object. Default: none. */
  thinking?: { [field: string]: unknown } | undefined;
  /**
   * How much the model thinks, for vendors that support it. A model that is known to refuse it is asked without
   * it, with the warning `effort_not_sent`. Default: the vendor's.
   */
  effort?: Effort | undefined;
  /** Whether the model must call a tool, and which one. Default: the vendor's (`"auto"`). */
  toolChoice?: ToolChoice | undefined;
  /** Whether one answer may have several calls; `false` asks the vendor for one at most. Default: the vendor's. */
  parallelToolCalls?: boolean | undefined;
  /** The schema of the answer's text, which is then JSON. Default: any text. */
  responseFormat?: ResponseFormat | undefined;
  /** Data that the vendor stores with the request, for example `{ user_id }` for Anthropic. Default: none. */
  metadata?: { [field: string]: unknown } | undefined;
  /** Fields that are added to the request body and win over looplet's own. Default: none. */
  body?: { [field: string]: unknown } | undefined;
}

/** The options of a model over HTTP that are plain data. */
export interface HttpModelData {
  /**
   * The URL before the protocol's path, for example your proxy's, without a query or a hash. The version (`/v1`),
   * a slash at the end and the path of the endpoint may be there or not. A relative URL is resolved against the
   * page. A `fetch` of your own can add a query. Default: the vendor's.
   */
  baseUrl?: string | undefined;
  /** Whether the answer is streamed. Default true. */
  stream?: boolean | undefined;
  /**
   * Whether the vendor holds the conversation between requests, so that a request sends only what is new. The
   * vendor keeps the content for a short time; tokens cost the same. Anthropic's message threads; no other
   * protocol has it yet. Default: false.
   * <https://platform.claude.com/docs/en/build-with-claude/message-threads> (2026-11-29)
   */
  serverState?: boolean | undefined;
}

/** The options of `context.compaction` that are plain data. */
export interface CompactionData {
  /**
   * Whether looplet summarises when the window is nearly full, or when the vendor says that it is. `run.compact()`
   * works in any case. Default true.
   */
  auto?: boolean | undefined;
  /** Answers of the model that stay as they are, with their tools' results, a non-negative integer. Default 3. */
  keepLast?: number | undefined;
  /** Further wishes for the summary. Default: none. */
  instructions?: string | undefined;
}

/** Steps against tool calls that repeat. */
export interface RepeatOptions {
  /** The model is told about it, beside the results. Default 3. */
  nudgeAfter?: number | null | undefined;
  /** `onRepeat` is called; without that function the model is told again. Default 6. */
  askAfter?: number | null | undefined;
  /** The run is `stopped` by `repeat`. Default 20. */
  stopAfter?: number | null | undefined;
}

/** Rules of the form `Tool` or `Tool(specifier)`. */
export interface PermissionRules {
  /** Rules whose calls run without a question. A name with a `*` must name its MCP server (`mcp__files__*`). */
  allow?: readonly string[] | undefined;
  /** Rules whose calls need a decision in every mode; `"dontAsk"` denies them. */
  ask?: readonly string[] | undefined;
  /** Rules whose calls never run. A rule without a specifier hides the tool from the model. */
  deny?: readonly string[] | undefined;
  /**
   * The folder of relative paths, from the root on (`/srv/app`). Rules then compare the place that a path names,
   * calls with `access: "read"` below it need no rule, and `"acceptEdits"` takes absolute paths below it. Default:
   * nobody knows it.
   */
  cwd?: string | undefined;
  /** Further folders like `cwd`, which they need. Default: none. */
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
   * How often looplet asks again for an answer that does not fit the schema, a non-negative integer. After the
   * last try the run is `stopped` by `structured_output`. Default 3.
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
   * `PreToolUse` (not with `"defer"`), `PermissionRequest`: the input that the tool gets. The history keeps the
   * model's own, and the model reads the new one beside the result.
   */
  updatedInput?: { [field: string]: unknown } | undefined;
  /** `PostToolUse`: the output that the model, the events and the result get in place of the tool's. */
  updatedOutput?: unknown | undefined;
  /** `PermissionDenied`: tells the model that it may try the call again. */
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

/** Requests an answer that is JSON of a schema. */
export interface ResponseFormat {
  /** The JSON Schema, sent unchanged; each vendor supports a subset of its own. Required. */
  schema: { [field: string]: unknown };
  /** The schema's name, for vendors that need one. Default `"answer"`. */
  name?: string | undefined;
  /** Whether the vendor enforces the schema, for vendors that let you choose. Default true. */
  strict?: boolean | undefined;
}

/** How the vendor caches the prompt's prefix. */
export interface PromptCaching {
  /**
   * The time for which the vendor keeps the marked prefix, for example `"5m"` (Anthropic's default) or `"1h"`.
   * Default: none.
   */
  ttl?: "5m" | "1h" | "24h" | (string & {}) | undefined;
  /** Requests with the same key go to the same cache (OpenAI). Default: none. */
  key?: string | undefined;
}

/** Time limits in milliseconds: non-negative integers, or `null` for no limit. */
export interface Timeouts {
  /** The whole run, which then ends as `stopped` by `time`. Default: none. */
  totalMs?: number | null | undefined;
  /**
   * One iteration, from `prepareIteration` to `onIterationEnd`: the model call with its retries, its tools, and
   * your functions that looplet asks. This clock stands still while a person is asked (`canUseTool`). The run ends
   * as `stopped` by `time`. Default: none.
   */
  iterationMs?: number | null | undefined;
  /**
   * From sending a request to the first byte of its body; ten minutes as in the vendors' own SDKs. A timeout
   * counts as a retryable failure. Default 600,000.
   */
  firstChunkMs?: number | null | undefined;
  /** Between two chunks of a body. A timeout counts as a retryable failure. Default 120,000. */
  chunkMs?: number | null | undefined;
  /** The whole body of a failed response. The failure then tells what has come. Default 10,000. */
  errorBodyMs?: number | null | undefined;
  /** One call of a tool that has no `timeoutMs`. The model gets an error result. Default: none. */
  toolMs?: number | null | undefined;
  /** From a question whether a call may run to its answer. Without an answer the call is denied. Default: none. */
  permissionMs?: number | null | undefined;
}

/** How old answers are shortened. */
export interface Pruning {
  /**
   * Who shortens them. `"vendor"`: the vendor of the model where it can, which does not show the model the inputs
   * and the results of old calls. The history and the reasoning stay whole. `"looplet"`, and where the vendor
   * cannot: looplet cuts thinking and the inputs of calls in the history. Default `"vendor"`.
   */
  by?: PruneBy | undefined;
  /**
   * The number of later answers that make an answer old, a positive integer. A vendor shortens so many answers at
   * a time: it shows the latest answers, at least this number and fewer than twice as many. Default 5.
   */
  afterResponses?: number | undefined;
  /** Characters that stay of each part that looplet cuts, a non-negative integer. Default 100. */
  prefixChars?: number | undefined;
}

/**
 * Retries of a model call after status 408, 409, 429 or 5xx, a network failure or a broken stream.
 *
 * The n-th retry waits `min(maxMs, baseMs × factor^n)` plus up to `jitterMs`. If the server asked for a longer wait,
 * that one counts. While the network refuses the first request of a run, all waits together take 3 s at most, unless
 * `delaysMs` lists them. All numbers are non-negative integers.
 */
export interface RetryPolicy {
  /** Attempts after the first; 0 switches retries off. Default 3. */
  maxRetries?: number | undefined;
  /** The wait that the formula begins with, in milliseconds. Default 1,000. */
  baseMs?: number | undefined;
  /** The factor by which each wait is longer than the one before, a positive integer. Default 2. */
  factor?: number | undefined;
  /**
   * The waits before the first retries in milliseconds, instead of `baseMs` and `factor`. The last one holds for
   * all later retries. Default: none.
   */
  delaysMs?: readonly number[] | undefined;
  /** The upper bound of the random part, in milliseconds. Default 1,000. */
  jitterMs?: number | undefined;
  /** How random the waits are. Default `"added"`. */
  jitter?: Jitter | undefined;
  /**
   * The longest wait in milliseconds, at least `baseMs`. Default 60,000, or `baseMs` if that is more. A
   * `Retry-After` beyond it ends the retries.
   */
  maxMs?: number | undefined;
  /** Whether looplet waits as long as the server asks (`Retry-After`). Default true. */
  respectRetryAfter?: boolean | undefined;
  /** Codes of the failures that are retried. Default: all failures that are `retryable`. */
  on?: readonly FailureCode[] | undefined;
  /**
   * How often looplet makes a whole model call again, a non-negative integer. The next call begins when all
   * attempts of the one before have failed, for whatever reason, and it has attempts of its own. Default 0.
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
       * The input that the tool gets instead of the model's. The history keeps the model's, and the model reads the
       * new one beside the result. Default: none.
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

/** How much the model thinks. The engine passes the word on, and the vendor judges it. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** How the random share enters a wait. */
export type Jitter =
  /** Adds up to `jitterMs` to the formula's wait. */
  | "added"
  /** Picks a wait between 0 and the formula's, which spreads many clients best. */
  | "full";

/** How the run asks again for an answer that broke off. */
export type OnCutOff =
  /** The model writes the whole answer again. */
  | "again"
  /**
   * The model goes on from the text that has come, where the protocol and the model allow it. Otherwise it writes
   * the whole answer again, and the warning `not_continued` says why.
   */
  | "continue";

/** How the run treats an answer without tool calls that the limit of output tokens cut off. */
export type OnOutputLimit =
  /** It is the last answer, with `finishReason: "length"`. */
  | "return"
  /** The model continues where it stopped, within `maxIterations`, and `result.text` is the whole text. */
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

/** The way in which a model is held to a schema. */
export type OutputMode =
  /** Native if the vendor is known to enforce this schema, else by a tool. */
  | "auto"
  /** The vendor enforces the schema on the answer's text. */
  | "native"
  /** The model answers by a call of a tool that looplet adds; events and results do not show it. */
  | "tool";

/** How many waiting messages are taken at once. */
export type QueueMode = "all" | "one";

/** A condition on the round of tools that has just ended. JSON: `{"toolCall":"name"}`, `{"iterations":n}`. */
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
  /** Reads addresses of the web. */
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
  /** All calls run at once, but calls with the same resource key run in order. */
  | "parallel"
  /** One call runs after the other. */
  | "sequential";
