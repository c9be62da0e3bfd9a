import { describe, expect, it } from "vitest";
import { toUIMessageStreamResponse, uiStream } from "looplet/ai-sdk";
import { subagent, tool } from "looplet";
import type { RunEvent } from "looplet";
import { ChunkWriter } from "../../../../src/typescript/ui/ai-sdk/chunk-writer.js";
import { agentOf, aiOf, call, chunksOf, messageOf, streamOf, VERSIONS } from "./kit.js";

const types = (chunks: { type: string }[]): string[] =>
  chunks.map(({ type }) => type).filter((type) => !type.endsWith("-delta"));

describe.each(VERSIONS)("the stream of a run, read by ai %i", (version) => {
  it("makes a message with text, reasoning, a call with its result, and the usage", async () => {
    const ai = await aiOf(version);
    const { agent } = agentOf([
      { thinking: { text: "Hm." }, text: "I look.", toolCalls: [call("weather")] },
      { text: "It rains." },
    ]);
    const chunks = await chunksOf(uiStream(agent.run("Weather?"), { version, messageId: "a" }));
    const schema = ai.uiMessageChunkSchema();
    for (const chunk of chunks) expect(await schema.validate(chunk)).toMatchObject({ success: true });
    const message = await messageOf(ai, streamOf(chunks));
    expect(message).toMatchObject({
      id: "a",
      role: "assistant",
      metadata: { usage: { outputTokens: expect.any(Number) } },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "Hm.", state: "done" },
        { type: "text", text: "I look.", state: "done" },
        {
          type: "tool-weather",
          toolCallId: "toolu_weather",
          state: "output-available",
          input: { city: "Paris" },
          output: { city: "Paris", sky: "rain" },
        },
        { type: "step-start" },
        { type: "text", text: "It rains.", state: "done" },
      ],
    });
    expect(message.parts).toHaveLength(6);
    expect(await ai.validateUIMessages({ messages: [message] })).toHaveLength(1);
    expect(chunks.at(-1)).toEqual({ type: "finish", finishReason: "stop" });
  });

  it("has nothing of an attempt that failed, or marks it", async () => {
    const ai = await aiOf(version);
    const turns = [{ text: ["It is sunny", " today"], dropAfterEvents: 4 }, { text: "It rains." }];
    const message = await messageOf(ai, uiStream(agentOf(turns).agent.run("Weather?"), { version }));
    const texts = message.parts.filter(({ type }: any) => type === "text");
    expect(texts.at(-1)).toMatchObject({ text: "It rains.", state: "done" });
    const isVoid = ({ providerMetadata }: any): boolean => providerMetadata?.looplet?.void === true;
    expect(texts.filter((part: any) => !isVoid(part))).toHaveLength(1);
    expect(texts.filter(isVoid)).toHaveLength(version === 7 ? 0 : 1);

    const held = uiStream(agentOf(turns).agent.run("Weather?"), { version, holdAttempts: true });
    const { parts } = await messageOf(ai, held);
    expect(parts.filter(({ type }: any) => type === "text")).toMatchObject([{ text: "It rains." }]);
  });

  it("has one part for a call that a resumed run repeats after its result was seen", async () => {
    const ai = await aiOf(version);
    const { agent } = agentOf([{ toolCalls: [call("book")] }, { text: "No hotel." }]);
    const events: RunEvent[] = [];
    const run = agent.run("Book!", {
      onEvent(event) {
        events.push(event);
        if (event.type === "question") run.answer(event.questionId, { behavior: "deny", message: "No." });
      },
    });
    await run.result;
    // The process ended before the denial was saved, when the next iteration had begun.
    const [repeats, second] = [
      events.findIndex(({ type }) => type === "tool-call"),
      events.findIndex(({ type, iteration }) => type === "iteration-start" && iteration === 2),
    ];
    const seen = [...events.slice(0, second + 1), events[0]!, ...events.slice(repeats)];
    const writer = new ChunkWriter({ version }, "r");
    const { parts } = await messageOf(ai, streamOf(seen.flatMap((event) => writer.feed(event))));
    const calls = parts.filter(({ type }: any) => type === "tool-book");
    expect(calls.map(({ state }: any) => state)).toEqual([version === 5 ? "output-error" : "output-denied"]);
  });

  it("tells the error of a run that fails, and the abort of one that is stopped", async () => {
    const ai = await aiOf(version);
    const failed = agentOf([{ status: 400, body: { error: { message: "Too long" } } }]).agent.run("Weather?");
    await expect(messageOf(ai, uiStream(failed, { version }))).rejects.toThrow(/Too long/);

    const run = agentOf([{ text: "It", stall: true }]).agent.run("Weather?", {
      onText: () => run.abort("enough"),
    });
    const chunks = await chunksOf(uiStream(run, { version }));
    expect(chunks.at(-1)).toEqual({ type: "abort", ...(version === 7 && { reason: "enough" }) });
    expect(types(chunks)).toContain("text-end");
  });

  it("shows a subagent as a part of its own", async () => {
    const ai = await aiOf(version);
    const look = tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => "rain" });
    const helper = subagent({ description: "Helps", system: "Help.", tools: { look } });
    const { agent } = agentOf(
      [
        { toolCalls: [{ id: "toolu_h", name: "helper", input: { prompt: "Weather?" } }] },
        { toolCalls: [call("look")] },
        { text: "It rains in Paris." },
        { text: "Rain." },
      ],
      { tools: { helper } },
    );
    const message = await messageOf(ai, uiStream(agent.run("Ask the helper."), { version }));
    const part = message.parts.find(({ type }: any) => type === "data-subagent");
    expect(part.data).toEqual({
      agentPath: "root/helper",
      toolCallId: "toolu_h",
      state: "completed",
      text: "It rains in Paris.",
      toolCalls: [
        {
          toolCallId: "toolu_look",
          toolName: "look",
          input: { city: "Paris" },
          state: "output-available",
          output: "rain",
        },
      ],
    });
    expect(message.parts.find(({ type }: any) => type === "tool-helper")).toMatchObject({
      state: "output-available",
    });
  });
});

