/** The maintenance of a store by a host: resumes runs without a process, and deletes old journals. */
import type { Agent, Clock, Failure, PendingRun, Run, RunResult, Store } from "../../../core/api/index.js";
import { HOST_CLOCK } from "../../../core/kit/journal.js";
import { checkOptions } from "../../../core/kit/check.js";
import { reportUncaught } from "../../../core/kit/runs.js";
import { checkMethods } from "../../check-methods.js";
import { dropEnded } from "./drop-ended.js";

/** The options of {@link supervise}. */
export interface SuperviseOptions<R extends Run = Run> {
  /** The time between two sweeps in milliseconds, a positive integer; `null` sweeps only when you call `sweep`. Default 60,000. */
  everyMs?: number | null | undefined;
  /**
   * The maximum number of retries of a run, a non-negative integer. Default 3. The journal of a run that was
   * `stopped` by `recovery_exhausted` has the count, so several processes and restarts share it. Failures without an
   * end in the journal, as with `store_failed`, are counted by this supervisor.
   */
  maxAttempts?: number | undefined;
  /**
   * The delay before such a run is resumed for the first time, in milliseconds, a non-negative integer. It doubles
   * with each retry. It starts when this supervisor first sees the run. Default 60,000.
   */
  backoffMs?: number | undefined;
  /**
   * The journals to delete: those of runs that ended at least `afterMs` milliseconds ago. A chat is ended between two
   * runs, so use `filter` to decide whether to delete it. Default: none.
   */
  drop?: { readonly afterMs: number; readonly filter?: ((id: string) => boolean) | undefined } | undefined;
  /** Contract: called with the id of each run. Return false to skip the run. Default: all runs. */
  filter?: ((id: string) => boolean) | undefined;
  /** Called with each resumed run. */
  onRun?: ((run: R) => void) | undefined;
  /**
   * Called once for each run that is not retried any more, with the last error of one that has failed. A run with a
   * journal that this agent cannot read (`config_invalid`) is tried once. The run stays in `agent.pending()`.
   */
  onGiveUp?: ((run: PendingRun, error?: Failure) => void) | undefined;
  /** Called with errors of the store in a scheduled sweep. The next sweep retries. Default: `reportError`. */
  onError?: ((error: unknown) => void) | undefined;
  /** The clock of the sweeps and waits. Default: the platform's. */
  clock?: Clock | undefined;
}

/** What {@link supervise} returns. */
export interface Supervisor<R extends Run = Run> {
  /**
   * Sweeps now, and resolves with the resumed runs. If a sweep is in progress, waits for it instead. Rejects if the
   * store does.
   */
  sweep(): Promise<R[]>;
  /** Stops sweeping. Resolves when the current sweep is over. Resumed runs continue. */
  stop(): Promise<void>;
}

/** A run that was stopped by the crashes of its processes or has failed here, as this supervisor has seen it. */
interface Seen {
  /** How often that has happened. */
  readonly stops: number;
  readonly sinceMs: number;
  isGivenUp: boolean;
}

/** The consecutive failures of a run that has no end in its journal. */
interface Failed {
  readonly times: number;
  readonly error: Failure;
}

/** The codes of runs that may fail without an end in their journals. */
const WITHOUT_END: readonly string[] = ["config_invalid", "config_wasm", "store_failed", "bug"];

const TABLE = {
  everyMs: "count64?",
  maxAttempts: "whole",
  backoffMs: "whole64",
  drop: { afterMs: "whole64!", filter: "function" },
  filter: "function",
  onRun: "function",
  onGiveUp: "function",
  onError: "function",
  clock: "object",
} as const;

