/** The agent of a query, made of its options, its settings files and the tools of its servers. */
import { LoopletError } from "../../core/api/errors.js";
import type {
  Agent,
  AgentOptions,
  CanUseTool,
  HookGroup,
  Hooks,
  Model,
  PermissionMode,
  RunResult,
  Tool,
} from "../../core/api/index.js";
import { builtinTools, toolSearch } from "../../extras/tools/index.js";
import { hostOptions } from "../host.js";
import { agentSdkCanUseTool } from "../presets/agent-sdk-hooks.js";
import { sessionEndCaller } from "../../core/kit/runs.js";
import { joined, nearestName, checkMode } from "../../core/kit/check.js";
import { inputJsonSchema } from "../../core/kit/tools.js";
import { createAgent } from "../../core/index.js";
import { mergeOptions, presets } from "../presets/index.js";
import { resolvePath } from "../../extras/vfs/paths.js";
import { agentTool, type ModeOf, type NamedAgent, type Tasks } from "./agents/agents.js";
import { queryHooks, type AskedAgent, type HookedSession } from "./hooks/query-hooks.js";
import { toolsOf, type ServerTool } from "./mcp.js";
import { chosen as chosenModel, namedModel, windowOf } from "./models.js";
import { judgedBy } from "./modes/auto.js";
import { exitPlanTool, planHook, strictHook } from "./modes/plan.js";
import { wrong } from "./options/check.js";
import { settingsPath, type Settings } from "./settings.js";
import { skillTool, toldSkill, type Skill } from "./skills.js";
import { deniedBy, serversOf, toolsOfAgent, type AgentDefinition } from "./agents/definition.js";
import { appended, type PlainOptions } from "./options/options.js";
import type { Options } from "./options/types.js";

/** Tools that change only what the model knows. */
const UNASKED = ["TodoWrite", "Skill", "ToolSearch"];

/**
 * Files that `settingSources` reads. A run must ask the user before it changes them, because the next run obeys them.
 */
const SETTINGS = ["Edit(.claude)", "Edit(CLAUDE.md)", "Edit(CLAUDE.local.md)", "Edit(.mcp.json)"];

/** Tools that only the query's own agent has. */
const ROOT_ONLY = ["Agent", "AskUserQuestion", "ExitPlanMode"];

/** Tokens of the window that `toolSearch` counts with. */
const WINDOW = 200_000;

/** Characters of a definition that count as a token. */
const TOKEN_CHARS = 3.5;

/** What was found when the query began. */
export interface Found {
  readonly settings?: Settings;
  /** The tools of servers beyond the process. */
  readonly tools?: readonly ServerTool[];
  /** The tools of the agents' own servers. */
  readonly ofAgents?: readonly ServerTool[];
}

/** The query under way, as its agent and its tools see it. */
export interface Ongoing extends Tasks, HookedSession {
  /** The mode that counts now. */
  permissionMode(): PermissionMode;
  /** An answer about a call has chosen another mode. */
  modeChosen(mode: PermissionMode): void;
  /** The plan is approved. */
  leavePlan(): void;
  /** The model that was chosen since the query began. */
  model(): Model | undefined;
  /** What the user wants in this turn. */
  task(): string;
  /** Called with the result of an additional model call, to count its cost. */
  spent(result: RunResult): void;
  /** Whether the query ends when the round of tools under way is over. */
  isShuttingDown(): boolean;
}

/** The agent of a query, and the names of its tools in the order of the requests. */
export interface Made {
  readonly agent: Agent;
  readonly toolNames: readonly string[];
  /** What the query sends with each request. */
  readonly sent: {
    readonly system: string;
    readonly instructions: readonly string[];
    readonly tools: { readonly [name: string]: Tool };
    readonly window: number | undefined;
  };
  /** The model that the query begins with. */
  readonly main: string | Model;
  /** What a new session begins with, before the first prompt. */
  readonly initialPrompt: string | undefined;
  /** A model by its name, with at most so many tokens of reasoning. Default: the model of the options. */
  readonly modelOf: (model?: string | Model, maxThinkingTokens?: number) => Model;
  readonly agents: readonly Pick<NamedAgent & { name: string }, "name" | "description">[];
  readonly skills: readonly string[];
  readonly permissionMode: PermissionMode;
  /** Calls the hooks of SessionEnd. */
  endSession(reason: "clear" | "close"): void;
}

