/**
 * A quota that processes share: a log in a store for each user and period. An entry of the log is a call that begins,
 * or one that is over. The store puts the entries of all processes in one order, so the entries before a call that
 * begins say whether it may.
 */
import { randomUuid } from "../random-uuid.js";
import type { Store } from "../../core/api/index.js";
import { checkOptions } from "../../core/options/check.js";
import { SharedLog, type LogObject } from "../stores/logs/shared-log.js";
import {
  LIMITS_TABLE,
  limitsOf,
  refusalOf,
  type Account,
  type ProxyCall,
  type Quota,
  type QuotaLimits,
  type QuotaRefusal,
} from "./quota.js";

export interface StoreQuotaOptions extends QuotaLimits {
  /** A store that the processes share, such as `sqlStore` or `durableObjectStore`. Required. */
  store: Store;
  /**
   * The time after which a call is over whose process has not said so, because it has ended. Such a call has used
   * nothing. Default 10 minutes, in milliseconds.
   */
  maxCallMs?: number | undefined;
}

const TABLE = { ...LIMITS_TABLE, store: "object!", maxCallMs: "count64" } as const;

/**
 * A quota in a store, equal for all users and all processes. A period begins at a multiple of `periodMs` since 1970:
 * a day is one of UTC. Each call reads the user's entries of the period, and adds two.
 *
 * @throws LoopletError `config_…`
 */
export function storeQuota(options: StoreQuotaOptions): Quota {
  const { store, maxCallMs = 600_000, ...given } = checkOptions(options, "", TABLE);
  const limits = limitsOf(given);
  const { now, periodMs, maxUsd } = limits;
  const open = new WeakMap<ProxyCall, { log: SharedLog; id: string }>();
  return {
    needsPrice: maxUsd !== Infinity,
    async begin(call) {
      const atMs = now();
      const period = Math.floor(atMs / periodMs);
      const key = (number: number): string => `looplet.quota ${JSON.stringify([call.owner, number])}`;
      const log = new SharedLog(store, key(period));
      const id = randomUuid();
      let refusal: QuotaRefusal | undefined;
      const before = await log.add((entries) => {
        refusal = refusalOf(accountOf(entries, atMs - maxCallMs), limits);
        return refusal === undefined ? { begin: id, atMs } : undefined;
      });
      if (refusal !== undefined) return refusal;
      open.set(call, { log, id });
      // A call that has begun in the period before may still end in its log.
      if (before.length === 0) await store.delete?.(key(period - 2));
      return undefined;
    },
    async end(call, { inputTokens, outputTokens, costUsd }) {
      const { log, id } = open.get(call)!;
      await log.add({ end: id, tokens: inputTokens + outputTokens, usd: costUsd ?? 0 });
    },
  };
}

/** Calls that have begun before `sinceMs` and have no end are over. */
function accountOf(entries: readonly LogObject[], sinceMs: number): Account {
  const account: Account = { tokens: 0, usd: 0, open: 0 };
  const ended = new Set(entries.map(({ end }) => end));
  for (const { begin, atMs, tokens, usd } of entries) {
    if (begin !== undefined && !ended.has(begin) && Number(atMs) > sinceMs) account.open += 1;
    account.tokens += typeof tokens === "number" ? tokens : 0;
    account.usd += typeof usd === "number" ? usd : 0;
  }
  return account;
}
