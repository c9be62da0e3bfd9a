import { describe, expect, it } from "vitest";
import { createSdkMcpServer, query, tool, type Options, type SDKMessage } from "looplet/agent-sdk";
import type { McpFetch } from "looplet/mcp";
import { asking, server, sessionful, stateless } from "../../extras/mcp/servers.js";
import { all, anything, kinds, resultOf, scene, use, type Turns } from "./kit.js";

const initOf = (messages: readonly SDKMessage[]) =>
  messages.find((message) => "subtype" in message && message.subtype === "init") as any;

const bodiesOf = ({ fetch }: ReturnType<typeof scene>) => fetch.requests.map(({ body }) => body as any);

describe("servers beyond the process", () => {
  const far = (
    mcpFetch: NonNullable<Options["host"]>["mcpFetch"],
    turns: Turns,
    more: Partial<Options> = {},
  ) =>
    scene(turns, {
      mcpServers: { files: { type: "http", url: "https://files.test/mcp", trusted: true } },
      allowedTools: ["mcp__files"],
      host: { mcpFetch },
      ...more,
    });

  it("S001-34: servers give their tools, of which those that only read run beside each other", async () => {
    const calls = ["a.md", "b.md"].map((path) => ({ name: "mcp__files__read", input: { path } }));
    const { options, fetch } = far(stateless(() => server()).fetch, [
      { toolCalls: calls },
      { text: "Read." },
    ]);
    const messages = await all("Go", options);
    expect(initOf(messages)).toMatchObject({
      mcp_servers: [{ name: "files", status: "connected" }],
      tools: expect.arrayContaining(["mcp__files__read", "mcp__files__docs_search"]),
    });
    expect(JSON.stringify((fetch.requests[1]!.body as any).messages)).toContain("The text of b.md");
    expect(resultOf(messages).subtype).toBe("success");
  });

  it("S001-34: servers that fail do not fail the query, and init says which need an authorization", async () => {
    const refusing = async (url: string) =>
      new Response("no", { status: url.includes("locked") ? 401 : 500 });
    const { options } = far(refusing, [{ text: "Hi." }], {
      mcpServers: {
        locked: { type: "http", url: "https://locked.test/mcp" },
        down: { type: "http", url: "https://down.test/mcp" },
        near: createSdkMcpServer({ name: "near" }),
      },
    });
    const asked = query({ prompt: "Go", options });
    const messages: SDKMessage[] = [];
    for await (const message of asked) messages.push(message);
    const statuses = [
      { name: "locked", status: "needs-auth" },
      { name: "down", status: "failed" },
      { name: "near", status: "connected" },
    ];
    expect(initOf(messages).mcp_servers).toEqual(statuses);
    expect(await asked.mcpServerStatus()).toEqual(statuses);
    expect(JSON.stringify(messages)).toContain("mcpServers.down: ");
    expect(resultOf(messages).subtype).toBe("success");
  });

  it("S001-34: servers ask the user by onElicitation, and sessions end with the query", async () => {
    const serving = sessionful(() => asking(false));
    const { options } = far(
      serving.fetch,
      [{ toolCalls: [{ name: "mcp__files__remove", input: {} }] }, { text: "Gone." }],
      {
        onElicitation: ({ serverName, server }) => {
          expect([serverName, server]).toEqual(["files", { name: "files", url: "https://files.test/mcp" }]);
          return { action: "accept", content: { sure: true } };
        },
      },
    );
    expect(JSON.stringify(await all("Go", options))).toContain("accept");
    expect(serving.requests.at(-1)!.method).toBe("DELETE");
  });
});

describe("the names of servers", () => {
  const near = createSdkMcpServer({ name: "near", tools: [tool("x", "Does", anything, () => "done")] });

  it("make names of tools with one reading", async () => {
    const { options } = scene([{ text: "Hi." }], { mcpServers: { "my app": near } });
    expect(initOf(await all("Go", options)).tools).toContain("mcp__my_app__x");
    const clashing: Options["mcpServers"][] = [
      { a__b: near },
      { a_: near },
      { "my app": near, my_app: near },
    ];
    for (const mcpServers of clashing)
      await expect(all("Go", { ...options, mcpServers })).rejects.toThrow(/mcpServers\./);
  });
});

