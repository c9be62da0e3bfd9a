import { anthropic, openai, openaiChat } from "looplet";
import {
  agentLoop,
  compactSession,
  executeToolCalls,
  copySession,
  initSession,
  makeInvokeModel,
  type InvokeModelOptions,
  parseResponse,
  response,
  runSession,
  toApiMessages,
  type GenericMessage,
  type InvokeModel,
  type ToolCallMessage,
  type ToolDefinition,
} from "looplet/guide";
import { scripted } from "looplet/practice";
import { describe, expect, it, vi } from "vitest";

const readFile: ToolDefinition = {
  name: "read_file",
  description: "Read the contents of a file at the given path.",
  input_schema: {
    type: "object",
    properties: { path: { type: "string", description: "File path to read" } },
    required: ["path"],
  },
};
const files: { [path: string]: string } = { "a.txt": "Alpha", "b.txt": "Beta" };
const handlers = { read_file: (input: { path: string }) => files[input.path]! };
const call = (id: string, input: object = {}, name = "read_file"): ToolCallMessage => ({
  type: "tool_call",
  name,
  id,
  input,
});
const said = (content: string): GenericMessage => ({ role: "assistant", content });
const thought = (content: string): GenericMessage => ({ type: "thinking", content });
const gave = (id: string, output = "seen"): GenericMessage => ({ type: "tool_result", id, output });
/** Answers in this order, and the sessions that it was asked with. */
function answering(...answers: GenericMessage[][]): InvokeModel & { asked: GenericMessage[][] } {
  const asked: GenericMessage[][] = [];
  const invoke: InvokeModel = async (_, session) => {
    asked.push(structuredClone(session.messages));
    return answers[asked.length - 1]!;
  };
  return Object.assign(invoke, { asked });
}

describe("the session", () => {
  it("S002-01, S002-03: is a list of messages, which begins with the system prompt and the user", () => {
    expect(initSession("Be brief.", "Hello")).toEqual({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    });
  });

  it("S002-16: the response is the last text of the model, or an empty one", () => {
    const session = initSession("s", "u");
    expect(response(session)).toEqual({ content: "" });
    session.messages.push(said("One."), thought("Hm."), said("Two."), call("a"), gave("a"));
    expect(response(session)).toEqual({ content: "Two." });
  });
});

const text = (text: string) => ({ type: "text", text });
const use = (id: string) => ({ type: "tool_use", id, name: "read_file", input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "seen" });

describe("toApiMessages", () => {
  it.each<[string, GenericMessage[], string | null, object[]]>([
    [
      "S002-05: the system prompt stands apart, and the last one wins",
      [
        { role: "system", content: "One" },
        { role: "system", content: "Two" },
        { role: "user", content: "Go" },
      ],
      "Two",
      [{ role: "user", content: "Go" }],
    ],
    [
      "S002-06: thinking, text and calls in a row are one message, in their order",
      [thought("Hm."), said("I look."), call("a"), said("And.")],
      null,
      [
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: "Hm." }, text("I look."), use("a"), text("And.")],
        },
      ],
    ],
    [
      "S002-07: results in a row are one message of the user",
      [call("a"), call("b"), gave("a"), gave("b")],
      null,
      [
        { role: "assistant", content: [use("a"), use("b")] },
        { role: "user", content: [result("a"), result("b")] },
      ],
    ],
    [
      "S002-08: the user flushes what the model said",
      [said("Hi."), { role: "user", content: "Go" }],
      null,
      [
        { role: "assistant", content: [text("Hi.")] },
        { role: "user", content: "Go" },
      ],
    ],
    [
      "S002-08: the user flushes results",
      [gave("a"), { role: "user", content: "Go" }],
      null,
      [
        { role: "user", content: [result("a")] },
        { role: "user", content: "Go" },
      ],
    ],
    [
      "S002-08: text, thinking and calls flush results",
      [gave("a"), said("Hi."), gave("b"), thought("Hm."), gave("c"), call("d")],
      null,
      [
        { role: "user", content: [result("a")] },
        { role: "assistant", content: [text("Hi.")] },
        { role: "user", content: [result("b")] },
        { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }] },
        { role: "user", content: [result("c")] },
        { role: "assistant", content: [use("d")] },
      ],
    ],
    [
      "S002-19: thinking that was cut is left out, and a cut input is an object",
      [
        { type: "thinking", content: "Hm", compacted: true },
        { ...call("a", { _compacted: '{"path' }), compacted: true },
      ],
      null,
      [{ role: "assistant", content: [{ ...use("a"), input: { _compacted: '{"path' } }] }],
    ],
  ])("%s", (_, messages, system, expected) => {
    expect(toApiMessages({ messages })).toEqual({ system, messages: expected });
  });

  it("S002-09: a response's blocks become messages in their order", () => {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "s" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "a", name: "read_file", input: { path: "a.txt" } },
    ];
    expect(parseResponse({ content })).toEqual([
      { type: "thinking", content: "Hm.", signature: "s" },
      said("I look."),
      call("a", { path: "a.txt" }),
    ]);
  });
});

