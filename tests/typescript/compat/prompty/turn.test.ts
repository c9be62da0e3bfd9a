import { afterEach, describe, expect, it } from "vitest";
import { scripted } from "looplet/practice";
import {
  bindTools,
  clearTools,
  clearToolHandlers,
  loadPrompty,
  PromptyStream,
  registerTool,
  registerToolHandler,
  Steering,
  tracers,
  turn,
  turnAsync,
  type PromptInputs,
  type Message,
} from "looplet/prompty";
import { agentOf, play, said, types } from "./kit.js";
import "looplet";

afterEach(() => {
  clearTools();
  clearToolHandlers();
  tracers.clear();
});

const textOf = ({ content }: Message): string => content.map(({ value }) => value).join("");
const results = (messages: readonly Message[] | undefined): string[] =>
  (messages ?? []).filter(({ role }) => role === "tool").map(textOf);
const add = { add: ({ a, b }: any) => a + b };

describe("turn", () => {
  it("S004-01: turn and turnAsync are one function, which returns the last answer", async () => {
    expect(turnAsync).toBe(turn);
    const { result, events } = await play([said(null, ["add", '{"a":1,"b":2}']), said("Three.")], {
      tools: add,
    });
    expect(result).toBe("Three.");
    expect(types({ events } as never)).toEqual([
      "status",
      "tool_call_start",
      "tool_result",
      "messages_updated",
      "done",
    ]);
  });

  it("S004-04: a path is loaded, an agent is taken as it is", async () => {
    const text = "---\nmodel: { id: m, provider: anthropic }\n---\nuser:\nHi {{name}}";
    const host = {
      vfs: { readFile: () => text },
      fetch: scripted([{ text: "Hello." }, { text: "Hello." }]),
      apiKey: "k",
    };
    expect(await turn("a.prompty", { name: "Bob" }, {}, { host })).toBe("Hello.");
    expect(await turn(await loadPrompty(text), { name: "Bob" }, {}, { host })).toBe("Hello.");
  });

  it("S004-06: tools of the call are declared to the model, and win over registered ones for this call alone", async () => {
    registerTool("add", () => "registered");
    const call = said(null, ["add", "{}"]);
    const own = await play([call, said("x")], { tools: { add: () => "own" } });
    expect(results(own.asked[1])).toEqual(["own"]);
    const agent = await agentOf({ tools: [{ name: "add" }] });
    const registered = await play([call, said("x")], { agent });
    expect(results(registered.asked[1])).toEqual(["registered"]);
    const bodies: any[] = [];
    const model = { id: "m", provider: "openai" };
    const fetch = async (url: string, init: any) => {
      bodies.push(JSON.parse(new TextDecoder().decode(init.body)));
      return scripted([{ text: "Ok." }])(url, init);
    };
    const host = { fetch, apiKey: "k" };
    const parameters = [{ name: "a", kind: "integer", required: true }];
    await turn(
      await agentOf({ model }),
      { thread: [{ role: "user", content: "?" }] },
      { add: { parameters, execute: () => 1 } },
      { host },
    );
    expect(bodies[0].tools[0].function).toMatchObject({
      name: "add",
      parameters: { properties: { a: { type: "integer" } }, required: ["a"] },
    });
  });

  it("S004-07: it makes as many model calls as maxIterations says, and no more", async () => {
    const calls = Array.from({ length: 20 }, () => said(null, ["add", "{}"]));
    const { error, asked } = await play(calls, { tools: add });
    expect([error.message, asked.length]).toEqual(["Agent loop exceeded 10 iterations", 10]);
    const less = await play(calls, { tools: add, options: { maxIterations: 2 } });
    expect([less.error.message, less.asked.length]).toEqual(["Agent loop exceeded 2 iterations", 2]);
    expect(less.error.messages.map(({ role }: Message) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  it("S004-03: bounds that are not positive integers are refused before any request", async () => {
    for (const options of [{ maxIterations: NaN }, { maxIterations: 0 }, { maxLlmRetries: 1.5 }]) {
      const { error, asked } = await play([said("x")], { options });
      expect([error.name, error.code, asked.length]).toEqual([
        "LoopletError",
        expect.stringMatching(/^config_/),
        0,
      ]);
    }
  });

  const fails = (): never => {
    throw new Error("busy");
  };

  it("P-04, S004-08, S004-33, S004-34: three attempts with two waits, then an error whose messages begin the next turn", async () => {
    const { error, asked, waits, events } = await play([said(null, ["add", "{}"]), fails, fails, fails], {
      tools: { add: () => 5 },
    });
    expect([error.name, error.message, waits]).toEqual(["ExecuteError", "Error: busy", [2000, 4000]]);
    expect(asked).toHaveLength(4);
    expect(events.filter(([type]) => type === "status").map(([, { message }]) => message)).toEqual([
      "Starting agent loop",
      "LLM call failed, retrying (attempt 2/3)...",
      "LLM call failed, retrying (attempt 3/3)...",
    ]);
    const again = await play([said("Five.")], { inputs: { thread: error.messages } });
    expect(again.result).toBe("Five.");
    expect(results(again.asked[0])).toEqual(["5"]);
  });

  it("S004-09: no wait is longer than a minute", async () => {
    const { waits } = await play(
      Array.from({ length: 8 }, () => fails),
      { options: { maxLlmRetries: 8 } },
    );
    expect(waits).toEqual([2000, 4000, 8000, 16000, 32000, 60000, 60000]);
  });

  it("P-16, S004-35: an abort ends a wait at once", async () => {
    const abort = new AbortController();
    const onEvent = (type: string): void => {
      if (type === "status") queueMicrotask(() => abort.abort("enough"));
    };
    const { error, asked, events, waits } = await play([fails, said("late")], {
      options: { signal: abort.signal, onEvent },
    });
    expect([error.name, asked.length, waits]).toEqual(["CancelledError", 1, [2000]]);
    expect(events.at(-1)).toEqual(["cancelled", { reason: "enough" }]);
  });

  it("S004-11, S004-12: a tool without a handler is a mistake of the program, and its history is closed", async () => {
    const agent = await agentOf({ tools: [{ name: "look", kind: "openapi" }, { name: "add" }] });
    const { error } = await play([said(null, ["add", "{}"], ["look", "{}"])], {
      agent,
      tools: { add: () => 1 },
    });
    expect([error.name, error.message]).toEqual([
      "ValueError",
      'No handler registered for tool: look (kind: openapi); looplet/prompty does not implement this kind: registerToolHandler("openapi", …) adds it',
    ]);
    expect(results(error.messages)).toEqual(["1", "Error: The tool was not run"]);
    const unknown = await play([said(null, ["none", "{}"])], { agent });
    expect(unknown.error.message).toBe("Tool not registered: none");
  });

  it("P-03, P-09, S004-13, S004-29, S004-30, S004-31: a function of the name comes before the handler of the kind, and the errors of both go to the model", async () => {
    const agent = await agentOf({
      tools: [
        { name: "look", kind: "openapi" },
        { name: "own", kind: "openapi" },
      ],
    });
    const seen: unknown[] = [];
    registerToolHandler("openapi", (tool, args, given, inputs) => {
      seen.push(tool.name, args, given.kind, Object.keys(inputs));
      throw new Error("closed");
    });
    const { asked, events } = await play([said(null, ["look", '{"a":1}'], ["own", "{}"]), said("x")], {
      agent,
      tools: { own: () => ({ ok: true }) },
    });
    expect(seen).toEqual(["look", { a: 1 }, "prompt", ["thread"]]);
    expect(asked).toHaveLength(2);
    expect(results(asked[1])).toEqual(["Error: Tool 'look' failed: closed", '{"ok":true}']);
    expect(events).toContainEqual(["error", { message: "Error: Tool 'look' failed: closed" }]);
  });

  it.each([
    ['{"a":1}', { a: 1 }, undefined],
    ['```json\n{"a":1}\n```', { a: 1 }, "code fence"],
    ['Sure: {"a":"}"} x', { a: "}" }, "first JSON block"],
    ['{"a":[1,],}', { a: [1] }, "trailing commas"],
    ['Well {"a":"x,}",} so', { a: "x,}" }, "first JSON block without trailing commas"],
  ])("S004-25, S004-26, S004-27: arguments %s are read", async (text, args, fallback) => {
    const seen: unknown[] = [];
    const warnings: string[] = [];
    const host = { logger: { warn: (message: string) => warnings.push(message) } };
    await play([said(null, ["add", text]), said("x")], {
      tools: { add: (args) => seen.push(args) },
      options: { host },
    });
    expect(seen).toEqual([args]);
    expect(warnings).toEqual(
      fallback === undefined ? [] : [`The arguments of add were read by a fallback: ${fallback}`],
    );
  });

  it.each(["", "null", "no", '{"a":', "[1]"])(
    "S004-28: arguments %j are an error that the model reads",
    async (text) => {
      const seen: unknown[] = [];
      const { asked, result } = await play([said(null, ["add", text]), said("x")], {
        tools: { add: (args) => seen.push(args) },
      });
      expect([seen, result]).toEqual([[], "x"]);
      expect(results(asked[1])[0]).toMatch(/^Error: Invalid JSON in tool arguments: ./);
    },
  );

  it("S004-21: a binding wins over the model's value, with the default of the input", async () => {
    const agent = await agentOf(
      {
        inputs: [{ name: "unit", kind: "string", default: "c" }],
        tools: [{ name: "look", parameters: [{ name: "in", kind: "string" }], bindings: { in: "unit" } }],
      },
      "user:\nGo",
    );
    const seen: unknown[] = [];
    await play([said(null, ["look", '{"in":"f"}']), said("x")], {
      agent,
      inputs: {},
      tools: { look: (args) => seen.push(args) },
    });
    expect(seen).toEqual([{ in: "c" }]);
  });

  it("P-01, S004-15, S004-22: the executor alone words the messages of a round", async () => {
    const fetch = scripted([
      {
        text: "Look.",
        toolCalls: [
          { id: "t1", name: "add", input: {} },
          { id: "t2", name: "add", input: {} },
        ],
      },
      { text: "x" },
    ]);
    const bodies: any[] = [];
    const spy = async (url: string, init: any) => {
      bodies.push(JSON.parse(new TextDecoder().decode(init.body)));
      return fetch(url, init);
    };
    const agent = await agentOf({ model: { id: "m", provider: "anthropic" } });
    const host = { fetch: spy, apiKey: "k" };
    expect(
      await turn(agent, { thread: [{ role: "user", content: "?" }] }, { add: () => "7" }, { host }),
    ).toBe("x");
    const [, assistant, user] = bodies[1].messages;
    expect(assistant.content.map(({ type }: any) => type)).toEqual(["text", "tool_use", "tool_use"]);
    expect(user.content.map(({ tool_use_id }: any) => tool_use_id)).toEqual(["t1", "t2"]);
    expect(bodies[1].messages).toHaveLength(3);
  });

  it("P-10: bindTools checks functions against the file and changes nothing", async () => {
    const agent = await agentOf({
      tools: [{ name: "add" }, { name: "look" }, { name: "web", kind: "openapi" }],
    });
    const warnings: string[] = [];
    const host = { logger: { warn: (message: string) => warnings.push(message) } };
    const before = structuredClone(agent);
    expect(Object.keys(bindTools(agent, add, host))).toEqual(["add"]);
    expect(warnings).toEqual(["No handler for the declared tool: look"]);
    expect(agent).toEqual(before);
    const twice = [["add", add.add] as const, ["add", add.add] as const];
    expect(() => bindTools(agent, twice)).toThrow("Duplicate tool handler: add");
    expect(() => bindTools(agent, { web: add.add })).toThrow(
      "Tool not declared: web; declared are: add, look",
    );
  });

  it("P-14: a listener that throws changes nothing, and done is the last event", async () => {
    const { result, events } = await play([said("Hi.")], {
      options: {
        onEvent() {
          throw new Error("listener");
        },
      },
    });
    expect([result, events.at(-1)![0]]).toEqual(["Hi.", "done"]);
  });

  it("P-19, P-20: guardrails of input and output end the turn, and steers join it before the next call", async () => {
    const denied = { allowed: false, reason: "r" };
    const input = await play([said("x")], { options: { guardrails: { input: () => denied } } });
    expect([input.error.name, input.error.reason, input.asked.length]).toEqual(["GuardrailError", "r", 0]);
    expect(input.events.at(-1)).toEqual(["error", { message: "Input guardrail denied: r" }]);
    const output = await play([said("x")], { options: { guardrails: { output: async () => denied } } });
    expect(output.error.message).toBe("Output guardrail denied: r");
    const steering = new Steering();
    steering.send("More.");
    const steered = await play([said("x")], { options: { steering } });
    expect(steered.asked[0]!.map(textOf)).toEqual(["Go.", "More."]);
    expect(types(steered)).toEqual(["messages_updated", "status", "done"]);
  });

  it("P-18: a compaction takes the place of the summary; if it fails, the summary stands", async () => {
    const thread = Array.from({ length: 6 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: "x".repeat(100),
    }));
    const options = { contextBudget: 300, compaction: () => "all said" };
    const { asked, events } = await play([said("x")], { inputs: { thread }, options });
    expect(textOf(asked[0]![0]!)).toBe("[Context summary: all said]");
    expect(events.slice(0, 2)).toEqual([
      ["compaction_start", {}],
      ["compaction_complete", { removed: 4, remaining: 3 }],
    ]);
    const failing = await play([said("x")], {
      inputs: { thread },
      options: { ...options, compaction: fails },
    });
    expect(textOf(failing.asked[0]![0]!)).toContain("User asked: xxx");
    expect(types(failing)).toContain("compaction_failed");
  });
});

describe("streams", () => {
  const chunks = async function* (...deltas: object[]) {
    for (const delta of deltas) yield { choices: [{ delta }] };
  };
  const calling = () =>
    chunks(
      { tool_calls: [{ index: 0, id: "c", function: { name: "add", arguments: '{"a":1,' } }] },
      { content: "hidden" },
      { tool_calls: [{ index: 0, function: { arguments: '"b":2}' } }] },
    );

  it("P-05, S004-16: an answer with calls yields nothing; the last one yields its text, and the tracer gets it once", async () => {
    const spans: [string, unknown][] = [];
    tracers.add("t", (name) => ({
      set: (key, value) => key === "result" && spans.push([name, value]),
      end() {},
    }));
    const played = await play([calling, () => chunks({ content: "Th" }, { content: "ree." })], {
      tools: add,
      options: { stream: true },
    });
    const stream = played.result as PromptyStream;
    expect(stream).toBeInstanceOf(PromptyStream);
    expect(results(played.asked[1])).toEqual(["3"]);
    const texts: string[] = [];
    for await (const text of stream) texts.push(text);
    expect([texts, stream.items]).toEqual([
      ["Th", "ree."],
      ["Th", "ree."],
    ]);
    expect(spans.filter(([name]) => name === "PromptyStream")).toEqual([["PromptyStream", ["Th", "ree."]]]);
    expect(played.events.filter(([type]) => type === "token").map(([, { token }]) => token)).toEqual([
      "Th",
      "ree.",
    ]);
    expect(played.events.at(-1)![0]).toBe("done");
  });

  it("S004-16: with another vendor the text before calls is held back", async () => {
    const agent = await agentOf({ model: { id: "m", provider: "anthropic" } });
    const fetch = scripted([
      { text: "Let me see.", toolCalls: [{ name: "add", input: {} }] },
      { text: "Three." },
    ]);
    const stream = await turn(agent, { thread: [{ role: "user", content: "?" }] }, add, {
      stream: true,
      host: { fetch, apiKey: "k" },
    });
    const texts: string[] = [];
    for await (const text of stream as PromptyStream) texts.push(text);
    expect(texts.join("")).toBe("Three.");
  });
});

describe("tools of kind prompty", () => {
  const model = "model: { id: m, provider: anthropic }";
  const file = (mode: string, path = "b.prompty") =>
    `---\n${model}\ninputs: { city: Rome, unit: c }\ntools:\n  - { name: child, kind: prompty, path: ${path}, mode: ${mode}, bindings: { unit: unit } }\n---\nuser:\n{{city}}`;
  const child = `---\n${model}\ndescription: Knows.\ninputs: [{ name: city, kind: string }, { name: unit, kind: string }]\n---\nuser:\n{{city}} in {{unit}}`;

  it.each(["single", "agentic"])(
    "P-23, P-24, S004-23, S004-24: %s, relative to its parent, with bindings and in its span",
    async (mode) => {
      const files: { [path: string]: string } = { "/w/a.prompty": file(mode), "/w/b.prompty": child };
      const bodies: any[] = [];
      const answers = scripted([
        { toolCalls: [{ name: "child", input: { city: "Oslo", unit: "f" } }] },
        { text: "Cold." },
        { text: "It is cold." },
      ]);
      const fetch = async (url: string, init: any) => {
        bodies.push(JSON.parse(new TextDecoder().decode(init.body)));
        return answers(url, init);
      };
      const spans: string[] = [];
      const tracer = (name: string, parents: readonly string[]) => ({
        end: () => spans.push([...parents, name].join(" > ")),
      });
      const host = {
        vfs: { readFile: (path: string) => files[path]! },
        fetch,
        apiKey: "k",
        tracers: [tracer],
      };
      expect(await turn("/w/a.prompty", {} as PromptInputs, {}, { host, turn: 1 })).toBe("It is cold.");
      expect(JSON.stringify(bodies[0].tools)).toContain('"city"');
      expect(JSON.stringify(bodies[0].tools)).not.toContain('"unit"');
      expect(JSON.stringify(bodies[1].messages)).toContain("Oslo in c");
      const outer = "turn 1 > toolCalls > execute_tool child";
      const inner = mode === "single" ? "invoke > run" : "turn";
      expect(spans).toContain(`${outer} > ${inner} > Executor`);
      expect(spans.at(-1)).toBe("turn 1");
    },
  );

  it("S004-23: files that load each other end in an error that the model reads", async () => {
    const files: { [path: string]: string } = {
      "/a.prompty": file("agentic"),
      "/b.prompty": file("agentic", "a.prompty"),
    };
    const call = { toolCalls: [{ name: "child", input: {} }] };
    const fetch = scripted([call, call, { text: "b" }, { text: "a" }]);
    const host = { vfs: { readFile: (path: string) => files[path]! }, fetch, apiKey: "k" };
    const errors: string[] = [];
    expect(await turn("/a.prompty", {}, {}, { host })).toBe("a");
    tracers.add("t", (name) => ({
      set: (key, value) => name === "execute_tool child" && key === "result" && errors.push(String(value)),
      end() {},
    }));
    const again = scripted([call, call, { text: "b" }, { text: "a" }]);
    await turn("/a.prompty", {}, {}, { host: { ...host, fetch: again } });
    expect(errors).toEqual(["Error: Tool 'child' failed: /a.prompty is already running", "b"]);
  });
});
