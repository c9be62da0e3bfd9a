/**
 * A log in a store, to which one process at a time writes. Each entry goes behind the last one by its number, so that
 * of two processes that write at the same place, one gets a conflict. A write that fails is tried again. It may
 * have reached the store all the same, so a later conflict is ignored if the log has this process's entries there.
 */
import { isStoreConflict, StoreConflict } from "../../api/errors.js";
import type { JournalEntry } from "../../api/index.js";
import { pause, WAITS_MS, type LeaseHost, type RunLease } from "../run-lease.js";
import { StoreTimeout } from "./timed-store.js";

/** The store of a log, its clock, and its error listener. */
export type LogHost = Pick<LeaseHost, "store" | "clock" | "report">;

/** The lease of a log, which is taken before each write. After its release only the fence is left. */
export type LogLease = Partial<Pick<RunLease, "fence" | "take" | "renew">>;

export class AppendLog {
  readonly #host: LogHost;
  readonly #key: string;
  readonly #lease: LogLease;
  /** A write that failed may have reached the store all the same. */
  #isInDoubt = false;
  /** The error of the store; undefined if it has done all that it was asked for. */
  error: unknown;

  constructor(host: LogHost, key: string, lease: LogLease) {
    this.#host = host;
    this.#key = key;
    this.#lease = lease;
  }

  /** Continues the log where another one of this process has left it. */
  takeFrom(before: AppendLog): void {
    this.error ??= before.error;
    this.#isInDoubt = before.#isInDoubt;
  }

  /** The entries that the store has behind this number. A store may give earlier ones, which are left out. */
  async load(after = 0): Promise<readonly JournalEntry[]> {
    const entries = (await this.asked(this.#host.store.load(this.#key, after))) ?? [];
    return after === 0 ? entries : entries.filter(({ seq }) => seq > after);
  }

  /** Takes note of the error of a store that was asked for something. */
  async asked<T>(answer: T | PromiseLike<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.error = error;
      throw error;
    }
  }

  /**
   * Writes entries behind the one before the first of them. `waitsMs` has the waits between the tries.
   *
   * @throws StoreConflict if another process has written there or has the log, and the store's error of the last try
   */
  async write(entries: readonly JournalEntry[], waitsMs: readonly number[] = WAITS_MS): Promise<void> {
    const { store, clock } = this.#host;
    const waits = [...waitsMs];
    for (let missing = entries; missing.length > 0;) {
      try {
        if ((await this.#lease.take?.()) === false)
          throw new StoreConflict(`Another process holds the run "${this.#key}".`);
        await store.append(this.#key, missing, missing[0]!.seq - 1, this.#lease.fence);
        break;
      } catch (error) {
        this.error = error;
        if (isStoreConflict(error)) {
          const arrived = await this.#arrived(missing);
          if (arrived === 0) throw (this.error = error);
          missing = missing.slice(arrived);
          continue;
        }
        this.#isInDoubt = true;
        const waitMs = waits.shift();
        if (waitMs === undefined || error instanceof StoreTimeout) throw error;
        await pause(clock, waitMs);
      }
    }
    this.#isInDoubt = false;
    this.error = undefined;
  }

  /** The number of these entries that have reached the store by a write that failed. */
  async #arrived(entries: readonly JournalEntry[]): Promise<number> {
    if (!this.#isInDoubt) return 0;
    try {
      if ((await this.#lease.renew?.()) === false) return 0;
      const arrived = await this.load(entries[0]!.seq - 1);
      return arrived.every(({ json }, at) => json === entries[at]?.json) ? arrived.length : 0;
    } catch (error) {
      this.#host.report(error);
      return 0;
    }
  }
}
