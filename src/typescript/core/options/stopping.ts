/** The options about stopping: checked, and in the form that the engine takes. */
import { LoopletError } from "../api/errors.js";
import type { LimitOptions, RepeatOptions, StopCondition, StopPredicate } from "../api/iteration.js";
import type { Config } from "../generated/input.js";
import { REPEAT_OPTIONS } from "../generated/tables.js";
import { at, checkOptions, checkValue, describe, isObject, joined } from "./check.js";

/**
 * Stops the run after a round in which this tool was called.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, hasToolCall, tool } from "looplet";
 *
 * const done = tool({ description: "Ends the work", inputSchema: { type: "object" }, execute: () => "ok" });
 * const agent = createAgent({
 *   model: anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY }),
 *   tools: { done },
 *   limits: { stopWhen: hasToolCall("done") },
 * });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function hasToolCall(toolName: string): StopCondition {
  checkValue(toolName, "hasToolCall", "text");
  return Object.freeze({ toolCall: toolName });
}

/**
 * Stops the run after the tools of this iteration. Unlike `maxIterations`, it marks an intended end.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, iterationCount } from "looplet";
 *
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, limits: { stopWhen: iterationCount(3) } });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function iterationCount(iterations: number): StopCondition {
  checkValue(iterations, "iterationCount", "count");
  return Object.freeze({ iterations });
}

/** The engine's part of the options. */
export type StopConfig = Pick<Config, "stopWhen" | "askStop" | "askRepeat" | "repeat">;

type Limits = Pick<LimitOptions, "stopWhen" | "repeat" | "onRepeat">;

/** @throws LoopletError `config_…` */
export function stopConfig(options: Limits = joined(), toolNames: ReadonlyMap<string, unknown>): StopConfig {
  const { repeat: given, onRepeat } = options;
  const repeat =
    given === undefined || given === false
      ? given
      : checkOptions(given === true ? joined() : given, "limits.repeat", REPEAT_OPTIONS);
  const config: StopConfig = {};
  const known: StopCondition[] = [];
  for (const [index, condition] of conditions(options).entries()) {
    if (typeof condition === "function") config.askStop = true;
    else known.push(checkCondition(condition, `limits.stopWhen[${index}]`, toolNames));
  }
  if (known.length > 0) config.stopWhen = known;
  if (onRepeat !== undefined) config.askRepeat = true;
  if (repeat === false) config.repeat = { enabled: false };
  else if (repeat !== undefined) {
    checkSteps(repeat);
    config.repeat = repeat;
  }
  const off = onRepeat === undefined ? undefined : neverAsks(repeat);
  if (off !== undefined) {
    const problem = `is never called with ${off}; leave one of them out`;
    throw new LoopletError("config_invalid_value", "limits.onRepeat", problem);
  }
  return config;
}

/** The setting that keeps `onRepeat` from being called, if there is one. A call that was made once repeats nothing. */
function neverAsks(repeat: RepeatOptions | false = joined()): string | undefined {
  if (repeat === false) return "repeat: false";
  const { askAfter, stopAfter } = repeat;
  if (askAfter === null) return "repeat.askAfter: null";
  if (askAfter === undefined && stopAfter && stopAfter < 3) return `repeat.stopAfter: ${stopAfter}`;
  return undefined;
}

/** Checks that each given step comes before the next one, because a run that has stopped takes no further step. */
function checkSteps(repeat: RepeatOptions): void {
  let before: [name: string, times: number] | undefined;
  for (const name of ["nudgeAfter", "askAfter", "stopAfter"] as const) {
    const times = repeat[name];
    if (times === undefined || times === null) continue;
    const least = before === undefined ? 0 : before[1] + (name === "stopAfter" ? 1 : 0);
    if (before !== undefined && times < least) {
      const problem = `needs at least ${least}, as ${before[0]} is ${before[1]}, got ${times}: the model is told, then limits.onRepeat is asked, then the run is stopped`;
      throw new LoopletError("config_invalid_value", at("limits.repeat", name), problem);
    }
    before = [name, times];
  }
}

export function conditions({ stopWhen }: Limits): readonly (StopCondition | StopPredicate)[] {
  if (stopWhen === undefined) return [];
  return Array.isArray(stopWhen) ? stopWhen : [stopWhen as StopCondition | StopPredicate];
}

function checkCondition(
  condition: StopCondition,
  field: string,
  toolNames: ReadonlyMap<string, unknown>,
): StopCondition {
  const { toolCall, iterations } = joined(isObject(condition) ? condition : {}) as {
    toolCall?: string;
    iterations?: number;
  };
  if (toolCall === undefined && iterations === undefined) {
    throw new LoopletError(
      "config_wrong_type",
      field,
      `needs a function, hasToolCall(name) or iterationCount(n), got ${describe(condition)}`,
    );
  }
  if (toolCall !== undefined && iterations !== undefined) {
    const problem = "holds two conditions; any of a list stops the run: [{ toolCall }, { iterations }]";
    throw new LoopletError("config_invalid_value", field, problem);
  }
  if (iterations !== undefined) checkValue(iterations, field, "count");
  else if (!toolNames.has(toolCall as string)) {
    throw new LoopletError("config_invalid_value", field, `there is no tool "${toolCall}"`);
  }
  return condition;
}
