// The entry brings the engine.
import "looplet";
import { expect, it } from "vitest";
import { query, type Options, type SDKInitMessage, type SDKMessage } from "looplet/agent-sdk";
import { scripted } from "looplet/practice";
import { memoryVfs } from "looplet/vfs";

const files = {
  "/app/CLAUDE.md": "Use tabs.",
  "/app/.claude/CLAUDE.md": "Run the tests.",
  "/app/CLAUDE.local.md": "My port is 4000.",
  "/app/.claude/settings.json": JSON.stringify({
    permissions: { allow: ["Read"], deny: ["Edit"], defaultMode: "plan", additionalDirectories: ["/x"] },
    env: { PORT: "4000", DEBUG: "no" },
    model: "opus",
  }),
  "/app/.claude/settings.local.json": '{"permissions":{"allow":["Bash"],"defaultMode":"dontAsk"}}',
  "/app/.claude/skills/pdf/SKILL.md":
    '---\nname: pdf\ndescription: "Fills \\"PDF\\" forms"\nlicense: MIT\n---\n\n# How\nOpen it first.\n',
  "/app/.claude/skills/notes/SKILL.md":
    "---\nname: notes\ndescription: >\n  Writes\n  release notes\n---\nBe short.\n",
  "/app/.claude/skills/broken/SKILL.md": "No frontmatter.",
  "/app/.claude/agents/reader.md":
    "---\nname: reader\ndescription: Reads files\ntools: Read, Grep\nmodel: claude-haiku-4-5\n---\nYou read.\n",
  "/app/.claude/agents/lister.md":
    "---\nname: lister\ndescription: Lists\ntools:\n  - Glob\n  - 'Grep'\n---\nYou list.\n",
  "/app/.claude/agents/broken.md": "---\nname: broken\n---\n",
  "/home/.claude/CLAUDE.md": "I am Ada.",
  "/home/.claude/settings.json": '{"permissions":{"defaultMode":"acceptEdits"}}',
};

async function asked(more: Partial<Options>, turns: Parameters<typeof scripted>[0] = [{ text: "Hi." }]) {
  const fetch = scripted(turns);
  const messages: SDKMessage[] = [];
  const host = { apiKey: "k", fetch, vfs: memoryVfs(files), home: "/home", ...more.host };
  const options = { model: "claude-sonnet-4-6", cwd: "/app", ...more, host };
  for await (const message of query({ prompt: "Go", options })) messages.push(message);
  const notes = messages.flatMap((message) =>
    message.type === "system" && message.subtype === "informational" ? [message.content] : [],
  );
  const bodies = fetch.requests.map(({ body }) => body as any);
  return { init: messages[0] as SDKInitMessage, notes, messages, body: fetch.requests[0]!.bodyText, bodies };
}

it("reads nothing without settingSources", async () => {
  const { init, notes, body } = await asked({});
  expect(init).toMatchObject({ permissionMode: "default", skills: [] });
  expect(notes.join()).not.toContain("settings");
  expect(body).not.toContain("Use tabs.");
});

it("sends each CLAUDE.md with every request, behind the system prompt", async () => {
  const { body } = await asked({ settingSources: ["user", "project", "local"], systemPrompt: "You code." });
  const order = ["You code.", "I am Ada.", "Use tabs.", "Run the tests.", "My port is 4000."];
  const places = order.map((text) => body.indexOf(text));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
});

it("joins the rules, and takes the scalars of the nearest file, but options win", async () => {
  const all: Options["settingSources"] = ["user", "project", "local"];
  const { init, notes } = await asked({ settingSources: all, trustProject: true });
  expect(init.permissionMode).toBe("dontAsk");
  expect(init.tools).not.toContain("Edit");
  expect(notes.join("\n")).toContain("/app/.claude/settings.json: these settings do not count here: model");
  const project = await asked({ settingSources: ["project"], trustProject: true });
  expect(project.init.permissionMode).toBe("plan");
  const chosen = await asked({ settingSources: all, trustProject: true, permissionMode: "default" });
  expect(chosen.init.permissionMode).toBe("default");
  const turns = [{ toolCalls: [{ name: "Read", input: { file_path: "CLAUDE.md" } }] }, { text: "Read." }];
  const read = await asked({ settingSources: all, trustProject: true }, turns);
  expect(JSON.stringify(read.messages)).toContain("Use tabs.");
});

