/** What the specification says of `turn`, asked of `looplet/prompty` itself and not of the engine behind it. */
import { afterEach, describe, expect, it } from "vitest";
import { scripted } from "looplet/practice";
import { invoke, PromptyStream, tracers, turn, type Message, type TurnOptions } from "looplet/prompty";
import { agentOf, play, said } from "./kit.js";
import "looplet";

afterEach(() => tracers.clear());

const textOf = ({ content }: Message): string => content.map(({ value }) => value).join("");
const inputs = { thread: [{ role: "user", content: "?" }] };

describe("a round of calls on the wire", () => {
  /** The messages of the second request, behind those of the first. */
  async function secondOf(provider: string, apiType: string, answer: object): Promise<any[]> {
    const fetch = scripted([answer, { text: "Done." }]);
    const agent = await agentOf({ model: { id: "m", provider, apiType } });
    const tools = { add: ({ a }: { a: number }) => a + 1, look: () => ({ seen: true }) };
    expect(await turn(agent, inputs, tools, { host: { fetch, apiKey: "k" } })).toBe("Done.");
    const [first, second] = fetch.requests.map(({ body }: any) => body.messages ?? body.input);
    expect(second.slice(0, first.length)).toEqual(first);
    return second.slice(first.length);
  }
  const toolCalls = [
    { id: "call_1", name: "add", input: { a: 1 } },
    { id: "call_2", name: "look", input: {} },
  ];

  it("S004-14, S004-18: of Chat Completions is the calls, and a message for each result in their order", async () => {
    const [assistant, ...results] = await secondOf("openai", "chat", { toolCalls });
    expect(assistant).toMatchObject({
      role: "assistant",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1}' } },
        { id: "call_2", type: "function", function: { name: "look", arguments: "{}" } },
      ],
    });
    expect(results).toEqual([
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "tool", tool_call_id: "call_2", content: '{"seen":true}' },
    ]);
  });

  it("S004-20: of Responses is the items of the calls, and an output for each", async () => {
    const items = await secondOf("openai", "responses", { toolCalls });
    const called = items.filter(({ type }) => type === "function_call");
    expect(called).toMatchObject([
      { call_id: "call_1", name: "add", arguments: '{"a":1}' },
      { call_id: "call_2", name: "look" },
    ]);
    expect(items.filter(({ type }) => type === "function_call_output")).toMatchObject([
      { call_id: "call_1", output: "2" },
      { call_id: "call_2", output: '{"seen":true}' },
    ]);
  });

  it("S004-19, S004-22: of Anthropic is every block of the answer, and all results in one message", async () => {
    const answer = { thinking: { text: "I add.", signature: "sig" }, text: "I look.", toolCalls };
    const [assistant, user, ...more] = await secondOf("anthropic", "chat", answer);
    expect(assistant.content).toMatchObject([
      { type: "thinking", thinking: "I add.", signature: "sig" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "call_1" },
      { type: "tool_use", id: "call_2" },
    ]);
    expect(user).toMatchObject({
      role: "user",
      content: [{ tool_use_id: "call_1" }, { tool_use_id: "call_2" }],
    });
    expect(more).toEqual([]);
  });
});

describe("retries", () => {
  /** A clock that lets waits pass at once, and timeouts never. */
  function waiting() {
    const waits: number[] = [];
    const setTimer = (callback: () => void, delayMs: number) =>
      delayMs >= 100_000 ? undefined : (waits.push(delayMs), setTimeout(callback, 0));
    const clearTimer = (timer: unknown) => clearTimeout(timer as never);
    return { waits, clock: { now: () => 0, setTimer, clearTimer } };
  }
  async function asked(steps: object[], more: TurnOptions = {}) {
    const fetch = scripted(steps);
    const { waits, clock } = waiting();
    const events: string[] = [];
    const agent = await agentOf({ model: { id: "m", provider: "openai" } });
    const result = await turn(
      agent,
      inputs,
      {},
      {
        ...more,
        onEvent: (type) => events.push(type),
        host: { fetch, apiKey: "k", clock, random: () => 0 },
      },
    ).catch((error: unknown) => error);
    const count = (type: string) => events.filter((one) => one === type).length;
    return {
      result,
      requests: fetch.requests.length,
      calls: count("llm_start"),
      retries: count("retry"),
      waits,
    };
  }
  const down = { status: 503 };

  it("S004-32: of requests happen inside of one model call, and those of model calls around it", async () => {
    const inside = await asked([down, down, { text: "Well." }]);
    expect(inside).toMatchObject({ result: "Well.", requests: 3, calls: 1, retries: 0 });
    const around = await asked([{ status: 400 }, { text: "Well." }]);
    expect(around).toMatchObject({ result: "Well.", requests: 2, calls: 2, retries: 1 });
  });

  it("P-13: of requests follow 429 and 5xx, with the wait that the server names, and no other status", async () => {
    for (const status of [429, 500, 529]) {
      const step = { status, headers: { "retry-after": "7" } };
      const { result, requests, calls, waits } = await asked([step, { text: "Well." }]);
      expect([status, result, requests, calls]).toEqual([status, "Well.", 2, 1]);
      expect(waits.some((wait) => wait >= 7000 && wait < 9000)).toBe(true);
    }
    for (const status of [400, 401, 403, 404, 422]) {
      const { result, requests, calls } = await asked([{ status }], { maxLlmRetries: 1 });
      expect([status, (result as Error).name, requests, calls]).toEqual([status, "ExecuteError", 1, 1]);
    }
  });
});

