import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import {
  agentVariants,
  iterationPresets,
  mergeOptions,
  presets,
  type PresetName,
} from "../../../src/typescript/compat/presets/index.js";
import { call, play, results, told } from "../requirements/kit.js";

const round = (n: number) => ({ toolCalls: [call("look", { n })] });
const rounds = (count: number) => Array.from({ length: count }, (_, n) => round(n));
const done = { text: "Done." };

/** A run of this preset; what its `result` rejected with stands in `thrown`. */
async function preset(name: PresetName, turns: ScriptedStep[], run = {}) {
  const { agent, model } = presets[name];
  return play(turns, { agent, model, run });
}

describe("every preset", () => {
  it.each(Object.keys(presets) as PresetName[])("%s is a set of options that createAgent takes", (name) => {
    const { agent, model, modelName = "m" } = presets[name];
    expect(() =>
      createAgent({ ...agent, model: anthropic(modelName, { ...model, apiKey: "k" }) }),
    ).not.toThrow();
  });
});

describe("retry.delaysMs", () => {
  it("has the waits of the first retries", async () => {
    const retry = { delaysMs: [100, 300], maxRetries: 3, jitterMs: 0 };
    const { waits } = await play(Array<ScriptedStep>(4).fill({ status: 500 }), { agent: { retry } });
    expect(waits).toEqual([100, 300, 300]);
  });
});

describe("default", () => {
  it("S003-06: stops after 50 model calls, with a result and no throw", async () => {
    const { result } = await preset("default", rounds(50));
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "iterations", iterations: 50 });
  });
});

describe("sprout", () => {
  it("S000-06, S000-21: stops after 15 rounds with what there is, and throws nothing", async () => {
    const turns = rounds(15).map((turn, n) => ({ ...turn, text: `Round ${n}.` }));
    const { result } = await preset("sprout", turns);
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "iterations", text: "Round 14." });
    expect(result.toolCalls).toHaveLength(15);
  });

  it("S000-07, S000-08: asks its model for 8000 tokens", async () => {
    const { agent, model, modelName } = presets.sprout;
    const fetch = scripted([done]);
    await createAgent({ ...agent, model: anthropic(modelName, { ...model, fetch }) }).run("Go").result;
    expect(fetch.requests[0]!.body).toMatchObject({ model: "claude-opus-4-20250514", max_tokens: 8000 });
  });

  it("S000-14: runs its tools one after the other", async () => {
    const { log } = await preset("sprout", [
      { toolCalls: [call("look"), call("look"), call("write")] },
      done,
    ]);
    expect(log).toEqual(["start look", "end look", "start look", "end look", "start write", "end write"]);
  });

  it("S000-19: waits 2, 4 and 8 seconds for a rate limit, then fails with it", async () => {
    const { result, waits } = await preset("sprout", Array<ScriptedStep>(4).fill({ status: 429 }));
    expect(waits).toEqual([2000, 4000, 8000]);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "rate_limit", status: 429 } });
  });

  it.each([400, 500, 503])("S000-20: does not try again after a %i", async (status) => {
    const { result, waits } = await preset("sprout", [{ status }]);
    expect(waits).toEqual([]);
    expect(result).toMatchObject({ outcome: "failed", error: { status } });
  });

  it("S000-22, S000-23: tells errors as its own, and goes on", async () => {
    const calls = [call("write", { fail: "disk full" }), call("fly")];
    const { bodies, result } = await preset("sprout", [{ toolCalls: calls }, done]);
    expect(results(bodies[1]).map(told)).toEqual(['{"error":"disk full"}', '{"error":"Unknown tool: fly"}']);
    expect(result.outcome).toBe("completed");
  });

  it.each([
    ["topic", 15],
    ["subconcept", 15],
    ["refinement", 15],
    ["tutor", 5],
    ["grading", 10],
  ] as const)("S000-27: its agent %s stops after %i rounds", async (name, cap) => {
    const { agent } = presets.sprout;
    const { result } = await play(rounds(cap + 1), {
      agent: { ...agent, limits: { maxIterations: iterationPresets[name] } },
    });
    expect(result).toMatchObject({ stoppedBy: "iterations", iterations: cap });
    expect(result.toolCalls).toHaveLength(cap);
  });
});

