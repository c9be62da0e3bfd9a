/** The configuration of each agent of a run: the root agent and its subagents. */
import type { ProfileOptions } from "../api/agent.js";
import type { Config } from "../generated/input.js";
import { LoopletError } from "../api/errors.js";
import {
  AGENT_ANSWERS,
  AGENT_LIMITS,
  AGENT_OPTIONS,
  AGENT_TOOL_CALLS,
  RETRYABLE,
} from "../generated/tables.js";
import type { ModelList } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import { at, checkChoice, describe, joined, withFieldPrefix } from "../options/check.js";
import { contextConfig } from "../options/context.js";
import { nanoUsd } from "../options/money.js";
import { given, group } from "../options/options.js";
import { stopConfig } from "../options/stopping.js";
import { outputConfig } from "../tools/structured-output.js";
import type { ToolSet } from "../tools/tool.js";

/**
 * The engine's part of the options. `field` is the path of these options, empty for the run's own.
 *
 * @throws LoopletError `config_…`
 */
export function profileConfig(options: ProfileOptions, field: string, tools: ToolSet): Config {
  return field === "" ? config(options, tools) : withFieldPrefix(field, () => config(options, tools));
}

function config(options: ProfileOptions, tools: ToolSet): Config {
  const { retry, limits } = options;
  const { maxUsd } = joined(limits);
  const { on = [], baseMs, maxMs } = joined(retry);
  for (const [index, code] of on.entries()) checkChoice(code, `retry.on[${index}]`, RETRYABLE);
  if (baseMs !== undefined && maxMs !== undefined && maxMs < baseMs) {
    const problem = `needs at least retry.baseMs (${baseMs}), the shortest wait, got ${maxMs}`;
    throw new LoopletError("config_invalid_value", "retry.maxMs", problem);
  }
  // A limit of 0 leaves a run nothing to spend, so it is a mistake.
  if (maxUsd !== undefined && maxUsd <= 0)
    throw new LoopletError("config_invalid_value", "limits.maxUsd", `must be more than 0, got ${maxUsd}`);
  return joined({
    limits: group({ ...given(limits, AGENT_LIMITS), maxCostNanoUsd: nanoUsd(maxUsd) }),
    answers: group(given(options.answers, AGENT_ANSWERS)),
    toolCalls: group(given(options.toolCalls, AGENT_TOOL_CALLS)),
    ...given(options, AGENT_OPTIONS),
    ...stopConfig(limits, tools),
    context: contextConfig(options.context),
    output: outputConfig(options.output),
  });
}

/**
 * The fallback models of an agent.
 *
 * @throws LoopletError `config_…`
 */
export function fallbackConfig(
  { fallbackModels = [] }: ProfileOptions,
  field: string,
  models: ModelList,
  tools: ToolSet,
): ModelConfig[] | undefined {
  const place = at(field, "fallbackModels");
  if (!Array.isArray(fallbackModels)) {
    throw new LoopletError(
      "config_wrong_type",
      place,
      `needs an array of models, got ${describe(fallbackModels)}`,
    );
  }
  const added = fallbackModels.map((model, index) => models.add(model, `${place}[${index}]`, tools));
  return added.length === 0 ? undefined : added;
}
