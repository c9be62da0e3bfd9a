/** The configuration that each agent of a run has of its own: the agent that is started, and its subagents. */
import type { ProfileOptions, RetryPolicy } from "../api/agent.js";
import { LoopletError } from "../api/errors.js";
import type { FailureCode } from "../api/index.js";
import type { ModelList } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import { at, checkOptions, checkWord, describe, describeReturned, placed } from "../options/check.js";
import { contextConfig } from "../options/context.js";
import { nanoUsd } from "../options/money.js";
import { scalarTable } from "../options/options.js";
import { stopConfig } from "../options/stopping.js";
import { outputConfig } from "../tools/structured-output.js";
import type { ToolSet } from "../tools/tool.js";

/** A part of the engine's configuration, as JSON. */
export type EngineConfig = { [name: string]: unknown };

/**
 * The engine's part of the options. `field` is the path of these options, empty for the run's own.
 *
 * @throws LoopletError `config_…`
 */
export function profileConfig(options: ProfileOptions, field: string, tools: ToolSet): EngineConfig {
  return field === "" ? config(options, tools) : placed(field, () => config(options, tools));
}

function config(options: ProfileOptions, tools: ToolSet): EngineConfig {
  const { maxIterations, maxTotalTokens, maxToolRounds, maxToolCalls, maxUsd } = options;
  const { timeouts, retry, toolExecution, maxToolConcurrency, onMaxTokens, strictStopReason } = options;
  const { maxToolResultChars, eagerTools } = options;
  if (timeouts !== undefined) checkOptions(timeouts, "timeouts", scalarTable("timeouts"));
  if (retry !== undefined)
    checkOptions(retry, "retry", {
      ...scalarTable("retry"),
      on: "texts",
      jitter: "any",
      delay: "function",
    });
  for (const [index, code] of (retry?.on ?? []).entries()) checkWord(code, `retry.on[${index}]`, RETRYABLE);
  checkWord(retry?.jitter, "retry.jitter", ["added", "full"]);
  const { baseMs, maxMs } = retry ?? {};
  if (baseMs !== undefined && maxMs !== undefined && maxMs < baseMs) {
    const problem = `needs at least retry.baseMs (${baseMs}), the shortest wait, got ${maxMs}`;
    throw new LoopletError("config_invalid_value", "retry.maxMs", problem);
  }
  checkWord(onMaxTokens, "onMaxTokens", ["return", "continue", "error"]);
  // A limit of 0 leaves a run nothing to spend, so it is a mistake.
  if (maxUsd !== undefined && maxUsd <= 0)
    throw new LoopletError("config_invalid_value", "maxUsd", `must be more than 0, got ${maxUsd}`);
  const maxCostNanoUsd = nanoUsd(maxUsd);
  return {
    limits: { maxIterations, maxTotalTokens, maxCostNanoUsd, maxToolRounds, maxToolCalls },
    timeouts,
    retry: retryConfig(retry),
    ...stopConfig(options, tools),
    context: contextConfig(options),
    output: outputConfig(options.output, options.maxStructuredOutputRetries),
    toolExecution,
    maxToolConcurrency,
    onMaxTokens,
    strictStopReason,
    maxToolResultChars,
    eagerTools,
  };
}

/** The number of retries whose waits are asked for. */
const MAX_DELAYS = 100;

/** The waits that `delay` returns take the place of its function. */
function retryConfig(retry: RetryPolicy | undefined): object | undefined {
  if (retry === undefined) return undefined;
  const { delay, ...policy } = retry;
  const { maxRetries = 3, maxCalls = 1, baseMs, factor } = policy;
  const hasFormula = baseMs !== undefined || factor !== undefined;
  // A formula of a subagent's own takes the place of waits that its caller gives.
  if (delay === undefined) return hasFormula ? { ...policy, delaysMs: [] } : policy;
  if (hasFormula)
    throw new LoopletError(
      "config_invalid_value",
      "retry.delay",
      "takes the place of baseMs and factor: give one",
    );
  const count = Math.min(Math.max(maxRetries, maxCalls), MAX_DELAYS);
  const delaysMs = Array.from({ length: count }, (_, index) => {
    const wait: unknown = delay(index + 1);
    if (typeof wait === "number" && wait >= 0 && wait < 2 ** 53) return Math.round(wait);
    const got = describeReturned(wait);
    throw new LoopletError("config_invalid_value", "retry.delay", `needs to return milliseconds, got ${got}`);
  });
  return { ...policy, delaysMs };
}

/** The codes of failures that may go away. */
const RETRYABLE: readonly FailureCode[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "malformed_stream",
];

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
