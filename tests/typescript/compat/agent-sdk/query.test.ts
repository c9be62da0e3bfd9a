import { describe, expect, it } from "vitest";
import { createSdkMcpServer, query, tool, type Options, type SDKMessage } from "looplet/agent-sdk";
import { all, anything, kinds, repair, resultOf, scene, use, type Turns } from "./kit.js";

describe("a query", () => {
  it("S001-01, S001-02, S001-03, S001-04, S001-05: yields init, answers, results and one end", async () => {
    const { options, calls } = scene(repair);
    const messages = await all("Fix the failing tests in auth.ts", options);
    const round = ["assistant", "user"];
    expect(kinds(messages)).toEqual([
      "system/init",
      ...[...round, ...round, ...round],
      "assistant",
      "result/success",
    ]);
    const [init, first, results] = messages as any[];
    expect(init).toMatchObject({
      tools: ["TodoWrite", "mcp__app__Bash", "mcp__app__Read", "mcp__app__Edit"],
      model: "claude-sonnet-4-6",
      permissionMode: "default",
      mcp_servers: [{ name: "app", status: "connected" }],
    });
    expect(first.message.content).toMatchObject([
      { type: "text", text: "I run the tests." },
      { type: "tool_use", name: "mcp__app__Bash", input: { command: "npm test" } },
    ]);
    expect(results.message.content).toMatchObject([
      { type: "tool_result", tool_use_id: first.message.content[1].id, content: "Bash done" },
    ]);
    expect((messages.at(-2) as any).message).toMatchObject({
      stop_reason: "end_turn",
      model: "claude-sonnet-4-6",
    });
    expect(calls).toHaveLength(5);
    expect(new Set(messages.map(({ session_id }) => session_id)).size).toBe(1);
    expect(new Set(messages.map(({ uuid }) => uuid)).size).toBe(messages.length);
  });

  it("has the vendor's id and reason of each answer, also of one with calls", async () => {
    const { options, fetch } = scene([{ toolCalls: [use("Read")] }, { text: "Read." }]);
    const ids: string[] = [];
    const answered = async (...request: Parameters<typeof fetch>) => {
      const response = await fetch(...request);
      const body = await (response as Response).text();
      ids.push(/"id":"(msg_[^"]+)"/.exec(body)![1]!);
      return new Response(body, { headers: response.headers as HeadersInit });
    };
    const messages = await all("Go", { ...options, host: { fetch: answered as never, apiKey: "k" } });
    const answers = messages.flatMap((message) => (message.type === "assistant" ? [message.message] : []));
    expect(answers.map(({ id, stop_reason }) => [id, stop_reason])).toEqual([
      [ids[0], "tool_use"],
      [ids[1], "end_turn"],
    ]);
  });

  it("streams the reason of an answer with calls", async () => {
    const turns: Turns = [{ toolCalls: [use("Read")] }, { text: "Read." }];
    const messages = await all("Go", scene(turns, { includePartialMessages: true }).options);
    const reasons = messages.flatMap((message) =>
      message.type === "stream_event" && message.event.type === "message_delta"
        ? [message.event.delta.stop_reason]
        : [],
    );
    expect(reasons).toEqual(["tool_use", "end_turn"]);
  });

  it("ends with what the page's example reads", async () => {
    const { options } = scene(repair, { settingSources: ["project"], maxTurns: 30, effort: "high" });
    let sessionId: string | undefined;
    const said: string[] = [];
    for await (const message of query({ prompt: "Fix the failing tests in auth.ts", options })) {
      if (message.type === "system" && message.subtype === "init") sessionId = message.session_id;
      if (message.type !== "result") continue;
      said.push(message.subtype === "success" ? `Done: ${message.result}` : message.subtype);
      said.push(`$${message.total_cost_usd.toFixed(4)} in ${message.num_turns} turns`);
    }
    expect(sessionId).toMatch(/^[\da-f-]{36}$/);
    expect(said).toEqual([
      "Done: Fixed the auth bug, all three tests pass now.",
      expect.stringMatching(/^\$0\.00[1-9]\d in 4 turns$/),
    ]);
  });

  it("S001-15: stops behind the tool rounds of maxTurns, with the results of the last one", async () => {
    const { options, calls } = scene(repair, { maxTurns: 2 });
    const messages = await all("Fix it", options);
    expect(kinds(messages).slice(-2)).toEqual(["user", "result/error_max_turns"]);
    expect(JSON.stringify(messages.at(-2))).toContain("not_run");
    expect(calls).toHaveLength(3);
    const result = resultOf(messages);
    expect(result).toMatchObject({
      is_error: true,
      num_turns: 3,
      stop_reason: "tool_use",
      terminal_reason: "max_turns",
    });
    expect(result).not.toHaveProperty("result");
    expect((result as any).errors[0]).toContain("tool_rounds");
  });

  it("S001-07: streams raw events only if it is asked to, and the whole message all the same", async () => {
    const turns: Turns = [
      { thinking: { text: "Hm." }, text: "Yes.", toolCalls: [use("Read", { a: 1 })] },
      { text: "Done." },
    ];
    const { options } = scene(turns, { includePartialMessages: true });
    const messages = await all("Go", options);
    const until = kinds(messages).indexOf("assistant");
    const events = messages.slice(1, until).map((message: any) => message.event);
    expect(events[0].type).toBe("message_start");
    expect(events.at(-1).type).toBe("message_stop");
    const deltas = (type: string, field: string) =>
      events.flatMap(({ delta }) => (delta?.type === type ? [delta[field]] : [])).join("");
    expect(deltas("text_delta", "text")).toBe("Yes.");
    expect(deltas("thinking_delta", "thinking")).toBe("Hm.");
    expect(JSON.parse(deltas("input_json_delta", "partial_json"))).toEqual({ a: 1 });
    expect(events.filter(({ type }) => type === "content_block_start")).toHaveLength(3);
    expect(kinds(await all("Go", scene(turns).options))).not.toContain("stream_event");
  });

  it("asks canUseTool, tells of a denial and lists it at the end", async () => {
    const asked: unknown[] = [];
    const turns: Turns = [{ toolCalls: [use("Bash", { command: "rm" })] }, { text: "Not allowed." }];
    const { options, calls } = scene(turns, {
      allowedTools: [],
      canUseTool: async (name, input, { toolUseID }) => {
        asked.push(name, input, typeof toolUseID);
        return { behavior: "deny", message: "Never." };
      },
    });
    const messages = await all("Go", options);
    expect(asked).toEqual(["mcp__app__Bash", { command: "rm" }, "string"]);
    expect(calls).toEqual([]);
    expect(kinds(messages)).toContain("system/permission_denied");
    const results = messages.find(({ type }) => type === "user") as any;
    expect(results.message.content[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining("Never."),
    });
    expect(resultOf(messages).permission_denials).toMatchObject([
      { tool_name: "mcp__app__Bash", tool_input: { command: "rm" } },
    ]);
  });

  it("takes a tool out of the requests by its bare name, and takes rules for tools that are not there", async () => {
    const { options, fetch } = scene([{ text: "Hi." }], {
      allowedTools: ["Read", "Bash(npm *)"],
      disallowedTools: ["mcp__app__Edit", "WebFetch"],
    });
    await all("Go", options);
    const sent = (fetch.requests[0]!.body as any).tools.map(({ name }: { name: string }) => name);
    expect(sent).toEqual(["TodoWrite", "mcp__app__Bash", "mcp__app__Read"]);
  });

  it("gives the structured output", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { options } = scene([{ text: '{"n":7}' }], { outputFormat: { type: "json_schema", schema } });
    expect(resultOf(await all("Go", options))).toMatchObject({ structured_output: { n: 7 } });
  });

  it("ends with an error of the provider, and never throws for one", async () => {
    const { options } = scene([{ status: 401, body: { error: { message: "no" } } }]);
    const result = resultOf(await all("Go", options));
    expect(result).toMatchObject({
      subtype: "error_during_execution",
      terminal_reason: "model_error",
      num_turns: 0,
    });
  });

  it("an error of a handler is a result for the model", async () => {
    const broken = tool("broken", "Breaks", anything, () => ({
      content: [{ type: "text", text: "out of paper" }],
      isError: true,
    }));
    const { options } = scene([{ toolCalls: [{ name: "mcp__x__broken", input: {} }] }, { text: "Oh." }], {
      mcpServers: { x: createSdkMcpServer({ name: "x", tools: [broken] }) },
      allowedTools: ["mcp__x"],
    });
    const results = (await all("Go", options)).find(({ type }) => type === "user") as any;
    expect(results.message.content).toMatchObject([{ content: "out of paper", is_error: true }]);
  });

  it("is aborted by leaving the iteration, and by the abortController", async () => {
    const { options, calls } = scene(repair);
    for await (const message of query({ prompt: "Go", options })) if (message.type === "assistant") break;
    expect(calls.length).toBeLessThan(2);
    const abortController = new AbortController();
    const kept: SDKMessage[] = [];
    for await (const message of query({
      prompt: "Go",
      options: { ...scene(repair).options, abortController },
    })) {
      kept.push(message);
      if (message.type === "assistant") abortController.abort();
    }
    expect(resultOf(kept)).toMatchObject({ subtype: "error_during_execution", is_error: true });
    expect((resultOf(kept) as any).terminal_reason).toMatch(/^aborted_/);
  });

  it("refuses wrong options by their names", () => {
    const { options } = scene([]);
    for (const [wrong, words] of [
      [{ model: 7 }, /options\.model needs/],
      [{ maxTurns: "2" }, /options\.maxTurns needs a number/],
      [{ sandboxes: {} }, /options\.sandboxes is not an option/],
      [{ resume: "a", continue: true }, /options\.continue/],
      [{ forkSession: true }, /options\.forkSession/],
      [{ sessionId: "a", resume: "b" }, /options\.sessionId/],
      [{ systemPrompt: { type: "preset" } }, /options\.systemPrompt/],
      [
        { mcpServers: { far: { command: 5 } } },
        /options\.mcpServers\.far needs what createSdkMcpServer returns/,
      ],
      [
        { mcpServers: { far: { type: "sse" } } },
        /options\.mcpServers\.far needs what createSdkMcpServer returns/,
      ],
      [{ mcpServers: { far: { type: "http" } } }, /options\.mcpServers\.far needs/],
      [{ toolSearch: "auto:x" }, /options\.toolSearch/],
      [{ permissionMode: "bypassPermissions" }, /allowDangerouslySkipPermissions/],
      [{ model: "nobody-knows-1", maxBudgetUsd: 1 }, /price/],
    ] as [object, RegExp][])
      expect(() => query({ prompt: "Go", options: { ...options, ...wrong } as Options })).toThrow(words);
    expect(() => query({ prompt: 7 as unknown as string, options })).toThrow(/prompt needs/);
  });
});

