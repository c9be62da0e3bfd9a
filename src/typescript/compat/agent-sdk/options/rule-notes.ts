/** Hints about rules that cannot match, for people who have mistyped the name of a tool. */
import { nearestName } from "../../../core/kit/check.js";
import { serversOf } from "../agents/definition.js";
import type { Settings } from "../settings.js";
import type { PlainOptions } from "./options.js";

/** The tools of Claude Code (0.3.330). A rule for one that this query does not have is not a mistake. */
export const KNOWN: readonly string[] = [
  ...[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
  ],
  ...[
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
  ],
  ...[
    "ListAgents",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "LS",
    "LSP",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
  ],
  ...["NotebookRead", "PowerShell", "PushNotification", "Read", "ReadMcpResource", "ReadMcpResourceTool"],
  ...[
    "ScheduleWakeup",
    "SendMessage",
    "SendUserFile",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskGet",
  ],
  ...["TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch"],
  ...["WebSearch", "Workflow", "Write"],
];

/** Warnings about tools, servers or skills in the options that do not exist. */
export function ruleNotes(
  { allowedTools = [], disallowedTools = [], mcpServers = {}, agents = {} }: PlainOptions,
  { toolNames: tools, skills }: { readonly toolNames: readonly string[]; readonly skills: readonly string[] },
  settings: Partial<Pick<Settings, "ask" | "deny">> = {},
): string[] {
  const known = [mcpServers, serversOf(agents, mcpServers)].flatMap(Object.keys);
  const servers = known.map((name) => `mcp__${name}`);
  const note = (option: string, rule: string): string[] => {
    const [name = ""] = rule.trim().split("(");
    const isOfServer = servers.some((server) => name === server || name.startsWith(`${server}__`));
    if (name.includes("*") || isOfServer || [...tools, ...KNOWN].includes(name)) return [];
    const hint = hintOf(name, [...tools, ...servers, ...KNOWN]);
    return [`${option}: "${rule}" names no tool, so the rule does nothing.${hint}`];
  };
  return [
    ...allowedTools.flatMap((rule) => note("allowedTools", rule)),
    ...disallowedTools.flatMap((rule) => note("disallowedTools", rule)),
    // The settings of a project may speak of servers that this query does not have.
    ...(["ask", "deny"] as const).flatMap((list) =>
      (settings[list] ?? [])
        .filter((rule) => !rule.trim().startsWith("mcp__"))
        .flatMap((rule) => note(`settings: permissions.${list}`, rule)),
    ),
    ...Object.entries(agents).flatMap(([name, definition]) => [
      ...(definition.tools ?? []).flatMap((rule) => note(`agents.${name}.tools`, rule)),
      ...(definition.disallowedTools ?? []).flatMap((rule) => note(`agents.${name}.disallowedTools`, rule)),
      ...(definition.mcpServers ?? []).flatMap((server) => missing(name, "mcpServers", server, known)),
      ...(definition.skills ?? []).flatMap((skill) => missing(name, "skills", skill, skills)),
    ]),
  ];
}

/** The notes about a name in an agent's definition that the query does not have. */
function missing(agent: string, field: string, name: unknown, names: readonly string[]): string[] {
  if (typeof name !== "string" || names.includes(name)) return [];
  return [
    `agents.${agent}.${field}: "${name}" is not in this query, so it does nothing.${hintOf(name, names)}`,
  ];
}

export function hintOf(name: string, names: readonly string[]): string {
  const nearest = names.find((other) => letters(other) === letters(name)) ?? nearestName(name, names);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}

/** Letters that have changed places are the commonest mistake in a short name. */
const letters = (name: string): string => [...name.toLowerCase()].sort().join("");
