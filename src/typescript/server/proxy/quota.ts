/** What each user may spend through a proxy. */
import { LoopletError } from "../../core/api/errors.js";
import { checkOptions, checkValue } from "../../core/kit/check.js";
import type { ProxyUsage } from "./usage.js";

/** A call that a user makes. */
export interface ProxyCall {
  /** The owner that `authorize` has returned. */
  readonly owner: string;
  readonly vendor: string;
  readonly model: string;
  /**
   * The most that the call can use, known before it is sent: an estimate of its input, and its bound of output. A
   * call without a bound has an output of 0 here.
   */
  readonly most?: ProxyUsage | undefined;
}

/** Counts what users spend. If you run several processes, keep it in your database. */
export interface Quota {
  /** Whether `end` needs `costUsd`: then each model needs a price, unless its vendor reports the cost. Default false. */
  readonly needsPrice?: boolean | undefined;
  /** Contract: called before each call. If it returns a refusal, the response has status 429. */
  begin(call: ProxyCall): Refusal | PromiseLike<Refusal>;
  /**
   * Contract: called once for each call that `begin` allowed, when it is over. A call that the vendor refused, or
   * that did not reach the vendor, has no usage.
   */
  end(call: ProxyCall, usage: ProxyUsage): void | PromiseLike<void>;
}

type Refusal = QuotaRefusal | null | undefined;

export interface QuotaRefusal {
  /** The words for the user. */
  readonly message: string;
  /** The time after which the call may be tried again, in milliseconds. Default: it is not tried again. */
  readonly retryAfterMs?: number | undefined;
}

/** What every user may spend in a period. */
export interface QuotaLimits {
  /** Tokens of a user in a period, read and written. Default: no limit. */
  maxTokens?: number | undefined;
  /** US dollars of a user in a period. Default: no limit. */
  maxUsd?: number | undefined;
  /** The length of a period, in milliseconds. Default a day. */
  periodMs?: number | undefined;
  /**
   * Concurrent calls of a user. A call starts next to others only if the maximum usage of all of them fits into the
   * limits. A single call may exceed a limit. Default 4.
   */
  maxParallel?: number | undefined;
  /** The time in milliseconds, for tests. Default `Date.now`. */
  now?: (() => number) | undefined;
}

export type MemoryQuotaOptions = QuotaLimits;

/** What a user has spent in a period, and the calls that are under way. */
export interface Account {
  tokens: number;
  usd: number;
  open: number;
  /** The most that the calls under way can use. */
  reservedTokens: number;
  reservedUsd: number;
}

/** What a call reserves. */
export function reservationOf({ most }: ProxyCall): { tokens: number; usd: number } {
  return { tokens: (most?.inputTokens ?? 0) + (most?.outputTokens ?? 0), usd: most?.costUsd ?? 0 };
}

export const LIMITS_TABLE = {
  maxTokens: "count64",
  maxUsd: "number",
  periodMs: "count64",
  maxParallel: "count",
  now: "function",
} as const;

/**
 * The limits with their defaults.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function limitsOf(given: QuotaLimits): {
  [name in keyof QuotaLimits]-?: NonNullable<QuotaLimits[name]>;
} {
  const { maxTokens, maxUsd, periodMs, maxParallel, now } = given;
  if (maxUsd !== undefined && maxUsd <= 0)
    throw new LoopletError("config_invalid_value", "maxUsd", "must be more than 0");
  return {
    maxTokens: maxTokens ?? Infinity,
    maxUsd: maxUsd ?? Infinity,
    periodMs: periodMs ?? 86_400_000,
    maxParallel: maxParallel ?? 4,
    now: now ?? Date.now,
  };
}

/** Why another call of this user is refused. */
export function refusalOf(
  { tokens, usd, open, reservedTokens, reservedUsd }: Account,
  call: ProxyCall,
  { maxTokens, maxUsd, maxParallel }: ReturnType<typeof limitsOf>,
): QuotaRefusal | undefined {
  if (tokens >= maxTokens || usd >= maxUsd) return { message: "Your quota is used up." };
  if (open >= maxParallel)
    return { message: `${maxParallel} calls at once are the most.`, retryAfterMs: 1000 };
  if (open === 0) return undefined;
  const more = reservationOf(call);
  const fits = tokens + reservedTokens + more.tokens <= maxTokens && usd + reservedUsd + more.usd <= maxUsd;
  return fits ? undefined : { message: "Your calls under way can use up your quota.", retryAfterMs: 1000 };
}

/**
 * A quota in the memory of this process, the same for all users. It starts from zero with the process, and each
 * process counts separately.
 *
 * @throws LoopletError `config_…`
 */
export function memoryQuota(options: MemoryQuotaOptions): Quota {
  const limits = limitsOf(checkOptions(options, "", LIMITS_TABLE));
  const { periodMs, now } = limits;
  const accounts = new Map<string, Account & { sinceMs: number }>();
  let mostAccounts = 1000;
  /** Forgets accounts without open calls whose period is over. */
  const prune = (): void => {
    if (accounts.size < mostAccounts) return;
    for (const [owner, { sinceMs, open }] of accounts)
      if (open === 0 && now() - sinceMs >= periodMs) accounts.delete(owner);
    mostAccounts = Math.max(1000, 2 * accounts.size);
  };
  return {
    needsPrice: limits.maxUsd !== Infinity,
    begin(call) {
      const { owner } = call;
      let account = accounts.get(owner);
      if (account === undefined) {
        prune();
        account = { sinceMs: now(), tokens: 0, usd: 0, open: 0, reservedTokens: 0, reservedUsd: 0 };
        accounts.set(owner, account);
      }
      if (now() - account.sinceMs >= periodMs) Object.assign(account, { sinceMs: now(), tokens: 0, usd: 0 });
      const refusal = refusalOf(account, call, limits);
      if (refusal === undefined) take(account, call, 1);
      return refusal;
    },
    end(call, { inputTokens, outputTokens, costUsd }) {
      const account = accounts.get(call.owner)!;
      take(account, call, -1);
      account.tokens += inputTokens + outputTokens;
      account.usd += costUsd ?? 0;
    },
  };
}

/** Adds a call to those under way, or takes it off. */
function take(account: Account, call: ProxyCall, count: 1 | -1): void {
  const { tokens, usd } = reservationOf(call);
  account.open += count;
  // Sums of dollars are not exact: without a call nothing is reserved.
  account.reservedTokens = account.open === 0 ? 0 : account.reservedTokens + count * tokens;
  account.reservedUsd = account.open === 0 ? 0 : account.reservedUsd + count * usd;
}

const METHODS = ["begin", "end"] as const;

/** @throws LoopletError `config_wrong_type` */
export function checkQuota(quota: Quota): void {
  checkValue(quota, "quota", "object");
  for (const method of METHODS) checkValue(quota[method], `quota.${method}`, "function");
}
