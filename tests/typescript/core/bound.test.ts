import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  openai,
  openaiChat,
  subagent,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedTurn } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, RunBound } from "../../../src/typescript/core/api/index.js";

const price = { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cacheWriteUsdPerMillion: 3.75 };
const schema = { type: "object", properties: { n: { type: "number" } } } as const;

/** A seeded source of whole numbers (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const WINDOW = 4000;
const ANSWER = 200;

/** Answers as a vendor that keeps to its window and to the longest answer, and fails now and then. */
function server(below: (below: number) => number, names: readonly string[]) {
  const turn = (): ScriptedTurn => {
    const cached = below(3) === 0 ? below(WINDOW) : 0;
    const usage = {
      inputTokens: below(2) === 0 ? WINDOW - cached : below(WINDOW - cached),
      cacheWriteTokens: cached,
      outputTokens: below(2) === 0 ? ANSWER : below(ANSWER),
    };
    const call = () => ({ name: names[below(names.length)]!, input: { n: below(1000), prompt: "Go." } });
    const calls = { toolCalls: Array.from({ length: 1 + below(3) }, call), usage };
    const texts: readonly ScriptedTurn[] = [
      { text: "Some words.", usage },
      { text: "Cut", usage, stopReason: "length" },
      { text: "Half", usage, error: { type: "overloaded_error" } },
      { text: "Half of it", usage, dropAfterEvents: 2 + below(3) },
      { status: 529 },
      {
        status: 400,
        body: { type: "error", error: { type: "invalid_request_error", message: "prompt is too long" } },
      },
    ];
    return below(3) > 0 ? calls : texts[below(texts.length)]!;
  };
  return scripted(Array.from({ length: 3000 }, () => turn));
}

function randomAgent(seed: number) {
  const below = dice(seed);
  const maybe = <T>(value: T): T | undefined => (below(2) === 0 ? value : undefined);
  const fetch = server(below, ["look", "helper"]);
  const model = (name: string) => anthropic(name, { apiKey: "k", fetch, price, maxOutputTokens: ANSWER });
  const look = tool({
    description: "Looks",
    inputSchema: schema,
    readOnly: true,
    execute: () => "x".repeat(below(4000)),
  });
  const helper = subagent({
    description: "Helps",
    tools: { look },
    limits: { maxIterations: 1 + below(3) },
    persistent: below(2) === 0,
    ...(below(2) === 0 ? { maxCalls: 1 + below(3) } : {}),
  });
  const options: AgentOptions = {
    model: model("one"),
    tools: { look, ...(below(2) === 0 ? { helper } : {}) },
    context: { window: WINDOW, compaction: below(3) === 0 ? false : { keepLast: 1, threshold: 0.5 } },
    limits: {
      maxIterations: 1 + below(5),
      maxTotalTokens: maybe(500 + below(20_000)),
      maxUsd: maybe(below(40_000) / 1e6),
      maxToolCalls: maybe(1 + below(8)),
    },
    fallbackModels: below(3) === 0 ? [model("two")] : [],
    answers: { onMaxTokens: below(2) === 0 ? "continue" : "return" },
    toolCalls: { eager: below(2) === 0, maxConcurrency: 1 + below(3) },
    retry: { maxRetries: below(3), maxModelCallRetries: below(2), baseMs: 0, jitterMs: 0 },
  };
  return { agent: createAgent(options), fetch, options };
}

/** Compares a figure with its limit. */
const keeps = (used: number, most: number | null) => most === null || used <= most;

