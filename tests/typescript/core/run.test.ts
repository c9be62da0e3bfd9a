import { afterEach, describe, expect, it, vi } from "vitest";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { anthropic } from "../../../src/typescript/core/models/models.js";
import type { AgentOptions, Run, RunEvent, RunOptions } from "../../../src/typescript/core/api/index.js";
import { FakeEngine, nextTask, settled, USAGE, type FakeDriver } from "../support/fake-driver.js";

const model = anthropic("m", { apiKey: "k" });
const hello = [{ type: "text", text: "hello" }];
const completed = { outcome: "completed" } as const;

afterEach(() => {
  vi.unstubAllGlobals();
});

interface Stage {
  engine: FakeEngine;
  run: Run;
}

function begin(run: RunOptions = {}, agent: Partial<AgentOptions> = {}, isSlow = false): Stage {
  const engine = new FakeEngine({ isSlow });
  return { engine, run: agentOn(engine.load, { model, ...agent }).run("hello", run) };
}

async function started(run: RunOptions = {}): Promise<Stage & { driver: FakeDriver }> {
  const stage = begin(run);
  return { ...stage, driver: await stage.engine.driver() };
}

async function types(events: AsyncIterable<RunEvent>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(event.type);
  return seen;
}

describe("a run", () => {
  it("starts by itself, with its prompt", async () => {
    const { driver } = await started();
    expect(driver.told("prompt")).toEqual([[hello]]);
  });

  it("settles its result with what the engine says, and gives the driver back", async () => {
    const { run, driver } = await started();
    expect(run.outcome).toBeUndefined();
    driver.say("Hi");
    driver.end({ outcome: "stopped", stoppedBy: "iterations" });
    expect(run.outcome).toBe("stopped");
    const costUsd = 0.0015;
    expect(await run.result).toEqual({
      outcome: "stopped",
      stoppedBy: "iterations",
      id: run.id,
      agent: "root",
      text: "Hi",
      toolCalls: [],
      messages: [{ role: "user", content: [{ type: "text", text: "asked" }] }],
      usage: USAGE,
      chatUsage: { ...USAGE, costUsd },
      modelUsage: { small: { ...USAGE, costUsd } },
      ...{ durationMs: 7, apiDurationMs: 5 },
      ...{ costUsd, costNanoUsd: 1_500_000 },
      costBasis: "option",
      iterations: 1,
      finishReason: "stop",
      rawFinishReason: "end_turn",
      undelivered: [],
      subagents: [{ agentPath: "root/keeper", messages: [] }],
    });
    expect(driver.isFreed).toBe(true);
  });

  it("is no thenable: an async function can return it", async () => {
    const { run } = begin();
    const returned = await (async () => run)();
    expect(returned).toBe(run);
    expect("then" in run).toBe(false);
  });

  it("has an id from the seams", () => {
    expect(begin({}, { ids: () => "run-7" }).run.id).toBe("run-7");
    expect(begin({}, { random: () => 0.5 }).run.id).toBe("run_gggggggggggggggg");
  });

  it("calls the listeners in order, the special ones first", async () => {
    const seen: unknown[] = [];
    const { driver } = await started({
      onText: (text) => seen.push(["text", text]),
      onThinking: (text) => seen.push(["thinking", text]),
      onToolCall: (event) => seen.push(["call", event.toolName]),
      onToolResult: (event) => seen.push([event.type, event.toolName]),
      onEvent: (event) => seen.push(event.type),
    });
    driver.say("hm", 0, 1);
    driver.say("Hi", 1);
    driver.say('{"a":', 2, 2);
    driver.emit({ type: "tool-call", toolCallId: "1", toolName: "add", input: {} });
    driver.emit({ type: "tool-result", toolCallId: "1", toolName: "add", output: 3, durationMs: 1 });
    driver.emit({ type: "tool-error", toolCallId: "2", toolName: "sub", error: {}, durationMs: 1 });
    expect(seen).toEqual([
      ["thinking", "hm"],
      "reasoning-delta",
      ["text", "Hi"],
      "text-delta",
      "tool-input-delta",
      ["call", "add"],
      "tool-call",
      ["tool-result", "add"],
      "tool-result",
      ["tool-error", "sub"],
      "tool-error",
    ]);
  });

  it("goes on when a listener throws, and tells onError", async () => {
    const errors: unknown[] = [];
    const fails = (error: string) => (): never => {
      throw error;
    };
    const { driver, run } = await started({
      onText: fails("text"),
      onEvent: fails("event"),
      onError: (error) => errors.push(error),
    });
    driver.say("Hi");
    driver.end(completed);
    expect((await run.result).outcome).toBe("completed");
    expect(errors).toEqual(["text", "event"]);
  });

  it("tells onError what an async listener rejects with", async () => {
    const errors: unknown[] = [];
    const fails = (error: string) => async (): Promise<never> => Promise.reject(error);
    const { driver } = await started({
      onText: fails("text"),
      onThinking: fails("thinking"),
      onToolCall: fails("call"),
      onToolResult: fails("result"),
      onEvent: fails("event"),
      onError: async (error) => void errors.push(error),
    });
    driver.say("a");
    driver.say("b", 1, 1);
    driver.emit({ type: "tool-call", toolCallId: "1", toolName: "add", input: {} });
    driver.emit({ type: "tool-result", toolCallId: "1", toolName: "add", output: 3, durationMs: 1 });
    await nextTask();
    expect(errors).toEqual(["text", "event", "thinking", "call", "result"]);
  });

  it("tells reportError without an onError, console.error without either, and survives an onError that throws", async () => {
    const heard: unknown[] = [];
    const fails = (): never => {
      throw "oops";
    };
    vi.stubGlobal("reportError", (error: unknown) => heard.push(["reportError", error]));
    (await started({ onText: fails })).driver.say("a");
    vi.stubGlobal("reportError", undefined);
    vi.stubGlobal("console", { ...console, error: (error: unknown) => heard.push(["console", error]) });
    (await started({ onText: fails })).driver.say("a");
    (await started({ onText: fails, onError: fails })).driver.say("a");
    expect(heard).toEqual([
      ["reportError", "oops"],
      ["console", "oops"],
      ["console", "oops"],
    ]);
  });

  it.each(["Deno", "Bun"])("does not tell reportError in %s, where that ends the process", async (host) => {
    const heard: unknown[] = [];
    const fails = (): never => {
      throw "oops";
    };
    vi.stubGlobal(host, {});
    vi.stubGlobal("reportError", () => heard.push("the process ends"));
    vi.stubGlobal("console", { ...console, error: (error: unknown) => heard.push(error) });
    (await started({ onText: fails })).driver.say("a");
    expect(heard).toEqual(["oops"]);
  });

  it("can be aborted inside a listener: the outcome is set there, the events and the result follow", async () => {
    const seen: unknown[] = [];
    const { driver, run } = await started({
      onText: () => {
        run.abort("enough");
        seen.push(run.outcome);
        run.abort("again");
        expect(() => run.steer("more")).toThrow(expect.objectContaining({ code: "misuse_run_ended" }));
      },
      onEvent: ({ type }) => seen.push(type),
    });
    driver.say("Hi");
    expect(seen).toEqual(["cancelled", "text-delta", "abort", "finish"]);
    expect(await run.result).toMatchObject({ text: "Hi", abortReason: "enough" });
    expect(driver.told("cancel")).toEqual([["enough"]]);
  });

  it("fails as config_invalid when the engine refuses the configuration", async () => {
    const load = async (): Promise<never> =>
      (() => {
        throw { field: "tools.a.inputSchema", problem: "is too deep" };
      }) as never;
    const result = await agentOn(load, { model }).run("hello").result;
    expect(result.outcome).toBe("failed");
    expect(result.error).toEqual({
      code: "config_invalid",
      message: "tools.a.inputSchema: is too deep",
      retryable: false,
    });
  });

  it("fails as a bug when the driver throws anything else", async () => {
    const load = async (): Promise<never> =>
      (() => {
        throw new Error("unreachable");
      }) as never;
    expect((await agentOn(load, { model }).run("hello").result).error?.code).toBe("bug");
  });

  it("fails as config_wasm when the engine cannot be loaded, with an error and a finish event", async () => {
    const { engine, run } = begin({}, {}, true);
    const seen = types(run);
    engine.refuse(new Error("forbidden by Content-Security-Policy"));
    const { outcome, error, messages, ...rest } = await run.result;
    expect(outcome).toBe("failed");
    expect(rest).toMatchObject({ id: run.id, usage: null, modelUsage: {}, apiDurationMs: 0 });
    expect(rest.durationMs).toBeGreaterThanOrEqual(0);
    expect(error?.code).toBe("config_wasm");
    expect(error?.message).toContain("Content-Security-Policy");
    expect(messages).toEqual([{ role: "user", content: hello }]);
    expect(await seen).toEqual(["error", "finish"]);
  });
});

