// What a newcomer writes by mistake, and what comes of it.
import { anthropic, compatible, createAgent, custom, subagent, ToolError } from "looplet";
import { agentVariants, toolErrorWords } from "looplet/presets";
import { practice, scripted } from "looplet/practice";
import { traceRows } from "looplet/trace";
import { describe, expect, it } from "vitest";

const model = anthropic("practice", { fetch: practice({ delayMs: 0 }) });
const agent = createAgent({ model });
const anyOf = (value: unknown): any => value;

describe("a mistake is told at once", () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      "options that were not awaited",
      () => createAgent(anyOf(Promise.resolve({ model }))),
      /got an object \(Promise\)/,
    ],
    [
      "a signal in the place of the options",
      () => agent.run("Hi", anyOf(AbortSignal.abort())),
      /AbortSignal/,
    ],
    [
      "a history whose contents are neither texts nor blocks",
      () => agent.run("Hi", { messages: [{ role: "user", content: anyOf({ text: "x" }) }] }),
      /^messages\[0\]: needs \{ role: "user" \| "assistant", content: string \| Block\[\] \}/,
    ],
    [
      "a quirk that there is not",
      () => compatible("m", { baseUrl: "http://x", quirks: anyOf({ maxToken: "x" }) }),
      /^model\.quirks\.maxToken: no such option; did you mean maxOutputTokens\?|there are maxOutputTokens/,
    ],
    [
      "a server without its address",
      () => compatible("m", anyOf(undefined)),
      /^model: needs an object with baseUrl, got nothing/,
    ],
    [
      "rows without a sink",
      () => traceRows(anyOf(undefined)),
      /^trace: needs a function or an object with write/,
    ],
    [
      "agentVariants without createAgent",
      () => agentVariants(anyOf({ model }), anyOf(undefined)),
      /needs createAgent/,
    ],
    [
      "a variant of an agent that has none",
      () => agentVariants(createAgent, { model }).run("Hi", { small: true }),
      /^variant: there is no "small"; there are: none\n/,
    ],
    [
      "no model",
      () => createAgent(anyOf({})),
      /^model: is required\nSee docs\/tasks\/errors\.md#config_missing in the package looplet\.$/,
    ],
    [
      "a hook in the place of its group",
      () => createAgent({ model, hooks: { PreToolUse: [anyOf(() => ({}))] } }),
      /^hooks\.PreToolUse\[0\]: needs .*\{ hooks: \[function\] \}/,
    ],
  ])("%s", (_, attempt, told) => expect(attempt).toThrow(told));

  it("a custom model's part whose text is none ends the run", async () => {
    const wrong = custom(async () => [anyOf({ type: "text", text: 5 })]);
    const { error } = await createAgent({ model: wrong }).run("Hi").result;
    expect(error).toMatchObject({ code: "custom_model", message: expect.stringMatching(/text/) });
  });

  it.each(["auto", "none", "required"] as const)("toolChoice %s is none", async (toolChoice) => {
    const fetch = scripted([{ text: "Hi." }]);
    const inputSchema = { type: "object" };
    const act = { description: "Acts", inputSchema, execute: () => "done" };
    const choosing = createAgent({ model: anthropic("m", { fetch, toolChoice }), tools: { act } });
    expect((await choosing.run("Hi").result).outcome).toBe("completed");
  });

  it("options may be a module's namespace", async () => {
    const namespace = Object.defineProperty({ model }, Symbol.toStringTag, { value: "Module" });
    expect((await createAgent(namespace).run("Hi").result).outcome).toBe("completed");
  });

  it("kinds of thinking are quirks whatever they are called", () => {
    const quirks = anyOf({ "thinking.adaptive": { mode: "$" } });
    expect(() => compatible("m", { baseUrl: "http://x", quirks })).not.toThrow();
  });
});

describe("what the model reads of a throw that says nothing", () => {
  it.each<[() => never, string]>([
    [
      () => {
        throw new TypeError();
      },
      "TypeError without a message",
    ],
    [
      () => {
        throw undefined;
      },
      "undefined was thrown",
    ],
    [
      () => {
        throw new ToolError(anyOf({}));
      },
      "ToolError without a message",
    ],
  ])("%s", async (execute, told) => {
    const fetch = scripted([{ toolCalls: [{ name: "boom", input: {} }] }, { text: "Well." }]);
    const boom = { description: "Fails", inputSchema: { type: "object" }, execute };
    await createAgent({
      model: anthropic("t", { fetch }),
      tools: { boom },
      toolCalls: { wordError: toolErrorWords.sprout },
    }).run("Go").result;
    expect(fetch.requests[1]?.bodyText).toContain(
      JSON.stringify(JSON.stringify({ error: told })).slice(1, -1),
    );
  });
});

describe("a mistake in an agent of several is told with its place", () => {
  const inner = (variant: object, base: object = {}) =>
    agentVariants(createAgent, anyOf({ model, ...base, variants: { small: variant } }));

  it.each<[string, () => unknown, RegExp]>([
    [
      "of a variant",
      () => inner({ limits: { maxIterations: 0 } }),
      /^variants\.small\.limits\.maxIterations: needs a positive integer/,
    ],
    [
      "deep in a variant",
      () => inner({ timeouts: { totalMs: -1 } }),
      /^variants\.small\.timeouts\.totalMs: /,
    ],
    [
      "with a wrong name",
      () => inner({ maxIteration: 1 }),
      /^variants\.small\.maxIteration: .*did you mean limits: \{ maxIterations \}/,
    ],
    ["of the base", () => inner({}, { limits: { maxIterations: 0 } }), /^limits\.maxIterations: /],
    [
      "of a subagent",
      () =>
        createAgent({ model, tools: { researcher: subagent({ description: "R", limits: { maxUsd: -1 } }) } }),
      /^tools\.researcher\.limits\.maxUsd: /,
    ],
    [
      "of a subagent by its name",
      () => subagent({ name: "researcher", description: "R", limits: { maxIterations: anyOf("3") } }),
      /^researcher\.limits\.maxIterations: /,
    ],
  ])("%s", (_, attempt, told) => expect(attempt).toThrow(told));
});
