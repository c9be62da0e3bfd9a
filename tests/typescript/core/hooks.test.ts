import { describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type {
  AgentOptions,
  Fetch,
  Hook,
  HookOutput,
  RunEvent,
} from "../../../src/typescript/core/api/index.js";
import { bodyText } from "../support/bodies.js";

const schema = { type: "object", properties: { n: { type: "number" } } } as const;

const TURNS: Parameters<typeof scripted>[0] = [
  { toolCalls: [{ name: "act", input: { n: 1 } }] },
  { text: "End." },
];

function setUp(options: Partial<AgentOptions> = {}, turns = TURNS) {
  const execute = vi.fn((): unknown => "done");
  const requests: string[] = [];
  const answers = scripted(turns);
  const fetch: Fetch = (url, init) => {
    requests.push(bodyText(init));
    return answers(url, init);
  };
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    tools: { act: tool({ description: "Acts", inputSchema: schema, execute }) },
    ...options,
  });
  return { agent, execute, requests };
}

async function eventsOf(agent: ReturnType<typeof createAgent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of agent.run("Go")) events.push(event);
  return events;
}

describe("hooks", () => {
  it("S001-46: a hook gets the call with its parsed input, and its output is applied", async () => {
    const before = vi.fn<Hook<"PreToolUse">>(() => ({ updatedInput: { n: 2 }, additionalContext: "Note." }));
    const after = vi.fn<Hook<"PostToolUse">>(() => ({ updatedOutput: { hidden: true } }));
    const { agent, execute, requests } = setUp({
      hooks: { PreToolUse: [{ hooks: [before] }], PostToolUse: [{ matcher: "act", hooks: [after] }] },
    });
    const { toolCalls, outcome } = await agent.run("Go").result;
    expect(outcome).toBe("completed");
    expect(before).toHaveBeenCalledWith(
      {
        event: "PreToolUse",
        agentPath: "root",
        iteration: 1,
        toolCallId: toolCalls[0]?.toolCallId,
        toolName: "act",
        input: { n: 1 },
      },
      { signal: expect.any(AbortSignal) },
    );
    expect(execute).toHaveBeenCalledWith({ n: 2 }, expect.anything());
    expect(after.mock.calls[0]?.[0]).toMatchObject({ input: { n: 2 }, output: "done" });
    expect(toolCalls[0]).toMatchObject({ input: { n: 1 }, output: { hidden: true } });
    expect(requests[1]).toContain("Note.");
  });

  it("S001-48: a denial keeps the tool from running and the model is told", async () => {
    const { agent, execute, requests } = setUp({
      hooks: { PreToolUse: [{ hooks: [() => ({ decision: "deny", reason: "Not today." })] }] },
    });
    await agent.run("Go").result;
    expect(execute).not.toHaveBeenCalled();
    expect(requests[1]).toContain("Not today.");
  });

  it("S001-47: hooks that say nothing change no request", async () => {
    const nothing = () => {};
    const { agent, requests } = setUp({
      hooks: {
        PreToolUse: [{ hooks: [nothing] }],
        PostToolUse: [{ hooks: [nothing] }],
        PostToolBatch: [{ hooks: [nothing] }],
        UserPromptSubmit: [{ hooks: [nothing] }],
        Stop: [{ hooks: [() => null] }],
      },
    });
    const bare = setUp();
    await Promise.all([agent.run("Go").result, bare.agent.run("Go").result]);
    expect(requests).toEqual(bare.requests);
  });

  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ["*", true],
    ["", true],
    ["act", true],
    ["Edit|act", true],
    ["Edit, act", true],
    ["ac", false],
    ["^a", true],
    ["^b", false],
    ["a.t$", true],
  ])("the matcher %j: %j", async (matcher, isCalled) => {
    const hook = vi.fn(() => {});
    const { agent } = setUp({ hooks: { PreToolUse: [{ matcher, hooks: [hook] }] } });
    const events = await eventsOf(agent);
    expect(hook.mock.calls.length > 0).toBe(isCalled);
    expect(events.some(({ type }) => type === "question")).toBe(isCalled);
  });

  it.each<[string, Hook<"PreToolUse">, string]>([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
      "broken",
    ],
    ["returns nonsense", () => "deny" as never, "a string"],
    ["writes a name wrong", () => ({ decison: "deny" }) as HookOutput, "did you mean decision?"],
    ["takes a word that there is not", () => ({ decision: "forbid" }) as never, '"forbid"'],
  ])("a hook that %s is a warning, or denies if it says so", async (_, hook, text) => {
    const { agent, execute } = setUp({ hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const warning = (await eventsOf(agent)).find((event) => event.type === "warning");
    expect(warning).toMatchObject({ code: "hook_failed", message: expect.stringContaining(text) });
    expect(execute).toHaveBeenCalledOnce();
    const blocking = setUp({ hooks: { PreToolUse: [{ onFailure: "block", hooks: [hook] }] } });
    const { toolCalls } = await blocking.agent.run("Go").result;
    expect(blocking.execute).not.toHaveBeenCalled();
    expect(JSON.stringify(toolCalls[0]?.output)).toContain(text.replaceAll('"', '\\"'));
  });

  it("a hook that is too late hears so, and one that hangs is left by an abort", async () => {
    let late: AbortSignal | undefined;
    const hangs: Hook<"PreToolUse"> = (_, { signal }) => {
      late = signal;
      return new Promise(() => {});
    };
    const { agent, execute } = setUp({ hooks: { PreToolUse: [{ timeoutMs: 20, hooks: [hangs] }] } });
    await agent.run("Go").result;
    expect(late?.aborted).toBe(true);
    expect(execute).toHaveBeenCalledOnce();

    late = undefined;
    const run = setUp({ hooks: { PreToolUse: [{ hooks: [hangs] }] } }).agent.run("Go");
    await vi.waitFor(() => expect(late).toBeDefined());
    run.abort("enough");
    expect((await run.result).outcome).toBe("cancelled");
    expect(late).toMatchObject({ aborted: true });
  });

  it("a deferred call waits for run.answer, and canUseTool is not asked", async () => {
    const canUseTool = vi.fn(() => ({ behavior: "deny" as const }));
    const { agent, execute } = setUp({
      permissions: { canUseTool },
      hooks: { PreToolUse: [{ hooks: [() => ({ decision: "defer" as const })] }] },
    });
    const run = agent.run("Go");
    for await (const event of run) {
      if (event.type === "question" && event.question === "permission") {
        expect(run.answer(event.questionId, { behavior: "allow" })).toBe(true);
      }
    }
    expect(execute).toHaveBeenCalledOnce();
    expect(canUseTool).not.toHaveBeenCalled();
  });

  it("S001-49: UserPromptSubmit, Stop and continue: false", async () => {
    const { agent, requests } = setUp({
      hooks: {
        UserPromptSubmit: [{ hooks: [({ prompt }) => ({ additionalContext: `You were asked: ${prompt}` })] }],
        Stop: [{ hooks: [({ stopHookActive }) => (stopHookActive ? {} : { continue: false })] }],
      },
    });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(requests[0]).toContain("You were asked: Go");

    const stopped = setUp({
      hooks: { PostToolUse: [{ hooks: [() => ({ continue: false, stopReason: "Seen enough." })] }] },
    });
    const result = await stopped.agent.run("Go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "hook", abortReason: "Seen enough." });
    expect(result.toolCalls[0]?.output).toBe("done");
  });

  it("StopFailure hears of the failure that it is for", async () => {
    const auth = vi.fn();
    const other = vi.fn();
    const agent = createAgent({
      model: anthropic("claude-sonnet-4-6", {
        apiKey: "sk-test",
        fetch: async () => new Response("{}", { status: 401 }),
      }),
      hooks: {
        StopFailure: [
          { matcher: "auth", hooks: [auth] },
          { matcher: "network", hooks: [other] },
        ],
      },
    });
    await agent.run("Go").result;
    expect(auth).toHaveBeenCalledWith(
      { event: "StopFailure", error: expect.objectContaining({ code: "auth" }), lastAssistantMessage: "" },
      expect.anything(),
    );
    expect(other).not.toHaveBeenCalled();
  });

  it("SessionStart has its say with the first prompt of a chat or run, and only there", async () => {
    const starts = vi.fn<Hook<"SessionStart">>(() => ({ additionalContext: "It rains." }));
    const ends = vi.fn<Hook<"SessionEnd">>();
    const { agent, requests } = setUp(
      { hooks: { SessionStart: [{ hooks: [starts] }], SessionEnd: [{ hooks: [ends] }] } },
      Array.from({ length: 5 }, () => ({ text: "End." })),
    );
    const chat = agent.chat();
    await chat.run("Never", { signal: AbortSignal.abort() }).result;
    const run = chat.run("Go");
    run.followUp("And?");
    await run.result;
    await chat.run("More").result;
    expect(starts.mock.calls.map(([input]) => input)).toEqual([
      {
        event: "SessionStart",
        agentPath: "root",
        iteration: 0,
        source: "startup",
        model: "claude-sonnet-4-6",
      },
    ]);
    expect(requests.at(-1)!.split("It rains.")).toHaveLength(2);
    expect(ends).not.toHaveBeenCalled();
    chat.reset();
    chat.reset();
    await chat.run("Anew").result;
    chat.close();
    chat.close();
    expect(starts.mock.lastCall?.[0]).toMatchObject({ source: "clear" });
    expect(ends.mock.calls.map(([{ reason }]) => reason)).toEqual(["clear", "close"]);
    expect(() => chat.run("Late")).toThrow(expect.objectContaining({ code: "misuse_chat_closed" }));
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];
    await agent.run("Go", { messages }).result;
    expect(starts.mock.lastCall?.[0]).toMatchObject({ source: "resume" });
    expect(ends.mock.lastCall?.[0]).toEqual({ event: "SessionEnd", reason: "completed" });
  });

  it("SessionStart can end the run, and is asked about its sources only", async () => {
    const { agent, requests } = setUp({
      hooks: {
        SessionStart: [
          { matcher: "startup", hooks: [() => ({ continue: false, stopReason: "Closed today." })] },
          { matcher: "resume", hooks: [() => ({ additionalContext: "Not for this one." })] },
        ],
      },
    });
    const events = await eventsOf(agent);
    expect(events.filter(({ type }) => type === "question")).toMatchObject([{ question: "SessionStart" }]);
    expect(events.at(-1)).toMatchObject({
      outcome: { outcome: "stopped", stoppedBy: "hook", abortReason: "Closed today." },
    });
    expect(requests).toEqual([]);
  });

  it("a SessionStart hook that wants to decide has failed, and a SessionEnd hook that throws harms nothing", async () => {
    const reportError = vi.fn();
    vi.stubGlobal("reportError", reportError);
    const { agent } = setUp({
      hooks: {
        SessionStart: [{ hooks: [() => ({ decision: "allow" })] }],
        SessionEnd: [
          {
            matcher: "completed",
            hooks: [
              () => {
                throw new Error("Broken.");
              },
            ],
          },
        ],
      },
    });
    const warnings = (await eventsOf(agent)).filter(({ type }) => type === "warning");
    expect(warnings).toMatchObject([{ code: "hook_failed" }]);
    await vi.waitFor(() => expect(reportError).toHaveBeenCalledWith(new Error("Broken.")));
    vi.unstubAllGlobals();
  });

  it("Notification hears that an approval is waited for, and nothing waits for it", async () => {
    const hears = vi.fn(() => new Promise<never>(() => {}));
    const execute = vi.fn(() => "done");
    const act = tool({ description: "Acts", inputSchema: schema, needsApproval: true, execute });
    const { agent } = setUp({
      tools: { act },
      hooks: {
        Notification: [{ hooks: [hears] }, { matcher: "idle_prompt", hooks: [() => expect.unreachable()] }],
      },
    });
    const run = agent.run("Go", {
      onEvent: (event) => {
        if (event.type === "question" && event.question === "permission")
          run.answer(event.questionId, { behavior: "allow" });
      },
    });
    expect((await run.result).outcome).toBe("completed");
    expect(hears).toHaveBeenCalledExactlyOnceWith(
      {
        event: "Notification",
        agentPath: "root",
        iteration: 1,
        notificationType: "permission_prompt",
        message: expect.stringContaining("act needs your approval"),
        questionId: expect.any(Number),
        toolName: "act",
      },
      expect.anything(),
    );
  });

  it("what a hook or an approval puts in place of a validated input reaches the tool", async () => {
    const standard = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) => ({ value: { ...(value as object), checked: true } }),
        jsonSchema: { input: () => schema, output: () => schema },
      },
    } as const;
    for (const [options, expected] of [
      [{}, { n: 1, checked: true }],
      [{ hooks: { PreToolUse: [{ hooks: [() => ({ updatedInput: { n: 3 } })] }] } }, { n: 3 }],
      [
        { permissions: { canUseTool: () => ({ behavior: "allow" as const, updatedInput: { n: 4 } }) } },
        { n: 4 },
      ],
    ] as const) {
      const execute = vi.fn();
      const { agent } = setUp({
        tools: { act: tool({ description: "Acts", inputSchema: standard as never, execute }) },
        ...(options as Partial<AgentOptions>),
      });
      await agent.run("Go").result;
      expect(execute).toHaveBeenCalledWith(expected, expect.anything());
    }
  });

  it.each<[object, string]>([
    [{ PreToolUses: [] }, "hooks.PreToolUses"],
    [{ PreToolUse: () => {} }, "hooks.PreToolUse"],
    [{ PreToolUse: [() => {}] }, "hooks.PreToolUse[0]"],
    [{ PreToolUse: [{ hooks: ["x"] }] }, "hooks.PreToolUse[0].hooks[0]"],
    [{ PreToolUse: [{ matcher: "(", hooks: [] }] }, "hooks.PreToolUse[0].matcher"],
    [{ PreToolUse: [{ timeout: 3, hooks: [] }] }, "hooks.PreToolUse[0].timeout"],
    [{ PreToolUse: [{ timeoutMs: 0, hooks: [] }] }, "hooks.PreToolUse[0].timeoutMs"],
    [{ Stop: [{ onFailure: "deny", hooks: [] }] }, "hooks.Stop[0].onFailure"],
  ])("%j is refused and names its field", (hooks, field) => {
    expect(() => setUp({ hooks: hooks as never })).toThrow(expect.objectContaining({ field }));
  });
});