describe("before the engine is loaded", () => {
  it("keeps steers and follow-ups, and gives them to the driver ahead of the prompt", async () => {
    const { engine, run } = begin({}, {}, true);
    const withdrawn = run.steer("no");
    run.steer("only tomorrow");
    run.followUp("and Sunday?");
    expect(withdrawn.withdraw()).toBe(true);
    expect(withdrawn.withdraw()).toBe(false);
    engine.open();
    const driver = await engine.driver();
    const order = driver.calls.map(([method, id]) => [method, id]).filter(([method]) => method !== "want");
    expect(order).toEqual([
      ["steer", 2],
      ["followUp", 3],
      ["prompt", hello],
    ]);
  });

  it("an abort ends the run at once, and nothing is started later", async () => {
    const { engine, run } = begin({ messages: [{ role: "assistant", content: [] }] }, {}, true);
    const { id } = run.steer("only tomorrow");
    run.abort("user");
    expect(run.outcome).toBe("cancelled");
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "cancelled", abortReason: "user", text: "", undelivered: [id] });
    expect(result.messages).toEqual([
      { role: "assistant", content: [] },
      { role: "user", content: hello },
    ]);
    engine.open();
    await settled();
    expect(engine.drivers).toEqual([]);
  });
});

describe("abort", () => {
  it("sets the outcome on return and changes nothing the second time", async () => {
    const { run, driver } = await started();
    run.abort("first");
    expect(run.outcome).toBe("cancelled");
    run.abort("second");
    expect(driver.told("cancel")).toEqual([["first"]]);
    expect((await run.result).abortReason).toBe("first");
  });

  it("ends the run even if the driver throws", async () => {
    const { run, driver } = await started({ onError: () => {} });
    driver.tell = () => {
      throw new Error("gone");
    };
    run.abort("user");
    expect(run.outcome).toBe("cancelled");
    expect((await run.result).abortReason).toBe("user");
  });

  it.each([
    ["a string", "user left", "user left"],
    ["an error", new Error("too slow"), "too slow"],
    ["nothing", undefined, "This operation was aborted"],
  ])("follows a signal whose reason is %s", async (_, reason, expected) => {
    const controller = new AbortController();
    const { run } = await started({ signal: controller.signal });
    controller.abort(reason);
    expect(run.outcome).toBe("cancelled");
    expect((await run.result).abortReason).toBe(expected);
  });

  it("follows a signal that is aborted already, without starting the engine", async () => {
    const seen: string[] = [];
    const agentRun: { run?: Run } = {};
    const { engine, run } = begin({
      signal: AbortSignal.abort("gone"),
      onEvent: ({ type }) => seen.push(type, agentRun.run === undefined ? "too early" : "in time"),
    });
    agentRun.run = run;
    expect((await run.result).outcome).toBe("cancelled");
    expect(seen).toEqual(["abort", "in time", "finish", "in time"]);
    expect(engine.drivers).toEqual([]);
  });

  it("I-10: leaves no listener on the signal after the end", async () => {
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, "removeEventListener");
    const added = vi.spyOn(signal, "addEventListener");
    const { driver, run } = await started({ signal });
    driver.end(completed);
    await run.result;
    expect(removed.mock.calls).toEqual([["abort", added.mock.calls[0]?.[1]]]);
  });
});

