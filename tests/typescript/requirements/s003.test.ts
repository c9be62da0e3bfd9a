/** The article about loops in production, as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import { call, play, results, told, type Body } from "./kit.js";

const round = { toolCalls: [call("look")] };

/** Every call is answered by exactly one result in the next message. */
function expectLegal({ messages }: Body): void {
  messages.forEach(({ content }, index) => {
    const asked = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    if (asked.length === 0) return;
    const next = messages[index + 1]!.content;
    expect(next.slice(0, asked.length).map(({ tool_use_id }) => tool_use_id)).toEqual(asked);
  });
}

describe("S003", () => {
  it.each([
    ["end_turn", "completed", undefined, [{ text: "Done." }], {}],
    ["max iterations", "stopped", "iterations", [round], { limits: { maxIterations: 1 } }],
    [
      "budget",
      "stopped",
      "tokens",
      [{ ...round, usage: { inputTokens: 90, outputTokens: 90 } }],
      { limits: { maxTotalTokens: 100 } },
    ],
    ["a fatal tool error", "stopped", "fatal_tool", [{ toolCalls: [call("look", { fatal: "no key" })] }], {}],
    ["the user's cancel", "cancelled", undefined, [{ hang: true }], {}],
  ])("S003-04: %s ends a run", async (what, outcome, stoppedBy, turns, agent) => {
    const run = what === "the user's cancel" ? { signal: AbortSignal.timeout(20) } : {};
    const { result, bodies } = await play(turns, { agent, run });
    expect(result.outcome).toBe(outcome);
    expect(result.stoppedBy).toBe(stoppedBy);
    expectLegal(bodies.at(-1)!);
  });

  it.each([
    ["the last iteration", { limits: { maxIterations: 1 } }],
    ["a budget that it has passed", { limits: { maxTotalTokens: 100 } }],
    ["a budget that it has just used up", { limits: { maxTotalTokens: 180 } }],
  ])("an answer that ends the run comes before %s", async (_, agent) => {
    const usage = { inputTokens: 90, outputTokens: 90 };
    expect((await play([{ text: "Done.", usage }], { agent })).result.outcome).toBe("completed");
  });

  it("a budget that is passed stops a run before an abort that comes at the same moment", async () => {
    const abort = new AbortController();
    const { result } = await play([{ ...round, usage: { inputTokens: 90, outputTokens: 90 } }], {
      agent: { limits: { maxTotalTokens: 100 } },
      run: {
        signal: abort.signal,
        onEvent: ({ type }) => {
          if (type === "iteration-finish") abort.abort();
        },
      },
    });
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "tokens" });
  });

  it("a budget is passed by more than it allows", async () => {
    const usage = { inputTokens: 90, outputTokens: 90 };
    const turns = [{ ...round, usage }, { text: "Done." }];
    expect((await play(turns, { agent: { limits: { maxTotalTokens: 179 } } })).result.stoppedBy).toBe(
      "tokens",
    );
    expect((await play(turns, { agent: { limits: { maxTotalTokens: 180 } } })).log).not.toEqual([]);
  });

  it("S003-12, S003-13: each round's results stand next to its calls, in a message of their own", async () => {
    const { bodies } = await play([
      { toolCalls: [call("look"), call("write")] },
      { text: "More.", toolCalls: [call("edit", { fail: "no" })] },
      { text: "Done." },
    ]);
    bodies.forEach(expectLegal);
    const last = bodies[2]!.messages;
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect([last[2]!.content.length, last[4]!.content.length]).toEqual([2, 1]);
  });

  it("S003-15, S000-22: is_error says whether a call went wrong, and the model is told why", async () => {
    const { bodies } = await play([
      { toolCalls: [call("look"), call("write", { fail: "disk full" })] },
      { text: "Ok." },
    ]);
    const [good, bad] = results(bodies[1]);
    expect(good!.is_error ?? false).toBe(false);
    expect(bad!.is_error).toBe(true);
    expect(told(bad)).toContain("disk full");
  });

  it("S003-19: an error has a stable code, a message, a hint and whether to try again", async () => {
    const { bodies } = await play([{ toolCalls: [call("write", { fail: "disk full" })] }, { text: "Ok." }]);
    expect(JSON.parse(told(results(bodies[1])[0]))).toEqual({
      error: true,
      code: "tool_failed",
      message: "disk full",
      hint: expect.any(String),
      recoverable: true,
    });
  });
});
