/** What `createAgent` has made of an agent's options, kept for `subagent`, `handoff` and `looplet/testing`. */
import type { AgentOptions } from "../api/agent.js";

/** The property is not enumerable, so that a copy of an agent's fields is not an agent. */
const OPTIONS = Symbol.for("looplet.options");
const CONFIG = Symbol.for("looplet.config");

/** Keeps the options and the writer of the configuration with the agent, and returns the agent. */
export function keepOptions<A extends object>(agent: A, options: AgentOptions, config: () => string): A {
  return Object.defineProperties(agent, { [OPTIONS]: { value: options }, [CONFIG]: { value: config } });
}

/** The JSON of the agent's configuration; undefined for any other value. */
export function configOf(agent: unknown): string | undefined {
  return (agent as { [CONFIG]?: () => string } | null | undefined)?.[CONFIG]?.();
}

/** The options of an agent; undefined for any other value. */
export function optionsOf(agent: unknown): AgentOptions | undefined {
  if (typeof agent !== "object" || agent === null) return undefined;
  return (agent as { [OPTIONS]?: AgentOptions })[OPTIONS];
}
