/** Tools that vendors define, next to tools of the agent: what goes out, and what comes back. */
import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  gemini,
  openai,
  openaiChat,
  tool,
  vendorTool,
  type Model,
  type RunEvent,
} from "looplet";
import { memoryVfs } from "looplet/vfs";
import { anthropicTools, geminiTools, openaiTools } from "looplet/vendors";

type Made = (options: { fetch: never }) => Model;

/** A model that gives these answers, whole, and the requests that it gets. */
function answering(make: Made, ...answers: object[]): { model: Model; requests: Sent[] } {
  const requests: Sent[] = [];
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    const body = JSON.parse(new TextDecoder().decode(init.body as Uint8Array)) as Sent["body"];
    requests.push({ body, headers: Object.fromEntries(new Headers(init.headers)) });
    return Response.json(answers[requests.length - 1] ?? answers.at(-1)!);
  };
  return { model: make({ fetch: fetch as never }), requests };
}

interface Sent {
  body: any;
  headers: { [name: string]: string };
}

const claude: Made = ({ fetch }) =>
  anthropic("claude-opus-5-5", { fetch, stream: false, promptCaching: false });
const gpt: Made = ({ fetch }) => openai("gpt-5.6", { fetch, stream: false });
const pro: Made = ({ fetch }) => gemini("gemini-3.5-pro", { fetch, stream: false });
const chat: Made = ({ fetch }) => openaiChat("gpt-4.1", { fetch, stream: false });

const usage = { input_tokens: 5, output_tokens: 5 };
const said = (...content: object[]) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-5-5",
  usage,
  content: content.length > 0 ? content : [{ type: "text", text: "Done." }],
  stop_reason: content.some((block: any) => block.type === "tool_use") ? "tool_use" : "end_turn",
});
const done = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] };
const items = (...output: object[]) => ({
  id: "r",
  status: "completed",
  usage,
  output: output.length ? output : [done],
});

const mine = tool({
  description: "Looks it up",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
  execute: () => "found",
});