describe("executeToolCalls", () => {
  it("S002-15: a handler that returns no text makes a legal result, its JSON", async () => {
    const odd = {
      a: () => ({ city: "Rome" }),
      b: () => [1],
      c: () => undefined,
      d: () => null,
      e: async () => 5,
    };
    const calls = Object.keys(odd).map((name) => call(name, {}, name));
    const results = await executeToolCalls(calls, odd);
    expect(results.map(({ output }) => output)).toEqual(['{"city":"Rome"}', "[1]", "", "null", "5"]);
    const { messages } = toApiMessages({ messages: [...calls, ...results] });
    for (const block of messages[1]!.content as { content: unknown }[])
      expect(typeof block.content).toBe("string");
    const odder = {
      error: () => new Error("no disk"),
      unnamed: async () => new RangeError(),
      function: () => call,
    };
    const others = Object.keys(odder).map((name) => call(name, {}, name));
    expect((await executeToolCalls(others, odder)).map(({ output }) => output)).toEqual([
      "Error: no disk",
      "Error: RangeError",
      "",
    ]);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect((await executeToolCalls([call("1", {}, "circle")], { circle: () => circle }))[0]!.output).toMatch(
      /^Error: .*circular/i,
    );
  });

  it("S002-10, S002-15: each call has a result, an error too", async () => {
    const calls = [call("a", { path: "a.txt" }), call("b", {}, "fail"), call("c", {}, "toString")];
    const fail = () => {
      throw new Error("no disk");
    };
    expect(await executeToolCalls(calls, { ...handlers, fail })).toEqual([
      gave("a", "Alpha"),
      gave("b", "Error: no disk"),
      gave("c", "Error: there is no tool toString"),
    ]);
  });

  it("S002-11: calls overlap, unless they are asked not to, and results keep the order", async () => {
    const log: string[] = [];
    const wait = async ({ ticks, name }: { ticks: number; name: string }) => {
      log.push(`start ${name}`);
      for (let n = 0; n < ticks; n += 1) await Promise.resolve();
      log.push(`end ${name}`);
      return name;
    };
    const calls = [call("1", { ticks: 9, name: "a" }, "wait"), call("2", { ticks: 1, name: "b" }, "wait")];
    expect(await executeToolCalls(calls, { wait })).toEqual([gave("1", "a"), gave("2", "b")]);
    expect(log).toEqual(["start a", "start b", "end b", "end a"]);
    log.length = 0;
    await executeToolCalls(calls, { wait }, { parallel: false });
    expect(log).toEqual(["start a", "end a", "start b", "end b"]);
  });
});

