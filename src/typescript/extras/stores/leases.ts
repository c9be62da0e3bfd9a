/** The rules of leases that the stores share. */
import { StoreConflict } from "../../core/api/errors.js";
import type { LeaseOptions } from "../../core/api/run.js";

/** What a store saves of the latest lease of a journal. */
export interface LeaseRecord {
  readonly fence: number;
  readonly holder: string;
  /** The store's time at which it expires. Undefined after the run has ended. */
  readonly expiresMs?: number | undefined;
  /** The time from the last renewal to `expiresMs`, in milliseconds. Leases of older versions do not have it. */
  readonly ttlMs?: number | undefined;
  /** The store's time at which the run ended. */
  readonly endedMs?: number | undefined;
}

/** Whether the lease is free. A lease that was released as pending has expired. */
export function isFree(record: LeaseRecord | undefined, nowMs: number, options: LeaseOptions): boolean {
  const { holder, takeOver = false } = options;
  return takeOver || !isHeld(record, nowMs) || record?.holder === holder;
}

/**
 * Whether a process may still be running. A lease that was renewed in the future is not held: the clock was set back
 * since. The clocks of two machines may differ by the length of the lease.
 */
export function isHeld(record: LeaseRecord | undefined, nowMs: number): boolean {
  const { expiresMs, ttlMs = Infinity } = record ?? {};
  return expiresMs !== undefined && expiresMs > nowMs && expiresMs <= nowMs + 2 * ttlMs;
}

/**
 * Whether the lease has expired or was released as pending. Then its run is pending, unless its journal says that the
 * run is over (`isRunEnd`): its process crashed before it released the lease.
 */
export function isOut(record: LeaseRecord | undefined, nowMs: number): boolean {
  return record?.expiresMs !== undefined && !isHeld(record, nowMs);
}

/**
 * Whether the run ended at least `ageMs` ago. `isOver` says that the lease has expired and the run is over: then it
 * ended when its lease expired.
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

/** The record with another expiry, or with its end if there is no expiry. */
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
 * The times of a lease as one number for a column: the end of a run is a negative time. An end without a time, as
 * older versions wrote it, is `null`.
 */
export function columnOf(expiresMs: number | undefined, nowMs: number): number {
  return expiresMs ?? -Math.max(1, nowMs);
}

/** The times in such a column. */
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
      ? `The lease of the journal "${key}" no longer exists: the journal was deleted, or the store was cleared.`
      : `The journal "${key}" has the fence ${latest} and not ${fence}: another process goes on with this run.`,
  );
}

/**
 * The lease in a JSON text. If it cannot be read, it counts as expired, so that another process resumes the run. The
 * fence stops its holder from writing.
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
