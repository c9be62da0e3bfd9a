import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "looplet";
import type { Message } from "looplet";
import { scripted } from "looplet/practice";
import { checkTranscript, repairTranscript } from "looplet/transcript";
import type { TranscriptProtocol } from "looplet/transcript";

type Pick = <T>(from: readonly T[]) => T;
type Block = Record<string, unknown>;
const protocols: TranscriptProtocol[] = [
  "looplet",
  "anthropic",
  "openai-chat",
  "openai-responses",
  "ai-sdk",
  "ai-sdk-ui",
];

/** A source of choices that is the same for the same seed. */
function picks(seed: number): Pick {
  let state = (seed * 2654435761) >>> 0;
  return (from) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return from[((mixed ^ (mixed >>> 14)) >>> 0) % from.length]!;
  };
}

/** Blocks of each format: words, a call and a result. */
const blocks: Record<TranscriptProtocol, (pick: Pick) => { text: Block; call: Block; result: Block }> = {
  looplet: (pick) => ({
    text: pick<Block>([
      { type: "text", text: "hello" },
      { type: "text", text: "" },
      { type: "thinking", text: "hm" },
    ]),
    call: pick<Block>([
      { type: "tool_call", id: pick(["a", "b", "c"]), name: "f", input: { n: 1 } },
      {
        type: "tool_call",
        id: pick(["a", "b", "c", ""]),
        name: pick(["f", ""]),
        input: pick<unknown>([{}, [], "x"]),
      },
      { type: "tool_call", id: pick(["a", "b", "c"]), name: "f", inputText: "{" },
    ]),
    result: { type: "tool_result", callId: pick(["a", "b", "c"]), content: [{ type: "text", text: "ok" }] },
  }),
  anthropic: (pick) => ({
    text: { type: "text", text: pick(["hello", "hello", ""]) },
    call: { type: "tool_use", id: pick(["a", "b", "c", ""]), name: "f", input: pick<unknown>([{}, {}, "x"]) },
    result: { type: "tool_result", tool_use_id: pick(["a", "b", "c"]), content: "ok" },
  }),
  "openai-chat": (pick) => ({
    text: {},
    call: {
      id: pick(["a", "b", "c", ""]),
      type: "function",
      function: { name: "f", arguments: pick(["{}", {}]) },
    },
    result: { role: "tool", tool_call_id: pick(["a", "b", "c"]), content: "ok" },
  }),
  "openai-responses": (pick) => ({
    text: pick<Block>([
      { type: "reasoning", id: "rs_1", summary: [] },
      { role: "assistant", content: "hello" },
      { role: "user", content: "hello" },
    ]),
    call: {
      type: pick(["function_call", "function_call", "web_search_call"]),
      call_id: pick(["a", "b", "c", ""]),
      name: "f",
      arguments: pick(["{}", {}]),
    },
    result: { type: "function_call_output", call_id: pick(["a", "b", "c"]), output: "ok" },
  }),
  "ai-sdk-ui": (pick) => ({
    text: pick<Block>([{ type: "text", text: "hello" }, { type: "step-start" }]),
    call: {
      type: pick(["tool-f", "dynamic-tool"]),
      toolCallId: pick(["a", "b", "c"]),
      toolName: "f",
      state: pick(["input-available", "approval-requested", "output-error"]),
      input: {},
    },
    result: {
      type: "tool-f",
      toolCallId: pick(["a", "b", "c", "d", ""]),
      state: pick(["output-available", "output-available", "done"]),
      input: {},
      output: 1,
    },
  }),
  "ai-sdk": (pick) => ({
    text: { type: "text", text: "hello" },
    call: { type: "tool-call", toolCallId: pick(["a", "b", "c", ""]), toolName: "f", input: {} },
    result: {
      type: "tool-result",
      toolCallId: pick(["a", "b", "c"]),
      toolName: "f",
      output: { type: "text", value: "ok" },
    },
  }),
};

