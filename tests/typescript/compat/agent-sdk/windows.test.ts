import { afterEach, describe, expect, it, vi } from "vitest";
import { compatible } from "looplet";
import { AbortError, query, type SDKMessage } from "looplet/agent-sdk";
import { all, kinds, resultOf, scene, use, type Turns } from "./kit.js";

afterEach(() => vi.unstubAllEnvs());

const notes = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) =>
    "subtype" in message && message.subtype === "informational"
      ? [`${message.level}: ${message.content}`]
      : [],
  );

/** Rounds in which the vendor has counted so many tokens. */
const rounds = (inputTokens: number): Turns => [
  ...[1, 2, 3, 4, 5].map((n) => ({
    text: `Round ${n}.`,
    toolCalls: [use("Read", { n })],
    usage: { inputTokens: n === 5 ? inputTokens : 1000 },
  })),
  { text: "A summary." },
  { text: "Done." },
];

describe("S001-40, S001-41: compaction before the limit", () => {
  const boundaries = (messages: readonly SDKMessage[]) =>
    messages.filter((message) => "subtype" in message && message.subtype === "compact_boundary");

  it.each([
    ["claude-sonnet-4-5", 170_000, 1],
    ["claude-sonnet-4-6", 170_000, 0],
    ["claude-sonnet-4-6", 850_000, 1],
    ["claude-haiku-5-5", 170_000, 0],
    ["claude-mythos-5-2", 170_000, 0],
    ["opus", 850_000, 1],
    ["sonnet[1m]", 170_000, 0],
    ["claude-next-9", 170_000, 1],
  ])("%s at %i tokens: %i summaries", async (model, tokens, count) => {
    const turns = rounds(tokens);
    const { options } = scene(
      count === 1 ? turns : ([...(turns as object[]).slice(0, 5), { text: "Done." }] as Turns),
      { model },
    );
    const messages = await all("Go", options);
    expect(boundaries(messages)).toHaveLength(count);
    expect(resultOf(messages)).toMatchObject({ subtype: "success", result: "Done." });
    if (count === 1) expect(boundaries(messages)).toMatchObject([{ compact_metadata: { trigger: "auto" } }]);
  });

  it("has a window and a threshold of the options, and is switched off by them", async () => {
    const small = scene(rounds(9000), { contextWindow: 10_000, compaction: { threshold: 0.5 } });
    expect(boundaries(await all("Go", small.options))).toHaveLength(1);
    const off = scene([...(rounds(9000) as object[]).slice(0, 5), { text: "Done." }] as Turns, {
      contextWindow: 10_000,
      compaction: false,
    });
    expect(boundaries(await all("Go", off.options))).toHaveLength(0);
  });
});

describe("the end of a query", () => {
  it("S001-17: has the stop_reason of the last answer after a failure of the API", async () => {
    const turns: Turns = [{ toolCalls: [use("Read")] }, { status: 401, body: { error: { message: "no" } } }];
    const result = resultOf(await all("Go", scene(turns).options));
    expect(result).toMatchObject({ subtype: "error_during_execution", stop_reason: "tool_use" });
    expect(resultOf(await all("Go", scene([{ status: 401 }]).options)).stop_reason).toBeNull();
  });

  it("S001-17: has it after a budget that ran out in an answer", async () => {
    const costly = { text: "Long.", usage: { inputTokens: 9_000_000 } };
    const turns: Turns = [{ toolCalls: [use("Read")] }, costly];
    const result = resultOf(await all("Go", scene(turns, { maxBudgetUsd: 1 }).options));
    expect(result.subtype).toBe("error_max_budget_usd");
    expect(["tool_use", "end_turn"]).toContain(result.stop_reason);
  });

  it("S001-18: tells an abort among tools from one in an answer", async () => {
    const among = new AbortController();
    const { options } = scene([{ toolCalls: [use("Read")] }, { text: "Never." }], {
      abortController: among,
      hooks: { PreToolUse: [{ hooks: [async () => (among.abort(), {})] }] },
    });
    expect(resultOf(await all("Go", options)).terminal_reason).toBe("aborted_tools");
    const within = new AbortController();
    const streamed = scene([{ text: "Well, ".repeat(50) }], {
      abortController: within,
      includePartialMessages: true,
    });
    const seen: SDKMessage[] = [];
    for await (const message of query({ prompt: "Go", options: streamed.options })) {
      seen.push(message);
      if (message.type === "stream_event") within.abort();
    }
    const { terminal_reason: reason, subtype } = resultOf(seen);
    expect(subtype === "success" ? "aborted_streaming" : reason).toBe("aborted_streaming");
  });
});

