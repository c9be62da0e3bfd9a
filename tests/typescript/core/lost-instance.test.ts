// Alone in its file: it replaces the instance.
import { describe, expect, it, vi } from "vitest";
import { arm, lose, losses, verdict } from "../../package/trap.mjs";
import * as looplet from "../../../src/typescript/core/entry/node.js";
import type { RunEvent } from "../../../src/typescript/core/api/index.js";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { FakeEngine, nextTask } from "../support/fake-driver.js";

const { createAgent, custom } = looplet;

describe("a run whose WebAssembly traps", () => {
  it("ends with its transcript and its last event, and leaves nothing behind for later runs", async () => {
    const rejections: unknown[] = [];
    const onRejection = (error: unknown): void => void rejections.push(error);
    process.on("unhandledRejection", onRejection);
    let release!: (text: string) => void;
    let signal: AbortSignal | undefined;
    const answers: (string | Promise<string>)[] = [
      "one",
      new Promise((resolve) => (release = resolve)),
      "three",
    ];
    const model = custom((request) => {
      signal = request.signal;
      return answers.shift()!;
    });
    const chat = createAgent({ model }).chat();
    await chat.run("first").result;
    const events: RunEvent[] = [];
    const run = chat.run("second", { onEvent: (event) => events.push(event) });
    await nextTask();

    arm("runhandle_outcome");
    expect(() => run.steer("x")).toThrow(expect.objectContaining({ code: "misuse_run_ended" }));

    const result = await run.result;
    expect(result).toMatchObject({ outcome: "failed", error: { code: "bug", retryable: false } });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "finish"]);
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(chat.messages).toEqual(result.messages);
    expect(signal?.aborted).toBe(true);
    release("late");
    await nextTask();
    for (const prompt of ["third", "fourth"]) {
      answers.push("more");
      expect(await chat.run(prompt).result).toMatchObject({ outcome: "completed" });
      await nextTask();
    }
    process.off("unhandledRejection", onRejection);
    expect(rejections).toEqual([]);
  });
});

// Each in a realm of its own: only the first instance can be made to trap.
it.each(Object.keys(losses))(
  "%s ends every run of the instance at once, and the next gets a fresh one",
  async (loss) => {
    vi.resetModules();
    const fresh = await import("../../../src/typescript/core/entry/node.js");
    expect(verdict(await lose(fresh, loss))).toBe("lost and found");
  },
);

it("a loss inside a listener is not undone by the frames below it", async () => {
  vi.resetModules();
  const fresh = await import("../../../src/typescript/core/entry/node.js");
  const events: string[] = [];
  const agent = fresh.createAgent({ model: fresh.custom(() => "heard") });
  const run = agent.run("go", {
    onEvent: ({ type }) => {
      events.push(type);
      if (type !== "attempt-start") return;
      arm("runhandle_outcome", "panic");
      expect(() => run.steer("x")).toThrow("the run has ended");
    },
  });
  expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "bug" } });
  await nextTask();
  expect(events.slice(-3)).toEqual(["attempt-start", "error", "finish"]);
  expect(await agent.run("again").result).toMatchObject({ outcome: "completed", text: "heard" });
});

it("a run whose engine has nothing left to say ends with its history, its prompt and its last events", async () => {
  const engine = new FakeEngine();
  const seen: string[] = [];
  const history = [{ role: "user" as const, content: [{ type: "text" as const, text: "before" }] }];
  const agent = agentOn(engine.load, { model: custom(() => "") });
  const run = agent.run("hello", { messages: history, onEvent: ({ type }) => seen.push(type) });
  const driver = await engine.driver();
  const error = { code: "bug" as const, message: "broken", retryable: false };
  driver.outcome = () => ({ outcome: "failed", error });
  driver.result = () => undefined as never;
  driver.host.done();
  const result = await run.result;
  expect(result).toMatchObject({ outcome: "failed", error });
  expect(result.messages).toEqual([...history, { role: "user", content: [{ type: "text", text: "hello" }] }]);
  expect(seen).toEqual(["error", "finish"]);
  expect(driver.isFreed).toBe(true);
});
