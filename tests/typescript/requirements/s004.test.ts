/** Prompty's specification §9, as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import { call, play, results, told } from "./kit.js";

describe("S004", () => {
  it("S004-13: a tool of a kind is run by the kind's handler, which gets its definition; one with a name by its own", async () => {
    const seen: unknown[] = [];
    const { bodies } = await play(
      [{ toolCalls: [call("fetch", { url: "/a" }), call("look", { n: 1 })] }, { text: "Ok." }],
      {
        agent: {
          tools: {
            fetch: { description: "Fetches", inputSchema: { type: "object" }, kind: "openapi" },
            look: {
              description: "Looks",
              inputSchema: { type: "object" },
              execute: (input: unknown) => (seen.push(input), "own"),
            },
          } as never,
          toolCalls: {
            handlers: {
              openapi: (input, { tool, toolName }) => (seen.push(input, toolName, tool.description), "kind"),
              "*": () => "never",
            },
          },
        },
      },
    );
    expect(results(bodies[1]).map(told)).toEqual(["kind", "own"]);
    expect(seen).toEqual([{ url: "/a" }, "fetch", "Fetches", { n: 1 }]);
  });

  it("S004-14: results keep the order of the calls, whichever comes first", async () => {
    const { bodies, log } = await play(
      [
        { toolCalls: [call("write", { give: "first" }), call("look", { give: "second" })] },
        { text: "Done." },
      ],
      { agent: { toolCalls: { execution: "parallel" } } },
    );
    expect(log.slice(0, 2)).toEqual(["start write", "start look"]);
    expect(results(bodies[1]).map(told)).toEqual(["first", "second"]);
  });

  it("S004-17: the text of an answer is told as it arrives", async () => {
    const { log } = await play([{ text: ["One ", "two ", "three."] }], {
      run: (into) => ({ onText: (text) => into.push(text) }),
    });
    expect(log).toEqual(["One ", "two ", "three."]);
  });

  it("S004-30: what a tool threw is an event with its details", async () => {
    const { events } = await play([{ toolCalls: [call("write", { fail: "disk full" })] }, { text: "Ok." }]);
    expect(events.filter(({ type }) => type === "tool-error")).toMatchObject([
      { toolName: "write", error: { code: "tool_failed", message: "disk full", recoverable: true } },
    ]);
  });

  it("S004-33: a run whose model failed has everything so far, and can be gone on from", async () => {
    const { result } = await play([{ toolCalls: [call("look")] }, { status: 400 }]);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "invalid_request" } });
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const again = await play([{ text: "Done." }], { run: { messages: result.messages }, prompt: "Go on." });
    expect(again.result.outcome).toBe("completed");
    expect(results(again.bodies[0])).toHaveLength(1);
  });

  it("S004-34: a retry is told before it is made, with its number and its wait", async () => {
    const { events, waits } = await play([{ status: 429 }, { status: 503 }, { text: "Done." }]);
    const told = events.flatMap((event) =>
      event.type === "retry" ? [[event.nextAttempt, event.maxAttempts, event.delayMs]] : [],
    );
    expect(told).toEqual([
      [2, 4, 2000],
      [3, 4, 4000],
    ]);
    expect(waits).toEqual([2000, 4000]);
    const types = events
      .map(({ type }) => type)
      .filter((type) => type === "retry" || type === "attempt-start");
    expect(types).toEqual(["attempt-start", "retry", "attempt-start", "retry", "attempt-start"]);
  });
});
