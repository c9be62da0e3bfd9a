/** The log of a session: the events of its runs, one run behind the other, for clients that come back. */
import type { RunEvent } from "../../core/api/event.js";
import type { Store } from "../../core/api/run.js";
import type { Batch, Feed, Source } from "../workers/hosting/feed.js";
import type { LogEntry } from "../workers/protocol.js";
import { RunLog } from "../workers/hosting/run-log.js";

/** An event, and the id of its run. */
export interface ToldEvent {
  readonly run: string;
  readonly event: RunEvent;
}

export interface SessionLog extends Source<ToldEvent> {
  /** What the clients get. */
  readonly feed: Feed<ToldEvent>;
  /**
   * The place of a cursor, the beginning without one; undefined if the log has begun anew since.
   *
   * @throws BadRequest for a cursor that no log has given
   */
  placeOf(cursor: string | undefined): number | undefined;
  /** Reads what earlier processes have kept. */
  load(): unknown;
  /** Makes the log this process's. */
  claim(): unknown;
  /** Keeps an event, and then tells it. */
  append(entry: ToldEvent): void;
  /** Resolves when all events so far are kept and told. */
  written(): unknown;
  /** Lets old events go, before a run begins. */
  prune(): void;
}

/** The key of the log of a session in its store. */
export const logOf = (id: string): string => `looplet.events ${id}`;

/** A log in any store. When it has more than `keep` events at the beginning of a run, it begins anew. */
export class StoreLog implements SessionLog {
  readonly #log: RunLog;
  readonly #keep: number;

  constructor(store: Store, key: string, keep: number) {
    this.#log = new RunLog(store, key);
    this.#keep = keep;
  }

  /** The log has no ends of runs. */
  get feed(): Feed<ToldEvent> {
    return this.#log.feed as Feed<LogEntry> as Feed<any>;
  }

  get name(): string {
    return this.#log.name;
  }

  get last(): number {
    return this.#log.last;
  }

  behind(place: number, most: number): ReturnType<SessionLog["behind"]> {
    return this.#log.behind(place, most) as ReturnType<SessionLog["behind"]>;
  }

  placeOf(cursor: string | undefined): number | undefined {
    const place = cursor === undefined ? 0 : this.feed.placeOf(cursor);
    return place !== undefined && place <= this.last ? place : undefined;
  }

  load(): Promise<void> {
    return this.#log.reload();
  }

  claim(): Promise<unknown> {
    return this.#log.claim();
  }

  append(entry: ToldEvent): void {
    void this.#log.append(entry);
  }

  written(): Promise<void> {
    return this.#log.written();
  }

  prune(): void {
    if (this.last > this.#keep) this.#log.restart();
  }
}

/** The batches of a client that has missed events. */
export async function* withGap<E>(batches: AsyncGenerator<Batch<E>>): AsyncGenerator<Batch<E>> {
  yield { hasGap: true, entries: [], place: 0 };
  yield* batches;
}

/** The events of one run, up to its end. */
export async function* upToEnd(
  run: string,
  batches: AsyncGenerator<Batch<ToldEvent>>,
): AsyncGenerator<Batch<ToldEvent>> {
  for await (const batch of batches) {
    const entries = batch.entries.filter(({ entry }) => entry.run === run);
    if (entries.length > 0 || batch.hasGap) yield { ...batch, entries };
    if (entries.at(-1)?.entry.event.type === "finish") return;
  }
}
