/** Which tool calls may run: modes, rules, and the functions that are asked. */
import type { PermissionMode as EngineMode } from "../generated/model.js";
import type { HostAbortSignal } from "./platform.js";

/**
 * What happens to a call that no rule speaks of.
 * - `"default"`: `canUseTool` decides; without it the call is denied.
 * - `"acceptEdits"`: tools with `access: "edit"` run, and plain lines of one command that only moves files about (`mkdir`,
 *   `touch`, `rm`, `rmdir`, `mv`, `cp`), if they show their paths (an edit: in `file_path`, `path`, `notebook_path`, `filePath`
 *   or its `ruleSubject`), and these are relative and neither climb nor name anything hidden; else as `"default"`.
 * - `"plan"`: what is not read-only goes to `canUseTool` whatever the allow rules say; else as `"default"`.
 * - `"dontAsk"`: what no rule allows is denied, and so is what a rule wants asked.
 * - `"auto"`: `classifyTool` decides.
 * - `"bypassPermissions"`: runs, unless a rule denies or asks, or a rule that denies cannot read the call for sure.
 */
export type PermissionMode = EngineMode;

/**
 * Rules of the form `Tool` or `Tool(specifier)`, looked at in the order deny, ask, allow; within a list the first that
 * matches counts. `*` stands for anything; `Bash(npm *)` allows lines of letters, digits, spaces and `_-./:@%+,=` alone,
 * `Read(src/**)` takes the patterns of a `.gitignore`, `WebFetch(domain:example.com)` a host. For tools of yours, `access`
 * or `ruleSubject` name the field that a specifier is compared with. A rule on commands is a convenience; a sandbox
 * around the tool is the wall.
 */
export interface PermissionRules {
  /** Runs without being asked about. A name with a `*` counts only behind a server's (`mcp__files__*`). */
  allow?: readonly string[] | undefined;
  /** Is asked about in every mode; denied in `"dontAsk"`. */
  ask?: readonly string[] | undefined;
  /** Never runs. Without a specifier the model does not even see the tool. */
  deny?: readonly string[] | undefined;
}

/** A rule in two parts: `Bash(npm *)` is `{ toolName: "Bash", ruleContent: "npm *" }`. */
export interface PermissionRuleParts {
  toolName: string;
  ruleContent?: string;
}

/**
 * A change of the rules or the mode, for the rest of the run. `destination` is that of the Agent SDK: anything but
 * `"session"` is a `warning` event (`permission_update`), because nothing is stored.
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
      /** The tool gets this in place of what the model wrote; the history keeps the latter. */
      updatedInput?: unknown;
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
    }
  | {
      behavior: "deny";
      /** The model is told. */
      message?: string;
      /** Ends the run as `cancelled`, with the message as its reason. Default false. */
      interrupt?: boolean;
      updatedPermissions?: readonly PermissionUpdate[] | undefined;
    };

export interface PermissionRequest {
  readonly toolCallId: string;
  /** Why this call is asked about. */
  readonly reason: string;
  /** For `run.answer`. */
  readonly questionId: number;
  /** The agent whose call it is; `"root"` is the run's own. */
  readonly agentPath: string;
  /** The tool's. */
  readonly description?: string;
  /**
   * What as `updatedPermissions` would let this call and those like it through; none where no rule could: while
   * planning, for a tool that wants an approval, for what no rule can speak of.
   */
  readonly suggestions?: readonly PermissionUpdate[];
  /** The `ask` rule because of which the host is asked. A person was wanted: answer nothing in their place. */
  readonly matchedAskRule?: PermissionRuleParts;
  /** For `classifyTool`: what `PostToolUse` hooks have said for it. */
  readonly classifierContext?: readonly string[];
  /** Fires when the answer no longer matters. */
  readonly signal: HostAbortSignal;
}

/**
 * Contract: called for a call that the rules and the mode leave to the host; other calls that do not depend on it go
 * on meanwhile, for days if need be. `null` leaves the question open for `run.answer(questionId, …)`. What it throws
 * denies the call.
 */
export type CanUseTool = (
  toolName: string,
  input: any,
  request: PermissionRequest,
) => PermissionResult | null | PromiseLike<PermissionResult | null>;

/**
 * The options of `createAgent` about permissions. `permissionMode`, `permissions` and `canUseTool` switch from "every
 * tool runs" to `"default"`; the others by themselves restrict nothing.
 */
export interface PermissionOptions {
  /** Default: `"default"` if `permissions` or `canUseTool` is given, else every tool runs. */
  permissionMode?: PermissionMode | undefined;
  /** A rule that names no tool of any agent is an error, unless it has a `*`, is for `mcp__…` or is `Edit`. */
  permissions?: PermissionRules | undefined;
  /** Asked about what neither rules nor mode decide. Default: such a call is denied. */
  canUseTool?: CanUseTool | undefined;
  /** Decides in the mode `"auto"`, and is required for it. */
  classifyTool?: CanUseTool | undefined;
  /**
   * How long an open question is waited for, in milliseconds; then the call is denied. Default: for ever. Counts for
   * `needsApproval` without any other of these options too.
   */
  permissionTimeoutMs?: number | undefined;
  /**
   * Must be true for the mode `"bypassPermissions"`, whoever switches to it: `permissionMode`,
   * `run.setPermissionMode` or an answer's `updatedPermissions`. Switches to nothing by itself. Default false.
   */
  allowDangerouslySkipPermissions?: boolean | undefined;
}
