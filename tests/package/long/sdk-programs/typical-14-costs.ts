// What a query has cost, by models.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const steps = new Map<string, number>();
  let total = 0;
  const models: { model: string; cost: number; input: number; cached: number }[] = [];
  for await (const message of query({
    prompt: "Count",
    options: { ...base, model: "haiku", maxBudgetUsd: 5 },
  })) {
    if (message.type === "assistant") steps.set(message.message.id, message.message.usage.output_tokens);
    if (message.type !== "result") continue;
    total = message.total_cost_usd;
    for (const [model, usage] of Object.entries(message.modelUsage))
      models.push({
        model,
        cost: usage.costUSD,
        input: usage.inputTokens + usage.cacheCreationInputTokens,
        cached: usage.cacheReadInputTokens,
      });
  }
  return { steps: steps.size, total, models };
}
