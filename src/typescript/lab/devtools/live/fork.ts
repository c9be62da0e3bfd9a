/** Forks: an agent with changed options continues from a journal. */
import { LoopletError } from "../../../core/api/errors.js";
import type {
  Agent,
  AgentOptions,
  JournalEntry,
  Model,
  Recorder,
  Run,
  Tools,
} from "../../../core/api/index.js";
import { type LiveAgent, internalsOf } from "../../../core/kit/runs.js";
import { modelParts, sealModel } from "../../../core/kit/models.js";
import type { ForkChanges, OfferedAgent } from "./protocol.js";

/** What devtools show of an agent before they continue a run with it. */
export function offered(name: string, agent: Agent): OfferedAgent {
  const { model, system, tools } = internalsOf(agent)!.options;
  return { name, model: model.model, system: system ?? "", tools: namesOf(tools) };
}

/**
 * The run of an agent with changed options that continues from a journal.
 *
 * @throws LoopletError `config_…` for options that do not fit
 */
export function forked(
  agent: Agent,
  journal: readonly JournalEntry[],
  changes: ForkChanges,
  record: Recorder,
): Run {
  const { options, again } = internalsOf(agent)!;
  const { told } = changes;
  // A fork is another run: it must not write into the log of the first one.
  const { store: _, ...own } = options;
  const run = again({ ...own, ...changed(options, changes), record }).resume(journal);
  if (told !== undefined && told !== "") run.steer(told);
  return run;
}

/** The current run with this id in one of the agents, or undefined. */
export function runUnderWay(agents: Iterable<Agent>, id: string): Run | undefined {
  for (const agent of agents)
    for (const run of (internalsOf(agent)!.living as LiveAgent).open) if (run.id === id) return run;
  return undefined;
}

function changed(options: AgentOptions, changes: ForkChanges): Partial<AgentOptions> {
  const { model, system, without = [], options: more = {} } = changes;
  return {
    ...(system !== undefined && { system }),
    ...(model !== undefined && { model: renamed(options.model, model) }),
    ...(without.length > 0 && { tools: withoutTools(options.tools, without) }),
    ...(more as Partial<AgentOptions>),
  };
}

/** The model of another name, at the same vendor with the same options. */
function renamed(model: Model, name: string): Model {
  if (name === model.model) return model;
  if (model.vendor === "custom")
    throw new LoopletError(
      "config_invalid_value",
      "model",
      "the name of a model that your own code answers cannot change",
    );
  const parts = modelParts(model)!;
  return sealModel({ ...parts, config: { ...parts.config, model: name } });
}

function withoutTools(tools: Tools | undefined, without: readonly string[]): Tools | undefined {
  if (tools === undefined) return undefined;
  if (Array.isArray(tools)) return tools.filter(({ name }) => !without.includes(name as string)) as Tools;
  return Object.fromEntries(Object.entries(tools).filter(([name]) => !without.includes(name))) as Tools;
}

function namesOf(tools: Tools | undefined): string[] {
  if (tools === undefined) return [];
  return Array.isArray(tools) ? tools.map(({ name }) => name as string) : Object.keys(tools);
}
