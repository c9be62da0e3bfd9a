/**
 * Rows of the table `agent_loop_trace` (`traceTable`), one per model call. The last row of an agent says why the loop
 * ended, and each earlier row why the model stopped. So a row is written when the next iteration starts, or at the
 * end.
 */
import { LoopletError } from "../../core/api/errors.js";
import type {
  Outcome,
  RunEvent,
  RunResult,
  StoppedBy,
  TracedRun,
  Tracer,
  Usage,
} from "../../core/api/index.js";
import { checkOptions, checkValue, describeReturned } from "../../core/kit/check.js";
import { tracing, type Sink } from "./sink.js";

/** A tool call, without its input and its output. */
export interface TracedCall {
  name: string;
  /** SHA-256 of the input's canonical JSON: equal inputs have equal hashes. */
  input_hash: string;
  /** The hash of the input that the tool got in place of the model's, if your code changed it. */
  updated_input_hash?: string;
  /** Running time in milliseconds. */
  ms: number;
  ok: boolean;
}

export interface TraceRow {
  job_id: string;
  /** The iteration, from 0. */
  iter: number;
  /**
   * Why the model stopped: `tool_use`, `end_turn`, `max_tokens`, `pause`, …; `null` if the call had no answer. The
   * last row says why the loop ended: `end_turn`, `max_iters`, `budget`, `user_cancel`, `tool_error_fatal`,
   * `model_error`, or the name of the limit (`time`, `condition`, `repeat`, …).
   */
  stop_reason: string | null;
  tool_calls: TracedCall[];
  /** All input tokens, cached or not. The four counts are `null` if the vendor reported no usage. */
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read: number | null;
  cache_write: number | null;
  /** The end of the iteration, in ISO 8601. */
  ts: string;
  /** The subagent's path in the run's tree; only in the rows of a subagent. */
  agent_path?: string;
  /** The job of the agent that called the subagent. */
  parent_job_id?: string;
  /** The tool call that the subagent answers. */
  parent_call_id?: string;
}

export interface RowOptions {
  /** The job's id, or a function that makes it. Default: a UUID made of the agent's `random`. */
  jobId?: string | ((run: TracedRun) => string) | undefined;
  /** Whether subagents get rows too, each as its own job. Default true. */
  subagents?: boolean | undefined;
}

/** Gives `sink` a row per iteration. */
export function traceRows(sink: Sink<TraceRow>, given: RowOptions = {}): Tracer {
  const open = tracing(sink);
  const options = checkOptions(given, "traceRows", { jobId: "any", subagents: "boolean" });
  if (options.jobId !== undefined && typeof options.jobId !== "function")
    checkValue(options.jobId, "traceRows.jobId", "text");
  return (run) => {
    const { jobId } = options;
    const job: unknown = typeof jobId === "function" ? jobId(run) : (jobId ?? uuid(run.random));
    if (typeof job !== "string") {
      const problem = `needs to return a text, got ${describeReturned(job)}`;
      throw new LoopletError("config_wrong_type", "traceRows.jobId", problem);
    }
    return open((write) => new Rows(run, job, options.subagents !== false, write));
  };
}

interface Job {
  readonly id: string;
  readonly about: Pick<TraceRow, "agent_path" | "parent_job_id" | "parent_call_id">;
  calls: Map<string, TracedCall>;
  pending: TraceRow | undefined;
}

class Rows {
  readonly #run: TracedRun;
  readonly #rootJob: string;
  readonly #withSubagents: boolean;
  readonly #write: (row: TraceRow) => unknown;
  readonly #jobs = new Map<string, Job>();

  constructor(run: TracedRun, rootJob: string, withSubagents: boolean, write: (row: TraceRow) => unknown) {
    this.#run = run;
    this.#rootJob = rootJob;
    this.#withSubagents = withSubagents;
    this.#write = write;
  }