describe("iterating a run", () => {
  it("in the same task sees every event", async () => {
    const { run, driver } = await started();
    driver.emit({ type: "run-start", model: "m", tools: [] });
    driver.say("a");
    const seen = types(run);
    driver.say("b");
    driver.end(completed);
    expect(await seen).toEqual(["run-start", "text-delta", "finish"]);
  });

  it("in the same task begins with a snapshot after so much that only a source in the process sends it", async () => {
    const { run, driver } = await started();
    for (let count = 0; count < 100; count++) driver.say("x".repeat(200));
    driver.end(completed);
    expect(await types(run)).toEqual(["snapshot", "finish"]);
    const second = await started();
    for (let count = 0; count < 1001; count++) second.driver.emit({ type: "iteration-start" });
    second.driver.end(completed);
    expect(await types(second.run)).toEqual(["snapshot", "finish"]);
  });

  it("twice, of which one reads on while deltas join, gives each its own text", async () => {
    const { run, driver } = await started();
    const texts = async (events: AsyncIterable<RunEvent>): Promise<string> => {
      let text = "";
      for await (const event of events) if (event.type === "text-delta") text += event.text;
      return text;
    };
    driver.say("a");
    driver.say("b");
    const early = texts(run);
    driver.say("c");
    const late = texts(run);
    await settled();
    driver.say("d");
    driver.say("e");
    driver.end(completed);
    expect(await Promise.all([early, late])).toEqual(["abcde", "abcde"]);
  });

  it("later begins with a snapshot of everything so far", async () => {
    const { run, driver } = await started();
    driver.say("so far");
    await nextTask();
    const events = run.events();
    driver.end(completed);
    expect((await events.next()).value).toEqual({
      type: "snapshot",
      seq: 1,
      agentPath: "root",
      iteration: 1,
      attempt: 1,
      text: "so far",
      blocks: [{ type: "text", block: 0, text: "so far", isOver: false }],
      messages: [{ role: "user", content: [{ type: "text", text: "asked" }] }],
      usage: driver.result().usage,
      iterations: 1,
    });
    expect(await types(events)).toEqual(["finish"]);
  });

  it("after the end gives a snapshot and the finish", async () => {
    const { run, driver } = await started();
    driver.say("all");
    driver.end(completed);
    await nextTask();
    expect(await types(run)).toEqual(["snapshot", "finish"]);
  });

  it("may happen several times at once", async () => {
    const { run, driver } = await started();
    const both = Promise.all([types(run), types(run.events())]);
    driver.say("a");
    driver.end(completed);
    expect(await both).toEqual([
      ["text-delta", "finish"],
      ["text-delta", "finish"],
    ]);
  });

  it("aborts the run on break", async () => {
    const { run, driver } = await started();
    driver.say("a");
    for await (const event of run) if (event.type === "text-delta") break;
    expect(run.outcome).toBe("cancelled");
  });

  it("does not abort a detached run on break", async () => {
    const { run, driver } = await started();
    driver.say("a");
    for await (const event of run.events({ detached: true })) if (event.type === "text-delta") break;
    expect(run.outcome).toBeUndefined();
    driver.end(completed);
    expect((await run.result).outcome).toBe("completed");
  });

  it("by a slow reader neither stalls the run nor holds more than the text", async () => {
    const { run, driver } = await started();
    const events = run.events();
    for (let count = 0; count < 1000; count++) driver.say("x");
    driver.end(completed);
    expect((await run.result).outcome).toBe("completed");
    expect((await events.next()).value).toMatchObject({
      type: "text-delta",
      text: "x".repeat(1000),
      seq: 1000,
    });
  });
});

