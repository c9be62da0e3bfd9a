/** The bound of what a comparison may ask live. */
import { LoopletError } from "../../core/api/errors.js";
import type { LimitOptions, Usage } from "../../core/api/index.js";
import { checkOptions } from "../../core/kit/check.js";
import type { CompareReport } from "./report.js";

/** The bound of a comparison that asks models. At least one is required; the first that is reached ends it. @beta */
export interface LiveOptions {
  /** US dollars. The price of each model has to be known, as for `limits.maxUsd`. */
  maxUsd?: number | undefined;
  /** Input plus output tokens. */
  maxTokens?: number | undefined;
  /** Requests to models, retries included. */
  maxRequests?: number | undefined;
}

export class Budget {
  readonly #bounds: LiveOptions;
  #requests = 0;
  #tokens = 0;
  #usd = 0;

  /** @throws LoopletError `config_…` */
  constructor(given: LiveOptions) {
    this.#bounds = checkOptions(given, "live", {
      maxUsd: "number",
      maxTokens: "count64",
      maxRequests: "count64",
    });
    const { maxUsd, maxTokens, maxRequests } = this.#bounds;
    if (maxUsd !== undefined && maxUsd <= 0)
      throw new LoopletError("config_invalid_value", "live.maxUsd", `needs a positive number, got ${maxUsd}`);
    if (maxUsd === undefined && maxTokens === undefined && maxRequests === undefined)
      throw new LoopletError("config_missing", "live", "needs a bound: maxUsd, maxTokens or maxRequests");
  }

  get spent(): CompareReport["spent"] {
    return { requests: this.#requests, tokens: this.#tokens, usd: this.#usd };
  }

  get isSpent(): boolean {
    const { maxUsd = Infinity, maxTokens = Infinity, maxRequests = Infinity } = this.#bounds;
    return this.#usd >= maxUsd || this.#tokens >= maxTokens || this.#requests >= maxRequests;
  }

  /** Counts a request. Returns false if none is left. */
  request(): boolean {
    if (this.#requests >= (this.#bounds.maxRequests ?? Infinity)) return false;
    this.#requests++;
    return true;
  }

  /** Counts what a run has used. */
  take(usage: Usage | null, usd: number): void {
    this.#tokens += usage === null ? 0 : usage.inputTokens + usage.outputTokens;
    this.#usd += usd;
  }

  /** The limits of a run: its own, and what is left. */
  limits(own: LimitOptions | undefined): LimitOptions {
    const { maxUsd, maxTokens } = this.#bounds;
    const usd = least(own?.maxUsd, maxUsd === undefined ? undefined : maxUsd - this.#usd);
    const tokens = least(own?.maxTotalTokens, maxTokens === undefined ? undefined : maxTokens - this.#tokens);
    return {
      ...own,
      ...(usd === undefined ? {} : { maxUsd: usd }),
      ...(tokens === undefined ? {} : { maxTotalTokens: tokens }),
    };
  }
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
