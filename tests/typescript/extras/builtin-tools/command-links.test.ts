import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { anthropic, createAgent, tool, type PermissionMode } from "looplet";
import { scripted } from "looplet/practice";
import { builtinTools } from "looplet/tools";
import { memoryVfs, type Vfs } from "looplet/vfs";
import { nodeVfs } from "looplet/vfs/node";

let top: string, repo: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "looplet-links-")));
  repo = join(top, "repo");
  for (const folder of ["repo/.git/hooks", "repo/src/deep", "repo/out/src", "home/.ssh"])
    mkdirSync(join(top, folder), { recursive: true });
  writeFileSync(join(top, "home/rc"), "rc");
  for (const file of ["note.txt", "src/a.txt", "src/deep/b.txt"]) writeFileSync(join(repo, file), "text");
  for (const [place, target] of [
    ["docs", ".git/hooks"],
    ["keys", "../home/.ssh"],
    ["twice", "keys"],
    ["lost", "../nowhere"],
    ["file.txt", "../home/rc"],
    ["out/note.txt", "../../home/rc"],
    ["out/src/deep", "../../.git/hooks"],
  ] as const)
    symlinkSync(target, join(repo, place));
});
afterEach(() => rmSync(top, { recursive: true }));

/** The lines that were asked about, and those that ran, of calls in one answer. */
async function judged(
  lines: readonly string[],
  vfs: Vfs = nodeVfs("/"),
  { mode = "acceptEdits", allow = [] as string[], onExec = (_: string): void => {} } = {},
) {
  const asked: string[] = [];
  const ran: string[] = [];
  const exec = async (line: string) => {
    ran.push(line);
    onExec(line);
    return { stdout: "", stderr: "", exitCode: 0 };
  };
  const toolCalls = lines.map((command) => ({ name: "Bash", input: { command } }));
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "k" }),
    fetch: scripted([{ toolCalls }, { text: "Done." }]),
    tools: builtinTools({ vfs, cwd: repo, bash: { exec } }),
    permissions: {
      cwd: repo,
      mode: mode as PermissionMode,
      allow,
      canUseTool: (_name, input) => {
        asked.push(input.command);
        return { behavior: "deny", message: "No." };
      },
    },
  });
  const result = await agent.run("Go").result;
  return { asked, ran, result };
}

const LEADING = [
  "cp note.txt keys/authorized_keys",
  "mv note.txt docs",
  "cp note.txt docs/",
  "mkdir -p twice/a",
  "touch ./keys/config",
  "touch lost",
  "cp note.txt file.txt",
  "cp file.txt shown.txt",
  "rm -rf keys/id",
  "rmdir twice/a",
  "cp note.txt out",
  "cp -r src out",
  "cp -rL src other",
  "cp -t src note.txt",
];

it("acceptEdits asks about commands whose paths lead through a link, also in the folder that they fill", async () => {
  const { asked, ran } = await judged([...LEADING, "mkdir new", "cp -r src new", "rm note.txt"]);
  expect(asked).toEqual(LEADING);
  expect(ran).toEqual(["mkdir new", "cp -r src new", "rm note.txt"]);
});

it("a rule allows a command through a link, because it names the command and not the place", async () => {
  const { asked, ran } = await judged(["touch keys/config"], nodeVfs("/"), { allow: ["Bash(touch *)"] });
  expect([asked, ran]).toEqual([[], ["touch keys/config"]]);
});

it("files without links are changed unasked as before", async () => {
  const { asked } = await judged(["cp note.txt keys/a", "mv a out"], memoryVfs());
  expect(asked).toEqual([]);
});

it("a link that a call of the same answer brings to a plain path is not followed", async () => {
  const onExec = (line: string): void => {
    if (line === "mv src moved") symlinkSync("../home/.ssh", join(repo, "moved"));
  };
  const { asked, ran, result } = await judged(["mv src moved", "touch moved/x"], nodeVfs("/"), { onExec });
  expect([asked, ran]).toEqual([[], ["mv src moved"]]);
  expect(JSON.stringify(result.toolCalls)).toContain("since the command was judged");
});

it("acceptEdits asks about a call whose own tool says that it leads elsewhere, or cannot say", async () => {
  const asked: string[] = [];
  const edit = tool({
    description: "Edits.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    access: "edit",
    leadsElsewhere: ({ path }) => {
      if (path === "odd") throw new Error("unreadable");
      return path === "link";
    },
    execute: () => "ok",
  });
  const toolCalls = ["a", "link", "odd"].map((path) => ({ name: "edit", input: { path } }));
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "k" }),
    fetch: scripted([{ toolCalls }, { text: "Done." }]),
    tools: { edit },
    permissions: {
      mode: "acceptEdits",
      canUseTool: (_name, { path }) => {
        asked.push(path);
        return { behavior: "allow" };
      },
    },
  });
  const { toolCalls: calls } = await agent.run("Go").result;
  expect(asked).toEqual(["link", "odd"]);
  expect(calls).toHaveLength(3);
});

it.each([
  "package.json",
  "a/AGENTS.md",
  "composer.json",
  "CLAUDE.md",
  ".vscode/settings.json",
  ".git/hooks/a",
])("acceptEdits does not accept an edit of %s, by Write or by a command", async (path) => {
  const asked: string[] = [];
  const files = builtinTools({
    vfs: memoryVfs(),
    cwd: "/",
    bash: { exec: async () => ({ stdout: "", stderr: "", exitCode: 0 }) },
  });
  const toolCalls = [
    { name: "Write", input: { file_path: path, content: "x" } },
    { name: "Bash", input: { command: `cp s ${path}` } },
  ];
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "k" }),
    fetch: scripted([{ toolCalls }, { text: "Done." }]),
    tools: files,
    permissions: {
      mode: "acceptEdits",
      cwd: "/",
      canUseTool: (name) => {
        asked.push(name);
        return { behavior: "deny", message: "No." };
      },
    },
  });
  await agent.run("Go").result;
  expect(asked).toEqual(["Write", "Bash"]);
});
