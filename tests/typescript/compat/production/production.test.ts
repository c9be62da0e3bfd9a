import { describe, expect, it, vi } from "vitest";
import { ToolError, tool, type Fetch } from "looplet";
import {
  executeToolBlocks,
  runProduction,
  shouldStop,
  toolError,
  type Checkpoint,
  type MessageEntry,
  type ProductionOptions,
  type ToolUseResult,
} from "looplet/production";
import { scripted, type ScriptedTurn } from "looplet/practice";
import type { TraceRow } from "looplet/trace";
import { settled, VirtualClock } from "../../support/virtual-clock.js";

const schema = { type: "object", properties: { path: { type: "string" } } } as const;
const call = (id: string, name = "read", input: object = { path: id }) => ({ id, name, input });

/** A job on scripted answers, with what it did. */
function job(turns: Parameters<typeof scripted>[0], more: Partial<ProductionOptions> = {}) {
  const log: string[] = [];
  const rows: TraceRow[] = [];
  const entries: MessageEntry[] = [];
  const saved = new Map<string, Checkpoint>();
  const fetch = scripted(turns);
  const read = tool({
    description: "Reads a file",
    inputSchema: schema,
    execute: ({ path }) => {
      log.push(path!);
      return { text: `text of ${path}` };
    },
  });
  const options: ProductionOptions = {
    model: "m",
    system: "Build.",
    prompt: "Go.",
    tools: { read },
    trace: (row: TraceRow) => rows.push(row),
    messageStore: (entry: MessageEntry) => void entries.push(entry),
    checkpointStore: {
      save: (checkpoint) =>
        void saved.set(checkpoint.id, JSON.parse(JSON.stringify(checkpoint)) as Checkpoint),
      load: (id) => saved.get(id),
    },
    ...more,
    host: { fetch, apiKey: "k", ...more.host },
  };
  return { options, log, rows, entries, saved, fetch };
}

const rounds = (count: number): ScriptedTurn[] =>
  Array.from({ length: count }, (_, at) => ({ toolCalls: [call(`c${at}`)] }));

describe("shouldStop", () => {
  const state = (stop_reason: string, iter: number, tokensUsed: number, cancelled: boolean) => ({
    response: { stop_reason },
    iter,
    budget: { tokensUsed, tokensCap: 100 },
    ctx: { maxIters: 12, cancelled },
  });

  it.each([
    ["end_turn", 12, 101, true, "end_turn"],
    ["tool_use", 12, 101, true, "max_iters"],
    ["tool_use", 11, 101, true, "budget"],
    ["tool_use", 11, 100, true, "user_cancel"],
    ["tool_use", 11, 100, false, undefined],
  ])("S003-05: after %s, %i calls, %i tokens, cancelled %s: %s", (stop, iter, tokens, cancelled, reason) => {
    const expected = reason === undefined ? { stop: false } : { stop: true, reason };
    expect(shouldStop(state(stop, iter, tokens, cancelled))).toEqual(expected);
  });
});

