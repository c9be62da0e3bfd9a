/** Nothing is silent: what goes wrong without anybody listening stands on the console, once. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool, ToolError } from "../../../src/typescript/core/entry/node.js";
import type { AgentOptions, RunOptions } from "../../../src/typescript/core/api/index.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";

const aTask = () => new Promise((resolve) => setImmediate(resolve));

/** Passes the time that a result may stay unread. */
async function pass(ms = 1000) {
  await aTask();
  vi.advanceTimersByTime(ms);
}

function begin(turns: ScriptedStep[], agent: Partial<AgentOptions> = {}, options: RunOptions = {}) {
  const model = anthropic("m", { apiKey: "sk-test", fetch: scripted(turns) });
  return createAgent({ model, retry: { maxRetries: 0 }, ...agent } as AgentOptions).run("Go", options);
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a run whose result nobody reads", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));

  it.each<[string, ScriptedStep[], Partial<AgentOptions>, string[]]>([
    [
      "failed",
      [{ status: 401 }],
      {},
      [
        "run failed: anthropic m answered 401 auth at https://api.anthropic.com/v1/messages: invalid x-api-key\n",
        "See docs/tasks/errors.md#auth in the package looplet.",
      ],
    ],
    [
      "failed by a setting",
      [],
      { model: anthropic("m", { apiKey: () => Promise.reject(new Error("no vault")), fetch: scripted([]) }) },
      ["run failed: anthropic m failed with config_invalid at ", "no vault"],
    ],
    ["completed", [{ text: "One" }], { limits: { maxIterations: 1 } }, []],
    [
      "stopped by a limit",
      [{ toolCalls: [{ name: "act", input: {} }] }],
      {
        limits: { maxIterations: 1 },
        tools: { act: tool({ description: "Acts", inputSchema: { type: "object" }, execute: () => 1 }) },
      },
      ["run was stopped by iterations\n"],
    ],
    [
      "stopped by a guardrail, with a reason",
      [],
      { guardrails: { input: () => ({ allowed: false, reason: "No secrets." }) } },
      ["run was stopped by guardrail: Input guardrail denied: No secrets.\n"],
    ],
  ])("%s: is told on the console, unless it is completed", async (_, turns, agent, said) => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    for await (const _event of begin(turns, agent));
    await pass(999);
    expect(warn).not.toHaveBeenCalled();
    await pass(1);
    expect(warn).toHaveBeenCalledTimes(Math.min(1, said.length));
    for (const part of said) expect(warn.mock.lastCall?.[0]).toContain(part);
  });

  it("is not told when its result or its outcome is read, nor when it was aborted", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const failing = () => begin([{ status: 401 }]);
    await failing().result;
    const read = failing();
    for await (const _event of read);
    expect(read.outcome).toBe("failed");
    const aborted = failing();
    aborted.abort();
    await pass();
    expect(warn).not.toHaveBeenCalled();
  });

  it("is not told while a loop still reads the events, however slowly", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const run = begin([{ status: 401 }]);
    for await (const _event of run) await pass();
    expect((await run.result).outcome).toBe("failed");
    await pass();
    expect(warn).not.toHaveBeenCalled();
  });

  it("is told when the result rejects and nobody hears it", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    for await (const _event of begin([{ status: 401 }], { onFailure: "throw" }));
    await pass();
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

it.each(["text", "messages", "usage"] as const)("run.%s says where it is", async (field) => {
  const run = begin([{ text: "Hi" }]);
  expect(() => (run as unknown as Record<string, unknown>)[field]).toThrow(
    expect.objectContaining({
      code: "misuse_result",
      problem: `is in the result: const { ${field} } = await run.result`,
    }),
  );
  const same = await (async () => run)();
  expect(same).toBe(run);
  expect((await run.result)[field]).toBeDefined();
});

describe("an error that a tool throws", () => {
  const calls = { toolCalls: [{ name: "act", input: {} }] };
  const throwing = (thrown: unknown) => ({
    tools: {
      act: tool({
        description: "Acts",
        inputSchema: { type: "object" },
        execute: () => {
          throw thrown;
        },
      }),
    },
  });

  it("goes to onError as it is, and to the model without its stack", async () => {
    const onError = vi.fn();
    const oops = new TypeError("oops");
    const { messages } = await begin([calls, { text: "Done" }], throwing(oops), { onError }).result;
    expect(onError.mock.calls).toEqual([[oops]]);
    expect(JSON.stringify(messages)).toContain("oops");
    expect(JSON.stringify(messages)).not.toContain("silence.test");
  });

  it("goes to console.error without an onError", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const oops = new TypeError("oops");
    await begin([calls, { text: "Done" }], throwing(oops)).result;
    expect(error.mock.calls).toEqual([[oops]]);
  });

  it("stays with the model if it is a ToolError", async () => {
    const onError = vi.fn();
    const error = new ToolError({ message: "No disk." });
    await begin([calls, { text: "Done" }], throwing(error), { onError }).result;
    expect(onError).not.toHaveBeenCalled();
  });

  it("is not told when the call was aborted", async () => {
    const onError = vi.fn();
    let begun = (): void => {};
    const running = new Promise<void>((resolve) => (begun = resolve));
    const act = tool({
      description: "Acts",
      inputSchema: { type: "object" },
      execute: (_, { signal }) => {
        begun();
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    });
    const run = begin([calls], { tools: { act } }, { onError });
    await running;
    run.abort();
    await aTask();
    expect(onError).not.toHaveBeenCalled();
  });
});

it("errors of a listener with one stack and two messages are both reported", async () => {
  const onError = vi.fn();
  const onText = (text: string) => {
    throw Object.assign(new Error(text), { stack: "at render" });
  };
  await begin([{ text: ["a", "b", "a"], chunks: "event" }], {}, { onText, onError }).result;
  expect(onError.mock.calls.map(([error]) => (error as Error).message)).toEqual(["a", "b"]);
});

it("a listener of all events that throws the same error is reported once", async () => {
  const onError = vi.fn();
  const onEvent = () => {
    throw new Error("No element.");
  };
  const act = tool({ description: "Acts", inputSchema: { type: "object" }, execute: () => 1 });
  const steps = [{ text: ["a", "b"], toolCalls: [{ name: "act", input: {} }] }, { text: "Done" }];
  await begin(steps, { tools: { act } }, { onEvent, onError }).result;
  expect(onError).toHaveBeenCalledTimes(1);
});

it("a listener that throws the same error at each delta is reported once", async () => {
  const onError = vi.fn();
  const onText = () => {
    throw new Error("No element.");
  };
  await begin([{ text: ["a", "b", "c"], chunks: "event" }], {}, { onText, onError }).result;
  expect(onError).toHaveBeenCalledTimes(1);
});
