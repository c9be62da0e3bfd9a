/**
 * Translates functions that are written for the Claude Agent SDK: their input gets the SDK's names, and their answer
 * gets looplet's. `looplet/presets` exports it, so that `createAgent` knows one shape only.
 * <https://code.claude.com/docs/en/agent-sdk/hooks> (2026-11-22)
 */
import type { HookEvent, HookGroup, HookOutput, Hooks } from "../../core/api/hook.js";
import type {
  CanUseTool,
  PermissionRequest,
  PermissionResult,
  PermissionUpdate,
  PermissionRuleParts,
} from "../../core/api/permission.js";
import type { HostAbortSignal } from "../../core/api/platform.js";
import { isObject, joined, matcherOf } from "../../core/kit/check.js";

/** Hooks in the shape of the Agent SDK, by event. */
export type AgentSdkHooks = { readonly [E in HookEvent]?: readonly AgentSdkHookGroup[] | undefined };

/** The SDK's `HookCallbackMatcher`. */
export interface AgentSdkHookGroup extends Pick<HookGroup, "matcher" | "onFailure"> {
  /** The hook's time to answer, in seconds. Default: as `HookGroup.timeoutMs`. */
  timeout?: number | undefined;
  hooks: readonly AgentSdkHook[];
}

/** Contract: called as a `Hook`, with the SDK's three arguments. */
export type AgentSdkHook = (
  input: any,
  toolUseId: string | undefined,
  context: { readonly signal: HostAbortSignal },
) => AgentSdkAnswer | PromiseLike<AgentSdkAnswer>;

type AgentSdkAnswer = AgentSdkHookOutput | void | null | undefined;

/** The answer of such a hook. If it decides twice, a denial wins. */
export interface AgentSdkHookOutput extends Omit<HookOutput, "decision"> {
  decision?: HookOutput["decision"] | "approve";
  /** The event's own fields, for example `permissionDecision` and `updatedToolOutput`. */
  hookSpecificOutput?: { [field: string]: unknown } | undefined;
  /** `true`: the hook has no answer and continues in the background. */
  async?: boolean | undefined;
  [field: string]: unknown;
}

/** The SDK's `CanUseTool`. */
export type AgentSdkCanUseTool = (
  toolName: string,
  input: any,
  options: Omit<PermissionRequest, "matchedAskRule"> & {
    readonly toolUseID: string;
    /** Why the call needs approval. Only set by `query`. */
    readonly decisionReason?: string | undefined;
    /**
     * The agent that wants the call, by the id of its own call. Only set by `query`, and absent for the query's own
     * agent.
     */
    readonly agentID?: string | undefined;
    /** The question, as a text. */
    readonly requestId: string;
    /** Not set, as are the next ones: looplet words no question. */
    readonly title?: string;
    readonly displayName?: string;
    readonly blockedPath?: string;
    readonly mcpServer?: { readonly name: string; readonly source: string };
    readonly defaultToNo?: boolean;
    readonly suppressAlwaysAllowRule?: boolean;
    /** The `ask` rule. looplet does not say where a rule is from. */
    readonly matchedAskRule?: PermissionRuleParts & { readonly source?: string };
  },
) => AgentSdkPermissionResult | null | PromiseLike<AgentSdkPermissionResult | null>;

export type AgentSdkPermissionResult = PermissionResult & {
  toolUseID?: string;
  decisionClassification?: string;
  updatedPermissions?: readonly PermissionUpdate[] | undefined;
};

type Fields = { [name: string]: unknown };

/** The SDK's names of input fields, where snake case of looplet's name is not enough. */
const TOLD: { readonly [name: string]: string } = {
  event: "hook_event_name",
  toolCallId: "tool_use_id",
  input: "tool_input",
  output: "tool_response",
  agentPath: "agent_id",
  agentName: "agent_type",
  summary: "compact_summary",
  instructions: "custom_instructions",
  suggestions: "permission_suggestions",
};

/** looplet's names of answer fields; an empty name drops a field that has no meaning here. */
const SAID: { readonly [name: string]: string } = {
  hookEventName: "",
  permissionDecision: "decision",
  behavior: "decision",
  permissionDecisionReason: "reason",
  message: "reason",
  updatedToolOutput: "updatedOutput",
  updatedMCPToolOutput: "updatedOutput",
  suppressOriginalPrompt: "",
  sessionTitle: "",
  initialUserMessage: "",
};

const IGNORED = ["async", "asyncTimeout", "suppressOutput", "terminalSequence"];

const trigger = (word: unknown): string => (word === "manual" ? "manual" : "auto");

