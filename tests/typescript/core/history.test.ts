import { describe, expect, it, vi } from "vitest";
import type { RawRunResult } from "../../../src/typescript/core/host/driver.js";
import { withHistory } from "../../../src/typescript/core/host/history.js";
import { toRunResult } from "../../../src/typescript/core/run/result.js";

const history = { toolCalls: [{ id: "call_1" }], messages: [{ role: "user", content: [] }], subagents: [] };
const bytes = new TextEncoder().encode(JSON.stringify({ text: "", ...history }));

function raw(): RawRunResult {
  const rest = {
    usage: null,
    modelUsage: {},
    chatUsage: null,
    costNanoUsd: null,
    iterations: 1,
    finishReason: null,
    rawFinishReason: null,
  };
  const empty = { text: "Hi.", toolCalls: [], messages: [], undelivered: [], ...rest };
  return withHistory(empty as unknown as RawRunResult, bytes);
}

describe("the history of a result", () => {
  it("is read when it is first asked for, and once", () => {
    const parse = vi.spyOn(JSON, "parse");
    const result = toRunResult("run_1", raw() as never, { outcome: "completed" }, "root");
    expect(parse).not.toHaveBeenCalled();
    expect(result.messages).toEqual(history.messages);
    expect(result.messages).toBe(result.messages);
    expect(result.toolCalls).toEqual(history.toolCalls);
    expect(parse).toHaveBeenCalledOnce();
    parse.mockRestore();
  });

  it("is copied, spread, cloned and written over as plain data", () => {
    const result = toRunResult("run_1", raw() as never, { outcome: "completed" }, "root");
    expect(JSON.parse(JSON.stringify(result))).toMatchObject(history);
    expect({ ...toRunResult("run_1", raw() as never, { outcome: "completed" }, "root") }).toMatchObject(
      history,
    );
    expect(
      structuredClone(toRunResult("run_1", raw() as never, { outcome: "completed" }, "root")),
    ).toMatchObject(history);
    result.messages = [];
    expect(result.messages).toEqual([]);
  });
});
