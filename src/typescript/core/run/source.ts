/** The source of a run: its options, or the journal of a run that resumes. Also the journals that no process holds. */
import { LoopletError } from "../api/errors.js";
import type { Clock, ContentBlock, PendingRun } from "../api/index.js";
import type { JournalEntry, Store } from "../api/run.js";
import type { Failure } from "../api/event.js";
import type { Input } from "../generated/input.js";
import type { RunSource } from "../host/driver.js";
import { journalOf } from "../host/entries.js";
import { chatHeld, held, journalGone, movedOn, notSavedYet, refusal, storeFailed } from "../host/failures.js";
import type { Journal } from "./journal.js";
import type { OnlySummary } from "./prompt.js";
import { endOf } from "./saving/timed-store.js";
import { LEASE_MS, randomHolder, timeOf, type HeldLease } from "./run-lease.js";

/** The run to resume: its id, and its entries if they were read before or no store has them under that id. */
export interface Resumed {
  readonly key: string;
  readonly entries?: readonly JournalEntry[] | undefined;
  readonly takeOver?: boolean | undefined;
  /** The number of its last event that listeners received. */
  readonly afterEvent?: number | undefined;
  /** The lease of a run that was picked up with its entries, and whether it was stopped by deaths. */
  readonly held?: HeldLease & { readonly isStopped: boolean };
}

/** A run that is to begin, with its options as the engine reads them. */
export interface NewRun {
  readonly id: string;
  /** No store can have a run of this id yet. */
  readonly isNew: boolean;
  readonly options: string;
  /** The chat of the run, if it is kept: the key of its journal, and the number of the last entry. */
  readonly chat: { readonly key: string; readonly last: number } | undefined;
}

/** The options of a new run, or the journal of one that resumes; a failure if another process has it or the store fails. */
export async function sourceOf(
  run: NewRun,
  resumed: Resumed | undefined,
  store: Store | undefined,
  journal: Journal | undefined,
): Promise<RunSource | Failure> {
  try {
    return await readSource(run, resumed, store, journal);
  } catch (error) {
    return error instanceof LoopletError ? refusal(error) : storeFailed(run.id, error);
  }
}

async function readSource(
  { id, isNew, options, chat }: NewRun,
  resumed: Resumed | undefined,
  store: Store | undefined,
  journal: Journal | undefined,
): Promise<RunSource | Failure> {
  if (resumed?.held !== undefined) return journalOf(resumed.entries!);
  if (chat !== undefined && journal !== undefined) {
    const entries = resumed?.entries;
    const last = entries === undefined ? chat.last : (entries.at(-1)?.seq ?? 0);
    const claimed = await journal.claimAfter(last, resumed?.takeOver);
    if (claimed === "held") return chatHeld(chat.key);
    if (claimed === "moved on") return movedOn(chat.key);
    if (claimed === "gone") return journalGone(chat.key);
    return entries === undefined ? options : journalOf(entries);
  }
  if (resumed !== undefined && (resumed.entries !== undefined || resumed.key !== id)) {
    // A journal that comes from elsewhere goes into the store first.
    const entries = resumed.entries ?? (await store?.load(resumed.key)) ?? [];
    journal?.add(entries);
    return journalOf(entries);
  }
  if (journal === undefined || (resumed === undefined && isNew)) return options;
  const end = store && resumed?.takeOver !== true ? endOf(store, id) : undefined;
  if (end !== undefined) await end;
  // A run that has saved nothing yet is under way in the process that begins it, which needs the lease.
  const seen = resumed === undefined ? [] : await journal.load();
  if (resumed !== undefined && seen.length === 0) return notSavedYet(id);
  if (!(await journal.claim(resumed?.takeOver))) return held(id);
  // Its holder before may have written until then.
  const entries = [...seen, ...(await journal.load(seen.at(-1)?.seq))];
  return resumed === undefined && entries.length === 0 ? options : journalOf(entries);
}

