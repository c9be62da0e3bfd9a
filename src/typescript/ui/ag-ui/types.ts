/**
 * The part of AG-UI 1.0 that looplet uses: the shapes of `@ag-ui/core` 1.0.0 (`dist/schemas.mjs`), declared here so
 * that a server needs no AG-UI package. The tests check every event against the schemas of that package.
 */

/** The version that `RUN_STARTED` declares: `PROTOCOL_VERSION` of `@ag-ui/core` 1.0.0. */
export const PROTOCOL_VERSION = "1.0";

/** A request to run an agent, which a page posts. */
export interface AgUiInput {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly protocolVersion?: string | undefined;
  /** The conversation as the page has it. */
  readonly messages: readonly AgUiMessage[];
  /** The tools that the page runs. */
  readonly tools?: readonly AgUiTool[] | undefined;
  readonly context?: readonly { readonly description: string; readonly value: string }[] | undefined;
  readonly state?: unknown;
  readonly forwardedProps?: unknown;
  readonly resume?: readonly AgUiResume[] | undefined;
}

export interface AgUiTool {
  readonly name: string;
  /** Without one, or with an empty one, the tool is offered by its name. */
  readonly description?: string | null | undefined;
  /** The JSON Schema of the arguments. */
  readonly parameters?: unknown;
}

/** The answer to an interrupt. */
export interface AgUiResume {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
}

export interface AgUiMessage {
  readonly id: string;
  readonly role: "developer" | "system" | "assistant" | "user" | "tool" | "activity" | "reasoning";
  readonly content?: unknown;
  readonly toolCalls?: readonly AgUiToolCall[] | undefined;
  readonly toolCallId?: string | undefined;
  readonly error?: string | undefined;
  readonly subagentRunId?: string | undefined;
}

export interface AgUiToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface AgUiInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly responseSchema?: { readonly [key: string]: unknown } | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  readonly subagentRunId?: string | undefined;
}

/** The tokens of one model. Each count is a total or a part of one. */
export interface AgUiUsage {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteInputTokens: number;
}

export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** An event that looplet sends, or one of your own (`STATE_SNAPSHOT`, `CUSTOM`). */
export type AgUiEvent = AgUiSent | AgUiOwn;

/** An event that looplet makes of the events of a run. */
export type AgUiSent = Attributed &
  (
    | { type: "RUN_STARTED"; threadId: string; runId: string; protocolVersion: string; parentRunId?: string }
    | {
        type: "RUN_FINISHED";
        threadId: string;
        runId: string;
        /** Absent for a client from before 1.0, if the run was cancelled. */
        outcome?: AgUiOutcome;
        result?: unknown;
        usage?: AgUiUsage[];
      }
    | { type: "RUN_ERROR"; message: string; code?: string; usage?: AgUiUsage[] }
    | { type: "STEP_STARTED" | "STEP_FINISHED"; stepName: string }
    | { type: "TEXT_MESSAGE_START"; messageId: string; role: "assistant" }
    | { type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT"; messageId: string; delta: string }
    | { type: "TEXT_MESSAGE_END"; messageId: string }
    | { type: "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END"; messageId: string }
    | { type: "REASONING_MESSAGE_START"; messageId: string; role: "reasoning" }
    | { type: "TOOL_CALL_START"; toolCallId: string; toolCallName: string; parentMessageId: string }
    | { type: "TOOL_CALL_ARGS"; toolCallId: string; delta: string }
    | { type: "TOOL_CALL_END"; toolCallId: string }
    | { type: "TOOL_CALL_RESULT"; messageId: string; toolCallId: string; content: unknown; role: "tool" }
    | { type: "MESSAGES_SNAPSHOT"; messages: AgUiMessage[] }
    | { type: "ACTIVITY_SNAPSHOT"; messageId: string; activityType: string; content: object }
    | {
        type: "SUBAGENT_STARTED";
        name: string;
        parentSubagentRunId?: string;
        parentToolCallId: string;
      }
    | {
        type: "SUBAGENT_FINISHED";
        outcome: { type: "success" } | { type: "suspended"; interruptIds: string[] };
      }
    | { type: "SUBAGENT_ERROR"; message: string; code?: string }
    | { type: "RAW"; source: "looplet"; event: unknown }
  );

interface Attributed {
  /** The subagent that the event belongs to; absent for the run's own agent. */
  subagentRunId?: string;
}

/** An event of your own. */
export type AgUiOwn =
  | { type: "STATE_SNAPSHOT"; snapshot: unknown }
  | { type: "STATE_DELTA"; delta: readonly object[] }
  | { type: "CUSTOM"; name: string; value: unknown };
