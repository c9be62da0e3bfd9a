/** The words of the Claude Agent SDK for hooks (0.3.332). */

/** The events of the SDK. A query calls the ones in `docs/hooks.md`. A note names hooks of the others. */
export const HOOK_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Notification",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "SessionStart",
  "SessionEnd",
  "Stop",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "PreModelSwitch",
  "PostModelSwitch",
  "PermissionRequest",
  "PermissionDenied",
  "Setup",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "Elicitation",
  "ElicitationResult",
  "ConfigChange",
  "WorktreeCreate",
  "WorktreeRemove",
  "InstructionsLoaded",
  "CwdChanged",
  "FileChanged",
  "DirectoryAdded",
  "MessageDisplay",
  "PreSkillShellCommand",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The reasons of `SessionEnd`. A query has `clear` and `other`. */
export const EXIT_REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other"] as const;

export type ExitReason = (typeof EXIT_REASONS)[number];

/** The SDK's error of an abort, for programs that compare with it. A query of looplet ends with a `result`. */
export class AbortError extends Error {
  override readonly name = "AbortError";
}