/** The inputs with which a run starts or resumes. */
export function firstInputs(
  prompt: readonly ContentBlock[] | OnlySummary,
  resumed: Resumed | undefined,
): Input[] {
  if (resumed === undefined) {
    if (!("onlySummary" in prompt)) return [{ prompt: { content: prompt } }];
    return [compacting(prompt.onlySummary, true), { prompt: { content: [] } }];
  }
  const { held, afterEvent } = resumed;
  if (held?.isStopped === false) return ["pickUp"];
  return afterEvent === undefined ? ["resume"] : [{ numberFrom: { event: afterEvent + 1 } }, "resume"];
}

/** The input that has the history summarised. `only`: the run, which has yet to begin, ends with it. */
export function compacting(instructions: string, only = false): Input {
  return { compact: { instructions: instructions === "" ? null : instructions, only } };
}

/** A store with leases. */
type Leasing = Store & Required<Pick<Store, "lease" | "pending">>;

/** How often the run of this journal was stopped by deaths, if that is its end; undefined if it has ended otherwise. */
export type StopsOf = (entries: readonly JournalEntry[]) => number | undefined;

/**
 * The runs that have not ended and that no process holds.
 *
 * @throws LoopletError `config_missing`
 */
export async function pendingRuns(
  given: Store | undefined,
  filter: (id: string) => boolean,
  stopsOf: StopsOf,
): Promise<PendingRun[]> {
  const store = leasing(given);
  const runs: PendingRun[] = [];
  for (const id of await store.pending()) {
    if (!filter(id)) continue;
    const entries = (await answerOf(() => store.load(id))) ?? [];
    // A journal that the store cannot give hides no other run.
    const stops = entries === FAILED ? 0 : entries.length === 0 ? undefined : stopsOf(entries);
    if (stops !== undefined) runs.push({ id, stops });
  }
  return runs;
}

/**
 * Takes the leases of these runs, one after the other. A run that another process takes first is left out, and so is
 * one that was stopped by deaths, unless they are asked for.
 *
 * @throws LoopletError `config_missing`
 */
export async function* takePending(
  given: Store | undefined,
  clock: Clock,
  filter: (id: string) => boolean,
  stopsOf: StopsOf,
  takesStopped: boolean,
): AsyncGenerator<Resumed> {
  const store = leasing(given);
  for (const key of await store.pending()) {
    if (!filter(key)) continue;
    const holder = randomHolder();
    const sinceMs = timeOf(clock);
    const lease = await answerOf(() => store.lease(key, { holder, ttlMs: LEASE_MS }));
    if (lease === undefined) continue;
    const entries = lease === FAILED ? FAILED : ((await answerOf(() => store.load(key))) ?? []);
    if (lease === FAILED || entries === FAILED) {
      // The run fails with the error of the store, and the others resume.
      if (lease !== FAILED) await answerOf(() => lease.release(true));
      yield { key };
      continue;
    }
    const stops = entries.length === 0 ? undefined : stopsOf(entries);
    const isStopped = stops !== undefined && stops > 0;
    // An empty journal: its process was gone before the store had the prompt. Or the run has ended.
    if (stops === undefined) await lease.release(false);
    else if (isStopped && !takesStopped) await lease.release(true);
    else yield { key, entries, held: { holder, lease, sinceMs, isStopped } };
  }
}

const FAILED = Symbol();

/** The answer of a store, or that it has failed. */
async function answerOf<T>(ask: () => T | PromiseLike<T>): Promise<T | typeof FAILED> {
  try {
    return await ask();
  } catch {
    return FAILED;
  }
}

function leasing(store: Store | undefined): Leasing {
  if (store?.lease !== undefined && store.pending !== undefined) return store as Leasing;
  const problem = "needs a store with leases, such as those of looplet/stores";
  throw new LoopletError("config_missing", "store", problem);
}
