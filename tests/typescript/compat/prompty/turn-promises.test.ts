/** What `turn` promises about guardrails, refusals, spans and results. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { scripted } from "looplet/practice";
import {
  clearTools,
  invoke,
  loadPrompty,
  PromptyStream,
  registerTool,
  tracers,
  turn,
  type Message,
  type TurnOptions,
} from "looplet/prompty";
import { agentOf, play, said, types } from "./kit.js";
import "looplet";

afterEach(() => {
  clearTools();
  tracers.clear();
  vi.restoreAllMocks();
});

const textOf = ({ content }: Message): string => content.map(({ value }) => value).join("");
const inputs = { thread: [{ role: "user", content: "?" }] };

describe("the guardrail of the output", () => {
  it("P-19, P-22: is asked about every answer, and an answer that it refuses runs no tool", async () => {
    const ran: unknown[] = [];
    const { error, asked, events } = await play([said("I delete.", ["rm", "{}"]), said("x")], {
      tools: { rm: (args) => ran.push(args) },
      options: { guardrails: { output: () => ({ allowed: false, reason: "dangerous" }) } },
    });
    expect([error.name, error.reason, ran, asked.length]).toEqual(["GuardrailError", "dangerous", [], 1]);
    expect(events.map(([type]) => type)).toEqual(["error"]);
    expect(error.messages.map(({ role }: Message) => role)).toEqual(["user"]);
  });

  it("P-22: comes behind the model and before the tools, and sees the calls", async () => {
    const order: string[] = [];
    const seen: Message[] = [];
    const allow = (what: string) => (order.push(what), { allowed: true });
    const model = (answer: unknown) => () => (order.push("model"), answer);
    await play([model(said("Look.", ["add", '{"a":1}'])), model(said("One."))], {
      tools: { add: () => (order.push("add"), 1) },
      options: {
        guardrails: {
          input: () => allow("input"),
          output: (message) => (seen.push(message), allow("output")),
          tool: () => allow("tool"),
        },
      },
    });
    expect(order).toEqual(["input", "model", "output", "tool", "add", "input", "model", "output"]);
    expect(seen.map(textOf)).toEqual(["Look.", "One."]);
    expect(seen[0]!.metadata).toEqual({
      tool_calls: [{ id: "call_0", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
    });
  });

  it.each(["openai", "anthropic", "google"])(
    "P-19: rewrites the text of an answer with calls, whose calls stay, with %s",
    async (provider) => {
      const fetch = scripted([
        { text: "The code is 1234.", toolCalls: [{ name: "add", input: { a: 1 } }] },
        { text: "x" },
      ]);
      const agent = await agentOf({ model: { id: "m", provider } });
      const output = (message: Message) => ({ allowed: true, rewrite: textOf(message).replace("1234", "…") });
      await turn(agent, inputs, { add: () => "7" }, { host: { fetch, apiKey: "k" }, guardrails: { output } });
      const second = JSON.stringify(fetch.requests[1]!.body);
      expect(second).toContain("The code is ….");
      expect(second).not.toContain("1234");
      expect(second).toContain('"7"');
    },
  );
});

describe("a refusal", () => {
  const streaming: TurnOptions = { stream: true };
  const drained = async (started: Promise<unknown>): Promise<string[]> => {
    const texts: string[] = [];
    for await (const text of (await started) as PromptyStream) texts.push(text);
    return texts;
  };

  it("P-06: in a stream of an executor of the program ends the turn at once, without another attempt", async () => {
    const left: string[] = [];
    const chunks = async function* () {
      yield { choices: [{ delta: { refusal: "I will not." } }] };
      left.push("went on");
      yield { choices: [{ delta: { content: "x" } }] };
    };
    const { error, asked, waits, events } = await play([chunks, said("x")], { options: streaming });
    expect([error.name, error.message]).toEqual(["RefusalError", "Model refused: I will not."]);
    expect([asked.length, waits, left]).toEqual([1, [], []]);
    expect(events.at(-1)).toEqual(["error", { message: "Model refused: I will not." }]);
    expect(error.messages).toHaveLength(1);
  });

  it.each([
    ["openai", "chat"],
    ["openai", "responses"],
    ["anthropic", "chat"],
  ])("P-06: of %s %s does so too, with its whole text", async (provider, apiType) => {
    const fetch = scripted([
      { blocks: [{ type: "refusal", text: "I will not do that." }], stopReason: "refusal" },
      { text: "x" },
    ]);
    const agent = await agentOf({ model: { id: "m", provider, apiType } });
    const events: string[] = [];
    const started = turn(
      agent,
      inputs,
      {},
      { ...streaming, host: { fetch, apiKey: "k" }, onEvent: (type) => events.push(type) },
    );
    await expect(drained(started)).rejects.toMatchObject({
      name: "RefusalError",
      message: "Model refused: I will not do that.",
    });
    expect([fetch.requests.length, events.includes("retry")]).toEqual([1, false]);
  });

  it("P-06: of an answer that comes whole is its text", async () => {
    const fetch = scripted([{ blocks: [{ type: "refusal", text: "I will not." }], stopReason: "refusal" }]);
    const agent = await agentOf({ model: { id: "m", provider: "openai" } });
    expect(await turn(agent, inputs, {}, { host: { fetch, apiKey: "k" } })).toBe("I will not.");
  });
});

describe("spans", () => {
  const traced = () => {
    const facts: { [span: string]: { [key: string]: unknown }[] } = {};
    tracers.add("t", (name) => {
      const own: { [key: string]: unknown } = {};
      (facts[name] ??= []).push(own);
      return { set: (key, value) => (own[key] = value), end() {} };
    });
    return facts;
  };

  it("P-24: have the tokens of their model calls by the provider's names, and their parents the sums", async () => {
    const facts = traced();
    const usage = (prompt: number) => ({
      prompt_tokens: prompt,
      completion_tokens: 2,
      details: { cached_tokens: 1 },
    });
    await play(
      [
        { ...said(null, ["add", "{}"]), usage: usage(10) },
        { ...said("x"), usage: usage(5) },
      ],
      {
        tools: { add: () => 1 },
      },
    );
    expect(facts["Executor"]!.map(({ usage }) => usage)).toEqual([usage(10), usage(5)]);
    expect(facts["turn"]![0]!["usage"]).toEqual({
      prompt_tokens: 15,
      completion_tokens: 4,
      details: { cached_tokens: 2 },
    });
    expect(facts["Processor"]![0]).not.toHaveProperty("usage");
  });

  it("P-24: of the built-in executor have them too", async () => {
    const facts = traced();
    const agent = await loadPrompty("---\nmodel: { id: m, provider: anthropic }\n---\nuser:\nHi");
    await invoke(agent, {}, { host: { fetch: scripted([{ text: "Hello." }]), apiKey: "k" } });
    for (const name of ["Executor", "run", "invoke"])
      expect(facts[name]![0]!["usage"]).toMatchObject({ outputTokens: 2 });
  });

  it("P-24: show no secret of arguments and results, written as JSON or as values", async () => {
    const facts = traced();
    const text = '{"city":"Rome","api_key":"sk-live-1","inner":[{"password":"sk-live-2"}]}';
    await play([said(null, ["add", text], ["add", '{"token": "sk-live-3"']), said("x")], {
      tools: { add: () => '{"cookie":"sk-live-4","ok":1}' },
    });
    expect(JSON.stringify(facts)).not.toContain("sk-live");
    expect(facts["execute_tool add"]![0]).toEqual({
      arguments: '{"city":"Rome","api_key":"[REDACTED]","inner":[{"password":"[REDACTED]"}]}',
      result: '{"cookie":"[REDACTED]","ok":1}',
    });
  });
});

describe("results of tools", () => {
  const png = { kind: "image", value: "aGk=", mediaType: "image/png" } as const;
  const rich = { parts: [{ kind: "text", value: "A map: " }, png] };

  it("P-02: with parts are parts of the message, and parts of text are one text", async () => {
    const texts = {
      parts: [
        { kind: "text", value: "A" },
        { kind: "text", value: "B" },
      ],
    };
    const mcp = {
      content: [
        { type: "text", text: "M" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
    };
    const calls = ["map", "text", "mcp", "odd"].map((name) => [name, "{}"] as [string, string]);
    const { asked, events } = await play([said(null, ...calls), said("x")], {
      tools: { map: () => rich, text: () => texts, mcp: () => mcp, odd: () => ({ parts: 5 }) },
    });
    expect(asked[1]!.slice(2).map(({ content }) => content)).toEqual([
      rich.parts,
      [{ kind: "text", value: "AB" }],
      [{ kind: "text", value: "M" }, png],
      [{ kind: "text", value: '{"parts":5}' }],
    ]);
    expect(events.filter(([type]) => type === "tool_result").map(([, data]) => data)).toEqual([
      { name: "map", result: "A map: ", parts: rich.parts },
      { name: "text", result: "AB" },
      { name: "mcp", result: "M", parts: [{ kind: "text", value: "M" }, png] },
      { name: "odd", result: '{"parts":5}' },
    ]);
  });

  it.each([
    ["anthropic", "chat"],
    ["openai", "chat"],
    ["openai", "responses"],
    ["google", "chat"],
  ])("P-02: with an image reach the model of %s %s", async (provider, apiType) => {
    const fetch = scripted([{ toolCalls: [{ name: "map", input: {} }] }, { text: "x" }]);
    const agent = await agentOf({ model: { id: "m", provider, apiType } });
    expect(await turn(agent, inputs, { map: () => rich }, { host: { fetch, apiKey: "k" } })).toBe("x");
    const body = JSON.stringify(fetch.requests[1]!.body);
    expect(body).toContain("A map: ");
    expect(body).toContain("aGk=");
  });

  it("P-09: come from a function that is registered by its name, also for a tool that no file declares", async () => {
    registerTool("look", () => "seen");
    const { asked, result } = await play([said(null, ["look", "{}"]), said("x")]);
    expect([textOf(asked[1]!.at(-1)!), result]).toEqual(["seen", "x"]);
    const kinds = await agentOf({ tools: [{ name: "web", kind: "mcp" }] });
    const { error } = await play([said(null, ["web", "{}"])], { agent: kinds });
    expect(error.message).toContain('does not implement this kind: registerToolHandler("mcp", …) adds it');
  });
});

describe("events", () => {
  it("P-14: a listener that rejects is logged, and the turn goes on", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const onEvent = async () => Promise.reject(new Error("of the listener"));
    const { result } = await play([said("Hi.")], { options: { onEvent } });
    expect(result).toBe("Hi.");
    expect(logged.mock.calls.flat().map(String)).toContain("Error: of the listener");
  });

  it("P-14: every change of the conversation is told, also the last one of a turn that fails", async () => {
    const agent = await agentOf({ tools: [{ name: "add" }] });
    const played = await play([said(null, ["add", "{}"])], { agent });
    expect(types(played).slice(-2)).toEqual(["messages_updated", "error"]);
    expect(played.events.at(-2)![1].messages).toEqual(played.error.messages);
  });

  it("P-14: an input that is missing is an error event too", async () => {
    const agent = await agentOf({ inputs: [{ name: "city", kind: "string", required: true }] });
    const { events, error } = await play([], { agent });
    expect(error.name).toBe("ValueError");
    expect(events).toEqual([["error", { message: "Missing required input: city" }]]);
  });

  it("P-14: a stream that is read to its end has done as its last event", async () => {
    const { result, events } = await play(
      [
        async function* () {
          yield { choices: [{ delta: { content: "A" } }] };
        },
      ],
      { options: { stream: true } },
    );
    for await (const _ of result as PromptyStream);
    expect(events.map(([type]) => type)).toEqual(["token", "done"]);
  });
});
