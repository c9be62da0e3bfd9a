// Where a query may read and write: paths against rules, in the working folder and beyond.
import "looplet";
import { expect, it } from "vitest";
import { query, type Options, type SDKMessage } from "looplet/agent-sdk";
import { scripted } from "looplet/practice";
import { memoryVfs } from "looplet/vfs";

const files = {
  "/app/a.ts": "app",
  "/app/.env": "KEY=app-secret",
  "/app/private/x": "private-secret",
  "/secret/x": "outer-secret",
  "/etc/passwd": "root-secret",
};

/** The calls that were denied, and all that the model and the program were told. */
async function asked(calls: [string, object][], more: Partial<Options> = {}) {
  const fetch = scripted([{ toolCalls: calls.map(([name, input]) => ({ name, input })) }, { text: "Done." }]);
  const messages: SDKMessage[] = [];
  const vfs = memoryVfs(files);
  const options = { model: "claude-sonnet-4-6", cwd: "/app", ...more, host: { apiKey: "k", fetch, vfs } };
  for await (const message of query({ prompt: "Go", options })) messages.push(message);
  const denied = messages.flatMap((message) =>
    message.type === "result" ? message.permission_denials.map(({ tool_input }) => tool_input as any) : [],
  );
  return { denied, told: JSON.stringify(fetch.requests[1]?.body ?? messages), vfs };
}

const read = (file_path: string): [string, object] => ["Read", { file_path }];

it("a rule on an absolute path is not passed by a relative one", async () => {
  const spellings = ["../secret/x", "./../secret/x", "/secret/x", "../SECRET/x", "private/../../secret/./x"];
  for (const rule of ["Read(//secret/**)", "Read(/secret/**)"]) {
    const { denied, told } = await asked(spellings.map(read), {
      allowedTools: ["Read"],
      disallowedTools: [rule],
    });
    expect(denied.map(({ file_path }) => file_path)).toEqual(spellings);
    expect(told).not.toContain("outer-secret");
  }
  const own = ["private/x", "./private/x", "/app/private/x", "//app//private/x"];
  for (const rule of ["Read(//app/private/**)", "Read(private/**)", "Read(./private/**)"]) {
    const { denied } = await asked(own.map(read), { allowedTools: ["Read"], disallowedTools: [rule] });
    expect(denied.map(({ file_path }) => file_path)).toEqual(own);
  }
  const root = await asked([read("etc/passwd")], { cwd: "/", disallowedTools: ["Read(//etc/**)"] });
  expect(root.denied).toHaveLength(1);
});

it("rules for Read cover Grep and Glob, and rules for Edit cover Write", async () => {
  const search = (name: string, path?: string, more: object = {}): [string, object] => [
    name,
    { pattern: name === "Glob" ? "**" : "secret", ...(path === undefined ? {} : { path }), ...more },
  ];
  const content = { output_mode: "content" };
  const calls = [
    search("Grep", "../secret", content),
    search("Glob", "/secret"),
    search("Grep", "/secret/x", content),
  ];
  const { denied, told } = await asked(calls, {
    allowedTools: ["Read", "Grep", "Glob"],
    disallowedTools: ["Read(//secret/**)"],
  });
  expect(denied).toHaveLength(3);
  expect(told).not.toContain("outer-secret");
  const write = await asked([["Write", { file_path: "../app/private/x", content: "x" }]], {
    tools: ["Write"],
    allowedTools: ["Write"],
    disallowedTools: ["Edit(private/**)"],
  });
  expect(write.denied).toHaveLength(1);
});

it("a search leaves out what rules for Read withhold", async () => {
  const calls: [string, object][] = [
    ["Grep", { pattern: "secret", output_mode: "content", path: "/" }],
    ["Glob", { pattern: "**", path: "/" }],
    ["Grep", { pattern: "secret", output_mode: "content" }],
  ];
  const { denied, told } = await asked(calls, {
    allowedTools: ["Read", "Grep", "Glob"],
    disallowedTools: ["Read(//secret/**)", "Read(*.ENV)", "Read(private/**)"],
  });
  expect(denied).toEqual([]);
  for (const hidden of [
    "outer-secret",
    "app-secret",
    "private-secret",
    "/app/.env",
    "/secret/x",
    "/app/private/x",
  ])
    expect([hidden, told.includes(hidden)]).toEqual([hidden, false]);
  expect(told).toContain("root-secret");
  expect(told).toContain("(Files that a rule withholds were left out.)");
});

it("an ask rule withholds files from a search that begins above them, until they are named", async () => {
  const asking: string[] = [];
  const vfs = memoryVfs({
    ...files,
    "/home/.claude/settings.json": '{"permissions":{"ask":["Read(.env)"]}}',
  });
  const grep = (path: string) => ({ name: "Grep", input: { pattern: "KEY", output_mode: "content", path } });
  const fetch = scripted([
    { toolCalls: [grep("/app")] },
    { toolCalls: [grep("/app/.env")] },
    { text: "Done." },
  ]);
  const options: Options = {
    model: "claude-sonnet-4-6",
    cwd: "/app",
    settingSources: ["user"],
    canUseTool: async (name, input) => {
      asking.push(`${name} ${String(input["path"])}`);
      return { behavior: "allow", updatedInput: input };
    },
    host: { apiKey: "k", fetch, vfs, home: "/home" },
  };
  for await (const _ of query({ prompt: "Go", options }));
  expect(asking).toEqual(["Grep /app/.env"]);
  expect(fetch.requests.map(({ bodyText }) => bodyText.includes("app-secret"))).toEqual([false, false, true]);
});

it("reading in the working folders needs no rule, and nothing else is read without one", async () => {
  const calls: [string, object][] = [
    read("a.ts"),
    read("/app/.env"),
    ["Glob", { pattern: "*.ts" }],
    ["Grep", { pattern: "app" }],
    ["Grep", { pattern: "app", path: "/app/private" }],
    read("/more/a"),
    read("/etc/passwd"),
    read("../secret/x"),
    ["Grep", { pattern: "x", path: "/" }],
    ["Glob", { pattern: "*", path: ".." }],
    ["Write", { file_path: "a.ts", content: "x" }],
  ];
  for (const permissionMode of ["default", "dontAsk"] as const) {
    const { denied } = await asked(calls, { permissionMode, additionalDirectories: ["/more"] });
    expect(denied.map(({ file_path, path }) => file_path ?? path)).toEqual([
      "/etc/passwd",
      "../secret/x",
      "/",
      "..",
      "a.ts",
    ]);
  }
  const { denied } = await asked([read("a.ts")], { disallowedTools: ["Read(a.ts)"] });
  expect(denied).toHaveLength(1);
});
