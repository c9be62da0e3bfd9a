/** What each user may spend through a proxy. */
import { LoopletError } from "../../core/api/errors.js";
import { checkOptions, checkValue } from "../../core/options/check.js";
import type { ProxyUsage } from "./usage.js";

/** A call that a user makes. */
export interface ProxyCall {
  /** The owner that `authorize` has returned. */
  readonly owner: string;
  readonly vendor: string;
  readonly model: string;
}

/** Counts what users spend. With several processes it belongs into a database of yours. */
export interface Quota {
  /** Whether `end` needs `costUsd`: then each model needs a price, unless its vendor reports the cost. Default false. */
  readonly needsPrice?: boolean | undefined;
  /** Contract: called before each call. A refusal answers it with status 429. */
  begin(call: ProxyCall): Refusal | PromiseLike<Refusal>;
  /**
   * Contract: called once for each call that `begin` has let through, when it is over. A call that the vendor has
   * refused, or that has not reached it, has used nothing.
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

export interface MemoryQuotaOptions {
  /** Tokens of a user in a period, read and written. Default: no limit. */
  maxTokens?: number | undefined;
  /** US dollars of a user in a period. Default: no limit. */
  maxUsd?: number | undefined;
  /** The length of a period, in milliseconds. Default a day. */
  periodMs?: number | undefined;
  /** Calls of a user at once. A user exceeds a limit by these calls at most. Default 4. */
  maxParallel?: number | undefined;
  /** The time in milliseconds, for tests. Default `Date.now`. */
  now?: (() => number) | undefined;
}

interface Account {
  sinceMs: number;
  tokens: number;
  usd: number;
  open: number;
}

const TABLE = {
  maxTokens: "count64",
  maxUsd: "number",
  periodMs: "count64",
  maxParallel: "count",
  now: "function",
} as const;

/**
 * A quota in the memory of this process, equal for all users. It begins anew with the process, and each process
 * counts for itself.
 *
 * @throws LoopletError `config_…`
 */
export function memoryQuota(options: MemoryQuotaOptions): Quota {
  const {
    maxTokens = Infinity,
    maxUsd = Infinity,
    periodMs = 86_400_000,
    maxParallel = 4,
    now = Date.now,
  } = checkOptions(options, "", TABLE);
  if (maxUsd <= 0) throw new LoopletError("config_invalid_value", "maxUsd", "must be more than 0");
  const accounts = new Map<string, Account>();
  let mostAccounts = 1000;
  /** Forgets accounts that have nothing open and whose period is over. */
  const prune = (): void => {
    if (accounts.size < mostAccounts) return;
    for (const [owner, { sinceMs, open }] of accounts)
      if (open === 0 && now() - sinceMs >= periodMs) accounts.delete(owner);
    mostAccounts = Math.max(1000, 2 * accounts.size);
  };
  return {
    needsPrice: maxUsd !== Infinity,
    begin({ owner }) {
      let account = accounts.get(owner);
      if (account === undefined) {
        prune();
        account = { sinceMs: now(), tokens: 0, usd: 0, open: 0 };
        accounts.set(owner, account);
      }
      if (now() - account.sinceMs >= periodMs) Object.assign(account, { sinceMs: now(), tokens: 0, usd: 0 });
      if (account.tokens >= maxTokens || account.usd >= maxUsd) return { message: "Your quota is used up." };
      if (account.open >= maxParallel)
        return { message: `${maxParallel} calls at once are the most.`, retryAfterMs: 1000 };
      account.open += 1;
      return undefined;
    },
    end({ owner }, { inputTokens, outputTokens, costUsd }) {
      const account = accounts.get(owner)!;
      account.open -= 1;
      account.tokens += inputTokens + outputTokens;
      account.usd += costUsd ?? 0;
    },
  };
}

const METHODS = ["begin", "end"] as const;

/** @throws LoopletError `config_wrong_type` */
export function checkQuota(quota: Quota): void {
  checkValue(quota, "quota", "object");
  for (const method of METHODS) checkValue(quota[method], `quota.${method}`, "function");
}
