// The view of a conversation, as its events make it.
import { describe, expect, it } from "vitest";
import {
  createAgent,
  openaiChat,
  tool,
  type Block,
  type Message,
  type RunEvent,
  type RunResult,
} from "looplet";
import { scripted, type ScriptedStep } from "looplet/practice";
import { reduce, viewOf, withPrompt, withResult, type View } from "looplet/ui";
import { stableLength } from "../../../src/typescript/ui/ui/stable.js";
import { agentOf, lines } from "./kit.js";

const prompt = [{ type: "text", text: "Go." }] as const;

const fold = (events: readonly RunEvent[], from: View = withPrompt(viewOf(), prompt)): View =>
  events.reduce(reduce, from);

/** The events of a run, the transcripts at each of them, and its result. */
async function recorded(steps: readonly ScriptedStep[]) {
  const events: RunEvent[] = [];
  const snapshots: { after: number; event: RunEvent }[] = [];
  const agent = agentOf(steps);
  const run = agent.run("Go.", { onEvent: (event) => void events.push(structuredClone(event)) });
  const asked = run.result.then((result) => result);
  for await (const _ of run.events({ detached: true })) {
    const late = run.events({ detached: true });
    const { value } = await late.next();
    await late.return?.();
    if (value?.type === "snapshot") snapshots.push({ after: value.seq, event: structuredClone(value) });
  }
  return { events, snapshots, result: await asked };
}

const steps: readonly ScriptedStep[] = [
  {
    thinking: { text: "Hm." },
    text: ["Let me ", "see."],
    toolCalls: [
      { id: "a", name: "read", input: { n: 1 } },
      { id: "b", name: "fail", input: {} },
    ],
  },
  { toolCalls: [{ id: "c", name: "helper", input: { prompt: "Dig." } }] },
  { text: "I dig.", toolCalls: [{ id: "d", name: "dig", input: { n: 3 } }] },
  { text: "Gold." },
  { text: "All is done." },
];

describe("the view of a run", () => {
  it("has the texts, the calls with their results, and the parts of subagents", async () => {
    const { events } = await recorded(steps);
    expect(lines(fold(events).messages)).toEqual([
      "user: Go.",
      [
        "assistant: (Hm.)",
        "Let me see.",
        'read output-available {"name":"read","n":1}',
        "fail output-error tool_failed",
        'helper output-available "Gold." [completed: I dig. | dig output-available {"name":"dig","n":3} | Gold.]',
        "All is done.",
      ].join(" | "),
    ]);
  });

  it.each([
    ["of an agent", [{ text: "Hm.", toolCalls: [{ name: "read", input: { n: 1234 } }], stall: 8 }]],
    ["alone", [{ toolCalls: [{ name: "read", input: { n: 1234 } }], stall: 5 }]],
    [
      "of a subagent",
      [
        { toolCalls: [{ id: "c", name: "helper", input: { prompt: "Dig." } }] },
        { text: "Hm.", toolCalls: [{ name: "dig", input: { n: 1234 } }], stall: 8 },
      ],
    ],
  ] satisfies [string, ScriptedStep[]][])(
    "has no call whose arguments an abort has broken off, %s",
    async (_, answers) => {
      const run = agentOf(answers).run("Go.");
      const events: RunEvent[] = [];
      for await (const event of run) {
        events.push(event);
        const { length } = events.filter(({ type }) => type === "iteration-start");
        if (event.type === "tool-input-delta" && length === answers.length) run.abort();
      }
      expect(events.filter(({ type }) => type === "tool-input-end").length).toBe(answers.length);
      const { messages } = fold(events);
      expect(JSON.stringify(messages)).not.toContain("input-streaming");
      expect(messages.every(({ parts }) => parts.length > 0)).toBe(true);
      await run.result;
    },
  );

  it("is that of the transcript when the run has ended, but for what only events tell", async () => {
    const { events, result } = await recorded(steps);
    const live = withResult(fold(events), result).messages;
    const opened = viewOf(result.messages).messages;
    const bare = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (name, field: unknown) =>
          /^(agent|durationMs|hint)$/.test(name) ? undefined : field,
        ),
      );
    expect(bare(live)).toEqual(bare(opened));
  });

  it("comes to the same behind a snapshot in the place of any beginning", async () => {
    const { events, snapshots, result } = await recorded(steps);
    expect(snapshots.length).toBeGreaterThan(5);
    const whole = withResult(fold(events), result);
    for (const { after, event } of snapshots) {
      const known = events.filter(({ seq }) => seq <= after);
      const rest = events.filter(({ seq }) => seq > after);
      // A reader that has heard the beginning, and one that has not.
      expect(withResult(fold(rest, reduce(fold(known), event)), result).messages).toEqual(whole.messages);
      const late = withResult(fold(rest, reduce(viewOf(), event)), result).messages;
      expect(lines(late).map(withoutAgents)).toEqual(lines(whole.messages).map(withoutAgents));
    }
  });

  it("is the same in mid-answer for a reader that joins there: reasoning, text and calls", async () => {
    const { events, snapshots } = await recorded(steps);
    const streamed = snapshots.filter(({ event }) => event.type === "snapshot" && event.blocks.length > 0);
    const kinds = streamed.flatMap(({ event }) =>
      event.type === "snapshot" ? event.blocks.map(({ type }) => type) : [],
    );
    expect(new Set(kinds)).toEqual(new Set(["reasoning", "text", "tool-input"]));
    for (const { after, event } of streamed) {
      const known = fold(events.filter(({ seq }) => seq <= after)).messages;
      const joined = reduce(viewOf(), event).messages;
      expect(lines(joined).map(withoutAgents)).toEqual(lines(known).map(withoutAgents));
    }
  });

  it("takes the blocks of a failed attempt back", async () => {
    const { events } = await recorded([{ text: ["One ", "two"], dropAfterEvents: 5 }, { text: "Three." }]);
    expect(events.map(({ type }) => type)).toContain("reset");
    const views = events.map((_, at) => lines(fold(events.slice(0, at + 1)).messages).at(-1));
    expect(views.some((text) => text?.startsWith("assistant: One "))).toBe(true);
    expect(views.at(-1)).toBe("assistant: Three.");
  });

  it("keeps every piece that an event does not touch", async () => {
    const { events } = await recorded(steps);
    const before = viewOf([
      { role: "user", content: [{ type: "text", text: "Earlier" }] },
      { role: "assistant", content: [{ type: "text", text: "Said" }] },
    ]);
    let view = withPrompt(before, prompt);
    for (const event of events) {
      const next = reduce(view, event);
      expect(next.messages.slice(0, 3)).toEqual(view.messages.slice(0, 3));
      for (const at of [0, 1, 2]) expect(next.messages[at]).toBe(view.messages[at]);
      if (event.type !== "text-delta" || event.agentPath !== "root") {
        view = next;
        continue;
      }
      const [parts, now] = [view, next].map(({ messages }) => messages[3]?.parts ?? []);
      expect(now!.filter((part) => !parts!.includes(part))).toHaveLength(1);
      view = next;
    }
  });
});

