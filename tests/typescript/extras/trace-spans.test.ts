import { describe, expect, it } from "vitest";
import {
  openTelemetry,
  redacted,
  tracerRegistry,
  traceSpans,
  type Span,
} from "../../../src/typescript/extras/trace/index.js";
import { anthropic, createAgent, handoff, subagent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { call, START_MS, traced } from "../support/traced.js";

const turns = [
  { toolCalls: [call("look", { password: "hunter2hunter2", n: 1 }, "toolu_1"), call("act", {}, "toolu_2")] },
  { text: "Done.", usage: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60 } },
];

const LOOK = { description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" };

/** Each span's name with the names of those around it. */
function paths(spans: Span[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const path = (span: Span): string =>
    span.parentSpanId === null ? span.name : `${path(byId.get(span.parentSpanId)!)} > ${span.name}`;
  return [...spans].sort((a, b) => a.startMs - b.startMs || (a.parentSpanId === null ? -1 : 1)).map(path);
}

describe("spans of a run", () => {
  it("nest: the agent holds its requests and its tools", async () => {
    const { spans } = await traced(turns);
    expect(paths(spans)).toEqual([
      "invoke_agent",
      "invoke_agent > chat claude-sonnet-4-6",
      "invoke_agent > execute_tool look",
      "invoke_agent > execute_tool act",
      "invoke_agent > chat claude-sonnet-4-6",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(spans.every(({ startMs, endMs }) => endMs !== null && startMs <= endMs)).toBe(true);
  });

  it("S004-02, S004-11, P-23: a turn wraps every execute and every tool, named by the tool", async () => {
    const { spans } = await traced(turns, { spans: { names: "prompty", turn: 3 } });
    expect(paths(spans)).toEqual([
      "turn 3",
      "turn 3 > execute",
      "turn 3 > look",
      "turn 3 > act",
      "turn 3 > execute",
    ]);
    expect(spans.at(-1)!.attributes["signature"]).toBe("prompty.turn");
  });

  it("S004-24, S004-02: a subagent's spans stand below the call that it answers, its rows are a job of their own", async () => {
    const { spans, rows } = await traced(
      [
        { toolCalls: [call("helper", { prompt: "Look." }, "toolu_h")] },
        { toolCalls: [call("look", { n: 1 })] },
        { text: "Seen." },
        { text: "Done." },
      ],
      { tools: { helper: subagent({ description: "Helps", tools: { look: LOOK } }) } },
    );
    const helper = "invoke_agent > execute_tool helper helper > invoke_agent helper";
    expect(new Set(paths(spans))).toEqual(
      new Set([
        "invoke_agent",
        "invoke_agent > chat claude-sonnet-4-6",
        "invoke_agent > execute_tool helper helper",
        helper,
        `${helper} > chat claude-sonnet-4-6`,
        `${helper} > execute_tool look`,
      ]),
    );
    const sum = (name: string) =>
      spans.find((span) => span.name === name)!.attributes["gen_ai.usage.input_tokens"];
    expect(sum("invoke_agent")).toBeGreaterThan(sum("invoke_agent helper") as number);
    const [root, below] = [
      rows.filter((row) => row.agent_path === undefined),
      rows.filter((row) => row.agent_path),
    ];
    expect(root.map(({ stop_reason }) => stop_reason)).toEqual(["tool_use", "end_turn"]);
    expect(below.map(({ iter, stop_reason }) => [iter, stop_reason])).toEqual([
      [0, "tool_use"],
      [1, "end_turn"],
    ]);
    expect(below[0]).toMatchObject({
      agent_path: "root/helper",
      parent_job_id: root[0]!.job_id,
      parent_call_id: "toolu_h",
    });
    expect(below[0]!.job_id).not.toBe(root[0]!.job_id);
  });

  it("have the attributes of the GenAI conventions", async () => {
    const { spans } = await traced(turns, {
      spans: { agentName: "helper", attributes: { "gen_ai.conversation.id": "c1" } },
    });
    const [look, act, chat] = spans;
    expect(chat).toMatchObject({ kind: "client", startMs: START_MS, endMs: START_MS + 500, status: "unset" });
    expect(chat!.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-4-6",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "gen_ai.response.id": expect.stringMatching(/./),
      "gen_ai.response.model": expect.stringMatching(/^claude-/),
      "gen_ai.response.time_to_first_chunk": 0.5,
      "looplet.attempts": 1,
      "looplet.iteration": 1,
    });
    expect(look).toMatchObject({ kind: "internal", startMs: START_MS + 500, endMs: START_MS + 540 });
    expect(look!.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.call.id": "toolu_1",
      "gen_ai.tool.type": "function",
      "gen_ai.agent.name": "helper",
      "looplet.iteration": 1,
      "looplet.tool.input_hash": expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(act).toMatchObject({ status: "error" });
    expect(act!.attributes["error.type"]).toBe("tool_failed");
    const agent = spans.at(-1)!;
    expect(agent.name).toBe("invoke_agent helper");
    expect(agent.attributes).toMatchObject({
      "gen_ai.agent.name": "helper",
      "gen_ai.conversation.id": "c1",
      "looplet.outcome": "completed",
      "looplet.run.id": "run_1",
      "gen_ai.request.model": "claude-sonnet-4-6",
    });
    // An agent may ask several providers, and its cached tokens stand with its model calls.
    expect(agent.attributes).not.toHaveProperty("gen_ai.provider.name");
    expect(Object.keys(agent.attributes).filter((name) => name.includes("cache_"))).toEqual([]);
  });

  it("name cached tokens as the conventions do", async () => {
    const { spans } = await traced([
      {
        text: "Hi",
        usage: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 20 },
      },
    ]);
    const cached = Object.entries(spans[0]!.attributes).filter(([name]) => name.includes("cache"));
    expect(Object.fromEntries(cached)).toEqual({
      "gen_ai.usage.cache_read.input_tokens": 60,
      "gen_ai.usage.cache_write.input_tokens": 20,
    });
  });

  it("say whether a caller goes on after another agent, and which agent that is", async () => {
    const run = await traced(
      [
        { toolCalls: [call("helper", { prompt: "Look." }, "toolu_h")] },
        { text: "Seen." },
        { toolCalls: [call("to_billing", {}, "toolu_b")] },
        { text: "Paid." },
      ],
      {
        spans: { agentName: "desk" },
        tools: {
          helper: subagent({ description: "Helps" }),
          to_billing: handoff({ description: "Bills", system: "You bill." }),
        },
      },
    );
    const transfers = run.spans
      .filter(({ attributes }) => attributes["gen_ai.operation.name"] === "execute_tool")
      .map(({ name, attributes }) => [
        name,
        attributes["gen_ai.agent.name"],
        attributes["gen_ai.transfer.mode"],
        attributes["gen_ai.transfer.target.name"],
      ]);
    expect(transfers).toEqual([
      ["execute_tool helper helper", "desk", "return_to_caller", "helper"],
      ["execute_tool to_billing to_billing", "desk", "pass_control", "to_billing"],
    ]);
  });

  it("P-24: usage is summed up to the parents", async () => {
    const { spans, result } = await traced(turns);
    expect(spans.at(-1)!.attributes).toMatchObject({
      "gen_ai.usage.input_tokens": result.usage!.inputTokens,
      "gen_ai.usage.output_tokens": result.usage!.outputTokens,
    });
  });

  it("hold all attempts of a model call in one span, with each retry as an event", async () => {
    const { spans } = await traced([{ status: 529 }, { text: "Hi" }], { retry: { baseMs: 10, jitterMs: 0 } });
    const chats = spans.filter(({ name }) => name.startsWith("chat"));
    expect(chats).toHaveLength(1);
    const [{ status, startMs, endMs, attributes, events }] = chats as [Span];
    expect([status, startMs, endMs]).toEqual(["unset", START_MS, START_MS + 1020]);
    expect(attributes).toMatchObject({
      "looplet.attempts": 2,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.time_to_first_chunk": 1.02,
    });
    expect(attributes).not.toHaveProperty("error.type");
    expect(attributes).not.toHaveProperty("http.response.status_code");
    expect(events).toMatchObject([
      {
        name: "looplet.retry",
        attributes: { attempt: 2, "error.type": "overloaded", "http.response.status_code": 529 },
      },
    ]);
  });

  it("count the tokens of all attempts of a model call", async () => {
    const cut = { text: "Hello there", usage: { inputTokens: 30, outputTokens: 4 }, dropAfterEvents: 3 };
    const { spans, result } = await traced(
      [cut, { text: "Hi", usage: { inputTokens: 40, outputTokens: 2 } }],
      {
        retry: { baseMs: 1, jitterMs: 0 },
      },
    );
    expect(result.usage!.inputTokens).toBe(70);
    expect(spans[0]!.attributes["gen_ai.usage.input_tokens"]).toBe(70);
    expect(spans.at(-1)!.attributes["gen_ai.usage.input_tokens"]).toBe(70);
  });

  it("end with the finish reason error where the last attempt failed", async () => {
    const { spans } = await traced([{ status: 529 }, { status: 500 }], {
      retry: { maxRetries: 1, baseMs: 1, jitterMs: 0 },
    });
    expect(spans[0]).toMatchObject({
      status: "error",
      attributes: {
        "looplet.attempts": 2,
        "error.type": "server",
        "http.response.status_code": 500,
        "gen_ai.response.finish_reasons": ["error"],
      },
    });
  });

  it("say why a run stopped or failed", async () => {
    const stopped = await traced([turns[0]!], { limits: { maxIterations: 1 } });
    expect(stopped.spans.at(-1)!.attributes).toMatchObject({ "looplet.stopped_by": "iterations" });
    const failed = await traced([{ status: 401 }]);
    expect(failed.spans.at(-1)).toMatchObject({ status: "error", attributes: { "error.type": "auth" } });
  });

  it("S003-20: hold the stack of what a tool threw, which the model is never told", async () => {
    const { spans, bodies } = await traced(turns);
    const act = spans.find(({ name }) => name === "execute_tool act")!;
    expect(act.events).toMatchObject([{ name: "exception", attributes: { "exception.type": "RangeError" } }]);
    expect(act.events[0]!.attributes["exception.stacktrace"]).toMatch(/ at /);
    expect(act.events[0]!.attributes["exception.stacktrace"]).not.toContain("secret words");
    expect(bodies.join("")).not.toMatch(/\n\s+at |\\n\s+at /);
  });

  it("carry inputs and results only where that is wanted, without the values of secret fields", async () => {
    const bare = await traced(turns);
    expect(JSON.stringify([bare.spans, bare.rows])).not.toMatch(/seen|Done\.|hunter2|secret words/);
    const { spans } = await traced(turns, { spans: { content: true } });
    const look = spans.find(({ name }) => name === "execute_tool look")!;
    expect(look.attributes["gen_ai.tool.call.arguments"]).toBe('{"password":"[REDACTED]","n":1}');
    expect(look.attributes["gen_ai.tool.call.result"]).toBe('"seen"');
    expect(JSON.parse(spans.at(-1)!.attributes["gen_ai.output.messages"] as string)).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "Done." }] },
    ]);
  });

  it("are given as they begin, too, where that is wanted", async () => {
    const seen: string[] = [];
    const live = traceSpans(({ name, endMs }) => seen.push(`${name} ${endMs === null ? "begins" : "ends"}`), {
      starts: true,
    });
    await traced([{ text: "Hi" }], { tracers: [live] });
    expect(seen).toEqual([
      "invoke_agent begins",
      "chat claude-sonnet-4-6 begins",
      "chat claude-sonnet-4-6 ends",
      "invoke_agent ends",
    ]);
  });
});

