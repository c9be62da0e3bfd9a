/** The option `tools`: the names of built-in tools. */
import { isObject } from "../../../core/kit/check.js";
import { wrong } from "./check.js";
import type { PlainOptions } from "./options.js";
import { hintOf, KNOWN } from "./rule-notes.js";

/** What a query needs for the tools that it does not always have. */
const NEEDS: { readonly [tool: string]: string } = {
  ...Object.fromEntries(["Read", "Write", "Edit", "Glob", "Grep"].map((name) => [name, "host.vfs"])),
  Bash: "host.bash",
  WebFetch: "host.webFetch",
  WebSearch: "host.search",
  AskUserQuestion: "canUseTool",
};

/** Tools that need nothing, or that other options bring. */
const ELSEWHERE: readonly string[] = ["TodoWrite", "Agent", "Task", "Skill", "ToolSearch", "ExitPlanMode"];

/** @throws TypeError that says where what was given belongs */
export function checkTools(tools: unknown): void {
  const form = 'needs an array of the names of built-in tools, or { type: "preset", preset: "claude_code" }';
  if (tools === undefined) return;
  if (!Array.isArray(tools)) {
    if (!isObject(tools) || tools["type"] !== "preset" || tools["preset"] !== "claude_code")
      wrong("options.tools", `${form}. Pass your own tools in mcpServers, with createSdkMcpServer`);
    return;
  }
  for (const [at, name] of tools.entries()) {
    const place = `options.tools[${at}]`;
    if (typeof name !== "string")
      wrong(
        place,
        "needs the name of a built-in tool. Pass your own tools in mcpServers, with createSdkMcpServer",
      );
    if (name.includes("("))
      wrong(place, `is a rule: "${name}". Name the tool here, and put the rule into allowedTools`);
    if (name.startsWith("mcp__"))
      wrong(
        place,
        `is a tool of a server: "${name}". Servers of mcpServers have all their tools; leave it out`,
      );
    if (!KNOWN.includes(name)) wrong(place, `names no built-in tool: "${name}".${hintOf(name, KNOWN)}`);
  }
}

/** The notes about tools that were asked for and that the query cannot have. */
export function toolNotes({ tools = [], host = {}, canUseTool }: PlainOptions): string[] {
  const given: { readonly [need: string]: unknown } = {
    ...Object.fromEntries(Object.entries(host).map(([name, value]) => [`host.${name}`, value])),
    canUseTool,
  };
  return tools.flatMap((name) => {
    const need = NEEDS[name];
    if (need !== undefined)
      return given[need] === undefined ? [`tools: ${name} is missing, because it needs ${need}.`] : [];
    return ELSEWHERE.includes(name)
      ? []
      : [`tools: ${name} is not a tool of looplet/agent-sdk, so the model does not have it.`];
  });
}
