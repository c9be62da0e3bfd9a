/**
 * The events of a session, numbered in the object's database before anybody hears them, so that a client that comes
 * back gets exactly what it has missed. The numbers are the cursors of the clients.
 */
import type { RunEvent } from "../../core/api/event.js";
import type { DurableObjectStorageLike } from "../stores/durable-object.js";
import { RowLogs } from "../stores/logs/row-logs.js";
import { Feed, type Numbered, type Source } from "../workers/feed.js";

/** The key of the log in the object's store. */
const KEY = "looplet.events";

/** A log of events as JSON. */
export class SessionLog implements Source<string> {
  readonly name = "";
  readonly feed = new Feed<string>(this);
  readonly #logs: RowLogs;
  readonly #keep: number;

  /** `keep` is the number of events that stay. */
  constructor(storage: DurableObjectStorageLike, keep: number) {
    this.#logs = new RowLogs(storage);
    this.#keep = keep;
  }

  get last(): number {
    return this.#logs.last(KEY);
  }

  /** The number that the last event has in its run; 0 before the first. */
  get lastInRun(): number {
    const [logged] = this.behind(this.last - 1);
    return logged === undefined ? 0 : (JSON.parse(logged.entry) as RunEvent).seq;
  }

  behind(place: number, most?: number): readonly Numbered<string>[] {
    return this.#logs.behind(KEY, place, most).map(({ seq, json }) => ({ seq, entry: json }));
  }

  /** Keeps an event, and returns it as clients get it. */
  append(event: RunEvent): { readonly cursor: string; readonly entry: string } {
    const [seq, entry] = [this.last + 1, JSON.stringify(event)];
    this.#logs.append(KEY, { seq, json: entry });
    this.feed.wake();
    return { cursor: this.feed.cursorOf(seq), entry };
  }

  /** Forgets the oldest events. The last one stays, because the next one is numbered on behind it. */
  prune(): void {
    this.#logs.delete(KEY, this.last - Math.max(this.#keep, 1));
  }
}
