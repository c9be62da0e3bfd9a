/**
 * A quota that processes share: a log in a store for each user and period. An entry of the log is a call that starts,
 * or one that has ended. The store orders the entries of all processes, so the entries before a call decide whether
 * it is allowed.
 */
import { randomUuid } from "../../extras/random-uuid.js";
import type { Store } from "../../core/api/index.js";
import { checkOptions } from "../../core/kit/check.js";
import { behindOthers, parsed } from "../../extras/stores/logs/shared-log.js";
import {
  LIMITS_TABLE,
  limitsOf,
  refusalOf,
  reservationOf,
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
   * The time after which a call counts as over if its process crashed and never reported its end. Such a call counts
   * with its maximum usage. Default 10 minutes, in milliseconds.
   */
  maxCallMs?: number | undefined;
}

const TABLE = { ...LIMITS_TABLE, store: "object!", maxCallMs: "count64" } as const;

/**
 * A quota in a store, the same for all users and processes. A period starts at a multiple of `periodMs` since 1970,
 * so a day is a UTC day. A call adds two entries, and reads the entries that other processes added since the last
 * call.
 *
 * @throws LoopletError `config_…`
 */
export function storeQuota(options: StoreQuotaOptions): Quota {
  const { store, maxCallMs = 600_000, ...given } = checkOptions(options, "", TABLE);
  const limits = limitsOf(given);
  const { now, periodMs, maxUsd } = limits;
  const open = new WeakMap<ProxyCall, { log: Ledger; id: string }>();
  const ledgers = new Map<string, Ledger>();
  const ledgerOf = (key: string): Ledger => {
    const ledger = ledgers.get(key) ?? new Ledger(store, key);
    ledgers.delete(key);
    ledgers.set(key, ledger);
    const [oldest] = ledgers.keys();
    if (ledgers.size > MAX_LEDGERS) ledgers.delete(oldest!);
    return ledger;
  };
  return {
    needsPrice: maxUsd !== Infinity,
    async begin(call) {
      const atMs = now();
      const period = Math.floor(atMs / periodMs);
      const key = (number: number): string => `looplet.quota ${JSON.stringify([call.owner, number])}`;
      const log = ledgerOf(key(period));
      const id = randomUuid();
      let refusal: QuotaRefusal | undefined;
      const before = await log.add((total) => {
        refusal = refusalOf(accountOf(total, atMs - maxCallMs), call, limits);
        return refusal === undefined ? { begin: id, atMs, ...reservationOf(call) } : undefined;
      });
      if (refusal !== undefined) return refusal;
      open.set(call, { log, id });
      // A call that started in the previous period may still end in that period's log.
      if (before === 0) await store.delete?.(key(period - 2));
      return undefined;
    },
    async end(call, { inputTokens, outputTokens, costUsd }) {
      const { log, id } = open.get(call)!;
      await log.add(() => ({ end: id, tokens: inputTokens + outputTokens, usd: costUsd ?? 0 }));
    },
  };
}

/** The maximum number of users with totals in memory. Others are read again. */
const MAX_LEDGERS = 10_000;

/** A call in progress: when it started, and its maximum usage. */
interface Reserved {
  readonly atMs: number;
  readonly tokens: number;
  readonly usd: number;
}

/** What the entries of a period add up to. */
interface Total {
  tokens: number;
  usd: number;
  /** The calls that have not ended. */
  readonly open: Map<string, Reserved>;
  /** Calls with an end that precedes their start in the order of the store. */
  readonly ended: Set<string>;
}

/** The entries of a user's period, added up as they are read: no entry is read twice. */
class Ledger {
  readonly #store: Store;
  readonly #key: string;
  readonly #total: Total = { tokens: 0, usd: 0, open: new Map(), ended: new Set() };
  #seq = 0;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Adds the entry that `entry` makes from the total, if it makes one. Returns the number of entries before it. */
  add(entry: (total: Total) => object | undefined): Promise<number> {
    return behindOthers(async () => {
      const after = this.#seq;
      for (const { seq, json } of (await this.#store.load(this.#key, after)) ?? []) {
        if (seq <= this.#seq) continue;
        this.#seq = seq;
        this.#take(parsed(json) ?? {});
      }
      const last = this.#seq;
      const added = entry(this.#total);
      if (added !== undefined)
        await this.#store.append(this.#key, [{ seq: last + 1, json: JSON.stringify(added) }], last);
      return last;
    });
  }

  #take({ begin, end, atMs, tokens, usd }: { readonly [name: string]: unknown }): void {
    const total = this.#total;
    const counts = { tokens: countOf(tokens), usd: countOf(usd) };
    if (typeof begin === "string") {
      if (!total.ended.delete(begin)) total.open.set(begin, { atMs: Number(atMs), ...counts });
      return;
    }
    if (typeof end === "string" && !total.open.delete(end)) total.ended.add(end);
    total.tokens += counts.tokens;
    total.usd += counts.usd;
  }
}

function countOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Calls that started before `sinceMs` and have no end count as over, with their maximum usage. */
function accountOf({ tokens, usd, open }: Total, sinceMs: number): Account {
  const account = { tokens, usd, open: 0, reservedTokens: 0, reservedUsd: 0 };
  for (const call of open.values()) {
    const isOver = call.atMs <= sinceMs;
    account.open += isOver ? 0 : 1;
    account[isOver ? "tokens" : "reservedTokens"] += call.tokens;
    account[isOver ? "usd" : "reservedUsd"] += call.usd;
  }
  return account;
}