/** Any messages: most histories are damaged in several ways. */
function anyHistory(protocol: TranscriptProtocol, pick: Pick): unknown[] {
  return Array.from({ length: pick([0, 1, 2, 3, 4, 5, 6]) }, () => {
    const some = <T>(make: () => T) => Array.from({ length: pick([0, 1, 2, 3]) }, make);
    const any = () => blocks[protocol](pick);
    if (protocol === "openai-chat") {
      return pick<() => unknown>([
        () => ({ role: "user", content: "hello" }),
        () => ({ role: "assistant", content: pick([null, "hello"]), tool_calls: some(() => any().call) }),
        () => any().result,
        () => any().result,
      ])();
    }
    if (protocol === "openai-responses") return any()[pick(["text", "call", "result"] as const)];
    if (protocol === "ai-sdk-ui") {
      const parts = some(() => any()[pick(["text", "call", "result"] as const)]);
      return { id: "m", role: pick(["user", "assistant", "assistant"]), parts };
    }
    const roles = protocol === "ai-sdk" ? ["user", "assistant", "tool"] : ["user", "assistant"];
    const role = pick(roles);
    const usual = role === "assistant" ? "call" : "result";
    return {
      role,
      content: some(() => any()[pick(["text", usual, usual, usual, "call", "result"] as const)]),
    };
  });
}

async function isAccepted(messages: Message[]): Promise<boolean> {
  const agent = createAgent({ model: anthropic("m", { apiKey: "k" }), fetch: scripted([{ text: "Hi." }]) });
  try {
    const result = await agent.run("Go on.", { messages }).result;
    expect(result.outcome === "completed" || result.error?.code === "config_invalid").toBe(true);
    return result.outcome === "completed";
  } catch {
    return false;
  }
}

