/**
 * The events of a session, numbered in the object's database before they are sent. A client that reconnects gets
 * exactly the events that it missed. The numbers are the cursors of the clients.
 */
import { BadRequest } from "../workers/hosting/problems.js";
import type { SessionEntry, SessionLog } from "../workers/hosting/session-log.js";
import type { DurableObjectStorageLike } from "../../extras/stores/durable-object.js";
import { RowLogs } from "../../extras/stores/logs/row-logs.js";
import { Feed, type Numbered } from "../workers/hosting/feed.js";

/** The key of the log in the object's store. */
const KEY = "looplet.events";

export class ObjectLog implements SessionLog {
  readonly name = "";
  readonly feed = new Feed<SessionEntry>(this);
  readonly #logs: RowLogs;
  readonly #keep: number;
  readonly #told: (cursor: string, entry: SessionEntry) => void;

  /** `keep` is the number of events to retain. `told` is called with each event immediately. */
  constructor(
    storage: DurableObjectStorageLike,
    keep: number,
    told: (cursor: string, entry: SessionEntry) => void,
  ) {
    this.#logs = new RowLogs(storage);
    this.#keep = keep;
    this.#told = told;
  }

  get last(): number {
    return this.#logs.last(KEY);
  }

  behind(place: number, most?: number): Numbered<SessionEntry>[] {
    return this.#logs.behind(KEY, place, most).map(({ seq, json }) => ({ seq, entry: JSON.parse(json) }));
  }

  placeOf(cursor = "0"): number {
    const place = this.feed.placeOf(cursor);
    if (place === undefined) throw new BadRequest(`There is no event "${cursor}".`);
    return place;
  }

  append(entry: SessionEntry): void {
    const seq = this.last + 1;
    this.#logs.append(KEY, { seq, json: JSON.stringify(entry) });
    this.feed.wake();
    this.#told(this.feed.cursorOf(seq), entry);
  }

  /** Deletes the oldest events. The last one stays, because the next number follows it. */
  prune(): void {
    this.#logs.delete(KEY, this.last - Math.max(this.#keep, 1));
  }

  // Only this object writes to its database, and an event is stored when `append` returns.
  load(): void {}
  claim(): void {}
  written(): void {}
}