describe("S001-36: the model", () => {
  it("is the host's, or the newest Sonnet, if the options name none", async () => {
    const { fetch, options } = scene([{ text: "Hi." }]);
    const { model: _, ...rest } = options;
    const messages = await all("Go", rest);
    expect(messages[0]).toMatchObject({ subtype: "init", model: "claude-sonnet-5-5" });
    expect((fetch.requests[0]!.body as any).model).toBe("claude-sonnet-5-5");
    const own = scene([{ text: "Hi." }], { host: { defaultModel: "haiku" } });
    const { model: __, ...without } = own.options;
    expect((await all("Go", without))[0]).toMatchObject({ model: "claude-haiku-5-5" });
  });

  it("S001-51: needs no options where the process has a key", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-of-the-process");
    const sent: { url: string; key: unknown }[] = [];
    vi.stubGlobal("fetch", async (url: string, init: { headers: any }) => {
      sent.push({ url, key: new Headers(init.headers).get("x-api-key") });
      return new Response("{}", { status: 401 });
    });
    try {
      const messages: SDKMessage[] = [];
      for await (const message of query({ prompt: "Hello" })) messages.push(message);
      expect(kinds(messages)).toEqual(["system/init", "result/error_during_execution"]);
      expect(sent).toMatchObject([{ key: "sk-of-the-process" }]);
    } finally {
      vi.unstubAllGlobals();
    }
    vi.stubEnv("ANTHROPIC_API_KEY", "");
    expect(() =>
      query({ prompt: "Hello", options: { env: { ANTHROPIC_API_KEY: "sk-of-the-options" } } }),
    ).not.toThrow();
  });

  it("has its price by an alias, and one without a price is warned of once", async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const opus = resultOf(await all("Go", scene([{ text: "Hi.", usage }], { model: "opus" }).options));
    expect(opus.total_cost_usd).toBeGreaterThan(1);
    const fetch = scene([{ text: "Hi." }, { text: "Hi." }]).fetch;
    const model = () =>
      compatible("house-1", {
        baseUrl: "https://house.test",
        apiKey: "k",
        fetch,
        protocol: "anthropic",
      } as never);
    async function* said() {
      for (const content of ["One", "Two"])
        yield { type: "user" as const, message: { role: "user" as const, content } };
    }
    const messages = await all(said(), { model: "house-1", host: { model } });
    expect(notes(messages).filter((note) => note.includes("price"))).toEqual([
      expect.stringMatching(/^warning: The price of house-1 is not known/),
    ]);
  });
});

describe("S001-28: what an option cannot do", () => {
  it("is said once, as a warning", async () => {
    const more = {
      debug: true,
      promptSuggestions: true,
      onUserDialog: async () => null,
      agentProgressSummaries: true,
    };
    const messages = await all("Go", scene([{ text: "Hi." }], more as never).options);
    expect(notes(messages)).toEqual([
      "warning: These options do nothing here: debug, promptSuggestions, agentProgressSummaries, onUserDialog.",
    ]);
  });

  it("a rule for a tool that is nowhere gets a hint", async () => {
    const allowedTools = [
      "Raed",
      "Read",
      "mcp__app__Read",
      "mcp__ap__Read",
      "Bsah(ls *)",
      "mcp__app__other",
      "*",
    ];
    const messages = await all("Go", scene([{ text: "Hi." }], { allowedTools }).options);
    expect(notes(messages).filter((note) => note.includes("names no tool"))).toEqual([
      expect.stringMatching(/"Raed" names no tool.*Did you mean "Read"\?/),
      expect.stringMatching(/"mcp__ap__Read" names no tool.*Did you mean "mcp__app__Read"\?/),
      expect.stringMatching(/"Bsah\(ls \*\)" names no tool.*Did you mean "Bash"\?/),
    ]);
  });

  it("AbortError is there for programs that compare with it", () => {
    expect(new AbortError("x")).toBeInstanceOf(Error);
    expect(new AbortError().name).toBe("AbortError");
  });
});
