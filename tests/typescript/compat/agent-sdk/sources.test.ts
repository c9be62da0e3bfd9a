/** What the Agent SDK's pages say of a query, asked of `query` itself and not of the engine behind it. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { createSdkMcpServer, query, tool, type Options } from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { all, anything, kinds, repair, resultOf, scene, use, type Turns } from "./kit.js";

afterEach(() => vi.unstubAllEnvs());

const bodiesOf = ({ fetch }: ReturnType<typeof scene>) => fetch.requests.map(({ body }) => body as any);
const names = (calls: readonly string[]) => calls.map((call) => call.split(" ")[0]);
/** The results of tools in the last message of a request. */
const results = (body: any): any[] =>
  body.messages.at(-1).content.filter(({ type }: { type: string }) => type === "tool_result");

describe("turns", () => {
  it("S001-09: three answers with calls and a last one without are four", async () => {
    const { options, calls } = scene(repair);
    const result = resultOf(await all("Fix it", options));
    expect(result).toMatchObject({ subtype: "success", num_turns: 4 });
    expect(names(calls)).toEqual(["Bash", "Read", "Read", "Edit", "Bash"]);
  });

  it("S001-10, S001-11: maxTurns counts rounds of tools, and a query that it stops has no result", async () => {
    const { options, calls, fetch } = scene(repair, { maxTurns: 2 });
    const result = resultOf(await all("Fix it", options));
    expect(result.subtype).toBe("error_max_turns");
    expect(result).not.toHaveProperty("result");
    expect([names(calls), fetch.requests.length]).toEqual([["Bash", "Read", "Read"], 3]);
  });

  it("S001-12: maxBudgetUsd stops a query that costs more, before the tools of that answer", async () => {
    const costly = repair.map((turn) => ({ ...(turn as object), usage: { inputTokens: 1_000_000 } }));
    const { options, calls } = scene(costly, { maxBudgetUsd: 2 });
    const result = resultOf(await all("Fix it", options));
    expect(result.subtype).toBe("error_max_budget_usd");
    expect(result.total_cost_usd).toBeGreaterThan(2);
    expect(calls).toEqual([]);
  });

  it("S001-13: without limits it goes on until the model has finished", async () => {
    const rounds = Array.from({ length: 60 }, (_, n) => ({ toolCalls: [use("Read", { n })] }));
    const { options, calls } = scene([...rounds, { text: "Done." }]);
    expect(resultOf(await all("Go", options))).toMatchObject({ subtype: "success", num_turns: 61 });
    expect(calls).toHaveLength(60);
  });

  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const misfits = Array.from({ length: 7 }, () => ({ text: '{"n":"x"}' }));
  it.each<[string, Turns, Partial<Options>]>([
    ["success", [{ text: "Hi." }], {}],
    ["error_max_turns", repair, { maxTurns: 1 }],
    [
      "error_max_budget_usd",
      [{ text: "Hi.", toolCalls: [use("Read")], usage: { inputTokens: 9e6 } }],
      { maxBudgetUsd: 1 },
    ],
    ["error_during_execution", [{ status: 401 }], {}],
    ["error_max_structured_output_retries", misfits, { outputFormat: { type: "json_schema", schema } }],
  ])("S001-16: the result %s has its cost, usage, turns and session", async (subtype, turns, more) => {
    const result = resultOf(await all("Go", scene(turns, more).options));
    expect(result).toMatchObject({
      subtype,
      total_cost_usd: expect.any(Number),
      num_turns: expect.any(Number),
      session_id: expect.stringMatching(/./),
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
  });

  it("S001-50: an answer that does not fit the schema is asked for again, and then an error", async () => {
    const outputFormat = { type: "json_schema", schema } as const;
    const fits = scene([misfits[0]!, { text: '{"n":7}' }], { outputFormat });
    expect(resultOf(await all("Go", fits.options))).toMatchObject({ structured_output: { n: 7 } });
    const never = scene(misfits, { outputFormat });
    expect(resultOf(await all("Go", never.options)).subtype).toBe("error_max_structured_output_retries");
    expect(never.fetch.requests.length).toBeGreaterThan(1);
  });
});

describe("models and effort", () => {
  it("S001-36: the model that is named is asked each time", async () => {
    const asked = scene(repair, { model: "claude-opus-4-6" });
    await all("Fix it", asked.options);
    expect(bodiesOf(asked).map(({ model }) => model)).toEqual(Array(4).fill("claude-opus-4-6"));
  });

  it.each(["low", "medium", "high", "max"] as const)(
    "S001-19: effort %s is in the request",
    async (effort) => {
      const asked = scene([{ text: "Hi." }], { effort, model: "claude-opus-4-6" });
      await all("Go", asked.options);
      expect(asked.fetch.requests[0]!.bodyText).toContain(`"effort":"${effort}"`);
    },
  );

  it("S001-19: effort is high by default", async () => {
    const asked = scene([{ text: "Hi." }], { model: "claude-opus-4-6" });
    await all("Go", asked.options);
    expect(asked.fetch.requests[0]!.bodyText).toContain('"effort":"high"');
  });

  it("S001-20: effort and thinking do not depend on each other", async () => {
    const thinking = { type: "disabled" } as const;
    const off = scene([{ text: "Hi." }], { effort: "low", thinking, model: "claude-opus-4-6" });
    await all("Go", off.options);
    expect(bodiesOf(off)[0].thinking?.type ?? "disabled").toBe("disabled");
    expect(off.fetch.requests[0]!.bodyText).toContain('"effort":"low"');
    const budget = scene([{ text: "Hi." }], { maxThinkingTokens: 2000, model: "claude-sonnet-4-5" });
    await all("Go", budget.options);
    expect(bodiesOf(budget)[0].thinking).toMatchObject({ type: "enabled", budget_tokens: 2000 });
  });
});

describe("permissions", () => {
  const rm: Turns = [{ toolCalls: [use("Bash", { command: "rm" })] }, { text: "Well." }];

  it("S001-21: there are six modes, and any other is refused before a request", async () => {
    for (const permissionMode of ["default", "acceptEdits", "plan", "dontAsk", "auto"] as const)
      expect(resultOf(await all("Go", scene([{ text: "Hi." }], { permissionMode }).options)).subtype).toBe(
        "success",
      );
    const { options, fetch } = scene([{ text: "Hi." }], { permissionMode: "yolo" as never });
    expect(() => query({ prompt: "Go", options })).toThrow(/permissionMode/);
    expect(fetch.requests).toEqual([]);
  });

  it("S001-22: by default a tool that no rule covers needs the callback, and none is a no", async () => {
    const none = scene(rm, { allowedTools: [] });
    await all("Go", none.options);
    expect(none.calls).toEqual([]);
    const canUseTool = vi.fn(
      async (_: string, input: object) => ({ behavior: "allow", updatedInput: input }) as never,
    );
    const asked = scene(rm, { allowedTools: [], canUseTool });
    await all("Go", asked.options);
    expect([canUseTool.mock.calls.length, asked.calls.length]).toEqual([1, 1]);
  });

  it("S001-23: acceptEdits runs edits and commands on files in the working place, and asks about others", async () => {
    const commands = ["mkdir a", "touch a/b", "mv a/b a/c", "cp a/c a/d", "npm test"];
    const toolCalls = [
      { name: "Write", input: { file_path: "a.ts", content: "a" } },
      ...commands.map((command) => ({ name: "Bash", input: { command } })),
    ];
    const ran: string[] = [];
    const exec = async (command: string) => (ran.push(command), { stdout: "", stderr: "", exitCode: 0 });
    const { options } = scene([{ toolCalls }, { text: "Done." }], {
      permissionMode: "acceptEdits",
      allowedTools: [],
      cwd: "/app",
      host: { vfs: memoryVfs({}), bash: { exec } },
    });
    const { permission_denials: denied } = resultOf(await all("Go", options));
    expect(ran).toEqual(commands.slice(0, 4));
    expect(denied.map(({ tool_input }) => (tool_input as { command?: string }).command)).toEqual([
      "npm test",
    ]);
  });

  it("S001-24: plan runs nothing that writes", async () => {
    const turns: Turns = [{ toolCalls: [use("Edit"), use("Bash")] }, { text: "A plan." }];
    const { options, calls } = scene(turns, { permissionMode: "plan" });
    expect(resultOf(await all("Go", options))).toMatchObject({ result: "A plan." });
    expect(calls).toEqual([]);
  });

  it("S001-25: dontAsk runs what a rule allows, denies the rest and asks nobody", async () => {
    const canUseTool = vi.fn();
    const turns: Turns = [{ toolCalls: [use("Read"), use("Bash")] }, { text: "Done." }];
    const { options, calls } = scene(turns, {
      permissionMode: "dontAsk",
      allowedTools: ["mcp__app__Read"],
      canUseTool: canUseTool as never,
    });
    await all("Go", options);
    expect([names(calls), canUseTool.mock.calls.length]).toEqual([["Read"], 0]);
  });

  it("S001-26: auto asks a classifier about each call", async () => {
    const judge = (name: string) => ({ behavior: name.endsWith("Bash") ? "deny" : "allow" }) as never;
    const turns: Turns = [{ toolCalls: [use("Edit"), use("Bash")] }, { text: "Done." }];
    const { options, calls } = scene(turns, { permissionMode: "auto", allowedTools: [], host: { judge } });
    await all("Go", options);
    expect(names(calls)).toEqual(["Edit"]);
  });

  it("S001-27: bypassPermissions runs everything, for who says that it may", async () => {
    vi.stubEnv("IS_SANDBOX", "1");
    const bare = scene(rm, { permissionMode: "bypassPermissions", allowedTools: [] });
    expect(() => query({ prompt: "Go", options: bare.options })).toThrow(/allowDangerouslySkipPermissions/);
    const said = scene(rm, {
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      allowedTools: [],
    });
    await all("Go", said.options);
    expect(said.calls).toHaveLength(1);
  });

  it("S001-28: allowedTools run unasked, others stay on offer, and disallowedTools win over all", async () => {
    vi.stubEnv("IS_SANDBOX", "1");
    const turns: Turns = [{ toolCalls: [use("Read"), use("Bash"), use("Edit")] }, { text: "Done." }];
    const asked = scene(turns, { allowedTools: ["mcp__app__Read"], disallowedTools: ["mcp__app__Edit"] });
    await all("Go", asked.options);
    expect(names(asked.calls)).toEqual(["Read"]);
    const offered = bodiesOf(asked)[0].tools.map(({ name }: { name: string }) => name);
    expect(offered).toContain("mcp__app__Bash");
    expect(offered).not.toContain("mcp__app__Edit");
    const bypassing = scene(turns, {
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      disallowedTools: ["mcp__app__Edit"],
    });
    await all("Go", bypassing.options);
    expect(names(bypassing.calls)).toEqual(["Read", "Bash"]);
  });

  it("S001-29: a rule with a scope covers the commands that it fits", async () => {
    const ran: string[] = [];
    const exec = async (command: string) => (ran.push(command), { stdout: "", stderr: "", exitCode: 0 });
    const commands = ["npm test", "npm test; rm -rf /", "rm -rf /"];
    const toolCalls = commands.map((command) => ({ name: "Bash", input: { command } }));
    const { options } = scene([{ toolCalls }, { text: "Done." }], {
      allowedTools: ["Bash(npm *)"],
      host: { bash: { exec } },
    });
    expect(resultOf(await all("Go", options)).permission_denials).toHaveLength(2);
    expect(ran).toEqual(["npm test"]);
  });

  it("S001-30, S001-48: a call that a hook or nobody allows is a result that the model reads, and the query goes on", async () => {
    const deny = {
      hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "Not today." },
    };
    const hooked = scene(rm, { hooks: { PreToolUse: [{ hooks: [async () => deny as never] }] } });
    expect(resultOf(await all("Go", hooked.options))).toMatchObject({ subtype: "success", result: "Well." });
    expect(hooked.calls).toEqual([]);
    expect(results(bodiesOf(hooked)[1])).toMatchObject([{ is_error: true }]);
    expect(JSON.stringify(results(bodiesOf(hooked)[1]))).toContain("Not today.");
    const unasked = scene(rm, { allowedTools: [] });
    expect(resultOf(await all("Go", unasked.options))).toMatchObject({ result: "Well." });
    expect(results(bodiesOf(unasked)[1])).toMatchObject([{ is_error: true }]);
  });
});

describe("tools", () => {
  it("S001-31, S001-32: those that only read run beside each other, and custom ones one after the other", async () => {
    const log: string[] = [];
    const made = (name: string, annotations: { readOnlyHint?: boolean; readOnly?: boolean }) =>
      tool(
        name,
        name,
        anything,
        async () => {
          log.push(`start ${name}`);
          for (let tick = 0; tick < 20; tick++) await Promise.resolve();
          log.push(`end ${name}`);
          return "done";
        },
        { annotations },
      );
    const tools = [
      made("Read", { readOnlyHint: true }),
      made("Look", { readOnly: true }),
      made("Bash", {}),
      made("Edit", {}),
    ];
    const order = ["Read", "Look", "Bash", "Edit"];
    const { options } = scene([{ toolCalls: order.map((name) => use(name)) }, { text: "Done." }], {
      mcpServers: { app: createSdkMcpServer({ name: "app", tools }) },
      allowedTools: order.map((name) => `mcp__app__${name}`),
    });
    await all("Go", options);
    expect(log.slice(0, 2)).toEqual(["start Read", "start Look"]);
    expect(log.slice(4)).toEqual(["start Bash", "end Bash", "start Edit", "end Edit"]);
  });

  it("S001-43: an agent begins afresh, with its own tools, and gives back its last answer alone", async () => {
    const agents = { reader: { description: "Reads", prompt: "You read.", tools: ["mcp__app__Read"] } };
    const ask = {
      name: "Agent",
      input: { description: "Read", prompt: "Read a.ts", subagent_type: "reader" },
    };
    const asked = scene(
      [
        { toolCalls: [ask] },
        { text: "I look.", toolCalls: [use("Read")] },
        { text: "It says a." },
        { text: "Done." },
      ],
      { agents, allowedTools: ["Agent", "mcp__app__Read"] },
    );
    await all("The secret plan", asked.options);
    const [, child, , last] = bodiesOf(asked);
    expect(child.tools.map(({ name }: { name: string }) => name)).toEqual(["mcp__app__Read"]);
    expect(JSON.stringify(child)).not.toContain("The secret plan");
    const told = JSON.stringify(results(last));
    expect(told).toContain("It says a.");
    expect(told).not.toContain("I look.");
  });
});

describe("the context", () => {
  /** A request without its cache markers. */
  const plain = (body: any): any =>
    JSON.parse(
      JSON.stringify(body, (name, value: unknown) => (name === "cache_control" ? undefined : value)),
    );

  it("S001-37, S001-38: grows behind what was sent before, with cache markers on what stays", async () => {
    const asked = scene(repair, { systemPrompt: "You repair." });
    await all("Fix it", asked.options);
    const bodies = bodiesOf(asked);
    for (const [at, body] of bodies.entries()) {
      const next = bodies[at + 1];
      if (next === undefined) continue;
      const [before, after] = [plain(body), plain(next)];
      expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
      expect([after.system, after.tools]).toEqual([before.system, before.tools]);
    }
    for (const { system, tools, messages } of bodies)
      for (const last of [system.at(-1), tools.at(-1), messages.at(-1).content.at(-1)])
        expect(last.cache_control).toMatchObject({ type: "ephemeral" });
  });

  it("S001-39, S001-40, S001-41: a window that is nearly full is summarised, and CLAUDE.md stands behind it too", async () => {
    const rounds: Turns = [
      ...[1, 2, 3, 4, 5].map((n) => ({
        text: `Round ${n}.`,
        toolCalls: [use("Read", { n })],
        usage: { inputTokens: n === 5 ? 9000 : 1000 },
      })),
      { text: "A summary." },
      { text: "Done." },
    ];
    const asked = scene(rounds, {
      contextWindow: 10_000,
      compaction: { threshold: 0.5 },
      settingSources: ["project"],
      cwd: "/app",
      host: { vfs: memoryVfs({ "/app/CLAUDE.md": "Use tabs." }) },
    });
    const messages = await all("Go", asked.options);
    expect(kinds(messages)).toContain("system/compact_boundary");
    const boundary = messages.find(
      (message) => "subtype" in message && message.subtype === "compact_boundary",
    );
    expect(boundary).toMatchObject({
      type: "system",
      compact_metadata: { trigger: "auto", pre_tokens: expect.any(Number) },
    });
    const bodies = bodiesOf(asked);
    const [longest, last] = [bodies[4], bodies.at(-1)];
    expect(last.messages.length).toBeLessThan(longest.messages.length + 2);
    expect(JSON.stringify(last)).toContain("A summary.");
    expect(JSON.stringify(last)).not.toContain("Round 1.");
    for (const body of [bodies[0], last]) expect(JSON.stringify(body)).toContain("Use tabs.");
  });
});
