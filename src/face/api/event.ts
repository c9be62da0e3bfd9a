/**
 * The events of a run, in the order in which they can come:
 *
 * ```text
 * snapshot                                only in an iteration that began later than the run: its first event
 * run-start
 *   agent-start
 *     steer-delivered?                    before the iteration that it leads to
 *     iteration-start                     one model call and its tools
 *       model-change?                     also behind handoff?, before the iteration
 *       compact-start? compact-boundary?    a shorter history; between the two the attempts of a summary. Without
 *                                             one before the iteration, where an input guardrail looks at what is left
 *       attempt-start                     one HTTP request
 *         text-start text-delta* text-end | reasoning-… | tool-input-…     per block, interleaved as the vendor does
 *         usage*
 *         reset? retry                    a failed attempt: reset voids its blocks, the next attempt starts over
 *       tool-call*                        complete calls
 *       question answered
 *       agent-start … agent-finish        of a subagent that answers a call, with its own agentPath
 *       tool-progress* tool-result | tool-error
 *       abort? error?                     what ends the run, if anything but the model does
 *     iteration-finish
 *   agent-finish
 * finish                                  always the last
 * ```
 *
 * A `warning` can come anywhere. A run that ends before the engine has taken it over, or that a trap of the WebAssembly
 * ends, has of the last four only `abort` or `error`, and `finish`.
 */
import type { HookEvent } from "./hook.js";
import type { Message } from "./message.js";
import type { PermissionRequest } from "./permission.js";

/** Where in its run an event stands. */
export interface EventStamp {
  /**
   * Gapless from 1 within a run, for `onEvent` and for iterations that were there from the start; a coalesced delta has
   * the number of the last delta in it.
   */
  seq: number;
  /** The agent in the run's tree; `"root"` is the one that was started. */
  agentPath: string;
  /** The provider's id of the tool call that the agent answers; not there for the root. */
  parentToolCallId?: string;
  /** Model call of the agent, from 1; 0 before the first. */
  iteration: number;
  /** HTTP request of that iteration, from 1; 0 before the first. */
  attempt: number;
  /** Milliseconds since the Unix epoch; only in a run that is traced, and not on deltas. */
  timeMs?: number;
}

/** What happens in a run. `event.type` tells the variants apart. */
export type RunEvent = EventStamp & EventKind;

/** The event of one type, for example `RunEventOf<"tool-result">`. */
export type RunEventOf<T extends EventKind["type"]> = EventStamp & Extract<EventKind, { type: T }>;

type EventKind =
  | { type: "run-start"; model: string; tools: string[] }
  /** `model`: what it asks at first; `vendor`: whose that is. */
  | { type: "agent-start"; model: string; vendor: string }
  | { type: "iteration-start" }
  /** Another agent goes on with the conversation; `to` is the name of its tool. */
  | { type: "handoff"; to: string }
  /** The agent asks this model from its next request on: `run.setModel`, a fallback. */
  /** `error`: why the model before it was given up for one of `fallbackModels`. */
  | { type: "model-change"; model: string; vendor: string; error?: Failure }
  | { type: "attempt-start" }
  | { type: "text-start"; block: number }
  /** New text of a block. Deltas of one block that arrived together come as one. */
  | { type: "text-delta"; block: number; text: string }
  | { type: "text-end"; block: number }
  | { type: "reasoning-start"; block: number }
  | { type: "reasoning-delta"; block: number; text: string }
  | { type: "reasoning-end"; block: number }
  | { type: "tool-input-start"; block: number; toolCallId: string; toolName: string }
  /** More of the arguments' JSON text. */
  | { type: "tool-input-delta"; block: number; text: string }
  | { type: "tool-input-end"; block: number }
  /** A complete call, before anything is done with it. `input` is a string when the model wrote no JSON object. */
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      input: unknown;
      /** SHA-256 of the input's canonical JSON, in hexadecimal; only in a run that is traced. */
      inputHash?: string;
    }
  /** What a tool reported by `progress()` or `yield`. */
  | { type: "tool-progress"; toolCallId: string; toolName: string; data: unknown }
  | { type: "tool-result"; toolCallId: string; toolName: string; output: unknown; durationMs: number }
  | { type: "tool-error"; toolCallId: string; toolName: string; error: ToolFault; durationMs: number }
  /** The host is asked: `permission` whether a call may run (see `Run.answer`); the others looplet answers itself. */
  | {
      type: "question";
      questionId: number;
      question:
        | "permission"
        | "prepare_calls"
        | "check_output"
        | "summarize"
        | "stop_condition"
        | "stop_repeat"
        | HookEvent
        | `${"Input" | "Output" | "Tool"}Guardrail`
        | "PrepareIteration"
        | "IterationEnd"
        | "Limit";
      data?: { toolCallId: string; toolName: string; input: unknown; reason: string } & Pick<
        PermissionRequest,
        "suggestions" | "matchedAskRule"
      >;
    }
  | { type: "answered"; questionId: number }
  /** The model call failed and is tried again after `delayMs`. */
  | { type: "retry"; nextAttempt: number; maxAttempts: number; delayMs: number; error: Failure }
  /** What `blocks` delivered in this attempt is void; the next attempt starts over. */
  | { type: "reset"; blocks: number[] }
  /** The steers and follow-ups with these ids have become part of the transcript. */
  | { type: "steer-delivered"; ids: number[] }
  /** The history is about to be summarised; `preTokens` is an estimate. */
  | { type: "compact-start"; trigger: CompactTrigger; preTokens: number }
  /** The history has been made shorter: requests begin otherwise from here on. Both numbers are estimates. */
  | {
      type: "compact-boundary";
      trigger: CompactTrigger;
      preTokens: number;
      postTokens: number;
      durationMs: number;
    }
  /** `usage` of this model call so far, `total` of the run, this call included. */
  | { type: "usage"; usage: Usage; total: Usage }
  /** The host has raised limits of this agent, asked by `onLimit` or by `run.addBudget`: what counts from now on. */
  | {
      type: "limits";
      limits: {
        maxIterations: number;
        maxTotalTokens: number | null;
        maxCostNanoUsd: number | null;
        maxToolRounds: number | null;
        maxToolCalls: number | null;
        timeLeftMs: number | null;
      };
    }
  /** `error`: the failed model call that it is about, as that of a summary (`compaction_failed`). */
  | { type: "warning"; code: string; message: string; error?: Failure }
  | {
      type: "iteration-finish";
      finishReason: FinishReason | null;
      /** The vendor's own word. */
      rawFinishReason: string | null;
      usage: Usage;
      /** The vendor's id of the answer, where it has one. */
      responseId: string | null;
      /** The model that the vendor says has answered: a name such as `latest` stands for it. */
      responseModel: string | null;
    }
  /** How this agent ended; that of a subagent ends no run. */
  | { type: "agent-finish"; outcome: Outcome }
  | { type: "abort"; reason: string }
  | { type: "error"; error: Failure }
  /**
   * First event of an iteration that began later than the run: `text` of the answer so far, `messages` before it. Its
   * stamp is that of the last event that anybody was shown, its iteration the root's.
   */
  | { type: "snapshot"; text: string; messages: Message[]; usage: Usage; iterations: number }
  /** Always the last event. */
  | { type: "finish"; outcome: Outcome };