describe("spans", () => {
  it("S004-02, P-23: of a turn surround its model calls and its tools, one after the other", async () => {
    const log: string[] = [];
    tracers.add("t", (name, parents) => {
      log.push(`begin ${[...parents, name].join(" > ")}`);
      return { end: () => log.push(`end ${name}`) };
    });
    await play([said(null, ["add", "{}"]), said("x")], { tools: { add: () => 1 }, options: { turn: 3 } });
    expect(log.filter((line) => line.startsWith("begin"))).toEqual([
      "begin turn 3",
      "begin turn 3 > prepare",
      "begin turn 3 > Executor",
      "begin turn 3 > Processor",
      "begin turn 3 > toolCalls",
      "begin turn 3 > toolCalls > execute_tool add",
      "begin turn 3 > Executor",
      "begin turn 3 > Processor",
    ]);
    expect(log.at(-1)).toBe("end turn 3");
  });
});

describe("streams", () => {
  it("S004-17: a text is yielded before the next one has come", async () => {
    const order: string[] = [];
    const chunks = async function* () {
      for (const content of ["A", "B", "C"]) {
        order.push(`came ${content}`);
        yield { choices: [{ delta: { content } }] };
      }
    };
    const { result } = await play([chunks], { options: { stream: true } });
    for await (const text of result as PromptyStream) order.push(`read ${text}`);
    expect(order).toEqual(["came A", "read A", "came B", "read B", "came C", "read C"]);
  });
});

describe("a budget of the context", () => {
  const long = (role: string, mark: string) => ({ role, content: mark.repeat(100) });
  const thread = [
    { role: "system", content: "Rules." },
    long("user", "a"),
    long("assistant", "b"),
    long("user", "c"),
    long("assistant", "d"),
    { role: "user", content: "Last." },
  ];

  it("P-17: is kept by a summary behind the system messages, and the last two messages stay", async () => {
    const { asked, events } = await play([said("x")], {
      inputs: { thread },
      options: { contextBudget: 200 },
    });
    const roles = asked[0]!.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
    const texts = asked[0]!.map(textOf);
    expect(texts[0]).toBe("Rules.");
    expect(texts[1]).toMatch(/^\[Context summary: User asked: a+\nAssistant: b+\nUser asked: c+\]$/);
    expect(texts.slice(2)).toEqual(["d".repeat(100), "Last."]);
    expect(events[0]![0]).toBe("messages_updated");
  });

  it("P-17: that is kept already changes nothing, and a single call has none", async () => {
    const fits = await play([said("x")], { inputs: { thread }, options: { contextBudget: 5000 } });
    expect(fits.asked[0]).toHaveLength(thread.length);
    expect(fits.events.map(([type]) => type)).toEqual(["done"]);
    const fetch = scripted([{ text: "x" }]);
    const agent = await agentOf({ model: { id: "m", provider: "openai" } });
    await invoke(agent, { thread }, { host: { fetch, apiKey: "k" } });
    expect((fetch.requests[0]!.body as { messages: unknown[] }).messages).toHaveLength(thread.length);
  });

  it("P-17: drops no result without its call", async () => {
    const calls = said("c".repeat(200), ["add", "{}"], ["add", "{}"]);
    const { asked } = await play([calls, said("x")], {
      inputs: { thread: [long("user", "a"), long("assistant", "b"), long("user", "c")] },
      tools: { add: () => "r".repeat(200) },
      options: { contextBudget: 500 },
    });
    const roles = asked[1]!.map(({ role }) => role);
    expect(roles.indexOf("tool") === -1 || roles.indexOf("assistant") < roles.indexOf("tool")).toBe(true);
    expect(textOf(asked[1]!.find((message) => textOf(message).startsWith("[Context"))!)).toContain(
      "User asked: a",
    );
  });
});

describe("calls beside each other", () => {
  const three = said(null, ["slow", "{}"], ["fails", "{}"], ["quick", "{}"]);
  function tools(log: string[]) {
    const tool = (name: string, ticks: number) => async () => {
      log.push(`start ${name}`);
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      log.push(`end ${name}`);
      if (name === "fails") throw new Error("no");
      return name;
    };
    return { slow: tool("slow", 20), fails: tool("fails", 1), quick: tool("quick", 5) };
  }

  it("P-21: run at the same time if that is asked for, keep their order, and one that fails cancels none", async () => {
    const log: string[] = [];
    const guarded: string[] = [];
    const spans: string[] = [];
    tracers.add("t", (name) => ({ end: () => void (name.startsWith("execute_tool") && spans.push(name)) }));
    const { asked, events } = await play([three, said("x")], {
      tools: tools(log),
      options: {
        parallelToolCalls: true,
        guardrails: { tool: (name) => (guarded.push(name), { allowed: true }) },
      },
    });
    expect(log.slice(0, 3).every((line) => line.startsWith("start"))).toBe(true);
    expect(asked[1]!.slice(-3).map(textOf)).toEqual(["slow", "Error: Tool 'fails' failed: no", "quick"]);
    expect(guarded).toEqual(["slow", "fails", "quick"]);
    expect(new Set(spans)).toEqual(
      new Set(["execute_tool slow", "execute_tool fails", "execute_tool quick"]),
    );
    expect(events.filter(([type]) => type === "tool_result")).toHaveLength(3);
  });

  it("P-21: run one after the other by default", async () => {
    const log: string[] = [];
    await play([three, said("x")], { tools: tools(log) });
    expect(log).toEqual(["slow", "fails", "quick"].flatMap((name) => [`start ${name}`, `end ${name}`]));
  });
});
