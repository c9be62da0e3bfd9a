/** What a step of `looplet/steps` keeps of an answer. */
import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  custom,
  gemini,
  openai,
  openaiChat,
  type Model,
  type RunResult,
} from "looplet";
import { scripted } from "looplet/practice";
import { inSteps } from "looplet/steps";

const told = (result: RunResult): string =>
  JSON.stringify(result, (name, value: unknown) => (/durationMs|^id$/i.test(name) ? 0 : value));

const words = Array.from({ length: 4000 }, (_, at) => (at % 7 === 0 ? "same same " : `w${at} 🦊\n`)).join("");
const input = { note: words.slice(0, 4000), n: 12345678901234567890 };

const models: Record<string, () => Model> = {
  anthropic: () => anthropic("claude-sonnet-4-6", { fetch: script(), apiKey: "k" }),
  openai: () => openai("gpt-5", { fetch: script(), apiKey: "k" }),
  "openai-chat": () => openaiChat("gpt-4.1", { fetch: script(), apiKey: "k" }),
  gemini: () => gemini("gemini-2.5-flash", { fetch: script(), apiKey: "k" }),
  custom: () =>
    custom(async function* ({ messages }) {
      for (const word of words.split(" ")) yield `${word} `;
      if (messages.length === 1) yield { type: "tool_call", id: "c1", name: "add", input: { n: 1 } };
    }),
};

function script() {
  return scripted([
    {
      thinking: { text: "I think of it. ".repeat(50), signature: "s" },
      text: words,
      toolCalls: [{ id: "c1", name: "add", input }],
    },
    { text: words },
  ] as never);
}

describe("the step of an answer", () => {
  it.each(Object.entries(models))(
    "of %s keeps about as much as the answer says, and means the same",
    async (_, model) => {
      const tools = {
        add: { description: "Adds", inputSchema: { type: "object" }, execute: () => "added" },
      } as never;
      const plain = await createAgent({ model: model(), tools, ids: () => "x", random: () => 0 }).run("Go.")
        .result;
      const kept: string[] = [];
      const steps = inSteps("x", async (name, work) => {
        const value = await work();
        if (name.startsWith("model")) kept.push(value);
        return value;
      });
      const result = await createAgent({ ...steps, model: model(), tools }).run("Go.").result;
      expect(result).toMatchObject({ outcome: "completed" });
      expect([result.text, result.messages, result.usage]).toEqual([plain.text, plain.messages, plain.usage]);
      expect(told(result).length).toBe(told(plain).length);
      // OpenAI repeats the whole text at the end of a block and of the answer.
      for (const value of kept) expect(value.length).toBeLessThan(8 * words.length);
    },
  );

  it.each([
    ["a comment and a ping are left out", ": hi\n\nevent: ping\ndata: {}\n\n", ""],
    [
      "an event that has broken off stays",
      'data: {"text":"a"}\n\ndata: {"te',
      'data: {"text":"a"}\n\ndata: {"te',
    ],
    ["large numbers stay", 'data: {"n":12345678901234567890}\n\n', 'data: {"n":12345678901234567890}\n\n'],
    [
      "blocks stay apart",
      'data: {"index":0,"delta":{"text":"a"}}\n\ndata: {"index":1,"delta":{"text":"b"}}\n\n',
      'data: {"index":0,"delta":{"text":"a"}}\n\ndata: {"index":1,"delta":{"text":"b"}}\n\n',
    ],
    [
      "halves of a letter come together",
      'data: {"text":"\\ud83e"}\r\n\r\ndata: {"text":"\\udd8a"}\r\n\r\ndata: [DONE]\r\n\r\n',
      'data: {"text":"🦊"}\n\ndata: [DONE]\r\n\r\n',
    ],
    [
      "sounds stay as they come",
      'data: {"type":"response.audio.delta","delta":"AA=="}\n\ndata: {"type":"response.audio.delta","delta":"AA=="}\n\n',
      'data: {"type":"response.audio.delta","delta":"AA=="}\n\ndata: {"type":"response.audio.delta","delta":"AA=="}\n\n',
    ],
  ])("in a stream: %s", async (_, body, expected) => {
    const { steps } = inSteps("x", (_, work) => work());
    const headers = { "content-type": "text/event-stream; charset=utf-8" };
    const send = steps.fetch(async () => new Response(body, { headers }));
    const answer = await send("https://model.test", {
      method: "GET",
      headers: new Headers(),
      signal: new AbortController().signal,
      redirect: "manual",
    });
    expect(answer.body).toBe(expected);
  });
});