/** Why the history is made shorter: `historyCompaction` and `contextBudget` are the last two. */
export type CompactTrigger = "auto" | "manual" | "overflow" | "history" | "budget";

/** Why the model stopped, in neutral words. */
export type FinishReason =
  /** The model finished, or hit a stop sequence. */
  | "stop"
  /** The output limit or the context window cut the answer off. */
  | "length"
  | "tool_calls"
  | "content_filter"
  | "refusal"
  /** The vendor paused a long answer; the run goes on by itself. */
  | "pause"
  | "other";

/** The end of a run in one word. */
export type OutcomeKind =
  /** The model finished. */
  | "completed"
  /** A limit said stop; see `stoppedBy`. */
  | "stopped"
  /** You aborted. */
  | "cancelled"
  /** A provider, the network, the configuration or a defect of looplet; see `error`. */
  | "failed";

/** Which limit stopped a run. */
export type StoppedBy =
  | "iterations"
  | "tokens"
  | "usd"
  | "time"
  | "fatal_tool"
  | "tool_rounds"
  | "tool_calls"
  /** `stopWhen`. */
  | "condition"
  | "repeat"
  /** No answer fitted the schema. */
  | "structured_output"
  /** A hook said `continue: false`, or turned the prompt down. */
  | "hook"
  | "guardrail";

/** How a run ended. `outcome` tells which of the other fields is there. */
export type Outcome =
  | { outcome: "completed"; stoppedBy?: undefined; abortReason?: undefined; error?: undefined }
  | { outcome: "stopped"; stoppedBy: StoppedBy; abortReason?: string | undefined; error?: undefined }
  /** `abortReason`: what `abort(reason)` or the signal gave as the reason; above, what a hook or guardrail gave. */
  | { outcome: "cancelled"; abortReason: string; stoppedBy?: undefined; error?: undefined }
  | { outcome: "failed"; error: Failure; stoppedBy?: undefined; abortReason?: undefined };

/**
 * Tokens of one model call or of a whole run, and their cost. `inputTokens` counts everything the model read, cached or not; the cache
 * counts are parts of it. `reasoningTokens` is a part of `outputTokens`.
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
   * What it cost, as an integer of billionths of a US dollar: what the vendor reports, else what the model's price
   * says; `null` when neither is known.
   */
  costNanoUsd: number | null;
  /** The whole cost is the vendor's own figure. */
  isCostReported: boolean;
}

/** What the model is told when a tool call went wrong. */
export interface ToolFault {
  /**
   * Short and stable: `invalid_json`, `invalid_input`, `unknown_tool`, `tool_failed`, `timeout`, `cut_off`,
   * `cancelled`, `not_run`, or the tool's own.
   */
  code: string;
  /** What happened, without a stack trace. */
  message: string;
  /** What to do instead. */
  hint: string;
  /** `false` ends the run. */
  recoverable: boolean;
}

/** What a provider or the network did to a model call. */
export interface Failure {
  code: FailureCode;
  /** For a person; never contains a key. */
  message: string;
  /** HTTP status. */
  status?: number;
  /** What the server asked to wait, in milliseconds. */
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
  /** The WebAssembly module could not be loaded; the message says why (often a Content-Security-Policy). */
  | "config_wasm"
  /** A guardrail of yours said no; only in the `error` event. */
  | "guardrail"
  /** A defect of looplet. */
  | "bug";
