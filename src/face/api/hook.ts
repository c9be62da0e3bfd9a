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
  /** The agent's model call before this point, from 1; 0 before the first. */
  readonly iteration: number;
  /** The current mode, in a run with permissions. */
  readonly permissionMode?: PermissionMode;
  /** The model's option `effort`, if it has one. */
  readonly effort?: string;
  /** The name of the subagent's tool; absent for the run's own agent. */
  readonly agentName?: string;
}

interface ToolHookPoint<E extends string> extends HookPoint<E> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The input that the tool gets. */
  readonly input: any;
}

interface SubagentPoint {
  /** The name of the tool that calls the subagent. */
  readonly agentName: string;
  /** The id of the call that the subagent answers. */
  readonly toolCallId: string;
}

/** The input of a hook, by event. */
export interface HookInputs {
  /** A call is about to be judged: the permission rules, the mode and `canUseTool` come after this hook. */
  PreToolUse: ToolHookPoint<"PreToolUse">;
  /** A tool has returned; the model has not seen the result yet. */
  PostToolUse: ToolHookPoint<"PostToolUse"> & { readonly output: any; readonly durationMs: number };
  /** A tool has thrown or run out of time. */
  PostToolUseFailure: ToolHookPoint<"PostToolUseFailure"> & {
    readonly error: ToolFault;
    readonly durationMs: number;
  };
  /** All calls of an answer are done; the model has seen none of their results yet. */
  PostToolBatch: HookPoint<"PostToolBatch"> & {
    readonly toolCalls: readonly ToolCallRecord[];
  };
  /** A prompt, a steer or a follow-up is about to go to the model. */
  UserPromptSubmit: HookPoint<"UserPromptSubmit"> & {
    /** The text of that prompt. */
    readonly prompt: string;
    readonly source: "prompt" | "steer" | "followUp";
  };
  /** The model has finished. */
  Stop: HookPoint<"Stop"> & {
    /** Whether a `Stop` hook has made the model continue before; check it to avoid an endless loop. */
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
    /** Wishes for the summary, if there are any: the instructions of `run.compact` or of the option `compaction`. */
    readonly instructions?: string;
  };
  /** A summary has taken the place of the history before it. */
  PostCompact: HookPoint<"PostCompact"> & {
    readonly trigger: "auto" | "manual" | "overflow";
    readonly summary: string;
  };
  /**
   * A session begins with its first prompt; a session is a chat, or a run outside of one. This hook comes before
   * `UserPromptSubmit`.
   */
  SessionStart: HookPoint<"SessionStart"> & {
    readonly source: SessionSource;
    /** The name of the model, as in `model.model`. */
    readonly model: string;
  };
  /**
   * A session has ended. For a run outside of a chat `reason` is its outcome, for a chat it is `"clear"`
   * (`chat.reset`) or `"close"` (`chat.close`). The hook's return value is ignored; an error that it throws is
   * reported like an uncaught error.
   */
  SessionEnd: { readonly event: "SessionEnd"; readonly reason: OutcomeKind | "clear" | "close" };
  /** The run has failed. The hook's return value is ignored. */
  StopFailure: {
    readonly event: "StopFailure";
    readonly error: Failure;
    readonly lastAssistantMessage: string;
  };
  /**
   * The run waits for a person, because a permission question is open. Nothing waits for this hook; context that it
   * adds reaches the model later.
   */
  Notification: HookPoint<"Notification"> & {
    readonly notificationType: "permission_prompt";
    readonly message: string;
    /** The argument for `run.answer`. */
    readonly questionId: number;
    readonly toolName: string;
  };
  /** `canUseTool` or a `question` event is about to ask whether a call may run. */
  PermissionRequest: ToolHookPoint<"PermissionRequest"> & { readonly reason: string } & Pick<
      PermissionRequest,
      "suggestions" | "matchedAskRule"
    >;
  /** A rule, the mode or your code denied a call. */
  PermissionDenied: ToolHookPoint<"PermissionDenied"> & { readonly reason: string };
}

export type HookEvent = keyof HookInputs;

