/** What a run gets from the agent that starts it. */
import type {
  AgentOptions,
  Clock,
  DurableOptions,
  PermissionOptions,
  ProfileOptions,
  Recorder,
  Store,
  TraceOptions,
  Tracer,
} from "../api/index.js";
import type { OpenRun } from "../host/engine.js";
import type { sessionEndCaller } from "../hooks/hooks.js";
import type { HostFunction } from "../hooks/host-functions.js";
import type { ModelList } from "../models/model-list.js";
import type { FinishingOptions } from "../options/finishing.js";
import type { RuledTools } from "../options/permissions.js";
import type { ToolRunOptions } from "../tools/tool-calls.js";
import type { ToolSet } from "../tools/tool.js";
import type { EngineRun } from "./run.js";

/** The parts of an agent's next run, in whose place others may be put, and the runs under way. */
export interface LiveAgent {
  readonly read: () => AgentParts;
  readonly renew: (parts: AgentParts) => void;
  readonly open: ReadonlySet<EngineRun>;
}

/** The parts that all runs of an agent share. */
export interface AgentParts {
  readonly models: ModelList;
  /** Options that win over the model's. */
  readonly asked: { readonly maxOutputTokens?: number };
  readonly tools: ToolSet;
  /** The tools of this agent and of the other agents, by profile. */
  readonly sets: readonly ToolSet[];
  /** The engine's configuration as JSON. Runs of agents with the same text share one set-up. */
  readonly config: () => string;
  readonly clock: Clock;
  /** The clock's own `now`, if the options have a clock. */
  readonly now: (() => number) | undefined;
  readonly random: () => number;
  readonly ids: () => string;
  readonly permissions: PermissionOptions;
  readonly ruledTools: RuledTools;
  /** The options of each agent, in the order of `sets`. */
  readonly profiles: readonly ProfileOptions[];
  /** The names of the agents that may speak, by profile; undefined for a subagent. */
  readonly speakers: readonly (string | undefined)[];
  readonly finishing: FinishingOptions;
  readonly toolRun: ToolRunOptions;
  readonly tracing: TraceOptions & Pick<AgentOptions, "model">;
  /** Your functions, in the engine's order. */
  readonly functions: readonly HostFunction[];
  /** Hooks that the run does not wait for. */
  readonly failureTracers: readonly Tracer[];
  readonly endSession: ReturnType<typeof sessionEndCaller>;
  readonly store: Store | undefined;
  readonly durable: DurableOptions;
  readonly record: Recorder | undefined;
  /** The journals of runs, where they are not in the store. */
  readonly journals?: Store | undefined;
  /** Sits between a run and the engine. Default: nothing does. */
  readonly between?: (run: EngineRun, open: OpenRun) => OpenRun;
}
