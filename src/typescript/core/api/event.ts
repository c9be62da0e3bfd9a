/**
 * The events of a run, in the order in which they can occur:
 *
 * ```text
 * snapshot                                the first event of an iteration that started after the run
 * run-start
 *   answer-cut-off*                       in a process that resumes a run: text that the end of the other one cut off
 *   agent-start
 *     steer-delivered?                    before the iteration that it leads to
 *     iteration-start                     one model call and its tools
 *       model-change?                     also after handoff?, before the iteration
 *       compact-start? compact-boundary?    a shorter history, with the attempts of a summary between the two; without
 *                                             a summary it comes before the iteration, for input guardrails to see
 *       attempt-start                     one HTTP request; with `events.prefix`, what it shares with the one before
 *         text-start text-delta* text-end | reasoning-… | tool-input-…     per block, interleaved as the vendor does;
 *                                             reasoning-progress* in place of deltas that Claude does not send
 *         usage*
 *         reset? retry                    a failed attempt: reset voids its blocks, the next attempt starts over
 *       tool-call*                        complete calls
 *       question answered                 each question is answered or withdrawn once
 *       limits*                           `onLimit` or `run.addBudget` has raised limits
 *       waiting*                          the run waits only for answers to open questions
 *       agent-start … agent-finish        of a subagent that answers a call, with its own agentPath
 *       tool-progress* tool-result | tool-error
 *       abort? error?                     why the run ends, if the model did not end it
 *     iteration-finish
 *   agent-finish
 * finish                                  always the last
 * ```
 *
 * A `warning` can come anywhere, and so can `not-saved`. With `events.messages`, a `message` comes for each whole
 * message: for the user's before `attempt-start`, for the model's when its answer is over. A run that a trap of the
 * WebAssembly ends, or that ends before the engine has taken it over, has no `iteration-finish` and no
 * `agent-finish`: `abort` or `error` comes right before `finish`.
 */
import type { Message } from "./message.js";
import type { OfTools, Tools, ToolTypes, ToolTypesOf } from "./tool.js";
import type { EventKind as EngineEvent, Facts, StreamedBlock, Usage } from "../generated/model.js";

export type {
  CompactTrigger,
  Failure,
  FailureCode,
  FinishReason,
  Outcome,
  OutcomeKind,
  PrefixBreak,
  PrefixCause,
  PrefixPart,
  SharedPrefix,
  StoppedBy,
  StreamedBlock,
  ToolFault,
  Usage,
} from "../generated/model.js";

/** The place of an event in its run. */
export interface EventStamp {
  /**
   * The number of the event: 1, 2, 3 and so on without gaps, for `onEvent` and for iterations that began with the
   * run. A joined delta has the number of the last delta in it.
   */
  seq: number;
  /** The agent in the run's tree; `"root"` is the one that was started. */
  agentPath: string;
  /** The provider's id of the tool call that this subagent answers; absent for the root. */
  parentToolCallId?: string;
  /** The agent's model call, from 1; 0 before the first. */
  iteration: number;
  /** The HTTP request of that iteration, from 1; 0 before the first. */
  attempt: number;
  /** Milliseconds since the Unix epoch; present only in a run that is traced, and never on deltas. */
  timeMs?: number;
}

/**
 * An event of a run. `event.type` tells the variants apart. `T` are the agent's tools: if they are a record,
 * `event.toolName` narrows `input` and `output` to the types of that tool.
 *
 * `input` has the type of the schema, but a model may write anything: a call that does not fit ends in a
 * `tool-error`. Calls of a subagent, and calls of a tool that the model has made up, have names that the type does
 * not list.
 */
export type RunEvent<T extends Tools = Tools> = TypedEvent<ToolTypesOf<T>>;

/** The event of one type, for example `RunEventOf<"tool-result">`. */
export type RunEventOf<K extends EventKind["type"], T extends Tools = Tools> = Extract<
  RunEvent<T>,
  { type: K }
>;

/** An event of a run with tools of these types. */
export type TypedEvent<C extends ToolTypes> = EventStamp & EventKind<C>;

type EngineQuestion = Extract<EngineEvent, { type: "question" }>;

/** A question that you answer. `data` has what the user needs to decide; `data.toolName` narrows `data.input`. */
type QuestionEvent<C extends ToolTypes> =
  | {
      [P in "permission" | "reconcile" | "elicitation"]: Omit<EngineQuestion, "question" | "data"> & {
        question: P;
        data: OfTools<Facts[P], C>;
      };
    }["permission" | "reconcile" | "elicitation"]
  | (Omit<EngineQuestion, "question" | "data"> & {
      question: Exclude<EngineQuestion["question"], "permission" | "reconcile" | "elicitation">;
      data?: undefined;
    });

type EventKind<C extends ToolTypes = ToolTypes> =
  | Exclude<EngineEvent, { toolName: string } | { type: "question" }>
  | QuestionEvent<C>
  | OfTools<Extract<EngineEvent, { toolName: string }>, C>
  /**
   * The first event of an iteration that started after the run. `blocks` are the blocks of the partial answer, `text`
   * is their text, and `messages` is the transcript before it. `seq` and the other place fields are those of the last
   * delivered event; `iteration` is the root's.
   */
  | {
      type: "snapshot";
      text: string;
      blocks: StreamedBlock[];
      messages: Message[];
      usage: Usage | null;
      iterations: number;
    };