describe("what a request has", () => {
  it("a vendor's tool goes out as it is, next to own tools and in their order", async () => {
    const { model, requests } = answering(claude, said());
    const tools = {
      search: vendorTool(anthropicTools.webSearch({ maxUses: 3, allowedCallers: ["direct"] })),
      mine,
    };
    await createAgent({ model, tools }).run("go").result;
    expect(requests[0]!.body.tools).toEqual([
      { type: "web_search_20260318", name: "web_search", max_uses: 3, allowed_callers: ["direct"] },
      { name: "mine", description: "Looks it up", input_schema: mine.inputSchema },
    ]);
  });

  it("an entry that looplet does not know goes to the protocol of the agent's model", async () => {
    const entry = { type: "telepathy_20270101", name: "telepathy", range: [1, 2] };
    for (const make of [claude, gpt, chat]) {
      const { model, requests } = answering(make, { error: { message: "x" } });
      const agent = createAgent({
        model,
        tools: { mind: vendorTool(entry), mine },
        retry: { maxRetries: 0 },
      });
      await agent.run("go").result;
      expect(requests[0]!.body.tools[0]).toEqual(entry);
      expect(requests[0]!.body.tools).toHaveLength(2);
    }
  });

  it("tools in the model's body come behind own tools, and win over one of the same name", async () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const other = { name: "other", description: "body's", input_schema: { type: "object" } };
    const withBody: Made = ({ fetch }) =>
      anthropic("claude-opus-5-5", {
        fetch,
        stream: false,
        promptCaching: false,
        body: { tools: [search, other] },
      });
    const { model, requests } = answering(withBody, said());
    await createAgent({ model, tools: { other: mine, mine } }).run("go").result;
    expect(requests[0]!.body.tools.map(({ name }: { name: string }) => name)).toEqual([
      "mine",
      "web_search",
      "other",
    ]);
    expect(requests[0]!.body.tools[2]).toEqual(other);
  });

  it("a null in the model's body takes all tools away", async () => {
    const bare: Made = ({ fetch }) =>
      anthropic("claude-opus-5-5", { fetch, stream: false, body: { tools: null } });
    const { model, requests } = answering(bare, said());
    await createAgent({ model, tools: { mine } }).run("go").result;
    expect(requests[0]!.body).not.toHaveProperty("tools");
  });

  it("an MCP server brings its header and its address along, joined with the caller's", async () => {
    const server = { type: "url", url: "https://mine.example", name: "mine" };
    const own: Made = ({ fetch }) =>
      anthropic("claude-opus-5-5", {
        fetch,
        stream: false,
        headers: { "anthropic-beta": "one" },
        body: { mcp_servers: [server] },
      });
    const { model, requests } = answering(own, said());
    const docs = { name: "docs", url: "https://docs.example", authorizationToken: "t" };
    const tools = {
      docs: vendorTool(anthropicTools.mcp({ ...docs, configs: { find: { deferLoading: true } } })),
      advice: vendorTool(anthropicTools.advisor({ model: "claude-fable-5-2" })),
    };
    await createAgent({ model, tools }).run("go").result;
    const { body, headers } = requests[0]!;
    expect(headers["anthropic-beta"]!.split(",")).toEqual([
      "one",
      expect.stringContaining("thinking-binding"),
      "mcp-client-2025-11-20",
      "advisor-tool-2026-03-01",
    ]);
    expect(body.mcp_servers).toEqual([
      server,
      { type: "url", url: "https://docs.example", name: "docs", authorization_token: "t" },
    ]);
    expect(body.tools[0]).toEqual({
      type: "mcp_toolset",
      mcp_server_name: "docs",
      configs: { find: { defer_loading: true } },
    });
  });

  it("Gemini gets declarations and Google's tools in one list, and tells of its own calls", async () => {
    const { model, requests } = answering(pro, {
      candidates: [{ content: { parts: [{ text: "Done." }] }, finishReason: "STOP" }],
    });
    const tools = { search: vendorTool(geminiTools.googleSearch()), mine };
    await createAgent({ model, tools }).run("go").result;
    const { body } = requests[0]!;
    expect(body.tools).toEqual([
      { functionDeclarations: [expect.objectContaining({ name: "mine" })] },
      { googleSearch: {} },
    ]);
    expect(body.toolConfig).toEqual({ includeServerSideToolInvocations: true });
  });

  it("without own tools Gemini needs no such field", async () => {
    const { model, requests } = answering(pro, {
      candidates: [{ content: { parts: [{ text: "Done." }] }, finishReason: "STOP" }],
    });
    await createAgent({ model, tools: { search: vendorTool(geminiTools.googleSearch()) } }).run("go").result;
    expect(requests[0]!.body.tools).toEqual([{ googleSearch: {} }]);
    expect(requests[0]!.body).not.toHaveProperty("toolConfig");
  });

  it("a model of another protocol does not get the tool, and a warning names it", async () => {
    const broken: Made = ({ fetch }) => anthropic("claude-opus-5-5", { fetch, stream: false });
    const first = answering(broken, { type: "error", error: { type: "overloaded_error", message: "x" } });
    const second = answering(gpt, items());
    const tools = { search: vendorTool(anthropicTools.webSearch()), mine };
    const warnings: string[] = [];
    const agent = createAgent({
      model: first.model,
      fallbackModels: [second.model],
      tools,
      retry: { maxRetries: 0 },
    });
    const onEvent = (event: RunEvent): void => {
      if (event.type === "warning") warnings.push(`${event.code}: ${event.message}`);
    };
    expect((await agent.run("go", { onEvent }).result).outcome).toBe("completed");
    expect(first.requests[0]!.body.tools).toHaveLength(2);
    expect(second.requests[0]!.body.tools).toEqual([expect.objectContaining({ name: "mine" })]);
    expect(warnings.filter((text) => text.startsWith("vendor_tool"))).toEqual([
      expect.stringMatching(/^vendor_tool_not_sent: .*openai_responses.*: search\.$/),
    ]);
  });

  it("a rule that denies the tool keeps it out of the request, and so does prepareIteration", async () => {
    const { model, requests } = answering(claude, said());
    const tools = { search: vendorTool(anthropicTools.webSearch()), mine };
    await createAgent({
      model,
      tools,
      permissions: { deny: ["search"] },
    }).run("go").result;
    await createAgent({ model, tools, prepareIteration: () => ({ tools: ["mine"] }) }).run("go").result;
    for (const { body } of requests) expect(body.tools).toEqual([expect.objectContaining({ name: "mine" })]);
  });

  it("no call of a hosted tool reaches the run", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "search", input: {} };
    const { model, requests } = answering(claude, said(call), said());
    const tools = { search: vendorTool(anthropicTools.webSearch()), mine };
    await createAgent({ model, tools }).run("go").result;
    expect(JSON.stringify(requests[1]!.body.messages.at(-1))).toMatch(/unknown_tool.*Use one of: mine/);
  });
});

