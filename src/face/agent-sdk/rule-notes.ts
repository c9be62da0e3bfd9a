/** Hints about rules that cannot match, for people who have mistyped the name of a tool. */
import { nearestName } from "../options/check.js";
import type { PlainOptions } from "./options.js";

/** The tools of Claude Code (0.3.330). A rule for one that this query does not have is no mistake. */
const KNOWN: readonly string[] = [
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

/** What is told of the rules of the options whose tool is nowhere. */
export function ruleNotes(
  { allowedTools = [], disallowedTools = [], mcpServers = {} }: PlainOptions,
  tools: readonly string[],
): string[] {
  const servers = Object.keys(mcpServers).map((name) => `mcp__${name}`);
  const note = (option: string, rule: string): string[] => {
    const [name = ""] = rule.split("(");
    const isOfServer = servers.some((server) => name === server || name.startsWith(`${server}__`));
    if (name.includes("*") || isOfServer || [...tools, ...KNOWN].includes(name)) return [];
    const names = [...tools, ...servers, ...KNOWN];
    const nearest = names.find((other) => letters(other) === letters(name)) ?? nearestName(name, names);
    const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    return [`${option}: "${rule}" names no tool, so the rule does nothing.${hint}`];
  };
  return [
    ...allowedTools.flatMap((rule) => note("allowedTools", rule)),
    ...disallowedTools.flatMap((rule) => note("disallowedTools", rule)),
  ];
}

/** Letters that have changed places are the commonest mistake in a short name. */
const letters = (name: string): string => [...name.toLowerCase()].sort().join("");