describe("runSession", () => {
  it("S002-04, S002-12: asks, runs the calls, and repeats until there are none", async () => {
    const invoke = answering(
      [thought("Hm."), call("1", { path: "a.txt" }), call("2", { path: "b.txt" })],
      [said("Alpha, Beta.")],
    );
    const session = initSession("s", "Read both");
    const heard: GenericMessage[] = [];
    const options = { onMessage: (message: GenericMessage) => void heard.push(message) };
    expect(await runSession(invoke, [readFile], session, handlers, options)).toBe(session);
    expect(session.messages.slice(2)).toEqual([
      thought("Hm."),
      call("1", { path: "a.txt" }),
      call("2", { path: "b.txt" }),
      gave("1", "Alpha"),
      gave("2", "Beta"),
      said("Alpha, Beta."),
    ]);
    expect(heard).toEqual(session.messages.slice(2));
    expect(invoke.asked.map(({ length }) => length)).toEqual([2, 7]);
    expect(agentLoop).toBe(runSession);
  });

  it("S002-20: each piece can be replaced", async () => {
    const session = initSession("s", "u");
    const execute = async (calls: readonly ToolCallMessage[]) =>
      calls.map(({ id }) => ({ type: "tool_result" as const, id, output: "mine" }));
    await runSession(answering([call("1")], [said("Done.")]), [], session, {}, { execute });
    expect(session.messages[3]).toEqual(gave("1", "mine"));
  });

  it("ends at a bound or a signal, between two requests", async () => {
    const forever: InvokeModel = async () => [call("1", { path: "a.txt" })];
    const session = await runSession(forever, [], initSession("s", "u"), handlers, { maxIterations: 3 });
    expect(session.messages).toHaveLength(2 + 3 * 2);
    const abort = new AbortController();
    const read = () => (abort.abort(new Error("enough")), "x");
    const kept = initSession("s", "u");
    const ended = runSession(forever, [], kept, { read_file: read }, { signal: abort.signal });
    await expect(ended).rejects.toThrow("enough");
    expect(kept.messages.at(-1)).toEqual(gave("1", "x"));
  });
});