/** Fields of inputs in which the SDK has fewer words than looplet; a matcher is compared with the SDK's. */
const WORDED: {
  readonly [event: string]: readonly [field: string, told: (word: unknown) => string, isMatched: boolean];
} = {
  PreCompact: ["trigger", trigger, true],
  PostCompact: ["trigger", trigger, true],
  SessionEnd: ["reason", (word) => (word === "clear" ? "clear" : "other"), true],
  UserPromptSubmit: ["source", () => "sdk", false],
};

/** `createAgent`'s `hooks` for hooks of the Agent SDK: `createAgent({ hooks: agentSdkHooks({ PreToolUse: […] }) })`. */
export function agentSdkHooks(hooks: AgentSdkHooks): Hooks {
  const translated = Object.entries(hooks).map(([event, groups]) => [
    event,
    Array.isArray(groups) ? groups.map((group) => translatedGroup(event, group)) : groups,
  ]);
  return Object.fromEntries(translated) as Hooks;
}

/** The group in looplet's words. `createAgent` names what is wrong with a group that has no list of functions. */
function translatedGroup(event: string, group: AgentSdkHookGroup): unknown {
  if (!isObject(group) || !Array.isArray(group.hooks)) return group;
  const { timeout, hooks, ...rest } = group;
  const [field = "", told, isMatched] = WORDED[event] ?? [];
  const isFor = isMatched && typeof rest.matcher === "string" ? ownMatcher(event, rest) : undefined;
  return {
    ...rest,
    ...(timeout === undefined ? {} : { timeoutMs: Math.round(timeout * 1000) }),
    hooks: hooks.map((hook) => async (input: Fields, context: { readonly signal: HostAbortSignal }) => {
      const toolUseId = input["toolCallId"] as string | undefined;
      const words = inSdkNames(input);
      if (told !== undefined) words[field] = told(words[field]);
      if (isFor?.(words[field] as string) === false) return undefined;
      return inOurWords(event, await hook(words, toolUseId, context));
    }),
  };
}

/** The test of a matcher that only the translation can make; the group is left without it. */
function ownMatcher(
  event: string,
  group: { matcher?: string | undefined },
): ((word: string) => boolean) | undefined {
  const isFor = matcherOf(group.matcher, `hooks.${event}.matcher`);
  delete group.matcher;
  return isFor;
}

/** `createAgent`'s `canUseTool` for such a function of the Agent SDK. */
export function agentSdkCanUseTool(canUseTool: AgentSdkCanUseTool): CanUseTool {
  return async (toolName, input, request) => {
    const said = await canUseTool(toolName, input, {
      ...request,
      toolUseID: request.toolCallId,
      requestId: String(request.questionId),
    });
    if (!isObject(said)) return said;
    const { toolUseID: _, decisionClassification: __, ...result } = said;
    return result as PermissionResult;
  };
}

function inSdkNames(input: Fields): Fields {
  const told: Fields = {};
  for (const [name, value] of Object.entries(input)) {
    // In the SDK an agent id marks a subagent, so the root has none.
    if (name === "agentPath" && value === "root") continue;
    const other = TOLD[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    told[other] =
      name === "toolCalls"
        ? (value as Fields[]).map(inSdkNames)
        : name === "error"
          ? (value as Error).message
          : name === "effort"
            ? { level: value }
            : value;
  }
  return told;
}

/** A hook's answer as one record in looplet's words. If it has two decisions, a denial wins. */
function inOurWords(event: string, output: unknown): HookOutput {
  if (!isObject(output)) return output as HookOutput;
  const { hookSpecificOutput, ...more } = joined(output);
  const said = joined(more) as { [field: string]: unknown };
  for (const name of IGNORED) delete said[name];
  const isDenied = said["decision"] === "deny" || said["decision"] === "block";
  const take = (fields: Fields): void => {
    for (const [name, value] of Object.entries(fields)) {
      const ours = SAID[name] ?? name;
      if (ours === "decision" && isObject(value)) take(value);
      else if (ours !== "" && !(isDenied && /^(decision|reason)$/.test(ours))) said[ours] = value;
    }
  };
  if (isObject(hookSpecificOutput)) take(hookSpecificOutput);
  else if (hookSpecificOutput !== undefined) said["hookSpecificOutput"] = hookSpecificOutput;
  const isJudge = event === "PreToolUse" || event === "PermissionRequest";
  if (said["decision"] === "block" && isJudge) said["decision"] = "deny";
  if (said["decision"] === "approve") said["decision"] = isJudge ? "allow" : undefined;
  return said;
}
