import { describe, expect, it } from "vitest";
import { createAgent, custom, subagent } from "../../../src/typescript/core/entry/node.js";
import type { CanUseTool } from "../../../src/typescript/core/api/index.js";
import { call, traced } from "../support/traced.js";

const turns = [
  { toolCalls: [call("look", { n: 1 })], usage: { inputTokens: 100, outputTokens: 10 } },
  { text: "Done.", usage: { inputTokens: 200, outputTokens: 20 } },
];

describe("a result", () => {
  it("has the run's id, and its times by the run's clock", async () => {
    const { result } = await traced(turns);
    expect(result).toMatchObject({ id: "run_1", durationMs: 1040, apiDurationMs: 1000 });
  });

  it("has the usage and the cost of each model", async () => {
    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const answers = ["", "It works."];
    const chief = custom(
      function* ({ messages }) {
        yield { type: "usage", inputTokens: 1000, outputTokens: 500 };
        if (messages.length > 1) yield "Done.";
        else yield { type: "tool_call", name: "helper", input: { prompt: "Look." } };
      },
      { name: "chief", price },
    );
    const helper = subagent({ description: "Helps", model: custom(() => answers.pop()!, { name: "small" }) });
    const { id, result } = ((run) => ({ id: run.id, result: run.result }))(
      createAgent({ model: chief, tools: { helper } }).run("Go"),
    );
    const { usage, modelUsage, ...rest } = await result;
    expect(rest).toMatchObject({ id, outcome: "completed", costUsd: 0.004, costBasis: "option" });
    expect(usage).toMatchObject({ inputTokens: 2000, outputTokens: 1000 });
    expect(modelUsage).toEqual({ chief: { ...usage, costUsd: 0.004 }, small: null });
  });

  it("has no usage and no known cost where the model reported none", async () => {
    const model = custom(() => "Hello.", { price: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 } });
    const result = await createAgent({ model }).run("Hi").result;
    expect(result).toMatchObject({ usage: null, costNanoUsd: null, costUsd: 0, costBasis: "unknown" });
  });
});

describe("a call whose input canUseTool changes", () => {
  const permissionMode = "default";
  const canUseTool: CanUseTool = () => ({ behavior: "allow", updatedInput: { n: 2, password: "hunter2" } });

  it("says so in the result, with the tool's output as it is", async () => {
    const { result } = await traced(turns, { permissions: { canUseTool, mode: permissionMode } });
    expect(result.toolCalls[0]).toMatchObject({
      input: { n: 1 },
      updatedInput: { n: 2, password: "hunter2" },
      output: "seen",
    });
  });

  it("has both hashes in its row, and both inputs in its span", async () => {
    const { rows, spans } = await traced(turns, {
      permissions: { canUseTool, mode: permissionMode },
      spans: { content: true },
    });
    const [row] = rows[0]!.tool_calls;
    expect(row!.updated_input_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(row!.updated_input_hash).not.toBe(row!.input_hash);
    const { attributes } = spans.find(({ name }) => name === "execute_tool look")!;
    expect(attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"n":2,"password":"[REDACTED]"}',
      "looplet.tool.written_arguments": '{"n":1}',
      "looplet.tool.updated_input_hash": row!.updated_input_hash,
    });
  });

  it("leaves no mark where nothing was changed", async () => {
    const { result, rows, spans } = await traced(turns, { spans: { content: true } });
    expect(Object.keys(result.toolCalls[0]!)).not.toContain("updatedInput");
    expect(Object.keys(rows[0]!.tool_calls[0]!)).toEqual(["name", "input_hash", "ms", "ok"]);
    const { attributes } = spans.find(({ name }) => name === "execute_tool look")!;
    expect(Object.keys(attributes).filter((name) => /updated|written/.test(name))).toEqual([]);
  });
});

it("a row of an iteration whose usage nobody reported has no counts", async () => {
  const { rows } = await traced([{ text: "Hi." }], { model: custom(() => "Hi.") });
  expect(rows[0]).toMatchObject({
    input_tokens: null,
    output_tokens: null,
    cache_read: null,
    cache_write: null,
  });
});
