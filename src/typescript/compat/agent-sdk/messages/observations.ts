/** What happens between the messages of the conversation. A consumer that ignores it loses nothing. */
import type { PermissionMode } from "../../../core/api/permission.js";
import type { McpServerStatus } from "../mcp.js";
import type { SDKAssistantMessageError, Stamp } from "./conversation.js";
import type { FastModeDisabledReason, FastModeState } from "./results.js";

/** A message of the type `system` with this subtype. */
export interface System<S extends string> extends Stamp {
  readonly type: "system";
  readonly subtype: S;
}

/** The source of a key. looplet reports `none`: it only knows that there is one. */
export type ApiKeySource =
  | "ANTHROPIC_API_KEY"
  | "apiKeyHelper"
  | "/login managed key"
  | "none"
  | "user"
  | "project"
  | "org"
  | "temporary"
  | "oauth";

/** The first message of a session. Optional fields without a sentence are not set. */
export interface SDKSystemMessage extends System<"init"> {
  readonly tools: string[];
  readonly mcp_servers: McpServerStatus[];
  readonly model: string;
  readonly permissionMode: PermissionMode;
  /** `compact`, `clear`, and the commands of settings files. */
  readonly slash_commands: string[];
  readonly agents: string[];
  readonly skills: string[];
  /** Empty: there are no plugins. */
  readonly plugins: { name: string; path: string; version?: string }[];
  readonly cwd: string;
  readonly apiKeySource: ApiKeySource;
  readonly output_style: string;
  /** Empty: there is no Claude Code. */
  readonly claude_code_version: string;
  /** Those of the options. */
  readonly betas?: string[];
  /** That of the options. */
  readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  readonly terminal_slash_commands?: string[];
  readonly plugin_errors?: {
    plugin: string;
    type: string;
    message: string;
    path?: string;
    managed_lock?: { plugin_enabled: boolean; name: string; marketplace?: string };
  }[];
  readonly fast_mode_state?: FastModeState;
  readonly fast_mode_disabled_reason?: FastModeDisabledReason;
  readonly view_mode?: "focus" | "default";
  readonly capabilities?: string[];
}

/** The older name of {@link SDKSystemMessage}. */
export type SDKInitMessage = SDKSystemMessage;

/** A summary has replaced the messages before it. looplet sets `trigger` and `pre_tokens`. */
export interface SDKCompactBoundaryMessage extends System<"compact_boundary"> {
  readonly compact_metadata: {
    readonly trigger: "auto" | "manual";
    readonly pre_tokens: number;
    readonly post_tokens?: number;
    readonly duration_ms?: number;
    readonly preserved_segment?: { head_uuid: string; anchor_uuid: string; tail_uuid: string };
    readonly preserved_messages?: { anchor_uuid: string; uuids: string[] };
  };
}

/** Something that the user should know, for example an option that does nothing here. */
export interface SDKInformationalMessage extends System<"informational"> {
  readonly content: string;
  /** looplet sends `info` and `warning`. */
  readonly level: "info" | "notice" | "suggestion" | "warning";
  /** Not set. */
  readonly tool_use_id?: string;
  /** Not set. */
  readonly prevent_continuation?: boolean;
  /** Not set. */
  readonly tag?: string;
}

/** A request has failed and is sent again. */
export interface SDKAPIRetryMessage extends System<"api_retry"> {
  readonly attempt: number;
  readonly max_retries: number;
  readonly retry_delay_ms: number;
  readonly error_status: number | null;
  readonly error: SDKAssistantMessageError;
  /** looplet's own: the failure in words, for a log. */
  readonly message: string;
  /** Not set. */
  readonly no_response?: { waited_ms: number; retry_wait_ms: number };
}

/** A call was not allowed. */
export interface SDKPermissionDeniedMessage extends System<"permission_denied"> {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly message: string;
  /** The call that asks the agent which wanted this one. */
  readonly agent_id?: string;
  /** Not set. */
  readonly decision_reason_type?: string;
  /** Not set. */
  readonly decision_reason?: string;
}

/** The `sessionStore` failed to save entries. */
export interface SDKMirrorErrorMessage extends System<"mirror_error"> {
  readonly error: string;
  readonly key: { projectKey: string; sessionId: string; subpath?: string };
}