describe("the end of a turn", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const misfits = { turns: [0, 1, 2, 3, 4, 5, 6].map(() => ({ text: '{"n":"x"}' })) };
  const costly = repair.map((turn) => ({ ...(turn as object), usage: { inputTokens: 1_000_000 } }));
  it.each<[string, Turns, Partial<Options>, string]>([
    ["success", [{ text: "Hi." }], {}, "completed"],
    ["error_max_turns", repair, { maxTurns: 1 }, "max_turns"],
    ["error_max_budget_usd", costly, { maxBudgetUsd: 5 }, "budget_exhausted"],
    ["error_during_execution", [{ status: 401 }], {}, "model_error"],
    [
      "error_max_structured_output_retries",
      misfits.turns,
      { outputFormat: { type: "json_schema", schema } },
      "structured_output_retry_exhausted",
    ],
  ])("S001-14: is %s", async (subtype, turns, more, terminal_reason) => {
    const result = resultOf(await all("Go", scene(turns, more).options));
    expect(result).toMatchObject({ subtype, terminal_reason, is_error: subtype !== "success" });
    expect("result" in result).toBe(subtype === "success");
    if (subtype === "error_max_budget_usd") expect(result.total_cost_usd).toBeGreaterThan(5);
  });

  it("tells of a model call that is tried again", async () => {
    const clock = {
      now: () => 0,
      setTimer: (callback: () => void) => setTimeout(callback),
      clearTimer: (timer: unknown) => clearTimeout(timer as number),
    };
    const { options } = scene([{ status: 529 }, { text: "Hi." }], { host: { clock } });
    const messages = await all("Go", options);
    const retry = messages.find((message) => "subtype" in message && message.subtype === "api_retry");
    expect(retry).toMatchObject({ attempt: 1, max_retries: 9, error_status: 529 });
    expect(resultOf(messages).subtype).toBe("success");
  });

  it("takes a call by an alias for a call of the tool, for rules and for messages", async () => {
    const { options, calls, fetch } = scene(
      [{ toolCalls: [{ name: "Bash", input: { command: "ls" } }] }, { text: "Listed." }],
      { toolAliases: { Bash: "mcp__app__Bash" }, canUseTool: undefined },
    );
    const messages = await all("List", options);
    expect(calls).toEqual(['Bash {"command":"ls"}']);
    expect(resultOf(messages).subtype).toBe("success");
    const [, answer] = (fetch.requests[1]!.body as any).messages;
    expect(answer.content).toMatchObject([{ type: "tool_use", name: "Bash" }]);
    const wrong = { ...options, toolAliases: { Bash: 3 } } as never;
    expect(() => query({ prompt: "List", options: wrong })).toThrow(/toolAliases\.Bash/);
  });

  it("runs hooks in the SDK's shape", async () => {
    const heard: string[] = [];
    const hook = (input: { hook_event_name: string; tool_name?: string }) => {
      heard.push(`${input.hook_event_name} ${input.tool_name}`);
      return { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "Not today." } };
    };
    const { options, calls } = scene([{ toolCalls: [use("Bash")] }, { text: "Oh." }], {
      hooks: { PreToolUse: [{ matcher: "mcp__app__Bash", hooks: [hook] }] },
    });
    const messages = await all("Go", options);
    expect(heard).toEqual(["PreToolUse mcp__app__Bash"]);
    expect(calls).toEqual([]);
    expect(JSON.stringify(messages)).toContain("Not today.");
  });
});

