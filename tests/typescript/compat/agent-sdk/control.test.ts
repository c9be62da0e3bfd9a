import { describe, expect, it } from "vitest";
import {
  InMemorySessionStore,
  deleteSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  listSubagents,
  query,
  renameSession,
  sessionStoreOf,
  tagSession,
  type SDKMessage,
  type SDKUserInput,
} from "looplet/agent-sdk";
import { memoryStore } from "looplet/stores";
import { memoryVfs } from "looplet/vfs";
import { all, kinds, resultOf, scene, use, type Turns } from "./kit.js";

const warnings = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) =>
    "subtype" in message && message.subtype === "informational" && message.level === "warning"
      ? [message.content]
      : [],
  );

describe("messages of the user", () => {
  async function* said(...contents: unknown[]) {
    for (const content of contents)
      yield { type: "user", message: { role: "user", content } } as unknown as SDKUserInput;
  }

  it("images by their address, and results of tools as blocks, are taken", async () => {
    const { options, fetch } = scene([{ text: "A cat." }]);
    const image = { type: "image", source: { type: "url", url: "https://a.test/cat.png?x=1" } };
    await all(said([{ type: "text", text: "Look" }, image]), options);
    expect((fetch.requests[0]!.body as any).messages[0].content).toMatchObject([{ text: "Look" }, image]);
    const id = resultOf(await all(said([image]), scene([{ text: "A cat." }]).options)).session_id;
    expect((await getSessionMessages(id))[0]!.message.content).toEqual([image]);
  });

  it("a block that no model takes is left out with a warning, and throws nothing", async () => {
    const { options, fetch } = scene([{ text: "Hi." }]);
    const messages = await all(
      said(
        [{ type: "hologram" }, { type: "text", text: "Hello" }],
        [{ type: "image", source: { type: "file" } }],
        7,
        "  ",
      ),
      options,
    );
    expect(kinds(messages).at(-1)).toBe("result/success");
    expect(fetch.requests).toHaveLength(1);
    expect(warnings(messages)).toEqual([
      expect.stringContaining('"hologram"'),
      expect.stringContaining('"image"'),
      ...Array(2).fill("A message of the user without content is left out."),
      "A prompt without text is left out.",
    ]);
  });
});

describe("file checkpoints", () => {
  const write = (file_path: string, content: string) => ({ name: "Write", input: { file_path, content } });

  it("go back to each message, and only with the option", async () => {
    const vfs = memoryVfs({ "/a": "0" });
    const turns: Turns = [
      { toolCalls: [write("/a", "1")] },
      { toolCalls: [write("/a", "2"), write("/b", "2")] },
      { text: "Done." },
    ];
    const { options } = scene(turns, {
      permissionMode: "acceptEdits",
      enableFileCheckpointing: true,
      host: { vfs },
    });
    const asked = query({ prompt: "Go", options });
    const results: string[] = [];
    for await (const message of asked) if (message.type === "user") results.push(message.uuid);
    const text = async (path: string) => new TextDecoder().decode((await vfs.read(path)) ?? new Uint8Array());
    expect(await asked.rewindFiles("other")).toMatchObject({
      canRewind: false,
      error: expect.stringContaining("other"),
    });
    expect(await asked.rewindFiles(results[0]!)).toEqual({
      canRewind: true,
      filesChanged: ["/a", "/b"],
      insertions: 1,
      deletions: 2,
    });
    expect([await text("/a"), await text("/b")]).toEqual(["1", ""]);
    const plain = query({ prompt: "Go", options: scene([{ text: "Hi." }], { host: { vfs } }).options });
    for await (const _ of plain);
    expect(await plain.rewindFiles(results[0]!)).toMatchObject({ canRewind: false });
  });
});

