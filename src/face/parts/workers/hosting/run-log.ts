/**
 * The log of a run: its events, and its end. An entry goes into the store before it goes to a page, so that a page
 * that comes back gets what it has missed, from another host too. Entries that come while the store writes go with
 * the next write. A store that fails is reported and never stops the run. The whole entries of a damaged log go on
 * under a new name, so that no page uses a cursor of the old log.
 */
import { isStoreConflict } from "../../../core/api/errors.js";
import type { RunEvent } from "../../../core/api/event.js";
import type { Store } from "../../../core/api/run.js";
import { HOST_CLOCK } from "../../../core/clock.js";
import { entriesOf } from "../../../core/host/entries.js";
import { reportUnheard } from "../../../core/host/failures.js";
import { isObject } from "../../../core/options/check.js";
import { AppendLog } from "../../../core/run/saving/append-log.js";
import { parsed, type LogObject } from "../../stores/logs/shared-log.js";
import { Feed, type Numbered, type Source } from "./feed.js";
import { randomName, type LogEntry } from "../protocol.js";

export class RunLog implements Source<LogEntry> {
  /** What the pages get. */
  readonly feed = new Feed<LogEntry>(this);
  readonly #store: Store | undefined;
  readonly #key: string;
  /** The log in the store, and the fence of the host that has claimed it. */
  readonly #log: AppendLog | undefined;
  readonly #lease: { fence?: number | undefined } = {};
  /** The name of the log, which its first entry keeps, and the entries as they were told. */
  #name = randomName();
  #told: LogEntry[] = [];
  #waiting: LogEntry[] = [];
  /** Entries that were told, and that the store has not taken. */
  #missed: LogEntry[] = [];
  /** The number of the store's last entry. */
  #kept = 0;
  #loaded: Promise<void> | undefined;
  #writing: Promise<void> | undefined;
  #isLost = false;
  #isNew = false;

  constructor(store: Store | undefined, key: string) {
    this.#store = store;
    this.#key = key;
    const host = store && { store, clock: HOST_CLOCK, report: reportUnheard };
    this.#log = host && new AppendLog(host, key, this.#lease);
  }

  /** Whether the run has begun, and whether it has ended. */
  async state(): Promise<"new" | "open" | "over"> {
    await this.#load();
    const last = this.#told.at(-1);
    if (last === undefined) return "new";
    return "event" in last ? "open" : "over";
  }

  /** Makes the log this host's, so that no host before it can write any more, and says as `state` what it has by then. */
  async claim(): Promise<"new" | "open" | "over"> {
    const lease = await this.#store?.lease?.(this.#key, {
      holder: randomName(),
      ttlMs: 1000,
      takeOver: true,
    });
    this.#lease.fence = lease?.fence;
    // The fence alone is needed: no process takes a log up.
    await lease?.release(false);
    this.#loaded = undefined;
    this.#isLost = false;
    this.#missed = [];
    return this.state();
  }

  /** Resolves when pages can read it. */
  append(entry: LogEntry): Promise<void> {
    this.#waiting.push(entry);
    return (this.#writing ??= this.#write());
  }

  /** Resolves when pages can read all entries so far. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Reads again what the store has, for pages that follow a run of another host. */
  async reload(): Promise<void> {
    await this.written();
    this.#loaded = undefined;
    await this.#load();
    this.feed.wake();
  }

  /** Has the next entry begin a log of another name, if the store can forget those so far. Pages get a gap. */
  restart(): void {
    this.#isNew = this.#store === undefined || this.#store.delete !== undefined;
  }

  /** Another host has the run. The entry says so to the pages here, and the log stays that host's. */
  lose(entry: LogEntry): void {
    this.#tell(entry);
    this.#isLost = true;
  }

  get name(): string {
    return this.#name;
  }

  get last(): number {
    return this.#told.length;
  }

  behind(place: number, most: number): readonly Numbered<LogEntry>[] {
    return this.#told.slice(place, place + most).map((entry, at) => ({ seq: place + at + 1, entry }));
  }

  /** The place of a cursor, the beginning without one; undefined if the cursor belongs to another log. */
  async placeOf(cursor: string | undefined): Promise<number | undefined> {
    await this.#load();
    const place = cursor === undefined ? 0 : this.feed.placeOf(cursor);
    return place !== undefined && place <= this.last ? place : undefined;
  }

  /** The number of the last event that a page may have heard. */
  get lastEvent(): number {
    const numbers = this.#told.map((entry) => ("event" in entry ? (entry.event as RunEvent).seq : 0));
    return numbers.reduce((most, seq) => Math.max(most, seq), 0);
  }

  /** Reads what the store has of a run of another host. */
  #load(): Promise<void> | undefined {
    if (this.#log === undefined) return undefined;
    return (this.#loaded ??= this.#read(this.#log));
  }

  async #read(log: AppendLog): Promise<void> {
    const kept = await log.load();
    const entries = kept.map(({ json }) => parsed(json));
    this.#kept = kept.at(-1)?.seq ?? 0;
    this.#told = entries.filter(isLogEntry);
    const name = entries[0]?.["log"];
    const isInOrder = kept.every(({ seq }, at) => seq === at + 1);
    const isWhole = isInOrder && this.#told.length === kept.length - 1;
    if (isWhole && typeof name === "string") this.#name = name;
  }

  async #write(): Promise<void> {
    // A log that cannot be read is one that does not know any cursor.
    await this.#load()?.catch(reportUnheard);
    while (this.#waiting.length > 0) {
      if (this.#isNew) await this.#begin().catch(reportUnheard);
      const entries = this.#waiting;
      this.#waiting = [];
      // An entry that cannot be kept is told all the same.
      if (this.#log !== undefined) await this.#keep(this.#log, entries).catch(reportUnheard);
      for (const entry of entries) this.#tell(entry);
    }
    this.#writing = undefined;
  }

  async #begin(): Promise<void> {
    this.#isNew = false;
    await this.#store?.delete?.(this.#key);
    await this.claim();
    this.#told = [];
    this.#name = randomName();
  }

  #tell(entry: LogEntry): void {
    if (this.#isLost) return;
    this.#told.push(entry);
    this.feed.wake();
  }

  async #keep(log: AppendLog, entries: readonly LogEntry[]): Promise<void> {
    const all = [...this.#missed, ...entries];
    // The name of the log is its first entry.
    const named = this.#kept === 0 ? [{ log: this.#name }, ...all] : all;
    const lines = named.map((entry) => JSON.stringify(entry)).join("\n");
    this.#missed = all;
    try {
      // A store that has just failed is not waited for again.
      await log.write(entriesOf(this.#kept + 1, lines), all.length > entries.length ? [] : undefined);
      this.#missed = [];
      this.#kept += named.length;
    } catch (error) {
      if (!isStoreConflict(error)) throw error;
      this.#isLost = true;
    }
  }
}

function isLogEntry(entry: LogObject | undefined): entry is LogEntry {
  if (entry === undefined) return false;
  return isObject(entry["event"]) || isObject(entry["result"]) || isObject(entry["thrown"]);
}
