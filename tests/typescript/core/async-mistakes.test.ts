// Functions that must give a value at once, written async: each is an error that says so, and no rejection is
// unheard.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { traceRows, traceSpans } from "../../../src/typescript/extras/trace/index.js";
import type { AgentOptions, RunEvent } from "../../../src/typescript/core/api/index.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;
const unheard: unknown[] = [];
const note = (reason: unknown): unknown => unheard.push(reason);
const late = (async () => {
  await Promise.resolve();
  throw new Error("nobody hears this");
}) as never;

beforeEach(() => {
  unheard.length = 0;
  process.on("unhandledRejection", note);
});

afterEach(async () => {
  // Node tells of them when its queue of microtasks is empty.
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("unhandledRejection", note);
  expect(unheard).toEqual([]);
});

function begin(options: Partial<AgentOptions>, resourceKey?: never) {
  const fetch = scripted([{ toolCalls: [{ name: "act", input: { n: 1 } }] }, { text: "End." }]);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    tools: { act: tool({ description: "Acts", inputSchema: schema, resourceKey, execute: () => "done" }) },
    ...options,
  });
  const events: RunEvent[] = [];
  const onError = vi.fn();
  return { run: agent.run("Go", { onError, onEvent: (event) => void events.push(event) }), events, onError };
}

describe("a function that must not be async", () => {
  it.each([
    ["sharedInstructions", { sharedInstructions: late }],
    ["ids", { ids: late }],
  ])("%s: the run does not start", (field, options) => {
    expect(() => begin(options)).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining("must not be async") }),
    );
  });

  it.each<[string, Partial<AgentOptions>]>([
    ["random", { random: late, ids: () => "a" }],
    ["clock.now", { clock: { now: late, setTimer: () => 0, clearTimer: () => {} } }],
    ["trace", { trace: late }],
    ["traceRows.jobId", { trace: traceRows(() => {}, { jobId: late }) }],
  ])("%s: onError is told, and the run goes on without it", async (field, options) => {
    const { run, onError } = begin(options);
    expect((await run.result).outcome).toBe("completed");
    expect(onError.mock.calls.map(([error]) => [error.field, error.message])).toContainEqual([
      field,
      expect.stringContaining("must not be async"),
    ]);
  });

  it("resourceKey: the model is told that the call could not be checked", async () => {
    const { run, events } = begin({}, late);
    expect((await run.result).outcome).toBe("completed");
    expect(events.find(({ type }) => type === "tool-error")).toMatchObject({
      error: { message: expect.stringMatching(/resourceKey .* must not be async/) },
    });
  });

  it("a sink may be, and each rejection of it is told", async () => {
    const rows = begin({ trace: traceRows(late) });
    const spans = begin({ trace: traceSpans(late, { starts: true }) });
    for (const { run, onError } of [rows, spans]) {
      expect((await run.result).outcome).toBe("completed");
      await vi.waitFor(() => expect(onError).toHaveBeenCalledWith(new Error("nobody hears this")));
    }
  });
});
