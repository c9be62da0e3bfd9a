/** What a simulated run has done: the facts for invariants and for the story. */
import type { AgentOptions } from "../../../core/api/agent.js";
import type { OutcomeKind, RunEvent } from "../../../core/api/event.js";
import type { RunResult } from "../../../core/api/result.js";
import type { ReceivedRequest } from "../../practice/types.js";
import type { Choice } from "./choices.js";

/** A request to a model. @beta */
export interface SimulatedRequest {
  readonly request: ReceivedRequest;
  /** The process that sent it, from 1. */
  readonly process: number;
  readonly atMs: number;
  /** The agent in the run's tree and its iteration; `"inside"` for an agent that a tool or a program runs itself. */
  readonly agentPath: string;
  readonly iteration: number;
  /** The vendor's words if it refuses the request as illegal. */
  refused?: string;
  /** The tokens of all answers that had arrived whole when it was sent. */
  readonly tokensBefore: number;
  /** The tokens that the answer reports, input and output, if it has arrived whole. */
  tokens?: number;
}

/** The approval of a call at the moment at which it begins. */
export interface Approval {
  /** `asked`: there is no answer. */
  readonly person?: "allow" | "deny" | "asked" | undefined;
  readonly canUseTool?: "allow" | "deny" | undefined;
}

/** A tool call with a function that has started. @beta */
export interface SimulatedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The input as the model wrote it; undefined for a call of an agent that a tool or a program runs itself. */
  readonly input: unknown;
  readonly process: number;
  readonly startedMs: number;
  readonly approval: Approval;
  /** The time at which its function was done; undefined if it was not, or if the process had ended. */
  endedMs?: number;
  /** The JSON text of its output. */
  output?: string;
  isError?: boolean;
}

/** An effect that your code has reported with `world.effect(name, key)`. @beta */
export interface SimulatedEffect {
  readonly name: string;
  readonly key: string;
  readonly process: number;
  readonly atMs: number;
}

/** A process of a run. @beta */
export interface SimulatedProcess {
  readonly number: number;
  readonly startedMs: number;
  /** `going` while it is under way or waits for ever. */
  end: "going" | "ended" | "died";
}

/** A line of the story. */
export interface Happening {
  readonly atMs: number;
  readonly process: number;
  /** `input`: it shows the inputs of calls. */
  readonly kind: "model" | "input" | "act" | "fault" | "process" | "person" | "end";
  readonly say: () => string;
}

/** The record of one simulated run. Times are milliseconds since its beginning. @beta */
export interface SimulatedRun {
  /** The options of the agent; undefined for a program. */
  readonly options: AgentOptions | undefined;
  /** The events of the run in all processes, in their order. */
  readonly events: readonly RunEvent[];
  readonly requests: readonly SimulatedRequest[];
  /** In the order in which they began. */
  readonly calls: readonly SimulatedCall[];
  readonly effects: readonly SimulatedEffect[];
  readonly processes: readonly SimulatedProcess[];
  /** The results of the processes that came to an end, in the order of their processes. */
  readonly results: readonly RunResult[];
  /** What a program has thrown. */
  readonly errors: readonly unknown[];
  /**
   * The outcome of the last result. `waiting`: the user has not answered a question and never will. `stuck`: the run
   * makes no progress. `endless`: it never ends. `over`: a program has ended.
   */
  readonly outcome: OutcomeKind | "waiting" | "stuck" | "endless" | "over";
  /** The time that the run took. */
  readonly elapsedMs: number;
  /** The ids of runs that the store has as pending at the end. */
  readonly pending: readonly string[];
  readonly choices: readonly Choice[];
  readonly happenings: readonly Happening[];
}

/** The id of every run that `simulate` begins. */
export const RUN_ID = "simulated";
