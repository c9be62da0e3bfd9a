/** Checks your hooks and their matchers, and turns them into functions that the engine asks. It decides nothing. */
import { LoopletError } from "../api/errors.js";
import type { HookGroup, HookInputs, HookOptions, HookOutput } from "../api/hook.js";
import type { AgentOptions, Tracer } from "../api/index.js";
import type { PermissionOptions } from "../api/permission.js";
import { reportUncaught } from "../host/failures.js";
import type { HookAnswer } from "../host/question.js";
import { at, checkOptions, checkValue, describe, describeWord, isObject, joined } from "../options/check.js";
import type { OptionTable } from "../option-table.js";
import { HEARD_EVENTS, HOOKS_TABLE, HOOK_OUTPUT_TABLE } from "../options/options.js";
import { checkUpdates, type RuledTools } from "../options/permissions.js";
import type { Point } from "../generated/model.js";
import type { HostFunction } from "./host-functions.js";
import { matcherOf } from "./matcher.js";

// Events about a tool and about a subagent, whose matchers are compared with its name.
const TOOL_EVENTS: readonly string[] = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionRequest",
  "PermissionDenied",
] satisfies Point[];
const AGENT_EVENTS: readonly string[] = ["SubagentStart", "SubagentStop"] satisfies Point[];
const TRIGGERS = ["auto", "manual", "overflow"];
/** Events whose matchers are compared with one of these words and not with a name. */
const WORDS: { readonly [event: string]: readonly string[] } = {
  PreCompact: TRIGGERS,
  PostCompact: TRIGGERS,
  SessionStart: ["startup", "resume", "clear"],
  Notification: ["permission_prompt"],
};
const GROUP_TABLE: OptionTable = {
  matcher: "string",
  timeoutMs: "count64?",
  onFailure: ["continue", "block"],
  hooks: "any!",
};

type AnyHook = (input: any, context: { readonly signal: AbortSignal }) => unknown;

/**
 * The hooks that the engine asks.
 *
 * @throws LoopletError `config_…`
 */
export function hookFunctions(
  { hooks, permissions = joined(), toolCalls }: Pick<AgentOptions, "hooks" | "permissions" | "toolCalls">,
  names: readonly string[],
): HostFunction[] {
  const functions: HostFunction[] = [];
  // With `onUnknownTool` your code may answer calls of tools that are not described.
  const isOpen = typeof toolCalls?.onUnknownTool === "function";
  const ruledTools = isOpen ? undefined : names;
  for (const [event, group, field] of groups({ hooks })) {
    const { timeoutMs = event === "UserPromptSubmit" ? 30_000 : 600_000, onFailure } = group;
    const isFor = matcherOf(group.matcher, at(field, "matcher"));
    const isOfTools = TOOL_EVENTS.includes(event);
    const known = WORDS[event] ?? (isOfTools || AGENT_EVENTS.includes(event) ? names : undefined);
    if (HEARD_EVENTS.includes(event)) continue;
    const config = {
      event: event as Point,
      names: isOfTools && isOpen ? undefined : isFor && known?.filter(isFor),
      timeoutMs,
      blocks: onFailure === "block",
    };
    for (const hook of group.hooks as readonly AnyHook[]) {
      functions.push({
        config,
        ask: async (input, { signal }) =>
          isFor && isOfTools && !isFor(input.toolName)
            ? {}
            : answerOf(event, await hook(input, { signal }), permissions, ruledTools),
      });
    }
  }
  return functions;
}

/** The hooks about a failure, which follow a run as tracers do. */
export function failureTracers(options: HookOptions): Tracer[] {
  const tracers: Tracer[] = [];
  for (const [event, { matcher, hooks }] of groups(options)) {
    if (event !== "StopFailure") continue;
    const isFor = matcherOf(matcher, "matcher") ?? (() => true);
    const { signal } = new AbortController();
    for (const hook of hooks as readonly AnyHook[])
      tracers.push(() => ({
        onEvent: () => {},
        onEnd: ({ error, text }) =>
          error != null && isFor(error.code)
            ? hook({ event, error, lastAssistantMessage: text }, { signal })
            : undefined,
      }));
  }
  return tracers;
}

