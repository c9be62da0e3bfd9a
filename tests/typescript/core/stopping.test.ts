import { describe, expect, it, vi } from "vitest";
import {
  anthropic,
  createAgent,
  hasToolCall,
  iterationCount,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions } from "../../../src/typescript/core/api/index.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

/** A model that calls `act` in each of five answers, with another number unless `n` fixes it. */
function setUp(options: Partial<AgentOptions>, n?: number) {
  const calls = Array.from({ length: 5 }, (_, index) => ({
    toolCalls: [{ name: "act", input: { n: n ?? index } }],
  }));
  const execute = vi.fn(({ n }: { n: number }) => n);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", {
      apiKey: "sk-test",
      fetch: scripted([...calls, { text: "End." }]),
    }),
    tools: { act: tool({ description: "Acts", inputSchema: schema, execute: execute as never }) },
    ...options,
  });
  return { agent, execute };
}

describe("stopping", () => {
  it("maxUsd stops a run that costs more, before its tools", async () => {
    const usage = { inputTokens: 1000, outputTokens: 1000 };
    const turns = [1, 2, 3].map((n) => ({ toolCalls: [{ name: "act", input: { n } }], usage }));
    const price = { inputUsdPerMillion: 100, outputUsdPerMillion: 400 };
    const { execute } = setUp({});
    const act = tool({ description: "Acts", inputSchema: schema, execute: execute as never });
    const model = anthropic("claude-sonnet-4-6", { price, fetch: scripted([...turns, { text: "End." }]) });
    const result = await createAgent({ model, tools: { act }, limits: { maxUsd: 0.9 } }).run("Go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "usd", costUsd: 1 });
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it("maxUsd wants to know what the model costs", () => {
    expect(() => setUp({ limits: { maxUsd: 1 } })).toThrow(
      expect.objectContaining({ field: "limits.maxUsd" }),
    );
    expect(() => setUp({ limits: { maxUsd: 1, allowUnknownPrice: true } })).not.toThrow();
    expect(() => setUp({ limits: { maxUsd: 0, allowUnknownPrice: true } })).toThrow(/more than 0/);
  });

  it.each<[string, Partial<AgentOptions>, string, number]>([
    ["limits.maxToolRounds", { limits: { maxToolRounds: 2 } }, "tool_rounds", 2],
    ["limits.maxToolCalls", { limits: { maxToolCalls: 3 } }, "tool_calls", 3],
    ["hasToolCall", { limits: { stopWhen: hasToolCall("act") } }, "condition", 1],
    ["iterationCount", { limits: { stopWhen: [iterationCount(2)] } }, "condition", 2],
    ["a function", { limits: { stopWhen: ({ toolCalls }) => toolCalls[0]?.output === 3 } }, "condition", 4],
    [
      "an async function",
      { limits: { stopWhen: [async ({ iteration }) => iteration === 2] } },
      "condition",
      2,
    ],
  ])("%s stops a run after its tools", async (_, options, stoppedBy, calls) => {
    const { agent, execute } = setUp(options);
    const result = await agent.run("Go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy });
    expect(execute).toHaveBeenCalledTimes(calls);
  });

  it("a condition that throws is reported and stops nothing", async () => {
    const { agent } = setUp({
      limits: {
        stopWhen: () => {
          throw new Error("broken");
        },
      },
    });
    const onError = vi.fn();
    expect((await agent.run("Go", { onError }).result).outcome).toBe("completed");
    expect(onError).toHaveBeenCalledTimes(5);
  });

  it("onRepeat hears of repetition and decides", async () => {
    const onRepeat = vi.fn(({ times }: { times: number }) => times === 2);
    const { agent, execute } = setUp({ limits: { repeat: { askAfter: 2 }, onRepeat } }, 7);
    expect(await agent.run("Go").result).toMatchObject({ outcome: "stopped", stoppedBy: "repeat" });
    expect(execute).toHaveBeenCalledTimes(2);
    expect(onRepeat).toHaveBeenCalledWith(expect.objectContaining({ times: 2, iteration: 2 }));
  });

  it("repeat: true is as no setting", async () => {
    const { agent } = setUp({ limits: { repeat: true } }, 7);
    const without = setUp({}, 7);
    const { outcome, messages } = await agent.run("Go").result;
    expect(JSON.stringify(messages)).toContain("same results");
    expect(await without.agent.run("Go").result).toMatchObject({ outcome, messages });
  });

  it("repeat: false leaves a model that repeats itself alone", async () => {
    const { agent } = setUp({ limits: { repeat: false } }, 7);
    const { outcome, messages } = await agent.run("Go").result;
    expect(outcome).toBe("completed");
    expect(JSON.stringify(messages)).not.toContain("same results");
  });

  it.each<[Partial<AgentOptions>, string]>([
    [{ limits: { stopWhen: "never" as never } }, "limits.stopWhen[0]"],
    [{ limits: { stopWhen: [{ toolCall: "nobody" }] } }, "limits.stopWhen[0]"],
    [{ limits: { repeat: { nudgeAfter: 0 } } }, "limits.repeat.nudgeAfter"],
    [{ limits: { repeat: { nudge: 1 } as never } }, "limits.repeat.nudge"],
    [{ limits: { repeat: "yes" as never } }, "limits.repeat"],
    [{ limits: { repeat: { nudgeAfter: 9, stopAfter: 3 } } }, "limits.repeat.stopAfter"],
    [{ limits: { repeat: { nudgeAfter: 4, askAfter: 3, stopAfter: 5 } } }, "limits.repeat.askAfter"],
    [{ limits: { repeat: { askAfter: 4, stopAfter: 4 } } }, "limits.repeat.stopAfter"],
    [{ limits: { repeat: { stopAfter: 2 }, onRepeat: () => true } }, "limits.onRepeat"],
    [{ limits: { repeat: false, onRepeat: () => true } }, "limits.onRepeat"],
    [{ limits: { repeat: { askAfter: null }, onRepeat: () => true } }, "limits.onRepeat"],
    [{ limits: { stopWhen: { toolCall: "look", iterations: 7 } as never } }, "limits.stopWhen[0]"],
    [{ limits: { maxToolRounds: -1 } }, "limits.maxToolRounds"],
    [{ retry: { baseMs: 5000, maxMs: 1000 } }, "retry.maxMs"],
  ])("%j is refused and names its field", (options, field) => {
    expect(() => setUp(options)).toThrow(expect.objectContaining({ field }));
  });

  it("hasToolCall and iterationCount refuse what they cannot be", () => {
    expect(() => hasToolCall("")).toThrow(expect.objectContaining({ field: "hasToolCall" }));
    expect(() => iterationCount(0)).toThrow(expect.objectContaining({ field: "iterationCount" }));
  });
});
