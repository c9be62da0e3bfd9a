/** What the article says of the loop and its traces, asked of `runProduction` itself. */
import { describe, expect, it } from "vitest";
import { tool } from "looplet";
import { iterationPresets, runProduction, toolError, type ProductionOptions } from "looplet/production";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { summarizeTrace, traceQueries, traceTable, type TraceRow } from "looplet/trace";

const schema = { type: "object", properties: { path: { type: "string" } } } as const;
const call = (id: string, path = id, name = "read") => ({ id, name, input: { path, more: { b: 1, a: 2 } } });

async function job(turns: ScriptedTurn[], more: Partial<ProductionOptions> = {}) {
  const rows: TraceRow[] = [];
  const fetch = scripted(turns);
  const read = tool({
    description: "Reads a file",
    inputSchema: schema,
    execute: ({ path }) =>
      path === "gone"
        ? toolError({ code: "file_not_found", message: "No file.", hint: "List." })
        : `text of ${path}`,
  });
  const options: ProductionOptions = {
    model: "m",
    system: "Build.",
    prompt: "Go.",
    tools: { read },
    trace: (row: TraceRow) => void rows.push(row),
    ...more,
    host: { fetch, apiKey: "k" },
  };
  const result = await runProduction(options).result;
  return { result, rows, bodies: fetch.requests.map(({ body }) => body as any) };
}

describe("runProduction", () => {
  it("S003-06: has a cap of fifty without being told, and the article's caps by name", async () => {
    const turns = Array.from({ length: 60 }, (_, at) => ({ toolCalls: [call(`c${at}`)] }));
    const { result, bodies } = await job(turns);
    expect([result.stopReason, result.iterations, bodies.length]).toEqual(["max_iters", 50, 50]);
    expect([iterationPresets.builder, iterationPresets.router]).toEqual([50, 12]);
  });

  it("S003-12, S003-13, S003-15, S003-25: answers each round in the next message, by its ids, with its errors marked", async () => {
    const { bodies } = await job([
      { toolCalls: [call("toolu_a"), call("toolu_b", "gone")] },
      { toolCalls: [call("toolu_c")] },
      { text: "Built." },
    ]);
    const shape = bodies[2].messages.map(({ role, content }: any) => [
      role,
      ...content.map(({ type, id, tool_use_id, is_error }: any) => [
        type,
        id ?? tool_use_id,
        is_error === true,
      ]),
    ]);
    expect(shape.slice(1)).toEqual([
      ["assistant", ["tool_use", "toolu_a", false], ["tool_use", "toolu_b", false]],
      ["user", ["tool_result", "toolu_a", false], ["tool_result", "toolu_b", true]],
      ["assistant", ["tool_use", "toolu_c", false]],
      ["user", ["tool_result", "toolu_c", false]],
    ]);
  });

  it("S003-21, S003-22, S003-24: writes a row for each iteration, with hashes of inputs and the reason of the end", async () => {
    const usage = { inputTokens: 11, outputTokens: 7, cacheReadTokens: 3, cacheWriteTokens: 2 };
    const jobId = "8f14e45f-ceea-4672-a7b1-000000000001";
    const turns: ScriptedTurn[] = [
      { toolCalls: [call("a", "same"), call("b", "gone")], usage },
      { toolCalls: [{ id: "c", name: "read", input: { more: { a: 2, b: 1 }, path: "same" } }] },
      { text: "Built." },
    ];
    const { rows } = await job(turns, { jobId });
    expect(rows.map(({ iter, stop_reason }) => [iter, stop_reason])).toEqual([
      [0, "tool_use"],
      [1, "tool_use"],
      [2, "end_turn"],
    ]);
    const [first, second] = rows;
    expect(first).toMatchObject({ job_id: jobId, output_tokens: 7, cache_read: 3, cache_write: 2 });
    expect(first!.tool_calls).toMatchObject([
      { name: "read", ok: true, ms: expect.any(Number), input_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { name: "read", ok: false },
    ]);
    expect(second!.tool_calls[0]!.input_hash).toBe(first!.tool_calls[0]!.input_hash);
    expect(first!.tool_calls[1]!.input_hash).not.toBe(first!.tool_calls[0]!.input_hash);
    expect(JSON.stringify(rows)).not.toContain("same");
    for (const column of ["job_id", "iter", "stop_reason", "tool_calls", "input_tokens", "cache_write", "ts"])
      expect(traceTable.postgres).toContain(column);
  });

  it("S003-23: rows of jobs answer the dashboard's two questions", async () => {
    const capped = await job([{ toolCalls: [call("a")] }], { maxIters: 1, jobId: "one" });
    const done = await job([{ toolCalls: [call("a")] }, { text: "Built." }], { jobId: "two" });
    const summary = summarizeTrace([...capped.rows, ...done.rows]);
    expect(summary).toMatchObject({ jobs: 2, maxItersPercent: 50, iterationsToEndTurn: { 2: 1 } });
    expect(Object.keys(traceQueries)).toHaveLength(2);
  });
});
