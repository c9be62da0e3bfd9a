// The tools of an agent, run with the inputs of a recorded run.
import { expect, it } from "vitest";
import { createAgent, custom, subagent, tool, type Agent, type AgentOptions } from "looplet";
import { recorder } from "looplet/replay";
import { expectReplay } from "looplet/testing";

/** An agent that adds with a tool of its own, and looks with one of its subagent. */
function process(add: (n: number) => unknown, look: () => unknown, more: Partial<AgentOptions> = {}): Agent {
  const calls = (name: string, input: object) => [{ type: "tool_call" as const, id: name, name, input }];
  return createAgent({
    model: custom(({ messages }) =>
      messages.length === 1
        ? calls("add", { n: 1 })
        : messages.length === 3
          ? calls("helper", { prompt: "Look." })
          : "Done.",
    ),
    tools: {
      add: tool({
        description: "Adds",
        inputSchema: { type: "object", properties: { n: { type: "number" } } },
        execute: async ({ n }: { n?: number }, { toolCallId, progress }) => {
          progress("half");
          if (toolCallId !== "add") throw new Error("another call");
          return add(n ?? 0);
        },
      }),
      helper: subagent({
        description: "Looks",
        model: custom(({ messages }) => (messages.length === 1 ? calls("look", {}) : "Seen.")),
        tools: { look: tool({ description: "Looks", inputSchema: { type: "object" }, execute: look }) },
      }),
    },
    ...more,
  });
}

const recorded = async (): Promise<string> => {
  const run = process(
    (n) => ({ sum: n + 1 }),
    () => {
      throw new Error("too dark");
    },
    { record: recorder() },
  ).run("Add.");
  expect((await run.result).outcome).toBe("completed");
  return run.export();
};

it("agrees with tools that do what they did, errors and subagents included", async () => {
  const inputs: number[] = [];
  const agent = process(
    (n) => {
      inputs.push(n);
      return { sum: n + 1 };
    },
    () => {
      throw new Error("too dark");
    },
  );
  const file = await recorded();
  await expectReplay(file, { agent });
  expect(inputs).toEqual([]);
  const { requests } = await expectReplay(file, { agent, tools: "run" });
  expect(inputs).toEqual([1]);
  expect(requests.length).toBeGreaterThan(0);
});

it("names the first call whose result is another one", async () => {
  const file = await recorded();
  const dark = () => {
    throw new Error("too dark");
  };
  const wrong = process((n) => ({ sum: n + 2 }), dark);
  await expect(expectReplay(file, { agent: wrong, tools: "run" })).rejects.toThrow(
    /^The result of the call add of add differs\.\n +expected +.*"sum":2.*\n +actual +.*"sum":3/,
  );
  const bright = process(
    (n) => ({ sum: n + 1 }),
    () => "gold",
  );
  await expect(expectReplay(file, { agent: bright, tools: "run" })).rejects.toThrow(/the call look of look/);
});

it("needs an agent, and refuses other words", async () => {
  const file = await recorded();
  await expect(expectReplay(file, { tools: "run" })).rejects.toThrow("agent: is needed");
  await expect(expectReplay(file, { tools: "all" as never })).rejects.toThrow("tools");
  await expect(expectReplay(file, { tool: "run" } as never)).rejects.toThrow("tool: no such option");
});
