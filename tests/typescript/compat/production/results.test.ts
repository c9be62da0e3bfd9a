import { describe, expect, it } from "vitest";
import { serializeResult, toolError, toToolResult } from "looplet/production";

describe("results of tools", () => {
  it("serializeResult writes a text as it is and any other value as JSON, and never throws", () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    expect(["a", { a: 1 }, [1], 0, undefined, null, () => 1].map(serializeResult)).toEqual([
      "a",
      '{"a":1}',
      "[1]",
      "0",
      "null",
      "null",
      "null",
    ]);
    expect(serializeResult(new Error("No disk."))).toBe("error: No disk.");
    expect(serializeResult(new RangeError())).toBe("error: RangeError");
    expect(serializeResult(circular)).toMatch(/^error: .*circular/);
    expect(serializeResult(1n)).toMatch(/^error: .*BigInt/);
  });

  it("toToolResult makes the blocks of the skeleton from spread results", () => {
    const broken = toolError({ code: "auth", message: "No key.", hint: "Ask." });
    const spread = (r: any) => ({ tool_use_id: "a", ...r });
    const results = [
      { path: "a" },
      "text",
      "",
      [1, 2],
      undefined,
      broken,
      { content: "x", is_error: true },
    ].map(spread);
    const block = { type: "tool_result", tool_use_id: "a" };
    expect(results.map(toToolResult)).toEqual([
      { ...block, content: '{"path":"a"}' },
      { ...block, content: "text" },
      { ...block, content: "null" },
      { ...block, content: "[1,2]" },
      { ...block, content: "null" },
      { ...block, content: JSON.stringify(broken), is_error: true },
      { ...block, content: "x", is_error: true },
    ]);
    expect(() => toToolResult({} as never)).toThrow("toToolResult needs { tool_use_id");
  });
});
