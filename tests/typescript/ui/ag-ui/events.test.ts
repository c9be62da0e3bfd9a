import { beforeAll, describe, expect, it } from "vitest";
import { anthropic, createAgent, subagent, tool, type Run, type RunEvent } from "looplet";
import { agUiResponse, toAgUi, type AgUiEvent } from "looplet/ag-ui";
import { scripted } from "looplet/practice";
import { memoryOf, Translation } from "../../../../src/typescript/ui/ag-ui/translation.js";
import { agentOf, checked, endOf, eventsOf, handlerOf, inputOf, ofType, post, said, typesOf } from "./kit.js";

// The first run loads the engine.
beforeAll(() => agentOf([{ text: "Hi." }]).run("Hi").result);

const weather = tool({
  description: "The weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
  readOnly: true,
  execute(_input, { progress }) {
    progress({ percent: 50 });
    return { degrees: 7 };
  },
});
const call = { id: "a", name: "weather", input: { city: "Oslo" } };

/** The messages that a page has after these events. */
async function messagesAfter(events: readonly AgUiEvent[]): Promise<unknown[]> {
  const { HttpAgent } = await import("@ag-ui/client");
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const fetch = async () => new Response(lines, { headers: { "content-type": "text/event-stream" } });
  const page = new HttpAgent({ url: "x:", fetch });
  await page.runAgent();
  return page.messages.map(({ id: _, ...message }) => message);
}

