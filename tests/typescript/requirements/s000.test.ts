/** Sprout's loop, as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { call, play, results, schema, told } from "./kit.js";

const round = (...calls: ReturnType<typeof call>[]) => ({ toolCalls: calls });
const done = { text: "Done." };

describe("S000", () => {
  it("S000-03: the system prompt goes with every request, in the provider's own field", async () => {
    const { bodies } = await play([round(call("look")), done]);
    expect(bodies).toHaveLength(2);
    for (const { system, messages } of bodies) {
      expect(JSON.stringify(system)).toContain("Be brief.");
      expect(messages.map(({ role }) => role)).not.toContain("system");
    }
  });

  it("S000-04: the prompt is the first user message", async () => {
    const { bodies } = await play([done], { prompt: "What is a verb?" });
    expect(bodies[0]!.messages[0]).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "What is a verb?" }],
    });
  });

  it("S000-05: of a tool only its name, description and schema are sent, and no tools where there are none", async () => {
    const { bodies } = await play([done]);
    for (const sent of bodies[0]!.tools!) {
      const { cache_control: _, ...rest } = sent;
      expect(Object.keys(rest).sort()).toEqual(["description", "input_schema", "name"]);
    }
    const fetch = scripted([done]);
    await createAgent({ model: anthropic("m", { fetch }), tools: [] }).run("Go").result;
    expect(fetch.requests[0]!.body).not.toHaveProperty("tools");
  });

  it("S000-09: the text of an answer is told before its tools run", async () => {
    const { log } = await play([{ text: "I look.", toolCalls: [call("look")] }, done], {
      run: (into) => ({ onText: (text) => into.push(text) }),
    });
    expect(log).toEqual(["I look.", "start look", "end look", "Done."]);
  });

  it("S000-10: a call is told with its input before it runs, and with its result after it", async () => {
    const turns = [round(call("look", { n: 1 })), round(call("write", { give: { n: 2 } })), done];
    const { log } = await play(turns, {
      run: (into) => ({
        onToolCall: ({ toolName, input }) => into.push(`call ${toolName} ${JSON.stringify(input)}`),
        onToolResult: (event) =>
          into.push(
            `result ${event.toolName} ${event.type === "tool-result" ? JSON.stringify(event.output) : "error"}`,
          ),
      }),
    });
    expect(log).toEqual([
      'call look {"n":1}',
      "start look",
      "end look",
      'result look "look done"',
      'call write {"give":{"n":2}}',
      "start write",
      "end write",
      'result write {"n":2}',
    ]);
  });

  it("S000-12: a run needs no callbacks", async () => {
    const fetch = scripted([round(call("look")), done]);
    expect((await createAgent({ model: anthropic("m", { fetch }) }).run("Go").result).outcome).toBe(
      "completed",
    );
  });

  it("S000-15, S003-25: a result echoes the provider's id of its call", async () => {
    const { bodies } = await play([round(call("look", {}, "toolu_x"), call("write", {}, "toolu_y")), done]);
    expect(results(bodies[1]).map(({ tool_use_id }) => tool_use_id)).toEqual(["toolu_x", "toolu_y"]);
  });

  it.each([
    [{ a: 1 }, '{"a":1}'],
    ["x", "x"],
    [undefined, ""],
    [[1, null], "[1,null]"],
  ])(
    "S000-16, S002-15: what a tool returns (%j) is shown as JSON, a string as it is",
    async (give, shown) => {
      const { bodies } = await play([round(call("look", { give: "later" })), done], {
        agent: {
          tools: { look: { description: "Looks", inputSchema: { type: "object" }, execute: () => give } },
        },
      });
      expect(told(results(bodies[1])[0])).toBe(shown);
    },
  );

  it("S000-17: all results of a round are in one user message", async () => {
    const { bodies } = await play([round(call("look"), call("look"), call("write")), done]);
    expect(bodies[1]!.messages).toHaveLength(3);
    expect(results(bodies[1])).toHaveLength(3);
  });

  it("S000-18, S004-10: an answer without calls ends the run, and so does end_turn where that is strict", async () => {
    expect((await play([done])).result).toMatchObject({ outcome: "completed", iterations: 1, text: "Done." });
    const both = { ...round(call("look")), stopReason: "end" };
    const strict = await play([both], { agent: { answers: { strictStopReason: true } } });
    expect(strict.result).toMatchObject({ outcome: "completed", iterations: 1 });
    expect(strict.log).toEqual([]);
    expect((await play([both, done])).result.iterations).toBe(2);
  });

  it("S000-25: the result lists every call with its name, input and output, in order", async () => {
    const { result } = await play([round(call("look", { n: 1 })), round(call("write", { n: 2 })), done]);
    expect(result.toolCalls).toMatchObject([
      { toolName: "look", input: { n: 1 }, output: "look done", isError: false },
      { toolName: "write", input: { n: 2 }, output: "write done", isError: false },
    ]);
  });

  it("S000-26: the history holds the prompt, every call and every result", async () => {
    const { result } = await play([round(call("look")), done]);
    const types = result.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]);
    expect(types).toEqual([
      ["user", "text"],
      ["assistant", "tool_call"],
      ["user", "tool_result"],
      ["assistant", "text"],
    ]);
  });

  it("S000-29: a run's tokens and the times of its calls can be measured", async () => {
    const usage = { inputTokens: 100, outputTokens: 7 };
    let nowMs = 0;
    const slow = (ms: number) => ({ description: "Slow", inputSchema: schema, execute: () => (nowMs += ms) });
    const calls = [call("quick"), call("slow")];
    const { result } = await play(
      [
        { ...round(...calls), usage },
        { ...done, usage },
      ],
      {
        agent: {
          tools: { quick: slow(3), slow: slow(70) },
          toolCalls: { execution: "sequential" },
          clock: { now: () => nowMs, setTimer: () => undefined, clearTimer: () => undefined },
        },
      },
    );
    expect(result.usage).toMatchObject({ inputTokens: 200, outputTokens: 14 });
    expect(result.toolCalls.map(({ durationMs }) => durationMs)).toEqual([3, 70]);
  });
});