describe("agents", () => {
  const agents = {
    reader: {
      description: "Reads",
      prompt: "You read.",
      tools: ["mcp__app__Read"],
      model: "claude-haiku-4-5",
    },
  };
  const ask = {
    name: "Agent",
    input: { description: "Read it", prompt: "Read a.ts", subagent_type: "reader" },
  };
  const turns: Turns = [
    { toolCalls: [ask] },
    { text: "I look.", toolCalls: [use("Read", { file_path: "a.ts" })] },
    { text: "It says a." },
    { text: "The agent says: a." },
  ];

  it("answer with their last text alone, from conversations of their own", async () => {
    const { options, fetch, calls } = scene(turns, { agents });
    const messages = await all("Go", { ...options, allowedTools: ["Agent", "mcp__app__Read"] });
    const [first, child] = fetch.requests.map(({ body }) => body as any);
    expect(child.model).toBe("claude-haiku-4-5");
    expect(child.tools.map(({ name }: any) => name)).toEqual(["mcp__app__Read"]);
    expect(JSON.stringify(child)).not.toContain("Go");
    expect(first.tools.at(-1).name).toBe("Agent");
    expect(calls).toHaveLength(1);
    const id = (messages.find(({ type }) => type === "assistant") as any).message.content[0].id;
    const ofAgent = messages.filter((message: any) => message.parent_tool_use_id === id);
    expect(ofAgent.map((message: any) => message.message.content[0].type)).toEqual([
      "tool_use",
      "tool_result",
    ]);
    expect(kinds(messages).filter((kind) => kind !== "system/informational")).toEqual([
      ...["system/init", "assistant", "system/task_started", "assistant", "user", "system/task_notification"],
      ...["user", "assistant", "result/success"],
    ]);
    const result = resultOf(messages);
    expect(result).toMatchObject({ num_turns: 2, result: "The agent says: a." });
    expect(Object.keys(result.modelUsage).sort()).toEqual(["claude-haiku-4-5", "claude-sonnet-4-6"]);
    const costs = Object.values(result.modelUsage).map(({ costUSD }) => costUSD);
    expect(result.total_cost_usd).toBeCloseTo(costs.reduce((sum, cost) => sum + cost));
    expect(JSON.stringify(messages.at(-3))).toContain("It says a.");
  });

  it("tell their texts if they are asked to, and end with the query", async () => {
    const allowedTools = ["Agent", "mcp__app__Read"];
    const told = await all("Go", {
      ...scene(turns, { agents, forwardSubagentText: true }).options,
      allowedTools,
    });
    expect(JSON.stringify(told.filter((message: any) => message.parent_tool_use_id))).toContain("I look.");
    const { options, fetch } = scene(turns, { agents });
    for await (const message of query({ prompt: "Go", options: { ...options, allowedTools } }))
      if ("subtype" in message && message.subtype === "task_started") break;
    expect(fetch.requests.length).toBeLessThan(4);
  });

  it("a failure of their model is a result for the one that asked", async () => {
    const failing: Turns = [{ toolCalls: [ask] }, { status: 401 }, { text: "It failed." }];
    const messages = await all("Go", { ...scene(failing, { agents }).options, allowedTools: ["Agent"] });
    const notice = messages.find((message: any) => message.subtype === "task_notification") as any;
    expect(notice.status).toBe("failed");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", result: "It failed." });
  });
});
