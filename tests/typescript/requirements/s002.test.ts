/** The guide "How to implement an agent loop", as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import type { Block, CustomRequest, Message } from "../../../src/typescript/core/api/index.js";
import { anthropic, createAgent, custom } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { call, play, results, told } from "./kit.js";

const text = (words: string): Block => ({ type: "text", text: words });
const wrote = (id: string): Block => ({ type: "tool_call", id, name: "look", input: { n: 1 } });
const gave = (callId: string): Block => ({
  type: "tool_result",
  callId,
  content: [text("seen")],
  isError: false,
});

describe("S002", () => {
  it("S002-04: a function of yours gets the generic messages and tools, and returns generic blocks", async () => {
    const seen: Pick<CustomRequest, "messages" | "tools">[] = [];
    const model = custom((request) => {
      seen.push(structuredClone({ messages: request.messages, tools: request.tools }));
      return seen.length === 1
        ? [{ type: "tool_call", id: "a", name: "look", input: { n: 1 } }]
        : [{ type: "text", text: "Seen." }];
    });
    const look = { description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" };
    const { messages } = await createAgent({ model, tools: { look } }).run("Go").result;
    expect(messages).toMatchObject([
      { role: "user", content: [text("Go")] },
      { role: "assistant", content: [wrote("a")] },
      { role: "user", content: [{ type: "tool_result", callId: "a", content: [text("seen")] }] },
      { role: "assistant", content: [text("Seen.")] },
    ]);
    expect(seen.map(({ messages }) => messages)).toMatchObject([messages.slice(0, 1), messages.slice(0, 3)]);
    for (const { tools } of seen)
      expect(tools).toMatchObject([{ name: "look", description: "Looks", inputSchema: { type: "object" } }]);
  });

  it("S002-05: the system prompt is passed apart from the messages", async () => {
    const { bodies } = await play([{ text: "Done." }]);
    expect(bodies[0]!.messages).toHaveLength(1);
    expect(JSON.stringify(bodies[0]!.system)).toContain("Be brief.");
  });

  it.each<[string, Message[], [string, ...string[]][]]>([
    [
      "S002-06, S002-07: what the model said in one turn is one message, in its order, and so are the results",
      [
        { role: "user", content: [text("Go")] },
        { role: "assistant", content: [text("I look."), wrote("a"), wrote("b")] },
        { role: "user", content: [gave("a"), gave("b")] },
        { role: "assistant", content: [text("Seen.")] },
      ],
      [
        ["user", "text"],
        ["assistant", "text", "tool_use", "tool_use"],
        ["user", "tool_result", "tool_result"],
        ["assistant", "text"],
        ["user", "text"],
      ],
    ],
    [
      "results and what the user says after them are one message, the results first",
      [
        { role: "user", content: [text("Go")] },
        { role: "assistant", content: [wrote("a")] },
        { role: "user", content: [gave("a")] },
      ],
      [
        ["user", "text"],
        ["assistant", "tool_use"],
        ["user", "tool_result", "text"],
      ],
    ],
  ])("%s", async (_, messages, expected) => {
    const { bodies } = await play([{ text: "Done." }], { run: { messages } });
    const sent = bodies[0]!.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]);
    expect(sent).toEqual(expected);
  });

  it("S002-09: thinking, text and calls of an answer become blocks in their order", async () => {
    const { result } = await play([
      { thinking: { text: "Hm." }, text: "I look.", toolCalls: [call("look", { n: 3 }, "toolu_1")] },
      { text: "Done." },
    ]);
    expect(result.messages[1]!.content).toMatchObject([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "I look." },
      { type: "tool_call", id: "toolu_1", name: "look", input: { n: 3 } },
    ]);
  });

  it("S002-13: that an answer has no calls ends the run, whatever it says of itself", async () => {
    const { result } = await play([{ text: "Cut", stopReason: "length" }]);
    expect(result).toMatchObject({ outcome: "completed", finishReason: "length" });
  });

  it("S002-14: the tools go with every request", async () => {
    const { bodies } = await play([
      { toolCalls: [call("look")] },
      { toolCalls: [call("write")] },
      { text: "Done." },
    ]);
    const names = bodies.map(({ tools }) => tools!.map(({ name }) => name));
    expect(names).toEqual(Array(3).fill(["look", "write", "edit"]));
  });

  it("S002-15: a tool gets its input as an object", async () => {
    let seen: unknown;
    const look = {
      description: "Looks",
      inputSchema: { type: "object" },
      execute: (input: unknown) => ((seen = input), "seen"),
    };
    const { bodies } = await play(
      [{ toolCalls: [call("look", { a: [1, { b: null }] })] }, { text: "Done." }],
      {
        agent: { tools: { look } },
      },
    );
    expect(seen).toEqual({ a: [1, { b: null }] });
    expect(results(bodies[1])).toHaveLength(1);
  });

  it("S002-16: a tool may run an agent of its own, of which the outer model reads the last text alone", async () => {
    const inner = scripted([{ text: "I look.", toolCalls: [call("look")] }, { text: "It is blue." }]);
    const look = { description: "Looks", inputSchema: { type: "object" }, execute: () => "blue" };
    const researcher = createAgent({ model: anthropic("small", { fetch: inner }), tools: { look } });
    const research = {
      description: "Finds out",
      inputSchema: { type: "object", properties: { question: { type: "string" } } },
      execute: async ({ question }: { question: string }) => (await researcher.run(question).result).text,
    };
    const { bodies, result } = await play(
      [{ toolCalls: [call("research", { question: "Which colour?" })] }, { text: "Blue." }],
      { agent: { tools: { research } as never } },
    );
    expect(told(results(bodies[1])[0])).toBe("It is blue.");
    expect(JSON.stringify(inner.requests[0]!.body)).toContain("Which colour?");
    expect(JSON.stringify(inner.requests[0]!.body)).not.toContain("Be brief.");
    expect(result.text).toBe("Blue.");
  });
});
