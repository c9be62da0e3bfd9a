import { describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, custom, subagent, tool } from "../../../src/typescript/core/entry/node.js";
import { presets } from "../../../src/typescript/compat/presets/index.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, CompactionRequest, RunEvent } from "../../../src/typescript/core/api/index.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

type Turns = Parameters<typeof scripted>[0];

const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 10 });
const look = (n: number) => ({ toolCalls: [{ name: "look", input: { n } }], usage: usage(100 * n) });
const overflow = {
  status: 400,
  body: {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
  },
};

const looks = tool({ description: "Looks", inputSchema: schema, execute: ({ n }) => `saw ${n}` });

function setUp(turns: Turns, options: Partial<AgentOptions> = {}) {
  const fetch = scripted(turns);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    system: "Be brief.",
    tools: { look: looks },
    ...options,
  });
  const sent = (index: number): string => JSON.stringify(fetch.requests[index]?.body);
  return { agent, fetch, sent };
}

describe("context.compaction", () => {
  it("S001-40, S001-41: a window that is nearly full is summarised, and the stream says so", async () => {
    const { agent, sent } = setUp([look(1), look(2), look(3), { text: "They looked." }, { text: "End." }], {
      context: { window: 400, compaction: { keepLast: 1, threshold: 0.75 } },
    });
    const events: RunEvent[] = [];
    const result = await agent.run("Go", { onEvent: (event) => events.push(event) }).result;
    expect(result).toMatchObject({ outcome: "completed", text: "End.", iterations: 4 });
    expect(sent(3)).toContain('"compaction":{"type":"summarize"}');
    expect(sent(4)).toContain('"type":"compaction","content":"They looked."');
    expect(sent(4)).not.toContain("saw 2");
    expect(JSON.stringify(result.messages)).toContain("saw 2");
    expect(JSON.stringify(result.messages)).toContain("[Context summary: They looked.]");
    expect(sent(4)).toContain("saw 3");
    const types = events.map(({ type }) => type);
    expect(types.indexOf("compact-start")).toBeLessThan(types.indexOf("compact-boundary"));
    const boundary = events.find((event) => event.type === "compact-boundary");
    expect(boundary).toMatchObject({ trigger: "auto", preTokens: expect.any(Number) });
    expect(boundary?.postTokens).toBeLessThan(boundary?.preTokens ?? 0);
  });

  it("an overflow is summarised and tried once more; compaction: false fails", async () => {
    const turns = [look(1), look(2), overflow, { text: "They looked." }, { text: "End." }];
    const first = setUp(turns, { context: { compaction: { keepLast: 1 } } });
    expect(await first.agent.run("Go").result).toMatchObject({ outcome: "completed", text: "End." });
    const off = setUp(turns, { context: { compaction: false } });
    const result = await off.agent.run("Go").result;
    expect(result).toMatchObject({ outcome: "failed", error: { code: "context_length" } });
  });

  it("a subagent has its own way, also where it is off what the run has on, or on what that has off", async () => {
    const below = (turns: Turns, options: Partial<Parameters<typeof subagent>[0]>) => {
      const fetch = scripted(turns);
      const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch });
      return { fetch, helper: subagent({ description: "Helps", model, tools: { look: looks }, ...options }) };
    };
    const asks = [
      { toolCalls: [{ name: "helper", input: { prompt: "Look." } }] },
      { text: "End." },
    ] satisfies Turns;
    const twice = [look(1111111), look(2), { text: "Seen." }];
    const whole = below(twice, { context: { pruning: false } });
    const pruning = { by: "looplet", afterResponses: 1, prefixChars: 3 } as const;
    await setUp(asks, { tools: { helper: whole.helper }, context: { pruning } }).agent.run("Go").result;
    expect(JSON.stringify(whole.fetch.requests[2]?.body)).toContain("1111111");
    const short = below(twice, {});
    await setUp(asks, { tools: { helper: short.helper }, context: { pruning } }).agent.run("Go").result;
    expect(JSON.stringify(short.fetch.requests[2]?.body)).not.toContain('"n":1111111');

    const turns = [look(1), look(2), overflow, { text: "They looked." }, { text: "Summed." }];
    for (const [run, own, output] of [
      [false, { keepLast: 1 }, "Summed."],
      [{ auto: false, keepLast: 1 }, true, "Summed."],
      [{ keepLast: 1 }, false, "prompt is too long"],
      [false, undefined, "prompt is too long"],
    ] as const) {
      const { helper } = below(turns, { context: { compaction: own } });
      const { agent } = setUp(asks, { tools: { helper }, context: { compaction: run } });
      const { toolCalls } = await agent.run("Go").result;
      expect(JSON.stringify(toolCalls[0]?.output)).toContain(output);
    }
  });

  it("S001-42: hooks hear of a summary before it is made and after, and may keep the history", async () => {
    const turns = [look(1), look(2), overflow, { text: "They looked." }, { text: "End." }];
    const pre = vi.fn();
    const post = vi.fn();
    const hooks = {
      PreCompact: [{ matcher: "overflow", hooks: [pre] }],
      PostCompact: [{ hooks: [post] }, { matcher: "manual", hooks: [() => expect.unreachable()] }],
    };
    const { agent } = setUp(turns, { context: { compaction: { keepLast: 1 } }, hooks });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "completed", text: "End." });
    expect(pre.mock.calls[0]?.[0]).toMatchObject({ event: "PreCompact", trigger: "overflow" });
    expect(post.mock.calls[0]?.[0]).toMatchObject({ trigger: "overflow", summary: "They looked." });
    const blocks = { PreCompact: [{ hooks: [() => ({ decision: "block" as const, reason: "Keep it." })] }] };
    const kept = setUp(turns, { context: { compaction: { keepLast: 1 } }, hooks: blocks });
    expect((await kept.agent.run("Go").result).error).toMatchObject({ code: "context_length" });
  });

  it("S001-42: run.compact summarises before the next call, also before the engine is loaded", async () => {
    const history = (await setUp([look(1), look(2), { text: "Seen." }]).agent.run("Go").result).messages;
    const { agent, sent } = setUp([{ text: "Sum." }, { text: "End." }], {
      context: { compaction: { keepLast: 0 } },
    });
    const run = agent.run("More?", { messages: history });
    run.compact({ instructions: "Keep the numbers." });
    const { messages } = await run.result;
    expect(sent(0)).toContain("Keep the numbers.");
    expect(messages.slice(0, history.length)).toEqual(history);
    expect(messages.slice(history.length)).toHaveLength(2);
    expect(JSON.stringify(messages[history.length])).toContain("[Context summary: Sum.]");
    expect(() => run.compact({ instruction: "x" } as never)).toThrow(
      expect.objectContaining({ field: "compact.instruction" }),
    );
  });

  it("P-18: summarize writes the summary; what it throws, or no text, is the built-in one", async () => {
    const turns = [look(1), look(2), { text: "End." }];
    const summarize = vi.fn<(request: CompactionRequest) => string>(() => "By hand.");
    const first = setUp(turns, { context: { window: 250, compaction: { keepLast: 1, summarize } } });
    expect((await first.agent.run("Go").result).outcome).toBe("completed");
    expect(first.sent(2)).toContain("[Context summary: By hand.]");
    expect(summarize.mock.calls[0]?.[0]).toMatchObject({ trigger: "auto" });
    expect(summarize.mock.calls[0]?.[0].messages).toHaveLength(3);
    const broken = [
      () => {
        throw new Error("broken");
      },
      () => 7 as never,
    ];
    for (const summarize of broken) {
      const { agent, sent } = setUp(turns, {
        context: { window: 250, compaction: { keepLast: 1, summarize } },
      });
      expect((await agent.run("Go").result).outcome).toBe("completed");
      expect(sent(2)).toContain("User asked: Go");
    }
  });

  it("an abort tells summarize that nobody waits", async () => {
    let signal: AbortSignal | undefined;
    const summarize = (request: CompactionRequest) => {
      signal = request.signal as AbortSignal;
      return new Promise<string>(() => {});
    };
    const { agent } = setUp([look(1), look(2)], {
      context: { window: 250, compaction: { keepLast: 1, summarize } },
    });
    const run = agent.run("Go");
    await vi.waitFor(() => expect(signal).toBeDefined());
    run.abort();
    expect(run.outcome).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
    expect((await run.result).messages).toHaveLength(5);
  });

  it("S002-18: pruning cuts old calls short and marks them", async () => {
    const long = { toolCalls: [{ name: "look", input: { n: 1, pad: "p".repeat(200) } }] };
    const { agent, sent } = setUp([long, long, { text: "End." }], {
      context: { pruning: { by: "looplet", afterResponses: 1, prefixChars: 10 } },
    });
    const { messages } = await agent.run("Go").result;
    expect(messages[1]).toMatchObject({ compacted: true });
    expect(sent(2)).toContain(`"_compacted":"{\\"n\\":1,\\"pa"`);
    expect(messages[3]).not.toHaveProperty("compacted");
  });

  it("P-17: context.maxChars drops the oldest for a few lines about them", async () => {
    const { agent, sent } = setUp([look(1), look(2), look(3), { text: "End." }], {
      context: { maxChars: 330 },
    });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(sent(3)).toContain("[Context summary: User asked: Go\\n  Called tools: look");
    expect(sent(3)).toContain("saw 3");
  });

  it("S001-39: shared instructions stand behind the system prompt of every request, after a compaction too", async () => {
    let runs = 0;
    const sharedInstructions = vi.fn(() => `Run ${++runs}.`);
    const turns = [look(1), look(2), { text: "Sum." }, { text: "End." }];
    const options = { context: { window: 250, compaction: { keepLast: 1 } }, sharedInstructions };
    const { agent, fetch } = setUp([...turns, { text: "Again." }], options);
    await agent.run("Go").result;
    for (const { body } of fetch.requests) expect(JSON.stringify(body)).toContain("Be brief.\\n\\nRun 1.");
    await agent.run("Go").result;
    expect(JSON.stringify(fetch.requests.at(-1)?.body)).toContain("Run 2.");
    expect(sharedInstructions).toHaveBeenCalledTimes(2);
    const seen: unknown[] = [];
    const alone = custom(({ system }) => (seen.push(system), "Hi."));
    await createAgent({ model: alone, sharedInstructions: "Always." }).run("Go").result;
    expect(seen).toEqual(["Always."]);
  });

  it.each(["sprout", "guide", "production", "prompty"] as const)(
    "the preset %s has no summaries, as its source has none",
    async (name) => {
      const { agent } = setUp([look(1), look(2), overflow, { text: "Sum." }], {
        ...presets[name].agent,
        retry: { maxRetries: 0 },
        onFailure: "result",
      });
      expect((await agent.run("Go").result).error?.code).toBe("context_length");
      expect(presets.guide.agent.context?.pruning).toEqual({ by: "looplet" });
    },
  );

  it.each<[object, string]>([
    [{ context: { window: 0 } }, "context.window"],
    [{ context: { window: 8000 }, maxOutputTokens: 8000 }, "context.window"],
    [
      { tools: { r: subagent({ description: "d", context: { window: 9 }, maxOutputTokens: 10 }) } },
      "tools.r.context.window",
    ],
    [{ context: { maxChars: "1k" } }, "context.maxChars"],
    [{ context: { compaction: "yes" } }, "context.compaction"],
    [{ context: { compaction: { threshold: 80 } } }, "context.compaction.threshold"],
    [{ context: { compaction: { keepLst: 1 } } }, "context.compaction.keepLst"],
    [{ context: { compaction: { summarize: "x" } } }, "context.compaction.summarize"],
    [{ context: { pruning: { afterResponses: 0 } } }, "context.pruning.afterResponses"],
    [{ context: { pruning: "yes" } }, "context.pruning"],
    [{ context: { pruning: { by: "claude" } } }, "context.pruning.by"],
    [{ sharedInstructions: 1 }, "sharedInstructions"],
  ])("%j is refused and names its field", (options, field) => {
    expect(() => setUp([], options)).toThrow(expect.objectContaining({ field }));
  });

  it("shared instructions that return no text are refused when a run begins", () => {
    const { agent } = setUp([], { sharedInstructions: (() => 7) as never });
    expect(() => agent.run("Go")).toThrow(expect.objectContaining({ field: "sharedInstructions" }));
  });

  it("shared instructions that throw are told as such, with their cause", () => {
    const cause = new Error("no file");
    const sharedInstructions = (): string => {
      throw cause;
    };
    const { agent } = setUp([], { sharedInstructions });
    expect(() => agent.run("Go")).toThrow(
      expect.objectContaining({
        field: "sharedInstructions",
        problem: "threw: no file",
        cause,
      }),
    );
  });
});