describe("ToolSearch", () => {
  const many = createSdkMcpServer({
    name: "app",
    tools: [
      tool("weather", "Tells the weather of a city", anything, () => "sunny"),
      tool("stocks", "Tells prices", anything, () => "42", { searchHint: "shares market" }),
      tool("clock", "Tells the time", anything, () => "noon", { alwaysLoad: true }),
    ],
  });
  const search = (input: object) => ({ toolCalls: [{ name: "ToolSearch", input }] });
  const searching = (turns: Turns, more: Partial<Options> = {}) =>
    scene(turns, { mcpServers: { app: many }, allowedTools: ["mcp__app"], toolSearch: true, ...more });
  const offered = ({ tools }: any) =>
    tools.map(({ name }: any) => name).filter((name: string) => name !== "TodoWrite");

  it("S001-33, S001-35: finds tools by words and by names, and offers them behind all others from then on", async () => {
    const scened = searching([
      search({ query: "the stock MARKET", max_results: 1 }),
      { toolCalls: [use("stocks")] },
      search({ query: "select:mcp__app__weather" }),
      { text: "Done." },
    ]);
    const messages = await all("Go", scened.options);
    expect(bodiesOf(scened).map(offered)).toEqual([
      ["mcp__app__clock", "ToolSearch"],
      ["mcp__app__clock", "ToolSearch", "mcp__app__stocks"],
      ["mcp__app__clock", "ToolSearch", "mcp__app__stocks"],
      ["mcp__app__clock", "ToolSearch", "mcp__app__stocks", "mcp__app__weather"],
    ]);
    const first = JSON.stringify(bodiesOf(scened)[0].tools);
    expect(first).toContain("mcp__app__weather, mcp__app__stocks");
    expect(first).not.toContain("Tells the weather");
    expect(JSON.stringify(messages)).toContain("42");
  });

  it("S001-33: keeps what was found when the session goes on", async () => {
    const first = resultOf(
      await all("Go", searching([search({ query: "weather" }), { text: "Found." }]).options),
    );
    const next = searching([{ text: "Hi." }], { resume: first.session_id });
    await all("And now?", next.options);
    expect(offered(bodiesOf(next)[0]).at(-1)).toBe("mcp__app__weather");
  });

  it("says so when nothing fits", async () => {
    const messages = await all("Go", searching([search({ query: "zebra" }), { text: "None." }]).options);
    expect(JSON.stringify(messages)).toContain("No tool fits");
  });

  it("S001-35: is there only where it saves something, unless it is asked for", async () => {
    const names = async (toolSearch: Options["toolSearch"]) => {
      const scened = searching([{ text: "Hi." }], { toolSearch });
      await all("Go", scened.options);
      return offered(bodiesOf(scened)[0]);
    };
    const whole = ["mcp__app__weather", "mcp__app__stocks", "mcp__app__clock"];
    expect(await names("auto")).toEqual(whole);
    expect(await names(false)).toEqual(whole);
    expect(await names("auto:0")).toEqual(["mcp__app__clock", "ToolSearch"]);
  });
});

