/** The log of a session: the events of its runs and their ends, one run after another, for clients that reconnect. */
import type { RunEvent } from "../../../core/api/event.js";
import type { RunEnd } from "../protocol.js";
import type { Batch, Feed, Numbered, Source } from "./feed.js";

/**
 * An event of a run. The last event and the end of the run are one entry, so that no store has only one of them. For
 * a run that could not start, there is only the end. Changed messages of the chat are a `snapshot` of the run `""`.
 */
export interface SessionEntry {
  readonly run: string;
  readonly event?: RunEvent | undefined;
  readonly end?: RunEnd | undefined;
}

/** An event, and the id of its run. */
export interface ToldEvent {
  readonly run: string;
  readonly event: RunEvent;
}

export interface SessionLog extends Source<SessionEntry> {
  behind(place: number, most: number): Numbered<SessionEntry>[];
  /** What the clients get. */
  readonly feed: Feed<SessionEntry>;
  /**
   * The position of a cursor, or the start without one. Undefined if the log has been restarted since.
   *
   * @throws BadRequest for a cursor that no log has issued
   */
  placeOf(cursor: string | undefined): number | undefined;
  /** Reads what earlier processes have stored. */
  load(): unknown;
  /** Makes the log this process's, and reads it. */
  claim(): unknown;
  /** Stores an entry, and then sends it. */
  append(entry: SessionEntry): void;
  /** Resolves when all entries so far are stored and sent. */
  written(): unknown;
  /** Deletes old entries, before a run starts. */
  prune(): void;
}

/** The key of the log of a session in its store. */
export const logOf = (id: string): string => `looplet.events ${id}`;

/** The number of entries per read when searching for a run. */
const AT_ONCE = 64;

/** The entries of a run. Empty if the log does not contain it. */
export function entriesOf(log: SessionLog, run: string): Numbered<SessionEntry>[] {
  let own: Numbered<SessionEntry>[] = [];
  for (let upto = log.last; upto > 0; upto -= AT_ONCE) {
    const from = Math.max(upto - AT_ONCE, 0);
    const found = log.behind(from, upto - from).filter(({ seq, entry }) => seq <= upto && entry.run === run);
    if (found.length === 0 && own.length > 0) break;
    own = [...found, ...own];
  }
  return own;
}

/** Whether this is the last entry of a run. */
export function isLast({ event, end }: SessionEntry): boolean {
  return end !== undefined || event?.type === "finish";
}

/** The events of a log for its clients: of all runs, or of one up to its end. */
export async function* toldIn(
  batches: AsyncGenerator<Batch<SessionEntry>>,
  run?: string,
): AsyncGenerator<Batch<ToldEvent>> {
  for await (const batch of batches) {
    const own = batch.entries.filter(({ entry }) => run === undefined || entry.run === run);
    const entries = own.flatMap(({ cursor, entry: { run, event } }) =>
      event === undefined ? [] : [{ cursor, entry: { run, event } }],
    );
    if (entries.length > 0 || batch.hasGap) yield { ...batch, entries };
    if (run !== undefined && own.some(({ entry }) => isLast(entry))) return;
  }
}

/** The batches of a client that has missed entries. */
export async function* withGap<E>(batches: AsyncGenerator<Batch<E>>): AsyncGenerator<Batch<E>> {
  yield { hasGap: true, entries: [], place: 0 };
  yield* batches;
}
