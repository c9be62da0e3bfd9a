/**
 * The lease of a run in this process: taken, renewed while the run is under way, looked at before a call, given back.
 * A process that stood still (a frozen tab, a paused machine) may hold a lease that another one has taken since. So
 * each call compares the time that is left with the clock of this process, and looks into the store when too little
 * is left.
 */
import type { Permit } from "../tools/tool-calls.js";
import type { Clock, Lease, Store } from "../api/index.js";

/**
 * The time of a lease in milliseconds, and that between two renewals. A browser lets the timers of a hidden page fire
 * once a minute.
 */
export const LEASE_MS = 90_000;
const RENEWAL_MS = 30_000;

/** The time of its lease that a call has at least when it begins, in milliseconds. */
export const ENOUGH_MS = 15_000;

/** The time between two later tries to give a lease back, in milliseconds. */
const RELEASE_MS = 5_000;

/** The waits between the tries of a store that fails, in milliseconds. */
export const WAITS_MS = [100, 1000];

/** A lease, and the name under which it was taken. */
export interface HeldLease {
  readonly holder: string;
  readonly lease: Lease;
  /** The time at which it was asked for, by the clock of this process. */
  readonly sinceMs: number;
}

/** The store, and the functions that are called about the lease. */
export interface LeaseHost {
  readonly store: Store;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
  /** Called when this process has lost the run. What waits for the lease waits for this too. */
  readonly lost: () => void | Promise<void>;
}

/** A text for each run of each process, whatever your source of random numbers is. */
export function randomHolder(): string {
  return `${Math.random()} ${Math.random()}`;
}

/** The clock's time; `NaN` from one that fails. */
export function timeOf(clock: Clock): number {
  try {
    return clock.now();
  } catch {
    return NaN;
  }
}

/** Resolves when the clock says that the time is over. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(resolve, delayMs));
}

/** In Node a run that waits for a person must not keep a process alive that has nothing else to do. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void } | null | undefined)?.unref?.();
}

export class RunLease {
  readonly #host: LeaseHost;
  readonly #key: string;
  #holder: string;
  #lease: Lease | undefined;
  /** The time at which it runs out at the earliest, by the clock of this process. */
  #untilMs = 0;
  #renewal: unknown;
  #looking: Promise<Permit> | undefined;
  #isOver = false;

  /** `held` is the lease if this process has it already. */
  constructor(host: LeaseHost, key: string, held?: HeldLease) {
    this.#host = host;
    this.#key = key;
    this.#holder = held?.holder ?? randomHolder();
    if (held !== undefined) this.#hold(held.lease, held.sinceMs);
  }

  get isHeld(): boolean {
    return this.#lease !== undefined;
  }

  get fence(): number | undefined {
    return this.#lease?.fence;
  }

  /** Takes the lease unless this process has it; false if another one has. A store without leases gives it always. */
  async take(takeOver = false): Promise<boolean> {
    const { store, clock } = this.#host;
    if (store.lease === undefined || this.#lease !== undefined) return true;
    const sinceMs = timeOf(clock);
    const lease = await store.lease(this.#key, { holder: this.#holder, ttlMs: LEASE_MS, takeOver });
    if (lease !== undefined) this.#hold(lease, sinceMs);
    return lease !== undefined;
  }

  /**
   * Takes the lease of an earlier run over, with the time that is left of it, and its name: the store may not have
   * learned that the lease was given back.
   */
  takeFrom(before: RunLease): void {
    this.#holder = before.#holder;
    if (before.#lease === undefined) return;
    this.#hold(before.#lease, before.#untilMs - LEASE_MS);
  }

  /** Whether a call may begin: at once if enough of the lease is left, or after a look into the store. */
  permit(): Permit | Promise<Permit> {
    if (this.#lasts) return "granted";
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  /** Asks the store whether this process has the lease still, and prolongs it. */
  async renew(): Promise<boolean> {
    const sinceMs = timeOf(this.#host.clock);
    const isHeld = (await this.#lease?.renew(LEASE_MS)) ?? true;
    if (isHeld) this.#untilMs = sinceMs + LEASE_MS;
    return isHeld;
  }

  /** The run has ended here: nothing is renewed any more. */
  stop(): void {
    this.#isOver = true;
    if (this.#renewal !== undefined) this.#host.clock.clearTimer(this.#renewal);
  }

  /**
   * Releases the lease, in three attempts. Later ones follow until it runs out, because a chat cannot be opened again
   * until then. They are not waited for.
   */
  async giveBack(isPending: boolean): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    const waits = [...WAITS_MS];
    for (;;) {
      try {
        return await lease?.release(isPending);
      } catch (error) {
        const waitMs = waits.shift();
        // A store that did not answer in time has had its tries.
        const isLate = (error as { name?: unknown } | null)?.name === "TimeoutError";
        if (waitMs === undefined || isLate) {
          this.#giveBackLater(lease!, isPending, LEASE_MS / RELEASE_MS);
          throw error;
        }
        await pause(this.#host.clock, waitMs);
      }
    }
  }

  /** The number of tries bounds it with a clock that fires at once. */
  #giveBackLater(lease: Lease, isPending: boolean, tries: number): void {
    if (tries < 1) return;
    const again = (): void => this.#giveBackLater(lease, isPending, tries - 1);
    // Other work continues in a task, even if the user's clock fires within `setTimer`.
    const due = (): void =>
      void setTimeout(() => void (async () => lease.release(isPending))().catch(again), 0);
    unref(this.#host.clock.setTimer(due, RELEASE_MS));
  }

  /** A clock without a valid time is ignored. */
  get #lasts(): boolean {
    return this.#lease === undefined || !(timeOf(this.#host.clock) + ENOUGH_MS > this.#untilMs);
  }

  async #look(): Promise<Permit> {
    const { report, lost, clock } = this.#host;
    for (const waitMs of [...WAITS_MS, undefined]) {
      try {
        if (!(await this.renew())) {
          await lost();
          return "lost";
        }
        // The process may have stood still while the store answered.
        if (this.#lasts) return "granted";
      } catch (error) {
        report(error);
      }
      if (waitMs !== undefined) await pause(clock, waitMs);
    }
    return "unknown";
  }

  #hold(lease: Lease, sinceMs: number): void {
    this.#lease = lease;
    this.#untilMs = sinceMs + LEASE_MS;
    this.#renewLater(lease);
  }

  #renewLater(lease: Lease): void {
    const { clock } = this.#host;
    if (this.#isOver) return;
    let isArming = true;
    const due = (): void => {
      // The user's clock may fire immediately. In a task, other work continues.
      if (isArming) return void setTimeout(due, 0);
      if (!this.#isOver && this.#lease === lease) void this.#renewInTime(lease);
    };
    const timer = (this.#renewal = clock.setTimer(due, RENEWAL_MS));
    isArming = false;
    unref(timer);
  }

  async #renewInTime(lease: Lease): Promise<void> {
    try {
      const isHeld = await this.renew();
      if (this.#isOver) return;
      if (!isHeld) return this.#host.lost();
    } catch (error) {
      this.#host.report(error);
    }
    this.#renewLater(lease);
  }
}