/**
 * Supervises the runs of an agent in its store, immediately and then at intervals. Runs with an expired lease are
 * resumed immediately. Runs that were stopped because their processes crashed repeatedly are resumed after a delay.
 * Any number of processes may supervise one store: each run is resumed by one of them.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { memoryStore, supervise } from "looplet/stores";
 *
 * const store = memoryStore();
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const supervisor = supervise(store, createAgent({ model, store }));
 * // Later, when the server shuts down:
 * await supervisor.stop();
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function supervise<R extends Run = Run>(
  store: Store,
  agent: Pick<Agent, "pending"> & { resumePending(options?: object): Promise<R[]> },
  options: SuperviseOptions<R> = {},
): Supervisor<R> {
  const {
    everyMs = 60_000,
    maxAttempts = 3,
    backoffMs = 60_000,
    drop,
    filter = () => true,
    onRun,
    onGiveUp,
    onError = reportUncaught,
    clock = HOST_CLOCK,
  } = checkOptions(options, "", TABLE);
  checkMethods(store, "store", "the store of the agent", ["append", "load"]);
  checkMethods(agent, "agent", "an agent", ["pending", "resumePending"]);
  const seen = new Map<string, Seen>();
  const failures = new Map<string, Failed>();
  let sweeping: Promise<R[]> | undefined;
  let timer: unknown;
  let isStopped = false;

  /** Whether a run that was stopped or has failed has to wait, for a time or permanently. */
  const waits = (run: PendingRun, nowMs: number): boolean => {
    const { times = 0, error } = failures.get(run.id) ?? {};
    const stops = run.stops + times;
    let known = seen.get(run.id);
    if (known?.stops !== stops) {
      known = { stops, sinceMs: nowMs, isGivenUp: false };
      seen.set(run.id, known);
    }
    // The same agent cannot read this journal the next time either.
    const isHopeless = error?.code === "config_invalid";
    if (stops <= maxAttempts && !isHopeless) return nowMs - known.sinceMs < backoffMs * 2 ** (stops - 1);
    if (!known.isGivenUp) onGiveUp?.(run, error);
    known.isGivenUp = true;
    return true;
  };
  const watch = async (run: R): Promise<void> => {
    const { outcome, error } = await resultOf(run);
    if (outcome === "failed" && WITHOUT_END.includes(error.code))
      failures.set(run.id, { times: (failures.get(run.id)?.times ?? 0) + 1, error });
    else failures.delete(run.id);
  };
  const sweep = async (): Promise<R[]> => {
    const pending = await agent.pending({ filter });
    const stopped = pending.filter(({ id, stops }) => stops > 0 || failures.has(id));
    const nowMs = clock.now();
    const waiting = new Set(stopped.filter((run) => waits(run, nowMs)).map(({ id }) => id));
    const ids = new Set(stopped.map(({ id }) => id));
    for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
    const isOurs = (id: string): boolean => !isStopped && filter(id) && !waiting.has(id);
    const runs = await agent.resumePending({ filter: isOurs, stopped: true });
    for (const run of runs) {
      void watch(run);
      onRun?.(run);
    }
    if (drop !== undefined) await dropEnded(store, drop.afterMs, drop.filter);
    return runs;
  };
  const sweepOnce = (): Promise<R[]> => (sweeping ??= sweep().finally(() => (sweeping = undefined)));
  const sweepAgain = async (): Promise<void> => {
    await sweepOnce().catch(onError);
    if (isStopped || everyMs === null) return;
    timer = clock.setTimer(() => void sweepAgain(), everyMs);
    // A supervisor must not keep a Node process alive that has nothing else to do.
    (timer as { unref?: () => void } | null | undefined)?.unref?.();
  };
  if (everyMs !== null) void sweepAgain();
  return {
    sweep: sweepOnce,
    async stop() {
      isStopped = true;
      if (timer !== undefined) clock.clearTimer(timer);
      await sweeping?.catch(() => {});
    },
  };
}

/** The result of a run, also of one that rejects with it. */
async function resultOf(run: Run): Promise<RunResult> {
  try {
    return await run.result;
  } catch (error) {
    return (error as { result: RunResult }).result;
  }
}
