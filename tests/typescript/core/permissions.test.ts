import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, CanUseTool, RunEvent } from "../../../src/typescript/core/api/index.js";

const number = { type: "object", properties: { n: { type: "number" } } } as const;

function setUp(options: Partial<AgentOptions> = {}, toolOptions: object = {}) {
  const execute = vi.fn(() => "done");
  const fetch = scripted([{ toolCalls: [{ name: "act", input: { n: 1 } }] }, { text: "End." }]);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    tools: { act: tool({ description: "Acts", inputSchema: number, execute, ...toolOptions }) },
    ...options,
  });
  return { agent, execute };
}

/** What JSON cannot hold. */
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const unwritable: [string, object][] = [
  ["a bigint", { n: 1n }],
  ["a cycle", cycle],
  [
    "a getter that throws",
    Object.defineProperty({}, "n", { enumerable: true, get: () => expect.unreachable() }),
  ],
];

describe("permissions", () => {
  it.each(unwritable)("%s in what canUseTool or a hook answers is its failure", async (_, updatedInput) => {
    const denied = setUp({ permissions: { canUseTool: () => ({ behavior: "allow", updatedInput }) } });
    const { toolCalls, outcome } = await denied.agent.run("Go").result;
    expect(denied.execute).not.toHaveBeenCalled();
    expect(outcome).toBe("completed");
    expect(toolCalls[0]).toMatchObject({ isError: true, output: { code: "denied" } });
    const group = { hooks: [() => ({ updatedInput: updatedInput as Record<string, unknown> })] };
    const warned: string[] = [];
    const hooked = setUp({ hooks: { PreToolUse: [group] } });
    const onEvent = (event: RunEvent): void => void (event.type === "warning" && warned.push(event.code));
    await hooked.agent.run("Go", { onEvent }).result;
    expect(warned).toEqual(["hook_failed"]);
  });

  it("run.answer does not speak for hooks, guardrails and other functions of the host", async () => {
    const asked: string[] = [];
    const deny = { hooks: [async () => ({ decision: "deny" as const })] };
    const { agent, execute } = setUp({
      hooks: { PreToolUse: [deny] },
      guardrails: { output: () => ({ allowed: true }) },
      limits: { stopWhen: async () => false },
    });
    const run = agent.run("Go");
    for await (const event of run.events({ detached: true })) {
      if (event.type !== "question") continue;
      asked.push(event.question);
      expect(run.answer(event.questionId, { behavior: "allow" })).toBe(false);
      expect(run.answer(event.questionId, { behavior: "deny" })).toBe(false);
    }
    expect(asked).toEqual(expect.arrayContaining(["PreToolUse", "OutputGuardrail"]));
    expect(execute).not.toHaveBeenCalled();
    expect(await run.result).toMatchObject({ outcome: "completed", text: "End." });
  });

  it.each(unwritable)(
    "%s in run.answer is an error at once, and the question stays open",
    async (_, updatedInput) => {
      const { agent, execute } = setUp({ permissions: { mode: "default", canUseTool: () => null } });
      const run = agent.run("Go");
      for await (const event of run.events({ detached: true })) {
        if (event.type !== "question") continue;
        expect(() => run.answer(event.questionId, { behavior: "allow", updatedInput })).toThrow(
          expect.objectContaining({ code: "misuse_invalid_argument", field: "answer" }),
        );
        expect(run.answer(event.questionId, { behavior: "allow" })).toBe(true);
      }
      expect(execute).toHaveBeenCalledOnce();
    },
  );

  it("every tool runs when no option speaks of permissions", async () => {
    const { agent, execute } = setUp();
    await agent.run("Go").result;
    expect(execute).toHaveBeenCalledOnce();
  });

  it("canUseTool is asked with the parsed input and may change it", async () => {
    const canUseTool = vi.fn<CanUseTool>((_name, input) => ({
      behavior: "allow",
      updatedInput: { n: input.n + 1 },
    }));
    const { agent, execute } = setUp({ permissions: { canUseTool } });
    const { toolCalls } = await agent.run("Go").result;
    expect(canUseTool).toHaveBeenCalledWith(
      "act",
      { n: 1 },
      expect.objectContaining({ toolCallId: toolCalls[0]?.toolCallId, reason: "no rule allows it" }),
    );
    expect(execute).toHaveBeenCalledWith({ n: 2 }, expect.anything());
    expect(toolCalls[0]?.input).toEqual({ n: 1 });
  });

  it.each<[string, CanUseTool, string]>([
    ["a denial", () => ({ behavior: "deny", message: "Not today." }), "Not today."],
    [
      "a throw",
      () => {
        throw new Error("broken");
      },
      "broken",
    ],
    ["nonsense", () => ({ behavior: "maybe" }) as never, "maybe"],
    [
      "a name that is written wrong",
      () => ({ behavior: "allow", updatedinput: { n: 2 } }) as never,
      "did you mean updatedInput?",
    ],
    [
      "a switch to a mode that needs a consent",
      () => ({
        behavior: "allow",
        updatedPermissions: [{ type: "setMode", mode: "bypassPermissions" }],
      }),
      "permissions.allowDangerouslySkipPermissions",
    ],
    [
      "a switch to a mode that needs a classifier",
      () => ({ behavior: "allow", updatedPermissions: [{ type: "setMode", mode: "auto" }] }),
      "permissions.classifyTool",
    ],
  ])("%s of canUseTool is told to the model, and the tool does not run", async (_, canUseTool, text) => {
    const { agent, execute } = setUp({ permissions: { canUseTool } });
    const { toolCalls, outcome } = await agent.run("Go").result;
    expect(outcome).toBe("completed");
    expect(execute).not.toHaveBeenCalled();
    expect(toolCalls[0]).toMatchObject({ isError: true, output: { code: "denied" } });
    expect(JSON.stringify(toolCalls[0]?.output)).toContain(text);
  });

  it("a tool that needs an approval waits for run.answer", async () => {
    const { agent, execute } = setUp({}, { needsApproval: ({ n }: { n: number }) => n > 0 });
    const run = agent.run("Go");
    const events: RunEvent[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.type !== "question" || event.question !== "permission") continue;
      expect(event.data).toMatchObject({ toolName: "act", input: { n: 1 } });
      expect(execute).not.toHaveBeenCalled();
      expect(() => run.answer(event.questionId, { behavior: "perhaps" } as never)).toThrow(
        /^answer.behavior: needs/,
      );
      for (const [field, value] of Object.entries({ message: 5, interrupt: "x" }))
        expect(() => run.answer(event.questionId, { behavior: "deny", [field]: value } as never)).toThrow(
          `answer.${field}: needs`,
        );
      expect(run.answer(event.questionId, { behavior: "allow" })).toBe(true);
      // A second delivery is no mistake, and another answer is too late.
      expect(run.answer(event.questionId, { behavior: "allow" })).toBe(true);
      expect(run.answer(event.questionId, { behavior: "deny" })).toBe(false);
    }
    expect(execute).toHaveBeenCalledOnce();
    expect(events.map(({ type }) => type)).toContain("answered");
  });

  it("run.answer refuses what setPermissionMode refuses, and names that there are not", async () => {
    const { agent, execute } = setUp({}, { needsApproval: true });
    const run = agent.run("Go");
    for await (const event of run) {
      if (event.type !== "question") continue;
      const answer = (result: object) => () =>
        run.answer(event.questionId, { behavior: "allow", ...result } as never);
      const switched = (mode: string) => answer({ updatedPermissions: [{ type: "setMode", mode }] });
      expect(switched("bypassPermissions")).toThrow(
        expect.objectContaining({ field: "permissions.allowDangerouslySkipPermissions" }),
      );
      expect(switched("auto")).toThrow(expect.objectContaining({ field: "permissions.classifyTool" }));
      expect(switched("yolo")).toThrow(expect.objectContaining({ field: "updatedPermissions[0].mode" }));
      expect(answer({ updatedinput: { n: 2 } })).toThrow("did you mean updatedInput?");
      expect(execute).not.toHaveBeenCalled();
      expect(switched("plan")()).toBe(true);
    }
    expect(execute).toHaveBeenCalledOnce();
  });

  it("a hook that switches to a mode that needs a consent has failed", async () => {
    const updatedPermissions = [{ type: "setMode" as const, mode: "bypassPermissions" as const }];
    const hook = () => ({ decision: "allow" as const, updatedPermissions });
    const { agent, execute } = setUp({
      permissions: { mode: "default", canUseTool: () => ({ behavior: "deny" }) },
      hooks: { PermissionRequest: [{ onFailure: "block", hooks: [hook] }] },
    });
    const { toolCalls } = await agent.run("Go").result;
    expect(execute).not.toHaveBeenCalled();
    expect(JSON.stringify(toolCalls[0]?.output)).toContain("permissions.allowDangerouslySkipPermissions");
  });

  it.each([
    [{ type: "addRules", behavior: "deny", rules: ["Act"] }, "rules[0]", "did you mean act?"],
    [
      { type: "replaceRules", behavior: "ask", rules: ["act", { toolName: "Act" }] },
      "rules[1]",
      "names no tool",
    ],
    [{ type: "addRules", behavior: "allow", rules: ["act()"] }, "rules[0]", "needs Tool or Tool(specifier)"],
    [
      { type: "addRules", behavior: "allow", rules: [{ toolName: "act", ruleContent: "" }] },
      "rules[0]",
      "needs",
    ],
    [{ type: "removeRules", behavior: "allow", rules: [5] }, "rules[0]", "needs"],
    [{ type: "addRules", behavior: "alow", rules: ["act"] }, "", "needs a behavior"],
    [{ type: "addRules", behavior: "allow" }, "", "a list of rules"],
  ])(
    "S001-29: rules that an answer adds are checked like those at the start: %o",
    async (update, place, problem) => {
      const updatedPermissions = [update] as never;
      const field = ["updatedPermissions[0]", place].filter((part) => part !== "").join(".");
      const { agent, execute } = setUp({ permissions: { mode: "default", canUseTool: () => null } });
      const run = agent.run("Go");
      for await (const event of run.events({ detached: true })) {
        if (event.type !== "question" || event.question !== "permission") continue;
        const answer = () => run.answer(event.questionId, { behavior: "allow", updatedPermissions });
        expect(answer).toThrow(expect.objectContaining({ code: "config_invalid_value", field }));
        expect(answer).toThrow(problem);
        run.answer(event.questionId, { behavior: "deny" });
      }
      expect(execute).not.toHaveBeenCalled();
      const asked = setUp({ permissions: { canUseTool: () => ({ behavior: "allow", updatedPermissions }) } });
      const { toolCalls } = await asked.agent.run("Go").result;
      expect(asked.execute).not.toHaveBeenCalled();
      expect(JSON.stringify(toolCalls[0]?.output)).toContain(problem);
    },
  );

  it("S001-29: rules that an answer adds may name what is not described, and take back anything", async () => {
    const rules = ["mcp__files", "Edit(src/**)", "Ba*", { toolName: "act" }];
    const updatedPermissions = [
      { type: "addRules" as const, behavior: "ask" as const, rules },
      { type: "removeRules" as const, behavior: "allow" as const, rules: ["Other"] },
    ];
    const { agent, execute } = setUp({
      permissions: { canUseTool: () => ({ behavior: "allow", updatedPermissions }) },
    });
    await agent.run("Go").result;
    expect(execute).toHaveBeenCalledOnce();
    const added = [{ type: "addRules" as const, behavior: "ask" as const, rules: ["Act"] }];
    const open = setUp({
      permissions: { canUseTool: () => ({ behavior: "allow", updatedPermissions: added }) },
      toolCalls: { onUnknownTool: () => "done" },
    });
    await open.agent.run("Go").result;
    expect(open.execute).toHaveBeenCalledOnce();
  });

  it("timeouts.permissionMs alone denies what nobody approves, and restricts nothing else", async () => {
    const asked = setUp({ timeouts: { permissionMs: 20 } }, { needsApproval: true });
    const { toolCalls } = await asked.agent.run("Go").result;
    expect(asked.execute).not.toHaveBeenCalled();
    expect(JSON.stringify(toolCalls[0]?.output)).toContain("it was not approved in time");
    const open = setUp({ timeouts: { permissionMs: 20 } });
    await open.agent.run("Go").result;
    expect(open.execute).toHaveBeenCalledOnce();
  });

  it("S001-28: a rule that denies sees what canUseTool and guardrails have changed", async () => {
    const updatedInput = { n: 2 };
    const tools = { ruleSubject: "s", inputSchema: { type: "object" } };
    const rules = { permissions: { deny: ["act(rm *)"], allow: ["act(ls)"] } };
    const changed = { s: "rm -rf /", ...updatedInput };
    const calls = scripted([{ toolCalls: [{ name: "act", input: { s: "ls" } }] }, { text: "End." }]);
    const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch: calls });
    const { agent, execute } = setUp(
      { ...rules, model, guardrails: { tool: () => ({ allowed: true, rewrite: changed }) } as never },
      tools,
    );
    const { toolCalls } = await agent.run("Go").result;
    expect(execute).not.toHaveBeenCalled();
    expect(JSON.stringify(toolCalls[0]?.output)).toContain("the rule act(rm *) denies it");
  });

  it("an abort closes what canUseTool was asked, and its late answer changes nothing", async () => {
    let signal: AbortSignal | undefined;
    const canUseTool: CanUseTool = (_name, _input, request) => {
      signal = request.signal;
      return new Promise(() => {});
    };
    const { agent, execute } = setUp({ permissions: { canUseTool } });
    const run = agent.run("Go");
    await vi.waitFor(() => expect(signal).toBeDefined());
    run.abort("enough");
    expect((await run.result).outcome).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
    expect(execute).not.toHaveBeenCalled();
  });

  it("the mode can be switched, also before the engine is loaded", async () => {
    const { agent, execute } = setUp();
    const run = agent.run("Go");
    run.setPermissionMode("dontAsk");
    expect((await run.result).toolCalls[0]).toMatchObject({ isError: true, output: { code: "denied" } });
    expect(execute).not.toHaveBeenCalled();
    expect(() => run.setPermissionMode("auto")).toThrow(
      expect.objectContaining({ field: "permissions.classifyTool" }),
    );
  });

  it.each([
    ["a zod schema", {}, true],
    ["a zod schema and a function that asks for approvals", { needsApproval: () => false }, false],
  ])("a rule that lets a tool with %s through is told", async (_, fields, isTold) => {
    const act = tool({ description: "Acts", inputSchema: z.object({}), execute: () => 1, ...fields });
    const codes: string[] = [];
    const agent = createAgent({
      model: anthropic("m", { apiKey: "k", fetch: scripted([{ text: "Done." }]) }),
      tools: { act },
      permissions: { allow: ["act"], canUseTool: () => null },
    });
    await agent.run("Go", { onEvent: (event) => void (event.type === "warning" && codes.push(event.code)) })
      .result;
    expect(codes.includes("can_use_tool_shadowed")).toBe(isTold);
  });

  it("the classifier decides in the mode auto", async () => {
    const { agent, execute } = setUp({
      permissions: { mode: "auto", classifyTool: () => ({ behavior: "allow" }) },
    });
    await agent.run("Go").result;
    expect(execute).toHaveBeenCalledOnce();
  });

  it.each<[Partial<AgentOptions>, string]>([
    [{ permissions: { mode: "yolo" as never } }, "permissions.mode"],
    [{ permissions: { mode: "auto" } }, "permissions.classifyTool"],
    [{ permissions: { mode: "bypassPermissions" } }, "permissions.allowDangerouslySkipPermissions"],
    [{ permissions: { allow: ["Bash(ls"] } }, "permissions.allow[0]"],
    [{ permissions: { allow: ["act()"] } }, "permissions.allow[0]"],
    [{ permissions: { deny: ["act", "Act"] } }, "permissions.deny[1]"],
    [{ permissions: { ask: ["Bash(rm *)"] } }, "permissions.ask[0]"],
    [{ permissions: { allowed: [] } as never }, "permissions.allowed"],
    [{ permissions: { canUseTool: true as never } }, "permissions.canUseTool"],
    [{ timeouts: { permissionMs: -1 }, permissions: { canUseTool: () => null } }, "timeouts.permissionMs"],
    [{ permissions: { classifyTool: () => null } }, "permissions.classifyTool"],
  ])("%j is refused and names its field", (options, field) => {
    expect(() => setUp(options)).toThrow(expect.objectContaining({ field }));
  });

  it.each([
    [{ needsApproval: "yes" }, "tool.needsApproval"],
    [{ access: "write" }, "tool.access"],
  ])("a tool with %j is refused", (options, field) => {
    expect(() => setUp({}, options)).toThrow(expect.objectContaining({ field }));
  });

  it("a rule may be for tools of servers, patterns of names, Edit, and tools of the host", () => {
    const permissions = { allow: ["act", "mcp__files", "Edit(src/**)"], deny: ["Ba*", "mcp__x__*(y)"] };
    expect(() => setUp({ permissions })).not.toThrow();
    expect(() => setUp({ permissions: { deny: ["Act"] } })).toThrow("did you mean act?");
    expect(() =>
      setUp({ permissions: { deny: ["Act"] }, toolCalls: { onUnknownTool: () => "done" } }),
    ).not.toThrow();
  });

  it("a scope that nothing can be compared with ends the run with the fix", async () => {
    const { agent } = setUp({ permissions: { deny: ["act(prod*)"] } });
    const { outcome, error } = await agent.run("Go").result;
    expect(outcome).toBe("failed");
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(error?.message).toContain("ruleSubject");
  });
});
