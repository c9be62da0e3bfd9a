import { describe, expect, it } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, RunEvent } from "../../../src/typescript/core/api/index.js";

const look = tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" });

function setUp(options: Partial<AgentOptions>) {
  const fetch = scripted([
    { toolCalls: [{ name: "look", input: {} }] },
    { text: "One." },
    { text: "Two." },
    { text: "Three." },
    { text: "Four." },
  ]);
  const model = anthropic("claude-test", { apiKey: "sk-test", fetch });
  return { fetch, agent: createAgent({ model, tools: { look }, ...options }) };
}

/** The texts of the user's messages beyond results, per request. */
function said(requests: readonly { body: any }[]): string[][] {
  return requests.map(({ body }) =>
    body.messages
      .filter(({ role }: any) => role === "user")
      .flatMap(({ content }: any) => content.filter((block: any) => block.type === "text"))
      .map(({ text }: any) => text),
  );
}

describe("a steer", () => {
  it.each<[AgentOptions["steeringMode"], string[][], number[][]]>([
    [undefined, [["Go"], ["Go", "A", "C"]], [[1, 3]]],
    ["one", [["Go"], ["Go", "A"], ["Go", "A", "C"]], [[1], [3]]],
  ])("P-20: waits for the next request and can be taken back, mode %s", async (steeringMode, texts, ids) => {
    const { agent, fetch } = setUp({ steeringMode });
    const delivered: number[][] = [];
    const run = agent.run("Go", {
      onToolCall: () => {
        run.steer("A");
        expect(run.steer("B").withdraw()).toBe(true);
        run.steer("C");
      },
      onEvent: (event: RunEvent) => {
        if (event.type === "steer-delivered") delivered.push(event.ids);
      },
    });
    expect(await run.result).toMatchObject({ outcome: "completed", undelivered: [] });
    expect(said(fetch.requests)).toEqual(texts);
    expect(delivered).toEqual(ids);
  });
});

describe("a follow-up", () => {
  it.each<[AgentOptions["followUpMode"], number]>([
    [undefined, 4],
    ["all", 3],
  ])("waits until the model has finished, mode %s", async (followUpMode, requests) => {
    const { agent, fetch } = setUp({ followUpMode });
    const run = agent.run("Go");
    run.followUp("A");
    run.followUp("B");
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(said(fetch.requests).at(-1)).toEqual(["Go", "A", "B"]);
    expect(fetch.requests).toHaveLength(requests);
  });
});

describe("the modes", () => {
  it.each(["steeringMode", "followUpMode"])("%s is one of two words", (field) => {
    expect(() => setUp({ [field]: "first" })).toThrow(expect.objectContaining({ field }));
  });
});
