/**
 * Messages of the SDK that looplet never sends. They are members of the union, so that a program that handles them
 * compiles without a change.
 */
import type { SlashCommand } from "../control/responses.js";
import type { Stamp } from "./conversation.js";
import type { System } from "./observations.js";
import type { SDKRateLimitInfo } from "./usage.js";

/** Not sent: a method of a query answers when it is done. */
export interface SDKControlRequestProgressMessage extends System<"control_request_progress"> {
  request_id: string;
  status: "started" | "api_retry";
  attempt?: number;
  max_retries?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
}

interface Refusal {
  original_model: string;
  request_id: string | null;
  api_refusal_category?: string | null;
  api_refusal_explanation?: string | null;
  refused_user_message_uuid?: string | null;
  content: string;
}

/** Not sent: a refusal ends a turn, and no other model is asked. */
export interface SDKModelRefusalFallbackMessage extends System<"model_refusal_fallback">, Refusal {
  trigger: "refusal";
  direction: "retry" | "revert" | "sticky";
  scope?: "session" | "local";
  fallback_model: string;
  retracted_message_uuids?: string[];
}

/** Not sent: the `stop_reason` of the result is `refusal`. */
export interface SDKModelRefusalNoFallbackMessage extends System<"model_refusal_no_fallback">, Refusal {}

/** Not sent: no command prints anything. */
export interface SDKLocalCommandOutputMessage extends System<"local_command_output"> {
  content: string;
}

/** Not sent: a hook is a function, which prints nothing meanwhile. */
export interface SDKHookProgressMessage extends System<"hook_progress"> {
  hook_id: string;
  hook_name: string;
  hook_event: string;
  stdout: string;
  stderr: string;
  output: string;
}

/** Not sent: there are no plugins. */
export interface SDKPluginInstallMessage extends System<"plugin_install"> {
  status: "started" | "installed" | "failed" | "completed";
  name?: string;
  error?: string;
}

/** Not sent: looplet signs in nowhere. */
export interface SDKAuthStatusMessage extends Stamp {
  type: "auth_status";
  isAuthenticating: boolean;
  output: string[];
  error?: string;
}

/** Not sent: nothing runs in the background. */
export interface SDKTaskUpdatedMessage extends System<"task_updated"> {
  task_id: string;
  run_id?: string;
  patch: {
    status?: "pending" | "running" | "completed" | "failed" | "killed" | "paused";
    description?: string;
    end_time?: number;
    total_paused_ms?: number;
    error?: string;
    is_backgrounded?: boolean;
  };
}

/** Not sent: the messages of an agent have its `parent_tool_use_id`. */
export interface SDKTaskProgressMessage extends System<"task_progress"> {
  task_id: string;
  run_id?: string;
  tool_use_id?: string;
  description: string;
  subagent_type?: string;
  usage: { total_tokens: number; tool_uses: number; duration_ms: number };
  last_tool_name?: string;
  summary?: string;
}

/** Not sent: nothing runs in the background. */
export interface SDKBackgroundTasksChangedMessage extends System<"background_tasks_changed"> {
  tasks: {
    task_id: string;
    run_id?: string;
    task_type: string;
    subagent_type?: string;
    description: string;
    parent_task_id?: string;
    ambient?: boolean;
  }[];
}

/** Not sent: `includePartialMessages` yields the text of the reasoning. */
export interface SDKThinkingTokensMessage extends System<"thinking_tokens"> {
  estimated_tokens: number;
  estimated_tokens_delta: number;
  user_message_uuid?: string;
}

/** Not sent: `init` begins a turn, and `result` ends it. */
export interface SDKSessionStateChangedMessage extends System<"session_state_changed"> {
  state: "idle" | "running" | "requires_action";
}

/** Not sent: the commands of a query do not change. */
export interface SDKCommandsChangedMessage extends System<"commands_changed"> {
  commands: SlashCommand[];
}

/** Not sent: there is no screen. `informational` has what a user should know. */
export interface SDKNotificationMessage extends System<"notification"> {
  key: string;
  text: string;
  priority: "low" | "medium" | "high" | "immediate";
  color?: string;
  timeout_ms?: number;
}

/** Not sent: looplet uploads no files. */
export interface SDKFilesPersistedEvent extends System<"files_persisted"> {
  files: { filename: string; file_id: string }[];
  failed: { filename: string; error: string }[];
  processed_at: string;
}

/** Not sent: looplet asks no model about a round of tools. */
export interface SDKToolUseSummaryMessage extends Stamp {
  type: "tool_use_summary";
  summary: string;
  preceding_tool_use_ids: string[];
}

/** Not sent: CLAUDE.md is part of every request. */
export interface SDKMemoryRecallMessage extends System<"memory_recall"> {
  mode: "select" | "synthesize";
  memories: { path: string; scope: "personal" | "team" | "organization"; content?: string }[];
}

/** Not sent: a key has no subscription. `api_retry` reports a limit of the vendor. */
export interface SDKRateLimitEvent extends Stamp {
  type: "rate_limit_event";
  rate_limit_info: SDKRateLimitInfo;
}

/** Not sent: the call continues when `onElicitation` has answered. */
export interface SDKElicitationCompleteMessage extends System<"elicitation_complete"> {
  mcp_server_name: string;
  elicitation_id: string;
}

/** Not sent: there is no screen that suggests prompts. */
export interface SDKPromptSuggestionMessage extends Stamp {
  type: "prompt_suggestion";
  suggestion: string;
}

/** Not sent: `/clear` is followed by another `init` with the new id. */
export interface SDKConversationResetMessage extends Stamp {
  type: "conversation_reset";
  new_conversation_id: string;
  trigger?: "clear" | "plan_mode_exit" | "fresh_session" | "onboarding";
  user_message_uuid?: string;
  timestamp?: string;
}

/** Not sent: `mirror_error` reports what a store failed to save. */
export interface SDKSessionWritesLostMessage extends System<"session_writes_lost"> {
  error_code: "ENOSPC" | "EDQUOT";
  lost: ("transcript" | "global_config")[];
  transcript_session_ids?: string[];
}

/** Not sent, and not a member of `SDKMessage`: a query has no goals. */
export interface SDKActiveGoalMessage extends Stamp {
  type: "active_goal";
  value: {
    condition: string;
    iterations: number;
    set_at: number;
    tokens_at_start: number;
    last_reason?: string;
  } | null;
}

/** The messages of the SDK that looplet never sends. */
export type UnsentMessage =
  | SDKControlRequestProgressMessage
  | SDKModelRefusalFallbackMessage
  | SDKModelRefusalNoFallbackMessage
  | SDKLocalCommandOutputMessage
  | SDKHookProgressMessage
  | SDKPluginInstallMessage
  | SDKAuthStatusMessage
  | SDKTaskUpdatedMessage
  | SDKTaskProgressMessage
  | SDKBackgroundTasksChangedMessage
  | SDKThinkingTokensMessage
  | SDKSessionStateChangedMessage
  | SDKCommandsChangedMessage
  | SDKNotificationMessage
  | SDKFilesPersistedEvent
  | SDKToolUseSummaryMessage
  | SDKMemoryRecallMessage
  | SDKRateLimitEvent
  | SDKElicitationCompleteMessage
  | SDKPromptSuggestionMessage
  | SDKConversationResetMessage
  | SDKSessionWritesLostMessage;
