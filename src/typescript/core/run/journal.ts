/**
 * The journal of a run on its way into the store. Entries that come while the store writes wait for the next write,
 * so that the store gets them in order and few at a time. After a write has failed in all its attempts, the run is
 * notified, the entries wait for the next write, and the calls that needed the save are not made. In a store with
 * leases the journal takes the run's lease before its first write, and has it until the run ends.
 */
import { isStoreConflict, StoreConflict } from "../api/errors.js";
import type { JournalEntry } from "../api/index.js";
import { AppendLog } from "./saving/append-log.js";
import { ANSWER_MS, noteEnd, StoreTimeout, withTimeLimit } from "./saving/timed-store.js";
import { pause, RunLease, type HeldLease, type LeaseHost } from "./run-lease.js";
import type { Permit } from "../tools/tool-calls.js";

/** The reason with which a run ends whose journal another process has taken. */
export const TAKEN_OVER = "another process goes on with this run";

/**
 * The end of a run in this process: its journal has the end, or another process may resume it immediately, or this
 * process can do nothing with the journal that it has found.
 */
export type JournalEnd = "ended" | "pending" | "unread";

/** Whether a chat's next run has its journal: another process holds it or has continued it, or it was deleted. */
export type ClaimResult = "claimed" | "held" | "moved on" | "gone";

/** Entries that the store has not taken, and the number of the first of them. */
export interface Unsaved {
  readonly error: unknown;
  readonly entries: number;
  readonly since: number;
}

/** Your store, and the functions that are called about its writes. Only the last error of a write is reported. */
export interface JournalHost extends LeaseHost {
  /** Called when another process continues the run. */
  readonly lost: () => void;
  /** Called when the store does not have the journal any more, although no other process has it. */
  readonly gone: () => void;
  /** The time that entries wait for others. */
  readonly flushMs?: number | undefined;
  /** Whether each request and each call of a tool waits until the store has what came before. */
  readonly needsStore?: boolean;
  /** Called when a write has failed. Nothing is written until it settles or the run ends. */
  readonly notSaved?: (unsaved: Unsaved) => Promise<void>;
}

export class Journal {
  readonly #host: JournalHost;
  readonly #key: string;
  #entries: JournalEntry[] = [];
  #saves: ((ok: boolean) => void)[] = [];
  /** The saves whose entries are on their way into the store. */
  #underWay: ((ok: boolean) => void)[] | undefined;
  #writing: Promise<void> | undefined;
  /** The number of the last entry of this run; undefined before the first. */
  last: number | undefined;
  /** The journal of the chat's run before this one, and its end. */
  #before: Journal | undefined;
  #inherited: Promise<void> | undefined;
  /** Settles with the first save, or with the end of a run that has none. */
  readonly #begun: Promise<void>;
  #begin!: () => void;
  readonly #lease: RunLease;
  readonly #log: AppendLog;
  #claiming: Promise<boolean> | undefined;
  /** Whether the store has entries of the run, as far as this process knows. */
  #isKept: boolean | undefined;
  /** The number of the last entry that the store is known to have had. */
  #saved = 0;
  /** Whether the store has lost the journal since. */
  #isLost = false;
  #how: JournalEnd | undefined;
  #end: Promise<void> | undefined;
  /** Resolves when the run ends. */
  readonly #over: Promise<void>;
  #finish!: () => void;

  /** `before` is the journal of the chat's run before this one, and `held` the lease if this process has it already. */
  constructor(host: JournalHost, key: string, before?: Journal, held?: HeldLease) {
    this.#host = host;
    this.#key = key;
    this.#before = before;
    this.#lease = new RunLease({ ...host, lost: () => this.#lose() }, key, held);
    this.#log = new AppendLog(host, key, this.#lease);
    if (held !== undefined) this.#isKept = true;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
    this.#over = new Promise((resolve) => (this.#finish = resolve));
  }

