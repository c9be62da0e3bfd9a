/** Agents as tools of an agent: `subagent()` and `handoff()`. */
import type { Message } from "./message.js";
import type { Model } from "./model.js";
import type { AgentOptions, ToolOptions, Tools } from "./index.js";

/** What `subagent()` and `handoff()` have in common. */
interface AgentToolOptions {
  /** The name that the model uses. Needed in an array; in a record the key counts. */
  name?: string | undefined;
  /** What the agent can do and when to ask it, for the model that calls it. Required. */
  description: string;
  /** Its system prompt. Default: none. */
  system?: string | undefined;
  /** Its model. Default: the one that its caller asks when it calls. */
  model?: Model | undefined;
  /** Its tools; none of its caller's. Default: none. */
  tools?: Tools | undefined;
  /** Tokens of one answer, a positive integer. Default: the model's. */
  maxOutputTokens?: number | undefined;
  /** As of a tool: the host approves a call before the agent begins. Default false. */
  needsApproval?: ToolOptions["needsApproval"];
  /** As of a tool: how often one agent may call it, a positive integer. Default: any number. */
  maxCalls?: number | undefined;
}

/**
 * What a subagent has of its own as the run's agent has: see there. Its limits count one call of it, tokens and money
 * also of those below it, and stop only it; `timeouts.totalMs` is the time of one call.
 */
export type ProfileOptions = Pick<
  AgentOptions<any>,
  | "maxIterations"
  | "maxTotalTokens"
  | "maxUsd"
  | "maxToolRounds"
  | "maxToolCalls"
  | "timeouts"
  | "retry"
  | "fallbackModels"
  | "stopWhen"
  | "repeat"
  | "onRepeat"
  | "output"
  | "maxStructuredOutputRetries"
  | "contextWindow"
  | "contextBudget"
  | "compaction"
  | "historyCompaction"
  | "toolExecution"
  | "maxToolConcurrency"
  | "onMaxTokens"
  | "strictStopReason"
  | "maxToolResultChars"
  | "eagerTools"
>;

/**
 * An agent that answers a tool call. It sees only the prompt that it is called with, and only its last text comes back,
 * or with `output` its validated JSON. Defaults: limits, `output`, `stopWhen` and `onRepeat` as of an agent, `fallbackModels`
 * the run's if it asks its caller's model, `timeouts` the run's without `totalMs`, all else the run's. Permissions, hooks,
 * guardrails and budgets are the run's.
 */
export interface SubagentOptions extends AgentToolOptions, ProfileOptions {
  /**
   * It remembers its earlier calls: each goes on where the last one ended, one at a time. Within a chat also from run to
   * run, else if a run is given `result.subagents` of the one before. Default false.
   */
  persistent?: boolean | undefined;
  /** Nothing that it does changes anything: it may run beside read-only calls, and in the mode `plan`. Default false; agents always run beside each other. */
  readOnly?: boolean | undefined;
}

/** What a persistent subagent remembers. */
export interface SubagentMemory {
  /** Of its first call: `"root/researcher"`. */
  agentPath: string;
  /** Its conversation, legal to send again. */
  messages: Message[];
}

/**
 * An agent that takes the conversation over: the whole transcript goes on with its system prompt, its tools and its
 * model, under the limits of the agent before it. The next run of the same agent begins with the first one again.
 */
export interface HandoffOptions extends AgentToolOptions {
  /** It has a tool `hand_back`, which returns the conversation to the agent before it. Default false. */
  handBack?: boolean | undefined;
}
