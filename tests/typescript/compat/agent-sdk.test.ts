import { describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import {
  agentSdkCanUseTool,
  agentSdkHooks,
  type AgentSdkCanUseTool,
  type AgentSdkHook,
  type AgentSdkHookOutput,
} from "../../../src/typescript/compat/presets/index.js";
import type { AgentOptions, CanUseTool, Fetch, RunEvent } from "../../../src/typescript/core/api/index.js";
import { bodyText } from "../support/bodies.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

async function go(options: Partial<AgentOptions>, calls = 1) {
  const execute = vi.fn((): unknown => "done");
  const requests: string[] = [];
  const answers = scripted([
    ...Array.from({ length: calls }, () => ({ toolCalls: [{ name: "act", input: { n: 1 } }] })),
    { text: "End." },
  ]);
  const fetch: Fetch = (url, init) => {
    requests.push(bodyText(init));
    return answers(url, init);
  };
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    tools: { act: tool({ description: "Acts", inputSchema: schema, execute }) },
    ...options,
  });
  const events: RunEvent[] = [];
  const result = await agent.run("Go", { onEvent: (event) => void events.push(event) }).result;
  const warnings = events.flatMap((event) =>
    event.type === "warning" ? [`${event.code}: ${event.message}`] : [],
  );
  return { execute, requests, warnings, result, events };
}

const sdk = (fields: object): AgentSdkHookOutput => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", ...fields },
});

describe("hooks of the Claude Agent SDK", () => {
  it.each<[string, AgentSdkHookOutput, string | undefined]>([
    ["permissionDecision deny", sdk({ permissionDecision: "deny", permissionDecisionReason: "No." }), "No."],
    ["decision block", { decision: "block", reason: "No." }, "No."],
    ["decision approve", { decision: "approve" }, undefined],
    ["permissionDecision allow", sdk({ permissionDecision: "allow" }), undefined],
    [
      "block around allow",
      {
        decision: "block",
        reason: "No.",
        ...sdk({ permissionDecision: "allow", permissionDecisionReason: "Yes." }),
      },
      "No.",
    ],
    [
      "deny within approve",
      {
        decision: "approve",
        reason: "Yes.",
        ...sdk({ permissionDecision: "deny", permissionDecisionReason: "No." }),
      },
      "No.",
    ],
    ["async", { async: true, asyncTimeout: 9 }, undefined],
    ["what has no meaning here", { suppressOutput: true, terminalSequence: "\u0007" }, undefined],
  ])("S001-48: %s means what it means there", async (_, output, reason) => {
    const { execute, requests, warnings } = await go({
      hooks: agentSdkHooks({ PreToolUse: [{ hooks: [() => output] }] }),
    });
    expect(warnings).toEqual([]);
    expect(execute).toHaveBeenCalledTimes(reason === undefined ? 1 : 0);
    if (reason !== undefined) expect(requests[1]).toContain(reason);
    expect(requests[1]).not.toContain("Yes.");
  });

  it("updatedInput, updatedToolOutput, additionalContext, continue and systemMessage are understood", async () => {
    const { execute, requests, result, warnings } = await go(
      {
        hooks: agentSdkHooks({
          PreToolUse: [
            {
              hooks: [
                () => ({
                  systemMessage: "For you.",
                  ...sdk({ updatedInput: { n: 2 }, additionalContext: "Note." }),
                }),
              ],
            },
          ],
          PostToolUse: [{ hooks: [() => sdk({ updatedToolOutput: "other" })] }],
          Stop: [
            {
              hooks: [
                ({ stop_hook_active }) => (stop_hook_active ? {} : { decision: "block", reason: "More." }),
              ],
            },
          ],
          PostToolBatch: [
            {
              hooks: [
                ({ iteration }) => (iteration === 2 ? { continue: false, stopReason: "Enough." } : undefined),
              ],
            },
          ],
        }),
      },
      2,
    );
    expect(execute).toHaveBeenCalledWith({ n: 2 }, expect.anything());
    expect(result.toolCalls[0]?.output).toBe("other");
    expect(requests[1]).toContain("Note.");
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "hook", abortReason: "Enough." });
    expect(warnings).toEqual(["hook_message: For you.", "hook_message: For you."]);
    expect(requests[1]).not.toContain("For you.");
  });

  it.each([
    [{ behavior: "deny", message: "Not this.", interrupt: true }, "cancelled"],
    [{ behavior: "allow", updatedInput: { n: 5 } }, "completed"],
  ])("PermissionRequest answers with a decision %j", async (decision, outcome) => {
    const canUseTool = vi.fn<CanUseTool>(() => null);
    const { execute, result } = await go({
      permissions: { canUseTool },
      hooks: agentSdkHooks({
        PermissionRequest: [
          { hooks: [() => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } })] },
        ],
      }),
    });
    expect(canUseTool).not.toHaveBeenCalled();
    expect(result.outcome).toBe(outcome);
    if (outcome === "completed") expect(execute).toHaveBeenCalledWith({ n: 5 }, expect.anything());
    else expect(result.abortReason).toBe("Not this.");
  });

  it("a hook is called with its three arguments and the names of the SDK", async () => {
    const seen: unknown[] = [];
    const hook: AgentSdkHook = async (input, toolUseId, { signal }) => {
      const { tool_use_id, ...told } = input;
      seen.push(toolUseId === tool_use_id, signal instanceof AbortSignal, told);
      return sdk({ permissionDecision: told.tool_input.n === 1 ? "deny" : "allow" });
    };
    const { execute, warnings } = await go({
      permissions: { mode: "dontAsk" },
      hooks: agentSdkHooks({
        PreToolUse: [{ hooks: [hook] }],
        PostToolBatch: [{ hooks: [(input) => void seen.push(input.tool_calls[0].tool_input)] }],
      }),
    });
    expect(seen).toEqual([
      true,
      true,
      {
        hook_event_name: "PreToolUse",
        iteration: 1,
        permission_mode: "dontAsk",
        tool_name: "act",
        tool_input: { n: 1 },
      },
      { n: 1 },
    ]);
    expect(execute).not.toHaveBeenCalled();
    expect(warnings.filter((warning) => warning.startsWith("hook_failed"))).toEqual([]);
  });

  it("a group's timeout is in seconds", async () => {
    const late = () => new Promise<void>(() => {});
    const { warnings } = await go({
      hooks: agentSdkHooks({ PreToolUse: [{ timeout: 0.01, hooks: [late] }] }),
    });
    expect(warnings).toEqual([expect.stringMatching(/^hook_failed/)]);
  });

  it("createAgent itself takes looplet's words only", async () => {
    const { execute, warnings } = await go({
      hooks: {
        PreToolUse: [
          { hooks: [() => sdk({ permissionDecision: "deny" }) as never] },
          { hooks: [() => ({ decision: "approve" }) as never] },
        ],
      },
    });
    expect(execute).toHaveBeenCalledOnce();
    expect(warnings).toEqual([
      expect.stringContaining("hookSpecificOutput"),
      expect.stringContaining("decision"),
    ]);
  });

  it("a typing error in its shape is a failure that names the field", async () => {
    const { warnings } = await go({
      hooks: agentSdkHooks({
        PreToolUse: [
          { hooks: [() => sdk({ updatedInputs: {} })] },
          { hooks: [() => ({ hookSpecificOutput: "deny" as never })] },
        ],
      }),
    });
    expect(warnings).toEqual([
      expect.stringContaining("did you mean updatedInput?"),
      expect.stringContaining("hookSpecificOutput"),
    ]);
  });
});

