/** The Claude Agent SDK's loop, as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "../../../src/face/entry/node.js";
import type { PermissionMode } from "../../../src/face/api/index.js";
import { call, play } from "./kit.js";

const example = [
  { toolCalls: [call("look")] },
  { toolCalls: [call("look", { n: 1 }), call("look", { n: 2 })] },
  { text: "I edit.", toolCalls: [call("edit"), call("write")] },
  { text: "Fixed." },
];

const classify = (mode: string) => (mode === "auto" ? { classifyTool: () => "ask" } : {});

describe("S001", () => {
  it("S001-09: three answers with calls and a last one without are four iterations", async () => {
    const { result } = await play(example);
    expect(result).toMatchObject({ outcome: "completed", iterations: 4, text: "Fixed." });
  });

  it("S001-10, S001-11: two rounds of tools stop the example before its edit, and the result says so", async () => {
    const { result, log } = await play(example, { agent: { maxToolRounds: 2 } });
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "tool_rounds" });
    expect(log.filter((line) => line.startsWith("start"))).toEqual([
      "start look",
      "start look",
      "start look",
    ]);
  });

  it("S001-13: with room for it a run goes on until the model has finished", async () => {
    const rounds = Array.from({ length: 60 }, (_, n) => ({ toolCalls: [call("look", { n })] }));
    const { result } = await play([...rounds, { text: "Done." }], { agent: { maxIterations: 1000 } });
    expect(result).toMatchObject({ outcome: "completed", iterations: 61 });
  });

  it.each([
    ["completed", [{ text: "Done." }], {}],
    ["stopped", [example[0]!], { maxIterations: 1 }],
    ["failed", [{ status: 400 }], {}],
    ["cancelled", [{ hang: true }], {}],
  ])("S001-16: a %s run has its cost, usage, iterations and id", async (outcome, turns, options) => {
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const signal = outcome === "cancelled" ? AbortSignal.timeout(20) : undefined;
    const { result } = await play(turns, { agent: options, model: { price }, run: { signal } });
    expect(result.outcome).toBe(outcome);
    expect(result.costUsd).toBeTypeOf("number");
    expect(result.iterations).toBe(1);
    for (const count of ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const)
      expect(result.usage[count]).toBeTypeOf("number");
  });

  it("S001-18: a failure of the provider and an abort are told apart from success, with the reason", async () => {
    const failed = await play([{ status: 500 }], { agent: { retry: { maxRetries: 0 } } });
    expect(failed.result).toMatchObject({ outcome: "failed", error: { code: "server", status: 500 } });
    const { result } = await play([{ hang: true }], { run: { signal: AbortSignal.timeout(20) } });
    expect(result).toMatchObject({ outcome: "cancelled", abortReason: expect.any(String) });
  });

  it.each(["low", "medium", "high", "xhigh", "max"] as const)(
    "S001-19: the effort %s reaches the provider",
    async (effort) => {
      const { bodies } = await play([{ text: "Done." }], { model: { effort } });
      expect(bodies[0]!["output_config"]).toMatchObject({ effort });
      expect((await play([{ text: "Done." }])).bodies[0]).not.toHaveProperty("output_config");
    },
  );

  it("S001-20: effort and thinking do not depend on each other", async () => {
    const turns = [{ text: "Done." }];
    const [effort, thinking, both] = [
      (await play(turns, { model: { effort: "low" } })).bodies[0]!,
      (await play(turns, { model: { thinking: { budgetTokens: 2000 } } })).bodies[0]!,
      (await play(turns, { model: { effort: "low", thinking: { budgetTokens: 2000 } } })).bodies[0]!,
    ];
    expect(effort).not.toHaveProperty("thinking");
    expect(thinking).not.toHaveProperty("output_config");
    expect(both).toMatchObject({ output_config: effort["output_config"], thinking: thinking["thinking"] });
  });

  it("S001-21: six permission modes, and no other", () => {
    const model = anthropic("m", { apiKey: "k" });
    const rest = { canUseTool: () => null, allowDangerouslySkipPermissions: true };
    for (const mode of [
      "default",
      "acceptEdits",
      "plan",
      "dontAsk",
      "auto",
      "bypassPermissions",
    ] as PermissionMode[])
      expect(() =>
        createAgent({ model, permissionMode: mode, ...rest, ...classify(mode) } as never),
      ).not.toThrow();
    expect(() => createAgent({ model, permissionMode: "yolo" as never })).toThrow(
      expect.objectContaining({ field: "permissionMode" }),
    );
  });

  it("S001-36: the named model is the one that is asked, each time", async () => {
    const { bodies } = await play(example);
    expect(bodies.map(({ model }) => model)).toEqual(Array(4).fill("claude-sonnet-4-6"));
  });

  it("S001-45: a run that hit its limit can be gone on from with a higher one", async () => {
    const { result } = await play(example.slice(0, 2), { agent: { maxIterations: 2 } });
    expect(result.stoppedBy).toBe("iterations");
    const again = await play(example.slice(2), {
      agent: { maxIterations: 4 },
      run: { messages: result.messages },
      prompt: "Go on.",
    });
    expect(again.result).toMatchObject({ outcome: "completed", text: "Fixed." });
    expect(again.bodies[0]!.messages.slice(0, 5)).toHaveLength(5);
  });
});
