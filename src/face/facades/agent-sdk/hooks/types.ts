/** The types of hooks in the shape of the Claude Agent SDK (0.3.330). */
import type { PermissionUpdate } from "../../../core/api/permission.js";
import type { HostAbortSignal } from "../../../core/api/platform.js";
import type { AgentSdkHookGroup, AgentSdkHookOutput } from "../../presets/agent-sdk-hooks.js";
import type { ExitReason, HookEvent } from "./events.js";

/** What every hook is told. */
export type BaseHookInput = {
  session_id: string;
  /** Always empty, because a session is not a file. `getSessionMessages` reads it. */
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  /** The id of the call that asks the agent; a hook of the query's own conversation has none. */
  agent_id?: string;
  agent_type?: string;
  effort?: { level: string };
};

type About<E extends string, Facts = unknown> = BaseHookInput & { hook_event_name: E } & Facts;

type Call = { tool_name: string; tool_input: unknown; tool_use_id: string };
type Stopped = { stop_hook_active: boolean; last_assistant_message?: string };
type Asked = { agent_id: string; agent_type: string };
type Trigger = { trigger: "manual" | "auto" };

export type PreToolUseHookInput = About<"PreToolUse", Call>;
export type PostToolUseHookInput = About<
  "PostToolUse",
  Call & { tool_response: unknown; duration_ms?: number }
>;
export type PostToolUseFailureHookInput = About<
  "PostToolUseFailure",
  Call & { error: string; is_interrupt?: boolean; duration_ms?: number }
>;
export type PostToolBatchHookInput = About<
  "PostToolBatch",
  { tool_calls: (Call & { tool_response?: unknown })[] }
>;
export type UserPromptSubmitHookInput = About<"UserPromptSubmit", { prompt: string; source?: "sdk" }>;
export type SessionStartHookInput = About<
  "SessionStart",
  { source: "startup" | "resume" | "clear" | "compact" | "fork"; model?: string }
>;
export type SessionEndHookInput = About<"SessionEnd", { reason: ExitReason }>;
export type StopHookInput = About<"Stop", Stopped>;
export type StopFailureHookInput = About<"StopFailure", { error: string; last_assistant_message?: string }>;
export type SubagentStartHookInput = About<"SubagentStart", Asked>;
export type SubagentStopHookInput = About<
  "SubagentStop",
  Asked & Stopped & { agent_transcript_path: string }
>;
export type PreCompactHookInput = About<"PreCompact", Trigger & { custom_instructions: string | null }>;
export type PostCompactHookInput = About<"PostCompact", Trigger & { compact_summary: string }>;
export type PermissionRequestHookInput = About<
  "PermissionRequest",
  { tool_name: string; tool_input: unknown; permission_suggestions?: PermissionUpdate[] }
>;
export type PermissionDeniedHookInput = About<"PermissionDenied", Call & { reason: string }>;
export type NotificationHookInput = About<
  "Notification",
  { message: string; title?: string; notification_type: string }
>;

/** An event that no query has. */
type Unheard = About<Exclude<HookEvent, Heard["hook_event_name"]>>;
type Heard =
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

export type HookInput = Heard | Unheard;

export type HookJSONOutput = AgentSdkHookOutput;

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
