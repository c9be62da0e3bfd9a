/**
 * Messages between the SDK and its process. looplet has no process and sends none of them. The types exist for
 * programs that import them.
 */
import type { SDKMessage } from "../types.js";

/** A request to a process. */
export interface SDKControlRequest {
  type: "control_request";
  request_id: string;
  request: { subtype: string; [field: string]: unknown };
}

/** The answer of a process. */
export interface SDKControlResponse {
  type: "control_response";
  response:
    | { subtype: "success"; request_id: string; response?: Record<string, unknown> }
    | { subtype: "error"; request_id: string; error: string; [field: string]: unknown };
}

/** The connection to a process. */
export interface Transport {
  write(data: string): void | Promise<void>;
  close(): void;
  isReady(): boolean;
  readMessages(): AsyncGenerator<SDKMessage | SDKControlRequest | SDKControlResponse, void, unknown>;
  expectControlResponse?(requestId: string): void;
  markDelivered?(message: object): void;
  endInput(): void;
  waitForExit?(): Promise<void>;
}

/** How a rule is written for people. */
export interface SDKPermissionRuleDescription {
  prefix: string;
  emphasis?: string;
  suffix?: string;
}

/** A rule, and where it is from. */
export interface SDKPermissionRuleEntry {
  behavior: "allow" | "deny" | "ask";
  source:
    | "userSettings"
    | "projectSettings"
    | "localSettings"
    | "flagSettings"
    | "policySettings"
    | "cliArg"
    | "command"
    | "session"
    | "mcpMount"
    | "toolsNarrowing"
    | "mcpServerPolicy"
    | "hostCredential";
  rule: string;
  description?: SDKPermissionRuleDescription;
  editability: "persistent" | "session" | "readonly";
  notInEffect?: boolean;
}

/** A folder in which files may be written. */
export interface SDKPermissionWorkspaceDirectory {
  path: string;
  source: string;
}

/** A settings file that cannot be read. looplet reports it as `informational`. */
export interface SDKSettingsParseError {
  file?: string;
  path: string;
  message: string;
}

/** All rules of a session. */
export interface SDKControlPermissionRulesState {
  rules: SDKPermissionRuleEntry[];
  workspaceDirectories: SDKPermissionWorkspaceDirectory[];
  originalCwd: string;
  managedOnly: boolean;
  errors?: SDKSettingsParseError[];
  withheld?: boolean;
}

export interface SDKControlListPermissionRulesResponse {
  state: SDKControlPermissionRulesState;
}
