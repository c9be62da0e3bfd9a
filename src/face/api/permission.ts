/** Permissions: modes, rules, and your functions that decide which tool calls may run. */
import type { PermissionMode } from "../generated/model.js";
import type { HostAbortSignal } from "./platform.js";

export type { PermissionMode } from "../generated/model.js";

/**
 * Rules of the form `Tool` or `Tool(specifier)`. Deny rules come first, then ask, then allow; within a list the first
 * match counts. `*` matches any text.
 * - `Bash(npm *)` allows only command lines of letters, digits, spaces and `_-./:@%+,=`.
 * - `Read(src/**)` uses the patterns of a `.gitignore`.
 * - `WebFetch(domain:example.com)` names a domain.
 *
 * For your own tools, `access` or `ruleSubject` name the field that a specifier is compared with. A rule on commands
 * is a convenience; only a sandbox around the tool is a wall.
 */
export interface PermissionRules {
  /** Rules whose calls run without a question. A name with a `*` must name its MCP server (`mcp__files__*`). */
  allow?: readonly string[] | undefined;
  /** Rules whose calls need a decision in every mode; `"dontAsk"` denies them. */
  ask?: readonly string[] | undefined;
  /** Rules whose calls never run. A rule without a specifier hides the tool from the model. */
  deny?: readonly string[] | undefined;
}

/** A rule in two parts: `Bash(npm *)` is `{ toolName: "Bash", ruleContent: "npm *" }`. */
export interface PermissionRuleParts {
  toolName: string;
  ruleContent?: string;
}

/**
 * A change of the rules or the mode, for the rest of the run. `destination` comes from the Agent SDK: looplet stores
 * nothing, so any value but `"session"` is a `warning` event (`permission_update`).
 */
export type PermissionUpdate = { destination?: string | undefined } & (
  | {
      type: "addRules" | "replaceRules" | "removeRules";
      behavior: "allow" | "ask" | "deny";
      rules: readonly (string | PermissionRuleParts)[];
    }
  | { type: "setMode"; mode: PermissionMode }
);

/** The answer to a question whether a call may run. */
export type PermissionResult =
  | {
      behavior: "allow";
      /** The input that the tool gets instead of the model's; the history keeps the model's. */
      updatedInput?: unknown;
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
    }
  | {
      behavior: "deny";
      /** The reason, which the model reads. */
      message?: string;
      /** Whether the denial ends the run as `cancelled`, with the message as its reason. Default false. */
      interrupt?: boolean;
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
    };

export interface PermissionRequest {
  readonly toolCallId: string;
  /** The reason for the question. */
  readonly reason: string;
  /** The argument for `run.answer`. */
  readonly questionId: number;
  /** The agent that made the call; `"root"` is the run's own. */
  readonly agentPath: string;
  /** The tool's description. */
  readonly description?: string;
  /**
   * Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. They are absent
   * where no rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that
   * rules cannot express.
   */
  readonly suggestions?: readonly PermissionUpdate[];
  /** The `ask` rule that caused the question. Its author wants a person to decide, so never answer it automatically. */
  readonly matchedAskRule?: PermissionRuleParts;
  /** Context for `classifyTool` that `PostToolUse` hooks have given. */
  readonly classifierContext?: readonly string[];
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/**
 * Contract: called for a call that neither the rules nor the mode decide. Calls that do not depend on it continue
 * meanwhile, and the answer may take days. `null` leaves the question open for `run.answer(questionId, …)`. An error
 * that it throws denies the call.
 */
export type CanUseTool = (
  toolName: string,
  input: any,
  request: PermissionRequest,
) => PermissionResult | null | PromiseLike<PermissionResult | null>;

/**
 * The options of `createAgent` about permissions. Without any of them every tool runs. `permissionMode`,
 * `permissions` or `canUseTool` switches to `"default"`; the other options restrict nothing alone.
 */
export interface PermissionOptions {
  /** The mode at the start. Default: `"default"` if `permissions` or `canUseTool` is given, else every tool runs. */
  permissionMode?: PermissionMode | undefined;
  /**
   * The rules. A rule that matches no tool of any agent is an error, unless it has a `*`, begins with `mcp__` or is
   * `Edit`.
   */
  permissions?: PermissionRules | undefined;
  /** Your function that decides where neither rules nor mode do. Default: such a call is denied. */
  canUseTool?: CanUseTool | undefined;
  /** Your function that decides in the mode `"auto"`, which requires it. */
  classifyTool?: CanUseTool | undefined;
  /**
   * Milliseconds that an open question waits before the call is denied. This limit also counts for `needsApproval`
   * alone. Default: no limit.
   */
  permissionTimeoutMs?: number | undefined;
  /**
   * Must be true for the mode `"bypassPermissions"`, however it is chosen: by `permissionMode`,
   * `run.setPermissionMode` or an answer's `updatedPermissions`. This option alone switches to no mode. Default false.
   */
  allowDangerouslySkipPermissions?: boolean | undefined;
}