describe("guardrails", () => {
  it("an input guardrail is asked once for each prompt by default", async () => {
    const input = vi.fn(() => ({ allowed: true }));
    const { agent, requests } = setUp({ guardrails: { input } });
    await agent.run("Go").result;
    expect(requests.length).toBe(2);
    expect(input).toHaveBeenCalledOnce();
  });

  it("P-19: input, output and tool are asked with what they guard", async () => {
    const input = vi.fn(() => ({ allowed: true }));
    const output = vi.fn(() => ({ allowed: true }));
    const toolGuard = vi.fn(() => ({ allowed: true, rewrite: { n: 9 } }));
    const { agent, execute } = setUp({
      guardrails: { input, each: "request", output: [output], tool: toolGuard },
    });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(input).toHaveBeenCalledTimes(2);
    expect(input).toHaveBeenCalledWith([{ role: "user", content: [{ type: "text", text: "Go" }] }], {
      signal: expect.any(AbortSignal),
      agentPath: "root",
      iteration: 0,
    });
    expect(output).toHaveBeenLastCalledWith(
      expect.objectContaining({ role: "assistant", content: [{ type: "text", text: "End." }] }),
      expect.anything(),
    );
    expect(toolGuard).toHaveBeenCalledWith("act", { n: 1 }, expect.objectContaining({ iteration: 1 }));
    expect(execute).toHaveBeenCalledWith({ n: 9 }, expect.anything());
  });

  it("P-19: a denied input or output ends the run with an error event, a denied tool does not", async () => {
    const no = () => ({ allowed: false, reason: "secret" });
    for (const [guardrails, message] of [
      [{ input: no }, "Input guardrail denied: secret"],
      [{ output: no }, "Output guardrail denied: secret"],
    ] as const) {
      const { agent, execute } = setUp({ guardrails });
      const run = agent.run("Go");
      const events: RunEvent[] = [];
      for await (const event of run) events.push(event);
      expect(await run.result).toMatchObject({
        outcome: "stopped",
        stoppedBy: "guardrail",
        abortReason: message,
      });
      expect(events.find(({ type }) => type === "error")).toMatchObject({
        error: { code: "guardrail", message },
      });
      expect(execute).not.toHaveBeenCalled();
    }
    const { agent, execute, requests } = setUp({ guardrails: { tool: no } });
    expect((await agent.run("Go").result).outcome).toBe("completed");
    expect(execute).not.toHaveBeenCalled();
    expect(requests[1]).toContain("Tool denied by guardrail: secret");
  });

  it("P-19: messages and answers are rewritten", async () => {
    const { agent, requests } = setUp({
      guardrails: {
        input: ([, ...rest]) => ({
          allowed: true,
          rewrite: [{ role: "user", content: [{ type: "text", text: "Walk" }] }, ...rest],
        }),
        output: ({ content }) => ({
          allowed: true,
          rewrite: JSON.stringify(content).includes("End") ? "The end." : undefined,
        }),
      },
    });
    const { text, messages } = await agent.run("Go").result;
    expect(text).toBe("The end.");
    expect(requests[0]).toContain("Walk");
    expect(messages.at(-1)?.content).toEqual([{ type: "text", text: "The end." }]);
  });

  it.each([
    [
      () => {
        throw new Error("broken");
      },
      "broken",
    ],
    [() => true as never, "the boolean true"],
    [() => ({ allow: true }) as never, "did you mean allowed?"],
    [() => ({ allowed: true, rewrite: 7 }) as never, "rewrite"],
  ])("P-19: a guardrail that fails denies (%#)", async (output, text) => {
    const { agent } = setUp({ guardrails: { output } });
    const { stoppedBy, abortReason } = await agent.run("Go").result;
    expect([stoppedBy, abortReason]).toEqual(["guardrail", expect.stringContaining(text)]);
  });

  it.each<[object, string]>([
    [{ inputs: () => {} }, "guardrails.inputs"],
    [{ input: "no" }, "guardrails.input"],
    [{ tool: [() => {}, 3] }, "guardrails.tool[1]"],
  ])("%j is refused and names its field", (guardrails, field) => {
    expect(() => setUp({ guardrails: guardrails as never })).toThrow(expect.objectContaining({ field }));
  });
});
