import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "looplet";
import type { Message } from "looplet";
import { scripted } from "looplet/practice";
import { checkTranscript, repairTranscript } from "looplet/transcript";
import type { TranscriptProtocol } from "looplet/transcript";

type Pick = <T>(from: readonly T[]) => T;
type Block = Record<string, unknown>;
const protocols: TranscriptProtocol[] = ["looplet", "anthropic", "openai-chat", "ai-sdk"];

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

  it.each(protocols)("finds a second result for one call in %s", (protocol) => {
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