/** Returns the function that calls the hooks when a session ends. */
export function sessionEndCaller(options: HookOptions): (reason: HookInputs["SessionEnd"]["reason"]) => void {
  const heard = [...groups(options)].flatMap(([event, { matcher, hooks }, field]) => {
    if (event !== "SessionEnd") return [];
    const isFor = matcherOf(matcher, at(field, "matcher")) ?? (() => true);
    return (hooks as readonly AnyHook[]).map((hook) => ({ hook, isFor }));
  });
  return (reason) => {
    const { signal } = new AbortController();
    for (const { hook, isFor } of heard)
      if (isFor(reason))
        void (async () => hook({ event: "SessionEnd", reason }, { signal }))().catch(reportUncaught);
  };
}

function* groups({ hooks }: HookOptions): Generator<[event: string, group: HookGroup, field: string]> {
  if (hooks === undefined) return;
  for (const [event, list] of Object.entries(checkOptions(hooks, "hooks", HOOKS_TABLE))) {
    const field = at("hooks", event);
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw wrong(field, "an array of { matcher, hooks: [function] }", list);
    for (const [index, group] of (list as HookGroup[]).entries()) {
      const place = `${field}[${index}]`;
      yield [event, checkGroup(group, place), place];
    }
  }
}

function checkGroup(given: HookGroup, field: string): HookGroup {
  if (typeof given === "function") throw wrong(field, "{ hooks: [function] }", given);
  const group = checkOptions(given, field, GROUP_TABLE);
  const { hooks } = group;
  if (!Array.isArray(hooks)) throw wrong(at(field, "hooks"), "an array of functions", hooks);
  for (const [index, hook] of hooks.entries())
    checkValue(hook, `${at(field, "hooks")}[${index}]`, "function");
  return group;
}

function wrong(field: string, needed: string, got: unknown): LoopletError {
  return new LoopletError("config_wrong_type", field, `needs ${needed}, got ${describe(got)}`);
}

/**
 * A hook's answer in the engine's words. An answer that is not valid fails the hook. One that says no is a no all the
 * same: its reason may quote an input of the model, which chooses the type.
 */
function answerOf(event: string, output: unknown, options: PermissionOptions, tools: RuledTools): HookAnswer {
  try {
    return validAnswer(event, output, options, tools);
  } catch (error) {
    const { decision } = Object(output) as Partial<HookOutput>;
    const isNo = (decision === "deny" || decision === "block") && wordsOf(event).includes(decision);
    // A model that is kept from stopping costs money, so a mistake does not block the stop.
    if (!isNo || event.endsWith("Stop")) throw error;
    const [problem] = String((error as Error)?.message ?? error).split("\n");
    return { decision: "deny", reason: `a hook denied it; its answer is not valid: ${problem}` };
  }
}

function validAnswer(
  event: string,
  output: unknown,
  options: PermissionOptions,
  tools: RuledTools,
): HookAnswer {
  if (output === undefined || output === null) return {};
  if (!isObject(output)) throw new TypeError(`it must return an object, got ${describe(output)}`);
  const own = checkOptions(output, "", HOOK_OUTPUT_TABLE);
  checkUpdates(own["updatedPermissions"], options, tools);
  const {
    decision,
    continue: continues,
    stopReason,
    additionalContext,
    classifierContext,
    ...rest
  } = own as HookOutput;
  const words = wordsOf(event);
  if (decision !== undefined && !words.includes(decision)) {
    if (words.length === 0)
      throw new TypeError(`a ${event} hook decides nothing, got ${describeWord(decision)}`);
    throw new TypeError(`decision needs one of "${words.join('", "')}", got ${describeWord(decision)}`);
  }
  const answer: HookAnswer = { ...rest, decision: decision === "block" ? "deny" : decision };
  if (additionalContext !== undefined) answer.context = [additionalContext];
  if (classifierContext !== undefined) answer.classifierContext = [classifierContext];
  if (continues === false) answer.stop = stopReason ?? "A hook has ended the run.";
  return answer;
}

function wordsOf(event: string): string[] {
  if (event === "PreToolUse") return ["allow", "deny", "ask", "defer"];
  if (event === "SessionStart" || event === "Notification") return [];
  return event === "PermissionRequest" ? ["allow", "deny"] : ["block"];
}