describe("the stream of a run", () => {
  it("is read by somebody who leaves, and the run goes on", async () => {
    const { agent } = agentOf([{ text: ["It ", "rains."] }]);
    const run = agent.run("Weather?");
    const reader = (uiStream(run) as ReadableStream).getReader();
    await reader.read();
    await reader.cancel();
    expect(await run.result).toMatchObject({ outcome: "completed", text: "It rains." });
    const events: AsyncIterable<RunEvent> = agentOf([{ text: "It rains." }]).agent.run("Weather?");
    const other = (uiStream(events) as ReadableStream).getReader();
    await other.read();
    await expect(other.cancel()).resolves.toBeUndefined();
  });

  it("tells progress as a preliminary output", async () => {
    async function* execute() {
      yield "half";
      return "whole";
    }
    const tools = { weather: { description: "W", inputSchema: { type: "object" }, execute } };
    const { agent } = agentOf([{ toolCalls: [call("weather")] }, { text: "Done." }], { tools } as never);
    const outputs = (await chunksOf(uiStream(agent.run("Go.")))).filter(
      ({ type }) => type === "tool-output-available",
    );
    expect(outputs.map(({ output, preliminary }) => [output, preliminary])).toEqual([
      ["half", true],
      ["whole", undefined],
    ]);
  });

  it("follows a run that has begun earlier by its snapshot", async () => {
    const { agent } = agentOf([{ text: "I look.", toolCalls: [call("weather")] }, { text: "It rains." }]);
    const run = agent.run("Weather?");
    await run.result;
    const message = await messageOf(await aiOf(7), uiStream(run));
    expect(message.parts.map(({ type, text, state }: any) => text ?? `${type} ${state}`)).toEqual([
      "step-start undefined",
      "I look.",
      "tool-weather output-available",
      "step-start undefined",
      "It rains.",
    ]);
  });

  it("ends with a step of its own where no model reads the results, so that nobody sends them again", async () => {
    const { agent } = agentOf([{ toolCalls: [call("weather")] }], {
      limits: { maxToolRounds: 1, maxIterations: 1 },
    });
    const ai = await aiOf(7);
    const message = await messageOf(ai, uiStream(agent.run("Weather?")));
    expect(message.metadata).toMatchObject({ stoppedBy: "iterations" });
    expect(ai.lastAssistantMessageIsCompleteWithToolCalls({ messages: [message] })).toBe(false);
  });

  it("is a response with the headers of the protocol", async () => {
    const { agent } = agentOf([{ text: "It rains." }]);
    const response = toUIMessageStreamResponse(agent.run("Weather?"), { headers: { "x-mine": "1" } });
    expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-mine")).toBe("1");
    const text = await response.text();
    expect(text).toMatch(/^data: \{"type":"start"/);
    expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  });

  it.each([
    [{ version: 4 }, "version", "needs 5, 6 or 7"],
    [{ versoin: 6 }, "versoin", "did you mean version"],
  ])("refuses the options %j", (options, field, problem) => {
    const run = agentOf([{ text: "Hi." }]).agent.run("Hi");
    expect(() => uiStream(run, options as never)).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining(problem) }),
    );
    expect(() => uiStream({} as never)).toThrow(/needs a run or its events/);
  });
});
