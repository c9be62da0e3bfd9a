/** `looplet/agent-sdk`: `query` and its stream of messages by the names of the Claude Agent SDK, on looplet's engine. */
export { query } from "./query.js";
export {
  createSdkMcpServer,
  tool,
  type AgentMcpServerSpec,
  type CallToolResult,
  type ElicitationRequest,
  type ElicitationResult,
  type McpClaudeAIProxyServerConfig,
  type McpSdkServerConfig,
  type McpSdkServerConfigWithInstance,
  type McpServerConfigForProcessTransport,
  type McpServerProvenance,
  type McpServerStatusConfig,
  type McpServerToolPolicy,
  type OnElicitation,
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
  type ForkSessionOptions,
  type ForkSessionResult,
  type GetSessionInfoOptions,
  type GetSessionMessagesOptions,
  type GetSubagentMessagesOptions,
  type ListSessionsOptions,
  type ListSubagentsOptions,
  type SDKSessionInfo,
  type SessionEntry,
  type SessionMutationOptions,
  type SessionStoreEntry,
  type SessionSummaryEntry,
  type ListedSession,
  type SessionKey,
  type SessionMessage,
  type SessionPlace,
  type SessionStore,
} from "./sessions/sessions.js";
export { AbortError, EXIT_REASONS, HOOK_EVENTS, type ExitReason, type HookEvent } from "./hooks/events.js";
export { sessionStoreOf } from "./sessions/kept-sessions.js";
export { archiveSession, renameSession, tagSession, unarchiveSession } from "./sessions/marks.js";
export {
  foldSessionSummary,
  importSessionToStore,
  type ImportSessionToStoreOptions,
} from "./sessions/copies.js";
export * from "./constants.js";
export { prewarm, startup, type ClaimOptions, type SpareProcess, type WarmQuery } from "./control/warm.js";
export type * from "./control/wire.js";
export {
  filterEscalatingDefaultMode,
  matchDeniedModels,
  resolveSettings,
  type ConfigScope,
  type DeniedModelsMatch,
  type PolicySettingsOrigin,
  type ProvenanceEntry,
  type ResolvedSettings,
  type ResolvedSettingSource,
  type ResolveSettingsOptions,
  type Settings,
} from "./options/settings.js";
export type * from "./options/names.js";
export { getSubagentMessages, listSubagents } from "./sessions/subagents.js";
export type * from "./hooks/outputs.js";
export type * from "./hooks/types.js";
export type * from "./hooks/unsupported.js";
export type { RewindFilesResult } from "./control/checkpoints.js";
export type {
  ContextUsage,
  ContextUsageCategory,
  SDKControlGetContextUsageResponse,
} from "./control/context-usage.js";
export type { ApiDelta, ApiEvent } from "./stream-events.js";
export type { PermissionUpdate } from "../../core/api/permission.js";
export type { AnyZodRawShape, ArgsOf, InferShape, InputShape } from "./shape.js";
export type { ProjectGrants, TrustProject } from "./settings.js";
export type { Skill } from "./skills.js";
export type * from "./types.js";
export type { ApiBlock, ApiSource } from "../anthropic.js";
export type { Host } from "../host.js";
export type {
  AgentSdkCanUseTool as CanUseTool,
  AgentSdkPermissionResult as PermissionResult,
} from "../presets/agent-sdk-hooks.js";
export { init, type WasmSource } from "../../core/kit/engine.js";