describe("the methods of a query", () => {
  it("that have no meaning here reject with the reason", async () => {
    const asked = query({ prompt: "Go", options: scene([{ text: "Hi." }]).options });
    for (const method of [
      ...(["setMcpPermissionModeOverride", "applyFlagSettings", "updateSettings", "reloadPlugins"] as const),
      ...([
        "reloadSkills",
        "reloadOutputStyles",
        "seedReadState",
        "backgroundTasks",
        "readMcpResource",
      ] as const),
      "usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET" as const,
    ])
      await expect((asked[method] as () => Promise<unknown>)()).rejects.toThrow(
        new RegExp(`query: ${method} is not part of`),
      );
    for await (const _ of asked);
  });

  it("tell what fills the window, and read files", async () => {
    const vfs = memoryVfs({ "/app/a.txt": "äbc", "/app/CLAUDE.md": "Use tabs." });
    const { options } = scene([{ text: "Hi.", usage: { inputTokens: 1000, outputTokens: 10 } }], {
      cwd: "/app",
      systemPrompt: "You mend.",
      settingSources: ["project"],
      host: { vfs },
    });
    const asked = query({ prompt: "Go", options });
    for await (const message of asked) {
      if (message.type !== "result") continue;
      const usage = await asked.getContextUsage();
      expect(usage).toMatchObject({ totalTokens: 1010, maxTokens: 1_000_000, model: "claude-sonnet-4-6" });
      expect(usage.isAutoCompactEnabled).toBe(true);
      expect(usage.categories.map(({ name }) => name)).toEqual([
        ...["System prompt", "System tools", "MCP tools", "Memory files", "Messages", "Free space"],
      ]);
      expect(usage.memoryFiles).toMatchObject([{ path: "/app/CLAUDE.md" }]);
      expect(usage.mcpTools.map(({ name }) => name)).toContain("mcp__app__Read");
    }
    expect(await asked.readFile("a.txt")).toEqual({ contents: "äbc", absPath: "/app/a.txt" });
    expect(await asked.readFile("a.txt", { maxBytes: 2, encoding: "base64" })).toEqual({
      contents: "w6Q=",
      absPath: "/app/a.txt",
      truncated: true,
      encoding: "base64",
    });
    expect(await asked.readFile("b.txt")).toBeNull();
  });

  it("take a server away and give it back", async () => {
    const { options, fetch } = scene([{ text: "1." }, { text: "2." }, { text: "3." }]);
    const prompts = ["One", "Two", "Three"];
    let next = (): void => {};
    async function* said() {
      for (const content of prompts) {
        yield { type: "user" as const, message: { role: "user" as const, content } };
        await new Promise<void>((resolve) => (next = resolve));
      }
    }
    const asked = query({ prompt: said(), options });
    let turn = 0;
    for await (const message of asked) {
      if (message.type !== "result") continue;
      if (turn < 2) await asked.toggleMcpServer("app", turn === 1);
      turn += 1;
      next();
    }
    const counts = fetch.requests.map(({ body }) => (body as any).tools.length);
    expect(counts).toEqual([4, 1, 4]);
    await expect(asked.toggleMcpServer("other", true)).rejects.toThrow(/no server "other"/);
    await expect(asked.reconnectMcpServer("other")).rejects.toThrow(/no server "other"/);
    await asked.reconnectMcpServer("app");
  });
});

describe("sessions for people", () => {
  const agents = { reader: { description: "Reads", prompt: "You read." } };
  const ask = { name: "Agent", input: { description: "Read", prompt: "Read a", subagent_type: "reader" } };
  const turns: Turns = [
    { toolCalls: [ask] },
    { toolCalls: [use("Read")] },
    { text: "It says a." },
    { text: "Done." },
  ];

  it.each([
    ["memory", () => new InMemorySessionStore()],
    ["a store", () => sessionStoreOf(memoryStore())],
  ])("in %s have titles, tags, and the conversations of agents", async (_, made) => {
    const sessionStore = made();
    const allowedTools = ["Agent", "mcp__app__Read"];
    const messages = await all(
      "Go",
      scene(turns, { agents, allowedTools, sessionStore, title: "First" }).options,
    );
    const id = messages[0]!.session_id;
    const place = { sessionStore };
    expect(await getSessionInfo(id, place)).toMatchObject({
      summary: "First",
      customTitle: "First",
      firstPrompt: "Go",
    });
    await renameSession(id, "Second ", place);
    await tagSession(id, "kept", place);
    expect((await listSessions(place))[0]).toMatchObject({ summary: "Second", tag: "kept" });
    await tagSession(id, null, place);
    expect(await getSessionInfo(id, place)).not.toHaveProperty("tag");
    await expect(renameSession(id, " ", place)).rejects.toThrow(/empty/);
    await expect(renameSession("gone", "x", place)).rejects.toThrow(/no session/);
    expect(await getSessionMessages(id, place)).toHaveLength(4);
    const call = (messages.find(({ type }) => type === "assistant") as any).message.content[0].id;
    expect(await listSubagents(id, place)).toEqual([call]);
    const ofAgent = await getSubagentMessages(id, call, place);
    expect(ofAgent.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(ofAgent[3]).toMatchObject({
      message: { content: [{ text: "It says a." }] },
      parent_tool_use_id: call,
    });
    const resumed = scene([{ text: "Yes." }], { sessionStore, resume: id, title: "Other" });
    await all("Still there?", resumed.options);
    expect(resumed.fetch.requests[0]!.bodyText).not.toContain('It says a."}]');
    expect(await getSessionInfo(id, place)).toMatchObject({ customTitle: "Second" });
    await deleteSession(id, place);
    expect(await listSubagents(id, place)).toEqual([]);
    expect(await getSubagentMessages(id, call, place)).toEqual([]);
  });

  it("a store that cannot list what is below a session gets none of it", async () => {
    const kept: object[] = [];
    const sessionStore = { append: (key: object) => void kept.push(key), load: () => null };
    const allowedTools = ["Agent", "mcp__app__Read"];
    await all("Go", scene(turns, { agents, allowedTools, sessionStore }).options);
    expect(kept.length).toBeGreaterThan(0);
    for (const key of kept) expect(key).not.toHaveProperty("subpath");
  });

  it("a sandbox that is asked for is said not to be there", async () => {
    const messages = await all("Go", scene([{ text: "Hi." }], { sandbox: { enabled: true } }).options);
    expect(warnings(messages)).toEqual([expect.stringContaining("looplet confines no commands")]);
  });
});