/**
 * The agent of the options, the settings files and the servers. Options win over files, but each deny rule counts.
 *
 * @throws TypeError that names the option
 */
export function made(given: PlainOptions, ongoing: Ongoing, found?: Found): Made {
  const { settings, tools: remote = [], ofAgents: remoteOfAgents = [] }: Found = found ?? {};
  const definitions = ownFields({ ...settings?.agents, ...given.agents });
  const isRead = found !== undefined || (given.settingSources ?? []).length === 0;
  const self = ownAgent(given.agent, definitions, isRead);
  const chosen = joined(given, { model: given.model ?? settings?.model });
  const options = self === undefined ? chosen : asAgent(chosen, self);
  const { host = {}, maxBudgetUsd, maxTurns } = options;
  const allowed = [...(options.allowedTools ?? []), ...(settings?.allow ?? [])].map(currentRule);
  const { systemPrompt, fallbackModel, outputFormat, compaction } = options;
  const main = chosenModel(options);
  const deny = [...(options.disallowedTools ?? []), ...(settings?.deny ?? [])].map(currentRule);
  const skills = skillsOf(options, settings?.skills ?? []);
  const served = [...toolsOf(options.mcpServers ?? {}), ...remote];
  const ofAgents = [...toolsOf(serversOf(options.agents, options.mcpServers)), ...remoteOfAgents];
  const tools: Record<string, Tool> = {
    ...builtins(options, settings),
    ...Object.fromEntries(served.map(({ name, tool }) => [name, tool])),
  };
  if (skills.length > 0) tools["Skill"] = skillTool(skills);
  const permissionMode = options.permissionMode ?? settings?.defaultMode ?? "default";
  const canExit = permissionMode === "plan" && options.canUseTool !== undefined;
  if (canExit && (options.tools?.includes("ExitPlanMode") ?? true))
    tools["ExitPlanMode"] = exitPlanTool(ongoing);
  for (const rule of deny) delete tools[rule];
  const path = settingsPath(options);
  const ownFile = path === undefined ? [] : [`Edit(/${path})`, `Bash(*${path.split("/").at(-1)}*)`];
  const systemOf = (texts: readonly string[], isBare = false): string | undefined =>
    [...texts, ...((!isBare && settings?.instructions) || [])].join("\n\n") || undefined;
  const named = (model: string | Model, effort = options.effort): Model => namedModel(model, options, effort);
  /** An agent of this query with these tools. Everything about permissions is the query's, and a definition denies more. */
  const agentOf = (
    changes: object,
    own: Record<string, Tool>,
    { definition, agent }: { definition?: AgentDefinition | undefined; agent?: AskedAgent } = {},
  ): [Agent, string[]] => {
    const offered = withSearch(own, [...served, ...ofAgents], options);
    const canUseTool = permissionsOf(options, ongoing, agent);
    const { judge = main } = host;
    const judged = { host: hostOptions(host), canUseTool, task: () => ongoing.task(), spent: ongoing.spent };
    const all = {
      ...hostOptions(host),
      ...offered,
      permissions: {
        allow: known([...UNASKED, ...allowed], offered.tools),
        ...asking(
          options,
          offered.tools,
          [...SETTINGS, ...ownFile, ...(settings?.ask ?? []).map(currentRule)],
          [...deny, ...(definition === undefined ? [] : deniedBy(definition))],
        ),
        ...placesOf(options, settings),
        protectSettings: true,
        canUseTool,
        classifyTool:
          typeof judge === "function" ? judge : judgedBy({ ...judged, model: () => named(judge, "low") }),
        allowDangerouslySkipPermissions: options.allowDangerouslySkipPermissions,
      },
      hooks: hooksOf(options, ongoing, {
        agent,
        modeOf: agent && definition ? modeIn(definition) : (mode) => mode,
        preloaded: definition?.skills && skills.filter(({ name }) => definition.skills!.includes(name)),
      }),
      context: { compaction },
      toolCalls: { aliases: options.toolAliases },
      events: { messages: true },
    };
    const made = createAgent(mergeOptions(presets.claudeAgentSdk.agent, all, changes) as AgentOptions);
    return [made, Object.keys(offered.tools)];
  };
  /** Makes an agent for a call of Agent. It has what is left of the budget. */
  const childOf = (
    definition: AgentDefinition,
    agent: AskedAgent,
    model = definition.model ?? "inherit",
  ): Agent => {
    const own = model === "inherit" ? main : model;
    const { maxTurns, autoCompactWindow = Infinity, omitClaudeMd } = definition;
    const window = Math.min(options.contextWindow ?? windowOf(own) ?? Infinity, autoCompactWindow);
    const changes = {
      model: named(own, levelOf(definition)),
      context: { window: window === Infinity ? undefined : window },
      system: systemOf(textsOf(definition), omitClaudeMd),
      permissions: { mode: modeIn(definition)(ongoing.permissionMode()) },
      limits: {
        maxToolRounds: maxTurns,
        maxUsd: ongoing.usdLeft(),
        // Agents that run in parallel share what is left.
        stopWhen: () => (ongoing.usdLeft() ?? 1) <= 0,
      },
    };
    const all = Object.entries(tools).filter(([name]) => !ROOT_ONLY.includes(name));
    const its = toolsOfAgent(definition, Object.fromEntries(all), ofAgents);
    return agentOf(changes, its, { definition, agent })[0];
  };
  try {
    const agents: { [name: string]: NamedAgent } = {};
    for (const [name, definition] of Object.entries(definitions))
      agents[name] = {
        description: definition.description,
        make: (id, model) => childOf(definition, { id, type: name }, model),
        modeOf: modeIn(definition),
      };
    // An agent that cannot be made is an error of the query.
    for (const [type, definition] of Object.entries(definitions)) childOf(definition, { id: "", type });
    const every = { ...tools };
    if (Object.keys(agents).length > 0 && !deny.includes("Agent"))
      every["Agent"] = agentTool(agents, ongoing);
    const own = self === undefined ? every : toolsOfAgent(self, every, ofAgents);
    const changes = {
      model: named(main),
      context: { window: options.contextWindow ?? windowOf(ongoing.model() ?? main) },
      system: systemOf([systemPrompt ?? []].flat()),
      permissions: { mode: permissionMode },
      limits: {
        maxToolRounds: maxTurns,
        maxUsd: maxBudgetUsd,
        allowUnknownPrice: options.allowUnknownPrice,
        // The costs of agents count too.
        stopWhen: () => ongoing.isShuttingDown() || (ongoing.usdLeft() ?? 1) <= 0,
      },
      fallbackModels: fallbackModel && fallbacks(fallbackModel).map((model) => named(model)),
      output: outputFormat && { schema: outputFormat.schema },
    };
    const [agent, toolNames] = agentOf(changes, own, { definition: self });
    return {
      agent,
      main,
      initialPrompt: self?.initialPrompt,
      toolNames,
      sent: {
        system: changes.system ?? "",
        instructions: settings?.instructions ?? [],
        tools: own,
        window: changes.context.window,
      },
      modelOf: (model = main, maxThinkingTokens = options.maxThinkingTokens) =>
        namedModel(model, { ...options, maxThinkingTokens }),
      agents: Object.entries(agents).map(([name, { description }]) => ({ name, description })),
      skills: skills.map(({ name }) => name),
      permissionMode,
      endSession: sessionEndCaller({ hooks: hooksOf(options, ongoing, { modeOf: (mode) => mode }) }),
    };
  } catch (error) {
    if (error instanceof LoopletError && error.code === "config_missing_key")
      wrong(
        "options.host.apiKey",
        "is missing; pass it, or set ANTHROPIC_API_KEY in env or in the environment of the process",
        error,
      );
    if (error instanceof LoopletError) wrong("options", `cannot create an agent: ${error.message}`, error);
    throw error;
  }
}