describe("executeToolBlocks", () => {
  it("S003-03, S003-17, S003-25: runs all at once, and answers every id in its order, whatever happens", async () => {
    const log: string[] = [];
    const results = await executeToolBlocks(
      [call("a"), call("b", "fails"), call("c", "breaks"), call("d", "missing")],
      {
        async runTool(name, input) {
          log.push(`start ${name}`);
          await Promise.resolve();
          log.push(`end ${name}`);
          if (name === "fails") throw new Error("No disk.");
          if (name === "breaks")
            return toolError({ code: "auth", message: "No key.", hint: "Ask.", recoverable: false });
          return name === "missing" ? undefined : input;
        },
      },
    );
    expect(log.slice(0, 4)).toEqual(["start read", "start fails", "start breaks", "start missing"]);
    const broken = { error: true, code: "auth", message: "No key.", hint: "Ask.", recoverable: false };
    expect(results).toEqual<ToolUseResult[]>([
      { type: "tool_result", tool_use_id: "a", content: '{"path":"a"}' },
      { type: "tool_result", tool_use_id: "b", content: "error: No disk.", is_error: true },
      { type: "tool_result", tool_use_id: "c", content: JSON.stringify(broken), is_error: true },
      { type: "tool_result", tool_use_id: "d", content: "null" },
    ]);
  });

  it("makes a result of nothing, of a returned error and of a value that JSON cannot hold", async () => {
    const values: { [name: string]: unknown } = { nothing: undefined, error: new Error("No disk."), big: 1n };
    const blocks = Object.keys(values).map((name) => call(name, name));
    const results = await executeToolBlocks(blocks, { runTool: (name) => values[name] });
    expect(results).toMatchObject([
      { content: "null" },
      { content: "error: No disk.", is_error: true },
      { content: expect.stringContaining("error: ") as string, is_error: true },
    ]);
  });

  it("S003-18: runs the calls on one resource in their order, also behind one that fails", async () => {
    const log: string[] = [];
    await executeToolBlocks(
      [call("1", "w", { path: "a" }), call("2", "w", { path: "b" }), call("3", "w", { path: "a" })],
      {
        async runTool(_, input) {
          const { path } = input as { path: string };
          log.push(`start ${path}`);
          await null;
          await null;
          log.push(`end ${path}`);
          throw new Error("No disk.");
        },
        resourceKey: (_, input) => (input as { path: string }).path,
      },
    );
    expect(log).toEqual(["start a", "start b", "end a", "end b", "start a", "end a"]);
  });

  it("S003-27: six reads of two seconds take two seconds, not twelve", async () => {
    const clock = new VirtualClock();
    let results: ToolUseResult[] | undefined;
    const reads = ["1", "2", "3", "4", "5", "6"].map((id) => call(id));
    const runTool = () => new Promise((resolve) => clock.setTimer(() => resolve("text"), 2000));
    void executeToolBlocks(reads, { runTool }).then((all) => (results = all));
    await settled();
    await clock.pass(1999);
    expect(results).toBeUndefined();
    await clock.pass(1);
    expect(results).toHaveLength(6);
  });
});

