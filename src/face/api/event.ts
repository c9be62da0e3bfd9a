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
import type { Message } from "./message.js";
import type { PermissionRequest } from "./permission.js";
import type { EventKind as EngineEvent, Failure, Point, StoppedBy, Usage } from "../generated/model.js";

export type {
  CompactTrigger,
  Failure,
  FailureCode,
  FinishReason,
  OutcomeKind,
  StoppedBy,
  ToolFault,
  Usage,
} from "../generated/model.js";

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

// The engine's events, with what its JSON cannot say: the kinds of questions, limits, and outcomes by their word.
type EventKind =
  | Exclude<EngineEvent, { type: "question" | "limits" | "agent-finish" | "finish" }>
  /** You are asked: `permission` whether a call may run (see `Run.answer`); the others looplet answers itself. */
  | {
      type: "question";
      questionId: number;
      question: Exclude<Point, "classify">;
      data?: { toolCallId: string; toolName: string; input: unknown; reason: string } & Pick<
        PermissionRequest,
        "suggestions" | "matchedAskRule"
      >;
    }
  /** Limits of this agent were raised, by `onLimit` or `run.addBudget`: the limits that count from now on. */
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
  /** How this agent ended; the end of a subagent ends no run. */
  | { type: "agent-finish"; outcome: Outcome }
  /**
   * First event of an iteration that began later than the run: `text` of the answer so far, `messages` before it. Its
   * stamp is that of the last event that anybody was shown, its iteration the root's.
   */
  | { type: "snapshot"; text: string; messages: Message[]; usage: Usage; iterations: number }
  /** Always the last event. */
  | { type: "finish"; outcome: Outcome };

/** How a run ended. `outcome` tells which of the other fields is there. */
export type Outcome =
  | { outcome: "completed"; stoppedBy?: undefined; abortReason?: undefined; error?: undefined }
  | { outcome: "stopped"; stoppedBy: StoppedBy; abortReason?: string | undefined; error?: undefined }
  /** `abortReason`: what `abort(reason)` or the signal gave as the reason; above, what a hook or guardrail gave. */
  | { outcome: "cancelled"; abortReason: string; stoppedBy?: undefined; error?: undefined }
  | { outcome: "failed"; error: Failure; stoppedBy?: undefined; abortReason?: undefined };