describe("claudeAgentSdk", () => {
  it("S001-13: goes on where createAgent would stop, until the model has finished", async () => {
    const permissions = { allow: ["look"] };
    const { agent, model } = presets.claudeAgentSdk;
    const { result } = await play([...rounds(60), done], { agent: { ...agent, permissions }, model });
    expect(result).toMatchObject({ outcome: "completed", iterations: 61, text: "Done." });
    expect(result.toolCalls.every(({ isError }) => !isError)).toBe(true);
  });

  it("tries a request ten times", async () => {
    const { waits, result } = await preset("claudeAgentSdk", Array<ScriptedStep>(11).fill({ status: 529 }));
    expect(waits).toHaveLength(9);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "overloaded" } });
  });

  it("S001-19: asks for high effort", async () => {
    const { bodies } = await preset("claudeAgentSdk", [done]);
    expect(bodies[0]!["output_config"]).toEqual({ effort: "high" });
  });

  it("S001-22: denies what no rule allows and nobody can be asked about", async () => {
    const { log, result } = await preset("claudeAgentSdk", [{ toolCalls: [call("write")] }, done]);
    expect(log).toEqual([]);
    expect(result.toolCalls).toMatchObject([{ isError: true, output: { code: "denied" } }]);
  });

  it("S001-31: runs readers beside each other and writers in order", async () => {
    const { agent, model } = presets.claudeAgentSdk;
    const { log } = await play(
      [{ toolCalls: [call("look"), call("look"), call("write"), call("edit")] }, done],
      {
        agent: { ...agent, permissions: { allow: ["look", "write", "edit"] } },
        model,
      },
    );
    expect(log.slice(0, 2)).toEqual(["start look", "start look"]);
    expect(log.slice(4)).toEqual(["start write", "end write", "start edit", "end edit"]);
  });
});

describe("guide", () => {
  it("S002-11: runs all calls of an answer at once", async () => {
    const { log } = await preset("guide", [{ toolCalls: [call("write"), call("edit")] }, done]);
    expect(log.slice(0, 2)).toEqual(["start write", "start edit"]);
  });

  it("S002-10: tells what a tool threw behind a word", async () => {
    const { bodies } = await preset("guide", [{ toolCalls: [call("write", { fail: "disk full" })] }, done]);
    expect(results(bodies[1]).map(told)).toEqual(["Error: disk full"]);
  });

  it("S002-18: cuts old inputs of tools, and leaves the newest alone", async () => {
    const long = { text: "x".repeat(2000) };
    const turns = Array.from({ length: 8 }, (_, n) => ({ toolCalls: [call("look", { n, ...long })] }));
    const { bodies } = await preset("guide", [...turns, done]);
    const inputs = bodies
      .at(-1)!
      .messages.flatMap(({ content }) =>
        content.filter(({ type }) => type === "tool_use").map((block) => JSON.stringify(block).length),
      );
    expect(inputs[0]).toBeLessThan(500);
    expect(inputs.at(-1)).toBeGreaterThan(2000);
  });

  it("S002-12: goes on until there are no calls, and tries nothing twice", async () => {
    expect((await preset("guide", [...rounds(20), done])).result).toMatchObject({
      iterations: 21,
      text: "Done.",
    });
    expect((await preset("guide", [{ status: 529 }])).result).toMatchObject({ outcome: "failed" });
  });
});

