import { describe, expect, it } from "vitest";
import { query, type Options, type SDKMessage } from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { all, resultOf, scene, use, type Turns } from "./kit.js";

const verdict = (decision: string) => ({ text: JSON.stringify({ decision, reason: "Because." }) });

describe("S001-26: the mode auto", () => {
  const calling = (decision: string): Turns => [
    { toolCalls: [use("Bash", { command: "make" })] },
    verdict(decision),
    { text: "Done." },
  ];
  const auto = { permissionMode: "auto", allowedTools: [] } satisfies Partial<Options>;

  it.each([
    ["allow", 1],
    ["deny", 0],
    ["ask", 0],
  ])("asks a model about each call, which may say %s", async (decision, count) => {
    const { options, calls, fetch } = scene(calling(decision), auto);
    const result = resultOf(await all("Build it", options));
    expect(calls).toHaveLength(count);
    expect(result).toMatchObject({ subtype: "success", result: "Done.", num_turns: 2 });
    const judge = fetch.requests[1]!.body as any;
    expect(judge.model).toBe("claude-sonnet-4-6");
    expect(fetch.requests[1]!.bodyText).toContain("Build it");
    expect(fetch.requests[1]!.bodyText).toContain("make");
    if (count === 0) expect(fetch.requests[2]!.bodyText).toContain("Because.");
  });

  it("asks canUseTool where the model cannot tell, and counts what the model costs", async () => {
    const asked: string[] = [];
    const { options, calls } = scene(calling("ask"), {
      ...auto,
      host: { judge: "claude-haiku-4-5" },
      canUseTool: async (name) => (
        asked.push(name),
        { behavior: "allow", updatedInput: { command: "make all" } }
      ),
    });
    const result = resultOf(await all("Build it", options));
    expect(asked).toEqual(["mcp__app__Bash"]);
    expect(calls).toEqual(['Bash {"command":"make all"}']);
    expect(Object.keys(result.modelUsage).sort()).toEqual(["claude-haiku-4-5", "claude-sonnet-4-6"]);
  });

  it("takes a function of the host, shows the judge no results, and is switched to while a query runs", async () => {
    const judged: unknown[] = [];
    const turns: Turns = [
      { toolCalls: [use("Read", { file_path: "a" })] },
      { toolCalls: [use("Bash", { command: "ls" })] },
      { text: "Done." },
    ];
    const { options, calls, fetch } = scene(turns, {
      allowedTools: ["mcp__app__Read"],
      host: {
        judge: (name, input) => {
          judged.push([name, input]);
          return { behavior: "allow" };
        },
      },
    });
    const asked = query({ prompt: "Go", options });
    for await (const message of asked)
      if (message.type === "assistant") await asked.setPermissionMode("auto");
    expect(judged).toEqual([["mcp__app__Bash", { command: "ls" }]]);
    expect(calls).toHaveLength(2);
    expect(fetch.requests).toHaveLength(3);
    const plain = scene([turns[0]!, turns[1]!, verdict("allow"), { text: "Done." }] as Turns, {
      ...auto,
      allowedTools: ["mcp__app__Read"],
    });
    await all("Go", plain.options);
    expect(plain.fetch.requests[2]!.bodyText).not.toContain("Read done");
  });

  it("denies by a judge that fails", async () => {
    const turns: Turns = [{ toolCalls: [use("Bash")] }, { status: 401 }, { text: "Oh." }];
    const { options, calls } = scene(turns, auto);
    expect(resultOf(await all("Go", options)).subtype).toBe("success");
    expect(calls).toEqual([]);
  });
});

describe("S001-24: the mode plan", () => {
  const turns: Turns = [
    { toolCalls: [use("Read", { file_path: "a" }), use("Edit")] },
    { text: "1. Read. 2. Edit." },
  ];

  it("tells the model to plan, lets it read, and gives the plan as the result", async () => {
    const { options, calls, fetch } = scene(turns, { permissionMode: "plan" });
    const result = resultOf(await all("Mend it", options));
    expect(result).toMatchObject({ subtype: "success", result: "1. Read. 2. Edit." });
    expect(fetch.requests[0]!.bodyText).toContain("Plan mode is on");
    expect(calls.map((call) => call.split(" ")[0])).toEqual(["Read"]);
    const own = scene(turns, { permissionMode: "plan", planModeInstructions: "Plan in three steps." });
    await all("Mend it", own.options);
    expect(own.fetch.requests[0]!.bodyText).toContain("Plan in three steps.");
  });

  it("runs no tool at all with planAllowsReadOnly: false", async () => {
    const { options, calls } = scene(turns, { permissionMode: "plan", planAllowsReadOnly: false });
    const messages = await all("Mend it", options);
    expect(calls).toEqual([]);
    expect(resultOf(messages).permission_denials).toHaveLength(2);
  });

  it("ends when the user approves the plan of ExitPlanMode, in the mode that the answer chooses", async () => {
    const planning: Turns = [
      { toolCalls: [{ name: "ExitPlanMode", input: { plan: "Write b." } }] },
      { toolCalls: [{ name: "Write", input: { file_path: "/b", content: "b" } }] },
      { text: "Written." },
    ];
    for (const [mode, asked] of [
      ["acceptEdits", ["ExitPlanMode"]],
      [undefined, ["ExitPlanMode", "Write"]],
    ] as const) {
      const names: string[] = [];
      const vfs = memoryVfs();
      const { options, fetch } = scene(planning, {
        permissionMode: "plan",
        host: { vfs },
        canUseTool: async (name, input) => {
          names.push(name);
          const updatedPermissions =
            mode && name === "ExitPlanMode"
              ? [{ type: "setMode", mode, destination: "session" } as const]
              : undefined;
          return {
            behavior: "allow",
            updatedInput: input,
            ...(updatedPermissions && { updatedPermissions }),
          };
        },
      });
      const messages: SDKMessage[] = await all("Go", options);
      expect(resultOf(messages).subtype).toBe("success");
      expect(names).toEqual(asked);
      expect(await vfs.read("/b")).toBeDefined();
      expect(fetch.requests[1]!.bodyText).toContain("has approved the plan");
    }
  });

  it("goes on when the user turns the plan down", async () => {
    const planning: Turns = [
      { toolCalls: [{ name: "ExitPlanMode", input: { plan: "Write b." } }] },
      { text: "2." },
    ];
    const { options, fetch } = scene(planning, {
      permissionMode: "plan",
      canUseTool: async () => ({ behavior: "deny", message: "Smaller steps." }),
    });
    expect(resultOf(await all("Go", options))).toMatchObject({ result: "2." });
    expect(fetch.requests[1]!.bodyText).toContain("Smaller steps.");
  });
});