describe("agent.bound", () => {
  it("is never exceeded, whatever the limits are and whatever the vendor answers", async () => {
    const reached = { requests: 0, tokens: 0, unbounded: 0 };
    for (let seed = 1; seed <= 300; seed++) {
      const { agent, fetch, options } = randomAgent(seed);
      const bound = await agent.bound("Go");
      const result = await agent.run("Go").result;
      const { inputTokens = 0, outputTokens = 0 } = result.usage ?? {};
      const context = () => `seed ${seed}: ${JSON.stringify({ bound, usage: result.usage, options })}`;
      expect(keeps(fetch.requests.length, bound.requests), context()).toBe(true);
      expect(keeps(inputTokens, bound.inputTokens), context()).toBe(true);
      expect(keeps(outputTokens, bound.outputTokens), context()).toBe(true);
      expect(keeps(result.costNanoUsd ?? 0, bound.costNanoUsd), context()).toBe(true);
      expect(bound.requests === null, context()).toBe(bound.unbounded.length > 0);
      if (fetch.requests.length === bound.requests) reached.requests += 1;
      if (inputTokens > (bound.inputTokens ?? Infinity) / 2) reached.tokens += 1;
      if (bound.unbounded.length > 0) reached.unbounded += 1;
    }
    // The bound is no number that anything would keep to.
    expect(reached.requests).toBeGreaterThan(5);
    expect(reached.tokens).toBeGreaterThan(20);
    expect(reached.unbounded).toBeGreaterThan(20);
  }, 120_000);

  it("says what a run of one answer costs at most, by its prompt", async () => {
    const model = anthropic("m", { apiKey: "k", fetch: scripted([]), price, maxOutputTokens: 100 });
    const agent = createAgent({ model, limits: { maxIterations: 1 }, retry: { maxRetries: 0 } });
    const short = await agent.bound("Hi");
    const long = await agent.bound("Hi", {
      messages: [{ role: "user", content: [{ type: "text", text: "Hi".repeat(5000) }] }],
    });
    expect(short).toMatchObject({
      requests: 1,
      outputTokens: 100,
      unbounded: [],
    } satisfies Partial<RunBound>);
    expect(long.inputTokens! - short.inputTokens!).toBeGreaterThan(10_000);
    expect(short.costUsd).toBeCloseTo((short.inputTokens! * 3.75 + 100 * 15) / 1e6, 9);
  });

  it("names the options that would limit what has no limit", async () => {
    const agent = createAgent({ model: anthropic("m", { apiKey: "k" }) });
    expect(await agent.bound("Hi")).toMatchObject({
      inputTokens: null,
      costUsd: null,
      unbounded: ["context.window", "price"],
    });
    const chat = createAgent({ model: openaiChat("m", { apiKey: "k", price }) });
    expect((await chat.bound("Hi")).unbounded).toEqual(["context.window", "maxOutputTokens"]);
  });

  it("counts with what is known of a model where the options have no number", async () => {
    const boundOf = (options: AgentOptions) =>
      createAgent({ limits: { maxIterations: 2 }, retry: { maxRetries: 0 }, ...options }).bound("Hi");
    const model = (name: string, options = {}) => anthropic(name, { apiKey: "k", price, ...options });
    const opus = await boundOf({ model: model("claude-opus-5-5") });
    expect(opus).toMatchObject({
      outputTokens: opus.requests! * 32_000,
      unbounded: [],
      assumed: [
        { vendor: "anthropic", model: "claude-opus-5-5", window: 1_000_000, maxOutputTokens: 32_000 },
      ],
    });
    const budget = model("claude-haiku-4-5", { thinking: { budgetTokens: 60_000 } });
    expect((await boundOf({ model: budget })).assumed).toMatchObject([
      { window: 200_000, maxOutputTokens: 64_000 },
    ]);
    const gpt = openai("gpt-6.2-sol", { apiKey: "k", price });
    expect((await boundOf({ model: gpt, context: { window: 90_000 } })).assumed).toEqual([
      { vendor: "openai", model: "gpt-6.2-sol", maxOutputTokens: 128_000 },
    ]);
    const own = model("claude-opus-5-5", { maxOutputTokens: 100 });
    const given = await boundOf({ model: own, context: { window: 9_000 } });
    expect(given).toMatchObject({ outputTokens: given.requests! * 100, assumed: [] });
  });

  it.each([
    ["", {}, "misuse_empty_prompt"],
    ["Hi", { message: [] }, "config_unknown_option"],
    ["Hi", { messages: "Hi" }, "config_wrong_type"],
    ["Hi", { agent: "nobody" }, "config_invalid_value"],
  ])("refuses %j with %j", async (prompt, options, code) => {
    const agent = createAgent({ model: anthropic("m", { apiKey: "k" }) });
    await expect(agent.bound(prompt, options as never)).rejects.toMatchObject({ code });
  });
});