/** The answer of a hook. A hook that returns nothing changes nothing. */
export interface HookOutput {
  /**
   * The hook's decision. When several hooks answer, deny wins over defer, defer over ask, and ask over allow.
   * - `PreToolUse`: `"allow"` (rules that deny or ask still count), `"deny"`, `"ask"` (`canUseTool` or a `question`
   *   event decides), or `"defer"` (the call waits for `run.answer`, and `canUseTool` is not called).
   * - `PermissionRequest`: `"allow"` or `"deny"`; `canUseTool` is then not called.
   * - `UserPromptSubmit`: `"block"` rejects the prompt; a run that begins with it is `stopped` by `hook`.
   * - `PreCompact`: `"block"` keeps the history as it is; a request that is too long for the vendor then fails.
   * - `Stop`, `SubagentStop`: `"block"` makes the model continue.
   * - `PostToolUse`, `PostToolUseFailure`, `PostToolBatch`: `"block"` tells the model the reason beside the result.
   */
  decision?: "allow" | "deny" | "ask" | "defer" | "block" | undefined;
  /** The reason for the decision; the model reads it. */
  reason?: string | undefined;
  /**
   * `PreToolUse` (not with `"defer"`), `PermissionRequest`: the input that the tool gets. The history keeps the
   * model's own.
   */
  updatedInput?: { [name: string]: unknown } | undefined;
  /** `PostToolUse`: the output that the model, the events and the result get in place of the tool's. */
  updatedOutput?: unknown;
  /**
   * Text for the model, beside the prompt or beside the results of this round. From a `Stop` hook it also makes the
   * model continue.
   */
  additionalContext?: string | undefined;
  /** `false` ends the run as `stopped` by `hook`; finished work stays. Default true. */
  continue?: boolean | undefined;
  /** The reason for `continue: false`; becomes `result.abortReason`. */
  stopReason?: string | undefined;
  /** `PermissionDenied`: tells the model that it may try the call again. */
  retry?: boolean | undefined;
  /** `PermissionRequest` with `"deny"`: ends the run as `cancelled`. */
  interrupt?: boolean | undefined;
  /** `PermissionRequest`: changes of the rules for the rest of the run. */
  updatedPermissions?: readonly PermissionUpdate[] | undefined;
  /** Text for the user, not for the model: a `warning` event with the code `hook_message`. */
  systemMessage?: string | undefined;
  /** `PostToolUse`: context for `classifyTool` about the calls that follow. */
  classifierContext?: string | undefined;
}

/**
 * Contract: called at its point of a run, which waits for the answer. All hooks of a point are called at once.
 * `signal` fires when the answer no longer matters.
 */
export type Hook<E extends HookEvent = HookEvent> = (
  input: HookInputs[E],
  context: { readonly signal: HostAbortSignal },
) => HookOutput | void | null | undefined | PromiseLike<HookOutput | void | null | undefined>;

/** Hooks of one event with a common matcher. */
export interface HookGroup<E extends HookEvent = HookEvent> {
  /**
   * Selects when the hooks are called; absent, `""` and `"*"` mean always. A text of only letters, digits, `_`,
   * blanks, `,` and `|` is a list of exact names. Any other text is a regular expression, for example `"^mcp__"`. It
   * is compared with the name of the tool, or for a subagent with the name of its tool. Some events compare another
   * word:
   * - `PreCompact`, `PostCompact`: the trigger.
   * - `StopFailure`: the failure code.
   * - `SessionStart`: the source.
   * - `SessionEnd`: the reason.
   * - `Notification`: `permission_prompt`.
   */
  matcher?: string | undefined;
  /**
   * The hook's time to answer, in milliseconds; a hook that takes longer has failed. Default 600,000; for
   * `UserPromptSubmit` 30,000. `null`: no limit.
   */
  timeoutMs?: number | null | undefined;
  /**
   * How looplet treats a hook that throws, is too late or returns a value it cannot read. `"continue"` ignores the
   * hook with a `warning` event (`hook_failed`). `"block"` denies or blocks, but never on `Stop` and `SubagentStop`.
   * Default `"continue"`.
   */
  onFailure?: "continue" | "block" | undefined;
  hooks: readonly Hook<E>[];
}

export type Hooks = { readonly [E in HookEvent]?: readonly HookGroup<E>[] | undefined };

/** The answer of a guardrail. */
export interface GuardrailResult<R> {
  allowed: boolean;
  reason?: string | undefined;
  /** Replaces the value that the guardrail looked at. */
  rewrite?: R | undefined;
}

export interface GuardrailContext {
  readonly signal: HostAbortSignal;
  readonly agentPath: string;
  readonly iteration: number;
}

type Guarded<R> = GuardrailResult<R> | PromiseLike<GuardrailResult<R>>;
type OneOrMore<T> = T | readonly T[];

/**
 * Functions that allow, rewrite or deny. A guardrail denies if it throws, is too late or returns a value that looplet
 * cannot read.
 */
export interface Guardrails {
  /** Milliseconds that each guardrail has to answer, a positive integer, or `null` for no limit. Default 600,000. */
  timeoutMs?: number | null | undefined;
  /**
   * Contract: called with the messages of each request before it is sent, and again if a summary replaces some of
   * them. A denial ends the run as `stopped` by `guardrail`. `rewrite` replaces the transcript.
   */
  input?:
    OneOrMore<(messages: readonly Message[], context: GuardrailContext) => Guarded<Message[]>> | undefined;
  /**
   * Contract: called with each answer of the model, before it counts and before its tools run. The answer's text has
   * been streamed by then. A denial takes it back with a `reset` event and ends the run as `stopped` by `guardrail`.
   * `rewrite` replaces the text.
   */
  output?: OneOrMore<(message: Message, context: GuardrailContext) => Guarded<string>> | undefined;
  /**
   * Contract: called for each call that may run, before it runs. A denial tells the model the reason. `rewrite`
   * replaces the input.
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
  /** Functions that looplet calls at certain points of a run, by event. Default: none. */
  hooks?: Hooks | undefined;
  /** Functions that allow, rewrite or deny messages, answers and tool calls. Default: none. */
  guardrails?: Guardrails | undefined;
}
