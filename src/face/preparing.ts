/** The functions around iterations, made what the engine asks. Decides nothing. */
import { checkOptions, describe, isObject } from "./check.js";
import type { FinishOptions } from "./finish-types.js";
import type { HostFunction } from "./host-functions.js";
import { checkToolChoice } from "./model-options.js";
import type { OptionTable } from "./options.js";
import type {
  EndedIteration,
  IterationOptions,
  IterationToPrepare,
  LimitReached,
  PreparedIteration,
  RaisedLimits,
} from "./preparing-types.js";
import type { HookAnswer } from "./question.js";

const timeoutMs = 600_000;
const PREPARED_TABLE: OptionTable = {
  model: "any",
  tools: "texts",
  toolChoice: "any",
  system: "string",
  messages: "any",
};
const RAISED_TABLE: OptionTable = {
  maxIterations: "count",
  maxTotalTokens: "count",
  maxUsd: "number",
  maxToolRounds: "count",
  maxToolCalls: "count",
};

/** @throws LoopletError `config_…` */
export function iterationFunctions(options: IterationOptions & FinishOptions): HostFunction[] {
  const { prepareIteration, onIterationEnd, onLimit } = options;
  const functions: HostFunction[] = [];
  if (prepareIteration !== undefined) {
    functions.push({
      config: { event: "PrepareIteration", timeoutMs },
      ask: async ({ agentPath, iteration, model, messages }, { signal, takeModel }) => {
        const asked: IterationToPrepare = { agentPath, iteration: iteration + 1, model, messages, signal };
        const said = record(await prepareIteration(asked), PREPARED_TABLE) as PreparedIteration | undefined;
        if (said === undefined) return {};
        if (said.toolChoice !== undefined) checkToolChoice(said.toolChoice);
        const { messages: others, model: other, ...rest } = said;
        const prepared = {
          ...rest,
          ...(other === undefined ? {} : { model: await takeModel(other, "prepareIteration.model") }),
        };
        return { prepared, messages: others } satisfies HookAnswer;
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
        const { maxUsd, ...limits } = raised as RaisedLimits;
        const maxCostNanoUsd = maxUsd === undefined ? undefined : Math.round(maxUsd * 1e9);
        return { limits: { ...limits, maxCostNanoUsd } };
      },
    });
  }
  return functions;
}

/** What a function has returned, if anything. */
function record(said: unknown, table: OptionTable): object | undefined {
  if (said === undefined || said === null) return undefined;
  if (!isObject(said)) throw new TypeError(`it returned ${describe(said)} where an object belongs`);
  checkOptions(said, "", table);
  return said;
}
