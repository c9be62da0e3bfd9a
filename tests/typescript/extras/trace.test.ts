import { describe, expect, it } from "vitest";
import { anthropic, createAgent } from "../../../src/typescript/core/entry/node.js";
import {
  ndjson,
  openTelemetry,
  summarizeTrace,
  traceQueries,
  traceRows,
  traceSpans,
  traceTable,
  type TraceRow,
} from "../../../src/typescript/extras/trace/index.js";
import { call, START_MS, traced } from "../support/traced.js";

const OTEL = {
  trace: { getTracer: () => undefined, setSpan: () => undefined },
  context: { active: () => undefined },
};
const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 20 };
const twoRounds = [
  { toolCalls: [call("look", { b: 1, a: [2] }), call("act", { n: 0 })], usage },
  { toolCalls: [call("look", { a: [2], b: 1 })] },
  { text: "Done." },
];

describe("rows of a trace", () => {
  it("S003-21: one row per iteration, with the table's columns", async () => {
    const { rows } = await traced(twoRounds);
    expect(rows).toHaveLength(3);
    const [first] = rows;
    expect(Object.keys(first!)).toEqual([
      "job_id",
      "iter",
      "stop_reason",
      "tool_calls",
      "input_tokens",
      "output_tokens",
      "cache_read",
      "cache_write",
      "ts",
    ]);
    expect(rows.map(({ iter }) => iter)).toEqual([0, 1, 2]);
    expect(first).toMatchObject({ output_tokens: 10, cache_read: 60, cache_write: 20 });
    expect(first!.ts).toBe(new Date(START_MS + 540).toISOString());
    expect(new Set(rows.map(({ job_id }) => job_id)).size).toBe(1);
    expect(first!.job_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("S003-22: a call is its name, the hash of its input, its time and whether it went well", async () => {
    const { rows } = await traced(twoRounds);
    const bytes = new TextEncoder().encode('{"a":[2],"b":1}');
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    expect(rows[0]!.tool_calls).toEqual([
      { name: "look", input_hash: digest, ms: 40, ok: true },
      { name: "act", input_hash: expect.stringMatching(/^[0-9a-f]{64}$/), ms: 0, ok: false },
    ]);
    expect(rows[1]!.tool_calls[0]!.input_hash).toBe(digest);
  });

  it("S003-24: earlier rows carry the model's reason, the last one the loop's", async () => {
    const { rows } = await traced(twoRounds);
    expect(rows.map(({ stop_reason }) => stop_reason)).toEqual(["tool_use", "tool_use", "end_turn"]);
  });

  const round = { toolCalls: [call("look", {})] };
  it.each([
    ["max_iters", [round, round], { limits: { maxIterations: 2 } }, 2],
    ["max_iters", [round, round], { limits: { maxToolRounds: 1 } }, 2],
    [
      "budget",
      [{ ...round, usage: { inputTokens: 900, outputTokens: 200 } }],
      { limits: { maxTotalTokens: 1000 } },
      1,
    ],
    ["tool_error_fatal", [{ toolCalls: [call("leave", {})] }], {}, 1],
    ["condition", [round], { limits: { stopWhen: () => true } }, 1],
    ["model_error", [{ status: 400 }], {}, 1],
    ["max_tokens", [{ text: "Cut", stopReason: "length" as const }], {}, 1],
    ["end_turn", [{ text: "Done." }], {}, 1],
  ])("S003-11: %s stands in the last row", async (reason, turns, options, length) => {
    const { rows } = await traced(turns, options);
    expect(rows).toHaveLength(length);
    expect(rows.at(-1)!.stop_reason).toBe(reason);
  });

  it("S003-11: user_cancel stands in the last row, which is written inside abort()", async () => {
    const rows: TraceRow[] = [];
    const fetch = (() => new Promise(() => {})) as never;
    const agent = createAgent({
      model: anthropic("m", { fetch }),
      trace: traceRows({ write: (row) => rows.push(row) }, { jobId: "job-7" }),
    });
    const run = agent.run("Go");
    for await (const event of run.events({ detached: true })) if (event.type === "attempt-start") break;
    run.abort();
    expect(rows).toMatchObject([{ job_id: "job-7", iter: 0, stop_reason: "user_cancel", tool_calls: [] }]);
  });

  it("I-07: the same seeds give byte-identical rows and spans", async () => {
    const [one, other] = [await traced(twoRounds), await traced(twoRounds)];
    expect(JSON.stringify([one.rows, one.spans])).toBe(JSON.stringify([other.rows, other.spans]));
  });

  it("are lines of JSON where that is wanted", async () => {
    let file = "";
    const { rows } = await traced(twoRounds, { tracers: [traceRows(ndjson((line) => (file += line)))] });
    const lines = file.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as TraceRow).iter)).toEqual(rows.map(({ iter }) => iter));
  });

  it("tell onError what a sink throws or rejects with, and the run goes on", async () => {
    const heard: unknown[] = [];
    const agent = createAgent({
      model: anthropic("m", {
        fetch: (await import("../../../src/typescript/lab/practice/index.js")).scripted([{ text: "Hi" }]),
      }),
      trace: [
        traceRows(() => Promise.reject(new Error("rejected"))),
        traceRows(() => {
          throw new Error("thrown");
        }),
        () => {
          throw new Error("never began");
        },
      ],
    });
    const result = await agent.run("Go", { onError: (error) => heard.push((error as Error).message) }).result;
    await new Promise((resolve) => setTimeout(resolve));
    expect(result.outcome).toBe("completed");
    expect(heard.sort()).toEqual(["never began", "rejected", "thrown"]);
  });

  it("are not written by what is no tracer", () => {
    const model = anthropic("m", { apiKey: "k" });
    expect(() => createAgent({ model, trace: 5 as never })).toThrow(
      expect.objectContaining({ field: "trace", code: "config_wrong_type" }),
    );
    expect(() => createAgent({ model, traceSink: () => {} } as never)).toThrow(/traceRows/);
  });

  const sink = (): void => {};
  it.each<[() => unknown, string]>([
    [() => traceRows(sink, { subagent: true } as never), "traceRows.subagent"],
    [() => traceRows(sink, { jobId: 5 } as never), "traceRows.jobId"],
    [() => traceRows(sink, { subagents: 1 } as never), "traceRows.subagents"],
    [() => traceSpans(sink, { contents: true } as never), "traceSpans.contents"],
    [() => traceSpans(sink, { names: "x" } as never), "traceSpans.names"],
    [() => traceSpans(sink, { starts: "yes" } as never), "traceSpans.starts"],
    [() => ndjson(undefined as never), "ndjson"],
    [() => ndjson(5 as never), "ndjson"],
    [() => summarizeTrace(undefined as never), "summarizeTrace"],
    [() => summarizeTrace({} as never), "summarizeTrace"],
    [() => summarizeTrace([...fixture, {}] as never), "summarizeTrace[57]"],
    [() => summarizeTrace([null] as never), "summarizeTrace[0]"],
    [() => summarizeTrace("rows" as never), "summarizeTrace[0]"],
    [() => openTelemetry(undefined as never), "openTelemetry"],
    [() => openTelemetry({ trace: {} } as never), "openTelemetry"],
    [() => openTelemetry(OTEL as never, { starts: true } as never), "openTelemetry.starts"],
  ])("%s is refused and names its field", (make, field) => {
    expect(make).toThrow(expect.objectContaining({ name: "LoopletError", field }));
  });
});

