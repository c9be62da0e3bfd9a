/**
 * The names of OpenTelemetry's conventions for generative AI, release 0.1.0 and what follows it, read 2026-11-22.
 * They are in development:
 * <https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai>.
 */
import type { Usage } from "../../core/api/index.js";

export type Attributes = { [name: string]: string | number | boolean | string[] };

/** The model of a request. */
export interface Asked {
  model: string;
  vendor: string;
}

export const OPERATION = "gen_ai.operation.name";
export const AGENT_NAME = "gen_ai.agent.name";
export const FIRST_CHUNK = "gen_ai.response.time_to_first_chunk";
export const FINISH_REASONS = "gen_ai.response.finish_reasons";

/** The conventions' names of vendors. */
const PROVIDERS: { readonly [vendor: string]: string } = {
  google: "gcp.gemini",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** An agent has no provider: its requests may go to several. */
export function askedModel({ model }: Asked): Attributes {
  return { "gen_ai.request.model": model };
}

export function askedProvider(asked: Asked): Attributes {
  return { "gen_ai.provider.name": PROVIDERS[asked.vendor] ?? asked.vendor, ...askedModel(asked) };
}

/** The usage of one attempt. */
export function usageOf(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_write.input_tokens": usage.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
    ...(usage.costNanoUsd === null ? {} : { "looplet.cost_usd": usage.costNanoUsd / 1e9 }),
  };
}

/** The sums that an agent's span has: the conventions know no cached tokens there. */
const OF_AGENT = [
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "looplet.cost_usd",
];

/** Adds the usage of a request or of a subagent to that of an agent. */
export function addToAgent(sums: { [name: string]: number }, from: Attributes): void {
  for (const name of OF_AGENT) addUp(sums, name, from[name]);
}

export function addUp(
  sums: { [name: string]: number },
  name: string,
  value: Attributes[string] | undefined,
): void {
  if (typeof value === "number") sums[name] = (sums[name] ?? 0) + value;
}
