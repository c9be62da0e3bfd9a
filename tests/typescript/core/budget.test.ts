import { describe, expect, it, vi } from "vitest";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { anthropic } from "../../../src/typescript/core/models/models.js";
import type { Question } from "../../../src/typescript/core/generated/model.js";
import { FakeEngine } from "../support/fake-driver.js";

function begin() {
  const engine = new FakeEngine();
  const run = agentOn(engine.load, { model: anthropic("m", { apiKey: "k" }) }).run("Hi");
  return { engine, run };
}

describe("run.addBudget", () => {
  it("adds to the run's limits, or to a subagent's own", async () => {
    const { engine, run } = begin();
    const driver = await engine.driver();
    expect(run.addBudget({ maxUsd: 0.5, timeMs: 100 })).toBe(true);
    expect(run.addBudget({ agentPath: "root/pal", maxIterations: 2 })).toBe(false);
    expect(driver.calls.filter(([name]) => name === "addBudget")).toEqual([
      ["addBudget", "root", { timeMs: 100, maxCostNanoUsd: 500_000_000 }],
      ["addBudget", "root/pal", { maxIterations: 2 }],
    ]);
    driver.end({ outcome: "completed" });
    await run.result;
    expect(run.addBudget({ maxIterations: 1 })).toBe(false);
  });

  it("waits for the engine: the run begins, then its limits are raised", async () => {
    const { engine, run } = begin();
    expect(run.addBudget({ maxTotalTokens: 7 })).toBe(true);
    const driver = await engine.driver();
    const names = driver.calls.map(([name]) => name);
    expect(names.indexOf("addBudget")).toBeGreaterThan(names.indexOf("start"));
    expect(names.filter((name) => name === "addBudget")).toHaveLength(1);
  });

  it.each([
    [{ tokens: 1 }, "budget.tokens"],
    [{ maxIterations: 0 }, "budget.maxIterations"],
    [{ maxUsd: -1 }, "budget.maxUsd"],
    [{ agentPath: "" }, "budget.agentPath"],
  ])("refuses %j", (budget, field) => {
    const { run } = begin();
    expect(() => run.addBudget(budget as never)).toThrow(expect.objectContaining({ field }));
    run.abort();
  });

  it("onLimit may give time", async () => {
    const onLimit = vi.fn(() => ({ timeMs: 5000 }));
    const engine = new FakeEngine();
    agentOn(engine.load, { model: anthropic("m", { apiKey: "k" }), limits: { onLimit } }).run("Hi");
    const driver = await engine.driver();
    const data = { limit: "time", timeout: "totalMs" };
    const ask = { point: "Limit", asker: 0, profile: 0, agentPath: "root", iteration: 1, data };
    driver.host.perform({ ask: { question: 4, ask: ask as Question } });
    await vi.waitFor(() =>
      expect(driver.calls).toContainEqual(["answer", 4, { hook: { limits: { timeMs: 5000 } } }]),
    );
    expect(onLimit).toHaveBeenCalledWith(expect.objectContaining({ limit: "time", timeout: "totalMs" }));
  });
});
