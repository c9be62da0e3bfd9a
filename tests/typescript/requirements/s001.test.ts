/** The Claude Agent SDK's loop, as `createAgent` has it. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent } from "../../../src/typescript/core/entry/node.js";
import type { PermissionMode } from "../../../src/typescript/core/api/index.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { call, play } from "./kit.js";

const example = [
  { toolCalls: [call("look")] },
  { toolCalls: [call("look", { n: 1 }), call("look", { n: 2 })] },
  { text: "I edit.", toolCalls: [call("edit"), call("write")] },
  { text: "Fixed." },
];

// Root is refused a mode, and tests may run as root.
beforeEach(() => void vi.spyOn(process, "getuid").mockReturnValue(1000));
afterEach(() => void vi.restoreAllMocks());

const classify = (mode: string) => (mode === "auto" ? { classifyTool: () => "ask" } : {});

describe("S001", () => {
  it("S001-09: three answers with calls and a last one without are four iterations", async () => {
    const { result } = await play(example);
    expect(result).toMatchObject({ outcome: "completed", iterations: 4, text: "Fixed." });
  });

  it("S001-10, S001-11: two rounds of tools stop the example before its edit, and the result says so", async () => {
    const { result, log } = await play(example, { agent: { limits: { maxToolRounds: 2 } } });
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "tool_rounds" });
    expect(log.filter((line) => line.startsWith("start"))).toEqual([
      "start look",
      "start look",
      "start look",
    ]);
  });

  it("S001-13: with room for it a run goes on until the model has finished", async () => {
    const rounds = Array.from({ length: 60 }, (_, n) => ({ toolCalls: [call("look", { n })] }));
    const { result } = await play([...rounds, { text: "Done." }], {
      agent: { limits: { maxIterations: 1000 } },
    });
    expect(result).toMatchObject({ outcome: "completed", iterations: 61 });
  });

  // The first answer uses 1,000 tokens in and 500 out, at 1 and 2 dollars a million: 0.001 + 0.001 dollars.
  it.each([
    ["completed", { text: "Done." }, {}, { inputTokens: 1007, outputTokens: 503, costUsd: 0.002013 }],
    [
      "stopped",
      example[0]!,
      { limits: { maxIterations: 2 } },
      { inputTokens: 1007, outputTokens: 503, costUsd: 0.002013 },
    ],
    ["failed", { status: 400 }, {}, { inputTokens: 1000, outputTokens: 500, costUsd: 0.002 }],
    ["cancelled", { hang: true }, {}, { inputTokens: 1000, outputTokens: 500, costUsd: 0.002 }],
  ])("S001-16: a %s run has its cost, usage, iterations and id", async (outcome, second, agent, used) => {
    const turns = [
      { ...example[0]!, usage: { inputTokens: 1000, outputTokens: 500 } },
      { ...second, usage: { inputTokens: 7, outputTokens: 3 } },
    ];
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const signal = outcome === "cancelled" ? AbortSignal.timeout(100) : undefined;
    const ids = () => "run-7";
    const { id, result } = await play(turns, { agent: { ids, ...agent }, model: { price }, run: { signal } });
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = result.usage!;
    expect({ inputTokens, outputTokens, costUsd: result.costUsd }).toEqual(used);
    expect([cacheReadTokens, cacheWriteTokens]).toEqual([0, 0]);
    expect(result).toMatchObject({ outcome, iterations: 2 });
    expect(id).toBe("run-7");
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
      // A model that takes all of them. Of another the next higher one is sent.
      const fetch = scripted([{ text: "Done." }]);
      await play([], { agent: { model: anthropic("claude-opus-5", { effort, fetch }) } });
      expect(fetch.requests[0]!.body).toMatchObject({ output_config: { effort } });
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
        createAgent({ model, permissions: { mode, ...rest, ...classify(mode) } as never }),
      ).not.toThrow();
    expect(() => createAgent({ model, permissions: { mode: "yolo" as never } })).toThrow(
      expect.objectContaining({ field: "permissions.mode" }),
    );
  });

  it("S001-25: dontAsk runs what a rule allows, denies the rest and asks nobody", async () => {
    const asked: string[] = [];
    const { log, result } = await play(
      [{ toolCalls: [call("look"), call("write"), call("edit")] }, { text: "Done." }],
      {
        agent: {
          permissions: {
            allow: ["write"],
            ask: ["edit"],
            mode: "dontAsk",
            canUseTool: (toolName) => (asked.push(toolName), { behavior: "allow" }),
          },
        },
      },
    );
    expect(log).toEqual(["start write", "end write"]);
    expect(result.toolCalls.map(({ isError }) => isError)).toEqual([true, false, true]);
    expect(asked).toEqual([]);
  });

  it("S001-27: bypassPermissions runs every tool unasked, and only for who says that it may", async () => {
    const asked: string[] = [];
    const permissions = {
      mode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      canUseTool: (toolName: string) => (asked.push(toolName), { behavior: "deny", message: "no" } as const),
    } as const;
    const turns = [{ toolCalls: [call("write")] }, { text: "Done." }];
    const { log } = await play(turns, { agent: { permissions } });
    expect(log).toEqual(["start write", "end write"]);
    expect(asked).toEqual([]);
    await expect(
      play([], { agent: { permissions: { ...permissions, allowDangerouslySkipPermissions: false } } }),
    ).rejects.toThrow(
      expect.objectContaining({ name: "LoopletError", field: "permissions.allowDangerouslySkipPermissions" }),
    );
  });

  it("S001-36: the named model is the one that is asked, each time", async () => {
    const { bodies } = await play(example);
    expect(bodies.map(({ model }) => model)).toEqual(Array(4).fill("claude-sonnet-4-6"));
  });

  it("S001-45: a run that hit its limit can be gone on from with a higher one", async () => {
    const { result } = await play(example.slice(0, 2), { agent: { limits: { maxIterations: 2 } } });
    expect(result.stoppedBy).toBe("iterations");
    const again = await play(example.slice(2), {
      agent: { limits: { maxIterations: 4 } },
      run: { messages: result.messages },
      prompt: "Go on.",
    });
    expect(again.result).toMatchObject({ outcome: "completed", text: "Fixed." });
    const kinds = again.bodies[0]!.messages.map(({ role, content }) => [
      role,
      ...content.map(({ type }) => type),
    ]);
    expect(kinds).toEqual([
      ["user", "text"],
      ["assistant", "tool_use"],
      ["user", "tool_result"],
      ["assistant", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result", "text"],
    ]);
    expect(again.bodies[0]!.messages[0]!.content).toMatchObject([{ text: "Go" }]);
  });
});
