/** The rules of leases that the stores share. */
import { StoreConflict } from "../../core/api/errors.js";
import type { LeaseOptions } from "../../core/api/run.js";

/** What a store keeps of the latest lease of a journal. */
export interface LeaseRecord {
  readonly fence: number;
  readonly holder: string;
  /** The store's time at which it runs out; undefined when the run has ended. */
  readonly expiresMs?: number | undefined;
  /** The time from the last renewal to `expiresMs`, in milliseconds. Leases of older versions do not have it. */
  readonly ttlMs?: number | undefined;
  /** The store's time at which the run has ended. */
  readonly endedMs?: number | undefined;
}

/** Whether the lease may be taken. The time of a lease that was given back as pending is over. */
export function isFree(record: LeaseRecord | undefined, nowMs: number, options: LeaseOptions): boolean {
  const { holder, takeOver = false } = options;
  return takeOver || !isHeld(record, nowMs) || record?.holder === holder;
}

/**
 * Whether a process may still be at work. A lease that was renewed in the future is not held: the clock was set back
 * since. The clocks of two machines may differ by the length of the lease.
 */
export function isHeld(record: LeaseRecord | undefined, nowMs: number): boolean {
  const { expiresMs, ttlMs = Infinity } = record ?? {};
  return expiresMs !== undefined && expiresMs > nowMs && expiresMs <= nowMs + 2 * ttlMs;
}

/**
 * Whether the lease has run out or was given back as pending. Its run is pending then, unless its journal says that
 * the run is over (`isRunEnd`): its process has crashed before it gave the lease back.
 */
export function isOut(record: LeaseRecord | undefined, nowMs: number): boolean {
  return record?.expiresMs !== undefined && !isHeld(record, nowMs);
}

/**
 * Whether the run has ended, at least `ageMs` ago. `isOver` says that the lease is out and the run over: it has ended
 * when its lease ran out.
 */
export function hasEnded(
  record: LeaseRecord | undefined,
  nowMs: number,
  ageMs: number,
  isOver: boolean,
): boolean {
  const { expiresMs, endedMs = isOver ? expiresMs : undefined } = record ?? {};
  return endedMs !== undefined && endedMs <= nowMs - ageMs;
}

/** The record with another time, or with its end if there is no time. */
export function withExpiry(record: LeaseRecord, expiresMs: number | undefined, nowMs: number): LeaseRecord {
  const { expiresMs: _, ttlMs: __, ...rest } = record;
  if (expiresMs === undefined) return { ...rest, endedMs: nowMs };
  return { ...rest, expiresMs, ttlMs: ttlOf(expiresMs, nowMs) };
}

/** The length of a lease that runs out at this time; 0 for one that was given back. */
export function ttlOf(expiresMs: number, nowMs: number): number {
  return Math.max(0, expiresMs - nowMs);
}

/**
 * The time of a lease as one number for a column: the end of a run is a time below 0. An end without a time, as older
 * versions wrote it, is `null`.
 */
export function columnOf(expiresMs: number | undefined, nowMs: number): number {
  return expiresMs ?? -Math.max(1, nowMs);
}

/** The times that such a column has. */
export function timesOf(column: number | null): Pick<LeaseRecord, "expiresMs" | "endedMs"> {
  if (column === null) return {};
  return column < 0 ? { endedMs: -column } : { expiresMs: column };
}

/** The record of the lease that is taken after this one. */
export function nextLease(
  record: LeaseRecord | undefined,
  nowMs: number,
  { holder, ttlMs }: LeaseOptions,
): LeaseRecord {
  return { fence: (record?.fence ?? 0) + 1, holder, expiresMs: nowMs + ttlMs, ttlMs };
}

/**
 * Compares the fence of a writer with that of the latest lease.
 *
 * @throws StoreConflict if the writer has one, and it is another
 */
export function checkFence(key: string, latest: number | undefined, fence: number | undefined): void {
  if (fence === undefined || fence === latest) return;
  throw new StoreConflict(
    latest === undefined
      ? `The store has no lease of the journal "${key}" any more: the journal was deleted, or the store was cleared.`
      : `The journal "${key}" has the fence ${latest} and not ${fence}: another process goes on with this run.`,
  );
}

/**
 * The lease in a text of JSON. One that cannot be read has run out, so that somebody looks after the run: the fence
 * keeps its holder from writing.
 */
export function leaseIn(text: string): LeaseRecord & { readonly [field: string]: unknown } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = undefined;
  }
  const lease = (typeof read === "object" && read !== null ? read : { expiresMs: 0 }) as {
    [field: string]: unknown;
  };
  const { fence, expiresMs, ttlMs } = lease;
  return {
    ...lease,
    fence: Number.isSafeInteger(fence) ? (fence as number) : 0,
    holder: String(lease["holder"]),
    expiresMs: expiresMs === undefined ? undefined : typeof expiresMs === "number" ? expiresMs : 0,
    ttlMs: typeof ttlMs === "number" ? ttlMs : undefined,
  };
}
