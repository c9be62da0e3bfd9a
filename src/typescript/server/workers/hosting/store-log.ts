/**
 * The log of a session in any store, or in memory. An entry is stored before it is sent to a client, so a client that
 * reconnects gets what it missed, even from another process. Entries that arrive during a write are part of the next
 * write. A failing store is reported and never stops a run. If a log is damaged, its complete entries are moved to a
 * new name, so that no client uses a cursor of the old log.
 */
import type { Clock } from "../../../core/api/agent.js";
import { isStoreConflict } from "../../../core/api/errors.js";
import type { Store } from "../../../core/api/run.js";
import { HOST_CLOCK, entriesOf, AppendLog } from "../../../core/kit/journal.js";
import { reportUncaught } from "../../../core/kit/runs.js";
import { isObject } from "../../../core/kit/check.js";
import { parsed, type LogObject } from "../../../extras/stores/logs/shared-log.js";
import { randomName } from "../protocol.js";
import { Feed, type Numbered } from "./feed.js";
import type { SessionEntry, SessionLog } from "./session-log.js";

/** Returns how many of the oldest entries may go. */
export type Prune = (told: readonly SessionEntry[]) => number;

export class StoreLog implements SessionLog {
  readonly feed = new Feed<SessionEntry>(this);
  readonly #store: Store | undefined;
  readonly #key: string;
  readonly #prune: Prune;
  /** The log in the store, and the fence of the process that has claimed it. */
  readonly #log: AppendLog | undefined;
  readonly #lease: { fence?: number | undefined } = {};
  /** The name of the log, and the number of deleted entries. The first entry in the store has both. */
  #name = randomName();
  #gone = 0;
  /** The entries in the form in which they were sent. */
  #told: SessionEntry[] = [];
  #waiting: SessionEntry[] = [];
  /** Entries that were sent, but that the store has not accepted. */
  #missed: readonly SessionEntry[] = [];
  /** The number of the store's last entry. */
  #kept = 0;
  #loaded: Promise<void> | undefined;
  #writing: Promise<void> | undefined;
  #isLost = false;
  /** The number of entries that go before the next write. */
  #going = 0;

  constructor(store: Store | undefined, key: string, prune: Prune = () => 0, clock: Clock = HOST_CLOCK) {
    this.#store = store;
    this.#key = key;
    this.#prune = prune;
    const host = store && { store, clock, report: reportUncaught };
    this.#log = host && new AppendLog(host, key, this.#lease);
  }

  /** No process before this one can write any more. */
  async claim(): Promise<void> {
    await this.#fence();
    this.#isLost = false;
    this.#missed = [];
    await this.load();
  }

  async #fence(): Promise<void> {
    const lease = await this.#store?.lease?.(this.#key, {
      holder: randomName(),
      ttlMs: 1000,
      takeOver: true,
    });
    this.#lease.fence = lease?.fence;
    // Only the fence is needed: no process resumes a log.
    await lease?.release(false);
  }

  /** Reads again what the store has, for clients that follow a run of another process. */
  async load(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#loaded = undefined;
    await this.#load();
    this.feed.wake();
  }

  append(entry: SessionEntry): void {
    this.#waiting.push(entry);
    this.#writing ??= this.#write();
  }

  async written(): Promise<void> {
    // Entries that come while a write is under way go with the next one.
    await this.#writing;
    await this.#writing;
  }

  prune(): void {
    const canForget = this.#store === undefined || this.#store.delete !== undefined;
    this.#going = canForget ? this.#prune(this.#told) : 0;
  }

  get name(): string {
    return this.#name;
  }

  get last(): number {
    return this.#gone + this.#told.length;
  }

  behind(place: number, most: number): Numbered<SessionEntry>[] {
    const from = Math.max(place, this.#gone);
    const found = this.#told.slice(from - this.#gone, from - this.#gone + most);
    return found.map((entry, at) => ({ seq: from + at + 1, entry }));
  }

  placeOf(cursor: string | undefined): number | undefined {
    const place = cursor === undefined ? this.#gone : this.feed.placeOf(cursor);
    return place !== undefined && place <= this.last ? place : undefined;
  }

  #load(): Promise<void> | undefined {
    if (this.#log === undefined) return undefined;
    return (this.#loaded ??= this.#read(this.#log));
  }

  async #read(log: AppendLog): Promise<void> {
    const kept = await log.load();
    const entries = kept.map(({ json }) => parsed(json));
    this.#kept = kept.at(-1)?.seq ?? 0;
    this.#told = entries.filter(isEntry);
    const { log: name, gone = 0 } = entries[0] ?? {};
    const isInOrder = kept.every(({ seq }, at) => seq === at + 1);
    const isWhole = isInOrder && this.#told.length === kept.length - 1;
    if (isWhole && typeof name === "string") [this.#name, this.#gone] = [name, Number(gone)];
    else this.#gone = 0;
  }

  async #write(): Promise<void> {
    // A log that cannot be read is one that does not know any cursor.
    await this.#load()?.catch(reportUncaught);
    if (this.#going > 0) await this.#forget().catch(reportUncaught);
    const entries = this.#waiting;
    this.#waiting = [];
    // An entry that cannot be stored is still sent.
    if (this.#log !== undefined) await this.#keep(this.#log, entries).catch(reportUncaught);
    if (!this.#isLost) this.#told.push(...entries);
    this.feed.wake();
    this.#writing = this.#waiting.length > 0 ? this.#write() : undefined;
  }

  /** Deletes the oldest entries. The others are written again with the next write, and keep their positions. */
  async #forget(): Promise<void> {
    const [going, told] = [this.#going, this.#told];
    this.#going = 0;
    await this.#store?.delete?.(this.#key);
    await this.#fence();
    this.#told = told.slice(going);
    this.#gone += going;
    this.#missed = this.#told;
    this.#kept = 0;
  }

  async #keep(log: AppendLog, entries: readonly SessionEntry[]): Promise<void> {
    const all = [...this.#missed, ...entries];
    const named = this.#kept === 0 ? [{ log: this.#name, gone: this.#gone }, ...all] : all;
    const lines = named.map((entry) => JSON.stringify(entry));
    const isAgain = this.#missed.length > 0;
    this.#missed = all;
    try {
      // A store that has just failed is not waited for again.
      await log.write(entriesOf(this.#kept + 1, lines), isAgain ? [] : undefined);
      this.#missed = [];
      this.#kept += named.length;
    } catch (error) {
      if (!isStoreConflict(error)) throw error;
      if (this.#kept === 0 || (await log.load()).length > 0) return void (this.#isLost = true);
      // Another process has deleted the log, such as that of a chat that was unused for a long time.
      await this.#fence();
      [this.#name, this.#gone, this.#told, this.#missed, this.#kept] = [randomName(), 0, [], [], 0];
      await this.#keep(log, entries);
    }
  }
}

function isEntry(entry: LogObject | undefined): entry is LogObject & SessionEntry {
  return entry !== undefined && (isObject(entry["event"]) || isObject(entry["end"]));
}
