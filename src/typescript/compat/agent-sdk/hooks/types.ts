/** The types of hooks in the shape of the Claude Agent SDK (0.3.332). */
import type { PermissionUpdate } from "../../../core/api/permission.js";
import type { HostAbortSignal } from "../../../core/api/platform.js";
import type { AgentSdkHookGroup } from "../../presets/agent-sdk-hooks.js";
import type { McpServerProvenance } from "../mcp.js";
import type { ExitReason, HookEvent } from "./events.js";
import type { HookJSONOutput } from "./outputs.js";
import type { UnsupportedHookInput } from "./unsupported.js";

/** The input that every hook receives. */
export type BaseHookInput = {
  session_id: string;
  /** Always empty, because a session is not a file. `getSessionMessages` reads it. */
  transcript_path: string;
  cwd: string;
  /** Not set. */
  prompt_id?: string;
  permission_mode?: string;
  /** The id of the call that started the agent. Absent for hooks of the query's own conversation. */
  agent_id?: string;
  agent_type?: string;
  effort?: { level: string };
};

/** The input of a hook of this event. */
export type About<E extends string, Facts = unknown> = BaseHookInput & { hook_event_name: E } & Facts;

type Tool = { tool_name: string; tool_input: unknown; /** Not set. */ mcp_server?: McpServerProvenance };
type Call = Tool & { tool_use_id: string };
type Stopped = {
  stop_hook_active: boolean;
  last_assistant_message?: string;
  /** Not set. */
  background_tasks?: BackgroundTaskSummary[];
  /** Not set. */
  session_crons?: SessionCronSummary[];
};
type Asked = { agent_id: string; agent_type: string };
type Trigger = { trigger: "manual" | "auto" };

/** A call of a round. */
export interface PostToolBatchToolCall extends Call {
  tool_response?: unknown;
}

/** A background task. A query has none. */
export interface BackgroundTaskSummary {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
  server?: string;
  tool?: string;
  name?: string;
}

/** A scheduled prompt. A query has none. */
export interface SessionCronSummary {
  id: string;
  schedule: string;
  recurring: boolean;
  prompt: string;
}

export type PreToolUseHookInput = About<"PreToolUse", Call>;
export type PostToolUseHookInput = About<
  "PostToolUse",
  Call & { tool_response: unknown; duration_ms?: number }
>;
export type PostToolUseFailureHookInput = About<
  "PostToolUseFailure",
  Call & { error: string; is_interrupt?: boolean; duration_ms?: number }
>;
export type PostToolBatchHookInput = About<"PostToolBatch", { tool_calls: PostToolBatchToolCall[] }>;
export type UserPromptSubmitHookInput = About<
  "UserPromptSubmit",
  {
    prompt: string;
    /** looplet says `sdk`. */
    source?: "user" | "sdk" | "system" | "loop_wakeup" | "schedule_wakeup" | "poll_event";
    /** Not set. */
    session_title?: string;
  }
>;
/** looplet sets `source` and `model`. */
export type SessionStartHookInput = About<
  "SessionStart",
  {
    source: "startup" | "resume" | "clear" | "compact" | "fork";
    model?: string;
    session_title?: string;
    seconds_since_last_response?: number;
    context_tokens?: number;
    prompt_cache_likely_expired?: boolean;
    estimated_cache_write_usd?: number;
  }
>;
export type SessionEndHookInput = About<"SessionEnd", { reason: ExitReason }>;
export type StopHookInput = About<"Stop", Stopped>;
export type StopFailureHookInput = About<
  "StopFailure",
  { error: string; /** Not set. */ error_details?: string; last_assistant_message?: string }
>;
export type SubagentStartHookInput = About<"SubagentStart", Asked>;
export type SubagentStopHookInput = About<
  "SubagentStop",
  Asked & Stopped & { agent_transcript_path: string }
>;
export type PreCompactHookInput = About<"PreCompact", Trigger & { custom_instructions: string | null }>;
export type PostCompactHookInput = About<"PostCompact", Trigger & { compact_summary: string }>;
export type PermissionRequestHookInput = About<
  "PermissionRequest",
  Tool & { permission_suggestions?: PermissionUpdate[] }
>;
export type PermissionDeniedHookInput = About<"PermissionDenied", Call & { reason: string }>;
export type NotificationHookInput = About<
  "Notification",
  { message: string; title?: string; notification_type: string }
>;

type CalledHookInput =
  | PreToolUseHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PostToolBatchHookInput
  | UserPromptSubmitHookInput
  | SessionStartHookInput
  | SessionEndHookInput
  | StopHookInput
  | StopFailureHookInput
  | SubagentStartHookInput
  | SubagentStopHookInput
  | PreCompactHookInput
  | PostCompactHookInput
  | PermissionRequestHookInput
  | PermissionDeniedHookInput
  | NotificationHookInput;

export type HookInput = CalledHookInput | UnsupportedHookInput;

type Answer = HookJSONOutput | void | null | undefined;

/** Contract: called at the event's point of the loop, which waits for its answer. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { readonly signal: HostAbortSignal },
) => Answer | PromiseLike<Answer>;

export interface HookCallbackMatcher extends Pick<AgentSdkHookGroup, "matcher" | "timeout" | "onFailure"> {
  hooks: readonly HookCallback[];
}

/** The hooks of a query, by event. */
export type QueryHooks = { readonly [E in HookEvent]?: readonly HookCallbackMatcher[] | undefined };