const withoutAgents = (text: string): string => text.replace(/ \[.*\]/, "");

describe("a tool that the model has found", () => {
  it("has its own name and input, while it runs and in a transcript", async () => {
    const weather = tool({
      description: "Tells the weather",
      inputSchema: { type: "object" },
      deferLoading: true,
      execute: () => "Rain",
    });
    const input = { name: "weather", input: { city: "Rome" } };
    const fetch = scripted([{ toolCalls: [{ name: "call_tool", input }] }, { text: "It rains." }]);
    const run = createAgent({ model: openaiChat("m", { fetch }), tools: { weather } }).run("Go.");
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    const { messages } = await run.result;
    const calls = (view: View) =>
      view.messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === "tool" ? [[part.toolName, part.input, part.output]] : [])),
      );
    const call = ["weather", { city: "Rome" }, "Rain"];
    expect(calls(fold(events))).toEqual([call]);
    expect(calls(viewOf(messages))).toEqual([call]);
  });
});

describe("a transcript", () => {
  it("shows the pages and files that are in the blocks of a vendor's tools", () => {
    const page = { url: "https://a.example", title: "A" };
    const raw = (json: object): Block => ({ type: "raw", json });
    const shown = (...content: Block[]) => {
      const [message] = viewOf([{ role: "assistant", content }]).messages;
      return message!.parts.filter(({ type }) => type !== "raw" && type !== "text");
    };
    const source = { type: "source", ...page };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: [{ type: "web_search_result", ...page }],
    };
    const fetched = { type: "web_fetch_tool_result", content: { type: "web_fetch_result", ...page } };
    const searched = {
      type: "web_search_call",
      action: { type: "search", sources: [{ type: "url", ...page }] },
    };
    for (const block of [found, fetched, searched]) expect(shown(raw(block))).toEqual([source]);
    expect(shown(raw({ type: "image_generation_call", result: "AAAA", output_format: "webp" }))).toEqual([
      { type: "file", mediaType: "image/webp", data: "AAAA" },
    ]);
    const plot = { type: "image", url: "https://files.example/plot.png" };
    expect(
      shown(raw({ type: "code_interpreter_call", outputs: [{ type: "logs", logs: "1" }, plot] })),
    ).toEqual([{ type: "file", mediaType: "image/png", url: plot.url }]);
    const web = { uri: page.url, title: page.title };
    const vendor = { groundingMetadata: { groundingChunks: [{ web }, { web }] } };
    expect(shown({ type: "text", text: "So it is.", vendor })).toEqual([source]);
    expect(
      shown(raw({ type: "web_search_tool_result", content: { type: "error", error_code: "x" } })),
    ).toEqual([]);
  });

  it("shows files, sources, refusals, hidden reasoning and a summary", () => {
    const transcript: Message[] = [
      {
        role: "user",
        content: [{ type: "text", text: "[Context summary: They spoke of shirts.]", purpose: "summary" }],
      },
      { role: "assistant", content: [{ type: "text", text: "Blue ones." }] },
      {
        role: "user",
        content: [
          { type: "media", mediaType: "image/png", data: "AAAA", name: "a.png" },
          { type: "text", text: "And this?" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "redacted_thinking", data: "x" },
          {
            type: "text",
            text: "A hat.",
            vendor: {
              citations: [{ url: "https://hats.example", title: "Hats" }, { url: "https://hats.example" }],
            },
          },
          { type: "refusal", text: "No more." },
        ],
      },
    ];
    expect(viewOf(transcript).messages).toEqual([
      {
        id: "m1",
        role: "assistant",
        parts: [
          { type: "compaction", state: "done", summary: "They spoke of shirts." },
          { type: "text", text: "Blue ones.", state: "done", stable: 10 },
        ],
      },
      {
        id: "m2",
        role: "user",
        parts: [
          { type: "file", mediaType: "image/png", data: "AAAA", name: "a.png" },
          { type: "text", text: "And this?", state: "done", stable: 9 },
        ],
      },
      {
        id: "m3",
        role: "assistant",
        parts: [
          { type: "reasoning", text: "", state: "done" },
          { type: "text", text: "A hat.", state: "done", stable: 6 },
          { type: "source", url: "https://hats.example", title: "Hats" },
          { type: "text", text: "No more.", state: "done", stable: 8, isRefusal: true },
        ],
      },
    ]);
  });

  it("has a call without a result while its run goes on", () => {
    const call = { type: "tool_call", id: "a", name: "pay", input: {} } as const;
    const result: Block = { type: "tool_result", callId: "a", content: [], pending: "waiting" };
    const { messages } = viewOf([
      { role: "user", content: [{ type: "text", text: "Pay." }] },
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ]);
    expect(lines(messages)).toEqual(["user: Pay.", "assistant: pay input-available"]);
  });

  it("gives a call that the run's end has left open an error", () => {
    const call = { type: "tool_call", id: "a", name: "pay", input: {} } as const;
    const view = viewOf([{ role: "user", content: [{ type: "text", text: "Pay." }] }]);
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "Pay." }] },
      { role: "assistant", content: [call] },
    ];
    const result = { outcome: "cancelled", messages, toolCalls: [], usage: null } as unknown as RunResult;
    expect(lines(withResult(view, result).messages).at(-1)).toBe("assistant: pay output-error not_run");
  });
});

