/**
 * The options about permissions and the answers to permission questions: checked, and in the form that the engine
 * takes.
 */
import { at, checkChoice, checkOptions, checkValue, describeWord, isObject, nearestName } from "./check.js";
import { LoopletError } from "../api/errors.js";
import type { Permissions } from "../generated/input.js";
import { PERMISSION_MODES, PERMISSION_RESULT } from "../generated/tables.js";
import type { PermissionOptions, PermissionResult } from "../api/permission.js";
import { normalRules } from "./readings.js";
import { runsAsRoot } from "./root-user.js";

/** The lists of rules. */
const LISTS = ["allow", "ask", "deny"] as const;

/**
 * The engine's part of the options. Without the option every tool runs.
 *
 * @throws LoopletError `config_…`
 */
export function permissionConfig(options: PermissionOptions | undefined): Permissions | undefined {
  if (options === undefined) return undefined;
  const { mode = "default", canUseTool, classifyTool, cwd, additionalDirectories } = options;
  checkMode(mode, "permissions.mode", options);
  // With another option the run can be switched to the mode later.
  if (classifyTool !== undefined && Object.keys(options).length === 1) {
    const problem = `is asked only in the mode "auto"; set permissions: { mode: "auto" }`;
    throw new LoopletError("config_invalid_value", "permissions.classifyTool", problem);
  }
  checkPlaces(cwd, additionalDirectories);
  for (const list of LISTS)
    for (const [index, rule] of (options[list] ?? []).entries())
      checkRule(rule, at("permissions", `${list}[${index}]`));
  const rules = LISTS.filter((list) => options[list] !== undefined);
  return {
    ...Object.fromEntries(rules.map((list) => [list, normalRules(options[list]!)])),
    // Rules compare places with the working folder in front.
    ...(cwd === undefined ? {} : { cwd: cwd.normalize("NFC") }),
    ...(options.protectSettings && { protectSettings: true }),
    ...(additionalDirectories && { additionalDirectories: normalRules(additionalDirectories) }),
    mode,
    canUseTool: canUseTool !== undefined,
  };
}

/** @throws LoopletError for a working folder that is not a path from the root on */
function checkPlaces(cwd: string | undefined, folders: readonly string[] | undefined): void {
  if (cwd !== undefined && !cwd.startsWith("/")) {
    const problem = `needs a path from the root on (/srv/app), got ${describeWord(cwd)}`;
    throw new LoopletError("config_invalid_value", "permissions.cwd", problem);
  }
  if (cwd === undefined && folders !== undefined)
    throw new LoopletError("config_missing", "permissions.cwd", "is required for additionalDirectories");
}

/** @throws LoopletError for an unknown mode, or one that lacks an option it needs */
export function checkMode(mode: unknown, field: string, options: PermissionOptions): void {
  checkChoice(mode, field, PERMISSION_MODES);
  if (mode === "bypassPermissions" && options.allowDangerouslySkipPermissions !== true) {
    throw new LoopletError(
      "config_missing",
      "permissions.allowDangerouslySkipPermissions",
      `must be true for the mode "bypassPermissions", which runs every call that no rule denies`,
    );
  }
  if (mode === "bypassPermissions" && runsAsRoot()) {
    throw new LoopletError(
      "config_invalid_value",
      field,
      `"bypassPermissions" is refused for root, because every call would run with all rights of the machine; run as another user, or set the environment variable IS_SANDBOX=1 if the machine is a sandbox that tools may break`,
    );
  }
  if (mode === "auto" && options.classifyTool === undefined) {
    throw new LoopletError("config_missing", "permissions.classifyTool", `is required for the mode "auto"`);
  }
}

/** True for a text of the form of a rule. */
export function isRule(text: string): boolean {
  const rule = text.trim();
  const open = rule.indexOf("(");
  const [name, inside] = open < 0 ? [rule, "*"] : [rule.slice(0, open), rule.slice(open + 1, -1)];
  return /^[^\s()]+$/.test(name) && inside.trim() !== "" && (open < 0 || rule.endsWith(")"));
}