describe("what crosses the boundary", () => {
  const nothing = { text: false, reasoning: false, toolInput: false, events: false };
  const everything = { text: true, reasoning: true, toolInput: true, events: true };

  it("is nothing when nobody listens, once the first task is over", async () => {
    const { driver } = await started();
    expect(driver.wanted()).toEqual(everything);
    await nextTask();
    expect(driver.wanted()).toEqual(nothing);
  });

  it.each<[string, RunOptions, object]>([
    ["onText", { onText: () => {} }, { ...nothing, text: true }],
    ["onThinking", { onThinking: () => {} }, { ...nothing, reasoning: true }],
    ["onToolCall", { onToolCall: () => {} }, { ...nothing, events: true }],
    ["onEvent", { onEvent: () => {} }, everything],
  ])("is what %s needs", async (_, options, kinds) => {
    const { driver } = await started(options);
    await nextTask();
    expect(driver.wanted()).toEqual(kinds);
  });

  it("grows when an iteration begins and shrinks when a detached one ends", async () => {
    const { run, driver } = await started();
    await nextTask();
    const events = run.events({ detached: true });
    expect(driver.wanted()).toEqual(everything);
    await events.return?.();
    expect(driver.wanted()).toEqual(nothing);
  });
});

describe("answering", () => {
  it("hands the answer to the driver, and refuses what is none", async () => {
    const { run, driver } = await started();
    expect(run.answer(4, { behavior: "allow" })).toBe(true);
    expect(driver.told("answer")).toEqual([[4, { permission: { behavior: "allow" } }]]);
    expect(() => run.answer(4, undefined as never)).toThrow(
      expect.objectContaining({ code: "misuse_invalid_argument", field: "answer" }),
    );
    driver.end(completed);
    expect(run.answer(4, { behavior: "allow" })).toBe(false);
  });
});

describe("steering", () => {
  it("hands steers and follow-ups on, each with an id of its own", async () => {
    const { run, driver } = await started();
    const steer = run.steer("only tomorrow");
    const followUp = run.followUp([{ type: "text", text: "and Sunday?" }]);
    expect(driver.told("steer")).toEqual([[steer.id, [{ type: "text", text: "only tomorrow" }]]]);
    expect(driver.told("followUp")).toEqual([[followUp.id, [{ type: "text", text: "and Sunday?" }]]]);
    expect(steer.id).not.toBe(followUp.id);
    expect(steer.withdraw()).toBe(true);
    expect(driver.told("withdraw")).toEqual([[steer.id]]);
  });

  it("refuses empty ones, and any after the end", async () => {
    const { run, driver } = await started();
    expect(() => run.steer("")).toThrow(expect.objectContaining({ code: "misuse_empty_prompt" }));
    const { withdraw } = run.steer("later");
    driver.end(completed);
    expect(() => run.followUp("more")).toThrow(expect.objectContaining({ code: "misuse_run_ended" }));
    expect(withdraw()).toBe(false);
  });
});