describe("what the host is told of a call", () => {
  it("S001-22: canUseTool gets the tool's description and the update that ends the asking", async () => {
    const canUseTool = vi.fn<AgentSdkCanUseTool>((_name, _input, { suggestions, toolUseID }) => ({
      behavior: "allow",
      updatedPermissions: suggestions!,
      toolUseID,
      decisionClassification: "user_permanent",
    }));
    const { execute, events, warnings } = await go(
      { permissions: { canUseTool: agentSdkCanUseTool(canUseTool) } },
      2,
    );
    expect(canUseTool).toHaveBeenCalledOnce();
    const suggestions = [
      { type: "addRules", behavior: "allow", rules: [{ toolName: "act" }], destination: "session" },
    ];
    expect(canUseTool.mock.calls[0]?.[2]).toEqual({
      toolCallId: expect.any(String),
      toolUseID: expect.any(String),
      reason: "no rule allows it",
      questionId: expect.any(Number),
      requestId: expect.any(String),
      agentPath: "root",
      description: "Acts",
      suggestions,
      signal: expect.any(AbortSignal),
    });
    const question = events.find((event) => event.type === "question");
    expect(question).toMatchObject({ data: { suggestions } });
    expect(execute).toHaveBeenCalledTimes(2);
    expect(warnings).toEqual([]);
  });

  it("an update for settings that are not stored is a warning, and the ask rule is named", async () => {
    const canUseTool = vi.fn<CanUseTool>(() => ({
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "plan", destination: "userSettings" }],
    }));
    const { warnings } = await go({ permissions: { ask: ["act"], canUseTool } });
    expect(canUseTool.mock.calls[0]?.[2]).toMatchObject({ matchedAskRule: { toolName: "act" } });
    expect(warnings).toEqual([expect.stringMatching(/^permission_update: .*userSettings/)]);
  });

  it("the classifier is told what a PostToolUse hook has for it", async () => {
    const classifyTool = vi.fn<CanUseTool>(() => ({ behavior: "allow" }));
    const hook = () => ({ classifierContext: "From the open web." });
    await go({ permissions: { mode: "auto", classifyTool }, hooks: { PostToolUse: [{ hooks: [hook] }] } }, 2);
    expect(classifyTool.mock.calls.map(([, , { classifierContext }]) => classifierContext)).toEqual([
      [],
      ["From the open web."],
    ]);
  });
});

it("a hook for tools hears of those that only the host knows, if its matcher fits", async () => {
  const fits = vi.fn();
  const other = vi.fn();
  const exact = vi.fn();
  await go({
    tools: {},
    toolCalls: { onUnknownTool: () => "done" },
    hooks: {
      PreToolUse: [
        { matcher: "^a", hooks: [fits] },
        { matcher: "^b", hooks: [other] },
        { matcher: "act", hooks: [exact] },
      ],
    },
  });
  expect([fits, other, exact].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
});
