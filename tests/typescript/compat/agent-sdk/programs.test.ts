// Programs that are written for the Claude Agent SDK, unchanged: tests/package/long compiles them with its own types.
import { describe, expect, it } from "vitest";
import "looplet";
import type { Options } from "looplet/agent-sdk";
import { scripted } from "looplet/practice";
import { memoryVfs } from "looplet/vfs";
import type { Turns } from "./kit.js";

/** Runs a program on scripted answers, with these files. */
async function program(
  name: string,
  turns: Turns,
  files: { [path: string]: string } = {},
  more: Partial<Options> = {},
) {
  const fetch = scripted(turns);
  const vfs = memoryVfs(files);
  const { main } = await import(`../../../package/long/sdk-programs/typical-${name}.ts`);
  const base: Options = { ...more, host: { apiKey: "k", fetch, vfs, home: "/home", ...more.host } };
  const returned: any = await main(base);
  const text = async (path: string) => {
    const bytes = await vfs.read(path);
    return bytes && new TextDecoder().decode(bytes);
  };
  return { returned, requests: fetch.requests, text };
}

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

describe("programs of the Claude Agent SDK run unchanged", () => {
  it("01: a question", async () => {
    expect((await program("01-question", [{ text: "Two." }])).returned).toBe("Two.");
  });

  it("S001-51: 02: an agent that repairs files by itself", async () => {
    const turns: Turns = [
      call("Read", { file_path: "/app/sum.ts" }),
      call("Edit", { file_path: "/app/sum.ts", old_string: "a - b", new_string: "a + b" }),
      { text: "Mended." },
    ];
    const files = { "/app/sum.ts": "a - b", "/app/CLAUDE.md": "Use tabs." };
    const { returned, text, requests } = await program("02-repair", turns, files);
    expect(returned).toEqual(["Read", "Edit", "Mended.", expect.stringMatching(/^0\.\d{4}$/)]);
    expect(await text("/app/sum.ts")).toBe("a + b");
    expect(requests[0]!.bodyText).toContain("Use tabs.");
  });

  it("03: deltas", async () => {
    const turns: Turns = [{ text: "I read.", ...call("Read", { file_path: "/a.txt" }) }, { text: " Done." }];
    const { returned } = await program("03-deltas", turns, { "/a.txt": "a" }, { allowedTools: ["Read"] });
    expect(returned).toEqual({ text: "I read. Done.", input: '{"file_path":"/a.txt"}', tools: ["Read"] });
  });

  it("04: an image and documents in streaming input", async () => {
    const { returned, requests } = await program("04-images", [{ text: "A pixel." }]);
    expect(returned).toEqual(["A pixel."]);
    const { content } = (requests[0]!.body as any).messages[0];
    expect(content).toMatchObject([
      { type: "text" },
      { type: "image", source: { type: "base64", media_type: "image/png" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf" } },
      { type: "text", text: "A note." },
    ]);
  });

  it("05: tools of the program's own", async () => {
    const turns: Turns = [
      call("mcp__weather__get_temperature", { latitude: 10.2, longitude: 9.9 }),
      { text: "20 degrees." },
    ];
    const { returned, requests } = await program("05-tools", turns);
    expect(returned).toEqual(["weather: connected", "20 degrees."]);
    expect(requests[1]!.bodyText).toContain("20 degrees");
  });

  it("06: approvals that change and deny calls", async () => {
    const turns: Turns = [
      call("Write", { file_path: "/a.txt", content: "a" }),
      call("Bash", { command: "rm -rf /" }),
      { text: "Written." },
    ];
    const bash = { exec: async () => ({ stdout: "", stderr: "", exitCode: 0 }) };
    const { returned, text, requests } = await program("06-approvals", turns, {}, { host: { bash } });
    expect(returned.denials).toBe(1);
    expect(returned.asked[0]).toMatch(/^Write string false \d string$/);
    expect(returned.asked[1]).toMatch(/^Bash string false \d string$/);
    expect(await text("/sandbox/a.txt")).toBe("a");
    expect(JSON.stringify((requests[1]!.body as any).messages.at(-1))).not.toContain("input was changed");
  });

  it("07: questions to the user", async () => {
    const options = [
      { label: "SQLite", description: "A file" },
      { label: "Postgres", description: "A server" },
    ];
    const turns: Turns = [
      call("AskUserQuestion", {
        questions: [{ question: "Which?", header: "Database", options, multiSelect: false }],
      }),
      { text: "SQLite it is." },
    ];
    const { returned, requests } = await program("07-questions", turns);
    expect(returned).toBe("SQLite it is.");
    expect(requests[1]!.bodyText).toContain("Which?: SQLite");
  });

  it("S001-46: 08: hooks that guard, write a log, and follow the session", async () => {
    const reads = ["/.env", "/a.txt"].map((file_path) => ({ name: "Read", input: { file_path } }));
    const { returned, requests } = await program("08-hooks", [{ toolCalls: reads }, { text: "Read." }], {
      "/.env": "SECRET",
      "/a.txt": "a",
    });
    expect(returned).toEqual(["Read string string true /", "stop false", "success", "SessionEnd"]);
    expect(requests[1]!.bodyText).toContain("Cannot touch .env files");
    expect(requests[1]!.bodyText).not.toContain("SECRET");
  });

  it("S001-43: 09: agents with models by their short names", async () => {
    const turns: Turns = [
      call("Agent", { description: "Review", prompt: "Review a.ts", subagent_type: "reviewer" }),
      call("Read", { file_path: "/a.ts" }),
      { text: "Fine." },
      { text: "It is fine." },
    ];
    const { returned, requests } = await program("09-agents", turns, { "/a.ts": "let a" });
    expect(returned.started).toEqual(["Review"]);
    expect(returned.inside).toEqual(["assistant", "user"]);
    expect([...returned.models].sort()).toEqual(["claude-haiku-5-5", "claude-sonnet-5-5"]);
    expect((requests[1]!.body as any).model).toBe("claude-haiku-5-5");
  });

  it("S001-44: 10: sessions that go on later and in a copy", async () => {
    const turns: Turns = ["Hello Ada.", "Ada.", "Ada, encore.", "On."].map((text) => ({ text }));
    const { returned } = await program("10-sessions", turns, {}, { cwd: "/program-10" });
    expect(returned).toEqual({ same: true, forked: true, latest: true, text: "Ada." });
  });

  it("S001-50: 11: an answer in the form of a schema", async () => {
    const text = JSON.stringify({ feature: "dark mode", steps: [{ step: 1, text: "Colours" }] });
    expect((await program("11-structured", [{ text }])).returned).toBe(1);
  });

  it("S001-24: 12: a plan first, the work after it is approved", async () => {
    const turns: Turns = [
      call("ExitPlanMode", { plan: "Write /cache.ts" }),
      call("Write", { file_path: "/cache.ts", content: "cache" }),
      { text: "Done." },
    ];
    const { returned, text } = await program("12-plan", turns);
    expect(returned).toEqual({ plan: "Write /cache.ts", used: ["ExitPlanMode", "Write"] });
    expect(await text("/cache.ts")).toBe("cache");
  });

  it("13: files as they were before", async () => {
    const turns: Turns = [
      call("Write", { file_path: "/app/a.txt", content: "new\nlines" }),
      call("Write", { file_path: "/app/b.txt", content: "b" }),
      { text: "Done." },
    ];
    const files = { "/app/a.txt": "old" };
    const { returned, text } = await program("13-checkpoints", turns, files, { cwd: "/app" });
    expect(returned).toEqual({ dry: 2, can: true, changed: ["/app/a.txt", "/app/b.txt"] });
    expect(await text("/app/a.txt")).toBe("old");
    expect(await text("/app/b.txt")).toBeUndefined();
  });

  it("S001-16: 14: costs by models", async () => {
    const usage = { inputTokens: 1000, outputTokens: 100 };
    const { returned } = await program("14-costs", [{ text: "1, 2, 3", usage }]);
    expect(returned).toMatchObject({
      steps: 1,
      models: [{ model: "claude-haiku-5-5", input: 1000, cached: 0 }],
    });
    expect(returned.total).toBeCloseTo(returned.models[0].cost);
    expect(returned.total).toBeGreaterThan(0);
  });

  it("S001-33: 15: the list of what is to be done", async () => {
    const todo = (status: string) => [{ content: "Read", status, activeForm: "Reading" }];
    const turns: Turns = [
      call("TodoWrite", { todos: todo("in_progress") }),
      call("TodoWrite", { todos: todo("completed") }),
      { text: "Done." },
    ];
    expect((await program("15-todos", turns)).returned).toEqual(["Reading", "Read"]);
  });

  it("16: system prompts, and options of screens", async () => {
    const turns: Turns = [1, 2, 3, 4].map(() => ({ text: "Hi." }));
    const { returned, requests } = await program("16-prompts", turns);
    expect(returned).toEqual(["success", "success", "success", "success"]);
    expect(requests[0]!.bodyText).toContain("Write docstrings.");
    expect(requests[0]!.bodyText).toContain("You are an agent that works for a user");
  });

  it("S001-42: 17: commands and skills", async () => {
    const skill = "---\nname: pdf\ndescription: Reads PDFs\n---\nOpen it.";
    const files = { "/home/.claude/skills/pdf/SKILL.md": skill };
    expect((await program("17-commands", [], files)).returned).toEqual(["compact,clear", "pdf", "success"]);
  });

  it("18: a query that is watched, changed and stopped", async () => {
    const turns: Turns = [{ text: "Reading.", ...call("Read", { file_path: "/app/a" }) }, { text: "Never." }];
    const { returned, requests } = await program("18-control", turns, { "/app/a": "a" });
    expect(returned).toEqual([
      "true true true",
      "true 1000000 true true",
      "queued 0",
      "error_during_execution aborted_tools",
      "The first one kept true",
      "true",
    ]);
    expect((requests[0]!.body as any).model).toBe("claude-opus-5-5");
  });

  it("19: servers by their addresses and as processes, of which none is reached", async () => {
    const mcpFetch = async () => new Response("Not here.", { status: 404 });
    const { returned, requests } = await program(
      "19-servers",
      [{ text: "None." }],
      {},
      { host: { mcpFetch } },
    );
    expect(returned).toEqual(["docs", "github"]);
    expect(requests).toHaveLength(1);
  });
});
