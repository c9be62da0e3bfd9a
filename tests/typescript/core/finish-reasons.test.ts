import { describe, expect, it } from "vitest";
import { anthropic, createAgent, RunError } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, Run } from "../../../src/typescript/core/api/index.js";

type Turns = Parameters<typeof scripted>[0];

function start(turns: Turns, options: Partial<AgentOptions>): Run {
  const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch: scripted(turns) });
  return createAgent({ model, ...options }).run("Go");
}

async function thrownBy(run: Run): Promise<unknown> {
  return run.result.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const CUT = { text: "Half of", stopReason: "length" } as const;

describe("answers that end otherwise than usual", () => {
  it("onMaxTokens: continue makes one text of an answer that was cut off", async () => {
    const result = await start([CUT, { text: " it." }], { answers: { onMaxTokens: "continue" } }).result;
    expect(result).toMatchObject({ outcome: "completed", text: "Half of it.", iterations: 2 });
  });

  it("onMaxTokens: error fails the run and keeps the text", async () => {
    const result = await start([CUT], { answers: { onMaxTokens: "error" } }).result;
    expect(result).toMatchObject({ outcome: "failed", text: "Half of", error: { code: "finish_reason" } });
  });

  it("S003-02: strictStopReason fails the run with the vendor's word", async () => {
    const result = await start([CUT], { answers: { strictStopReason: true } }).result;
    expect(result.error?.message).toMatch(/: unexpected stop_reason: max_tokens$/);
  });

  it("onCancel: throw rejects with everything that had arrived", async () => {
    const run = start([{ text: "Never" }], { onCancel: "throw" });
    run.abort("enough");
    const error = await thrownBy(run);
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({ code: "cancelled", message: "The run was cancelled: enough" });
    expect((error as RunError).result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
  });

  it("S001-17: a refusal is a result, and thrown only where onRefusal says so", async () => {
    const turns: Turns = [{ text: "I will not.", stopReason: "refusal" }];
    expect(await start(turns, {}).result).toMatchObject({ outcome: "completed", finishReason: "refusal" });
    const error = await thrownBy(start(turns, { onRefusal: "throw" }));
    expect(error).toMatchObject({ code: "refused", message: "Model refused: I will not." });
  });

  it("a run that is only listened to leaves no unhandled rejection", async () => {
    const run = start([{ text: "Never" }], { onCancel: "throw" });
    const seen: string[] = [];
    setTimeout(() => run.abort(), 0);
    for await (const event of run) seen.push(event.type);
    expect(seen.at(-1)).toBe("finish");
  });

  it.each(["onMaxTokens", "onCancel", "onRefusal"])(
    "%s that is none of its words is told at once",
    (name) => {
      expect(() => start([], { [name]: "stop" })).toThrow(expect.objectContaining({ field: name }));
    },
  );
});