function checkRule(rule: string, field: string): void {
  if (!isRule(rule)) {
    throw new LoopletError(
      "config_invalid_value",
      field,
      `needs Tool or Tool(specifier), got ${describeWord(rule)}`,
    );
  }
}

/**
 * Refuses rules that name no tool of any agent: a `deny` with a typing error would let every call through. Some names
 * may be for tools that come and go: names with a star, names of MCP servers, and `Edit` and `Read(…)`, which
 * stand for all tools that write or read files.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function checkRuleNames(options: PermissionOptions | undefined, tools: readonly string[]): void {
  for (const list of LISTS)
    for (const [index, rule] of (options?.[list] ?? []).entries())
      checkRuleName(rule, at("permissions", `${list}[${index}]`), tools);
}

function checkRuleName(rule: string, field: string, tools: readonly string[]): void {
  const name = rule.split("(", 1)[0]!.trim();
  const isForMany =
    name.includes("*") || name.startsWith("mcp__") || name === "Edit" || /^\s*Read\(/.test(rule);
  if (isForMany || tools.includes(name)) return;
  const nearest = nearestName(name, tools);
  throw new LoopletError(
    "config_invalid_value",
    field,
    `names no tool of this agent: ${describeWord(name)}; ${nearest === undefined ? `there are ${tools.join(", ") || "none"}` : `did you mean ${nearest}?`}`,
  );
}

/**
 * Checks an answer that your code has given.
 *
 * @throws LoopletError `misuse_invalid_argument`; `config_…` for the rules and the mode of an update, as at the start
 */
export function checkPermissionResult(
  answer: PermissionResult,
  options: PermissionOptions,
  tools: RuledTools,
): PermissionResult {
  let result: PermissionResult;
  try {
    result = checkOptions(answer, "answer", PERMISSION_RESULT);
    checkChoice(result.behavior, "answer.behavior", PERMISSION_RESULT.behavior);
    if (!Array.isArray(result.updatedPermissions ?? []))
      throw new LoopletError("config_wrong_type", "answer.updatedPermissions", "needs an array");
  } catch (error) {
    if (!(error instanceof LoopletError)) throw error;
    throw new LoopletError("misuse_invalid_argument", error.field, error.problem);
  }
  checkUpdates(result.updatedPermissions, options, tools);
  return result;
}

/** The names that rules may use; undefined if `onUnknownTool` may answer calls of any name. */
export type RuledTools = readonly string[] | undefined;

/** @throws LoopletError for a mode that `run.setPermissionMode` refuses, and for rules that `permissions` would */
export function checkUpdates(updates: unknown, options: PermissionOptions, tools: RuledTools): void {
  if (!Array.isArray(updates)) return;
  for (const [index, update] of updates.entries()) {
    if (!isObject(update)) continue;
    const field = `updatedPermissions[${index}]`;
    const { type, mode, behavior, rules } = update;
    if (type === "setMode") checkMode(mode, `${field}.mode`, options);
    if (type !== "addRules" && type !== "replaceRules" && type !== "removeRules") continue;
    if (!(LISTS as readonly unknown[]).includes(behavior) || !Array.isArray(rules)) {
      throw new LoopletError(
        "config_invalid_value",
        field,
        `needs a behavior (${LISTS.join(", ")}) and a list of rules`,
      );
    }
    for (const [place, rule] of rules.entries()) {
      const text = ruleText(rule);
      const where = `${field}.rules[${place}]`;
      checkRule(text, where);
      // A rule that is removed need not be valid.
      if (tools !== undefined && type !== "removeRules") checkRuleName(text, where, tools);
    }
  }
}

/** The text of a rule, or undefined if the value is neither a rule nor the parts of one. */
function ruleText(rule: unknown): string {
  if (typeof rule === "string") return rule;
  if (!isObject(rule) || typeof rule["toolName"] !== "string") return "";
  const { toolName, ruleContent } = rule;
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent as string})`;
}

/** Checks `needsApproval`, before `check` has typed it. */
export function checkNeedsApproval(value: unknown, field: string): void {
  if (value === undefined || typeof value === "boolean") return;
  checkValue(value, field, "function");
}
