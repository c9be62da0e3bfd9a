/** What a query has used: tokens, costs, and the window of its model. */
import type { RunResult, Usage } from "../../../core/api/index.js";
import { outputOf, windowOf } from "../models.js";

/** The usage of requests, in the words of the Messages API. */
export interface ApiUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  /** Not set, as are the fields below: looplet counts both lifetimes of the cache together. */
  readonly cache_creation?: { ephemeral_1h_input_tokens: number; ephemeral_5m_input_tokens: number };
  readonly server_tool_use?: { web_fetch_requests: number; web_search_requests: number };
  readonly service_tier?: "standard" | "priority" | "batch";
  readonly speed?: "standard" | "fast";
  readonly inference_geo?: string;
}

/** The usage of a turn. A count that no vendor reported is 0. */
export type NonNullableUsage = ApiUsage;

/** The usage of one model in a turn. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Tokens of reasoning, a part of `outputTokens`. */
  readonly thinkingTokens?: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  /** Not set: looplet counts both lifetimes of the cache together. */
  readonly cacheCreationEphemeral5mInputTokens?: number;
  /** Not set. */
  readonly cacheCreationEphemeral1hInputTokens?: number;
  /** Always 0: `host.search` runs the searches of WebSearch. */
  readonly webSearchRequests: number;
  /** 0 if the price is not known. */
  readonly costUSD: number;
  /** Tokens that the model can read; 0 if that is not known. */
  readonly contextWindow: number;
  /** Tokens that the model can write in one answer; 0 if that is not known. */
  readonly maxOutputTokens: number;
  /** Not set. */
  readonly canonicalModel?: string;
  /** Not set. */
  readonly provider?: string;
  /** Where the price is from: a list, or nowhere. `managed` does not occur. */
  readonly costBasis?: "list" | "managed" | "unknown";
}

/** A part of the window. */
export interface SDKContextUsageCategory {
  name: string;
  tokens: number;
  kind: "used" | "free" | "buffer" | "deferred";
}

/** What fills the window, as a field of a message. looplet does not send it: call `getContextUsage()`. */
export interface SDKContextUsage {
  model: string;
  total_tokens: number;
  raw_max_tokens: number;
  percentage: number;
  over_limit?: { tokens_over: number; kind: "hard_limit" | "compaction_window" };
  categories: SDKContextUsageCategory[];
  mcp_tools: { name: string; server_name: string; tokens: number }[];
  memory_files: { path: string; type: string; tokens: number }[];
  agents: { agent_type: string; source: string; tokens: number }[];
  skills?: { name: string; source: string; plugin_name?: string; tokens: number }[];
}

/** The costs of a session. */
export interface SessionCosts {
  total_cost_usd: number;
  total_api_duration_ms: number;
  total_duration_ms: number;
  total_lines_added: number;
  total_lines_removed: number;
  model_usage: Record<string, ModelUsage>;
}

/** What a subscription allows beyond its limits. */
export interface ExtraUsage {
  is_enabled: boolean;
  monthly_limit: number | null;
  used_credits: number | null;
  utilization: number | null;
  currency?: string | null;
}

/** Costs and limits of a subscription, as a field of a message. looplet does not send it: a key has no subscription. */
export interface SDKUsageReport {
  session: SessionCosts;
  rate_limits: {
    limits:
      | {
          kind: string;
          group: string;
          percent: number;
          resets_at: string | null;
          scope?: {
            model?: { display_name: string } | null;
            surface?: { display_name: string } | null;
          } | null;
          severity: string;
          is_active: boolean;
        }[]
      | null;
    extra_usage?: ExtraUsage | null;
  } | null;
}

type RateLimitStatus = "allowed" | "allowed_warning" | "rejected";

/** The state of a subscription's limits. looplet does not send it: `api_retry` reports a limit of the vendor. */
export interface SDKRateLimitInfo {
  status: RateLimitStatus;
  resetsAt?: number;
  rateLimitType?:
    | "five_hour"
    | "seven_day"
    | "seven_day_opus"
    | "seven_day_sonnet"
    | "seven_day_overage_included"
    | "overage";
  utilization?: number;
  overageStatus?: RateLimitStatus;
  overageResetsAt?: number;
  overageDisabledReason?:
    | "overage_not_provisioned"
    | "org_level_disabled"
    | "org_level_disabled_until"
    | "out_of_credits"
    | "seat_tier_level_disabled"
    | "member_level_disabled"
    | "seat_tier_zero_credit_limit"
    | "group_zero_credit_limit"
    | "member_zero_credit_limit"
    | "org_service_level_disabled"
    | "no_limits_configured"
    | "fetch_error"
    | "unknown";
  isUsingOverage?: boolean;
  overageInUse?: boolean;
  overageEnabled?: boolean;
  surpassedThreshold?: number;
  limitScope?: "service" | "channel" | "group_pool";
  errorCode?: "credits_required";
  canUserPurchaseCredits?: boolean;
  hasChargeableSavedPaymentMethod?: boolean;
}

/** The usage by models of all these runs. */
export function modelUsageOf(results: readonly RunResult[]): { [model: string]: ModelUsage } {
  const sum: { [model: string]: { -readonly [field in keyof ModelUsage]: ModelUsage[field] } } = {};
  for (const [model, usage] of results.flatMap(({ modelUsage }) => Object.entries(modelUsage))) {
    const use = (sum[model] ??= {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      webSearchRequests: 0,
      costUSD: 0,
      contextWindow: windowOf(model) ?? 0,
      maxOutputTokens: outputOf(model) ?? 0,
      costBasis: "list",
    });
    use.inputTokens += usage?.inputTokens ?? 0;
    use.outputTokens += usage?.outputTokens ?? 0;
    use.cacheReadInputTokens += usage?.cacheReadTokens ?? 0;
    use.cacheCreationInputTokens += usage?.cacheWriteTokens ?? 0;
    use.costUSD += usage?.costUsd ?? 0;
    if (usage?.costNanoUsd == null) use.costBasis = "unknown";
    if (usage?.reasoningTokens) use.thinkingTokens = (use.thinkingTokens ?? 0) + usage.reasoningTokens;
  }
  return sum;
}

/** US dollars; 0 if the price is not known. */
export function usdOf({ costNanoUsd }: Usage): number {
  return (costNanoUsd ?? 0) / 1e9;
}

/** The usage in the words of the Messages API. */
export function usageOf(usage: Usage): ApiUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    // The Messages API counts cached tokens apart.
    input_tokens: Math.max(inputTokens - cacheReadTokens - cacheWriteTokens, 0),
    output_tokens: outputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
  };
}
