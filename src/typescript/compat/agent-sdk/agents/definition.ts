/** The agents of a query, as a program defines them. */
import { PERMISSION_MODES } from "../../../core/kit/tables.js";
import type { PermissionMode, Tool } from "../../../core/api/index.js";
import { serverPart } from "../../../extras/mcp/names.js";
import { checkFields, wrong, type Fields } from "../options/check.js";
import { checkServers, type McpServerConfig, type McpServers, type ServerTool } from "../mcp.js";
import type { Options } from "../options/types.js";

/**
 * An agent that the tool Agent asks, or that `agent` makes the query's own. The tool's agent sees only the prompt of
 * its call, and its last text is the result. An unknown field is a `TypeError` that names it.
 */
export interface AgentDefinition extends FieldsOfTheProcess {
  /** Describes to the model when to use it. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /**
   * The names of its tools. `mcp__<server>` means all tools of a server. Default: those of the query, except Agent
   * for an agent that the model calls.
   */
  readonly tools?: readonly string[] | undefined;
  /**
   * Names of tools that it does not have, in the same form, and rules of calls that it must not make. Default: none.
   */
  readonly disallowedTools?: readonly string[] | undefined;
  /** The name of a model, or `"inherit"`. Default: the model of the query's options. */
  readonly model?: string | undefined;
  /**
   * Servers with tools that it has in addition to `tools`: names of `mcpServers`, and its own servers, which the
   * query's agent does not see. Default: none.
   */
  readonly mcpServers?: readonly (string | McpServers)[] | undefined;
  /** The names of skills with texts that it has from the start. Default: none. */
  readonly skills?: readonly string[] | undefined;
  /** A text after its system prompt. Default: none. */
  readonly criticalSystemReminder_EXPERIMENTAL?: string | undefined;
  /** As the query's own agent: what a new session begins with, before the first prompt. Default: nothing. */
  readonly initialPrompt?: string | undefined;
  /** The most rounds of tool calls. Default: no limit. */
  readonly maxTurns?: number | undefined;
  /** Tokens of its window, if they are fewer than those of its model. The query's own agent ignores it. */
  readonly autoCompactWindow?: number | undefined;
  /** Whether it works without CLAUDE.md. The query's own agent ignores it. Default false. */
  readonly omitClaudeMd?: boolean | undefined;
  /** A level; a number does nothing here. Default: that of the query. */
  readonly effort?: Options["effort"] | number;
  /** Counts as long as the query is in the mode `"default"`: an agent does not leave a mode that was chosen for all. */
  readonly permissionMode?: PermissionMode | undefined;
}

const FIELDS: { readonly [name in Exclude<keyof Required<AgentDefinition>, FieldOfTheProcess>]: string } = {
  description: "string",
  prompt: "string",
  tools: "texts",
  disallowedTools: "texts",
  model: "string",
  mcpServers: "array",
  skills: "texts",
  criticalSystemReminder_EXPERIMENTAL: "string",
  initialPrompt: "string",
  maxTurns: "number",
  autoCompactWindow: "number",
  omitClaudeMd: "boolean",
  effort: "any",
  permissionMode: "string",
};

/** Fields of the SDK that do nothing here. */
const OF_THE_PROCESS = ["background", "memory", "observer", "observerMessage"] as const;

type FieldOfTheProcess = (typeof OF_THE_PROCESS)[number];

/** Fields of the SDK that do nothing here. A warning names those that are given. */
interface FieldsOfTheProcess extends OnlyIgnored {
  readonly background?: boolean;
  readonly memory?: "user" | "project" | "local";
  readonly observer?: string;
  readonly observerMessage?: string;
}

/** The list of the check, which the names above have to be. */
type OnlyIgnored = { readonly [name in FieldOfTheProcess]?: unknown };

/** @throws TypeError that names the field */
export function checkDefinitions({
  agents = {},
  mcpServers = {},
  allowDangerouslySkipPermissions,
}: Options): void {
  const table = { fields: FIELDS as Fields, ignored: OF_THE_PROCESS, what: "a field of an agent" };
  for (const [name, definition] of Object.entries(agents)) {
    const place = `options.agents.${name}`;
    checkFields(definition, place, table);
    const { description, prompt, permissionMode: mode } = definition;
    if (description === undefined) wrong(`${place}.description`, "is missing");
    if (prompt === undefined) wrong(`${place}.prompt`, "is missing");
    if (mode !== undefined && !PERMISSION_MODES.includes(mode))
      wrong(`${place}.permissionMode`, `needs one of ${PERMISSION_MODES.join(", ")}`);
    if (mode === "bypassPermissions" && allowDangerouslySkipPermissions !== true)
      wrong(`${place}.permissionMode`, "needs allowDangerouslySkipPermissions: true among the options");
  }
  checkServers({ ...mcpServers, ...serversOf(agents, mcpServers) });
}

/** Warnings about fields that have no effect. */
export function definitionNotes({ agents = {} }: Options): string[] {
  return Object.entries(agents).flatMap(([name, definition]) => {
    const ignored: string[] = OF_THE_PROCESS.filter((field) => definition[field] !== undefined);
    if (typeof definition.effort === "number") ignored.push("effort as a number");
    return ignored.length === 0
      ? []
      : [`agents.${name}: these fields do nothing here: ${ignored.join(", ")}.`];
  });
}

/** The agents' own servers. */
export function serversOf(agents: Options["agents"] = {}, others: McpServers = {}): McpServers {
  const servers: { [name: string]: McpServerConfig } = {};
  for (const [agent, { mcpServers = [] }] of Object.entries(agents))
    for (const own of mcpServers)
      for (const [name, config] of typeof own === "string" ? [] : Object.entries(own)) {
        const other = Object.hasOwn(others, name) ? others[name] : servers[name];
        if (other !== undefined && other !== config)
          wrong(`options.agents.${agent}.mcpServers`, `has another server "${name}"; rename one`);
        servers[name] = config;
      }
  return servers;
}

/** The tools of an agent: the query's tools that its definition names, and the tools of its own servers. */
export function toolsOfAgent(
  { tools: names, disallowedTools = [], mcpServers = [] }: AgentDefinition,
  ofQuery: { readonly [name: string]: Tool },
  ofAgents: readonly ServerTool[],
): { [name: string]: Tool } {
  const servers = mcpServers.flatMap((server) => (typeof server === "string" ? server : Object.keys(server)));
  const ofServers = servers.map((server) => `mcp__${serverPart(server, "query")}`);
  const own = ofAgents.filter(({ name }) => isAmong(ofServers, name)).map(({ name, tool }) => [name, tool]);
  const isIts = (name: string): boolean =>
    !isAmong(disallowedTools, name) &&
    (names === undefined || isAmong(names, name) || isAmong(ofServers, name));
  const all: { [name: string]: Tool } = { ...ofQuery, ...Object.fromEntries(own) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => isIts(name)));
}

/** Whether a tool is named, or its server: `mcp__files`, `mcp__files__*`, `mcp__*`. */
function isAmong(names: readonly string[], tool: string): boolean {
  const [kind, server, own] = tool.split("__");
  const ofServer =
    own === undefined || kind !== "mcp" ? [] : [`mcp__${server}`, `mcp__${server}__*`, "mcp__*"];
  return [tool, ...ofServer].some((name) => names.includes(name));
}

/**
 * The rules of calls that an agent must not make. A name with a star, or one that may be a server or a tool, is a
 * rule too: the engine applies it in every possible meaning.
 */
export function deniedBy({ disallowedTools = [] }: AgentDefinition): string[] {
  return disallowedTools.filter((rule) => /[(*]|^mcp__/.test(rule));
}
