import { afterEach, describe, expect, it } from "vitest";
import { scripted } from "looplet/practice";
import { clearTools, loadPrompty, turn, type TurnEvents } from "looplet/prompty";
import { agentOf, play, said, type Played } from "./kit.js";
import "looplet";

afterEach(clearTools);

const none = { durationMs: 0 };
const named = (events: Played["further"]): string[] => events.map(([type]) => type);
const of = (events: Played["further"], ...types: string[]) =>
  events.filter(([type]) => types.includes(type)).map(([, data]) => data);

describe("further events of a turn", () => {
  it("P-15: a round of calls is told from its model call to the result of each tool", async () => {
    const agent = await agentOf({ name: "sums" });
    const { further } = await play([said(null, ["add", '{"a":1,"b":2}']), said("Three.")], {
      agent,
      tools: { add: ({ a, b }: any) => a + b },
    });
    const call = { toolCallId: "call_0", toolName: "add" };
    const asked = { provider: "listed", modelId: "m", attempt: 1 };
    expect(further).toEqual([
      ["turn_start", { agent: "sums", inputs: expect.anything(), maxIterations: 10 }],
      ["llm_start", { ...asked, messageCount: 1 }],
      ["llm_complete", none],
      ["tool_execution_start", { ...call, arguments: { a: 1, b: 2 } }],
      ["tool_execution_complete", { ...call, success: true, ...none }],
      ["tool_call_complete", { id: "call_0", name: "add", success: true, result: "3", ...none }],
      ["llm_start", { ...asked, messageCount: 3 }],
      ["llm_complete", none],
      ["turn_end", { iterations: 2, status: "success", response: "Three.", ...none }],
    ]);
  });

  it("P-15: a retry says why and how long it waits, and a turn that fails ends with its status", async () => {
    const fails = () => {
      throw new Error("overloaded");
    };
    const { further } = await play([fails, fails, fails]);
    const retry = { operation: "llm", maxAttempts: 3, reason: "Error: overloaded" };
    expect(of(further, "retry")).toEqual([
      { ...retry, attempt: 2, delayMs: 2000 },
      { ...retry, attempt: 3, delayMs: 4000 },
    ]);
    expect(of(further, "llm_start").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(of(further, "llm_complete")).toEqual([]);
    expect(of(further, "turn_end")).toEqual([{ iterations: 1, status: "error", durationMs: 6000 }]);
  });

  it("P-15: an aborted turn ends as cancelled", async () => {
    const abort = new AbortController();
    const { further } = await play([() => (abort.abort(), said(null, ["add", "{}"]))], {
      tools: { add: () => 1 },
      options: { signal: abort.signal },
    });
    expect(further.at(-1)).toEqual(["turn_end", { iterations: 1, status: "cancelled", ...none }]);
  });

  it("P-15: a call without a result of its tool names the kind of its error", async () => {
    const calls: [string, string][] = [
      ["add", "{"],
      ["add", '{"secret":1}'],
      ["add", "{}"],
    ];
    const { further } = await play([said(null, ...calls), said("x")], {
      tools: {
        add: () => {
          throw new Error("closed");
        },
      },
      options: {
        guardrails: {
          tool: (_, args) => ("secret" in args ? { allowed: false, reason: "no" } : { allowed: true }),
        },
      },
    });
    expect(
      of(further, "tool_call_complete").map(({ id, success, errorKind }) => [id, success, errorKind]),
    ).toEqual([
      ["call_0", false, "invalid_arguments"],
      ["call_1", false, "denied"],
      ["call_2", false, "exception"],
    ]);
    const asked = (id: string) => ({ requestId: id, permission: "add", toolCallId: id });
    expect(of(further, "permission_requested", "permission_completed")).toEqual([
      asked("call_1"),
      { ...asked("call_1"), approved: false, reason: "no" },
      asked("call_2"),
      { ...asked("call_2"), approved: true },
    ]);
    expect(of(further, "tool_execution_complete").map(({ success }) => success)).toEqual([false]);
  });

  it("P-15: guardrails of a conversation and a compaction are hooks", async () => {
    const { further } = await play([said("x")], {
      inputs: {
        thread: ["user", "assistant", "user", "assistant"].map((role) => ({
          role,
          content: role.repeat(99),
        })),
      },
      options: {
        contextBudget: 600,
        compaction: () => Promise.reject(new Error("down")),
        guardrails: { input: () => ({ allowed: true }), output: () => ({ allowed: false, reason: "rude" }) },
      },
    });
    expect(of(further, "hook_end")).toEqual([
      { hookType: "compaction", success: false, ...none },
      { hookType: "input_guardrail", success: true, ...none },
      { hookType: "output_guardrail", success: true, ...none },
    ]);
    expect(named(further).filter((type) => type === "hook_start")).toHaveLength(3);
  });

  it("P-15: the built-in executor tells the id and the tokens of an answer, streamed or whole", async () => {
    const agent = await loadPrompty("---\nmodel: { id: m, provider: anthropic }\n---\nuser:\nHi");
    for (const stream of [false, true]) {
      const told: TurnEvents["llm_complete"][] = [];
      const result = await turn(
        agent,
        {},
        {},
        {
          stream,
          host: { fetch: scripted([{ text: "Hello." }]), apiKey: "k" },
          onEvent: (type, data) => {
            if (type === "llm_complete") told.push(data as TurnEvents["llm_complete"]);
          },
        },
      );
      if (stream) for await (const _ of result as AsyncIterable<string>);
      expect(told).toEqual([
        {
          requestId: expect.any(String),
          usage: expect.objectContaining({ outputTokens: 2 }),
          durationMs: expect.any(Number),
        },
      ]);
    }
  });
});
