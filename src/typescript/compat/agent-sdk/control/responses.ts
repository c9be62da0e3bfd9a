/** The answers of the methods of a query. */
import type { PermissionMode } from "../../../core/api/permission.js";
import type { McpServerStatus } from "../mcp.js";
import type { FastModeDisabledReason, FastModeState } from "../messages/results.js";
import type { ExtraUsage, SessionCosts } from "../messages/usage.js";

/** A prompt that begins with `/` and is a command. */
export interface SlashCommand {
  name: string;
  description: string;
  /** A hint about the arguments for users: `[file]`. */
  argumentHint: string;
  /** Not set. */
  aliases?: string[];
  /** Whether looplet has it itself, and no settings file. */
  builtin?: boolean;
}

/** An agent that the model may ask. */
export interface AgentInfo {
  name: string;
  description: string;
  /** The name of its model, if it has another one than the query. */
  model?: string;
}

/** A short name of a model. Optional fields but `resolvedModel` are not set. */
export interface ModelInfo {
  value: string;
  resolvedModel?: string;
  displayName: string;
  description: string;
  supportsEffort?: boolean;
  supportedEffortLevels?: ("low" | "medium" | "high" | "xhigh" | "max")[];
  supportsAdaptiveThinking?: boolean;
  supportsFastMode?: boolean;
  supportsAutoMode?: boolean;
}

/** Empty: a key is all that looplet knows of an account. */
export interface AccountInfo {
  email?: string;
  organization?: string;
  subscriptionType?: string;
  tokenSource?: string;
  apiKeySource?: string;
  apiProvider?:
    | "firstParty"
    | "bedrock"
    | "vertex"
    | "foundry"
    | "anthropicAws"
    | "anthropicGoogleCloud"
    | "mantle"
    | "gateway";
}

/** What a query offers. Optional fields are not set. */
export interface SDKControlInitializeResponse {
  commands: SlashCommand[];
  agents: AgentInfo[];
  models: ModelInfo[];
  account: AccountInfo;
  output_style: string;
  available_output_styles: string[];
  hooks_applied?: boolean;
  hook_on_failure_supported?: boolean;
  plugins_applied?: boolean;
  mcp_servers_applied?: boolean;
  sdk_mcp_manifests_parked?: Record<
    string,
    "parked" | "already_connected" | "protocol_version_mismatch" | "malformed" | "not_honoured"
  >;
  claude_code_version?: string;
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
}

/** looplet's own name of {@link SDKControlInitializeResponse}. */
export type InitializationResult = SDKControlInitializeResponse;

/** A file of `host.vfs`. */
export interface SDKControlReadFileResponse {
  contents: string;
  absPath: string;
  truncated?: boolean;
  encoding?: "base64";
  /** Not set. */
  lossy?: boolean;
}

/** looplet's own name of {@link SDKControlReadFileResponse}. */
export type ReadFileResult = SDKControlReadFileResponse;

/** The ids of the messages that wait for their turn. */
export interface SDKControlInterruptResponse {
  still_queued: string[];
  /** Not set: an interruption drops no message. */
  cancelled?: string[];
}

/** The mode that counts now. */
export interface SDKControlSetPermissionModeResponse {
  mode?: PermissionMode;
}

/** The answer of `readMcpResource`, which a query does not have. */
export interface SDKControlMcpReadResourceResponse {
  contents: {
    uri: string;
    mimeType?: string;
    text?: string;
    blob?: string;
    _meta?: Record<string, unknown>;
  }[];
}

/** The answer of `reloadOutputStyles`, which a query does not have. */
export interface SDKControlReloadOutputStylesResponse {
  available_output_styles: string[];
}

/** The answer of `reloadSkills`, which a query does not have. */
export interface SDKControlReloadSkillsResponse {
  skills: SlashCommand[];
}

/** The answer of `reloadPlugins`, which a query does not have. */
export interface SDKControlReloadPluginsResponse {
  commands: SlashCommand[];
  agents: AgentInfo[];
  plugins: { name: string; path: string; source?: string; version?: string }[];
  mcpServers: McpServerStatus[];
  error_count: number;
  held?: boolean;
  cache_impact?: {
    mcp_servers_added: string[];
    mcp_servers_removed: string[];
    lsp_tool_change: ("adds" | "may-add" | "removes" | "may-remove") | null;
  };
}

interface Window {
  utilization: number | null;
  resets_at: string | null;
}

interface Share {
  name: string;
  pct: number;
}

interface UsageOfPeriod {
  request_count: number;
  session_count: number;
  behaviors: {
    key:
      | "cache_miss"
      | "long_context"
      | "subagent_heavy"
      | "high_parallel"
      | "cron"
      | "max_effort"
      | "workflow"
      | "always_on_context"
      | "large_tool_results";
    pct: number;
    count: number;
  }[];
  recommendations?: { key: string; pct: number; title: string; detail?: string }[];
  fix?: { keys: string[]; messages: string[] };
  agents: Share[];
  skills: Share[];
  plugins: Share[];
  mcp_servers: Share[];
}

/** The answer of the experimental method about usage, which a query does not have. */
export interface SDKControlGetUsageResponse {
  session: SessionCosts;
  subscription_type: string | null;
  rate_limits_available: boolean;
  rate_limits: {
    five_hour?: Window | null;
    seven_day?: Window | null;
    seven_day_oauth_apps?: Window | null;
    seven_day_opus?: Window | null;
    seven_day_sonnet?: Window | null;
    model_scoped?: ({ display_name: string } & Window)[];
    extra_usage?: ExtraUsage | null;
  } | null;
  behaviors: { day: UsageOfPeriod; week: UsageOfPeriod } | null;
}
