/**
 * The journal of a run on its way into the store. Entries that come while the store writes wait for the next write, so
 * that the store gets them in order and few at a time. A write that fails is repeated. After the last failure the
 * entries wait for the next write, and the calls that needed the save are not made. In a store with leases the journal
 * takes the run's lease before its first write, and has it until the run ends.
 */
import { isStoreConflict, StoreConflict } from "../api/errors.js";
import type { JournalEntry } from "../api/index.js";
import { RunLease, WAITS_MS, type Held, type LeaseHost, type Permit } from "./run-lease.js";

/** The reason with which a run ends whose journal another process has taken. */
export const TAKEN = "another process goes on with this run";

/**
 * The end of a run in this process: its journal has the end, or another process may go on with it at once, or this process
 * can do nothing with the journal that it has found.
 */
export type JournalEnd = "ended" | "pending" | "unread";

/** Your store, and the functions that hear of its writes: of errors, the last of each write. */
export interface JournalHost extends LeaseHost {
  /** The time that entries wait for others. */
  readonly flushMs?: number | undefined;
}

export class Journal {
  readonly #host: JournalHost;
  readonly #key: string;
  #entries: JournalEntry[] = [];
  #saves: ((ok: boolean) => void)[] = [];
  #writing: Promise<void> | undefined;
  #error: unknown;
  /** The number of the last entry of this run; undefined before the first. */
  last: number | undefined;
  /** The journal of the chat's run before this one, and its end. */
  #before: Journal | undefined;
  #inherited: Promise<void> | undefined;
  /** Settles with the first save, or with the end of a run that has none. */
  readonly #begun: Promise<void>;
  #begin!: () => void;
  readonly #lease: RunLease;
  #claiming: Promise<boolean> | undefined;
  /** Whether the store has entries of the run, as far as this process knows. */
  #isKept: boolean | undefined;
  #end: Promise<void> | undefined;

  /** `before` is the journal of the chat's run before this one, and `held` the lease if this process has it already. */
  constructor(host: JournalHost, key: string, before?: Journal, held?: Held) {
    this.#host = host;
    this.#key = key;
    this.#before = before;
    this.#lease = new RunLease(host, key, held);
    if (held !== undefined) this.#isKept = true;
    this.#begun = new Promise((resolve) => (this.#begin = resolve));
  }

  /** Takes the lease of a journal that may be there already; false if another process has it. */
  claim(takeOver = false): Promise<boolean> {
    return (this.#claiming = this.#lease.take(takeOver));
  }

  /** Whether a call may begin in this process. */
  permit(): Permit | Promise<Permit> {
    return this.#lease.permit();
  }

  /** Does what costs money, unless another process goes on with the run. */
  asHolder<T>(work: () => T | Promise<T>): T | Promise<T> {
    const permit = this.#lease.permit();
    if (permit === "granted") return work();
    return Promise.resolve(permit).then((permit) => {
      if (permit === "lost") throw new Error(TAKEN);
      return work();
    });
  }

  /** The fence of the lease. */
  get fence(): number | undefined {
    return this.#lease.fence;
  }

  /**
   * Takes the lease for the next run of a chat before it has any effect, if the store has leases. `last` is the number of
   * the journal's last entry as this process knows it: another one has `moved on` if the store has a later one. A store that
   * fails does not stop a chat, as it does not when a run is under way.
   */
  claimAfter(last: number, takeOver = false): Promise<"claimed" | "held" | "moved on"> {
    const claimed = this.#inherit().then(() => this.#claimAfter(last, takeOver));
    this.#claiming = claimed.then((how) => how !== "held");
    return claimed;
  }

  async #claimAfter(last: number, takeOver: boolean): Promise<"claimed" | "held" | "moved on"> {
    const { store, report } = this.#host;
    if (store.lease === undefined) return "claimed";
    try {
      const isOurs = this.#lease.isHeld;
      if (!(await this.#lease.take(takeOver))) return "held";
      if (isOurs) return "claimed";
      // Entries that the store has missed are still to come.
      const expected = (this.#entries[0]?.seq ?? last + 1) - 1;
      return ((await this.load()).at(-1)?.seq ?? 0) === expected ? "claimed" : "moved on";
    } catch (error) {
      report(error);
      return "claimed";
    }
  }

  /** The entries that the store has. */
  async load(): Promise<readonly JournalEntry[]> {
    const entries = (await this.#host.store.load(this.#key)) ?? [];
    this.#isKept = entries.length > 0;
    return entries;
  }

  /** Adds entries that the store does not have, without a save that waits for them. */
  add(entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
  }

  /** Saves entries; `saved` hears whether the store has them. */
  save(entries: readonly JournalEntry[], saved: (ok: boolean) => void): void {
    this.#entries.push(...entries);
    this.last = entries.at(-1)?.seq ?? this.last;
    this.#saves.push(saved);
    this.#writing ??= this.#write();
    this.#begin();
  }

  /** Nothing more comes. The lease is given back when everything is written. */
  end(how: JournalEnd): void {
    this.#end ??= this.#giveBack(how);
    this.#begin();
  }

  /** Resolves when the store has everything so far, the prompt at least, and the lease of a run that has ended. */
  async saved(): Promise<void> {
    await this.#begun;
    await this.#inherit();
    await this.#writing;
    await this.#end;
    // Entries without an error have come since.
    if (this.#entries.length > 0 && this.#error !== undefined) throw this.#error;
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
    // A lease that was not given back goes on with the entries that wait for it.
    this.#lease.takeFrom(before.#lease);
    this.#entries.unshift(...before.#entries);
    this.#error = before.#error;
  }

  async #write(): Promise<void> {
    await this.#inherit();
    while (this.#saves.length > 0) {
      const { flushMs } = this.#host;
      if (flushMs && this.#end === undefined) await this.#wait(flushMs);
      const [saves, entries] = [this.#saves, this.#entries];
      [this.#saves, this.#entries] = [[], []];
      const isSaved = entries.length === 0 || (await this.#append(entries));
      if (!isSaved) this.#entries.unshift(...entries);
      for (const saved of saves) saved(isSaved);
    }
    this.#writing = undefined;
  }

  async #append(entries: readonly JournalEntry[]): Promise<boolean> {
    const { store, report, lost } = this.#host;
    const after = entries[0]!.seq - 1;
    let isRepeated = false;
    for (const waitMs of [...WAITS_MS, undefined]) {
      try {
        if (!(await this.claim())) throw new StoreConflict(`Another process holds the run "${this.#key}".`);
        await store.append(this.#key, entries, after, this.#lease.fence);
        this.#isKept = true;
        this.#error = undefined;
        return true;
      } catch (error) {
        if (isStoreConflict(error)) {
          // A write that failed may have reached the store all the same.
          if (isRepeated && (await this.#has(entries.at(-1)!))) {
            this.#error = undefined;
            return true;
          }
          this.#error = error;
          lost();
          return false;
        }
        this.#error = error;
        isRepeated = true;
        if (waitMs === undefined) report(error);
        else await this.#wait(waitMs);
      }
    }
    return false;
  }

  async #has(last: JournalEntry): Promise<boolean> {
    try {
      if (!(await this.#lease.renew())) return false;
      const kept = await this.#host.store.load(this.#key);
      return kept?.at(-1)?.json === last.json;
    } catch (error) {
      this.#host.report(error);
      return false;
    }
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

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#host.clock.setTimer(resolve, delayMs));
  }
}
