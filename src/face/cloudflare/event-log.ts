/**
 * The events of a session as its clients get them: numbered in the object's database before anybody hears them, so that a
 * client that comes back gets exactly what it has missed. The numbers are the cursors of the clients.
 */
import type { RunEvent } from "../api/event.js";
import type { DurableObjectStorageLike } from "../stores/durable-object.js";

/** An event with its number in the session. */
export interface LoggedEvent {
  readonly id: number;
  /** The event as JSON. */
  readonly event: string;
}

export class EventLog {
  readonly #sql: DurableObjectStorageLike["sql"];
  readonly #keep: number;
  readonly #listeners = new Set<(event: LoggedEvent) => void>();

  /** `keep` is the number of events that stay. */
  constructor({ sql }: DurableObjectStorageLike, keep: number) {
    this.#sql = sql;
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
    const [row] = this.#sql.exec("SELECT event FROM looplet_events ORDER BY id DESC LIMIT 1").toArray();
    return row === undefined ? 0 : (JSON.parse(String(row["event"])) as RunEvent).seq;
  }

  append(event: RunEvent): void {
    const text = JSON.stringify(event);
    const [row] = this.#sql
      .exec("INSERT INTO looplet_events (event) VALUES (?) RETURNING id", text)
      .toArray();
    const logged = { id: Number(row!["id"]), event: text };
    for (const listener of [...this.#listeners]) listener(logged);
  }

  /** Forgets the oldest events. */
  prune(): void {
    this.#sql.exec("DELETE FROM looplet_events WHERE id <= ?", this.last - this.#keep);
  }

  /**
   * Hands `listener` every event behind a cursor, and each that comes later, until the function that it returns is called.
   * `onGap` is called first if some of them are gone.
   */
  follow(cursor: number, listener: (event: LoggedEvent) => void, onGap: () => void = () => {}): () => void {
    const rows = this.#sql
      .exec("SELECT id, event FROM looplet_events WHERE id > ? ORDER BY id", cursor)
      .toArray();
    const first = Number(rows[0]?.["id"] ?? cursor + 1);
    if (first > cursor + 1) onGap();
    for (const row of rows) listener({ id: Number(row["id"]), event: String(row["event"]) });
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
