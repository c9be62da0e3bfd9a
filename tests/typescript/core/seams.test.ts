import { describe, expect, it } from "vitest";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { anthropic } from "../../../src/typescript/core/models/models.js";
import type { AgentOptions, RunOptions } from "../../../src/typescript/core/api/index.js";
import { FakeEngine } from "../support/fake-driver.js";

const model = anthropic("m", { apiKey: "k" });

function begin(options: Partial<AgentOptions>): FakeEngine {
  const engine = new FakeEngine();
  agentOn(engine.load, { model, ...options }).run("hello");
  return engine;
}

describe("a seam that gives something wrong", () => {
  it.each([[7], [""], [undefined]])("does not start a run with %j as its id", (id) => {
    expect(() => begin({ ids: () => id as never })).toThrow(
      expect.objectContaining({ code: "config_invalid_value", field: "ids" }),
    );
  });

  it.each([[1], [-0.1], [NaN], ["0.5"]])("is told once that %j is no random number", async (drawn) => {
    const { host } = await begin({ ids: () => "a", random: () => drawn as number }).driver();
    expect(() => host.random()).toThrow(
      expect.objectContaining({ code: "config_invalid_value", field: "random" }),
    );
    expect(host.random()).toBeLessThan(1);
  });

  it.each([[NaN], [-1], [Infinity], ["now"], [undefined]])("is told once that %j is no time", async (now) => {
    const clock = { now: () => now as number, setTimer: () => 0, clearTimer: () => {} };
    const { host } = await begin({ clock }).driver();
    expect(() => host.now?.()).toThrow(
      expect.objectContaining({ code: "config_invalid_value", field: "clock.now" }),
    );
    expect(host.now?.()).toBeNaN();
  });
});

describe("an empty prompt", () => {
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
  const start = (options: RunOptions): FakeEngine => {
    const engine = new FakeEngine();
    agentOn(engine.load, { model }).run([], options);
    return engine;
  };

  it("goes on with messages that end with the user's", async () => {
    await expect(start({ messages }).driver()).resolves.toBeDefined();
  });

  it("is refused without such messages", () => {
    const refused = expect.objectContaining({ code: "misuse_empty_prompt" });
    expect(() => start({})).toThrow(refused);
    const answered = [...messages, { role: "assistant" as const, content: messages[0]!.content }];
    expect(() => start({ messages: answered })).toThrow(refused);
  });
});
