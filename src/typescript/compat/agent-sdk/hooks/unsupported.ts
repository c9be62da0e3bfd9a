/** The inputs of hooks that a query never calls. A note names hooks of these events. */
import type { About } from "./types.js";

type Switched<Source> = {
  from_model: string;
  to_model: string;
  requested_model: string | null;
  source: Source;
  context_tokens: number;
  prompt_cache_warm: boolean;
  cache_ttl: "5m" | "1h";
  estimated_cache_write_usd: number;
  pricing: "configured" | "catalog" | "default";
};
type Task = {
  task_id: string;
  task_subject: string;
  task_description?: string;
  teammate_name?: string;
  team_name?: string;
};

/** No call: a command is not expanded by a process. */
export type UserPromptExpansionHookInput = About<
  "UserPromptExpansion",
  {
    expansion_type: "slash_command" | "mcp_prompt";
    command_name: string;
    command_args: string;
    command_source?: string;
    prompt: string;
  }
>;
/** No call: `setModel` asks no one. */
export type PreModelSwitchHookInput = About<"PreModelSwitch", Switched<"command" | "picker" | "sdk">>;
/** No call. */
export type PostModelSwitchHookInput = About<
  "PostModelSwitch",
  Switched<"command" | "picker" | "sdk" | "auto" | "resume">
>;
/** No call: nothing is set up. */
export type SetupHookInput = About<"Setup", { trigger: "init" | "maintenance" }>;
/** No call: there are no teams. */
export type TeammateIdleHookInput = About<"TeammateIdle", { teammate_name: string; team_name: string }>;
/** No call: there are no tasks in the background. */
export type TaskCreatedHookInput = About<"TaskCreated", Task>;
/** No call. */
export type TaskCompletedHookInput = About<"TaskCompleted", Task>;
/** No call: `onElicitation` answers a server. */
export type ElicitationHookInput = About<
  "Elicitation",
  {
    mcp_server_name: string;
    message: string;
    mode?: "form" | "url";
    url?: string;
    elicitation_id?: string;
    requested_schema?: Record<string, unknown>;
  }
>;
/** No call. */
export type ElicitationResultHookInput = About<
  "ElicitationResult",
  {
    mcp_server_name: string;
    elicitation_id?: string;
    mode?: "form" | "url";
    action: "accept" | "decline" | "cancel";
    content?: Record<string, unknown>;
  }
>;
/** No call: settings are read once. */
export type ConfigChangeHookInput = About<
  "ConfigChange",
  {
    source: "user_settings" | "project_settings" | "local_settings" | "policy_settings" | "skills";
    file_path?: string;
  }
>;
/** No call: a note names a file that does not count. */
export type InstructionsLoadedHookInput = About<
  "InstructionsLoaded",
  {
    file_path: string;
    memory_type: "User" | "Project" | "Local" | "Managed";
    load_reason: "session_start" | "nested_traversal" | "path_glob_match" | "include" | "compact";
    globs?: string[];
    trigger_file_path?: string;
    parent_file_path?: string;
  }
>;
/** No call: there are no worktrees. */
export type WorktreeCreateHookInput = About<"WorktreeCreate", { name: string }>;
/** No call. */
export type WorktreeRemoveHookInput = About<"WorktreeRemove", { worktree_path: string }>;
/** No call: the folder of a query does not change. */
export type CwdChangedHookInput = About<"CwdChanged", { old_cwd: string; new_cwd: string }>;
/** No call: no file is watched. */
export type FileChangedHookInput = About<
  "FileChanged",
  { file_path: string; event: "change" | "add" | "unlink" }
>;
/** No call: the folders of a query do not change. */
export type DirectoryAddedHookInput = About<
  "DirectoryAdded",
  { directory: string; source: "slash_command" | "register_repo_root" }
>;
/** No call: there is no screen. */
export type MessageDisplayHookInput = About<
  "MessageDisplay",
  { turn_id: string; message_id: string; index: number; final: boolean; delta: string }
>;
/** No call: commands in the text of a skill are not run. */
export type PreSkillShellCommandHookInput = About<
  "PreSkillShellCommand",
  {
    tool_name: string;
    tool_input: { command: string };
    tool_use_id: string;
    command_name: string;
    command_source?: string;
    invoked_by: "user" | "claude" | "other";
  }
>;

/** The input of a hook that is never called. */
export type UnsupportedHookInput =
  | UserPromptExpansionHookInput
  | PreModelSwitchHookInput
  | PostModelSwitchHookInput
  | SetupHookInput
  | TeammateIdleHookInput
  | TaskCreatedHookInput
  | TaskCompletedHookInput
  | ElicitationHookInput
  | ElicitationResultHookInput
  | ConfigChangeHookInput
  | InstructionsLoadedHookInput
  | WorktreeCreateHookInput
  | WorktreeRemoveHookInput
  | CwdChangedHookInput
  | FileChangedHookInput
  | DirectoryAddedHookInput
  | MessageDisplayHookInput
  | PreSkillShellCommandHookInput;