describe("no key", () => {
  const key = "sk-planted-0123456789abcdef";
  it("I-08: is in any row, span or event, wherever it came from", async () => {
    const records: unknown[] = [];
    const keep = (record: unknown) => records.push(record);
    const answer = scripted([
      { status: 500, body: `{"error":{"message":"bad ${key}"}}` },
      { toolCalls: [call("login", { api_key: "x", nested: { authToken: key } })] },
      { status: 401, body: `{"error":{"type":"x","message":"no such key ${key}"}}` },
    ]);
    const agent = createAgent({
      model: anthropic("m", { apiKey: key, headers: { "x-other": "plain" }, fetch: answer }),
      tools: {
        login: tool({
          description: "Logs in",
          inputSchema: { type: "object" },
          execute: () => ({ cookie: key, session: { secret: key } }),
        }),
      },
      retry: { baseMs: 1, jitterMs: 0 },
      trace: [
        traceSpans(keep, { content: true }),
        (run) => (keep(run), { onEvent: () => {}, onEnd: () => {} }),
      ],
    });
    const result = await agent.run("Go").result;
    expect(result.error?.code).toBe("auth");
    expect(records.length).toBeGreaterThan(4);
    expect(JSON.stringify(records)).not.toContain("planted");
    expect(JSON.stringify(result.error)).not.toContain("planted");
  });

  it("P-24: is kept in a field whose name is that of a secret", () => {
    const fields = [
      "secret",
      "userPassword",
      "API_KEY",
      "apikey",
      "accessToken",
      "Authorization",
      "credentials",
      "cookie",
      "x-api-key",
      "api-key",
      "passwd",
      "privateKey",
      "passphrase",
    ];
    for (const field of fields)
      expect(redacted([{ [field]: { deep: key } }])).toEqual([{ [field]: "[REDACTED]" }]);
    expect(redacted({ city: "Paris", n: null })).toEqual({ city: "Paris", n: null });
  });

  it.each(
    [
      "pwd DB_PWD dbPwd pass userPass pass_word pass-word passcode pin userPin otp jwt sid sig dsn csrf XSRF-Token",
      "accessKey access_key_id AccessKeyId secretKey encryption_key signingKey masterKey sharedKey storageAccountKey",
      "Ocp-Apim-Subscription-Key x-mcp-key x-functions-key sshKey privKey serviceKey service_key clientKey",
      "bearer connectionString connection_string api.key api%key ａｐｉＫｅｙ api\u200bKey sessionId JSESSIONID mnemonic",
    ].flatMap((line) => line.split(" ")),
  )("leaves out the field %s", (field) => {
    expect(redacted({ [field]: "x" })).toEqual({ [field]: "[REDACTED]" });
  });

  it.each("key primaryKey monkey passenger compass pinned spinner sidebar design keyboard bypass".split(" "))(
    "keeps the field %s",
    (field) => {
      expect(redacted({ [field]: "x" })).toEqual({ [field]: "x" });
    },
  );
});