/**
 * The agent as which the query works. One of settings files is found when these are read.
 *
 * @throws TypeError for a name that no agent has
 */
function ownAgent(
  name: string | undefined,
  agents: { readonly [name: string]: AgentDefinition },
  isRead: boolean,
): AgentDefinition | undefined {
  if (name === undefined) return undefined;
  if (Object.hasOwn(agents, name)) return agents[name];
  if (!isRead) return undefined;
  const names = Object.keys(agents);
  const nearest = nearestName(name, names);
  const hint =
    nearest === undefined ? `there are ${names.join(", ") || "none"}` : `did you mean "${nearest}"?`;
  return wrong("options.agent", `names no agent: "${name}"; ${hint}`);
}

/** The options of a query that works as an agent. What they say themselves wins, but for the prompt. */
function asAgent(options: PlainOptions, agent: AgentDefinition): PlainOptions {
  const { model, maxTurns, permissionMode } = agent;
  return joined(options, {
    systemPrompt: [...textsOf(agent), ...appended(options)],
    model: options.model ?? (model === "inherit" ? undefined : model),
    effort: options.effort ?? levelOf(agent),
    maxTurns: options.maxTurns ?? maxTurns,
    permissionMode: options.permissionMode ?? permissionMode,
  });
}

/** The definitions, each without what other code has added to the prototype of every object. */
function ownFields(definitions: { readonly [name: string]: AgentDefinition }): {
  readonly [name: string]: AgentDefinition;
} {
  return Object.fromEntries(Object.entries(definitions).map(([name, one]) => [name, joined(one)]));
}

