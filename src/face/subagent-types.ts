/** Agents as tools of an agent: `subagent()` and `handoff()`. */
import type { Message } from "./message.js";
import type { Model } from "./model-types.js";
import type { RepeatOptions, StopCondition } from "./stop-types.js";
import type { Timeouts, ToolExecution, ToolOptions, Tools } from "./types.js";

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
 * An agent that answers a tool call. It sees only the prompt that it is called with, and only its last text comes back.
 * What is not said here (retries, times but `totalMs`, scheduling) is as in the run; permissions, hooks and budgets are
 * the run's.
 */
export interface SubagentOptions extends AgentToolOptions {
  /** Model calls of one call of it, a positive integer. Default 50. This and every other limit of its own stops only it: the text so far comes back with a note. */
  maxIterations?: number | undefined;
  /** Input plus output tokens of it and of those below it, a positive integer. Default: none but the run's. */
  maxTotalTokens?: number | undefined;
  /** What it and those below it may cost, in US dollars. Default: none but the run's. */
  maxUsd?: number | undefined;
  /** Its answers with tool calls, a positive integer. Default: none. */
  maxToolRounds?: number | undefined;
  /** Its tool calls, a positive integer. Default: none. */
  maxToolCalls?: number | undefined;
  /** In milliseconds; `totalMs` is the time of one call of it. Default: the run's, without its `totalMs`. */
  timeouts?: Timeouts | undefined;
  /** Any of these ends it when a round of its tools is over. Default: none. */
  stopWhen?: StopCondition | readonly StopCondition[] | undefined;
  /** What is done about repetition; `false` does nothing. Default: the run's. */
  repeat?: RepeatOptions | false | undefined;
  /** Default: the run's. */
  toolExecution?: ToolExecution | undefined;
  /** Default: the run's. */
  maxToolConcurrency?: number | undefined;
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
