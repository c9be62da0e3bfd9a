import { describe, expect, it } from "vitest";
import type { Message } from "looplet";
import { fromUIMessages, toUIMessages } from "looplet/ai-sdk";
import { checkTranscript } from "looplet/transcript";
import { agentOf, aiOf, messageOf, VERSIONS } from "./kit.js";
import { uiStream } from "looplet/ai-sdk";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const vendor = { providerMetadata: { openai: { itemId: "msg_1" } } };
const part = (state: string, more: object) => ({
  type: "tool-book",
  toolCallId: `c-${state}`,
  state,
  ...more,
});
const input = { city: "Paris" };

/** All parts that `ai` 5 knows. */
const common = [
  {
    id: "u1",
    role: "user",
    metadata: { at: 1 },
    parts: [
      { type: "text", text: "A hotel, please." },
      { type: "file", mediaType: "image/png", url: PNG, filename: "dot.png" },
      { type: "file", mediaType: "application/pdf", url: "https://x.test/a.pdf" },
      { type: "file", mediaType: "text/plain", url: "data:text/plain,Hi%20there" },
      { type: "data-place", id: "p", data: { lat: 1 } },
    ],
  },
  {
    id: "a1",
    role: "assistant",
    metadata: { usage: { inputTokens: 1 } },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "Hm.", state: "done", providerMetadata: { anthropic: { signature: "s" } } },
      { type: "text", text: "I look.", state: "done", ...vendor },
      { type: "text", text: "", state: "done" },
      part("output-available", {
        input,
        output: { rooms: [1, 2] },
        callProviderMetadata: { google: { t: "x" } },
      }),
      part("output-error", { input, errorText: "Full" }),
      {
        type: "dynamic-tool",
        toolName: "search",
        toolCallId: "d",
        state: "output-available",
        input,
        output: "5",
      },
      {
        type: "dynamic-tool",
        toolName: "count",
        toolCallId: "n",
        state: "output-available",
        input,
        output: 5,
      },
      { type: "step-start" },
      { type: "source-url", sourceId: "s1", url: "https://x.test", title: "X" },
      {
        type: "source-document",
        sourceId: "s2",
        mediaType: "application/pdf",
        title: "Y",
        filename: "y.pdf",
      },
      { type: "file", mediaType: "image/png", url: PNG },
      { type: "data-weather", id: "w", data: { sky: "rain" } },
      { type: "text", text: "Look at it.", state: "done" },
      part("input-available", { input }),
    ],
  },
  { id: "u2", role: "user", parts: [{ type: "text", text: "Thanks." }] },
];

/** The states of approvals, which `ai` 6 has. */
const approvals = [
  { id: "u1", role: "user", parts: [{ type: "text", text: "Hotels." }] },
  {
    id: "a1",
    role: "assistant",
    parts: [
      { type: "step-start" },
      part("approval-requested", { input, approval: { id: "q1" } }),
      part("approval-responded", { input, approval: { id: "q2", approved: true, reason: "Fine" } }),
      part("output-denied", { input, approval: { id: "q3", approved: false, reason: "No" } }),
      part("output-available", { input, output: "ok", approval: { id: "q4", approved: true } }),
    ],
  },
];

describe.each(VERSIONS)("messages of ai %i", (version) => {
  it.each([
    ["common parts", common],
    ["approvals", approvals],
  ] as const)("become looplet's and come back without a loss: %s", async (name, given) => {
    if (name === "approvals" && version === 5) return expect(version).toBe(5);
    const ai = await aiOf(version);
    expect(await ai.validateUIMessages({ messages: given })).toHaveLength(given.length);
    const messages = fromUIMessages(given as never);
    expect(checkTranscript(messages, "looplet")).toEqual([]);
    const back = toUIMessages(JSON.parse(JSON.stringify(messages)));
    expect(back).toEqual(given);
    expect(await ai.convertToModelMessages(back)).toEqual(await ai.convertToModelMessages(given));
  });

  it("become a history that a run goes on from", async () => {
    const { agent, asked } = agentOf([{ text: "You are welcome." }]);
    const run = agent.run("Thanks.", { messages: fromUIMessages(common.slice(0, 2) as never) });
    expect(await run.result).toMatchObject({ outcome: "completed" });
    const [user, said, results, more] = asked()[0].messages;
    expect(user.content.map(({ type }: any) => type)).toEqual([
      "text",
      "image",
      "document",
      expect.any(String),
    ]);
    expect(said.content.map(({ type, text, name }: any) => name ?? text ?? type)).toEqual([
      ...["I look.", "book", "book", "search", "count"],
    ]);
    expect(results.content.map(({ is_error }: any) => is_error)).toEqual([false, true, false, false]);
    expect(more.role).toBe("assistant");
    expect(JSON.stringify(asked()[0])).toContain("The call was not made.");
  });

  it("leave out what a failed attempt has said", async () => {
    const ai = await aiOf(version);
    const turns = [{ text: ["It is sunny", " today"], dropAfterEvents: 4 }, { text: "It rains." }];
    const message = await messageOf(ai, uiStream(agentOf(turns).agent.run("Weather?"), { version }));
    const messages = fromUIMessages([message]);
    expect(messages.flatMap(({ content }) => content)).toEqual([{ type: "text", text: "It rains." }]);
    expect(toUIMessages(messages)).toEqual([message]);
  });
});