describe("makeInvokeModel", () => {
  it("takes the name of a model, with the key of the environment or of the host", async () => {
    const ask = async (options: InvokeModelOptions) => {
      const fetch = scripted([{ text: "Hi." }]);
      const session = initSession("s", "u");
      await runSession(
        makeInvokeModel("claude-sonnet-4-6", { ...options, host: { fetch, ...options.host } }),
        [],
        session,
        {},
      );
      expect(response(session).content).toBe("Hi.");
      const [{ url, headers, body } = {}] = fetch.requests as any[];
      return { url, key: headers["x-api-key"], model: body.model };
    };
    vi.stubEnv("ANTHROPIC_API_KEY", "of-environment");
    const url = "https://api.anthropic.com/v1/messages";
    expect(await ask({})).toEqual({ url, key: "of-environment", model: "claude-sonnet-4-6" });
    expect(await ask({ host: { apiKey: "own" } })).toMatchObject({ url, key: "own" });
    vi.unstubAllEnvs();
    const model = (name: string) => openaiChat(`my-${name}`, { apiKey: "k" });
    expect(await ask({ host: { model } })).toMatchObject({ model: "my-claude-sonnet-4-6" });
  });

  const turns = () => [
    {
      thinking: { text: "Hm.", signature: "c2ln" },
      text: "I read.",
      toolCalls: [{ id: "call_1", name: "read_file", input: { path: "a.txt" } }],
    },
    { text: "It says Alpha." },
  ];
  const models = [
    ["Anthropic", anthropic],
    ["OpenAI Chat", openaiChat],
    ["OpenAI Responses", openai],
  ] as const;

  it("S002-02: a session is the same on three protocols", async () => {
    const sessions: GenericMessage[][] = [];
    for (const [, model] of models) {
      const fetch = scripted(turns());
      const invoke = makeInvokeModel(model("m", { fetch }));
      const session = initSession("Be brief.", "Read a.txt");
      await runSession(invoke, [readFile], session, handlers);
      expect(fetch.requests).toHaveLength(2);
      sessions.push(
        session.messages.filter((message) => !("type" in message && message.type === "thinking")),
      );
    }
    expect(sessions[1]).toEqual(sessions[0]);
    expect(sessions[2]).toEqual(sessions[0]);
    expect(sessions[0]!.slice(2)).toEqual([
      said("I read."),
      call("call_1", { path: "a.txt" }),
      gave("call_1", "Alpha"),
      said("It says Alpha."),
    ]);
  });

  it("heeds the limits of its options, but leaves the calls to the caller", async () => {
    const invoke = makeInvokeModel(anthropic("m", { fetch: scripted(turns()) }), {
      limits: { maxToolRounds: 3, onLimit: "throw", maxTotalTokens: 1 },
    });
    const session = initSession("Be brief.", "Read a.txt");
    await expect(runSession(invoke, [readFile], session, handlers)).rejects.toMatchObject({ code: "limit" });
  });

  it("S002-02: another vendor's model goes on with a session, also after JSON", async () => {
    const first = scripted(turns());
    const session = initSession("Be brief.", "Read a.txt");
    await runSession(makeInvokeModel(anthropic("m", { fetch: first })), [readFile], session, handlers);
    const signed = (first.requests[1]!.body as any).messages[1].content[0];
    expect(signed).toMatchObject({ type: "thinking", thinking: "Hm.", signature: "c2ln" });
    const kept = JSON.parse(JSON.stringify(session));
    kept.messages.push({ role: "user", content: "And b.txt?" });
    const second = scripted([{ text: "Beta." }]);
    await runSession(makeInvokeModel(openaiChat("m", { fetch: second })), [readFile], kept, handlers);
    expect(response(kept).content).toBe("Beta.");
    expect(second.requests[0]!.bodyText).not.toContain("c2ln");
  });

  it("S002-05, S002-07, S002-14: every request has the system prompt apart, the tools, and one message of results", async () => {
    const both = {
      toolCalls: [1, 2].map((n) => ({ id: `call_${n}`, name: "read_file", input: { path: "a.txt" } })),
    };
    const fetch = scripted([both, { text: "Done." }]);
    const session = initSession("Be brief.", "Read");
    await runSession(makeInvokeModel(anthropic("m", { fetch })), [readFile], session, handlers);
    const bodies = fetch.requests.map(({ body }) => body as any);
    for (const { system, tools } of bodies) {
      expect(JSON.stringify(system)).toContain("Be brief.");
      expect(tools).toHaveLength(1);
      expect(tools[0]).toMatchObject(readFile);
    }
    expect(bodies[1].messages.map(({ role, content }: any) => [role, content.length])).toEqual([
      ["user", 1],
      ["assistant", 2],
      ["user", 2],
    ]);
  });

  it("S002-13: a text that was cut off ends the loop like any other", async () => {
    const fetch = scripted([{ text: "Cut", stopReason: "length" }]);
    const session = initSession("s", "u");
    await runSession(makeInvokeModel(anthropic("m", { fetch })), [], session, {});
    expect(response(session).content).toBe("Cut");
  });

  it("rejects for a failed call without another try, and leaves the session as it was", async () => {
    const fetch = scripted([{ status: 529 }, { text: "Late." }]);
    const session = initSession("s", "u");
    const asked = runSession(makeInvokeModel(anthropic("m", { fetch })), [], session, {});
    await expect(asked).rejects.toMatchObject({ name: "RunError", code: "failed" });
    expect(fetch.requests).toHaveLength(1);
    expect(session).toEqual(initSession("s", "u"));
    const none = makeInvokeModel(anthropic("m", { fetch }))([], { messages: [said("Hi.")] });
    await expect(none).rejects.toThrow(TypeError);
  });

  it("S002-16, S002-17: subagents with their own prompts and models run inside handlers, at the same time", async () => {
    const summarize: ToolDefinition = {
      name: "summarize",
      description: "Summarises a text.",
      input_schema: { type: "object", properties: { text: { type: "string" } } },
    };
    const outer = scripted([
      {
        toolCalls: [1, 2].map((n) => ({ id: `call_${n}`, name: "summarize", input: { text: `Text ${n}` } })),
      },
      { text: "Both are short." },
    ]);
    let open = 0;
    let most = 0;
    const inner = scripted(
      [1, 2].map(() => async (request: any) => {
        most = Math.max(most, (open += 1));
        await new Promise((resolve) => setTimeout(resolve));
        open -= 1;
        return { text: `Short ${/Text (\d)/.exec(request.bodyText)![1]}` };
      }),
    );
    const small = makeInvokeModel(openaiChat("small", { fetch: inner }));
    const session = await agentLoop(
      makeInvokeModel(anthropic("large", { fetch: outer })),
      [summarize],
      initSession("Coordinate.", "Summarise both"),
      {
        async summarize(input: { text: string }) {
          const own = initSession("You are a summarizer. Output only the summary.", input.text);
          return response(await agentLoop(small, [], own, {}, { maxIterations: 1 })).content;
        },
      },
    );
    expect(session.messages.filter((message) => "output" in message)).toEqual([
      gave("call_1", "Short 1"),
      gave("call_2", "Short 2"),
    ]);
    expect(most).toBe(2);
    expect(inner.requests[0]!.bodyText).toContain("You are a summarizer.");
    expect(JSON.stringify(outer.requests[1]!.body)).not.toContain("You are a summarizer.");
  });
});

