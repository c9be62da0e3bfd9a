/** The agents of a run besides its own, each with its place in the engine's list of configurations. */
import type { AgentOptions, ProfileOptions, Tool } from "../api/index.js";
import type { ModelList } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import type { KnownTool, ToolSet } from "../tools/tool.js";
import type { EngineConfig } from "./profile.js";

/** What is under it in a tool makes an agent of it; not enumerable, so that a tool's options stay plain. */
export const AGENT = Symbol.for("looplet.agent");

/** The agents as they are found. */
export interface AgentList {
  readonly options: AgentOptions;
  readonly models: ModelList;
  /** The run's own engine configuration: what agents inherit. */
  readonly root: EngineConfig;
  /** The tools of each agent; the first are the run's own. */
  readonly sets: ToolSet[];
  /** The options of each agent, in the same order; of one that takes over those of the agent before. */
  readonly profiles: ProfileOptions[];
  /** The engine's configurations, from the second agent on. */
  readonly configs: EngineConfig[];
}

/** Whose tools are looked at. */
export interface Caller {
  readonly model: ModelConfig;
  readonly profile: number;
  /** Where its tools stand in the options. */
  readonly field: string;
  /** Levels of subagents above its tools, and of agents of any kind. */
  readonly depth: number;
  readonly level: number;
}

/** Takes an agent in that a tool is. */
export type TakeIn = (list: AgentList, caller: Caller, known: KnownTool) => void;

/** Takes in what agents there are among these tools, and below them. */
export function addAgents(list: AgentList, caller: Caller, tools: ToolSet): void {
  for (const known of tools.values()) {
    (known.options as Tool & { [AGENT]?: TakeIn })[AGENT]?.(list, caller, known);
  }
}
