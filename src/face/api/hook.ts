/** Hooks and guardrails: functions that are asked at certain points of a run. */
import type { Failure, OutcomeKind, ToolFault } from "./event.js";
import type { Message } from "./message.js";
import type { PermissionMode, PermissionRequest, PermissionUpdate } from "./permission.js";
import type { HostAbortSignal } from "./platform.js";
import type { ToolCallRecord } from "./result.js";
import type { SessionSource } from "./run.js";

interface HookPoint<E extends string> {
  readonly event: E;
  /** The agent in the run's tree; `"root"` is the one that was started. */
  readonly agentPath: string;
  /** The model call before this point, from 1; 0 before the first. */
  readonly iteration: number;
  /** As it stands, in a run with permissions. */
  readonly permissionMode?: PermissionMode;
  /** What the model's option `effort` says, if anything. */
  readonly effort?: string;
  /** The subagent's, by the name of its tool; the run's own agent has none. */
  readonly agentName?: string;
}

interface ToolHookPoint<E extends string> extends HookPoint<E> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** What the tool gets. */
  readonly input: any;
}

interface SubagentPoint {
  /** The tool that it stands behind. */
  readonly agentName: string;
  /** The call that it answers. */
  readonly toolCallId: string;
}

/** What a hook is told, by event. */
export interface HookInputs {
  /** Before a call is judged: before the permission rules, the mode and `canUseTool`. */
  PreToolUse: ToolHookPoint<"PreToolUse">;
  /** A tool has returned; the model has not seen it. */
  PostToolUse: ToolHookPoint<"PostToolUse"> & { readonly output: any; readonly durationMs: number };
  /** A tool has thrown or run out of time. */
  PostToolUseFailure: ToolHookPoint<"PostToolUseFailure"> & {
    readonly error: ToolFault;
    readonly durationMs: number;
  };
  /** All calls of an answer are done; the model has seen none of it. */
  PostToolBatch: HookPoint<"PostToolBatch"> & {
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** Something is about to be said to the model. */
  UserPromptSubmit: HookPoint<"UserPromptSubmit"> & {
    /** Its text. */
    readonly prompt: string;
    readonly source: "prompt" | "steer" | "followUp";
  };
  /** The model has finished. */
  Stop: HookPoint<"Stop"> & {
    /** A `Stop` hook has made the model go on before: the guard against doing so for ever. */
    readonly stopHookActive: boolean;
    readonly lastAssistantMessage: string;
  };
  /** A subagent is about to begin. */
  SubagentStart: HookPoint<"SubagentStart"> & SubagentPoint & { readonly prompt: string };
  /** A subagent has finished. */
  SubagentStop: HookPoint<"SubagentStop"> &
    SubagentPoint & { readonly stopHookActive: boolean; readonly lastAssistantMessage: string };
  /** A summary of the history is about to be made. */
  PreCompact: HookPoint<"PreCompact"> & {
    readonly trigger: "auto" | "manual" | "overflow";
    /** Estimated tokens of the history. */
    readonly preTokens: number;
    /** What the summary shall also heed, if anything: those of `run.compact` or of the option `compaction`. */
    readonly instructions?: string;
  };
  /** A summary has taken the place of the history before it. */
  PostCompact: HookPoint<"PostCompact"> & {
    readonly trigger: "auto" | "manual" | "overflow";
    readonly summary: string;
  };
  /** A session begins, a chat or a run outside of one, with its first prompt. Before `UserPromptSubmit`. */
  SessionStart: HookPoint<"SessionStart"> & {
    readonly source: SessionSource;
    /** As in `model.model`. */
    readonly model: string;
  };
  /**
   * A session has ended: a run outside of a chat with its outcome, a chat by `chat.reset` (`"clear"`) or `chat.close`.
   * What the hook returns does not matter; what it throws is reported like an uncaught error.
   */
  SessionEnd: { readonly event: "SessionEnd"; readonly reason: OutcomeKind | "clear" | "close" };
  /** The run has failed. What the hook returns does not matter. */
  StopFailure: {
    readonly event: "StopFailure";
    readonly error: Failure;
    readonly lastAssistantMessage: string;
  };
  /** Somebody is waited for: a permission question is open. Nothing waits for the hook; what it adds is told later. */
  Notification: HookPoint<"Notification"> & {
    readonly notificationType: "permission_prompt";
    readonly message: string;
    /** For `run.answer`. */
    readonly questionId: number;
    readonly toolName: string;
  };
  /** The host is about to be asked whether a call may run (by `canUseTool` or a `question` event). */
  PermissionRequest: ToolHookPoint<"PermissionRequest"> & { readonly reason: string } & Pick<
      PermissionRequest,
      "suggestions" | "matchedAskRule"
    >;
  /** A call was denied by a rule, the mode or the host. */
  PermissionDenied: ToolHookPoint<"PermissionDenied"> & { readonly reason: string };
}

export type HookEvent = keyof HookInputs;

/** What a hook may say. Nothing at all lets things take their course. */
export interface HookOutput {
  /**
   * `PreToolUse`: `"allow"` (rules that deny or ask still count), `"deny"`, `"ask"` the host, or `"defer"`: the call waits
   * for `run.answer` and nobody is asked. Of several hooks deny wins over defer, ask and allow.
   * `PermissionRequest`: `"allow"` or `"deny"`, in the host's place.
   * `UserPromptSubmit`: `"block"` turns it down; a run that begins with it is `stopped` by `hook`.
   * `PreCompact`: `"block"` keeps the history as it is; a request that is too long for the vendor then fails.
   * `Stop`, `SubagentStop`: `"block"` has the model go on.
   * `PostToolUse`, `PostToolUseFailure`, `PostToolBatch`: `"block"` tells the model the reason beside the result.
   * Words of the Agent SDK: `"block"` also denies a call, `"approve"` allows it or says nothing.
   */
  decision?: "allow" | "deny" | "ask" | "defer" | "block" | "approve" | undefined;
  /** Of the decision; the model is told. */
  reason?: string | undefined;
  /** `PreToolUse` (not with `"defer"`), `PermissionRequest`: the tool gets this; the history keeps what the model wrote. */
  updatedInput?: { [name: string]: unknown } | undefined;
  /** `PostToolUse`: the model, the events and the result get this in place of what the tool returned. */
  updatedOutput?: unknown;
  /** The model is told: beside the prompt, or beside the results of this round. `Stop`: and goes on. */
  additionalContext?: string | undefined;
  /** `false` ends the run as `stopped` by `hook`; what was done stays. Default true. */
  continue?: boolean | undefined;
  /** Why; becomes `result.abortReason`. */
  stopReason?: string | undefined;
  /** `PermissionDenied`: the model is told that it may try the call again. */
  retry?: boolean | undefined;
  /** `PermissionRequest` with `"deny"`: ends the run as `cancelled`. */
  interrupt?: boolean | undefined;
  /** `PermissionRequest`: changes of the rules for the rest of the run. */
  updatedPermissions?: readonly PermissionUpdate[] | undefined;
  /** For the user, not the model: a `warning` event with the code `hook_message`. */
  systemMessage?: string | undefined;
  /** `PostToolUse`: what `classifyTool` is told with the calls that follow. */
  classifierContext?: string | undefined;
  /** The same in the shape of the Claude Agent SDK; of two decisions the one that denies counts. */
  hookSpecificOutput?: AgentSdkHookOutput | undefined;
  /** `true`, as in the Agent SDK: nothing is said, and the hook works on in the background. */
  async?: boolean | undefined;
}

/** What a hook for the Claude Agent SDK returns as `hookSpecificOutput`. Fields not listed are taken as looplet's. */
export interface AgentSdkHookOutput {
  hookEventName?: string | undefined;
  /** `PreToolUse`: `decision` and `reason`. */
  permissionDecision?: "allow" | "deny" | "ask" | "defer" | undefined;
  permissionDecisionReason?: string | undefined;
  /** `PermissionRequest`. */
  decision?:
    | {
        behavior: "allow" | "deny";
        updatedInput?: { [name: string]: unknown } | undefined;
        updatedPermissions?: readonly PermissionUpdate[] | undefined;
        message?: string | undefined;
        interrupt?: boolean | undefined;
      }
    | undefined;
  /** `PostToolUse`: `updatedOutput`. */
  updatedToolOutput?: unknown;
  [field: string]: unknown;
}

/**
 * Contract: called at its point of a run, which waits for it; all hooks of a point are called at once. `signal` fires
 * when the answer no longer matters.
 */
export type Hook<E extends HookEvent = HookEvent> = (
  input: HookInputs[E],
  context: { readonly signal: HostAbortSignal },
) => HookOutput | void | null | undefined | PromiseLike<HookOutput | void | null | undefined>;

/** Hooks of one event that belong together. */
export interface HookGroup<E extends HookEvent = HookEvent> {
  /**
   * Which tools they are for, or which subagents by the name of their tool (`PreCompact`, `PostCompact`: which triggers; `StopFailure`: which failure codes; `SessionStart`: which sources; `SessionEnd`: which reasons; `Notification`: `permission_prompt`). Nothing, `""` and `"*"`: all. Only letters, digits,
   * `_`, blanks, `,` and `|`: a list of exact names. Anything else is a regular expression, for example `"^mcp__"`.
   */
  matcher?: string | undefined;
  /** Then a hook has failed, in milliseconds. Default 600,000; `UserPromptSubmit` 30,000. `null`: never. */
  timeoutMs?: number | null | undefined;
  /**
   * A hook that throws, returns nonsense or is too late is passed over with a `warning` event (`hook_failed`), or counts
   * as one that denies or blocks; on `Stop` and `SubagentStop` it never blocks. Default `"continue"`.
   */
  onFailure?: "continue" | "block" | undefined;
  hooks: readonly Hook<E>[];
}

export type Hooks = { readonly [E in HookEvent]?: readonly HookGroup<E>[] | undefined };

/** What a guardrail says. */
export interface GuardrailResult<R> {
  allowed: boolean;
  reason?: string | undefined;
  /** Goes on in place of what was looked at. */
  rewrite?: R | undefined;
}

export interface GuardrailContext {
  readonly signal: HostAbortSignal;
  readonly agentPath: string;
  readonly iteration: number;
}

type Guarded<R> = GuardrailResult<R> | PromiseLike<GuardrailResult<R>>;
type OneOrMore<T> = T | readonly T[];

/** A guardrail that throws, returns nonsense or takes longer than 10 minutes denies. */
export interface Guardrails {
  /**
   * Milliseconds that each has to answer, a positive integer, or `null` for ever. Default 600,000. One that is too late,
   * throws or returns nonsense denies.
   */
  timeoutMs?: number | null | undefined;
  /**
   * Contract: called with the messages of each request before it is sent, once more with a summary in them. Denied, the run is `stopped` by `guardrail`.
   * `rewrite` replaces the transcript.
   */
  input?:
    OneOrMore<(messages: readonly Message[], context: GuardrailContext) => Guarded<Message[]>> | undefined;
  /**
   * Contract: called with each answer of the model, before it counts and before its tools run; its text has been streamed
   * already. Denied, a `reset` event takes it back and the run is `stopped` by `guardrail`. `rewrite` replaces its text.
   */
  output?: OneOrMore<(message: Message, context: GuardrailContext) => Guarded<string>> | undefined;
  /**
   * Contract: called for each call that may run, before it does. Denied, the model is told the reason. `rewrite` replaces
   * the input.
   */
  tool?:
    | OneOrMore<
        (
          toolName: string,
          input: any,
          context: GuardrailContext & { readonly toolCallId: string },
        ) => Guarded<{ [name: string]: unknown }>
      >
    | undefined;
}

/** The options of `createAgent` about hooks and guardrails. */
export interface HookOptions {
  /** Functions that are asked at certain points, by event. Default: none. */
  hooks?: Hooks | undefined;
  /** Functions that let through, rewrite or deny what goes in and comes out. Default: none. */
  guardrails?: Guardrails | undefined;
}