  onEvent(event: RunEvent): unknown {
    if (event.type === "finish") return this.#finish(event.outcome);
    const job = this.#job(event);
    if (job === undefined) return undefined;
    switch (event.type) {
      case "iteration-start":
        job.calls = new Map();
        return this.#flush(job);
      case "tool-call": {
        const { toolCallId, toolName: name, inputHash = "" } = event;
        job.calls.set(toolCallId, { name, input_hash: inputHash, ms: 0, ok: false });
        return undefined;
      }
      case "tool-result":
      case "tool-error": {
        const call = job.calls.get(event.toolCallId);
        if (call === undefined) return undefined;
        call.ms = event.durationMs;
        call.ok = event.type === "tool-result";
        if (event.updatedInputHash !== undefined) call.updated_input_hash = event.updatedInputHash;
        return undefined;
      }
      case "iteration-finish":
        job.pending = {
          job_id: job.id,
          iter: event.iteration - 1,
          stop_reason: MODEL_REASONS[event.finishReason ?? ""] ?? event.finishReason,
          tool_calls: [...job.calls.values()],
          ...tokens(event.usage),
          ts: new Date(event.timeMs ?? this.#run.now()).toISOString(),
          ...job.about,
        };
        return undefined;
      case "agent-finish":
        return event.agentPath === "root" ? undefined : this.#flush(job, event.outcome);
      default:
        // A new event does not compile until it is above, or in this list of events that no row shows.
        event.type satisfies
          | "run-start"
          | "agent-start"
          | "attempt-start"
          | "text-start"
          | "text-delta"
          | "text-end"
          | "reasoning-start"
          | "reasoning-delta"
          | "reasoning-progress"
          | "reasoning-end"
          | "tool-input-start"
          | "tool-input-delta"
          | "tool-input-end"
          | "tool-progress"
          | "question"
          | "answered"
          | "waiting"
          | "retry"
          | "reset"
          | "answer-cut-off"
          | "steer-delivered"
          | "message"
          | "handoff"
          | "model-change"
          | "not-saved"
          | "limits"
          | "compact-start"
          | "compact-boundary"
          | "usage"
          | "warning"
          | "abort"
          | "error"
          | "snapshot";
        return undefined;
    }
  }

  #finish(outcome: Outcome): unknown {
    const written = [...this.#jobs.values()].map((job) => this.#flush(job, outcome));
    return written.find((result) => result !== undefined);
  }

  #flush(job: Job, outcome?: Outcome): unknown {
    const row = job.pending;
    if (row === undefined) return undefined;
    job.pending = undefined;
    if (outcome !== undefined) row.stop_reason = loopReason(outcome, row.stop_reason);
    return this.#write(row);
  }

  #job(event: RunEvent): Job | undefined {
    const { agentPath: path } = event;
    const known = this.#jobs.get(path);
    if (known !== undefined) return known;
    const isRoot = path === "root";
    if (!isRoot && !this.#withSubagents) return undefined;
    const parent = this.#jobs.get(path.slice(0, path.lastIndexOf("/")));
    const { parentToolCallId: call } = event;
    const job: Job = {
      id: isRoot ? this.#rootJob : uuid(this.#run.random),
      about: isRoot
        ? {}
        : {
            agent_path: path,
            parent_job_id: parent?.id ?? this.#rootJob,
            ...(call === undefined ? {} : { parent_call_id: call }),
          },
      calls: new Map(),
      pending: undefined,
    };
    this.#jobs.set(path, job);
    return job;
  }
}

/** The terms of the article that this table comes from. Other reasons keep looplet's name. */
const MODEL_REASONS: { readonly [reason: string]: string } = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
};

const LIMIT_REASONS: { readonly [limit in StoppedBy]?: string } = {
  iterations: "max_iters",
  tool_rounds: "max_iters",
  tokens: "budget",
  usd: "budget",
  fatal_tool: "tool_error_fatal",
};

/** Why a run ended, in the terms of the table's last row. */
export function stopReason(result: RunResult): string {
  const { finishReason } = result;
  return loopReason(result, MODEL_REASONS[finishReason ?? ""] ?? finishReason);
}

/**
 * Why the loop ended. For a final answer that was cut off or refused, it is the model's reason, because it is not an
 * `end_turn`.
 */
function loopReason({ outcome, stoppedBy }: Outcome, model: string | null): string {
  if (outcome === "cancelled") return "user_cancel";
  if (outcome === "failed") return "model_error";
  if (outcome === "stopped") return LIMIT_REASONS[stoppedBy] ?? stoppedBy;
  return model === null || model === "tool_use" ? "end_turn" : model;
}

function tokens(
  usage: Usage | null,
): Pick<TraceRow, "input_tokens" | "output_tokens" | "cache_read" | "cache_write"> {
  return {
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    cache_read: usage?.cacheReadTokens ?? null,
    cache_write: usage?.cacheWriteTokens ?? null,
  };
}

/** A UUID of version 4. */
function uuid(random: () => number): string {
  return "xxxxxxxx-xxxx-4xxx-Nxxx-xxxxxxxxxxxx".replace(/[xN]/g, (place) => {
    const digit = Math.floor(random() * 16);
    return (place === "N" ? (digit & 3) | 8 : digit).toString(16);
  });
}
