import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createAgent, anthropic } from "looplet";
import { query, type SDKInitMessage, type SDKMessage } from "looplet/agent-sdk";
import { scripted } from "looplet/practice";
import { checkVfs } from "looplet/testing";
import { builtinTools, type Todo, type ToolPorts } from "looplet/tools";
import { memoryVfs, resolvePath, type Vfs } from "looplet/vfs";
import { nodeVfs } from "looplet/vfs/node";

const disk = mkdtempSync(join(tmpdir(), "looplet-vfs-"));
afterAll(() => rmSync(disk, { recursive: true }));

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (said: string) => new TextEncoder().encode(said);

let roots = 0;
const kinds: [string, () => Vfs][] = [
  ["memoryVfs", () => memoryVfs()],
  [
    "nodeVfs",
    () => {
      const root = join(disk, String(++roots));
      mkdirSync(root);
      return nodeVfs(root);
    },
  ],
];

it.each(kinds)("%s keeps the contract of files", async (_, made) => {
  expect(await checkVfs(made())).toHaveLength(6);
});

it("the contract finds what is wrong with files", async () => {
  const vfs = memoryVfs();
  const broken = { ...vfs, list: async (path: string) => [...(await vfs.list(path))].reverse() };
  await expect(checkVfs(broken)).rejects.toThrow(/^The files break their contract\.\nlist has the names/);
});

describe("paths", () => {
  it.each([
    ["a/./b//c", "/src", "/src/a/b/c"],
    ["../a", "/src", "/a"],
    ["/a/../b", "/src", "/b"],
    [".", "/", "/"],
  ])("%s in %s is %s", (path, cwd, whole) => expect(resolvePath(path, cwd)).toBe(whole));

  it("leads out of the files neither by .. nor by a link", async () => {
    expect(() => resolvePath("../../a", "/src")).toThrow(/leads out/);
    const root = join(disk, "linked");
    mkdirSync(root);
    writeFileSync(join(disk, "secret"), "no");
    symlinkSync(disk, join(root, "out"));
    symlinkSync(join(disk, "secret"), join(root, "file"));
    const vfs = nodeVfs(root);
    await expect(vfs.read("/out/secret")).rejects.toThrow(/leads out/);
    await expect(vfs.read("/file")).rejects.toThrow(/leads out/);
    await expect(vfs.write("/out/new/a", bytes("x"))).rejects.toThrow(/leads out/);
    await expect(vfs.remove("/out")).rejects.toThrow(/leads out/);
  });
});

/** The results of these calls, made one after the other by an agent with the tools. */
async function called(ports: ToolPorts, ...calls: [name: string, input: object][]): Promise<unknown[]> {
  const turns = calls.map(([name, input]) => ({ toolCalls: [{ name, input }] }));
  const fetch = scripted([...turns, { text: "Done." }]);
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k", fetch }),
    tools: builtinTools(ports) as {},
    limits: { repeat: false },
  });
  const { toolCalls } = await agent.run("Go").result;
  return toolCalls.map(({ output }) =>
    typeof output === "object" && output !== null && "error" in output
      ? `${(output as any).code}: ${(output as any).message}`
      : output,
  );
}

