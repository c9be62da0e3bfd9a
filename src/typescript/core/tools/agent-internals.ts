/** What `createAgent` attaches to an agent for `subagent`, `handoff` and the other wings. */
import type { Agent, AgentOptions } from "../api/agent.js";
import type { ToolSet } from "./tool.js";

/** The property is not enumerable, so that a copy of an agent's fields is not an agent. */
const MADE = Symbol.for("looplet.made");

/** An agent's options, and what was made of them. Those of another agent may take their place. */
export interface AgentInternals {
  options: AgentOptions;
  /** Writes the JSON of the engine's configuration. */
  config: () => string;
  /** The tools of the agent and of those behind its tools, by the index of their profile. */
  sets: readonly ToolSet[];
  /** Makes an agent with other options, on the same engine. */
  readonly again: (options: AgentOptions) => Agent;
  /** The `LiveAgent` of `run/`: the parts of the agent's next run, and its runs under way. */
  readonly living: object;
}

/** Attaches the internals to the agent, and returns the agent. */
export function attachInternals<A extends object>(agent: A, made: AgentInternals): A {
  return Object.defineProperty(agent, MADE, { __proto__: null, value: made } as PropertyDescriptor);
}

/** The internals of an agent; undefined for any other value. */
export function internalsOf(agent: unknown): AgentInternals | undefined {
  if (typeof agent !== "object" || agent === null) return undefined;
  return (agent as { [MADE]?: AgentInternals })[MADE];
}
