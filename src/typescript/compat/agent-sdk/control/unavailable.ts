/** The methods of the SDK's `Query` that have no meaning here. Each rejects with the reason. */
import type { SdkPluginConfig } from "../options/names.js";
import type {
  SDKControlGetUsageResponse,
  SDKControlMcpReadResourceResponse,
  SDKControlReloadOutputStylesResponse,
  SDKControlReloadPluginsResponse,
  SDKControlReloadSkillsResponse,
} from "./responses.js";

const REASONS: { readonly [method in keyof UnavailableMethods]: string } = {
  setMcpPermissionModeOverride: "rules for mcp__server in allowedTools and disallowedTools say it",
  applyFlagSettings: "give the settings as options, and use setModel and setPermissionMode meanwhile",
  updateSettings: "it writes no settings files",
  reloadPlugins: "there are no plugins",
  reloadSkills: "the settings files are read when a query begins; begin another one with resume",
  reloadOutputStyles: "there are no output styles",
  seedReadState: "Edit and Write do not ask for an earlier Read",
  backgroundTasks: "no command and no agent runs in the background",
  readMcpResource: "use connectMcp of looplet/mcp, whose client reads resources",
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET:
    "total_cost_usd of the result says what a turn has cost",
};

/** The methods with their types in the SDK. Each rejects. */
export interface UnavailableMethods {
  setMcpPermissionModeOverride(
    serverName: string,
    mode: "default" | "auto" | null,
  ): Promise<{ warning?: string }>;
  applyFlagSettings(settings: { [name: string]: unknown }): Promise<void>;
  updateSettings(source: "localSettings" | "userSettings", settings: Record<string, unknown>): Promise<void>;
  reloadPlugins(options?: {
    holdOnCacheImpact?: boolean;
    addPlugins?: SdkPluginConfig[];
    refuseIfBusy?: boolean;
  }): Promise<SDKControlReloadPluginsResponse>;
  reloadSkills(): Promise<SDKControlReloadSkillsResponse>;
  reloadOutputStyles(): Promise<SDKControlReloadOutputStylesResponse>;
  seedReadState(path: string, mtime: number): Promise<void>;
  backgroundTasks(toolUseId?: string): Promise<boolean>;
  readMcpResource(serverName: string, uri: string): Promise<SDKControlMcpReadResourceResponse>;
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean;
  }): Promise<SDKControlGetUsageResponse>;
}

export const unavailable = Object.fromEntries(
  Object.entries(REASONS).map(([method, reason]) => [
    method,
    () => Promise.reject(new Error(`query: ${method} is not part of looplet/agent-sdk: ${reason}.`)),
  ]),
) as unknown as UnavailableMethods;