describe("the file tools", () => {
  const files = {
    "/src/a.ts": "let a = 1;\nlet b = 2;\n",
    "/src/deep/b.ts": "let a = 3;\n",
    "/README.md": "# A\n",
  };

  it("Read shows lines with their numbers, in parts, and says what is wrong", async () => {
    const vfs = memoryVfs({ ...files, "/empty": "", "/long": "x\n".repeat(2500), "/wide": "y".repeat(3000) });
    const [whole, part, empty, missing, folder, far, long, wide] = await called(
      { vfs, cwd: "/src" },
      ["Read", { file_path: "a.ts" }],
      ["Read", { file_path: "/src/a.ts", offset: 2, limit: 1 }],
      ["Read", { file_path: "/empty" }],
      ["Read", { file_path: "gone.ts" }],
      ["Read", { file_path: "/src" }],
      ["Read", { file_path: "a.ts", offset: 9 }],
      ["Read", { file_path: "/long" }],
      ["Read", { file_path: "/wide" }],
    );
    expect(whole).toBe("     1\tlet a = 1;\n     2\tlet b = 2;");
    expect(part).toBe("     2\tlet b = 2;");
    expect(empty).toBe("The file is empty.");
    expect(missing).toBe("file_not_found: There is no file /src/gone.ts.");
    expect(folder).toContain("is a folder");
    expect(far).toBe("no_such_line: a.ts has 2 lines.");
    expect(long).toMatch(/\(500 more lines: read on with offset 2001\)$/);
    expect((wide as string).length).toBeLessThan(2020);
  });

  it("Read shows an image to the model", async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const [image] = await called({ vfs: memoryVfs({ "/a.png": png }) }, ["Read", { file_path: "/a.png" }]);
    expect(image).toMatchObject([{ type: "media", mediaType: "image/png" }]);
  });

  it("Write and Edit change files below the working folder alone", async () => {
    const vfs = memoryVfs(files);
    const said = await called(
      { vfs, cwd: "/src" },
      ["Write", { file_path: "new/c.ts", content: "c" }],
      ["Edit", { file_path: "a.ts", old_string: "let a", new_string: "const a" }],
      ["Edit", { file_path: "a.ts", old_string: "nowhere", new_string: "" }],
      ["Edit", { file_path: "a.ts", old_string: ";", new_string: "" }],
      ["Edit", { file_path: "a.ts", old_string: ";", new_string: "", replace_all: true }],
      ["Write", { file_path: "/README.md", content: "x" }],
      ["Write", { file_path: "../../x", content: "x" }],
    );
    expect(said).toEqual([
      "Wrote new/c.ts.",
      "Edited a.ts: 1 place.",
      expect.stringMatching(/^not_found: /),
      expect.stringMatching(/^not_unique: old_string is 2 times/),
      "Edited a.ts: 2 places.",
      "outside: /README.md is not below /src.",
      expect.stringMatching(/leads out/),
    ]);
    expect(text(await vfs.read("/src/a.ts"))).toBe("const a = 1\nlet b = 2\n");
    expect(text(await vfs.read("/README.md"))).toBe("# A\n");
  });

  it("Glob lists files, those changed last first", async () => {
    let now = 0;
    const vfs = memoryVfs({ ...files, "/node_modules/x/c.ts": "", "/src/d.{ts}": "" }, () => ++now);
    await vfs.write("/src/a.ts", bytes("a"));
    const said = await called(
      { vfs },
      ["Glob", { pattern: "**/*.ts" }],
      ["Glob", { pattern: "*.{md,txt}" }],
      ["Glob", { pattern: "?.ts", path: "/src" }],
      ["Glob", { pattern: "[!a].ts", path: "src/deep" }],
      ["Glob", { pattern: "*.py" }],
      ["Glob", { pattern: "*", path: "/gone" }],
    );
    expect(said).toEqual([
      "/src/a.ts\n/src/deep/b.ts",
      "/README.md",
      "/src/a.ts",
      "/src/deep/b.ts",
      "No file fits.",
      "file_not_found: There is no folder /gone.",
    ]);
  });

  it("Grep finds files, lines and counts", async () => {
    const vfs = memoryVfs({ ...files, "/bin": Uint8Array.from([108, 101, 116, 0]) });
    const said = await called(
      { vfs },
      ["Grep", { pattern: "^let a" }],
      ["Grep", { pattern: "LET B", "-i": true, output_mode: "content", "-B": 1 }],
      ["Grep", { pattern: "let", output_mode: "count", type: "ts", path: "/src" }],
      ["Grep", { pattern: "let", output_mode: "content", "-n": false, head_limit: 1, glob: "b.ts" }],
      ["Grep", { pattern: "1;.let", multiline: true, output_mode: "content" }],
      ["Grep", { pattern: "nothing" }],
      ["Grep", { pattern: "(" }],
    );
    expect((said[0] as string).split("\n").sort()).toEqual(["/src/a.ts", "/src/deep/b.ts"]);
    expect(said[1]).toBe("/src/a.ts-1-let a = 1;\n/src/a.ts:2:let b = 2;");
    expect((said[2] as string).split("\n").sort()).toEqual(["/src/a.ts:2", "/src/deep/b.ts:1"]);
    expect(said.slice(3)).toEqual([
      "/src/deep/b.ts:let a = 3;",
      "/src/a.ts:1:let a = 1;\n/src/a.ts:2:let b = 2;",
      "No match.",
      expect.stringMatching(/^invalid_pattern: /),
    ]);
  });
});

describe("the other tools", () => {
  it("are there only with their ports", () => {
    expect(Object.keys(builtinTools())).toEqual(["TodoWrite"]);
    expect(Object.keys(builtinTools({ vfs: memoryVfs() }))).toEqual([
      ...["Read", "Write", "Edit", "Glob", "Grep"],
      "TodoWrite",
    ]);
  });

  it("Bash returns what a command prints, and its code when it fails", async () => {
    const asked: unknown[] = [];
    const bash: ToolPorts["bash"] = {
      async exec(command, { cwd, timeoutMs }) {
        asked.push(command, cwd, timeoutMs);
        return command === "ok"
          ? { stdout: "fine", stderr: "warn", exitCode: 0 }
          : { stdout: "", stderr: "bad", exitCode: 2 };
      },
    };
    const said = await called(
      { bash, cwd: "/src" },
      ["Bash", { command: "ok" }],
      ["Bash", { command: "no", timeout: 5 }],
    );
    expect(said).toEqual(["fine\nwarn", "exit_code: The command ended with 2.\nbad"]);
    expect(asked).toEqual(["ok", "/src", 120_000, "no", "/src", 5]);
  });

  it("WebFetch, WebSearch and TodoWrite give their ports what the model asks for", async () => {
    const told: (readonly Todo[])[] = [];
    const ports: ToolPorts = {
      webFetch: async (url, { prompt }) => `${url} about ${prompt}`,
      search: async (query, { allowedDomains }) =>
        query === "none" ? [] : [{ title: query, url: `https://${allowedDomains?.[0]}/` }],
      onTodos: (todos) => told.push(todos),
    };
    const todo = { content: "Test", status: "pending", activeForm: "Testing" };
    const said = await called(
      ports,
      ["WebFetch", { url: "https://a.test", prompt: "news" }],
      ["WebFetch", { url: "file:///etc/passwd", prompt: "x" }],
      ["WebSearch", { query: "cats", allowed_domains: ["b.test"] }],
      ["WebSearch", { query: "none" }],
      ["TodoWrite", { todos: [todo] }],
    );
    expect(said).toEqual([
      "https://a.test about news",
      "invalid_url: url must begin with http:// or https://",
      "cats\nhttps://b.test/",
      "Nothing was found.",
      expect.stringContaining("saved"),
    ]);
    expect(told).toEqual([[todo]]);
  });
});