describe("the events of a run in the words of AG-UI", () => {
  it("has a step for each iteration, and its reasoning, text, calls and results", async () => {
    const agent = agentOf(
      [{ thinking: { text: "Hm." }, text: "I look.", toolCalls: [call] }, { text: "It is 7 degrees." }],
      { tools: { weather } },
    );
    const events = await post(handlerOf(agent), inputOf({ runId: "r", parentRunId: "p" }));
    expect(typesOf(events)).toEqual([
      ...["RUN_STARTED", "STEP_STARTED"],
      ...["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"],
      ...["REASONING_MESSAGE_END", "REASONING_END"],
      ...["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
      ...["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "ACTIVITY_SNAPSHOT", "TOOL_CALL_RESULT"],
      ...["STEP_FINISHED", "STEP_STARTED"],
      ...["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
      ...["STEP_FINISHED", "RUN_FINISHED"],
    ]);
    const ids = { threadId: "t", runId: "r" };
    expect(events[0]).toEqual({ type: "RUN_STARTED", ...ids, parentRunId: "p", protocolVersion: "1.0" });
    expect(endOf(events)).toMatchObject({ ...ids, outcome: { type: "success" } });
    const toolCalls = [
      { id: "a", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
    ];
    expect(await messagesAfter(events)).toEqual([
      { role: "reasoning", content: "Hm." },
      { role: "assistant", content: "I look.", toolCalls },
      { role: "tool", toolCallId: "a", content: '{"degrees":7}' },
      {
        role: "activity",
        activityType: "looplet.progress",
        content: { toolCallId: "a", toolName: "weather", data: { percent: 50 } },
      },
      { role: "assistant", content: "It is 7 degrees." },
    ]);
  });

  it("counts the tokens by provider and model, as a total of the calls", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 };
    const agent = agentOf(
      [
        { toolCalls: [call], usage },
        { text: "7.", usage },
      ],
      { tools: { weather } },
    );
    const { usage: told } = endOf(await post(handlerOf(agent), inputOf()));
    const result = await agentOf(
      [
        { toolCalls: [call], usage },
        { text: "7.", usage },
      ],
      { tools: { weather } },
    ).run("?").result;
    const { inputTokens, outputTokens, cacheReadTokens } = result.usage!;
    expect(told).toEqual([
      {
        provider: "anthropic",
        model: "m",
        inputTokens,
        outputTokens,
        totalTokens: inputTokens + outputTokens,
        reasoningTokens: 0,
        cachedInputTokens: cacheReadTokens,
        cacheWriteInputTokens: 0,
      },
    ]);
    expect(outputTokens).toBe(10);
  });

  it("voids the text of a failed attempt by a snapshot", async () => {
    const agent = agentOf([{ text: ["It is ", "8"], dropAfterEvents: 4 }, { text: "It is 7." }], {
      retry: { delaysMs: [0] },
    });
    const events = await post(handlerOf(agent), inputOf({ messages: [said("Hello", "u")] }));
    const snapshot = typesOf(events).indexOf("MESSAGES_SNAPSHOT");
    expect(typesOf(events).slice(0, snapshot)).toContain("TEXT_MESSAGE_CONTENT");
    expect(events[snapshot]).toMatchObject({ messages: [{ id: "u", role: "user" }] });
    expect(await messagesAfter(events)).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "It is 7." },
    ]);
    expect(ofType(events, "RAW").map(({ event }) => (event as RunEvent).type)).toContain("retry");
  });

  it("frames a subagent, and says whose its messages are", async () => {
    const writer = subagent({ description: "Writes.", tools: { weather } });
    const agent = agentOf(
      [
        { toolCalls: [{ id: "s", name: "writer", input: { prompt: "Write." } }] },
        { toolCalls: [call] },
        { text: "A poem." },
        { text: "Done." },
      ],
      { tools: { writer } },
    );
    const events = await post(handlerOf(agent), inputOf());
    const [started] = ofType(events, "SUBAGENT_STARTED");
    expect(started).toMatchObject({ name: "writer", parentToolCallId: "s" });
    const { subagentRunId } = started!;
    const own = events.filter((event) => "subagentRunId" in event && event.subagentRunId === subagentRunId);
    expect(typesOf(own).at(-1)).toBe("SUBAGENT_FINISHED");
    expect(typesOf(own)).toEqual(
      expect.arrayContaining(["STEP_STARTED", "TOOL_CALL_RESULT", "TEXT_MESSAGE_END"]),
    );
    expect(ofType(events, "TOOL_CALL_RESULT").map(({ subagentRunId: of }) => of)).toEqual([
      subagentRunId,
      undefined,
    ]);
    expect(endOf(events).outcome).toEqual({ type: "success" });
  });

  it("ends a failed run, and a subagent that has failed, with the words of the error", async () => {
    const failed = await post(handlerOf(agentOf([{ status: 401 }])), inputOf());
    expect(failed.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "auth" });

    const broken = subagent({
      description: "Fails.",
      model: anthropic("n", { apiKey: "k", fetch: scripted([{ status: 401 }]) }),
    });
    const caller = agentOf(
      [{ toolCalls: [{ id: "s", name: "broken", input: { prompt: "?" } }] }, { text: "It failed." }],
      { tools: { broken } },
    );
    const events = await post(handlerOf(caller), inputOf());
    expect(ofType(events, "SUBAGENT_ERROR")).toMatchObject([{ code: "auth" }]);
    expect(endOf(events).outcome).toEqual({ type: "success" });
  });

  it("tells a run that a limit has stopped from one that is done", async () => {
    const turns = [{ toolCalls: [call] }, { text: "7." }];
    const stopped = await post(
      handlerOf(agentOf(turns, { tools: { weather }, limits: { maxIterations: 1 } })),
      inputOf(),
    );
    expect(endOf(stopped)).toMatchObject({
      outcome: { type: "cancelled" },
      result: { stoppedBy: "iterations" },
    });
  });

  it("brings the structured answer as the result", async () => {
    const output = { schema: { type: "object", properties: { degrees: { type: "integer" } } } } as const;
    const agent = agentOf([{ text: '{"degrees":7}' }], { output });
    expect(endOf(await post(handlerOf(agent), inputOf())).result).toEqual({ degrees: 7 });
  });

  it("sends images that a tool returns as parts", async () => {
    const draw = tool({
      description: "Draws.",
      inputSchema: { type: "object" },
      execute: () => ({
        content: [
          { type: "text", text: "A dot" },
          { type: "media", mediaType: "image/png", data: "iVBO" },
        ],
      }),
    });
    const agent = agentOf([{ toolCalls: [{ id: "d", name: "draw", input: {} }] }, { text: "See." }], {
      tools: { draw },
    });
    const [result] = ofType(await post(handlerOf(agent), inputOf()), "TOOL_CALL_RESULT");
    expect(result!.content).toEqual([
      { type: "text", text: "A dot" },
      { type: "image", source: { type: "data", value: "iVBO", mimeType: "image/png" } },
    ]);
  });

  it("carries a state of yours and events of your own", async () => {
    const add = (event: RunEvent) => {
      if (event.type === "tool-progress") return { type: "STATE_SNAPSHOT", snapshot: event.data } as const;
      if (event.type !== "finish") return undefined;
      return [{ type: "CUSTOM", name: "saved", value: true }] as const;
    };
    const agent = agentOf([{ toolCalls: [call] }, { text: "7." }], { tools: { weather } });
    const events = await post(handlerOf(agent, { add }), inputOf());
    expect(ofType(events, "STATE_SNAPSHOT")).toEqual([{ type: "STATE_SNAPSHOT", snapshot: { percent: 50 } }]);
    expect(typesOf(events).slice(-2)).toEqual(["CUSTOM", "RUN_FINISHED"]);
  });
});

