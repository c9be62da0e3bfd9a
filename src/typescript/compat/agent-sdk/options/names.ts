/** The types of single options, by the names of the Claude Agent SDK. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import type { SettingSource } from "../settings.js";

export type { SettingSource };
export type { SessionStoreFlush } from "../sessions/mirror.js";

/** How much a model works on an answer. */
export type EffortLevel = "low" | "medium" | "high" | "xhigh" | "max";

/** A feature of the header `anthropic-beta`. Other names are accepted too. */
export type SdkBeta = "context-1m-2025-08-07";

export type OutputFormatType = "json_schema";

export interface BaseOutputFormat {
  readonly type: OutputFormatType;
}

/** An answer that fits a JSON Schema. */
export interface JsonSchemaOutputFormat extends BaseOutputFormat {
  readonly schema: Record<string, unknown>;
}

export type OutputFormat = JsonSchemaOutputFormat;

/** The model reasons as it likes. */
export interface ThinkingAdaptive {
  readonly type: "adaptive";
  /** Does nothing. */
  readonly display?: "summarized" | "omitted";
}

/** The model reasons with at most so many tokens. */
export interface ThinkingEnabled {
  readonly type: "enabled";
  readonly budgetTokens?: number;
  /** Does nothing. */
  readonly display?: "summarized" | "omitted";
}

/** The model does not reason. */
export interface ThinkingDisabled {
  readonly type: "disabled";
}

/** How much a model reasons: as it likes, up to a number of tokens, or not at all. */
export type ThinkingConfig = ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled;

/** Settings of tools. They do nothing here. */
export interface ToolConfig {
  askUserQuestion?: { previewFormat?: "markdown" | "html" };
}

/** A plugin. It does nothing here. */
export interface SdkPluginConfig {
  type: "local";
  path: string;
  skipMcpDiscovery?: boolean;
}

/** A dialog of a screen. looplet has none, so it is never requested. */
export interface UserDialogRequest {
  dialogKind: string;
  payload: Record<string, unknown>;
  toolUseID?: string;
}

export type UserDialogResult = { behavior: "completed"; result: unknown } | { behavior: "cancelled" };

/** Contract: never called. `canUseTool` answers questions of tools, and `onElicitation` those of servers. */
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: HostAbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;

/** What a process would be started with. Nothing is started here. */
export interface SpawnOptions {
  command: string;
  args: string[];
  cwd?: string;
  env: { [name: string]: string | undefined };
  signal: HostAbortSignal;
}

/** A process. Nothing is started here, so that a process of any shape is one. */
export interface SpawnedProcess {
  stdin: unknown;
  stdout: unknown;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode?: string | null;
  kill(signal: never): boolean;
  on(event: never, listener: (...args: never[]) => void): unknown;
  once(event: never, listener: (...args: never[]) => void): unknown;
  off(event: never, listener: (...args: never[]) => void): unknown;
}

/** What a sandbox may reach in the network. It does nothing here. */
export interface SandboxNetworkConfig {
  allowedDomains?: string[];
  deniedDomains?: string[];
  allowUnixSockets?: string[];
  allowAllUnixSockets?: boolean;
  allowLocalBinding?: boolean;
  httpProxyPort?: number;
  socksProxyPort?: number;
  [setting: string]: unknown;
}

/** What a sandbox may reach of the files. It does nothing here. */
export interface SandboxFilesystemConfig {
  allowWrite?: string[];
  denyWrite?: string[];
  allowRead?: string[];
  denyRead?: string[];
  [setting: string]: unknown;
}

/** Which secrets a sandbox sees. It does nothing here. */
export interface SandboxCredentialsConfig {
  [setting: string]: unknown;
}

/** Violations of a sandbox that are not reported, by command. It does nothing here. */
export type SandboxIgnoreViolations = { [command: string]: string[] };

/** A sandbox of commands. looplet reads `enabled` and `failIfUnavailable`. */
export interface SandboxSettings {
  /** With it a warning says that looplet confines no commands. */
  readonly enabled?: boolean;
  /** With `enabled` a `TypeError`. */
  readonly failIfUnavailable?: boolean;
  readonly autoAllowBashIfSandboxed?: boolean;
  readonly allowUnsandboxedCommands?: boolean;
  readonly excludedCommands?: string[];
  readonly network?: SandboxNetworkConfig;
  readonly filesystem?: SandboxFilesystemConfig;
  readonly credentials?: SandboxCredentialsConfig;
  readonly ignoreViolations?: SandboxIgnoreViolations;
  readonly [setting: string]: unknown;
}

/** The list to which a rule belongs. */
export type PermissionBehavior = "allow" | "deny" | "ask";

/** Where a rule change is saved. looplet saves none: a change applies until the session ends. */
export type PermissionUpdateDestination =
  "userSettings" | "projectSettings" | "localSettings" | "session" | "cliArg";

/** What an answer of `canUseTool` was, for statistics. looplet does not read it. */
export type PermissionDecisionClassification = "user_temporary" | "user_permanent" | "user_reject";

export type { PermissionRuleParts as PermissionRuleValue } from "../../../core/api/permission.js";
