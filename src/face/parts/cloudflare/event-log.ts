/**
 * The events of a session as its clients get them: numbered in the object's database before anybody hears them, so
 * that a client that comes back gets exactly what it has missed. The numbers are the cursors of the clients.
 */
import type { RunEvent } from "../../core/api/event.js";
import type { DurableObjectStorageLike } from "../stores/durable-object.js";
import { Rests } from "../stores/long/rests.js";

/** An event with its number in the session. */
export interface LoggedEvent {
  readonly id: number;
  /** The event as JSON. */
  readonly event: string;
}

/** Events that a stream reads at once; each may have some megabytes. */
const AT_ONCE = 16;

/** The key of the log, which is the only one of its tables. */
const LOG = "";

export class EventLog {
  readonly #sql: DurableObjectStorageLike["sql"];
  readonly #rests: Rests;
  readonly #keep: number;
  readonly #listeners = new Set<(event: LoggedEvent) => void>();

  /** `keep` is the number of events that stay. */
  constructor(storage: DurableObjectStorageLike, keep: number) {
    const { sql } = storage;
    this.#sql = sql;
    this.#rests = new Rests(storage, "looplet_event_rests");
    this.#keep = keep;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS looplet_events (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL)",
    );
  }

  /** The number of the last event; 0 before the first. */
  get last(): number {
    const [row] = this.#sql.exec("SELECT MAX(id) AS id FROM looplet_events").toArray();
    return Number(row?.["id"] ?? 0);
  }

  /** The number that the last event has in its run; 0 before the first. */
  get lastInRun(): number {
    const [logged] = this.behind(this.last - 1);
    return logged === undefined ? 0 : (JSON.parse(logged.event) as RunEvent).seq;
  }

  append(event: RunEvent): void {
    const text = JSON.stringify(event);
    const insert = "INSERT INTO looplet_events (event) VALUES (?) RETURNING id";
    const id = this.#rests.keep(LOG, text, (beginning) =>
      Number(this.#sql.exec(insert, beginning).toArray()[0]!["id"]),
    );
    for (const listener of [...this.#listeners]) listener({ id, event: text });
  }

  /** Forgets the oldest events. */
  prune(): void {
    const upto = this.last - this.#keep;
    this.#sql.exec("DELETE FROM looplet_events WHERE id <= ?", upto);
    this.#rests.delete(LOG, upto);
  }

  /**
   * Hands `listener` every event behind a cursor, and each that comes later, until the function that it returns is
   * called. `onGap` is called first if some of them are gone.
   */
  follow(cursor: number, listener: (event: LoggedEvent) => void, onGap: () => void = () => {}): () => void {
    const missed = this.behind(cursor);
    if (this.#hasGap(cursor, missed)) onGap();
    for (const logged of missed) listener(logged);
    return this.#listen(listener);
  }

  /**
   * The events behind a cursor and each that comes later, a few at a time and only as they are asked for: a client
   * that does not read costs nothing. `onGap` is called before events that follow some that are gone. Ends with
   * `signal`.
   */
  async *read(cursor: number, onGap: () => void, signal: AbortSignal): AsyncGenerator<LoggedEvent[]> {
    let wake = (): void => {};
    const stop = this.#listen(() => wake());
    signal.addEventListener("abort", () => wake());
    try {
      for (let at = cursor; !signal.aborted;) {
        const more = new Promise<void>((resolve) => (wake = resolve));
        const events = this.behind(at, AT_ONCE);
        if (this.#hasGap(at, events)) onGap();
        at = events.at(-1)?.id ?? at;
        if (events.length > 0) yield events;
        else await more;
      }
    } finally {
      stop();
    }
  }

  #listen(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #hasGap(cursor: number, [first]: LoggedEvent[]): boolean {
    return first !== undefined && first.id > cursor + 1;
  }

  /** The events behind a cursor, at most so many. */
  behind(cursor: number, most = -1): LoggedEvent[] {
    const query = "SELECT id, event FROM looplet_events WHERE id > ? ORDER BY id LIMIT ?";
    const rows = this.#sql.exec(query, cursor, most).toArray();
    const rests = this.#rests.behind(LOG, cursor, Number(rows.at(-1)?.["id"] ?? cursor));
    return rows.map((row) => {
      const id = Number(row["id"]);
      return { id, event: String(row["event"]) + (rests.get(id) ?? "") };
    });
  }
}