/** `shutdown` was called: the query ends with the round of tools under way. */
export interface SDKWorkerShuttingDownMessage extends System<"worker_shutting_down"> {
  readonly reason: string;
}

/** `requesting` does not occur. */
export type SDKStatus = "compacting" | "requesting" | null;

/** A summary of the history is being made, or is over. */
export interface SDKStatusMessage extends System<"status"> {
  readonly status: SDKStatus;
  /** Not set. */
  readonly permissionMode?: PermissionMode;
  /** Not set. */
  readonly compact_result?: "success" | "failed";
  /** Not set. */
  readonly compact_error?: string;
}

interface AboutHook {
  readonly hook_event: string;
  readonly hook_name: string;
  readonly hook_id: string;
}

/** A hook is called. Needs `includeHookEvents`. */
export interface SDKHookStartedMessage extends System<"hook_started">, AboutHook {}

/** A hook has answered. Needs `includeHookEvents`. */
export interface SDKHookResponseMessage extends System<"hook_response">, AboutHook {
  /** looplet sends `success` and `error`. */
  readonly outcome: "success" | "error" | "cancelled";
  /** The hook's answer, or its error. */
  readonly output: string;
  /** Empty: hooks are functions. */
  readonly stdout: string;
  /** Empty. */
  readonly stderr: string;
  /** Not set. */
  readonly exit_code?: number;
}

/** Fields of messages about agents that looplet does not set. */
interface UnsetTask {
  readonly run_id?: string;
  readonly skip_transcript?: boolean;
  readonly ambient?: boolean;
}

/** A call asks an agent. */
export interface SDKTaskStartedMessage extends System<"task_started">, UnsetTask {
  readonly task_id: string;
  /** looplet always sets it. */
  readonly tool_use_id?: string;
  readonly description: string;
  /** Not set, as are the fields below. */
  readonly subagent_type?: string;
  readonly is_backgrounded?: boolean;
  readonly spawn_depth?: number;
  readonly parent_task_id?: string;
  readonly task_type?: string;
  readonly workflow_name?: string;
  readonly prompt?: string;
}

/** A resource that a result links to. looplet does not send it with a message. */
export interface SDKMcpResourceLink {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
}

/** An agent that was asked has ended. */
export interface SDKTaskNotificationMessage extends System<"task_notification">, UnsetTask {
  readonly task_id: string;
  /** looplet always sets it. */
  readonly tool_use_id?: string;
  readonly status: "completed" | "failed" | "stopped";
  readonly summary: string;
  /** Empty: `getSubagentMessages` reads the conversation. */
  readonly output_file: string;
  readonly usage?: { total_tokens: number; tool_uses: number; duration_ms: number };
  /** Not set. */
  readonly reason?: "worker_restart";
  /** Not set. */
  readonly resource_links?: SDKMcpResourceLink[];
}

/** What a tool reports while it runs. */
export interface SDKToolProgressMessage extends Stamp {
  readonly type: "tool_progress";
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly parent_tool_use_id: string | null;
  /** Seconds since the call began. */
  readonly elapsed_time_seconds: number;
  /** looplet's own: what the tool has reported. */
  readonly data: unknown;
  /** Not set, as are the fields below. */
  readonly task_id?: string;
  readonly heartbeat?: boolean;
  readonly subagent_type?: string;
  readonly subagent_retry?: {
    agent_id: string;
    attempt: number;
    max_retries: number;
    retry_delay_ms: number;
    error_status: number | null;
    error_category: string;
  };
}

/** The older name of {@link SDKToolProgressMessage}. */
export type SDKToolProgress = SDKToolProgressMessage;

/** What looplet sends between the messages. */
export type SDKObservation =
  | SDKCompactBoundaryMessage
  | SDKInformationalMessage
  | SDKAPIRetryMessage
  | SDKPermissionDeniedMessage
  | SDKMirrorErrorMessage
  | SDKWorkerShuttingDownMessage
  | SDKStatusMessage
  | SDKHookStartedMessage
  | SDKHookResponseMessage
  | SDKTaskStartedMessage
  | SDKTaskNotificationMessage;
