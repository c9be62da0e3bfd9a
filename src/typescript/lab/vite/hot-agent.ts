/**
 * An agent with code that may change during its runs: agents of the same module and name succeed each other, and the
 * first of them adopts the options of the others.
 */
import type { Agent } from "../../core/api/agent.js";
import type { Store } from "../../core/api/run.js";
import { describe } from "../../core/kit/check.js";
import { type AgentParts, type LiveAgent, internalsOf, type AgentInternals } from "../../core/kit/runs.js";
import { LoopletError } from "../../core/api/errors.js";
import { memoryStore } from "../../extras/stores/memory.js";
import { hotRunOf } from "./hot-run.js";

/**
 * The part of `import.meta.hot` that is needed: `data` outlives the module when a changed one takes its place.
 *
 * @beta
 */
export interface HotModule {
  readonly data: any;
}

/** The first agent of a name, and the journals of its runs if it has no store. */
interface Line {
  readonly first: Agent;
  readonly journals: Store;
}

/**
 * Continues the runs of an agent with the new code when its module changes.
 *
 * The first call for a module returns this agent. After a change of the module, the options of the new agent are
 * applied to the first one, which is returned, so that every part of the page has the same agent. Runs in progress
 * switch to the new code before their next effect.
 *
 * `hot` is `import.meta.hot`. Without it the agent is returned unchanged. `name` distinguishes several agents of one
 * module. Default: `"agent"`.
 *
 * @beta
 *
 * @throws LoopletError `misuse_invalid_argument` for a value that `createAgent` has not made
 */
export function hotAgent<A extends object>(agent: A, hot: HotModule | undefined, name = "agent"): A {
  if (hot === undefined) return agent;
  const made = internalsOf(agent);
  if (made === undefined) {
    const problem = `needs an agent that createAgent has made, got ${describe(agent)}`;
    throw new LoopletError("misuse_invalid_argument", "agent", problem);
  }
  const data = hot.data as { looplet?: { [name: string]: Line } };
  const lines = (data.looplet ??= Object.create(null) as { [name: string]: Line });
  const line = lines[name];
  if (line !== undefined) {
    renew(internalsOf(line.first)!, made, line, name);
    return line.first as A;
  }
  const { append, load } = memoryStore();
  const journals: Store = { append, load };
  lines[name] = { first: agent as unknown as Agent, journals };
  livingOf(made).renew(hotParts(made, journals));
  return agent;
}

/** Puts what another agent was made of in the place of what the first one has. */
function renew(first: AgentInternals, made: AgentInternals, { journals }: Line, name: string): void {
  const living = livingOf(first);
  // Journals, times and ids belong to the runs that there are.
  const { store, clock, now, random, ids } = living.read();
  const parts = { ...hotParts(made, journals), store, clock, now, random, ids };
  const { options, config, sets } = made;
  Object.assign(first, { options, config, sets });
  living.renew(parts);
  for (const run of living.open) hotRunOf(run).take(parts);
  const runs = living.open.size;
  const under = runs === 0 ? "" : `; runs that continue with it: ${runs}`;
  console.info(`[looplet] "${name}" has new code${under}`);
}

/**
 * The parts of an agent for runs that can continue with other code, which needs a journal. An agent without a store
 * still has none, because its methods that need one would fail in a build.
 */
function hotParts({ options, again }: AgentInternals, journals: Store): AgentParts {
  const { store = journals } = options;
  const parts = livingOf(internalsOf(again({ ...options, store }))!).read();
  return {
    ...parts,
    store: options.store && parts.store,
    journals,
    between: (run, open) => hotRunOf(run).between(open),
  };
}

function livingOf(made: AgentInternals): LiveAgent {
  return made.living as LiveAgent;
}