describe("messages of looplet", () => {
  const messages: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "Weather?" },
        { type: "media", mediaType: "image/png", data: "AAAA", name: "a" },
      ],
    },
    {
      role: "assistant",
      origin: { protocol: "anthropic", model: "m" },
      content: [
        { type: "thinking", text: "Hm.", signature: "s" },
        { type: "redacted_thinking", data: "x" },
        { type: "text", text: "I look.", vendor: { citations: [1] } },
        { type: "tool_call", id: "c1", name: "weather", input: { city: "Paris" }, vendor: { t: 1 } },
        { type: "tool_call", id: "c2", name: "weather", inputText: "{broken" },
        { type: "tool_call", id: "c3", name: "photo", input: {} },
        { type: "raw", json: { type: "server_tool_use" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", callId: "c1", content: [{ type: "text", text: '{"sky":"rain"}' }] },
        { type: "tool_result", callId: "c2", content: [{ type: "text", text: "No JSON" }], isError: true },
        {
          type: "tool_result",
          callId: "c3",
          content: [{ type: "media", mediaType: "image/png", data: "AAAA" }],
        },
      ],
    },
    {
      role: "assistant",
      partial: true,
      content: [
        { type: "text", text: "It " },
        { type: "refusal", text: "No." },
      ],
    },
    { role: "user", content: [{ type: "text", text: "And now?" }] },
  ];
  const plain = (all: object[]): object[] => all.map(({ ui: _, ...message }: any) => message);

  it("become one message a turn, and come back without a loss", async () => {
    const ui = toUIMessages(messages);
    expect(ui.map(({ id, role }) => [id, role])).toEqual([
      ["message-0", "user"],
      ["message-1", "assistant"],
      ["message-2", "user"],
    ]);
    expect(ui[1]!.parts.find(({ toolCallId }) => toolCallId === "c1")).toMatchObject({
      type: "tool-weather",
      state: "output-available",
      output: { sky: "rain" },
    });
    const again = fromUIMessages(JSON.parse(JSON.stringify(ui)));
    expect(plain(again)).toEqual(messages);
    for (const version of VERSIONS)
      expect(await (await aiOf(version)).validateUIMessages({ messages: ui })).toHaveLength(3);
  });

  it("tell a call that has no result yet", () => {
    const open: Message[] = [
      { role: "assistant", content: [{ type: "tool_call", id: "c", name: "book", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            callId: "c",
            content: [{ type: "text", text: "…" }],
            isError: true,
            pending: "waiting",
          },
        ],
      },
    ];
    const [message] = toUIMessages(open, { idOf: (index) => `m${index}` });
    expect(message).toMatchObject({
      id: "m0",
      parts: [{ type: "step-start" }, { state: "input-available" }],
    });
    expect(plain(fromUIMessages([message!]))).toEqual(open);
  });

  it("take no block of a vendor from what a page has written", () => {
    const raw = { type: "data-looplet", data: { type: "raw", json: { type: "server_tool_use" } } };
    const message = { id: "u", role: "user" as const, parts: [{ type: "text", text: "Hi" }, raw] };
    const [read] = fromUIMessages([message]);
    expect(read!.content).toEqual([{ type: "text", text: "Hi" }]);
    expect(toUIMessages([read!])).toEqual([message]);
  });

  it.each([
    ["hello", /needs an array of UI messages/],
    [[{ role: "user", content: "Hi" }], /messages\[0\]: needs \{ id, role, parts \}/],
  ])("refuse what is no list of messages: %j", (given, problem) => {
    expect(() => fromUIMessages(given as never)).toThrow(problem);
  });
});
