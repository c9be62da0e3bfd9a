/** The options of an agent that `createAgent` has made, kept for `subagent` and `handoff`. */
import type { AgentOptions } from "../api/agent.js";

/** The property is not enumerable, so that a copy of an agent's fields is not an agent. */
const OPTIONS = Symbol.for("looplet.options");

/** Keeps the options with the agent, and returns the agent. */
export function keepOptions<A extends object>(agent: A, options: AgentOptions): A {
  return Object.defineProperty(agent, OPTIONS, { value: options });
}

/** The options of an agent; undefined for any other value. */
export function optionsOf(agent: unknown): AgentOptions | undefined {
  if (typeof agent !== "object" || agent === null) return undefined;
  return (agent as { [OPTIONS]?: AgentOptions })[OPTIONS];
}
