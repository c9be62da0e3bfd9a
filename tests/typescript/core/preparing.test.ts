import { describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, openaiChat, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, Fetch, RunEvent } from "../../../src/typescript/core/api/index.js";
import { bodyJson } from "../support/bodies.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;
const twice = [
  { toolCalls: [{ name: "act", input: { n: 1 } }] },
  { toolCalls: [{ name: "act", input: { n: 2 } }] },
  { text: "End." },
];

function setUp(options: Partial<AgentOptions>) {
  const requests: { model: string; tools: { name: string }[]; system: unknown; messages: unknown[] }[] = [];
  const answers = scripted(twice);
  const fetch: Fetch = (url, init) => {
    requests.push(bodyJson(init));
    return answers(url, init);
  };
  const execute = vi.fn(() => "done");
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    tools: {
      act: tool({ description: "Acts", inputSchema: schema, execute }),
      look: tool({ description: "Looks", inputSchema: schema, execute }),
    },
    ...options,
  });
  return { agent, requests, execute, fetch };
}

describe("prepareIteration", () => {
  it("changes system, tools and messages for one iteration", async () => {
    const prepareIteration = vi.fn(({ iteration }: { iteration: number }) =>
      iteration === 2 ? { system: "Second.", tools: ["act"], toolChoice: "required" as const } : undefined,
    );
    const { agent, requests } = setUp({ prepareIteration });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(requests.map(({ tools }) => tools.length)).toEqual([2, 1, 2]);
    expect(JSON.stringify(requests.map(({ system }) => system))).toContain("Second.");
    expect(prepareIteration.mock.calls[1]?.[0]).toMatchObject({
      iteration: 2,
      agentPath: "root",
      model: "claude-sonnet-4-6",
      messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }],
    });
  });

  it("asks another model, with its own key", async () => {
    const keys: (string | null)[] = [];
    const answers = scripted([{ text: "From the other." }]);
    const other = openaiChat("gpt-5", {
      apiKey: "sk-other",
      fetch: (url, init) => {
        keys.push(new Headers(init?.headers as HeadersInit).get("authorization"));
        return answers(url, init);
      },
    });
    const { agent, requests } = setUp({
      prepareIteration: ({ iteration }) => (iteration === 1 ? {} : { model: other }),
    });
    expect((await agent.run("Go").result).text).toBe("From the other.");
    expect([requests.length, keys]).toEqual([1, ["Bearer sk-other"]]);
  });

  it.each<[string, AgentOptions["prepareIteration"], string]>([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
      "broken",
    ],
    ["names a tool that there is not", () => ({ tools: ["nope"] }), "nope"],
    ["writes an option wrong", () => ({ sytem: "x" }) as never, "did you mean system?"],
    ["gives no model", () => ({ model: "gpt-5" as never }), "prepareIteration.model"],
  ])("one that %s leaves the iteration as it is, with a warning", async (_, prepareIteration, text) => {
    const { agent, requests } = setUp({ prepareIteration });
    const events: RunEvent[] = [];
    for await (const event of agent.run("Go")) events.push(event);
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(events.filter(({ type }) => type === "warning"))).toContain(text);
  });
});

describe("onIterationEnd", () => {
  it("is waited for before the next iteration, and a throw is a warning", async () => {
    const log: string[] = [];
    const { agent, requests } = setUp({
      onIterationEnd: async ({ iteration, toolCalls, text, usage }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        log.push(
          `${iteration} ${toolCalls.map(({ input }) => (input as { n: number }).n)} ${text} ${requests.length}`,
        );
        expect(usage!.inputTokens).toBeGreaterThan(0);
        throw new Error("broken");
      },
    });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(log).toEqual(["1 1  1", "2 2  2", "3  End. 3"]);
  });
});

describe("onLimit", () => {
  it("raises a limit, and the run goes on", async () => {
    const onLimit = vi.fn(({ limit }: { limit: string }) =>
      limit === "iterations" ? { maxIterations: 10 } : { maxUsd: 5, maxToolCalls: 10 },
    );
    const { agent } = setUp({ limits: { maxIterations: 1, maxToolCalls: 1, onLimit } });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(onLimit.mock.calls.map(([{ limit }]) => limit)).toEqual(["iterations", "tool_calls"]);
    expect(onLimit.mock.calls[1]?.[0]).toMatchObject({ iteration: 2, toolCalls: 2, agentPath: "root" });
  });

  it.each([[() => null], [() => ({ maxIterations: 0 })], [() => Promise.reject(new Error("broken"))]])(
    "stops the run when it does not raise it (%#)",
    async (onLimit) => {
      const { agent, execute } = setUp({ limits: { maxIterations: 1, onLimit: onLimit as never } });
      expect(await agent.run("Go").result).toMatchObject({ outcome: "stopped", stoppedBy: "iterations" });
      expect(execute).toHaveBeenCalledOnce();
    },
  );

  it("says that money can only be added", async () => {
    const { agent } = setUp({
      limits: { maxIterations: 1, onLimit: () => ({ maxIterations: 9, maxUsd: -1 }) },
    });
    const warnings: string[] = [];
    const onEvent = (event: { type: string; message?: string }) =>
      event.type === "warning" && warnings.push(event.message ?? "");
    expect((await agent.run("Go", { onEvent: onEvent as never }).result).stoppedBy).toBe("iterations");
    expect(warnings.join()).toContain("onLimit.maxUsd: needs to be more, got -1");
  });

  it("S001-45: a stopped run goes on from its messages with a higher limit", async () => {
    const { agent, fetch } = setUp({ limits: { maxIterations: 1 } });
    const { messages, stoppedBy } = await agent.run("Go").result;
    expect(stoppedBy).toBe("iterations");
    const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch });
    const act = tool({ description: "Acts", inputSchema: schema, execute: () => "done" });
    const more = createAgent({ model, tools: { act }, limits: { maxIterations: 5 } });
    expect((await more.run("Go on", { messages }).result).text).toBe("End.");
  });
});

it.each<[object, string]>([
  [{ prepareIteration: {} }, "prepareIteration"],
  [{ onIterationEnd: "x" }, "onIterationEnd"],
  [{ onLimit: "raise" }, "onLimit"],
])("%j is refused and names its field", (options, field) => {
  expect(() => setUp(options)).toThrow(expect.objectContaining({ field }));
});
