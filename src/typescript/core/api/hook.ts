/** Hooks and guardrails: functions that looplet calls at certain points of a run. */
import type {
  Facts,
  HookData,
  HookPoint,
  Question,
  ToolCallRecord as EngineCallRecord,
} from "../generated/model.js";
import type { Failure, OutcomeKind } from "./event.js";
import type { Message, MessageInput } from "./message.js";
import type { HostAbortSignal } from "./platform.js";
import type { ToolCallRecord } from "./result.js";

/** The place of a question in its run. */
type HookPlace = Readonly<Omit<Question, "point" | "asker" | "profile" | "data">>;

/** Facts with the calls as results have them. */
type WithCallRecords<F> = {
  readonly [K in keyof F]: F[K] extends readonly EngineCallRecord[] ? readonly ToolCallRecord[] : F[K];
};

/** The input of a hook, by event. */
export type HookInputs = {
  [E in keyof HookFacts]: { readonly event: E } & HookPlace & WithCallRecords<HookFacts[E]>;
} & {
  /** A subagent is about to start. */
  SubagentStart: { readonly agentName: string };
  /** A subagent has finished. */
  SubagentStop: { readonly agentName: string };
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
};

type HookFacts = Pick<Facts, HookPoint>;

export type HookEvent = keyof HookInputs;

/**
 * The answer of a hook. A hook that returns nothing changes nothing. looplet converts it to the engine's
 * `HookAnswer`, which has other field names and merges the answers of several hooks.
 */
export interface HookOutput extends HookData {
  /**
   * The hook's decision. When several hooks answer, deny wins over defer, defer over ask, and ask over allow.
   * - `PreToolUse`: `"allow"` (rules that deny or ask still count), `"deny"`, `"ask"` (`canUseTool` or a `question`
   *   event decides), or `"defer"` (the call waits for `run.answer`, and `canUseTool` is not called).
   * - `PermissionRequest`: `"allow"` or `"deny"`; `canUseTool` is then not called.
   * - `UserPromptSubmit`: `"block"` rejects the prompt; a run that begins with it is `stopped` by `hook`.
   * - `PreCompact`: `"block"` keeps the history as it is; a request that is too long for the vendor then fails.
   * - `Stop`, `SubagentStop`: `"block"` makes the model continue.
   * - `PostToolUse`, `PostToolUseFailure`, `PostToolBatch`: `"block"` adds the reason to the result that the model
   * receives.
   */
  decision?: "allow" | "deny" | "ask" | "defer" | "block" | undefined;
  /**
   * Text for the model, added to the prompt or to the tool results of this round. From a `Stop` hook it also makes
   * the model continue.
   */
  additionalContext?: string | undefined;
  /** `false` ends the run as `stopped` by `hook`; finished work stays. Default true. */
  continue?: boolean | undefined;
  /** The reason for `continue: false`; becomes `result.abortReason`. */
  stopReason?: string | undefined;
  /** `PostToolUse`: context for `classifyTool` about the calls that follow. */
  classifierContext?: string | undefined;
}

/**
 * Contract: called at its point of a run, which waits for the answer. All hooks of a point are called at the same
 * time. `signal` fires when the answer no longer matters.
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
   * The timeout of the hook in milliseconds. A hook that takes longer fails. Default 600,000; for
   * `UserPromptSubmit` 30,000. `null`: no limit.
   */
  timeoutMs?: number | null | undefined;
  /**
   * What happens if a hook throws, times out or returns an invalid value. `"continue"` ignores the
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
  /** Replaces the value that the guardrail checked. */
  rewrite?: R | undefined;
}

export interface GuardrailContext extends Pick<HookPlace, "agentPath" | "iteration"> {
  readonly signal: HostAbortSignal;
}

type Guarded<R> = GuardrailResult<R> | PromiseLike<GuardrailResult<R>>;
type OneOrMore<T> = T | readonly T[];

/**
 * Functions that allow, rewrite or deny. A guardrail denies if it throws, times out or returns an invalid value.
 */
export interface Guardrails {
  /** Milliseconds that each guardrail has to answer, a positive integer, or `null` for no limit. Default 600,000. */
  timeoutMs?: number | null | undefined;
  /**
   * When `input` is called: once for each prompt, steer and follow-up, or before each request and again if a summary
   * replaces some of its messages. Default `"prompt"`.
   */
  each?: "prompt" | "request" | undefined;
  /**
   * Contract: called with all messages before they are sent, as often as `each` says. A denial ends the run as
   * `stopped` by `guardrail`. `rewrite` replaces the transcript.
   */
  input?:
    | OneOrMore<(messages: readonly Message[], context: GuardrailContext) => Guarded<MessageInput[]>>
    | undefined;
  /**
   * Contract: called with each answer of the model, before it is added to the transcript and before its tools run.
   * Its text has already been streamed. A denial emits a `reset` event for it and ends the run as `stopped` by
   * `guardrail`. `rewrite` replaces the text.
   */
  output?: OneOrMore<(message: Message, context: GuardrailContext) => Guarded<string>> | undefined;
  /**
   * Contract: called for each call that may run, before it runs. If it denies, the model receives the reason.
   * `rewrite` replaces the input.
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