it("offers skills by their descriptions, and their text when the model asks", async () => {
  const turns = [
    { toolCalls: [{ name: "Skill", input: { skill: "pdf", args: "form.pdf" } }] },
    { text: "Filled." },
  ];
  const { init, notes, body, messages } = await asked(
    { settingSources: ["project"], permissionMode: "default" },
    turns,
  );
  expect(init.skills).toEqual(["notes", "pdf"]);
  expect(init.tools).toContain("Skill");
  expect(notes.join("\n")).toContain("/app/.claude/skills/broken/SKILL.md has no name and description");
  expect(body).toContain('pdf: Fills \\\\\\"PDF\\\\\\" forms'.replaceAll("\\\\\\", "\\"));
  expect(body).toContain("notes: Writes release notes");
  expect(body).not.toContain("Open it first.");
  expect(JSON.stringify(messages)).toContain("# How\\nOpen it first.\\n\\nUsed for: form.pdf");
  const own = { name: "own", description: "Mine", content: () => "text" };
  expect((await asked({ settingSources: ["project"], skills: ["pdf", own] })).init.skills).toEqual([
    "pdf",
    "own",
  ]);
});

it("reads agents, and those of the options win", async () => {
  const ask = { description: "Read it", prompt: "Read a", subagent_type: "reader" };
  const turns = [{ toolCalls: [{ name: "Agent", input: ask }] }, { text: "It says a." }, { text: "Done." }];
  const { init, notes, bodies } = await asked(
    { settingSources: ["project"], permissionMode: "default", allowedTools: ["Agent"] },
    turns,
  );
  expect(init.agents).toEqual(["lister", "reader"]);
  expect(notes.join("\n")).toContain("/app/.claude/agents/broken.md has no name and description");
  expect(bodies[1].model).toBe("claude-haiku-4-5");
  expect(bodies[1].tools.map(({ name }: any) => name)).toEqual(["Read", "Grep"]);
  expect(JSON.stringify(bodies[1].system)).toContain("You read.");
  expect(JSON.stringify(bodies[1].system)).toContain("Use tabs.");
  const own = { reader: { description: "Mine", prompt: "You are mine." } };
  const other = await asked(
    { settingSources: ["project"], permissionMode: "default", allowedTools: ["Agent"], agents: own },
    turns,
  );
  expect(JSON.stringify(other.bodies[1].system)).toContain("You are mine.");
});

it("gives commands the variables, and files the further folders", async () => {
  const seen: object[] = [];
  const bash = {
    exec: async (_: string, { env }: { env: object }) => {
      seen.push(env);
      return { stdout: "ok", stderr: "", exitCode: 0 };
    },
  };
  const write = (file_path: string) => ({ name: "Write", input: { file_path, content: "a" } });
  const turns = [
    { toolCalls: [{ name: "Bash", input: { command: "ls" } }] },
    { toolCalls: [write("/x/a"), write("/y/a"), write("/z/a")] },
    { text: "Done." },
  ];
  const vfs = memoryVfs(files);
  await asked(
    {
      settingSources: ["project"],
      trustProject: true,
      permissionMode: "default",
      allowedTools: ["Bash", "Write"],
      additionalDirectories: ["/y"],
      env: { DEBUG: "yes" },
      host: { bash, vfs },
    },
    turns,
  );
  expect(seen).toEqual([{ PORT: "4000", DEBUG: "yes" }]);
  const there = await Promise.all(["/x/a", "/y/a", "/z/a"].map((path) => vfs.read(path)));
  expect(there.map((bytes) => bytes !== undefined)).toEqual([true, true, false]);
});

it("in the mode acceptEdits edits files below the working folders, but no hidden ones", async () => {
  const write = (file_path: string) => ({ name: "Write", input: { file_path, content: "a" } });
  const paths = ["/app/a.ts", "b.ts", "/more/c.ts", "/app/.env", "/etc/d"];
  const turns = [{ toolCalls: paths.map(write) }, { text: "Done." }];
  const { messages } = await asked(
    { permissionMode: "acceptEdits", additionalDirectories: ["/more"] },
    turns,
  );
  const denied = messages.flatMap((message) => (message.type === "result" ? message.permission_denials : []));
  expect(denied.map(({ tool_input }) => (tool_input as any).file_path)).toEqual(["/app/.env", "/etc/d"]);
});

it("says what was not read", async () => {
  const broken = memoryVfs({ "/.claude/settings.json": "{" });
  const { notes } = await asked({ cwd: "/", settingSources: ["project"], host: { vfs: broken } });
  expect(notes[0]).toMatch(/^\/\.claude\/settings\.json is not JSON and does not count: /);
  const { vfs: _, ...none } = { vfs: undefined };
  const without = await asked({ settingSources: ["project"], host: { ...none, vfs: undefined } });
  expect(without.notes).toEqual(["settingSources: host.vfs is missing, so no files were read."]);
});