describe("a query under way", () => {
  const agents = { reader: { description: "Reads", prompt: "You read." } };
  const ask = { name: "Agent", input: { description: "Read", prompt: "Read a", subagent_type: "reader" } };

  it("stops when it and its agents have spent the budget", async () => {
    const usage = { inputTokens: 100_000, outputTokens: 10 };
    const turns: Turns = [{ toolCalls: [ask] }, { text: "It says a.", usage }, { text: "never said" }];
    const { options, fetch } = scene(turns, { agents, allowedTools: ["Agent"], maxBudgetUsd: 0.2 });
    const result = resultOf(await all("Go", options));
    expect(result).toMatchObject({ subtype: "error_max_budget_usd", terminal_reason: "budget_exhausted" });
    expect(fetch.requests).toHaveLength(2);
    expect(result.total_cost_usd).toBeGreaterThan(0.2);
  });

  it("gives an agent what is left of the budget, and the mode that counts now", async () => {
    const usage = { inputTokens: 100_000, outputTokens: 10 };
    const turns: Turns = [
      { toolCalls: [ask] },
      { text: "I look.", toolCalls: [use("Bash")], usage },
      { text: "never said" },
    ];
    const { options, calls } = scene(turns, {
      agents,
      allowedTools: ["Agent", "mcp__app__Bash"],
      maxBudgetUsd: 0.2,
    });
    const result = resultOf(await all("Go", options));
    expect(calls).toEqual([]);
    expect(result.subtype).toBe("error_max_budget_usd");
    const plain = scene([{ toolCalls: [ask] }, { toolCalls: [use("Bash")] }, { text: "a" }, { text: "b" }], {
      agents,
      allowedTools: ["Agent"],
      canUseTool: async (_, input) => ({ behavior: "allow", updatedInput: input }),
    });
    const asked = query({ prompt: "Go", options: plain.options });
    for await (const message of asked)
      if ("subtype" in message && message.subtype === "task_started")
        await asked.setPermissionMode("dontAsk");
    expect(plain.calls).toEqual([]);
  });

  it("tells of hooks with includeHookEvents", async () => {
    const hooks: Options["hooks"] = {
      PreToolUse: [{ matcher: "mcp__app__Read", hooks: [async () => ({ systemMessage: "looked" })] }],
    };
    const turns: Turns = [{ toolCalls: [use("Read")] }, { text: "Done." }];
    const messages = await all("Go", scene(turns, { hooks, includeHookEvents: true }).options);
    const [started, response] = messages.filter((message: any) => /^hook_/.test(message.subtype)) as any[];
    expect(started).toMatchObject({ subtype: "hook_started", hook_event: "PreToolUse" });
    expect(response).toMatchObject({
      subtype: "hook_response",
      hook_id: started.hook_id,
      hook_name: "PreToolUse:mcp__app__Read",
      outcome: "success",
      output: '{"systemMessage":"looked"}',
    });
    expect(kinds(await all("Go", scene(turns, { hooks }).options)).join()).not.toContain("hook_");
  });

  /** A tool that waits until `open` is called. */
  function gate() {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const wait = tool("wait", "Waits", anything, () => opened.then(() => "waited"));
    const mcpServers = { app: createSdkMcpServer({ name: "app", tools: [wait] }) };
    return { open, more: { mcpServers, allowedTools: ["mcp__app"] } };
  }

  it("S001-08: ends with its round of tools when the worker shuts down, and is resumed elsewhere", async () => {
    const { open, more } = gate();
    const first = scene([{ toolCalls: [use("wait")] }, { text: "never said" }], more);
    const asked = query({ prompt: "Go", options: first.options });
    const messages: SDKMessage[] = [];
    for await (const message of asked) {
      messages.push(message);
      if (message.type !== "assistant") continue;
      void asked.shutdown("deploy");
      open();
    }
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: "worker_shutting_down", reason: "deploy" }),
    );
    expect(resultOf(messages)).toMatchObject({
      subtype: "error_during_execution",
      terminal_reason: "worker_shutting_down",
    });
    const next = scene([{ text: "Done." }], { resume: messages[0]!.session_id });
    expect(resultOf(await all("Go on", next.options)).subtype).toBe("success");
    expect(next.fetch.requests[0]!.bodyText).toContain("waited");
  });

  it("takes other servers from its next turn on, and closes those of before", async () => {
    const before = sessionful(() => server());
    const mcpFetch: McpFetch = async (url, init) =>
      url.includes("before") ? before.fetch(url, init) : new Response("no", { status: 500 });
    const { options, fetch } = scene([{ text: "One." }, { text: "Two." }], {
      mcpServers: { before: { type: "http", url: "https://before.test/mcp" } },
      host: { mcpFetch },
    });
    const { mcpServers } = gate().more;
    const down = { type: "http", url: "https://down.test/mcp" } as const;
    const say = (content: string) => ({ type: "user" as const, message: { role: "user" as const, content } });
    let isAnswered = (): void => {};
    const answered = new Promise<void>((resolve) => (isAnswered = resolve));
    let changed: unknown;
    async function* prompts() {
      yield say("First");
      await answered;
      changed = await asked.setMcpServers({ ...mcpServers, down });
      yield say("Second");
    }
    const asked = query({ prompt: prompts(), options });
    for await (const message of asked) if (message.type === "result") isAnswered();
    expect(changed).toMatchObject({
      added: ["app", "down"],
      removed: ["before"],
      errors: { down: expect.stringContaining("500") },
    });
    const names = fetch.requests.map(({ body }) =>
      (body as any).tools.map(({ name }: any) => name).filter((name: string) => name.startsWith("mcp__")),
    );
    expect(names[0]).toContain("mcp__before__read");
    expect(names[1]).toEqual(["mcp__app__wait"]);
    expect((fetch.requests[1]!.body as any).messages).toHaveLength(3);
    expect(before.requests.at(-1)!.method).toBe("DELETE");
    await expect(asked.setMcpServers({ a: { type: "sse" } } as any)).rejects.toThrow(/a needs what/);
  });

  it("names options of the process, which do nothing here", async () => {
    const more = { executable: "bun", stderr: () => {} } as Partial<Options>;
    const messages = await all("Go", scene([{ text: "Hi." }], more).options);
    expect(JSON.stringify(messages)).toContain("These options do nothing here: executable, stderr.");
  });

  it("says what it has, and changes how long the model may think in the next turn", async () => {
    const { options, fetch } = scene([{ text: "One." }, { text: "Two." }], { agents });
    const say = (content: string) => ({ type: "user" as const, message: { role: "user" as const, content } });
    let isAnswered = (): void => {};
    const answered = new Promise<void>((resolve) => (isAnswered = resolve));
    async function* prompts() {
      yield say("First");
      await answered;
      await asked.setMaxThinkingTokens(2048);
      yield say("Second");
    }
    const asked = query({ prompt: prompts(), options });
    for await (const message of asked) if (message.type === "result") isAnswered();
    expect(await asked.supportedAgents()).toEqual([{ name: "reader", description: "Reads" }]);
    expect((await asked.supportedCommands()).map(({ name }) => name)).toContain("clear");
    const [first, second] = fetch.requests.map(({ body }) => body as any);
    expect(first.thinking).toBeUndefined();
    expect(first.output_config).toEqual({ effort: "high" });
    expect(second.thinking).toMatchObject({ budget_tokens: 2048 });
  });
});
