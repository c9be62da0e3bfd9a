/** The upkeep of a store by a host: runs that nobody goes on with are taken up, and old journals are deleted. */
import type { Agent, Clock, PendingRun, Run, Store } from "../../../core/api/index.js";
import { HOST_CLOCK } from "../../../core/clock.js";
import { checkOptions } from "../../../core/options/check.js";
import { reportUnheard } from "../../../core/host/failures.js";
import { dropEnded } from "./drop-ended.js";

/** The options of {@link supervise}. */
export interface SuperviseOptions<R extends Run = Run> {
  /** The time between two sweeps in milliseconds, a positive integer; `null` sweeps only when you call `sweep`. Default 60,000. */
  everyMs?: number | null | undefined;
  /**
   * How often a run is taken up that was `stopped` by `recovery_exhausted`, a non-negative integer. Default 3. Its
   * journal counts, so that several processes and restarts share the number.
   */
  maxAttempts?: number | undefined;
  /**
   * The wait before such a run is taken up for the first time, in milliseconds, a non-negative integer. Each next
   * wait is twice as long. It begins when this supervisor first sees the run. Default 60,000.
   */
  backoffMs?: number | undefined;
  /**
   * The journals that are deleted: those of runs that have ended at least `afterMs` milliseconds ago. A chat has
   * ended between two runs, so `filter` decides whether it goes. Default: none.
   */
  drop?: { readonly afterMs: number; readonly filter?: ((id: string) => boolean) | undefined } | undefined;
  /** Contract: called with the id of each run; false leaves it to others. Default: all runs. */
  filter?: ((id: string) => boolean) | undefined;
  /** Hears of each run that was taken up. */
  onRun?: ((run: R) => void) | undefined;
  /** Hears once of each run that has used its attempts up. It stays in `agent.pending()`. */
  onGiveUp?: ((run: PendingRun) => void) | undefined;
  /** Hears of errors of the store in a sweep by the timer; the next sweep tries again. Default: `reportError`. */
  onError?: ((error: unknown) => void) | undefined;
  /** The clock of the sweeps and waits. Default: the platform's. */
  clock?: Clock | undefined;
}

/** What {@link supervise} returns. */
export interface Supervisor<R extends Run = Run> {
  /** Sweeps now, and resolves with the runs that were taken up. A sweep under way is not begun twice. Rejects as the store does. */
  sweep(): Promise<R[]>;
  /** Sweeps no more. Resolves when a sweep under way is over. Runs that were taken up go on. */
  stop(): Promise<void>;
}

/** A run that was stopped by the deaths of its processes, as this supervisor has seen it. */
interface Seen {
  readonly stops: number;
  readonly sinceMs: number;
  isGivenUp: boolean;
}

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
 * Looks after the runs of an agent in its store, at once and then again and again. Runs whose lease is out are taken
 * up at once, and runs that were stopped by the deaths of their processes after a wait. Any number of processes may
 * supervise one store: each run goes to one of them.
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
    onError = reportUnheard,
    clock = HOST_CLOCK,
  } = checkOptions(options, "", TABLE);
  const seen = new Map<string, Seen>();
  let sweeping: Promise<R[]> | undefined;
  let timer: unknown;
  let isStopped = false;

  /** Whether a run that was stopped by deaths has to wait, for a time or for good. */
  const waits = (run: PendingRun, nowMs: number): boolean => {
    let known = seen.get(run.id);
    if (known?.stops !== run.stops) {
      known = { stops: run.stops, sinceMs: nowMs, isGivenUp: false };
      seen.set(run.id, known);
    }
    if (run.stops <= maxAttempts) return nowMs - known.sinceMs < backoffMs * 2 ** (run.stops - 1);
    if (!known.isGivenUp) onGiveUp?.(run);
    known.isGivenUp = true;
    return true;
  };
  const sweep = async (): Promise<R[]> => {
    const stopped = (await agent.pending({ filter })).filter(({ stops }) => stops > 0);
    const nowMs = clock.now();
    const waiting = new Set(stopped.filter((run) => waits(run, nowMs)).map(({ id }) => id));
    const ids = new Set(stopped.map(({ id }) => id));
    for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
    const isOurs = (id: string): boolean => !isStopped && filter(id) && !waiting.has(id);
    const runs = await agent.resumePending({ filter: isOurs, stopped: true });
    for (const run of runs) onRun?.(run);
    if (drop !== undefined) await dropEnded(store, drop.afterMs, drop.filter);
    return runs;
  };
  const sweepOnce = (): Promise<R[]> => (sweeping ??= sweep().finally(() => (sweeping = undefined)));
  const sweepAgain = async (): Promise<void> => {
    await sweepOnce().catch(onError);
    if (isStopped || everyMs === null) return;
    timer = clock.setTimer(() => void sweepAgain(), everyMs);
    // A supervisor must not keep a process of Node alive that has nothing else to do.
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