describe("tools that the vendor defines and your code runs", () => {
  it("memory keeps files below /memories", async () => {
    const vfs = memoryVfs();
    const call = (input: object, at: number) => ({ type: "tool_use", id: `t${at}`, name: "memory", input });
    const path = "/memories/a.md";
    const commands = [
      { command: "view", path: "/memories" },
      { command: "create", path, file_text: "one\ntwo\n" },
      { command: "str_replace", path, old_str: "two", new_str: "2" },
      { command: "insert", path, insert_line: 0, insert_text: "zero" },
      { command: "view", path, view_range: [1, 2] },
      { command: "rename", old_path: path, new_path: "/memories/b/c.md" },
      { command: "view", path: "/memories" },
      { command: "view", path: "/memories/../secret" },
      { command: "delete", path: "/memories" },
      { command: "delete", path: "/memories/b" },
    ];
    const { model, requests } = answering(
      claude,
      ...commands.map((input, at) => said(call(input, at))),
      said(),
    );
    const agent = createAgent({ model, tools: { memory: vendorTool(anthropicTools.memory(vfs)) } });
    const { toolCalls } = await agent.run("go").result;
    expect(requests[0]!.body.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
    expect(toolCalls.map(({ isError, output }) => (isError ? (output as any).message : output))).toEqual([
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0.0K\t/memories",
      "File created successfully at: /memories/a.md",
      "The memory file has been edited.\n     1\tone\n     2\t2\n     3\t",
      "The file /memories/a.md has been edited.",
      "Here's the content of /memories/a.md with line numbers:\n     1\tzero\n     2\tone",
      "Successfully renamed /memories/a.md to /memories/b/c.md",
      expect.stringContaining("0.0K\t/memories/b\n0.0K\t/memories/b/c.md"),
      expect.stringMatching(/leads out|does not lie below/),
      expect.stringContaining("folder of all memories"),
      "Successfully deleted /memories/b",
    ]);
    expect(await vfs.list("/memories")).toEqual([]);
  });

  it("members of a toolset are tools, and their results name the toolset", async () => {
    const member = {
      type: "tool_use",
      id: "t1",
      name: "navigate",
      toolset_name: "browser",
      input: { url: "https://a.example" },
    };
    const { model, requests } = answering(claude, said(member), said());
    const seen: unknown[] = [];
    const tools = {
      ...anthropicTools.browser({ navigate: (input) => (seen.push(input), "loaded") }),
      mine,
    };
    const events: RunEvent[] = [];
    const agent = createAgent({ model, tools, permissions: { allow: ["browser_navigate"] } });
    const { messages } = await agent.run("go", { onEvent: (event) => void events.push(event) }).result;
    expect(seen).toEqual([{ url: "https://a.example" }]);
    expect(requests[0]!.body.tools).toHaveLength(2);
    const [{ type, configs }] = requests[0]!.body.tools;
    expect({ type, on: configs.navigate, off: configs.screenshot }).toEqual({
      type: "browser_toolset_20260801",
      on: { enabled: true },
      off: { enabled: false },
    });
    const [, answer, results] = requests[1]!.body.messages;
    expect(answer.content).toEqual([member]);
    expect(results.content).toEqual([
      { type: "tool_result", tool_use_id: "t1", content: "loaded", is_error: false, toolset_name: "browser" },
    ]);
    expect(events.find(({ type }) => type === "tool-call")).toMatchObject({ toolName: "browser_navigate" });
    expect(JSON.stringify(messages)).toContain("browser_navigate");
  });

  it("a tool that the model calls by a name needs that name", () => {
    const { model } = answering(claude, said());
    const notes = vendorTool(anthropicTools.memory(memoryVfs()));
    expect(() => createAgent({ model, tools: { notes } })).toThrow(/tools\.notes.*"memory"/);
    expect(() => createAgent({ model, tools: [notes as never] })).not.toThrow();
  });

  it("shell, patches and custom tools of OpenAI are calls with results of their own types", async () => {
    const shell = {
      type: "shell_call",
      id: "sh_1",
      call_id: "c1",
      status: "completed",
      action: { commands: ["ls"], timeout_ms: 100 },
      caller: { type: "program", caller_id: "p" },
    };
    const operation = { type: "delete_file", path: "a.ts" };
    const patch = { type: "apply_patch_call", id: "ap_1", call_id: "c2", status: "completed", operation };
    const custom = {
      type: "custom_tool_call",
      id: "ct_1",
      call_id: "c3",
      name: "sql",
      input: "SELECT 1",
      status: "completed",
    };
    const { model, requests } = answering(gpt, items(shell, patch, custom), items());
    const ran: unknown[] = [];
    const outputs = [{ stdout: "a.ts", stderr: "", outcome: { type: "exit", exit_code: 0 } }];
    const tools = {
      terminal: vendorTool(openaiTools.shell((input) => (ran.push(input), outputs))),
      patch: vendorTool(
        openaiTools.applyPatch((input) => {
          ran.push(input);
          throw new Error("no such file");
        }),
      ),
      sql: vendorTool(
        openaiTools.custom({
          name: "sql",
          grammar: { syntax: "lark", definition: "start: /.+/" },
          execute: ({ input }) => (ran.push(input), "1"),
        }),
      ),
    };
    const { toolCalls } = await createAgent({ model, tools }).run("go").result;
    expect(requests[0]!.body.tools).toEqual([
      { type: "shell", environment: { type: "local" } },
      { type: "apply_patch" },
      { type: "custom", name: "sql", format: { type: "grammar", syntax: "lark", definition: "start: /.+/" } },
    ]);
    expect(ran).toEqual([{ action: shell.action }, { operation }, "SELECT 1"]);
    expect(toolCalls.map(({ toolName }) => toolName)).toEqual(["terminal", "patch", "sql"]);
    expect(requests[1]!.body.input.slice(1)).toEqual([
      shell,
      patch,
      custom,
      { type: "shell_call_output", call_id: "c1", output: outputs, caller: shell.caller },
      {
        type: "apply_patch_call_output",
        call_id: "c2",
        status: "failed",
        output: expect.stringContaining("no such file"),
      },
      { type: "custom_tool_call_output", call_id: "c3", output: "1" },
    ]);
  });

  it("the result of a program's call says who has called", async () => {
    const caller = { type: "program", caller_id: "prog_1" };
    const call = {
      type: "function_call",
      id: "fc_1",
      call_id: "c1",
      name: "mine",
      arguments: "{}",
      caller,
      status: "completed",
    };
    const { model, requests } = answering(gpt, items(call), items());
    const tools = { program: vendorTool(openaiTools.programmaticToolCalling()), mine };
    await createAgent({ model, tools }).run("go").result;
    expect(requests[1]!.body.input.at(-1)).toEqual({
      type: "function_call_output",
      call_id: "c1",
      output: "found",
      caller,
    });
  });

  it("a tool whose entry says async is run like any other, and its call goes back with that", async () => {
    const entry = { type: "custom", name: "job", async: true };
    const call = {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "c1",
      name: "job",
      input: "a",
      async: true,
    };
    const { model, requests } = answering(gpt, items(call, done), items());
    const job = vendorTool({ entry, execute: () => "did" });
    const result = await createAgent({ model, tools: { job } }).run("go").result;
    expect(result.outcome).toBe("completed");
    expect(requests[0]!.body.tools).toEqual([entry]);
    expect(requests[1]!.body.input.slice(1)).toEqual([
      expect.objectContaining({ type: "custom_tool_call", call_id: "c1", input: "a", async: true }),
      expect.objectContaining({ role: "assistant" }),
      { type: "custom_tool_call_output", call_id: "c1", output: "did" },
    ]);
  });
});
