/** The options of a query, and their check. */
import { PERMISSION_MODES } from "../../../core/kit/tables.js";
import { isObject, joined } from "../../../core/kit/check.js";
import { checkFields, wrong } from "./check.js";
import { checkDefinitions, definitionNotes } from "../agents/definition.js";
import { checkServers } from "../mcp.js";
import { SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "../constants.js";
import { settingsPath } from "../settings.js";
import { checkHost } from "./host.js";
import { checkTools } from "./tools.js";
import type { Skill } from "../skills.js";
import type { Options } from "../types.js";

/** Each option with the type of its value, as `typeof` names it; `any` for those that have several. */
const OPTIONS: { readonly [name in Exclude<keyof Required<Options>, OptionOfTheProcess>]: string } = {
  model: "any",
  contextWindow: "number",
  compaction: "any",
  systemPrompt: "any",
  tools: "any",
  mcpServers: "object",
  allowedTools: "texts",
  disallowedTools: "texts",
  permissionMode: "string",
  canUseTool: "function",
  allowDangerouslySkipPermissions: "boolean",
  hooks: "object",
  maxTurns: "number",
  maxBudgetUsd: "number",
  allowUnknownPrice: "boolean",
  effort: "string",
  maxThinkingTokens: "number",
  thinking: "object",
  fallbackModel: "any",
  betas: "texts",
  outputFormat: "object",
  toolSearch: "any",
  toolAliases: "object",
  onElicitation: "function",
  planModeInstructions: "string",
  planAllowsReadOnly: "boolean",
  includePartialMessages: "boolean",
  includeHookEvents: "boolean",
  resume: "string",
  continue: "boolean",
  forkSession: "boolean",
  resumeSessionAt: "string",
  resumeDropsTurn: "string",
  verbatimPrompts: "boolean",
  permissionPrompts: "string",
  settings: "any",
  managedSettings: "object",
  title: "string",
  enableFileCheckpointing: "boolean",
  extraArgs: "object",
  sandbox: "object",
  sessionId: "string",
  persistSession: "boolean",
  sessionStore: "object",
  sessionStoreFlush: "string",
  cwd: "string",
  additionalDirectories: "texts",
  env: "object",
  settingSources: "texts",
  trustProject: "any",
  skills: "any",
  agent: "string",
  agents: "object",
  forwardSubagentText: "boolean",
  abortController: "object",
  host: "object",
};

/** Options of the SDK that do nothing here: those about its process, and those about its screens. */
const OF_THE_PROCESS = [
  "debug",
  "debugFile",
  "executable",
  "executableArgs",
  "loadTimeoutMs",
  "mcpServersDelivery",
  "pathToClaudeCodeExecutable",
  "permissionPromptToolName",
  "perTaskStopAffordance",
  "pluginDelivery",
  "plugins",
  "projectConfigRoot",
  "promptSuggestions",
  "agentProgressSummaries",
  "onUserDialog",
  "spawnClaudeCodeProcess",
  "stderr",
  "strictMcpConfig",
  "supportedDialogKinds",
  "taskBudget",
  "toolConfig",
] as const;

/** An option of the SDK that is accepted, does nothing, and is named once in a warning. */
export type OptionOfTheProcess = (typeof OF_THE_PROCESS)[number];

/** The notes about options that do nothing here, or something else than in the SDK. */
export function optionNotes(options: PlainOptions): string[] {
  const ignored = ignoredOptions(options);
  const { sandbox, systemPrompt, extraArgs = {} } = options;
  const args = Object.keys(extraArgs).filter((name) => name !== REPLAY);
  return [
    ...(ignored.length === 0 ? [] : [`These options do nothing here: ${ignored.join(", ")}.`]),
    ...definitionNotes(options),
    ...(args.length === 0 ? [] : [`These extraArgs do nothing here: ${args.join(", ")}.`]),
    ...(sandbox?.enabled === true
      ? ["sandbox: looplet confines no commands. They run in host.bash, so that has to be a sandbox."]
      : []),
    ...(Array.isArray(systemPrompt) && systemPrompt[0] === PRESET
      ? [
          "systemPrompt: the preset is a short text of looplet's own; the prompt of Claude Code is not published.",
        ]
      : []),
  ];
}

/** The argument that makes the query repeat the prompt as a message. */
export const REPLAY = "replay-user-messages";

function ignoredOptions(options: object): string[] {
  return OF_THE_PROCESS.filter((name) => (options as { [name: string]: unknown })[name] !== undefined);
}

/** @throws TypeError that names the option */
export function checkOptions(options: Options): void {
  checkFields(options, "options", {
    fields: OPTIONS,
    ignored: OF_THE_PROCESS,
    what: "an option of this entry",
  });
  const { model, resume, continue: continues, forkSession, sessionId, resumeSessionAt } = options;
  if (model !== undefined && typeof model !== "string" && typeof model !== "object")
    wrong("options.model", "needs the name of a model, or a model");
  const { permissionMode = "default", toolAliases = {} } = options;
  if (!(PERMISSION_MODES as readonly string[]).includes(permissionMode))
    wrong("options.permissionMode", `needs one of ${PERMISSION_MODES.join(", ")}`);
  for (const [alias, name] of Object.entries(toolAliases))
    if (typeof name !== "string") wrong(`options.toolAliases.${alias}`, "needs the name of a tool");
  if (!/^(?:true|false|auto|auto:\d+)$/.test(String(options.toolSearch ?? "auto")))
    wrong("options.toolSearch", 'needs true, false, "auto", or "auto:N" with a percentage of the window');
  if (!["batched", "eager"].includes(options.sessionStoreFlush ?? "eager"))
    wrong("options.sessionStoreFlush", 'needs "batched" or "eager"');
  if (!["boolean", "function", "undefined"].includes(typeof options.trustProject))
    wrong("options.trustProject", "needs true, false, or a function that is asked");
  if (!["host", "none"].includes(options.permissionPrompts ?? "none"))
    wrong("options.permissionPrompts", 'needs "host" or "none"');
  if (typeof options.settings !== "string" && options.settings !== undefined && !isObject(options.settings))
    wrong("options.settings", "needs an object, its JSON, or the path of a file");
  if (settingsPath(options) !== undefined && options.host?.vfs === undefined)
    wrong("options.settings", "is the path of a file, so it needs host.vfs");
  const sources: readonly string[] = ["user", "project", "local"];
  for (const source of options.settingSources ?? [])
    if (!sources.includes(source)) wrong("options.settingSources", `needs some of ${sources.join(", ")}`);
  checkHost(options.host ?? {});
  checkServers(options.mcpServers ?? {});
  checkDefinitions(options);
  checkForms(options);
  if (resume !== undefined && continues) wrong("options.continue", "cannot be given with resume");
  const isNew = resume === undefined && !continues;
  if (isNew && forkSession) wrong("options.forkSession", "needs resume or continue");
  if (isNew && resumeSessionAt !== undefined) wrong("options.resumeSessionAt", "needs resume");
  if (resumeSessionAt === undefined && options.resumeDropsTurn !== undefined)
    wrong("options.resumeDropsTurn", "needs resumeSessionAt");
  if (!isNew && sessionId !== undefined && !forkSession)
    wrong("options.sessionId", "names a new session, so resume and continue also need forkSession");
}

/** An option in the forms of the SDK, as one of them. */
export type PlainOptions = Options & {
  systemPrompt?: string | readonly string[] | undefined;
  tools?: readonly string[] | undefined;
  skills?: readonly (string | Skill)[] | undefined;
  env?: { readonly [name: string]: string } | undefined;
};

/** Checked options, each in the one form that the query works with. */
export function plainOptions({
  systemPrompt,
  tools,
  skills,
  thinking,
  env,
  ...options
}: Options): PlainOptions {
  return joined<object, object>(options, {
    systemPrompt: systemTexts(systemPrompt),
    tools: Array.isArray(tools) ? tools : undefined,
    skills: skills === "all" ? undefined : skills,
    ...(env && { env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) }),
    ...(options.permissionPrompts === "none" && { canUseTool: undefined }),
    ...(thinking?.type === "enabled" && { maxThinkingTokens: thinking.budgetTokens }),
    ...(thinking?.type === "disabled" && { maxThinkingTokens: 0 }),
  }) as PlainOptions;
}