describe("a registry of tracers", () => {
  it("P-24: passes on to all that are in it, and none that fails keeps the others from it", async () => {
    const tracers = tracerRegistry();
    const seen: string[] = [];
    tracers.add("broken", () => ({ onEvent: () => Promise.reject(new Error("broken")) }));
    tracers.add(
      "names",
      traceSpans(({ name }) => seen.push(name)),
    );
    tracers.add(
      "gone",
      traceSpans(() => seen.push("never")),
    );
    expect(tracers.remove("gone")).toBe(true);
    const heard: string[] = [];
    const model = anthropic("m", { fetch: scripted([{ text: "Hi" }, { text: "Ho" }]) });
    const agent = createAgent({ model, trace: tracers });
    await agent.run("Go", { onError: (error) => heard.push((error as Error).message) }).result;
    expect(seen).toEqual(["chat m", "invoke_agent"]);
    expect(new Set(heard)).toEqual(new Set(["broken"]));
    tracers.clear();
    await agent.run("Go").result;
    expect(seen).toHaveLength(2);
  });

  it("says of a tracer that returns no trace so once, as without a registry", async () => {
    for (const nothing of [() => undefined, () => ({}), async () => ({ onEvent: () => {} })]) {
      const tracers = tracerRegistry();
      tracers.add("nothing", nothing as never);
      for (const trace of [tracers, nothing as never]) {
        const heard: string[] = [];
        const agent = createAgent({ model: anthropic("m", { fetch: scripted([{ text: "Hi" }]) }), trace });
        await agent.run("Go", { onError: (error) => heard.push((error as Error).message) }).result;
        await new Promise((resolve) => setTimeout(resolve));
        expect(heard).toEqual([expect.stringContaining("trace: needs to return { onEvent }, got")]);
      }
    }
  });
});

