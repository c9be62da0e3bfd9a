import "looplet";
import { raw, scripted, type ScriptedStep } from "looplet/practice";
import {
  agentLoop,
  AgentLoopError,
  type AgentLoopOptions,
  type AgentLoopResult,
  type SproutTool,
} from "looplet/sprout";
import type { Clock, Fetch } from "looplet";
import { describe, expect, it, vi } from "vitest";

const done = { text: "Done." };
const call = (name: string, input: unknown = {}, id?: string) => ({ name, input, ...(id ? { id } : {}) });

interface Heard {
  result: AgentLoopResult;
  log: string[];
  bodies: any[];
  waits: number[];
}

/** One loop with the tools `add`, `look` and `fail`, and the order of what happened. */
async function loop(turns: ScriptedStep[], options: Partial<AgentLoopOptions> = {}): Promise<Heard> {
  const log: string[] = [];
  const waits: number[] = [];
  let nowMs = 1_000;
  let sentMs = nowMs;
  const fetch = scripted(turns);
  const timed: Fetch = (url, init) => {
    if (nowMs > sentMs) waits.push(nowMs - sentMs);
    sentMs = nowMs;
    return fetch(url, init);
  };
  const clock: Clock = {
    now: () => nowMs,
    setTimer: (callback, delayMs) => {
      // Timeouts of requests are not waited out; only a wait between two attempts passes.
      if (delayMs >= 30_000) return undefined;
      return setTimeout(() => {
        nowMs += delayMs;
        callback();
      }, 0);
    },
    clearTimer: (timer) => clearTimeout(timer as never),
  };
  const tool = (name: string, execute: (input: any) => unknown): SproutTool => ({
    name,
    description: `Does ${name}`,
    input_schema: { type: "object", properties: { n: { type: "number" } } },
    async execute(input) {
      log.push(`start ${name}`);
      await Promise.resolve();
      log.push(`end ${name}`);
      return execute(input);
    },
  });
  const tools = [
    tool("add", ({ n }) => ({ sum: n })),
    tool("look", () => "seen"),
    tool("fail", ({ why }) => {
      throw why === undefined ? "gone" : new Error(why);
    }),
  ];
  const heard: Heard = {
    result: undefined as never,
    log,
    waits,
    get bodies() {
      return fetch.requests.map(({ body }) => body);
    },
  };
  try {
    heard.result = await agentLoop({
      systemPrompt: "You are an expert tutor.",
      userMessage: "Teach me about binary search trees",
      tools,
      callbacks: {
        onThinking: (text) => log.push(`think ${text}`),
        onToolCall: (name, input) => log.push(`call ${name} ${JSON.stringify(input)}`),
        onToolResult: (name, result) => log.push(`result ${name} ${result}`),
      },
      host: { fetch: timed, clock, random: () => 0.5 },
      ...options,
    });
  } catch (error) {
    throw Object.assign(error as Error, { heard });
  }
  return heard;
}

