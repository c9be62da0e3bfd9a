/** The types of `agentLoop`, in the words of Sprout. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { AgentOptions, Model, RunErrorCode, RunResult } from "../../core/api/index.js";
import type { ApiBlock } from "../anthropic.js";
import type { Host } from "../host.js";

/** A tool as the Messages API has it, with the function that runs it. Only the first three fields are sent. */
export interface SproutTool {
  name: string;
  description: string;
  /** A JSON Schema. The model sees it; the input is not checked against it. */
  input_schema: object;
  /** Contract: returns a string, or a value that becomes JSON. If it throws, the error goes to the model. */
  execute(input: any, context: SproutToolContext): unknown;
}

/** The second argument of a tool. */
export interface SproutToolContext {
  /**
   * Sends an event of the tool's own while it runs, such as `node_created`: to `callbacks.onToolEvent`, and into the
   * stream of `toEventStream`. `data` is any value that JSON can hold.
   *
   * @throws TypeError for a name that is not letters, digits, `_`, `.` and `-`, or that the loop itself sends
   */
  send(event: string, data: unknown): void;
  /** The id of the call. */
  readonly toolCallId: string;
  /** Fires when the loop is aborted. */
  readonly signal: HostAbortSignal;
}

/** One call of a tool. */
export interface SproutToolCall {
  name: string;
  input: any;
  /** The text that the model has read. */
  result: string;
}

/** A message of the Messages API. The first one of a result's history is the system prompt. */
export interface SproutMessage {
  role: "system" | "user" | "assistant";
  content: string | ApiBlock[];
}

/** Contract: an error that a callback throws goes to `console.error`, and the loop continues. */
export interface SproutCallbacks {
  /** Called with each text block of an answer that is not blank, before the answer's tools run. */
  onThinking?: ((text: string) => void) | undefined;
  /** Called before each call runs. */
  onToolCall?: ((tool: string, input: any) => void) | undefined;
  /** Called after each call, with the text that the model reads. */
  onToolResult?: ((tool: string, result: string) => void) | undefined;
  /** Called with each event that a tool sends while it runs. */
  onToolEvent?: ((event: string, data: unknown) => void) | undefined;
}

/** Options of `agentLoop`. Any option of `createAgent` may be set too, and overrides the preset `sprout`. */
export interface AgentLoopOptions extends Omit<AgentOptions, "model" | "tools" | "system"> {
  /** Sent with every request, in the field `system`. */
  systemPrompt: string;
  /** The user's message. Required, unless `conversationHistory` ends with one. */
  userMessage?: string | undefined;
  /** The same as `userMessage`. */
  initialMessage?: string | undefined;
  /** Earlier messages: texts, or the `conversationHistory` of an earlier result. Default: none. */
  conversationHistory?: readonly SproutMessage[] | undefined;
  /** May be empty. */
  tools: readonly SproutTool[];
  /** Model calls, each with the tools that it asks for; `limits.maxIterations` by Sprout's name. Default 15. */
  maxIterations?: number | undefined;
  /** A model, or a name that is passed to `host.model`. Default `claude-opus-4-20250514`. */
  model?: string | Model | undefined;
  callbacks?: SproutCallbacks | undefined;
  /** Ends the loop, which resolves with what there is. */
  signal?: HostAbortSignal | undefined;
  /** The models for names, the key, and replacements for tests. */
  host?: Host | undefined;
}

/** What `agentLoop` resolves with. */
export interface AgentLoopResult {
  /** The text blocks of the last answer, with an empty line between them, or an empty text. */
  finalText: string;
  /** Every call in the order of execution. */
  toolCalls: SproutToolCall[];
  /** The system prompt, then every message. */
  conversationHistory: SproutMessage[];
  /** The result of looplet's run, with usage and durations. It is not enumerable. */
  readonly run: RunResult;
}

/** The reason for an {@link AgentLoopError}: a failed model call, or an option that you set to `"throw"`. */
export type AgentLoopErrorCode = RunErrorCode | (string & {});
