import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { nearestName } from "../../../src/typescript/core/options/check.js";
import { LoopletError } from "../../../src/typescript/core/api/errors.js";
import { anthropic } from "../../../src/typescript/core/models/models.js";
import type { AgentOptions } from "../../../src/typescript/core/api/agent.js";
import { FakeEngine } from "../support/fake-driver.js";

const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-1" });
const echo = { description: "Echoes", inputSchema: { type: "object" }, execute: () => "" };

/** What `createAgent` throws for `options`. */
function refusal(options: object): LoopletError {
  try {
    agentOn(new FakeEngine().load, { model, ...options } as AgentOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(LoopletError);
    return error as LoopletError;
  }
  throw new Error("nothing was thrown");
}

describe("createAgent", () => {
  it.each([
    [{ maxIteration: 3 }, "config_unknown_option", "maxIteration", "did you mean limits: { maxIterations }?"],
    [{ modle: "x" }, "config_unknown_option", "modle", "did you mean model?"],
    [{ maxTokens: 3 }, "config_unknown_option", "maxTokens", /maxOutputTokens.*maxTotalTokens/],
    [{ apiKey: "k" }, "config_unknown_option", "apiKey", "give it to the model"],
    [{ onText: () => {} }, "config_unknown_option", "onText", "agent.run(prompt, { onText })"],
    [{ timeouts: { chunk: 1 } }, "config_unknown_option", "timeouts.chunk", "did you mean chunkMs?"],
    [{ retry: { maxRetry: 1 } }, "config_unknown_option", "retry.maxRetry", "did you mean maxRetries?"],
    [{ tokenBudget: 1 }, "config_unknown_option", "tokenBudget", "use limits: { maxTotalTokens }"],
    [{ maxBudgetUsd: 1 }, "config_unknown_option", "maxBudgetUsd", "use limits: { maxUsd }"],
    [{ maxCost: 1 }, "config_unknown_option", "maxCost", "use limits: { maxUsd }"],
    [{ retry: { maxCalls: 2 } }, "config_unknown_option", "retry.maxCalls", "maxModelCallRetries"],
    [{ output: { city: z.string() } }, "config_wrong_type", "output", "output: { schema: z.object("],
    [{ allowedTools: ["a"] }, "config_unknown_option", "allowedTools", "permissions: { allow"],
    [{ disallowedTools: ["a"] }, "config_unknown_option", "disallowedTools", "permissions: { deny"],
    [{ agents: {} }, "config_unknown_option", "agents", "subagent("],
    [{ preset: "sprout" }, "config_unknown_option", "preset", "looplet/presets"],
    [{ maxTurns: 3 }, "config_unknown_option", "maxTurns", /maxToolRounds.*maxIterations/],
    [{ output: z.object({ n: z.number() }) }, "config_wrong_type", "output", /output: \{ schema \}/],
    [{ output: { type: "object", properties: {} } }, "config_wrong_type", "output", /output: \{ schema \}/],
    [
      { tools: { t: { ...echo, annotations: { readOnlyHint: "yes" } } } },
      "config_wrong_type",
      "tools.t.annotations.readOnlyHint",
      /true or false/,
    ],
    [
      { instructions: "Be brief." },
      "config_unknown_option",
      "instructions",
      /use system.*sharedInstructions/,
    ],
    [{ maxSteps: 3 }, "config_unknown_option", "maxSteps", /maxIterations.*maxToolRounds/],
    [{ maxRetries: 3 }, "config_unknown_option", "maxRetries", "retry: { maxRetries }"],
    [{ handoffs: [] }, "config_unknown_option", "handoffs", "handoff(agent, { description })"],
    [{ providerOptions: {} }, "config_unknown_option", "providerOptions", "body: { … }"],
    [{ name: "x" }, "config_unknown_option", "name", "subagent(agent, { name, description })"],
    [{ zzzzz: 1 }, "config_unknown_option", "zzzzz", /of the \d+, which .*explain\n/],
    [{ argumentSize: 5 }, "config_unknown_option", "argumentSize", "perhaps answers: { maxArgumentBytes }"],
    [{ maxIterations: 5 }, "config_unknown_option", "maxIterations", "give it to limits: { maxIterations }"],
    [{ canUseTols: 5 }, "config_unknown_option", "canUseTols", "did you mean permissions: { canUseTool }"],
    [{ permissionMode: "plan" }, "config_unknown_option", "permissionMode", "use permissions: { mode }"],
    [
      { limits: { maxOutputTokens: 3 } },
      "config_unknown_option",
      "limits.maxOutputTokens",
      "write maxOutputTokens beside limits",
    ],
    [
      { toolCalls: { canUseTool: () => null } },
      "config_unknown_option",
      "toolCalls.canUseTool",
      "give it to permissions: { canUseTool }",
    ],
    [{ limits: { onLimit: "stop" } }, "config_invalid_value", "limits.onLimit", /"throw" or a function/],
    [{ limits: { maxTurns: 3 } }, "config_unknown_option", "limits.maxTurns", /maxToolRounds/],
    [{ permissions: { Bash: "ask" } }, "config_unknown_option", "permissions.Bash", "there are allow, ask"],
    [{ tools: new Map() }, "config_wrong_type", "tools", "got an object (Map)"],
    [{ system: 7 }, "config_wrong_type", "system", "needs a string, got the number 7"],
    [
      { limits: { maxIterations: "5" } },
      "config_wrong_type",
      "limits.maxIterations",
      "needs a positive integer, got a string",
    ],
    [{ limits: { maxIterations: 0 } }, "config_invalid_value", "limits.maxIterations", "got 0"],
    [{ limits: { maxIterations: 1.5 } }, "config_invalid_value", "limits.maxIterations", "got 1.5"],
    [
      { limits: { maxIterations: Infinity } },
      "config_invalid_value",
      "limits.maxIterations",
      "leave the option out",
    ],
    [{ retry: { maxRetries: -1 } }, "config_invalid_value", "retry.maxRetries", "non-negative"],
    [{ retry: { delaysMs: [5, -1] } }, "config_invalid_value", "retry.delaysMs", "got -1"],
    [{ retry: { delaysMs: 5 } }, "config_wrong_type", "retry.delaysMs", "an array"],
    [{ retry: { jitter: "half" } }, "config_invalid_value", "retry.jitter", '"full"'],
    [{ guardrails: { timeoutMs: 0 } }, "config_invalid_value", "guardrails.timeoutMs", "positive"],
    [{ retry: { baseMs: null } }, "config_wrong_type", "retry.baseMs", "got null"],
    [{ timeouts: 5 }, "config_wrong_type", "timeouts", "needs an object"],
    [{ toolCalls: { execution: "all" } }, "config_invalid_value", "toolCalls.execution", '"sequential"'],
    [{ events: { joinDeltas: 1 } }, "config_wrong_type", "events.joinDeltas", "true or false"],
    [{ fetch: "https://x" }, "config_wrong_type", "fetch", "needs a function"],
    [{ clock: { now: Date.now } }, "config_missing", "clock.setTimer", "is required"],
    [{ model: undefined }, "config_missing", "model", "is required"],
    [{ model: "claude" }, "config_wrong_type", "model", "needs anthropic("],
    [{ tools: "x" }, "config_wrong_type", "tools", "a record or an array"],
    [{ tools: { t: { ...echo, execute: 1 } } }, "config_wrong_type", "tools.t.execute", "a function"],
    [
      { tools: { t: { ...echo, description: 1 } } },
      "config_wrong_type",
      "tools.t.description",
      "needs a string",
    ],
    [
      { tools: { t: { ...echo, parameters: {} } } },
      "config_unknown_option",
      "tools.t.parameters",
      "inputSchema",
    ],
    [{ tools: { "a b": echo } }, "config_invalid_value", "tools.a b", "letters, digits"],
    [{ tools: [echo] }, "config_missing", "tools[0].name", "is required"],
    [
      {
        tools: [
          { ...echo, name: "a" },
          { ...echo, name: "a" },
        ],
      },
      "config_duplicate_tool",
      "tools.a",
      'two tools are named "a"',
    ],
    [
      { tools: { t: { ...echo, replay: "twice" } } },
      "config_invalid_value",
      "tools.t.replay",
      '"safe" or "once"',
    ],
    [{ tools: { t: { ...echo, timeoutMs: 0 } } }, "config_invalid_value", "tools.t.timeoutMs", "positive"],
  ])("refuses %j with %s at %s", (options, code, field, problem) => {
    const error = refusal(options);
    expect(error.code).toBe(code);
    expect(error.field).toBe(field);
    expect(error.message).toMatch(problem);
  });

  it.each([
    ["a string", "x", /needs a JSON Schema object/],
    ["an object without a type", { city: { type: "string" } }, /needs type: "object"/],
    ["another type", { type: "string" }, /needs type: "object"/],
    ["properties that are none", { type: "object", properties: [] }, /needs an object, got an array/],
    ["a property that is no schema", { type: "object", properties: { a: "string" } }, /needs a schema/],
    ["required that is no list", { type: "object", required: "a" }, /array of property names/],
    ["a zod schema of before the extension", { _def: {}, type: "object" }, /zod 4\.2/],
    ["the shape of an object", { city: z.string(), days: z.number() }, /wrap it: z\.object\(\{/],
    ["a shape of before the extension", { city: { _def: {} } }, /wrap it: z\.object\(\{/],
    ["a bigint inside", { type: "object", maximum: 1n }, /JSON cannot/],
  ])("refuses %s as a tool's schema", (_, inputSchema, problem) => {
    const error = refusal({ tools: { t: { ...echo, inputSchema } } });
    expect(error.code).toBe("config_invalid_schema");
    expect(error.field).toMatch(/^tools\.t\.inputSchema/);
    expect(error.message).toMatch(problem);
  });

  it.each([
    [{ annotations: { readOnlyHint: true, title: "Echo" } }, true],
    [{ annotations: { readOnlyHint: true }, readOnly: false }, false],
    [{ annotations: { destructiveHint: true } }, undefined],
  ])("reads %j of a tool as readOnly %s", async (more, readOnly) => {
    const engine = new FakeEngine();
    agentOn(engine.load, { model, tools: { t: { ...echo, ...more } } }).run("go");
    const [told] = (await engine.driver()).config["tools"] as { readOnly?: boolean }[];
    expect(told!.readOnly).toBe(readOnly);
  });

  it("takes null for a timeout, which waits for ever", async () => {
    const engine = new FakeEngine();
    agentOn(engine.load, { model, timeouts: { chunkMs: null } }).run("go");
    expect((await engine.driver()).config["timeouts"]).toEqual({ chunkMs: null });
  });

  it("writes the engine's configuration, and leaves defaults to the engine", async () => {
    const engine = new FakeEngine();
    const options = {
      model,
      system: "Be brief.",
      tools: { echo },
      limits: { maxIterations: 3 },
      maxOutputTokens: 64,
    };
    agentOn(engine.load, options).run("go", {
      messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
    });
    const driver = await engine.driver();
    expect(driver.options).toEqual({
      session: "resume",
      messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
    });
    expect(driver.config).toEqual({
      model: { vendor: "anthropic", model: "claude-sonnet-4-6", headers: [], maxOutputTokens: 64 },
      system: "Be brief.",
      tools: [
        {
          name: "echo",
          description: "Echoes",
          inputSchema: { type: "object" },
          validate: true,
          prepare: false,
        },
      ],
      limits: { maxIterations: 3 },
    });
  });
});

describe("agent.run", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each([
    ["", {}, "misuse_empty_prompt", "prompt"],
    [" \n", {}, "misuse_empty_prompt", "prompt"],
    [[], {}, "misuse_empty_prompt", "prompt"],
    [[{ type: "text", text: " " }], {}, "misuse_empty_prompt", "prompt"],
    [7, {}, "misuse_invalid_argument", "prompt"],
    [null, {}, "misuse_invalid_argument", "prompt"],
    [[{ type: "image" }], {}, "misuse_invalid_argument", "prompt[0]"],
    ["go", { messages: "x" }, "config_wrong_type", "messages"],
    ["go", { messages: [{ role: "system", content: "x" }] }, "config_wrong_type", "messages[0]"],
    [
      "go",
      { messages: [{ role: "user", content: [{ type: "text", text: cycle }] }] },
      "config_invalid_value",
      "messages",
    ],
    ["go", { signal: {} }, "config_wrong_type", "signal"],
    ["go", { onTxt: () => {} }, "config_unknown_option", "onTxt"],
    ["go", { tools: {} }, "config_unknown_option", "tools"],
  ])("refuses the prompt %o with the options %o", (prompt, options, code, field) => {
    const agent = agentOn(new FakeEngine().load, { model });
    const attempt = (): unknown => agent.run(prompt as string, options as object);
    expect(attempt).toThrow(expect.objectContaining({ code, field }));
  });

  it.each([
    [
      [{ role: "user", content: "Hi" }],
      {},
      "earlier messages go into the option messages: run(prompt, { messages })",
    ],
    [
      { role: "user", content: "Hi" },
      {},
      "earlier messages go into the option messages: run(prompt, { messages })",
    ],
    ["Hi", { signal: new AbortController() }, "give it controller.signal"],
  ])("says what to write in place of %j and %j", (prompt, options, hint) => {
    const agent = agentOn(new FakeEngine().load, { model });
    expect(() => agent.run(prompt as never, options as never)).toThrow(hint);
  });
});

describe("the nearest name", () => {
  it("is none when every name is far", () => {
    expect(nearestName("colour", ["limits.maxIterations", "system"])).toBeUndefined();
  });
});

it("options that are none are refused, and an unknown one of run.events too", () => {
  const agent = agentOn(new FakeEngine().load, { model });
  const refused = expect.objectContaining({ code: "config_wrong_type", field: "options" });
  expect(() => agentOn(new FakeEngine().load, undefined as never)).toThrow(refused);
  expect(() => agent.run("x", null as never)).toThrow(refused);
  expect(() => agent.run("x").events({ detach: true } as object)).toThrow(
    expect.objectContaining({ code: "config_unknown_option", field: "detach" }),
  );
});