describe("a query with built-in tools", () => {
  const repair = [
    { toolCalls: [{ name: "Bash", input: { command: "npm test" } }] },
    {
      toolCalls: [
        { name: "Read", input: { file_path: "auth.ts" } },
        { name: "Read", input: { file_path: "auth.test.ts" } },
      ],
    },
    {
      toolCalls: [
        { name: "Edit", input: { file_path: "auth.ts", old_string: "= 1", new_string: "= 2" } },
        { name: "Bash", input: { command: "npm test" } },
      ],
    },
    { text: "Fixed the auth bug, all three tests pass now." },
  ];
  const port = (files: Vfs): ToolPorts["bash"] => ({
    async exec() {
      const isFixed = text(await files.read("/auth.ts"))?.includes("= 2");
      return { stdout: isFixed ? "3 passed" : "1 failed", stderr: "", exitCode: isFixed ? 0 : 1 };
    },
  });

  it("S001-51: runs the page's example as it is written", async () => {
    const vfs = memoryVfs({ "/auth.ts": "let a = 1;", "/auth.test.ts": "expect(a).toBe(2)" });
    const messages: SDKMessage[] = [];
    let sessionId: string | undefined;
    const said: string[] = [];
    for await (const message of query({
      prompt: "Find and fix the bug causing test failures in the auth module",
      options: {
        model: "claude-sonnet-4-6",
        allowedTools: ["Read", "Edit", "Bash", "Glob", "Grep"],
        settingSources: ["project"],
        maxTurns: 30,
        effort: "high",
        host: { apiKey: "k", fetch: scripted(repair), vfs, bash: port(vfs) },
      },
    })) {
      messages.push(message);
      if (message.type === "system" && message.subtype === "init") sessionId = message.session_id;
      if (message.type !== "result") continue;
      said.push(message.subtype === "success" ? `Done: ${message.result}` : `Stopped: ${message.subtype}`);
      said.push(`Cost: $${message.total_cost_usd.toFixed(4)}`);
    }
    expect(said[0]).toBe("Done: Fixed the auth bug, all three tests pass now.");
    expect(said[1]).toMatch(/^Cost: \$0\.0[01]\d\d$/);
    expect(messages.at(-1)).toMatchObject({ num_turns: 4, session_id: sessionId });
    expect(text(await vfs.read("/auth.ts"))).toBe("let a = 2;");
    expect((messages[0] as SDKInitMessage).tools).toEqual([
      ...["Read", "Write", "Edit", "Glob", "Grep"],
      ...["Bash", "TodoWrite"],
    ]);
  });

  it("acceptEdits lets edits run, and AskUserQuestion goes to canUseTool", async () => {
    const vfs = memoryVfs({ "/a.txt": "one" });
    const questions = [
      {
        question: "Which?",
        header: "Which",
        options: ["A", "B"].map((label) => ({ label, description: label })),
      },
    ];
    const turns = [
      { toolCalls: [{ name: "Edit", input: { file_path: "a.txt", old_string: "one", new_string: "two" } }] },
      { toolCalls: [{ name: "AskUserQuestion", input: { questions } }] },
      { text: "B it is." },
    ];
    const asked: string[] = [];
    const results: string[] = [];
    for await (const message of query({
      prompt: "Go",
      options: {
        model: "claude-sonnet-4-6",
        tools: ["Edit", "AskUserQuestion"],
        permissionMode: "acceptEdits",
        canUseTool: (name, input) => {
          asked.push(name);
          return { behavior: "allow", updatedInput: { ...input, answers: { "Which?": "B" } } };
        },
        host: { apiKey: "k", fetch: scripted(turns), vfs },
      },
    })) {
      if (message.type === "system" && message.subtype === "init")
        expect(message.tools).toEqual(["Edit", "AskUserQuestion"]);
      if (message.type === "user") results.push(JSON.stringify(message.message.content));
    }
    expect(asked).toEqual(["AskUserQuestion"]);
    expect(results.join()).toContain("Which?: B");
    expect(text(await vfs.read("/a.txt"))).toBe("two");
  });
});
