import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openaiChat } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, Fetch, RunEvent } from "../../../src/typescript/core/api/index.js";

/** Refuses everything, and notes who asked with which key. */
function down(asked: string[]): Fetch {
  return async (url, init) => {
    const headers = new Headers(init?.headers as HeadersInit);
    asked.push(`${new URL(url).host} ${headers.get("x-api-key") ?? headers.get("authorization")}`);
    return new Response("{}", { status: 503 });
  };
}

const retry = { maxRetries: 0 };

describe("fallbackModels", () => {
  it("go on with the run over their own protocol, with their own key and fetch", async () => {
    const asked: string[] = [];
    const answers = scripted([{ text: "Hello." }]);
    const fallback: Fetch = (url, init) => {
      asked.push(`${new URL(url).host} ${new Headers(init?.headers as HeadersInit).get("authorization")}`);
      return answers(url, init);
    };
    const agent = createAgent({
      model: anthropic("claude-sonnet-4-6", { apiKey: "sk-first", fetch: down(asked) }),
      fallbackModels: [
        anthropic("claude-haiku-4-5", { apiKey: "sk-second", fetch: down(asked) }),
        openaiChat("gpt-5", { apiKey: "sk-third", fetch: fallback }),
      ],
      retry,
    });
    const events: RunEvent[] = [];
    const run = agent.run("Go");
    for await (const event of run) events.push(event);
    const { text, outcome, iterations } = await run.result;
    expect([text, outcome, iterations]).toEqual(["Hello.", "completed", 1]);
    expect(asked).toEqual([
      "api.anthropic.com sk-first",
      "api.anthropic.com sk-second",
      "api.openai.com Bearer sk-third",
    ]);
    const changes = events.filter((event) => event.type === "model-change");
    expect(changes).toMatchObject([
      { model: "claude-haiku-4-5", error: { code: "overloaded", status: 503 } },
      { model: "gpt-5", error: { code: "overloaded" } },
    ]);
  });

  it("are not asked after what they would be refused too", async () => {
    const asked: string[] = [];
    const agent = createAgent({
      model: anthropic("claude-sonnet-4-6", {
        apiKey: "sk-first",
        fetch: async () => new Response("{}", { status: 401 }),
      }),
      fallbackModels: [openaiChat("gpt-5", { apiKey: "sk-second", fetch: down(asked) })],
      retry,
    });
    expect((await agent.run("Go").result).error?.code).toBe("auth");
    expect(asked).toEqual([]);
  });

  it.each<[unknown, string]>([
    ["gpt-5", "fallbackModels"],
    [["gpt-5"], "fallbackModels[0]"],
    [[anthropic("claude-sonnet-4-6")], "fallbackModels[0].apiKey"],
  ])("%j is refused and names its field", (fallbackModels, field) => {
    const options = { model: anthropic("claude-sonnet-4-6", { apiKey: "sk-first" }), fallbackModels };
    expect(() => createAgent(options as AgentOptions)).toThrow(expect.objectContaining({ field }));
  });
});