describe("production", () => {
  it("S003-02: fails on an answer that ended otherwise than it may", async () => {
    const { result } = await preset("production", [{ text: "Cut", stopReason: "length" }]);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "finish_reason" } });
  });

  it("S003-03: runs calls at once, but those of one resource in order", async () => {
    const log: string[] = [];
    const tool = (name: string) => ({
      description: name,
      inputSchema: { type: "object" },
      resourceKey: ({ path }: { path: string }) => path,
      execute: async ({ path }: { path: string }) => {
        log.push(`start ${path}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        log.push(`end ${path}`);
      },
    });
    const calls = [call("write", { path: "a" }), call("write", { path: "a" }), call("write", { path: "b" })];
    await play([{ toolCalls: calls }, done], {
      agent: { ...presets.production.agent, tools: { write: tool("write") } as never },
    });
    expect(log.slice(0, 2)).toEqual(["start a", "start b"]);
    expect(log.filter((line) => line.endsWith("a"))).toEqual(["start a", "end a", "start a", "end a"]);
  });

  it.each([
    ["as it is", 50, {}],
    ["as the builder", 50, { limits: { maxIterations: iterationPresets.builder } }],
    ["as the router", 12, { limits: { maxIterations: iterationPresets.router } }],
  ])("S003-06: stops %s after %i iterations", async (_, cap, limit) => {
    const { result } = await play(rounds(cap + 1), { agent: { ...presets.production.agent, ...limit } });
    expect(result).toMatchObject({ stoppedBy: "iterations", iterations: cap });
  });

  it("S003-08: stops at its budget before the tools of the answer that passed it", async () => {
    const turns = [{ ...round(0), usage: { inputTokens: 90, outputTokens: 90 } }];
    const { log, result } = await play(turns, {
      agent: { ...presets.production.agent, limits: { maxTotalTokens: 100 } },
    });
    expect(result).toMatchObject({ stoppedBy: "tokens" });
    expect(log).toEqual([]);
  });
});

describe("prompty", () => {
  it("S004-03, S004-07: throws before the eleventh model call, and says how many there were", async () => {
    const turns = rounds(11);
    const thrown = await preset("prompty", turns).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      name: "RunError",
      code: "limit",
      message: "Agent loop exceeded 10 iterations",
    });
    expect(thrown).toMatchObject({ result: { iterations: 10, stoppedBy: "iterations" } });
  });

  it("S004-03, S004-08: makes a model call three times, then throws with the messages so far", async () => {
    const turns = [round(0), ...Array<ScriptedStep>(4).fill({ status: 400 })];
    const thrown = await preset("prompty", turns).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: "RunError", code: "failed", result: { outcome: "failed" } });
    const { messages, error } = (thrown as { result: { messages: unknown[]; error: { message: string } } })
      .result;
    expect(messages).toHaveLength(3);
    expect((thrown as Error).message).toBe(error.message);
  });

  it("S004-09: waits 2 and 4 seconds between them", async () => {
    const { waits, result } = await preset("prompty", [{ status: 400 }, { status: 404 }, done]);
    expect(waits).toEqual([2000, 4000]);
    expect(result.outcome).toBe("completed");
  });

  it("S004-32: counts them apart from the retries of the transport", async () => {
    const down = Array<ScriptedStep>(4).fill({ status: 503 });
    const { waits, result } = await preset("prompty", [...down, ...down, done]);
    expect(waits).toEqual([2000, 4000, 8000, 2000, 2000, 4000, 8000, 4000]);
    expect(result.outcome).toBe("completed");
  });

  it("S004-28, S004-29: tells errors in its words", async () => {
    const calls = [call("write", { fail: "disk full" }), { name: "look", argumentsText: "nothing like it" }];
    const { bodies } = await preset("prompty", [{ toolCalls: calls }, done]);
    const [failed, invalid] = results(bodies[1]).map(told);
    expect(failed).toBe("Error: Tool 'write' failed: disk full");
    expect(invalid).toMatch(/^Error: .*JSON/);
  });

  it("S004-12: throws for a tool that there is not, with a legal transcript", async () => {
    const thrown = await preset("prompty", [{ toolCalls: [call("look"), call("fly")] }]).catch(
      (error: unknown) => error,
    );
    expect(thrown).toMatchObject({ name: "RunError", code: "failed" });
    expect((thrown as Error).message).toContain("fly");
    const { messages } = (thrown as { result: { messages: { content: unknown[] }[] } }).result;
    expect(messages.map(({ content }) => content.length)).toEqual([1, 2, 2]);
  });

  it("P-16: throws when it is cancelled", async () => {
    const thrown = await preset("prompty", [{ hang: true }], { signal: AbortSignal.timeout(20) }).catch(
      (error: unknown) => error,
    );
    expect(thrown).toMatchObject({ name: "RunError", code: "cancelled" });
  });
});

describe("an agent in several sizes", () => {
  const sizes = (turns: ScriptedStep[]) => {
    const fetch = scripted(turns);
    const agent = agentVariants(createAgent, {
      model: anthropic("m", { fetch }),
      system: "Write {{topics}} topics.",
      maxOutputTokens: 8000,
      variables: { topics: "6-10", questions: "5-10" },
      variants: {
        small: { maxOutputTokens: 2000, variables: { topics: "1-2" } },
        huge: { limits: { maxIterations: 99 } },
      },
    });
    return { agent, fetch };
  };

  it("S000-28: takes the options and the variables of the small one", async () => {
    const { agent, fetch } = sizes([done, done, done]);
    await agent.run("Ask {{questions}} questions about {{ topics }} topics of {{unknown}}.").result;
    await agent.run("Ask {{questions}} questions.", { small: true }).result;
    await agent.run("Go", { variant: "huge" }).result;
    const [large, small, huge] = fetch.requests.map(({ body }) => body as unknown as Record<string, unknown>);
    expect(JSON.stringify(large!["system"])).toContain("Write 6-10 topics.");
    expect(JSON.stringify(large!["messages"])).toContain("5-10 questions about 6-10 topics of {{unknown}}.");
    expect(JSON.stringify(small!["system"])).toContain("Write 1-2 topics.");
    expect(JSON.stringify(small!["messages"])).toContain("Ask 5-10 questions.");
    expect([large!["max_tokens"], small!["max_tokens"], huge!["max_tokens"]]).toEqual([8000, 2000, 8000]);
  });

  it("names the variants that there are, and checks all of them at once", () => {
    const { agent } = sizes([]);
    const unknown = { code: "config_invalid_value", field: "variant" };
    expect(() => agent.run("Go", { variant: "tiny" as never })).toThrow(/small, huge/);
    expect(() => agent.chat({ variant: "toString" as never })).toThrow(expect.objectContaining(unknown));
    const model = anthropic("m", { apiKey: "k" });
    const wrong = { model, variants: { small: { limits: { maxIterations: 0 } } } };
    expect(() => agentVariants(createAgent, wrong)).toThrow(
      expect.objectContaining({ field: "variants.small.limits.maxIterations" }),
    );
  });
});

describe("agentVariants", () => {
  const model = anthropic("m", { apiKey: "k" });
  it.each<[unknown, string]>([
    [null, "options"],
    [{ model, variables: 5 }, "variables"],
    [{ model, variables: { a: {} } }, "variables.a"],
    [{ model, variants: 5 }, "variants"],
    [{ model, variants: { small: 5 } }, "variants.small"],
    [{ model, variants: { small: { variables: { a: true } } } }, "variants.small.variables.a"],
    [{ model, system: 5 }, "system"],
  ])("refuses %j and names its field", (options, field) => {
    expect(() => agentVariants(createAgent, options as never)).toThrow(
      expect.objectContaining({ name: "LoopletError", field }),
    );
  });

  it.each<[unknown, string]>([
    [{ small: "yes" }, "small"],
    [{ variant: 1 }, "variant"],
    [null, "options"],
  ])("refuses run(prompt, %j)", (options, field) => {
    const agent = agentVariants(createAgent, { model, variants: { small: {} } });
    expect(() => agent.run("Go", options as never)).toThrow(
      expect.objectContaining({ name: "LoopletError", field }),
    );
  });
});

describe("mergeOptions", () => {
  const row = presets.claudeAgentSdk.agent;
  const model = anthropic("m", { apiKey: "k", price: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } });

  it("merges the groups, and takes another option as it is", () => {
    const merged = mergeOptions(row, { model, limits: { maxUsd: 1 }, retry: { maxRetries: 1 } });
    expect(merged.limits).toEqual({ ...row.limits, maxUsd: 1 });
    expect(merged.limits?.maxIterations).toBe(row.limits?.maxIterations);
    expect(merged.retry).toEqual({ maxRetries: 1 });
  });

  it("leaves a group as it is for undefined, so that no setting that is missing opens everything", () => {
    expect(mergeOptions(row, { model, permissions: undefined }).permissions).toEqual(row.permissions);
  });

  it("refuses a name that is no option", () => {
    // @ts-expect-error: the option stands in `limits`
    const merged = mergeOptions(row, { model, maxIterations: 3 });
    expect(() => createAgent(merged as never)).toThrow(/give it to limits/);
  });
});

describe("results that throw", () => {
  it.each([
    [
      "limits.onLimit",
      [round(0)],
      { limits: { onLimit: "throw", maxIterations: 1 } },
      "limit",
      /exceeded 1 it/,
    ],
    [
      "limits.onLimit",
      [round(0)],
      { limits: { onLimit: "throw", stopWhen: () => true } },
      "limit",
      /condition/,
    ],
    ["onFailure", [{ status: 400 }], { onFailure: "throw" }, "failed", /./],
  ] as const)("%s: throw rejects with what the run has brought", async (_, turns, agent, code, message) => {
    const thrown = (await play([...turns], { agent }).catch((error: unknown) => error)) as Error;
    expect(thrown).toMatchObject({ name: "RunError", code, result: { iterations: 1 } });
    expect(thrown.message).toMatch(message);
  });

  it("retry.on names failures that may be tried again", () => {
    const model = anthropic("m", { apiKey: "k" });
    expect(() => createAgent({ model, retry: { on: ["auth"] } })).toThrow(/retry\.on\[0\].*rate_limit/);
    expect(() => createAgent({ model, maxLlmRetries: 3 } as never)).toThrow(/maxModelCallRetries/);
  });
});
