import { describe, expect, it } from "vitest";
import { query, type Options, type SDKMessage, type SDKUserInput } from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { all, scene } from "./kit.js";

const files = {
  "/app/.claude/commands/refactor.md":
    "---\nargument-hint: [file] [style]\ndescription: Refactors a file\n---\nRefactor $1 in the style $2.",
  "/app/.claude/commands/summarise.md": "Summarise $ARGUMENTS",
  "/app/.claude/commands/review.md": "Review the last change.",
  "/app/.claude/commands/first.md": "Of $ARGUMENTS[1], then $ARGUMENTS[0].",
  "/app/.claude/commands/git/commit.md":
    "---\nallowed-tools: Bash(git *)\nmodel: opus\n---\nCommit. Status: !`git status`, and @README.md",
  "/app/.claude/commands/compact.md": "Mine",
  "/home/.claude/commands/review.md": "Review as Ada does.",
  "/home/.claude/commands/hello.md": "Say hello to $ARGUMENTS.",
};

async function* said(...contents: SDKUserInput["message"]["content"][]) {
  for (const content of contents) yield { type: "user", message: { role: "user", content } } as SDKUserInput;
}

async function asked(prompt: string | AsyncIterable<SDKUserInput>, more: Partial<Options> = {}) {
  const { options, fetch } = scene(Array(3).fill({ text: "Done." }), {
    cwd: "/app",
    settingSources: ["user", "project"],
    ...more,
    host: { vfs: memoryVfs(files), home: "/home" },
  });
  const messages = await all(prompt, options);
  const prompts = fetch.requests.map(({ body }) => (body as any).messages.at(-1).content[0].text);
  return { prompts, messages, warnings: warningsOf(messages), init: messages[0] as any };
}

const warningsOf = (messages: readonly SDKMessage[]) =>
  messages.flatMap((message) =>
    message.type === "system" && message.subtype === "informational" ? [message.content] : [],
  );

describe("a prompt that is a command of .claude/commands", () => {
  it.each([
    ["/refactor src/a.ts functional", "Refactor src/a.ts in the style functional."],
    ["/refactor src/a.ts", "Refactor src/a.ts in the style ."],
    ["/refactor \"my file.ts\" 'very short'", "Refactor my file.ts in the style very short."],
    ["/refactor $2 $1", "Refactor $2 in the style $1."],
    ["/summarise src and test", "Summarise src and test"],
    ["/summarise $& $1", "Summarise $& $1"],
    ["/summarise\nline one\nline two", "Summarise line one\nline two"],
    ["/first a b", "Of b, then a."],
    ["/summarise", "Summarise"],
    ["/hello Bob", "Say hello to Bob."],
    ["/git:commit", "Commit. Status: !`git status`, and @README.md"],
    ["/commit", "Commit. Status: !`git status`, and @README.md"],
    ["/commit now", "Commit. Status: !`git status`, and @README.md\n\nARGUMENTS: now"],
  ])("%s sends the text of its file with the arguments", async (prompt, text) => {
    const { prompts } = await asked(prompt);
    expect(prompts.map((one) => one.trim())).toEqual([text]);
  });

  it("is one in streaming input too, as a text or as a block", async () => {
    const { prompts } = await asked(said("/summarise src"));
    expect(prompts).toEqual(["Summarise src"]);
    expect((await asked(said([{ type: "text", text: "/summarise src" }]))).prompts).toEqual([
      "Summarise src",
    ]);
  });

  it("is none where the prompt is verbatim", async () => {
    const { prompts, warnings } = await asked("/summarise src", { verbatimPrompts: true });
    expect(prompts).toEqual(["/summarise src"]);
    expect(warnings.join()).not.toContain("No command");
  });

  it("is the user's where a project that is not trusted has one of the same name", async () => {
    expect((await asked("/review")).prompts).toEqual(["Review as Ada does."]);
    expect((await asked("/review", { trustProject: true })).prompts).toEqual(["Review the last change."]);
  });

  it("is in init and in supportedCommands, once", async () => {
    const { init, warnings } = await asked("/review", { trustProject: true });
    const names = ["clear", "commit", "compact", "first", "hello", "refactor", "review", "summarise"];
    expect([...init.slash_commands].sort()).toEqual(names);
    expect(warnings.join("\n")).toContain("/app/.claude/commands/compact.md does not count");
    const { options } = scene([{ text: "Done." }], {
      cwd: "/app",
      settingSources: ["project"],
      host: { vfs: memoryVfs(files) },
    });
    const running = query({ prompt: "Go", options });
    await running.next();
    expect(await running.supportedCommands()).toEqual(
      expect.arrayContaining([
        { name: "refactor", description: "Refactors a file", argumentHint: "[file] [style]" },
        { name: "summarise", description: "Summarise $ARGUMENTS", argumentHint: "" },
        expect.objectContaining({ name: "commit", aliases: ["git:commit"] }),
      ]),
    );
    await running.return();
  });

  it("brings a warning about what does not count of its file", async () => {
    const text = (await asked("/commit")).warnings.join("\n");
    expect(text).toContain("git/commit.md: these fields do not count here: allowed-tools, model");
    expect(text).toContain("git/commit.md: looplet runs no command of a file");
    expect(text).toContain("git/commit.md: looplet adds no file named with @");
  });

  it("goes to the model as it is, with a warning, if no file has its name", async () => {
    const { prompts, warnings } = await asked("/sumarise src");
    expect(prompts).toEqual(["/sumarise src"]);
    expect(warnings.join("\n")).toMatch(/No command is called "\/sumarise".*\/summarise/);
    const unread = await asked("/summarise src", { settingSources: [] });
    expect(unread.prompts).toEqual(["/summarise src"]);
    expect(unread.warnings.join("\n")).toContain("need settingSources and host.vfs");
    expect((await asked("/etc/hosts is broken")).warnings.join()).not.toContain("No command");
  });
});

it("the boundary of systemPrompt is not sent", async () => {
  const { SYSTEM_PROMPT_DYNAMIC_BOUNDARY } = await import("looplet/agent-sdk");
  const { options, fetch } = scene([{ text: "Hi." }], {
    systemPrompt: ["Be brief.", SYSTEM_PROMPT_DYNAMIC_BOUNDARY, "Today is Monday."],
  });
  await all("Hi", options);
  expect(fetch.requests[0]!.bodyText).not.toContain(SYSTEM_PROMPT_DYNAMIC_BOUNDARY);
  expect(fetch.requests[0]!.bodyText).toContain("Today is Monday.");
});
