/** The agents of a run besides its own, each with its index in the engine's list of configurations. */
import type { AgentOptions, ProfileOptions, Tool } from "../api/index.js";
import type { Config } from "../generated/input.js";
import type { ModelList } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import type { KnownTool, ToolSet } from "../tools/tool.js";

/**
 * The key under which a tool's options hold its agent. The property is not enumerable, so that the options stay
 * plain.
 */
export const AGENT = Symbol.for("looplet.agent");

/** The agents found so far. */
export interface AgentList {
  readonly options: AgentOptions;
  readonly models: ModelList;
  /** The engine configuration of the run's own agent, which other agents inherit. */
  readonly root: Config;
  /** The tools of each agent, beginning with the run's own. */
  readonly sets: ToolSet[];
  /** The options of each agent, in the order of `sets`. A handoff has the options of the agent before it. */
  readonly profiles: ProfileOptions[];
  /** The names of the agents that may speak to the user, in the order of `sets`; undefined for a subagent. */
  readonly speakers: (string | undefined)[];
  /** The engine's configurations, from the second agent on. */
  readonly configs: Config[];
}

/** The agent whose tools are searched. */
export interface Caller {
  readonly model: ModelConfig;
  readonly profile: number;
  /** Its name among the speakers; undefined for a subagent. */
  readonly speaker: string | undefined;
  /** The path of its tools in the options. */
  readonly field: string;
  /** The levels of subagents above its tools. `level` also counts handoffs. */
  readonly depth: number;
  readonly level: number;
}

/** Adds the agent of one tool to the list. */
export type TakeIn = (list: AgentList, caller: Caller, known: KnownTool) => void;

/** Adds every agent among these tools, and the agents below them. */
export function addAgents(list: AgentList, caller: Caller, tools: ToolSet): void {
  for (const known of tools.values()) {
    (known.defined as Tool & { [AGENT]?: TakeIn })[AGENT]?.(list, caller, known);
  }
}
