import { describe, expect, it } from "vitest";
import { agentOn } from "../../src/face/agents/agent.js";
import { anthropic, modelParts } from "../../src/face/models/models.js";
import { prices } from "../../src/face/models/prices.js";
import type { Price } from "../../src/face/api/index.js";
import { FakeEngine } from "./support/fake-driver.js";

describe("the price table", () => {
  it.each([
    ["anthropic", "claude-sonnet-4-6", 3],
    ["anthropic", "claude-sonnet-4-5-20250929", 3],
    ["anthropic", "claude-opus-4-7", 5],
    ["anthropic", "claude-opus-4-20250514", 15],
    ["openai", "gpt-5-mini-2025-08-07", 0.25],
    ["openai", "gpt-5-2025-08-07", 1.25],
    ["azure", "gpt-4.1", 2],
    ["google", "gemini-2.5-flash-preview-05-20", 0.3],
    ["google", "gemini-2.5-flash-001", 0.3],
  ])("knows the input price of %s %s", (vendor, model, usd) => {
    expect(prices(vendor, model)?.inputUsdPerMillion).toBe(usd);
  });

  it.each([
    ["anthropic", "claude-opus-4-9"],
    ["openai", "gpt-5-codex-mini"],
    ["openai", "gpt-50"],
    ["compatible", "gpt-5"],
  ])("knows nothing of %s %s", (vendor, model) => {
    expect(prices(vendor, model)).toBeUndefined();
  });

  it("prices what Anthropic's cache takes, and a long prompt", () => {
    expect(prices("anthropic", "claude-haiku-5-5")).toEqual({
      inputUsdPerMillion: 0.1,
      outputUsdPerMillion: 0.5,
      cacheReadUsdPerMillion: 0.01,
      cacheWriteUsdPerMillion: 0.125,
      cacheWriteHourUsdPerMillion: 0.2,
      longPrompt: { aboveTokens: 100_000, inputFactor: 5, outputFactor: 5 },
    });
  });
});

describe("a model with a price table", () => {
  const start = async (model: string, price: typeof prices | Price): Promise<unknown> => {
    const engine = new FakeEngine();
    const run = agentOn(engine.load, { model: anthropic(model, { apiKey: "k", price }) }).run("go");
    const driver = await engine.driver();
    driver.end({ outcome: "completed" });
    return (await run.result).costBasis;
  };

  it("has its price before the engine sees it", async () => {
    const model = anthropic("claude-sonnet-4-6", { apiKey: "k", price: prices });
    expect(modelParts(model)?.config.price).toBeUndefined();
    expect(await start("claude-sonnet-4-6", prices)).toBe("table");
  });

  it("may have one price instead", async () => {
    expect(await start("claude-next", { inputUsdPerMillion: 1, outputUsdPerMillion: 2 })).toBe("option");
  });

  it("takes a price of one's own for what the table does not know", async () => {
    const own = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    expect(await start("claude-next", (vendor, model) => prices(vendor, model) ?? own)).toBe("table");
  });
});