/** The models of a list like `sonnet, haiku`, in their order. */
function fallbacks(models: string | Model): (string | Model)[] {
  if (typeof models !== "string") return [models];
  return models.split(",").flatMap((name) => name.trim() || []);
}

const textsOf = ({ prompt, criticalSystemReminder_EXPERIMENTAL: reminder }: AgentDefinition): string[] =>
  reminder ? [prompt, reminder] : [prompt];

const levelOf = ({ effort }: AgentDefinition): Options["effort"] =>
  typeof effort === "number" ? undefined : effort;

/**
 * An agent's own mode applies only in the mode `default`. In any other mode the agent keeps the mode chosen for all.
 */
const modeIn =
  ({ permissionMode }: AgentDefinition): ModeOf =>
  (mode) =>
    mode === "default" ? (permissionMode ?? mode) : mode;

/** The tools. With `toolSearch` the definitions of servers' tools are withheld. */
function withSearch(
  tools: Record<string, Tool>,
  served: readonly ServerTool[],
  { toolSearch: when = "auto" }: Options,
): { tools: Record<string, Tool> } & Pick<AgentOptions, "prepareIteration"> {
  const late = served.filter(({ name, alwaysLoad }) => !alwaysLoad && Object.hasOwn(tools, name));
  if (when === false || late.length === 0) return { tools };
  if (when !== true) {
    const percent = Number(when.split(":")[1] ?? 10);
    const tokens = late.reduce((sum, { tool }) => sum + charsOf(tool), 0) / TOKEN_CHARS;
    if (tokens <= (WINDOW * percent) / 100) return { tools };
  }
  const hinted = late.filter(({ searchHint }) => searchHint !== undefined);
  return toolSearch(tools, {
    deferred: late.map(({ name }) => name),
    hints: Object.fromEntries(hinted.map(({ name, searchHint }) => [name, searchHint!])),
  });
}

/** Characters of a definition in a request. */
function charsOf({ description = "", inputSchema }: Tool): number {
  return description.length + JSON.stringify(inputJsonSchema(inputSchema, "inputSchema")).length;
}