describe("a run of yours as AG-UI", () => {
  it("is a response, and events alone will do", async () => {
    const input = inputOf();
    const run = agentOf([{ text: "Hi." }]).run("Hello");
    const events = await eventsOf(agUiResponse(run, input));
    expect(endOf(events).outcome).toEqual({ type: "success" });

    const recorded: RunEvent[] = [];
    for await (const event of agentOf([{ text: "Hi." }]).run("Hello")) recorded.push(event);
    const told: AgUiEvent[] = [];
    for await (const event of toAgUi(replayed(recorded), input)) told.push(event);
    expect(typesOf(await checked(told))).toEqual(typesOf(events));

    const cut: AgUiEvent[] = [];
    for await (const event of toAgUi(replayed(recorded.slice(0, 4)), input)) cut.push(event);
    expect((await checked(cut)).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "cut_off" });
  });

  it("begins with a snapshot where it has begun before", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow = tool({ ...weather, execute: () => gate.then(() => ({ degrees: 7 })) });
    const run = agentOf([{ toolCalls: [call] }, { text: "It is 7." }], { tools: { weather: slow } }).run(
      "Hello",
    );
    // A reader of the first task gets every event.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const told: AgUiEvent[] = [];
    for await (const event of toAgUi(run, inputOf())) if (told.push(event) === 2) release();
    const [snapshot] = ofType(await checked(told), "MESSAGES_SNAPSHOT");
    expect(snapshot!.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await messagesAfter(told)).toMatchObject([
      { role: "user", content: "Hello" },
      { role: "assistant", toolCalls: [{ id: "a" }] },
      { role: "tool", toolCallId: "a" },
      { role: "assistant", content: "It is 7." },
    ]);
  });

  it("is aborted when nobody reads its response any more", async () => {
    const run = createAgent({
      model: anthropic("m", { apiKey: "k", fetch: scripted([{ hang: true }]) }),
    }).run("?");
    const reader = agUiResponse(run, inputOf()).body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(run.outcome).toBe("cancelled");
  });
});

async function* replayed(events: readonly RunEvent[]): AsyncGenerator<RunEvent> {
  yield* events;
}

it("has one result for a call that ran again while the page was offline", async () => {
  let begin!: () => void;
  let release!: () => void;
  const started = new Promise<void>((resolve) => (begin = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const pay = tool({
    description: "pays",
    inputSchema: { type: "object" },
    needsApproval: true,
    async execute() {
      begin();
      await released;
      return "paid";
    },
  });
  const start = (decision: Parameters<Run["answer"]>[1], events: RunEvent[]) => {
    const turns = [{ toolCalls: [{ id: "p", name: "pay", input: {} }] }, { text: "Done." }];
    const run = agentOf(turns, { tools: { pay } }).run("Pay", {
      onEvent(event) {
        events.push(event);
        if (event.type === "question") run.answer(event.questionId, decision);
      },
    });
    return run;
  };
  // The process crashed before the denial was saved.
  const seen: RunEvent[] = [];
  await start({ behavior: "deny", message: "No." }, seen).result;
  seen.splice(seen.findIndex(({ type }) => type === "tool-error") + 1);
  // The next process asked again, and the page is back when the call runs.
  const run = start({ behavior: "allow" }, []);
  await started;
  await new Promise((resolve) => setTimeout(resolve, 0));
  for await (const event of run.events()) {
    release();
    seen.push(event);
  }
  expect(seen.map(({ type }) => type)).toContain("snapshot");
  const memory = memoryOf("r");
  const input = inputOf({ runId: "r" });
  let page = new Translation(input, memory);
  let sent = [page.begin()];
  for (const event of seen) {
    if (page.isOver) {
      page = new Translation({ ...input, messages: page.messages }, memory);
      sent = [page.begin()];
    }
    sent.push(...page.take(event));
  }
  const results = (messages: readonly unknown[]) =>
    messages.flatMap(({ role, content }: any) => (role === "tool" ? [content] : []));
  expect(results(page.messages)).toEqual(["paid"]);
  expect(results(await messagesAfter(sent as AgUiEvent[]))).toEqual(["paid"]);
});
