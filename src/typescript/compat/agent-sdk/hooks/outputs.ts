/**
 * The answers of hooks, by event. They are aliases and not interfaces, so that each is an answer of a hook in
 * `createAgent` too.
 */
import type { PermissionUpdate } from "../../../core/api/permission.js";
import type { AgentSdkHookOutput } from "../../presets/agent-sdk-hooks.js";

/** The answer of a hook. {@link SyncHookJSONOutput} names the fields. */
export type HookJSONOutput = AgentSdkHookOutput;

/** The hook has no answer, and continues in the background. */
export type AsyncHookJSONOutput = {
  async: true;
  /** Does nothing. */
  asyncTimeout?: number;
};

/** `defer` asks as `ask` does: a query leaves no call open. */
export type HookPermissionDecision = "allow" | "deny" | "ask" | "defer";

type Of<E extends string, Answer = unknown> = { hookEventName: E } & Answer;
type Context = { additionalContext?: string };
type Watch = { watchPaths?: string[] };
type Elicited = { action?: "accept" | "decline" | "cancel"; content?: Record<string, unknown> };

export type PreToolUseHookSpecificOutput = Of<
  "PreToolUse",
  Context & {
    permissionDecision?: HookPermissionDecision;
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
  }
>;
export type PostToolUseHookSpecificOutput = Of<
  "PostToolUse",
  Context & {
    classifierContext?: string;
    updatedToolOutput?: unknown;
    /** The older name of `updatedToolOutput`. */
    updatedMCPToolOutput?: unknown;
  }
>;
export type PostToolUseFailureHookSpecificOutput = Of<"PostToolUseFailure", Context>;
export type PostToolBatchHookSpecificOutput = Of<"PostToolBatch", Context>;
export type UserPromptSubmitHookSpecificOutput = Of<
  "UserPromptSubmit",
  Context & {
    /** Does nothing: `renameSession` gives a title. */
    sessionTitle?: string;
    /** Does nothing. */
    suppressOriginalPrompt?: boolean;
  }
>;
export type SessionStartHookSpecificOutput = Of<
  "SessionStart",
  Context & {
    /** Does nothing. */
    initialUserMessage?: string;
    /** Does nothing: `renameSession` gives a title. */
    sessionTitle?: string;
    /** Does nothing. */
    reloadSkills?: boolean;
  } & Watch
>;
export type StopHookSpecificOutput = Of<"Stop", Context>;
export type SubagentStartHookSpecificOutput = Of<"SubagentStart", Context>;
export type SubagentStopHookSpecificOutput = Of<"SubagentStop", Context>;
export type PermissionRequestHookSpecificOutput = Of<
  "PermissionRequest",
  {
    decision:
      | {
          behavior: "allow";
          updatedInput?: Record<string, unknown>;
          updatedPermissions?: PermissionUpdate[];
        }
      | { behavior: "deny"; message?: string; interrupt?: boolean };
  }
>;
export type PermissionDeniedHookSpecificOutput = Of<"PermissionDenied", { retry?: boolean }>;
export type NotificationHookSpecificOutput = Of<"Notification", Context>;

// A query never calls the hooks of the events below.
export type UserPromptExpansionHookSpecificOutput = Of<
  "UserPromptExpansion",
  Context & { suppressOriginalPrompt?: boolean }
>;
export type SetupHookSpecificOutput = Of<"Setup", Context>;
export type PreModelSwitchHookSpecificOutput = Of<
  "PreModelSwitch",
  { permissionDecision?: "allow" | "deny" | "ask"; permissionDecisionReason?: string }
>;
export type PostModelSwitchHookSpecificOutput = Of<"PostModelSwitch", Context>;
export type ElicitationHookSpecificOutput = Of<"Elicitation", Elicited>;
export type ElicitationResultHookSpecificOutput = Of<"ElicitationResult", Elicited>;
export type CwdChangedHookSpecificOutput = Of<"CwdChanged", Watch>;
export type FileChangedHookSpecificOutput = Of<"FileChanged", Watch>;
export type WorktreeCreateHookSpecificOutput = Of<"WorktreeCreate", { worktreePath: string }>;
export type MessageDisplayHookSpecificOutput = Of<"MessageDisplay", { displayContent?: string }>;
export type PreSkillShellCommandHookSpecificOutput = Of<
  "PreSkillShellCommand",
  {
    permissionDecision?: HookPermissionDecision;
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
  }
>;

/** The answer of a hook that is done. */
export type SyncHookJSONOutput = {
  continue?: boolean;
  stopReason?: string;
  decision?: "approve" | "block";
  reason?: string;
  systemMessage?: string;
  /** Does nothing. */
  suppressOutput?: boolean;
  /** Does nothing. */
  terminalSequence?: string;
  hookSpecificOutput?:
    | PreToolUseHookSpecificOutput
    | PostToolUseHookSpecificOutput
    | PostToolUseFailureHookSpecificOutput
    | PostToolBatchHookSpecificOutput
    | UserPromptSubmitHookSpecificOutput
    | UserPromptExpansionHookSpecificOutput
    | SessionStartHookSpecificOutput
    | StopHookSpecificOutput
    | SubagentStartHookSpecificOutput
    | SubagentStopHookSpecificOutput
    | PermissionRequestHookSpecificOutput
    | PermissionDeniedHookSpecificOutput
    | NotificationHookSpecificOutput
    | SetupHookSpecificOutput
    | PreModelSwitchHookSpecificOutput
    | PostModelSwitchHookSpecificOutput
    | ElicitationHookSpecificOutput
    | ElicitationResultHookSpecificOutput
    | CwdChangedHookSpecificOutput
    | FileChangedHookSpecificOutput
    | WorktreeCreateHookSpecificOutput
    | MessageDisplayHookSpecificOutput
    | PreSkillShellCommandHookSpecificOutput;
};
