/** Turns the functions around iterations into functions that the engine asks. It decides nothing. */
import { LoopletError } from "../api/errors.js";
import type {
  AddedBudget,
  EndedIteration,
  IterationOptions,
  IterationToPrepare,
  LimitReached,
  PreparedIteration,
  RaisedLimits,
} from "../api/iteration.js";
import type { AgentOptions } from "../api/agent.js";
import type { Raise } from "../generated/input.js";
import type { HookAnswer } from "../host/question.js";
import { checkOptions, describe, isObject, joined } from "../options/check.js";
import { withTextBlocks } from "../options/messages.js";
import { nanoUsd } from "../options/money.js";
import { ADDED_TABLE, PREPARED_TABLE, RAISED_TABLE } from "../options/options.js";
import type { OptionTable } from "../option-table.js";
import type { HostFunction } from "./host-functions.js";

const timeoutMs = 600_000;

/** @throws LoopletError `config_…` */
export function iterationFunctions(options: IterationOptions & Pick<AgentOptions, "limits">): HostFunction[] {
  const { prepareIteration, onIterationEnd, limits } = options;
  const { onLimit } = joined(limits);
  const functions: HostFunction[] = [];
  if (prepareIteration !== undefined) {
    functions.push({
      config: { event: "PrepareIteration", timeoutMs },
      ask: async ({ agentPath, iteration, model, messages }, { signal, takeModel }) => {
        const asked: IterationToPrepare = { agentPath, iteration: iteration + 1, model, messages, signal };
        const said = record(await prepareIteration(asked), PREPARED_TABLE) as PreparedIteration | undefined;
        if (said === undefined) return {};
        const { messages: others, model: other, ...rest } = said;
        const prepared = {
          ...rest,
          ...(other === undefined ? {} : { model: await takeModel(other, "prepareIteration.model") }),
        };
        return { prepared, messages: withTextBlocks(others) } satisfies HookAnswer;
      },
    });
  }
  if (onIterationEnd !== undefined) {
    functions.push({
      config: { event: "IterationEnd", timeoutMs },
      ask: async ({ event: _, ...ended }, { signal }) => {
        await onIterationEnd({ ...ended, signal } as EndedIteration);
        return {};
      },
    });
  }
  if (typeof onLimit === "function") {
    functions.push({
      config: { event: "Limit", timeoutMs },
      ask: async ({ event: _, ...reached }, { signal }) => {
        const raised = record(await onLimit({ ...reached, signal } as LimitReached), RAISED_TABLE);
        if (raised === undefined) return {};
        return { limits: inNano("onLimit", raised) };
      },
    });
  }
  return functions;
}

/**
 * The checked argument of `run.addBudget`, for the engine.
 *
 * @throws LoopletError `config_…`
 */
export function addedBudget(budget: AddedBudget): { agentPath: string; more: Raise } {
  const { agentPath = "root", ...more } = checkOptions(budget, "budget", ADDED_TABLE);
  return { agentPath, more: inNano("budget", joined(more)) };
}

function inNano(where: string, { maxUsd, ...limits }: RaisedLimits): Raise {
  if (maxUsd !== undefined && maxUsd < 0)
    throw new LoopletError("config_invalid_value", `${where}.maxUsd`, `needs to be more, got ${maxUsd}`);
  return { ...limits, maxCostNanoUsd: nanoUsd(maxUsd) };
}

/** The object that a function has returned, if it returned one. */
function record(said: unknown, table: OptionTable): object | undefined {
  if (said === undefined || said === null) return undefined;
  if (!isObject(said)) throw new TypeError(`it must return an object, got ${describe(said)}`);
  return checkOptions(said, "", table);
}
