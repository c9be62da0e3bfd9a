/** Names that programs of the Claude Agent SDK compare with. */

/**
 * The names of the tools that a query may have: those of `looplet/tools`, and Agent, Skill, ToolSearch and
 * ExitPlanMode. `init` names those that one has.
 */
export const BUILTIN_TOOL_NAMES = [
  "Agent",
  "AskUserQuestion",
  "Bash",
  "Edit",
  "ExitPlanMode",
  "Glob",
  "Grep",
  "Read",
  "Skill",
  "TodoWrite",
  "ToolSearch",
  "WebFetch",
  "WebSearch",
  "Write",
] as const;

/** Older names of tools that rules may have, each with the name of today. */
export const LEGACY_TOOL_NAME_ALIASES: Readonly<Record<string, string>> = { Task: "Agent" };

/** An element of the list `systemPrompt` that parts it. looplet leaves it out: its models cache the whole prompt. */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/** Prefixes of texts about account limits. Empty: looplet has no such texts, and `api_retry` reports a limit. */
export const USAGE_LIMIT_ERROR_PREFIXES: readonly string[] = [];

/** Empty, as {@link USAGE_LIMIT_ERROR_PREFIXES}. */
export const USAGE_TRANSITION_PREFIXES: readonly string[] = [];

/** Empty, as {@link USAGE_LIMIT_ERROR_PREFIXES}. */
export const USAGE_WARNING_PREFIXES: readonly string[] = [];

/** Empty, as {@link USAGE_LIMIT_ERROR_PREFIXES}. */
export const ORG_POLICY_LIMIT_PREFIXES: readonly string[] = [];
