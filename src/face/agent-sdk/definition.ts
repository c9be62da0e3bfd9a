/** The agents that the tool Agent asks, as a program defines them. */
import type { Options } from "./option-types.js";

/** An agent that the tool Agent asks. It sees only the prompt of its call, and its last text is the result. */
export interface AgentDefinition {
  /** Tells the model when to ask it. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The names of its tools. Default: those of the query, without Agent. */
  readonly tools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** The name of a model, or `"inherit"`. Default: the model of the query's options. */
  readonly model?: string | undefined;
  /** The most rounds of tool calls. Default: no limit. */
  readonly maxTurns?: number | undefined;
  /** Default: that of the query. */
  readonly effort?: Options["effort"];
}
