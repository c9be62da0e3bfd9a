/** Permissions: modes, rules, and your functions that decide which tool calls may run. */
import type { Facts, PermissionMode, PermissionResult, PermissionRules } from "../generated/model.js";
import type { HostAbortSignal } from "./platform.js";

export type {
  PermissionMode,
  PermissionResult,
  PermissionRuleParts,
  PermissionRules,
  PermissionUpdate,
} from "../generated/model.js";

export interface PermissionRequest extends Omit<Facts["classify"], "toolName" | "input"> {
  /** The argument for `run.answer`. */
  readonly questionId: number;
  readonly agentPath: string;
  /** The tool's description. */
  readonly description?: string;
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/**
 * Contract: called for a tool call that neither the rules nor the mode decide. Independent calls continue meanwhile,
 * and the answer can take days. `null` leaves the question open for `run.answer(questionId, …)`. An error that it
 * throws denies the call.
 */
export type CanUseTool = (
  toolName: string,
  input: any,
  request: PermissionRequest,
) => PermissionResult | null | PromiseLike<PermissionResult | null>;

/**
 * The option `permissions` of `createAgent`: which tool calls may run.
 *
 * Rules have the form `Tool` or `Tool(specifier)`. Deny rules come first, then ask, then allow; within a list the
 * first match counts. `*` matches any text.
 * - `Bash(npm *)` allows only command lines of letters, digits, spaces and `_-./:@%+,=`.
 * - `Read(src/**)` uses the patterns of a `.gitignore`.
 * - `WebFetch(domain:example.com)` names a domain.
 *
 * For your own tools, `access` or `ruleSubject` name the field that a specifier is compared with. Command rules are a
 * convenience, not a security boundary; use a sandbox for that. A rule that matches no tool of any agent is an error,
 * unless it has a `*`, begins with `mcp__`, or is `Edit` or `Read(…)`.
 *
 * `cwd` is the folder of relative paths. With it a rule knows the place that a path names, tools with `access:
 * "read"` need no rule below it, and `"acceptEdits"` takes absolute paths too.
 */
export interface PermissionOptions extends PermissionRules {
  /** The mode at the start. Default `"default"`. */
  mode?: PermissionMode | undefined;
  /**
   * Your function that decides where neither rules nor mode do. `timeouts.permissionMs` limits the wait for it.
   * Default: such a call is denied.
   */
  canUseTool?: CanUseTool | undefined;
  /** Your function that decides in the mode `"auto"`, which requires it. */
  classifyTool?: CanUseTool | undefined;
  /**
   * Must be true for the mode `"bypassPermissions"`, however it is chosen: by `mode`, `run.setPermissionMode` or an
   * answer's `updatedPermissions`. In Node and Bun, root is refused that mode unless the environment variable
   * `IS_SANDBOX` is `1`. Default false.
   */
  allowDangerouslySkipPermissions?: boolean | undefined;
}