/** A rule by the name of today: the tool Agent was called Task. */
function currentRule(rule: string): string {
  return rule.trim().replace(/^Task(?=\(|$)/, "Agent");
}

/** The rules that restrict. Without `canUseTool`, an `ask` rule denies. */
function asking(
  { canUseTool }: Options,
  tools: { readonly [name: string]: Tool },
  ask: readonly string[],
  deny: readonly string[],
): { ask: string[]; deny: string[] } {
  if (canUseTool === undefined) return { ask: [], deny: known([...deny, ...ask], tools) };
  return { ask: known(ask, tools), deny: known(deny, tools) };
}

/** The folders where the query works, from the root on. */
function placesOf(
  { cwd = "/", additionalDirectories = [] }: Options,
  settings: Settings | undefined,
): { cwd: string; additionalDirectories: string[] } {
  const base = resolvePath(cwd);
  const folders = [...additionalDirectories, ...(settings?.additionalDirectories ?? [])];
  return { cwd: base, additionalDirectories: folders.map((folder) => resolvePath(folder, base)) };
}

/** An agent, as its hooks need it. */
interface HookedAgent {
  /** Undefined for the query's own. */
  readonly agent?: AskedAgent | undefined;
  readonly modeOf: ModeOf;
  /** Skills with texts that it has from the start. */
  readonly preloaded?: readonly Skill[] | undefined;
}

/** The hooks of the query, the hooks of its modes, and one that gives an agent the text of its skills. */
function hooksOf(
  options: PlainOptions,
  ongoing: Ongoing,
  { agent, modeOf, preloaded = [] }: HookedAgent,
): Hooks {
  const { planAllowsReadOnly = true } = options;
  const own = queryHooks(options, ongoing, agent);
  const planning = { permissionMode: () => modeOf(ongoing.permissionMode()), leavePlan: ongoing.leavePlan };
  const strict = planAllowsReadOnly ? [] : [strictHook(planning)];
  const plan = planHook(options, planning, agent === undefined && options.canUseTool !== undefined);
  const isNew = (): boolean => agent !== undefined || ongoing.beginning() !== undefined;
  return {
    ...own,
    PreToolUse: [
      ...(own.PreToolUse ?? []).map((group) => answered(group, options.canUseTool !== undefined)),
      ...strict,
    ],
    UserPromptSubmit: [
      ...(own.UserPromptSubmit ?? []),
      plan,
      ...preloaded.map((skill) => toldSkill(skill, isNew)),
    ],
  };
}

/**
 * The hooks of a query, in which no call waits for ever: a deferred call is asked about like one with `ask`. Both are
 * denied without `canUseTool`.
 */
function answered(group: HookGroup<"PreToolUse">, canAsk: boolean): HookGroup<"PreToolUse"> {
  const hooks = group.hooks.map((hook): typeof hook => async (...given) => {
    const said = await hook(...given);
    const isOpen = said?.decision === "ask" || said?.decision === "defer";
    return isOpen ? { ...said, decision: canAsk ? "ask" : "deny" } : said;
  });
  return { ...group, hooks };
}

/**
 * Checks a mode that is chosen during the query.
 *
 * @throws LoopletError for an unknown mode, or one that the options do not allow
 */
export function checkQueryMode(
  mode: PermissionMode,
  { allowDangerouslySkipPermissions }: Pick<Options, "allowDangerouslySkipPermissions">,
): void {
  checkMode(mode, "mode", { allowDangerouslySkipPermissions, classifyTool: () => null });
}

/** `canUseTool` with the agent that wants a call. Its answer may choose another mode. */
function permissionsOf(
  { canUseTool, ...options }: PlainOptions,
  ongoing: Ongoing,
  agent: AskedAgent | undefined,
): CanUseTool | undefined {
  if (canUseTool === undefined) return undefined;
  return agentSdkCanUseTool(async (toolName, input, request) => {
    const said = await canUseTool(toolName, input, {
      ...request,
      decisionReason: request.reason,
      ...(agent === undefined ? {} : { agentID: agent.id }),
    });
    for (const update of said?.updatedPermissions ?? [])
      if (update.type === "setMode") {
        checkQueryMode(update.mode, options);
        ongoing.modeChosen(update.mode);
      }
    return said;
  });
}

/** The skills of files that the option names (all, without the option), and the skills that the option defines. */
function skillsOf({ skills }: PlainOptions, found: readonly Skill[]): Skill[] {
  const own = skills?.filter((skill) => typeof skill !== "string") ?? [];
  return [...found.filter(({ name }) => skills?.includes(name) ?? true), ...own];
}

function builtins(options: PlainOptions, settings?: Settings): Record<string, Tool> {
  const { tools, cwd, host, canUseTool, additionalDirectories = [] } = options;
  // The key is for requests to the model. A command that reads it would show it to the model.
  const { ANTHROPIC_API_KEY: _, ...env } = { ...settings?.env, ...options.env };
  const all = builtinTools({
    ...host,
    cwd,
    additionalDirectories: [...additionalDirectories, ...(settings?.additionalDirectories ?? [])],
    env,
    asksUser: canUseTool !== undefined,
  });
  const isWanted = ([name]: readonly [string, Tool]): boolean => tools?.includes(name) ?? true;
  return Object.fromEntries(Object.entries(all).filter(isWanted));
}

/** The rules that can match one of the tools. The SDK takes rules for tools that a program does not have. */
function known(rules: readonly string[], tools: { readonly [name: string]: Tool }): string[] {
  return rules.filter((rule) => {
    const [name = ""] = rule.split("(");
    // With paths, Edit and Read speak of every tool that writes or reads files.
    return (
      name.includes("*") ||
      name.startsWith("mcp__") ||
      /^(?:Edit|Read)\(/.test(rule) ||
      Object.hasOwn(tools, name)
    );
  });
}
