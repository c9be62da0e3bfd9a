import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  gemini,
  openai,
  openaiChat,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { memoryStore } from "../../../src/typescript/extras/stores/index.js";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { FakeEngine } from "../support/fake-driver.js";
import type { Fetch } from "../../../src/typescript/core/api/index.js";

const act = tool({ description: "Acts", inputSchema: { type: "object" }, execute: () => "done" });

/** A fetch that notes which key it was given. */
function noting(keys: string[], fetch: Fetch): Fetch {
  return (url, init) => {
    const headers = new Headers(init.headers);
    keys.push(headers.get("x-api-key") ?? headers.get("authorization") ?? "none");
    return fetch(url, init);
  };
}

describe("run.setModel", () => {
  it("asks the other model next, with its own key and fetch", async () => {
    const keys: string[] = [];
    const one = noting(keys, scripted([{ toolCalls: [{ name: "act", input: {} }] }]));
    const two = noting(keys, scripted([{ text: "Two." }]));
    const agent = createAgent({ model: anthropic("one", { apiKey: "key-1", fetch: one }), tools: { act } });
    const run = agent.run("Go", {
      onToolCall: () => run.setModel(openaiChat("two", { apiKey: "key-2", fetch: two })),
    });
    const { text, outcome } = await run.result;
    expect({ text, outcome, keys }).toEqual({
      text: "Two.",
      outcome: "completed",
      keys: ["key-1", "Bearer key-2"],
    });
  });

  it("goes on without thinking where another model has begun the turn", async () => {
    const fetch = scripted([
      { thinking: { text: "Let me act." }, toolCalls: [{ name: "act", input: {} }] },
      { toolCalls: [{ name: "act", input: {} }] },
      { text: "Done." },
      { text: "Again." },
    ]);
    const thinking = { budgetTokens: 1024 };
    const two = anthropic("two", { fetch, thinking });
    const agent = createAgent({ model: anthropic("one", { fetch, thinking }), tools: { act } });
    const run = agent.run("Go", { onToolCall: () => run.setModel(two) });
    const { messages } = await run.result;
    await createAgent({ model: two, tools: { act } }).run("Once more", { messages }).result;
    const asked = fetch.requests.map(({ body }) => `${body.model} ${body.thinking?.type ?? "none"}`);
    expect(asked).toEqual(["one enabled", "two none", "two none", "two enabled"]);
  });

  it("asks the model with its own effort in the next process", async () => {
    const store = memoryStore();
    const fetch = scripted([{ toolCalls: [{ name: "act", input: {} }] }, { text: "Done." }]);
    const model = (effort: "low" | "high") => anthropic("claude-opus-5-5", { fetch, effort });
    const agent = (execute: () => unknown) =>
      createAgent({
        model: model("low"),
        store,
        durable: { reconcile: () => ({ outcome: "run" }) },
        tools: { act: tool({ description: "Acts", inputSchema: { type: "object" }, execute }) },
      });
    await new Promise<void>((begun) => {
      const begin = () => (begun(), new Promise(() => {}));
      const run = agent(begin).run("Go", { id: "r", onToolCall: () => run.setModel(model("high")) });
    });
    const run = agent(() => "done").resume("r", { takeOver: true });
    expect(await run.result).toMatchObject({ text: "Done." });
    expect(fetch.requests.map(({ body }) => body.output_config)).toEqual([
      { effort: "low" },
      { effort: "high" },
    ]);
  });

  it("works before the engine is loaded, and only for this run", async () => {
    const keys: string[] = [];
    const fetch = (text: string): Fetch => noting(keys, scripted([{ text }, { text }]));
    const agent = createAgent({ model: anthropic("one", { apiKey: "key-1", fetch: fetch("One.") }) });
    const run = agent.run("Go");
    run.setModel(anthropic("two", { apiKey: "key-2", fetch: fetch("Two.") }));
    expect((await run.result).text).toBe("Two.");
    expect((await agent.run("Go").result).text).toBe("One.");
    expect(keys).toEqual(["key-2", "key-1"]);
  });

  it("before the engine is loaded only the last counts", async () => {
    const engine = new FakeEngine({ isSlow: true });
    const run = agentOn(engine.load, { model: anthropic("one", { apiKey: "k" }) }).run("Go");
    run.setModel(gemini("two", { apiKey: "k" }));
    run.setModel(openaiChat("three", { apiKey: "k" }));
    engine.open();
    const driver = await engine.driver();
    expect(driver.told("setModel")).toMatchObject([[{ model: "three" }]]);
    driver.end({ outcome: "completed" });
    expect((await run.result).outcome).toBe("completed");
  });

  it("refuses at once what no model is, or one that the engine cannot ask", async () => {
    const agent = createAgent({
      model: anthropic("one", {
        apiKey: "k",
        fetch: scripted([{ toolCalls: [{ name: "act", input: {} }] }, { text: "End." }]),
      }),
      tools: { act },
    });
    const errors: unknown[] = [];
    const run = agent.run("Go", {
      onToolCall: () => {
        for (const model of ["one", openai("m", { apiKey: "k", promptCaching: { ttl: "9h" } })]) {
          try {
            run.setModel(model as never);
          } catch (error) {
            errors.push(error);
          }
        }
      },
    });
    expect((await run.result).text).toBe("End.");
    expect(errors).toMatchObject([
      { code: "config_wrong_type", field: "model" },
      { code: "config_invalid_value", field: "model", message: expect.stringContaining("promptCaching.ttl") },
    ]);
  });
});
