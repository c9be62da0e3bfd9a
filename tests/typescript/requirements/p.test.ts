/** Prompty's specification §13 and §14, as `createAgent` has it. */
import { describe, expect, it } from "vitest";
import { createAgent, custom, tool } from "../../../src/typescript/core/entry/node.js";
import type { RunEvent } from "../../../src/typescript/core/api/index.js";
import { call, play, results, schema, told } from "./kit.js";

const types = (events: readonly RunEvent[]): string[] => events.map(({ type }) => type);

describe("a run's events", () => {
  it("tell text, calls, results and the end, which is the last; a listener that throws harms nothing", async () => {
    const heard: string[] = [];
    const { result, events } = await play(
      [{ text: "I look.", toolCalls: [call("look", { give: 1 })] }, { text: "Done." }],
      {
        run: {
          onEvent: () => {
            throw new Error("of the listener");
          },
          onError: (error) => heard.push((error as Error).message),
        },
      },
    );
    expect(result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(new Set(heard)).toEqual(new Set(["of the listener"]));
    const kinds = types(events);
    expect(kinds).toEqual(expect.arrayContaining(["text-delta", "tool-call", "tool-result"]));
    expect(kinds.indexOf("finish")).toBe(kinds.length - 1);
    expect(events.at(-1)).toMatchObject({ outcome: { outcome: "completed" } });
  });

  it("enclose turns, model calls with their retries, permissions and tools, with times and usage", async () => {
    const { events } = await play(
      [{ status: 500 }, { toolCalls: [call("write", { give: 1 })] }, { text: "Done." }],
      { agent: { permissions: { ask: ["write"], canUseTool: () => ({ behavior: "allow" }) } } },
    );
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of("attempt-start")).toHaveLength(3);
    expect(of("retry")).toMatchObject([{ nextAttempt: 2, maxAttempts: 4, error: { code: "server" } }]);
    expect(of("question")).toMatchObject([{ question: "permission" }]);
    expect(of("answered")).toHaveLength(1);
    expect(of("tool-result")).toMatchObject([{ toolName: "write", durationMs: expect.any(Number) }]);
    expect(of("iteration-finish")).toMatchObject([{ finishReason: "tool_calls" }, { finishReason: "stop" }]);
    expect(of("finish")).toMatchObject([{ outcome: { outcome: "completed" } }]);
  });
});

describe("Prompty's options", () => {
  it("P-21: calls beside each other keep their order, and one that fails cancels none", async () => {
    const guarded: string[] = [];
    const calls = [call("write", { fail: "no" }), call("edit", { give: 2 }), call("look", { give: 3 })];
    const { bodies, events, log } = await play([{ toolCalls: calls }, { text: "Done." }], {
      agent: {
        toolCalls: { execution: "parallel" },
        guardrails: { tool: (toolName) => (guarded.push(toolName), { allowed: true }) },
      },
    });
    expect(log.slice(0, 3)).toEqual(["start write", "start edit", "start look"]);
    const [first, ...others] = results(bodies[1]);
    expect(first!.is_error).toBe(true);
    expect(others.map(told)).toEqual(["2", "3"]);
    expect(guarded).toEqual(["write", "edit", "look"]);
    expect(types(events).filter((type) => /^tool-(result|error)$/.test(type))).toHaveLength(3);
  });

  it("P-22: take their turn: steering, input guardrail, model, output guardrail, tool guardrail, tool", async () => {
    const order: string[] = [];
    const say = (what: string) => (order.push(what), { allowed: true as const });
    let round = 0;
    const agent = createAgent({
      model: custom(({ messages }) => {
        order.push(JSON.stringify(messages).includes("Hurry.") ? "model, steered" : "model");
        return ++round === 1 ? [{ type: "tool_call", id: "1", name: "act", input: {} }] : "Done.";
      }),
      guardrails: {
        input: (messages) => say(JSON.stringify(messages).includes("Hurry.") ? "input, steered" : "input"),
        output: () => say("output"),
        tool: () => say("tool"),
      },
      tools: {
        act: tool({
          description: "Acts",
          inputSchema: schema,
          execute: () => {
            order.push("act");
            run.steer("Hurry.");
            return "done";
          },
        }),
      },
    });
    const run = agent.run("Go");
    expect((await run.result).outcome).toBe("completed");
    const first = ["input", "model", "output", "tool", "act"];
    expect(order).toEqual([...first, "input, steered", "model, steered", "output"]);
  });

  it("I-07: the same answers, clock, ids and random numbers give the same events to the byte", async () => {
    const journal = async (): Promise<string> => {
      let id = 0;
      let round = 0;
      const agent = createAgent({
        model: custom(() =>
          ++round < 3 ? [{ type: "tool_call", id: "", name: "act", input: { n: round } }] : "Done.",
        ),
        tools: { act: tool({ description: "Acts", inputSchema: schema, execute: ({ n }) => n }) },
        permissions: {
          ask: ["act"],
          canUseTool: (_name, { n }) =>
            ({ behavior: n === 1 ? "allow" : "deny", message: "not twice" }) as never,
        },
        clock: { now: () => 0, setTimer: () => undefined, clearTimer: () => undefined },
        random: () => 0.5,
        ids: () => `run-${++id}`,
      });
      const events: RunEvent[] = [];
      await agent.run("Go", { onEvent: (event) => events.push(event) }).result;
      return JSON.stringify(events);
    };
    const first = await journal();
    expect(await journal()).toBe(first);
    expect(first).toContain("not twice");
  });
});