describe("runProduction", () => {
  it("S003-01, S003-04, S003-11: runs tools until the end, which stands in result, store and trace", async () => {
    const { options, rows, entries, fetch } = job([
      { toolCalls: [call("a"), call("b")] },
      { text: "Built." },
    ]);
    const started = runProduction({ ...options, jobId: "job-1" });
    expect(started.id).toBe("job-1");
    const result = await started.result;
    expect(result).toMatchObject({ jobId: "job-1", stopReason: "end_turn", text: "Built.", iterations: 2 });
    expect(result).not.toHaveProperty("error");
    expect(result.tokensUsed).toBeGreaterThan(0);
    expect(result.messages[2]).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: '{"text":"text of a"}' },
        { type: "tool_result", tool_use_id: "b", content: '{"text":"text of b"}' },
      ],
    });
    expect(rows.map(({ job_id, iter, stop_reason }) => [job_id, iter, stop_reason])).toEqual([
      ["job-1", 0, "tool_use"],
      ["job-1", 1, "end_turn"],
    ]);
    const told = entries.map(({ iter, message, stop_reason }) => [iter, message?.role ?? stop_reason]);
    expect(told.slice(-4)).toEqual([
      [0, "assistant"],
      [1, "user"],
      [1, "assistant"],
      [1, "end_turn"],
    ]);
    expect(entries.every((entry) => !("raw_response" in entry))).toBe(true);
    expect(fetch.requests).toHaveLength(2);
  });

  it("S003-16: stores the raw response beside its message if that is asked for", async () => {
    const { options, entries } = job([{ toolCalls: [call("a")] }, { text: "Built." }], {
      storeRawResponse: true,
    });
    await runProduction(options).result;
    const raw = entries
      .filter(({ message }) => message?.role === "assistant")
      .map((entry) => entry.raw_response);
    expect(raw[0]).toMatch(/event: message_start[^]*tool_use[^]*message_stop/);
    expect(raw[1]).toMatch(/Built\./);
    expect(entries.filter((entry) => "raw_response" in entry)).toHaveLength(2);
  });

  describe("with storeRawResponse", () => {
    it("an answer of a fetch that has followed a redirect is refused", async () => {
      const script = scripted([{ text: "Forged." }]);
      const fetch: Fetch = async (url, init) => {
        const response = new Response((await script(url, init)).body as BodyInit);
        return Object.defineProperties(response, {
          redirected: { value: true },
          url: { value: "https://evil.test/" },
        });
      };
      const { options } = job([], { storeRawResponse: true, host: { fetch } });
      const { run, text } = await runProduction(options).result;
      expect([run.outcome, text]).toEqual(["failed", ""]);
      expect(run).toMatchObject({ error: { code: "redirected" } });
    });
  });

  it("S003-07: closes with an error at the cap, and saves a checkpoint that a higher cap goes on from", async () => {
    const first = job([...rounds(3)], { maxIters: 2, jobId: "job-2" });
    const stopped = await runProduction(first.options).result;
    expect(stopped).toMatchObject({
      stopReason: "max_iters",
      iterations: 2,
      error: { code: "max_iters" },
      checkpointId: "job-2-2",
    });
    expect([...first.saved.values()]).toMatchObject([
      { jobId: "job-2", stopReason: "max_iters", iterations: 2 },
    ]);
    const next = job([...rounds(4).slice(2), { text: "Built." }], {
      maxIters: 5,
      resume: stopped.checkpointId,
      prompt: undefined,
      checkpointStore: first.options.checkpointStore,
    });
    const { jobId: _, ...options } = next.options;
    const going = runProduction(options);
    const result = await going.result;
    expect(result).toMatchObject({ jobId: "job-2", stopReason: "end_turn", text: "Built.", iterations: 5 });
    expect([...first.log, ...next.log]).toEqual(["c0", "c1", "c2", "c3"]);
    expect(next.rows.map(({ job_id, iter }) => [job_id, iter])).toEqual([
      ["job-2", 2],
      ["job-2", 3],
      ["job-2", 4],
    ]);
  });

  it("gives the warnings of a run to the logger of the host", async () => {
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    const heard: string[] = [];
    const { options, fetch } = job(
      [{ toolCalls: [{ name: "read", argumentsText: '{"path":"a",}' }] }, { text: "Built." }],
      { onEvent: (event) => event.type === "warning" && heard.push(event.code) },
    );
    await runProduction({ ...options, host: { fetch, apiKey: "k", logger } }).result;
    expect(warnings).toEqual(["The arguments of read were not valid JSON; repaired by trailing_commas"]);
    expect(heard).toEqual(["repaired_arguments"]);
  });

  it("does not warn of the higher cap of a job that is resumed, but of other changed options", async () => {
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    const first = job(rounds(1), { maxIters: 1 });
    const { checkpointId: resume } = await runProduction(first.options).result;
    for (const system of ["Build.", "Build well."]) {
      const { options, fetch } = job([{ text: "Built." }], { maxIters: 5, resume, system });
      const { checkpointStore } = first.options;
      const host = { fetch, apiKey: "k", logger };
      await runProduction({ ...options, checkpointStore, prompt: undefined, host }).result;
    }
    expect(warnings).toEqual([
      "The run resumes with options that differ from those it started with: system, limits",
    ]);
  });

  it("S003-08: stops behind the answer that passes the budget, before its tools, with a checkpoint", async () => {
    const usage = { inputTokens: 90, outputTokens: 90 };
    const { options, log, saved } = job([{ toolCalls: [call("a")], usage }], { tokensCap: 100 });
    expect(await runProduction(options).result).toMatchObject({ stopReason: "budget", tokensUsed: 180 });
    expect(log).toEqual([]);
    expect(saved.size).toBe(1);
  });

  it("S003-05: says max_iters where a budget is passed too", async () => {
    const usage = { inputTokens: 90, outputTokens: 90 };
    const { options, rows } = job([{ toolCalls: [call("a")], usage }], { tokensCap: 100, maxIters: 1 });
    expect((await runProduction(options).result).stopReason).toBe("max_iters");
    expect(rows.at(-1)!.stop_reason).toBe("max_iters");
  });

  it("S003-09, S003-19: an error that is not recoverable ends the job, and the model can read it", async () => {
    const login = tool({
      description: "Logs in",
      inputSchema: schema,
      execute: () => toolError({ code: "auth", message: "No key.", hint: "Ask.", recoverable: false }),
    });
    const { options } = job([{ toolCalls: [call("a", "login")] }], { tools: { login } });
    const result = await runProduction(options).result;
    expect(result).toMatchObject({ stopReason: "tool_error_fatal", error: { code: "tool_error_fatal" } });
    const [block] = result.messages.at(-1)!.content;
    expect(block).toMatchObject({ type: "tool_result", is_error: true });
    expect(JSON.parse((block as ToolUseResult).content)).toEqual({
      error: true,
      code: "auth",
      message: "No key.",
      hint: "Ask.",
      recoverable: false,
    });
  });

  it("S003-20: a stack reaches no message", async () => {
    const breaks = tool({
      description: "Breaks",
      inputSchema: schema,
      execute: () => {
        throw new ToolError({ message: "No disk." });
      },
    });
    const { options, fetch } = job([{ toolCalls: [call("a", "breaks")] }, { text: "Well." }], {
      tools: { breaks },
    });
    await runProduction(options).result;
    expect(JSON.stringify(fetch.requests[1]!.body)).not.toMatch(/\bat .*production\.test/);
  });

  it("S003-10: any message but /cancel is delivered before the next model call, and cancels nothing", async () => {
    const more = job([{ toolCalls: [call("a")] }, { toolCalls: [call("b")] }, { text: "In blue." }]);
    const started = runProduction({
      ...more.options,
      onEvent: (event) => {
        if (event.type === "tool-call" && event.toolCallId === "a") started.send("In blue, please.");
      },
    });
    expect(await started.result).toMatchObject({ stopReason: "end_turn", text: "In blue.", iterations: 3 });
    expect(more.log).toEqual(["a", "b"]);
    const asked = more.fetch.requests.map(({ body }) => JSON.stringify(body).includes("In blue, please."));
    expect(asked).toEqual([false, true, true]);

    const early = job([{ text: "Blue." }, { text: "Blue again." }]);
    const sent = runProduction(early.options);
    sent.send("Use blue.");
    await sent.result;
    expect(early.fetch.requests.some(({ body }) => JSON.stringify(body).includes("Use blue."))).toBe(true);

    const late = job([{ text: "Built." }, { text: "In red." }]);
    const finished = runProduction({
      ...late.options,
      onEvent: (event) => {
        if (event.type === "text-end" && event.iteration === 1) finished.send("Red, please.");
      },
    });
    expect(await finished.result).toMatchObject({ text: "In red.", iterations: 2 });

    const hanging = job([{ toolCalls: [call("a")] }, { hang: true }]);
    const cancelled = runProduction({
      ...hanging.options,
      onEvent: (event) => {
        if (event.type === "attempt-start" && event.iteration === 2) cancelled.send(" /cancel\n");
      },
    });
    const result = await cancelled.result;
    expect(result).toMatchObject({ stopReason: "user_cancel", iterations: 2 });
    expect(result).not.toHaveProperty("error");
    expect(hanging.rows.at(-1)!.stop_reason).toBe("user_cancel");
  });

  it("S003-02: rejects with the skeleton's error for any other stop reason, max_tokens included", async () => {
    const { options } = job([{ text: "Half", stopReason: "max_tokens" }]);
    const error = await runProduction(options).result.catch((error: unknown) => error);
    expect(error).toMatchObject({ message: "unexpected stop_reason: max_tokens" });
    expect((error as { messages: unknown[] }).messages).toHaveLength(2);
  });

  it("S003-02: rejects so for a pause too, which stands in the store and in the trace", async () => {
    const { options, entries, rows, fetch } = job([
      { text: "Searching.", stopReason: "pause" },
      { text: "x" },
    ]);
    await expect(runProduction(options).result).rejects.toMatchObject({
      message: "unexpected stop_reason: pause_turn",
    });
    expect(fetch.requests).toHaveLength(1);
    expect([entries.at(-1)!.stop_reason, rows.at(-1)!.stop_reason]).toEqual(["pause_turn", "pause_turn"]);
  });

  describe("S003-14: what a job stores", () => {
    const thinking = { text: "Let me see.", signature: "sig-1" };
    const steps: ScriptedTurn[] = [
      {
        thinking,
        text: "I look.",
        toolCalls: [call("a"), { id: "b", name: "read", argumentsText: '{"path":' }],
      },
      { toolCalls: [call("c", "map")] },
      { thinking, text: "Built." },
    ];
    const map = tool({
      description: "Draws",
      inputSchema: schema,
      execute: () => ({
        content: [
          { type: "text", text: "A map" },
          { type: "media", mediaType: "image/png", data: "aGk=" },
        ],
      }),
    });

    it("S003-14: is given back as messages, and the next request has every block of it", async () => {
      const first = job(steps);
      const tools = { ...(first.options.tools as object), map };
      const { run } = await runProduction({ ...first.options, tools }).result;
      const json = JSON.stringify(first.entries.flatMap(({ message }) => message ?? []));
      const prompts = [JSON.parse(json), run.messages].map(async (messages) => {
        const next = job([{ text: "Well." }], { messages, prompt: "And?", tools });
        expect((await runProduction(next.options).result).stopReason).toBe("end_turn");
        return (next.fetch.requests[0]!.body as { messages: unknown[] }).messages;
      });
      const [stored, own] = await Promise.all(prompts);
      expect(stored).toEqual(own);
      const sent = JSON.stringify(stored);
      for (const part of ["sig-1", "I look.", "A map", "aGk=", "Built.", "And?"])
        expect(sent).toContain(part);
    });

    it("S003-14, S003-26: is given back after a cap too, with a result for every call", async () => {
      const usage = { inputTokens: 90, outputTokens: 90 };
      const first = job([{ toolCalls: [call("a")], usage }], { tokensCap: 100 });
      const { messages } = await runProduction(first.options).result;
      const next = job([{ text: "Well." }], { messages, prompt: "And?" });
      expect((await runProduction(next.options).result).text).toBe("Well.");
      const stored = first.entries.flatMap(({ message }) => message ?? []);
      const again = job([{ text: "Well." }], { messages: stored, prompt: "And?" });
      expect((await runProduction(again.options).result).text).toBe("Well.");
    });
  });

  it("goes on without a store that fails, and says so", async () => {
    const onError = vi.fn();
    const { options } = job(rounds(2), {
      maxIters: 1,
      onError,
      messageStore: () => Promise.reject(new Error("No table.")),
      checkpointStore: { save: () => Promise.reject(new Error("No disk.")), load: () => undefined },
    });
    const result = await runProduction(options).result;
    expect(result).toMatchObject({ stopReason: "max_iters" });
    expect(result).not.toHaveProperty("checkpointId");
    const messages = onError.mock.calls.map(([error]) => (error as Error).message);
    expect(new Set(messages)).toEqual(new Set(["No table.", "No disk."]));
  });

  it("says at once what is missing", async () => {
    const { options } = job([]);
    const wrong = (more: object) => () => runProduction({ ...options, ...more });
    expect(wrong({ model: undefined })).toThrow(/model needs/);
    expect(wrong({ prompt: undefined })).toThrow(/prompt needs/);
    expect(wrong({ resume: "x", checkpointStore: undefined })).toThrow(/resume needs/);
    expect(wrong({ storeRawResponse: true, messageStore: undefined })).toThrow(/messageStore/);
    expect(wrong({ maxIters: 0 })).toThrow(/maxIterations/);
    await expect(runProduction({ ...options, resume: "x" }).result).rejects.toThrow(
      /the checkpoint "x" does not exist/,
    );
  });
});

describe("the key and the end of an answer", () => {
  it("reports a stop sequence as an unexpected reason, also in the trace", async () => {
    const body = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "half" }],
      stop_reason: "stop_sequence",
      stop_sequence: "X",
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const { options, rows } = job([], { host: { fetch: async () => Response.json(body) } });
    const error: unknown = await runProduction(options).result.catch((error: unknown) => error);
    expect(error).toMatchObject({ message: "unexpected stop_reason: stop_sequence" });
    expect(rows.map(({ stop_reason }) => stop_reason)).toEqual(["stop_sequence"]);
  });

  it("reads the key of the process if the host gives none", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "of-process");
    try {
      const { options, fetch } = job([{ text: "Done." }], { host: { apiKey: undefined } });
      await runProduction(options).result;
      expect(new Headers(fetch.requests[0]!.headers as HeadersInit).get("x-api-key")).toBe("of-process");
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
