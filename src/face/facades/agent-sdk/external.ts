/** `looplet/agent-sdk`: `query` and its stream of messages by the names of the Claude Agent SDK, on looplet's engine. */
export { query } from "./query.js";
export {
  createSdkMcpServer,
  tool,
  type CallToolResult,
  type McpHttpServerConfig,
  type McpServerConfig,
  type McpSSEServerConfig,
  type McpStdioServerConfig,
  type McpServerStatus,
  type SdkMcpServer,
  type SdkMcpToolDefinition,
} from "./mcp.js";
export {
  InMemorySessionStore,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  type SDKSessionInfo,
  type SessionEntry,
  type ListedSession,
  type SessionKey,
  type SessionMessage,
  type SessionPlace,
  type SessionStore,
} from "./sessions/sessions.js";
export { AbortError, EXIT_REASONS, HOOK_EVENTS, type ExitReason, type HookEvent } from "./hooks/events.js";
export { sessionStoreOf } from "./sessions/kept-sessions.js";
export { renameSession, tagSession } from "./sessions/marks.js";
export { getSubagentMessages, listSubagents } from "./sessions/subagents.js";
export type * from "./hooks/types.js";
export type { RewindFilesResult } from "./control/checkpoints.js";
export type { ContextUsage, ContextUsageCategory } from "./control/context-usage.js";
export type { ApiDelta, ApiEvent } from "./stream-events.js";
export type { PermissionUpdate } from "../../core/api/permission.js";
export type { ArgsOf, InputShape } from "./shape.js";
export type { ProjectGrants, TrustProject } from "./settings.js";
export type { Skill } from "./skills.js";
export type * from "./types.js";
export type { ApiBlock, ApiSource } from "../anthropic.js";
export type { Host } from "../host.js";
export type {
  AgentSdkCanUseTool as CanUseTool,
  AgentSdkPermissionResult as PermissionResult,
} from "../presets/agent-sdk-hooks.js";