describe("agentLoop", () => {
  it("S000-01, S000-10, S000-14: each call is told, run and answered before the next one, and all before the next request", async () => {
    const { log, bodies, result } = await loop([
      { text: "I look first.", toolCalls: [call("look"), call("add", { n: 2 })] },
      { toolCalls: [call("look")] },
      done,
    ]);
    expect(log).toEqual([
      "think I look first.",
      "call look {}",
      "start look",
      "end look",
      "result look seen",
      'call add {"n":2}',
      "start add",
      "end add",
      'result add {"sum":2}',
      "call look {}",
      "start look",
      "end look",
      "result look seen",
      "think Done.",
    ]);
    expect(bodies).toHaveLength(3);
    expect(result.finalText).toBe("Done.");
  });

  it("S000-02, S000-12, S000-24: returns a promise of three fields, without callbacks too", async () => {
    const fetch = scripted([done]);
    const promise = agentLoop({ systemPrompt: "s", userMessage: "u", tools: [], host: { fetch } });
    expect(promise).toBeInstanceOf(Promise);
    const result = await promise;
    expect(Object.keys(result)).toEqual(["finalText", "toolCalls", "conversationHistory"]);
    expect(result).toMatchObject({ finalText: "Done.", toolCalls: [] });
  });

  it.each<[string, object]>([
    ["S000-03: systemPrompt", { systemPrompt: undefined }],
    ["S000-04: userMessage", { userMessage: undefined }],
    ["S000-05: tools", { tools: undefined }],
    ["tools[0].execute", { tools: [{ name: "x" }] }],
    ["conversationHistory", { conversationHistory: "Hi" }],
  ])("%s is refused with a TypeError before any request", async (name, wrong) => {
    const fetch = scripted([done]);
    const options = { systemPrompt: "s", userMessage: "u", tools: [], host: { fetch }, ...wrong };
    const refused = agentLoop(options as AgentLoopOptions);
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(name.replace(/^S\S+ /, ""));
    expect(fetch.requests).toEqual([]);
  });

  it("S000-03, S000-05, S000-07, S000-08: every request has the source's fields and no others", async () => {
    const { bodies } = await loop([{ toolCalls: [call("look")] }, done]);
    for (const body of bodies) {
      const { stream: _, ...sent } = body;
      expect(Object.keys(sent).sort()).toEqual(["max_tokens", "messages", "model", "system", "tools"]);
      expect(sent).toMatchObject({
        model: "claude-opus-4-20250514",
        max_tokens: 8000,
        system: "You are an expert tutor.",
      });
      expect(sent.tools[0]).toEqual({
        name: "add",
        description: "Does add",
        input_schema: { type: "object", properties: { n: { type: "number" } } },
      });
    }
    expect(bodies[0].messages).toHaveLength(1);
    expect(bodies[0].messages[0]).toMatchObject({ role: "user" });
    expect(JSON.stringify(bodies[0].messages[0].content)).toContain("Teach me about binary search trees");
  });

  it("S000-04: a history may stand in place of the message, or before it", async () => {
    const conversationHistory = [
      { role: "user" as const, content: "Hello" },
      { role: "assistant" as const, content: "Hi." },
      { role: "user" as const, content: "What is a verb?" },
    ];
    const spoken = (body: any) =>
      body.messages.map(({ role, content }: any) => [role, ...content.map(({ text }: any) => text)]);
    const instead = await loop([done], { userMessage: undefined, conversationHistory });
    expect(spoken(instead.bodies[0])).toEqual([
      ["user", "Hello"],
      ["assistant", "Hi."],
      ["user", "What is a verb?"],
    ]);
    const before = await loop([done], { conversationHistory, userMessage: "And a noun?" });
    expect(spoken(before.bodies[0])).toEqual([
      ["user", "Hello"],
      ["assistant", "Hi."],
      ["user", "What is a verb?", "And a noun?"],
    ]);
    const first = await loop([done], { userMessage: undefined, initialMessage: "Hi" });
    expect(spoken(first.bodies[0])).toEqual([["user", "Hi"]]);
    const open = loop([done], {
      userMessage: undefined,
      conversationHistory: conversationHistory.slice(0, 2),
    });
    await expect(open).rejects.toThrow(TypeError);
  });

  it("S000-06, S000-21: fifteen rounds of calls end the loop with what there is", async () => {
    const turns = Array.from({ length: 20 }, (_, n) => ({
      text: `Round ${n + 1}.`,
      toolCalls: [call("look")],
    }));
    const { result, bodies } = await loop(turns);
    expect(bodies).toHaveLength(15);
    expect(result.toolCalls).toHaveLength(15);
    expect(result.finalText).toBe("Round 15.");
    const five = await loop(turns, { maxIterations: 5 });
    expect(five.bodies).toHaveLength(5);
    const silent = await loop([{ toolCalls: [call("look")] }], { limits: { maxIterations: 1 } });
    expect(silent.result).toMatchObject({ finalText: "", toolCalls: [{ name: "look" }] });
  });

  it("S000-09, S000-21: each text block that is not blank is told whole, and those of the end are the final text", async () => {
    const { log, result } = await loop([
      {
        blocks: [
          { type: "text", text: ["One ", "block."] },
          { type: "tool-call", name: "look", input: {} },
          { type: "text", text: " \n" },
          { type: "text", text: "Another." },
        ],
      },
      {
        blocks: [
          { type: "text", text: "First." },
          { type: "text", text: "Second." },
        ],
      },
    ]);
    expect(log.filter((line) => line.startsWith("think"))).toEqual([
      "think One block.",
      "think Another.",
      "think First.",
      "think Second.",
    ]);
    expect(log.indexOf("think Another.")).toBeLessThan(log.indexOf("call look {}"));
    expect(result.finalText).toBe("First.\n\nSecond.");
  });

  it("S000-11, S000-15, S000-16, S000-17, S000-25: one string is told, kept and sent, under the call's id", async () => {
    const { result, bodies, log } = await loop([
      { toolCalls: [call("add", { n: 1 }, "toolu_1"), call("look", {}, "toolu_2")] },
      done,
    ]);
    expect(result.toolCalls).toEqual([
      { name: "add", input: { n: 1 }, result: '{"sum":1}' },
      { name: "look", input: {}, result: "seen" },
    ]);
    expect(log).toContain('result add {"sum":1}');
    expect(bodies[1].messages).toHaveLength(3);
    const sent = bodies[1].messages[2].content;
    expect(sent.map(({ type, tool_use_id }: any) => [type, tool_use_id])).toEqual([
      ["tool_result", "toolu_1"],
      ["tool_result", "toolu_2"],
    ]);
    expect(JSON.stringify(sent[0].content)).toContain(JSON.stringify('{"sum":1}').slice(1, -1));
    expect(JSON.stringify(sent[1].content)).toContain("seen");
  });

  it("S000-18: an answer that ends without calls, or says that the turn ends, is the last one", async () => {
    const { bodies, log } = await loop([
      { text: "Bye.", toolCalls: [call("look")], stopReason: "end" },
      done,
    ]);
    expect(bodies).toHaveLength(1);
    expect(log).toEqual(["think Bye."]);
    expect((await loop([{ text: "Cut", stopReason: "length" }])).result.finalText).toBe("Cut");
  });

  it("S000-19: a rate limit is waited for 2, 4 and 8 seconds, then the error is thrown", async () => {
    const limited = { status: 429, headers: { "retry-after": "60" } };
    const error = await loop([limited, limited, limited, limited, done]).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(AgentLoopError);
    expect(error).toMatchObject({ status: 429, heard: { waits: [2000, 4000, 8000] } });
    const saved = await loop([limited, limited, limited, done]);
    expect(saved.result.finalText).toBe("Done.");
  });

  it.each([500, 529, 401, 400])(
    "S000-20: any other error (%i) is thrown at once, with what there is",
    async (status) => {
      const error = await loop([{ toolCalls: [call("look")] }, { status }, done]).catch(
        (error: unknown) => error,
      );
      expect(error).toMatchObject({ status, heard: { waits: [] } });
      expect((error as AgentLoopError).result.toolCalls).toHaveLength(1);
    },
  );

  it.each([
    ["S000-22: of a tool", call("fail", { why: "No tree." }), "No tree."],
    ["S000-22: without words", call("fail"), "Tool execution failed"],
    ["S000-23: of a tool that does not exist", call("grow", { n: 1 }), "Unknown tool: grow"],
  ])("%s: an error is told, and goes to the model, which goes on", async (_, made, message) => {
    const { log, bodies, result } = await loop([{ toolCalls: [made, call("look")] }, done]);
    const words = JSON.stringify({ error: message });
    expect(result.toolCalls[0]).toEqual({ name: made.name, input: made.input, result: words });
    const told = log.filter((line) => /^(call|result)/.test(line));
    expect(told).toEqual([
      `call ${made.name} ${JSON.stringify(made.input)}`,
      `result ${made.name} ${words}`,
      "call look {}",
      "result look seen",
    ]);
    expect(JSON.stringify(bodies[1].messages[2].content[0].content)).toContain(message);
    expect(bodies[1].messages[2].content[0].is_error).toBe(true);
    expect(result.finalText).toBe("Done.");
  });

  it("tells a call whose arguments nobody can read", async () => {
    const { log, result } = await loop([{ toolCalls: [{ name: "look", argumentsText: "[not json" }] }, done]);
    expect(log[0]).toMatch(/^call look/);
    expect(log[1]).toMatch(/^result look \{"error":/);
    expect(result.toolCalls).toHaveLength(1);
  });

  it("S000-26: the history has the system prompt, then every message, and can be given back", async () => {
    const { result } = await loop([
      {
        thinking: { text: "Hm.", signature: "c2ln" },
        text: "I look.",
        toolCalls: [call("look", {}, "toolu_1")],
      },
      done,
    ]);
    expect(result.conversationHistory).toEqual([
      { role: "system", content: "You are an expert tutor." },
      { role: "user", content: [{ type: "text", text: "Teach me about binary search trees" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "toolu_1", name: "look", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "seen" }] },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ]);
    const next = await loop([done], {
      conversationHistory: JSON.parse(JSON.stringify(result.conversationHistory)),
      userMessage: "And now?",
    });
    expect(next.bodies[0].messages.map(({ role }: any) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
  });

  it("the parts of a result in a history are sent, and returned with the next one", async () => {
    const source = { type: "base64" as const, media_type: "image/png", data: "iVBORw0KGgo=" };
    const result = {
      type: "tool_result" as const,
      tool_use_id: "toolu_1",
      content: [
        { type: "text" as const, text: "A chart:" },
        { type: "image" as const, source },
      ],
    };
    const { result: next, bodies } = await loop([done], {
      conversationHistory: [
        { role: "user", content: "Draw it" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] },
        { role: "user", content: [result] },
      ],
      userMessage: "And now?",
    });
    expect(bodies[0].messages[2].content[0]).toMatchObject(result);
    expect(next.conversationHistory[3]!.content[0]).toEqual(result);
  });

  it("S000-29: usage and durations hang on the result", async () => {
    const { result } = await loop([{ ...done, usage: { inputTokens: 100, outputTokens: 7 } }]);
    expect(result.run.usage).toMatchObject({ inputTokens: 100, outputTokens: 7 });
    expect(result.run.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("resolves with what there is when its signal fires", async () => {
    const abort = new AbortController();
    const { result } = await loop([{ toolCalls: [call("look"), call("add", { n: 1 })] }, done], {
      signal: abort.signal,
      callbacks: { onToolResult: () => abort.abort() },
    });
    expect(result.toolCalls).toEqual([{ name: "look", input: {}, result: "seen" }]);
    expect(result.finalText).toBe("");
  });

  it("goes on when a callback throws", async () => {
    const callbacks = {
      onToolCall: () => {
        throw new Error("mine");
      },
    };
    const { result } = await loop([{ toolCalls: [call("look")] }, done], { callbacks });
    expect(result).toMatchObject({ finalText: "Done.", toolCalls: [{ result: "seen" }] });
  });

  it("asks the host for a model by its name", async () => {
    const asked: string[] = [];
    const { anthropic } = await import("looplet");
    const fetch = scripted([done]);
    const model = (name: string) => (asked.push(name), anthropic("other", { fetch }));
    await loop([], { model: "claude-haiku", host: { model } });
    expect(asked).toEqual(["claude-haiku"]);
    expect(fetch.requests[0]!.model).toBe("other");
  });

  it("takes any option of createAgent", async () => {
    const { bodies } = await loop([done], { maxOutputTokens: 4096 });
    expect(bodies[0].max_tokens).toBe(4096);
    await expect(loop([done], { maxTokens: 1 } as object)).rejects.toThrow(/maxTokens/);
  });

  it("gives the warnings of the run to the logger of the host, by default the console", async () => {
    const turns = () => [{ toolCalls: [{ name: "look", argumentsText: '{"n":1,}' }] }, done];
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    const host = (more: AgentLoopOptions["host"]) => ({
      // The default model has ended, which is a warning too.
      model: "claude-sonnet-4-6",
      host: { fetch: scripted(turns()), ...more },
    });
    await loop([], host({ logger }));
    const repaired = "The arguments of look were not valid JSON; repaired by trailing_commas";
    expect(warnings).toEqual([repaired]);
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    await loop([], host({}));
    expect(warn.mock.calls).toEqual([[repaired]]);
    warn.mockRestore();
    const broken = () => {
      throw new Error("The logger is broken");
    };
    expect((await loop([], host({ logger: { warn: broken } }))).result.finalText).toBe("Done.");
  });

  it("names a stream that breaks off", async () => {
    const error = await loop([raw("data: {", {})]).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(AgentLoopError);
  });
});

describe("a tool that returns an Error", () => {
  it("has failed, with the message of the error", async () => {
    const broken = {
      name: "broken",
      description: "Fails",
      input_schema: { type: "object" as const },
      execute: () => new Error("disk full"),
    };
    const { bodies, result } = await loop([{ toolCalls: [call("broken")] }, done], {
      tools: [broken as unknown as SproutTool],
    });
    expect(result.toolCalls).toMatchObject([{ result: JSON.stringify({ error: "disk full" }) }]);
    expect(JSON.stringify(bodies[1].messages.at(-1))).toContain("disk full");
  });
});