describe("the stable part of a text", () => {
  it.each([
    ["A paragraph that grows", 0],
    ["One.\n\n", 0],
    ["One.\n\nT", 6],
    ["One.\n\n- item", 0],
    ["- one\n\n- two\n\nText", 14],
    ["One.\n\n1", 0],
    ["One.\n\n1984 was\n", 6],
    ["```js\na\n\nb\n", 0],
    ["```js\na\n\nb\n```\n", 15],
    ["```js\na\n```", 0],
    ["- a\n  ```\n  x\n  ```\n", 0],
    ["~~~~\n~~~\n~~~~\n", 14],
  ])("of %j has %i characters", (text, length) => {
    expect(stableLength(text)).toBe(length);
  });

  it("never shrinks, and does not depend on the pieces in which the text came", () => {
    const text =
      "# Title\n\nOne\ntwo.\n\n```js\na\n\n\nb\n```\n\n1. x\n\n2. y\n\nEnd *of* it.\n\n> q\n\nLast.\n\nNo.";
    let known = 0;
    for (let at = 0; at <= text.length; at++) {
      const stable = stableLength(text.slice(0, at), known);
      expect(stable).toBeGreaterThanOrEqual(known);
      expect(stable).toBe(stableLength(text.slice(0, at)));
      known = stable;
    }
    expect(text.slice(known)).toBe("No.");
  });
});
