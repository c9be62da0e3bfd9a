/** The source of a run: its options, or the journal of a run that goes on, and the journals that nobody goes on with. */
import { LoopletError } from "../api/errors.js";
import type { JournalEntry, Store } from "../api/run.js";
import type { RunSource } from "../host/driver.js";
import { linesOf } from "../host/entries.js";
import { LEASE_MS, randomHolder, type Held, type Journal } from "./journal.js";

/** The run that is to go on: its id, and its entries if no store has them under that id. */
export interface Resumed {
  readonly key: string;
  readonly entries?: readonly JournalEntry[];
  /** The store has these entries: the run is the last one in the journal of a chat. */
  readonly isKept?: boolean;
  readonly takeOver?: boolean | undefined;
  /** The lease of a run that was picked up, and what the store had of it then. */
  readonly held?: Held & { readonly entries: readonly JournalEntry[] };
}

/**
 * The options of a new run, or the journal of one that goes on; undefined if another process holds the run. `isNew` says
 * that no store can have a run of this id yet.
 */
export async function sourceOf(
  { id, isNew, options }: { readonly id: string; readonly isNew: boolean; readonly options: string },
  resumed: Resumed | undefined,
  store: Store | undefined,
  journal: Journal | undefined,
): Promise<RunSource | undefined> {
  if (resumed?.held !== undefined) return { lines: linesOf(resumed.held.entries) };
  if (resumed?.entries !== undefined && resumed.isKept === true)
    return (await journal?.claim(resumed.takeOver)) === false
      ? undefined
      : { lines: linesOf(resumed.entries) };
  if (resumed !== undefined && (resumed.entries !== undefined || resumed.key !== id)) {
    // A journal that comes from elsewhere goes into the store first.
    const entries = resumed.entries ?? (await store?.load(resumed.key)) ?? [];
    journal?.add(entries);
    return { lines: linesOf(entries) };
  }
  if (journal === undefined || (resumed === undefined && isNew)) return options;
  if (!(await journal.claim(resumed?.takeOver))) return undefined;
  const entries = await journal.load();
  return resumed === undefined && entries.length === 0 ? options : { lines: linesOf(entries) };
}

/**
 * Takes the leases of these runs, one after the other. A run that another process takes first is left out.
 *
 * @throws LoopletError `config_missing`
 */
export async function* pendingRuns(
  store: Store | undefined,
  filter: (id: string) => boolean,
): AsyncGenerator<Resumed> {
  if (store?.lease === undefined || store.pending === undefined) {
    const problem = "needs a store with leases, such as those of looplet/stores";
    throw new LoopletError("config_missing", "store", problem);
  }
  for (const key of await store.pending()) {
    if (!filter(key)) continue;
    const holder = randomHolder();
    const lease = await store.lease(key, { holder, ttlMs: LEASE_MS });
    if (lease === undefined) continue;
    const entries = await store.load(key);
    // Its process was gone before the store had the prompt.
    if (entries === undefined || entries.length === 0) await lease.release(false);
    else yield { key, held: { holder, lease, entries } };
  }
}