/** looplet's own words for the preset `claude_code`. */
const PRESET =
  "You are an agent that works for a user with tools. Read before you change something, change only what the task needs, check the result, and say at the end in a few sentences what you have done and what is left.";

function systemTexts(systemPrompt: Options["systemPrompt"]): string | readonly string[] | undefined {
  if (!isObject(systemPrompt)) return withoutBoundary(systemPrompt as string | readonly string[] | undefined);
  const { prompt, append } = systemPrompt as { prompt?: string | readonly string[]; append?: string };
  return systemPrompt["type"] === "preset" ? [PRESET, ...(append ? [append] : [])] : withoutBoundary(prompt);
}

function withoutBoundary(texts: string | readonly string[] | undefined): typeof texts {
  return Array.isArray(texts) ? texts.filter((text) => text !== SYSTEM_PROMPT_DYNAMIC_BOUNDARY) : texts;
}

/** The text after the preset, of checked options. */
export function appended({ systemPrompt }: PlainOptions): readonly string[] {
  return Array.isArray(systemPrompt) && systemPrompt[0] === PRESET ? systemPrompt.slice(1) : [];
}

/** Checks the options that have several forms. */
function checkForms({
  systemPrompt,
  tools,
  skills,
  thinking,
  sandbox,
}: {
  readonly [name: string]: any;
}): void {
  const isText = (value: unknown): boolean => typeof value === "string" || Array.isArray(value);
  const isPreset = systemPrompt?.type === "preset" && systemPrompt.preset === "claude_code";
  if (systemPrompt !== undefined && !isPreset && !isText(systemPrompt) && !isText(systemPrompt?.prompt))
    wrong(
      "options.systemPrompt",
      'needs a text, an array of texts, { type: "custom", prompt }, or { type: "preset", preset: "claude_code", append }',
    );
  if (sandbox?.enabled === true && sandbox.failIfUnavailable === true)
    wrong(
      "options.sandbox",
      "is not available: looplet confines no commands. Give host.bash a sandbox, and leave it out",
    );
  checkTools(tools);
  if (skills !== undefined && !Array.isArray(skills) && skills !== "all")
    wrong("options.skills", 'needs an array, or "all"');
  if (thinking !== undefined && !["adaptive", "enabled", "disabled"].includes(thinking.type))
    wrong("options.thinking", 'needs the type "adaptive", "enabled" or "disabled"');
}
