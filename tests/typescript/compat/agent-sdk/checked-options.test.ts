// Values of options and of `host` that would be found out only in the middle of a run, or never.
import { describe, expect, it } from "vitest";
import { query, type Options } from "looplet/agent-sdk";
import { builtinTools } from "looplet/tools";
import { memoryVfs } from "looplet/vfs";
import { all, scene } from "./kit.js";

const asked = (options: object) => () => query({ prompt: "Go", options: options as Options });

async function notes(more: Partial<Options>): Promise<string[]> {
  const messages: any[] = await all("Go", scene([{ text: "Done." }], more).options);
  return messages.flatMap(({ subtype, content }) => (subtype === "informational" ? content : []));
}

describe("query", () => {
  const ownTools = "Pass your own tools in mcpServers, with createSdkMcpServer";

  it.each([
    ["an object", [{ name: "Read" }], `options.tools[0] needs the name of a built-in tool. ${ownTools}`],
    ["a function", ["Read", () => 1], `options.tools[1] needs the name of a built-in tool. ${ownTools}`],
    ["nothing", ["Read", undefined], "options.tools[1] needs the name of a built-in tool."],
    ["a record of tools", { read: {} }, `needs an array of the names of built-in tools, or`],
    ["a text", "Read", "needs an array of the names of built-in tools, or"],
    ["null", null, "needs an array of the names of built-in tools, or"],
    ["another preset", { type: "preset", preset: "other" }, "needs an array of the names of built-in tools"],
    ["a typing error", ["Raed"], 'options.tools[0] names no built-in tool: "Raed". Did you mean "Read"?'],
    ["a small letter", ["bash"], 'options.tools[0] names no built-in tool: "bash". Did you mean "Bash"?'],
    ["an unknown name", ["get_weather"], 'options.tools[0] names no built-in tool: "get_weather".'],
    ["a rule", ["Bash(ls:*)"], "put the rule into allowedTools"],
    ["a tool of a server", ["mcp__app__Read"], "is a tool of a server"],
  ])("refuses %s in tools, with what to write instead", (_, tools, message) => {
    expect(asked({ tools })).toThrow(TypeError);
    expect(asked({ tools })).toThrow(`query: options.tools`);
    expect(asked({ tools })).toThrow(message);
  });

  it.each([
    [["Read", "Grep"]],
    [[]],
    [["Task", "TodoWrite", "Skill", "Agent"]],
    [["NotebookEdit", "BashOutput", "KillShell"]],
    [{ type: "preset", preset: "claude_code" }],
  ])("takes the tools %j", (tools) => {
    expect(asked({ tools, host: { apiKey: "k" } })).not.toThrow();
  });

  it("says which tools are not there, and what they need", async () => {
    const host = { vfs: memoryVfs() };

    expect(
      await notes({ tools: ["Read", "Bash", "AskUserQuestion", "NotebookEdit", "TodoWrite"], host }),
    ).toEqual([
      "tools: Bash is missing, because it needs host.bash.",
      "tools: AskUserQuestion is missing, because it needs canUseTool.",
      "tools: NotebookEdit is not a tool of looplet/agent-sdk, so the model does not have it.",
    ]);
  });

  const ports = [
    ["webFetch", {}, "webFetch needs a function"],
    ["webFetch", null, "webFetch needs a function"],
    ["search", { search: () => [] }, "search needs a function"],
    ["onTodos", [], "onTodos needs a function"],
    ["bash", {}, "bash has no function exec"],
    ["bash", "bash", "bash needs an object with exec"],
    ["vfs", { read: () => undefined }, "vfs has no function list, stat"],
    ["vfs", "/app", "vfs needs an object with read, list, stat"],
  ] as const;

  it.each(ports)("refuses the %s %j of the host before the first message", (port, value, message) => {
    expect(asked({ host: { [port]: value } })).toThrow(`query: options.host.${message}`);
    expect(() => builtinTools({ [port]: value } as never)).toThrow(`builtinTools: ${message}`);
  });

  it.each(["model", "fetch", "mcpFetch", "random", "ids"])(
    "refuses a %s of the host that is not a function",
    (name) => {
      expect(asked({ host: { [name]: {} } })).toThrow(`query: options.host.${name} needs a function`);
    },
  );

  it.each([
    [{ settingSources: ["projct"] }, "options.settingSources needs some of user, project, local"],
    [{ settingSources: [1] }, "options.settingSources needs an array of strings"],
    [{ betas: [{}] }, "options.betas needs an array of strings"],
    [{ additionalDirectories: [null] }, "options.additionalDirectories needs an array of strings"],
  ])("refuses the options %j", (options, message) => {
    expect(asked(options)).toThrow(`query: ${message}`);
  });
});