  /** Takes the lease of a journal that may be there already; false if another process has it. */
  claim(takeOver = false): Promise<boolean> {
    return (this.#claiming = this.#log.asked(this.#lease.take(takeOver)));
  }

  /** Whether a call may begin in this process. */
  permit(): Permit | Promise<Permit> {
    return this.#host.needsStore === true ? this.#permitLater() : this.#lease.permit();
  }

  /** Waits until the store has saved everything before, or until the run may continue without it. */
  async #permitLater(): Promise<Permit> {
    // The entries of an input may come right behind its effects.
    await this.#begun;
    await Promise.race([this.#writing, this.#over]);
    return this.#how === undefined ? this.#lease.permit() : "lost";
  }

  /** Makes a paid request, unless another process continues the run. */
  asHolder<T>(work: () => T | Promise<T>): T | Promise<T> {
    const permit = this.permit();
    if (permit === "granted") return work();
    return Promise.resolve(permit).then((permit) => {
      if (permit === "lost") throw new Error(TAKEN_OVER);
      return work();
    });
  }

  /** The fence of the lease. */
  get fence(): number | undefined {
    return this.#lease.fence;
  }

  /**
   * Takes the lease for the next run of a chat before it has any effect, if the store has leases. `last` is the
   * number of the journal's last entry as this process knows it: another one has `moved on` if the store has a later
   * one, and the journal is `gone` if the store has none. A store that fails does not stop a chat, nor a run under
   * way.
   */
  claimAfter(last: number, takeOver = false): Promise<ClaimResult> {
    const claimed = this.#inherit().then(() => this.#claimAfter(last, takeOver));
    this.#claiming = claimed.then((how) => how !== "held");
    return claimed;
  }

  async #claimAfter(last: number, takeOver: boolean): Promise<ClaimResult> {
    const { store, report, needsStore = false } = this.#host;
    if (this.#isLost) return "gone";
    if (store.lease === undefined) return "claimed";
    try {
      const isOurs = this.#lease.isHeld;
      if (!(await this.#log.asked(this.#lease.take(takeOver)))) return "held";
      if (isOurs) return "claimed";
      // Entries that the store has missed are still to come.
      const expected = (this.#entries[0]?.seq ?? last + 1) - 1;
      const end = await this.load(Math.max(0, expected - 1));
      if ((end.at(-1)?.seq ?? 0) === expected) return "claimed";
      if (!(await this.#isGone(expected))) return "moved on";
      await this.#lease.giveBack(false);
      return "gone";
    } catch (error) {
      if (needsStore) throw error;
      report(error);
      return "claimed";
    }
  }

  /** The entries that the store has behind this number. */
  async load(after = 0): Promise<readonly JournalEntry[]> {
    const entries = await this.#log.load(after);
    if (after === 0 || entries.length > 0) this.#isKept = entries.length > 0;
    this.#saved = Math.max(this.#saved, entries.at(-1)?.seq ?? 0);
    return entries;
  }

  /** The store refuses this process: another one has the journal, or the journal was deleted. */
  async #lose(): Promise<void> {
    if (await this.#isGone(this.#saved)) this.#host.gone();
    else this.#host.lost();
  }

  /** Whether the store has nothing of the journal, although it has had the entry of this number. */
  async #isGone(saved: number): Promise<boolean> {
    if (saved === 0 || this.#isLost) return this.#isLost;
    try {
      return (this.#isLost = ((await this.#host.store.load(this.#key)) ?? []).length === 0);
    } catch (error) {
      this.#host.report(error);
      return false;
    }
  }

  /** Adds entries that the store does not have, without a save that waits for them. */
  add(entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
  }

  /** Saves entries; `saved` is called with whether the store has them. */
  save(entries: readonly JournalEntry[], saved: (ok: boolean) => void): void {
    this.#entries.push(...entries);
    this.last = entries.at(-1)?.seq ?? this.last;
    this.#saves.push(saved);
    this.#writing ??= this.#write();
    this.#begin();
  }

  /** Nothing more comes. The lease is given back when everything is written. */
  end(how: JournalEnd): void {
    this.#how ??= how;
    if (this.#end === undefined) this.#finishWith(this.#how);
    this.#finish();
    this.#begin();
  }

  /**
   * Resolves when the store has everything so far, the prompt at least, and the lease of a run that has ended.
   * Missing entries are written once more. Rejects with the store's error, or when the time is over.
   */
  saved(): Promise<void> {
    const { clock, flushMs = 0 } = this.#host;
    const limitMs = ANSWER_MS + flushMs;
    return withTimeLimit(clock, limitMs, this.#settled(), () => {
      return (
        this.#log.error ??
        new StoreTimeout(`The run "${this.#key}" was not saved within ${limitMs / 1000} s.`)
      );
    });
  }

  async #settled(): Promise<void> {
    await this.#begun;
    await this.#inherit();
    const isLate = this.#end !== undefined && this.#writing === undefined && this.#entries.length > 0;
    if (!(await this.#attempt())) throw this.#log.error;
    if (isLate) this.#finishWith(this.#how!);
    await this.#end;
  }

  /** Resolves with whether the store has everything so far. Missing entries are written, unless a write is under way. */
  async #attempt(): Promise<boolean> {
    if (this.#entries.length === 0 && this.#writing === undefined) return this.#log.error === undefined;
    return new Promise((resolve) => {
      // Entries that are under way are not in the list.
      ((this.#entries.length === 0 ? this.#underWay : undefined) ?? this.#saves).push(resolve);
      this.#writing ??= this.#write();
    });
  }

  /** All entries, those included that the store does not have. */
  async entries(): Promise<JournalEntry[]> {
    await this.#inherit();
    await this.#writing;
    return [...(await this.load()), ...this.#entries];
  }

  /** Waits for the writes of the run before, and takes over the entries that they have not brought into the store. */
  #inherit(): Promise<void> {
    return (this.#inherited ??= this.#takeOver());
  }

  async #takeOver(): Promise<void> {
    const before = this.#before;
    this.#before = undefined;
    if (before === undefined) return;
    await before.#inherit();
    await before.#writing;
    await before.#end;
    // If the lease was not released, the entries that wait for it are written.
    this.#lease.takeFrom(before.#lease);
    this.#entries.unshift(...before.#entries);
    this.#log.takeFrom(before.#log);
    this.#saved = Math.max(this.#saved, before.#saved);
    this.#isLost = before.#isLost;
  }

  async #write(): Promise<void> {
    await this.#inherit();
    while (this.#saves.length > 0) {
      const { clock, flushMs, report } = this.#host;
      if (flushMs && this.#end === undefined) await pause(clock, flushMs);
      const [saves, entries] = [this.#saves, this.#entries];
      [this.#saves, this.#entries, this.#underWay] = [[], [], saves];
      let isSaved = true;
      const isLeased = this.#lease.isHeld;
      try {
        if (entries.length > 0) {
          if (this.#isLost)
            throw (this.#log.error ??= new StoreConflict(`The journal "${this.#key}" was deleted.`));
          await this.#log.write(entries);
          this.#isKept = true;
          this.#saved = entries.at(-1)!.seq;
        }
      } catch (error) {
        isSaved = false;
        this.#entries.unshift(...entries);
        if (isStoreConflict(error)) {
          // The journal has entries that this run did not see saved. Its lease is not that of an ended run.
          this.#isKept = true;
          await this.#lose();
          // A run that has ended must not hold a lease that only this write has acquired.
          if (this.#end !== undefined && !isLeased) await this.#lease.giveBack(!this.#isLost).catch(report);
        } else await this.#tellNotSaved(error);
      }
      this.#underWay = undefined;
      for (const saved of saves) saved(isSaved);
    }
    this.#writing = undefined;
  }

  async #tellNotSaved(error: unknown): Promise<void> {
    const { notSaved, report } = this.#host;
    report(error);
    if (notSaved === undefined) return;
    const unsaved = { error, entries: this.#entries.length, since: this.#entries[0]!.seq };
    await Promise.race([notSaved(unsaved).catch(report), this.#over]);
  }

  #finishWith(how: JournalEnd): void {
    this.#end = this.#giveBack(how);
    noteEnd(this.#host.store, this.#key, this.#end);
  }

  async #giveBack(how: JournalEnd): Promise<void> {
    const { report } = this.#host;
    try {
      this.#lease.stop();
      await this.#claiming?.catch(() => {});
      await this.#writing;
      const isOver = this.#isKept === false || (how === "ended" && this.#entries.length === 0);
      // A lease that is not given back runs out, and then another process looks after the run.
      if (!isOver && how !== "pending") return;
      await this.#lease.giveBack(!isOver);
    } catch (error) {
      report(error);
    }
  }
}