describe("compaction and forking", () => {
  const long = "x".repeat(150);
  const round = (n: number): GenericMessage[] => [
    thought(`${n}${long}`),
    said(`${n}${long}`),
    call(`${n}`, { path: long }),
    gave(`${n}`, long),
  ];

  it("S002-18: cuts thinking and inputs behind which so many responses came, once", () => {
    const session = initSession(long, long);
    for (let n = 0; n < 6; n += 1) session.messages.push(...round(n));
    const before = structuredClone(session.messages);
    expect(compactSession(session)).toBe(session);
    // Of six responses, five stand behind the first one.
    expect(session.messages[2]).toEqual({
      type: "thinking",
      content: (before[2] as { content: string }).content.slice(0, 100),
      compacted: true,
    });
    expect(session.messages[4]).toEqual({
      ...call("0", { _compacted: JSON.stringify({ path: long }).slice(0, 100) }),
      compacted: true,
    });
    expect(session.messages.filter((_, at) => at !== 2 && at !== 4)).toEqual(
      before.filter((_, at) => at !== 2 && at !== 4),
    );
    const once = structuredClone(session);
    expect(compactSession(session)).toEqual(once);
    compactSession(session, { afterResponses: 4, prefixChars: 10 });
    expect(session.messages[2]).toEqual(once.messages[2]);
    expect(session.messages[6]).toMatchObject({ content: `1${"x".repeat(9)}`, compacted: true });
  });

  it("S002-19: a compacted session is legal on the wire", async () => {
    const session = initSession("s", "u");
    for (let n = 0; n < 6; n += 1) session.messages.push(...round(n));
    compactSession(session);
    session.messages.push(said("Done."), { role: "user", content: "Go on" });
    const fetch = scripted([{ text: "Yes." }], { validate: true });
    await runSession(makeInvokeModel(anthropic("m", { fetch })), [readFile], session, handlers);
    expect(response(session).content).toBe("Yes.");
    const sent = (fetch.requests[0]!.body as any).messages[1].content;
    expect(sent.map(({ type }: any) => type)).toEqual(["text", "tool_use"]);
    expect(Object.keys(sent[1].input)).toEqual(["_compacted"]);
  });

  it("S002-20: a fork shares nothing with its session", () => {
    const session = initSession("s", "u");
    session.messages.push(call("1", { path: ["a"] }));
    const fork = copySession(session);
    expect(fork).toEqual(session);
    (fork.messages[2] as any).input.path.push("b");
    fork.messages.push(said("Other."));
    expect(session.messages).toHaveLength(3);
    expect(session.messages[2]).toEqual(call("1", { path: ["a"] }));
  });
});