describe("OpenTelemetry", () => {
  it("gets the spans below the one that is active, with their times, events and errors", async () => {
    const ended: Record<string, unknown>[] = [];
    interface Context {
      span: string;
    }
    const tracer = {
      startSpan(name: string, options: object, context: Context) {
        const span = { name, ...options, parent: context.span, events: [] as unknown[] };
        return Object.assign(span, {
          setAttributes: (attributes: object) => Object.assign(span, { attributes }),
          addEvent: (...event: unknown[]) => span.events.push(event),
          setStatus: (status: object) => Object.assign(span, { status }),
          end: (endTime: unknown) => ended.push({ ...span, endTime }),
        });
      },
    };
    const api = {
      trace: {
        getTracer: (name: string) => (expect(name).toBe("looplet"), tracer),
        setSpan: (_: Context, span: { name: string }) => ({ span: span.name }),
      },
      context: { active: () => ({ span: "the page's own" }) },
    };
    await traced(turns, { tracers: [openTelemetry(api)] });
    expect(ended.map(({ name, parent, kind }) => [name, parent, kind])).toEqual([
      ["execute_tool look", "invoke_agent", 0],
      ["execute_tool act", "invoke_agent", 0],
      ["chat claude-sonnet-4-6", "invoke_agent", 2],
      ["chat claude-sonnet-4-6", "invoke_agent", 2],
      ["invoke_agent", "the page's own", 0],
    ]);
    expect(ended[1]).toMatchObject({ status: { code: 2, message: "tool_failed" } });
    expect(ended[0]).toMatchObject({
      startTime: [START_MS / 1000, 500e6],
      endTime: [START_MS / 1000, 540e6],
    });
  });
});