describe("checkTranscript", () => {
  it("accepts a looplet history exactly if a run does", async () => {
    const seen = { true: 0, false: 0 };
    for (let seed = 0; seed < 400; seed += 1) {
      const messages = anyHistory("looplet", picks(seed)) as Message[];
      const isLegal = checkTranscript(messages, "looplet").length === 0;
      expect(await isAccepted(messages), JSON.stringify(messages)).toBe(isLegal);
      seen[`${isLegal}`] += 1;
    }
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(40);
  });

  it("names the place and the rule of an Anthropic call without a result", () => {
    const messages = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] },
      { role: "user", content: "Well?" },
    ];
    expect(checkTranscript(messages, "anthropic")).toEqual([
      {
        path: "messages[1].content[0]",
        code: "missing_result",
        message: 'the call "toolu_1" needs a result in the next message',
      },
    ]);
    const repaired = repairTranscript<unknown>(messages, "anthropic").messages;
    expect(repaired[0]).toBe(messages[0]);
    expect(repaired[2]).toEqual({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: "The tool was not run: its result is missing from the history.",
          is_error: true,
        },
        { type: "text", text: "Well?" },
      ],
    });
  });

  it("takes results before other content, and one id once, for Anthropic", () => {
    const call = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] };
    const late = {
      role: "user",
      content: [
        { type: "text", text: "Here:" },
        { type: "tool_result", tool_use_id: "a", content: "1" },
      ],
    };
    const messages = [call, late, call, { role: "user", content: [late.content[1]] }];
    expect(checkTranscript(messages, "anthropic").map(({ path, code }) => [path, code])).toEqual([
      ["messages[1].content[1]", "results_not_first"],
      ["messages[2].content[0]", "duplicate_call"],
    ]);
    const repaired = repairTranscript<unknown>(messages, "anthropic").messages;
    expect(repaired[2]).toMatchObject({ content: [{ id: "a_2" }] });
    expect(repaired[3]).toMatchObject({ content: [{ tool_use_id: "a_2" }] });
  });

  it.each(protocols.slice(0, 3).concat("ai-sdk"))("finds a second result for one call in %s", (protocol) => {
    const { call, result } = blocks[protocol](([first]) => first!);
    const isChat = protocol === "openai-chat";
    const messages = isChat
      ? [{ role: "assistant", content: null, tool_calls: [call] }, result, result]
      : [
          { role: "assistant", content: [call] },
          { role: protocol === "ai-sdk" ? "tool" : "user", content: [result, result] },
        ];
    const path = isChat ? "messages[2]" : "messages[1].content[1]";
    expect(checkTranscript(messages, protocol)).toMatchObject([{ path, code: "duplicate_result" }]);
  });

  const item = (type: string, more: Block = {}) => ({ type, ...more });
  const call = item("function_call", { call_id: "a", name: "f", arguments: "{}" });
  const output = item("function_call_output", { call_id: "a", output: "1" });
  const custom = item("custom_tool_call", { call_id: "c", name: "sql", input: "select 1" });
  const reasoning = item("reasoning", { id: "rs_1", summary: [] });
  const goOn = { role: "user", content: "Go on." };
  const notRun = "The tool was not run: its result is missing from the history.";
  it.each<[string, unknown[], [string, string][], unknown[]]>([
    ["a call with its output later", [goOn, reasoning, call, goOn, output], [], []],
    ["an id that is used again", [call, output, call, output], [], []],
    [
      "a call without output",
      [goOn, call, custom, goOn],
      [
        ["input[1]", "missing_result"],
        ["input[2]", "missing_result"],
      ],
      [
        goOn,
        call,
        { ...output, output: notRun },
        custom,
        item("custom_tool_call_output", { call_id: "c", output: notRun }),
        goOn,
      ],
    ],
    ["an output before its call", [output, goOn], [["input[0]", "orphan_result"]], [goOn]],
    ["a second output", [call, output, output], [["input[2]", "duplicate_result"]], [call, output]],
    ["an output whose call the server has", [item("item_reference", { id: "fc_1" }), output], [], []],
    ["reasoning at the end", [goOn, reasoning], [["input[1]", "unfollowed_reasoning"]], [goOn]],
    ["reasoning before a user's message", [reasoning, goOn], [["input[0]", "unfollowed_reasoning"]], [goOn]],
    [
      "reasoning before an output",
      [call, reasoning, output],
      [["input[1]", "unfollowed_reasoning"]],
      [call, output],
    ],
    ["reasoning before an answer", [reasoning, { role: "assistant", content: "Yes." }], [], []],
    ["reasoning in two items", [reasoning, reasoning, item("web_search_call", { id: "ws_1" })], [], []],
    [
      "reasoning whose call is removed",
      [goOn, reasoning, item("function_call", { name: "f", arguments: "{}" })],
      [
        ["input[1]", "unfollowed_reasoning"],
        ["input[2]", "invalid_call"],
      ],
      [goOn],
    ],
    [
      "arguments that are an object",
      [{ ...call, arguments: { n: 1 } }, output],
      [["input[0]", "invalid_call"]],
      [{ ...call, arguments: '{"n":1}' }, output],
    ],
    [
      "a role that the API does not have",
      [{ role: "tool", content: "1" }],
      [["input[0]", "invalid_message"]],
      [],
    ],
  ])("judges the items of OpenAI Responses: %s", (_, items, problems, mended) => {
    const found = checkTranscript(items, "openai-responses");
    expect(found.map(({ path, code }) => [path.replace("messages", "input"), code])).toEqual(problems);
    const repaired = repairTranscript<unknown>(items, "openai-responses").messages;
    expect(repaired).toEqual(problems.length === 0 ? items : mended);
  });

  const tool = (state: string, more: Block = {}) => ({
    type: "tool-f",
    toolCallId: "a",
    state,
    input: {},
    ...more,
  });
  it.each<[string, Block, string | undefined, Block | undefined]>([
    ["an input that streams", tool("input-streaming"), undefined, undefined],
    [
      "a call that waits for a person",
      tool("approval-requested", { approval: { id: "1" } }),
      undefined,
      undefined,
    ],
    [
      "a call that a person has allowed",
      tool("approval-responded", { approval: { id: "1", approved: true } }),
      undefined,
      undefined,
    ],
    ["an output", tool("output-available", { output: 1 }), undefined, undefined],
    ["an error", tool("output-error", { errorText: "no" }), undefined, undefined],
    ["a refusal", tool("output-denied", { approval: { id: "1", approved: false } }), undefined, undefined],
    [
      "a call that the provider runs",
      tool("input-available", { providerExecuted: true }),
      undefined,
      undefined,
    ],
    [
      "a call without a result",
      tool("input-available"),
      "missing_result",
      tool("output-error", { errorText: notRun }),
    ],
    [
      "a dynamic call without a result",
      { ...tool("input-available"), type: "dynamic-tool", toolName: "g" },
      "missing_result",
      { ...tool("output-error", { errorText: notRun }), type: "dynamic-tool", toolName: "g" },
    ],
    [
      "an error without words",
      tool("output-error"),
      "invalid_call",
      tool("output-error", { errorText: notRun }),
    ],
    ["another state", tool("result"), "invalid_call", undefined],
    ["a call without an id", { ...tool("input-available"), toolCallId: "" }, "invalid_call", undefined],
    [
      "a dynamic call without a name",
      { ...tool("output-denied"), type: "dynamic-tool" },
      "invalid_call",
      undefined,
    ],
    ["a part without a type", { text: "hello" }, "unknown_block", undefined],
  ])("judges a part of the AI SDK's UI messages: %s", (_, part, code, mended) => {
    const text = { type: "text", text: "hello" };
    const messages = [{ id: "1", role: "assistant", parts: [text, part] }];
    const found = checkTranscript(messages, "ai-sdk-ui");
    expect(found.map(({ path, code }) => [path, code])).toEqual(code ? [["messages[0].parts[1]", code]] : []);
    const repaired = repairTranscript<unknown>(messages, "ai-sdk-ui").messages;
    if (code === undefined) expect(repaired).toBe(messages);
    else expect(repaired).toEqual([{ id: "1", role: "assistant", parts: mended ? [text, mended] : [text] }]);
  });

  it("finds two parts of one UI message with the same call", () => {
    const parts = [tool("output-available", { output: 1 }), tool("output-available", { output: 2 })];
    const messages = [{ id: "1", role: "assistant", parts }];
    expect(checkTranscript(messages, "ai-sdk-ui")).toMatchObject([
      { path: "messages[0].parts[1]", code: "duplicate_call" },
    ]);
  });

  it("lets a call of the AI SDK wait for its approval", () => {
    const messages = [
      { role: "user", content: "Delete it." },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "a", toolName: "remove", input: {} },
          { type: "tool-approval-request", approvalId: "1", toolCallId: "a" },
        ],
      },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "1", approved: true }] },
    ];
    expect(checkTranscript(messages, "ai-sdk")).toEqual([]);
  });

  it("refuses what is not an array, and an unknown protocol", () => {
    expect(() => checkTranscript({} as never, "looplet")).toThrow("needs an array of messages");
    expect(() => checkTranscript([], "xml" as never)).toThrow("needs one of looplet, anthropic");
  });
});

describe("repairTranscript", () => {
  it.each(protocols)("makes any history of %s legal, once and for all", (protocol) => {
    let isLegal = 0;
    for (let seed = 0; seed < 3000; seed += 1) {
      const messages = anyHistory(protocol, picks(seed));
      const given = JSON.stringify(messages);
      const repaired = repairTranscript(messages, protocol);
      expect(JSON.stringify(messages)).toBe(given);
      expect(checkTranscript(repaired.messages, protocol), given).toEqual([]);
      const again = repairTranscript(repaired.messages, protocol);
      expect(again.messages).toBe(repaired.messages);
      if (repaired.changes.length > 0) continue;
      isLegal += 1;
      expect(repaired.messages).toBe(messages);
    }
    expect(isLegal).toBeGreaterThan(100);
  });

  it.each(protocols)("survives garbage in a history of %s", (protocol) => {
    const garbage = [
      null,
      1,
      "x",
      [],
      {},
      { role: "user" },
      { role: "assistant", content: [null, 1, "x", {}] },
    ];
    const repaired = repairTranscript<unknown>(garbage, protocol);
    expect(checkTranscript(repaired.messages, protocol)).toEqual([]);
    expect(repaired.changes.length).toBeGreaterThan(3);
  });
});