/** Jobs that took so many iterations to their reasons. */
function rowsOf(jobs: [iterations: number, reason: string][]): TraceRow[] {
  const counts = {
    input_tokens: 10,
    output_tokens: 1,
    cache_read: 0,
    cache_write: 0,
    ts: "2026-01-01T00:00:00.000Z",
  };
  return jobs.flatMap(([iterations, reason], job) =>
    Array.from({ length: iterations }, (_, iter) => ({
      job_id: `job-${job}`,
      iter,
      stop_reason: iter + 1 === iterations ? reason : "tool_use",
      tool_calls: [],
      ...counts,
    })),
  );
}

const fixture = rowsOf([
  [3, "end_turn"],
  [3, "end_turn"],
  [1, "end_turn"],
  [50, "max_iters"],
]);

describe("the dashboard's two questions", () => {
  it("are only answered of rows, and the error says what is missing", () => {
    const [first] = fixture;
    expect(() => summarizeTrace([{ ...first!, iter: "0" as never }])).toThrow(
      "summarizeTrace[0]: needs a row of traceRows, with job_id, iter, stop_reason, input_tokens, output_tokens; got a string as its iter",
    );
    expect(() => summarizeTrace(undefined as never)).toThrow("an array of the rows of traceRows");
    const unknown = { ...first!, input_tokens: null as never };
    expect(summarizeTrace([unknown])).toMatchObject({ jobs: 1, inputTokens: 0 });
  });

  it("S003-23: are answered by summarizeTrace, whatever the order of the rows", () => {
    const expected = {
      jobs: 4,
      maxItersPercent: 25,
      iterationsToEndTurn: { 1: 1, 3: 2 },
      stopReasons: { end_turn: 3, max_iters: 1 },
      inputTokens: 570,
      outputTokens: 57,
    };
    expect(summarizeTrace(fixture)).toEqual(expected);
    expect(summarizeTrace([...fixture].reverse())).toEqual(expected);
    expect(summarizeTrace([])).toMatchObject({ jobs: 0, maxItersPercent: 0 });
  });

  interface Statement {
    run(...values: unknown[]): void;
    get(): unknown;
    all(): unknown;
  }
  // Node 22 and newer.
  const sqlite = (process.getBuiltinModule as ((name: string) => object | undefined) | undefined)?.(
    "node:sqlite",
  ) as
    | { DatabaseSync: new (path: string) => { exec(sql: string): void; prepare(sql: string): Statement } }
    | undefined;
  it.skipIf(sqlite === undefined)("are answered by the queries on the table", () => {
    const db = new sqlite!.DatabaseSync(":memory:");
    db.exec(traceTable.sqlite);
    const insert = db.prepare(
      `INSERT INTO agent_loop_trace (job_id, iter, stop_reason, tool_calls, input_tokens, output_tokens, cache_read, cache_write, ts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    for (const row of fixture) {
      const { tool_calls, ...columns } = row;
      const { job_id, iter, stop_reason, input_tokens, output_tokens, cache_read, cache_write, ts } = columns;
      const calls = JSON.stringify(tool_calls);
      insert.run(job_id, iter, stop_reason, calls, input_tokens, output_tokens, cache_read, cache_write, ts);
    }
    expect(db.prepare(traceQueries.maxItersPercent).get()).toEqual({ percent: 25 });
    expect(db.prepare(traceQueries.iterationsToEndTurn).all()).toEqual([
      { iterations: 1, jobs: 1 },
      { iterations: 3, jobs: 2 },
    ]);
  });
});
