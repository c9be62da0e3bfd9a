/** The options about the length of the history: checked, and in the form that the engine takes. */
import { LoopletError } from "../api/errors.js";
import type { AgentOptions } from "../api/agent.js";
import type { CompactionOptions, ContextOptions } from "../api/iteration.js";
import { at, checkOptions, checkValue, describe, describeReturned, joined } from "./check.js";
import type { ContextPolicy, ModelConfig } from "../generated/input.js";
import { AGENT_CONTEXT, PRUNING } from "../generated/tables.js";
import { COMPACTION_TABLE, given, group } from "./options.js";
import { message } from "./thrown.js";

/**
 * The engine's part of the options, as JSON.
 *
 * @throws LoopletError `config_…`
 */
export function contextConfig(options: ContextOptions = joined()): ContextPolicy | undefined {
  const { compaction, pruning } = options;
  const { threshold, summarize, ...data } = checkedCompaction(compaction);
  if (threshold !== undefined && !(threshold > 0 && threshold <= 1)) {
    const problem = `needs a part of the window, above 0 and up to 1, got ${threshold}`;
    throw new LoopletError("config_invalid_value", "context.compaction.threshold", problem);
  }
  const pruned = typeof pruning === "object" ? checkOptions(pruning, "context.pruning", PRUNING) : pruning;
  if (pruned !== undefined && typeof pruned !== "object") checkValue(pruned, "context.pruning", "boolean");
  return group({
    ...given(options, AGENT_CONTEXT),
    ...data,
    thresholdPercent: threshold === undefined ? undefined : Math.max(1, Math.round(threshold * 100)),
    ...summaryBy(summarize),
    // In a subagent null switches off the run's own setting.
    pruning: pruned === true ? {} : pruned === false ? null : pruned,
  });
}

/** Who writes summaries. A text switches the function of the run off in a subagent. */
function summaryBy(summarize: CompactionOptions["summarize"]): Partial<ContextPolicy> {
  if (summarize === undefined) return {};
  if (typeof summarize === "function") return { ask: true };
  if (summarize !== "vendor" && summarize !== "model") {
    const problem = `needs "vendor", "model" or a function, got ${describe(summarize)}`;
    throw new LoopletError("config_wrong_type", "context.compaction.summarize", problem);
  }
  return { ask: false, byVendor: summarize === "vendor" };
}

/**
 * Refuses a window that the answers would fill completely, because no room would be left for the questions.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function checkWindow(
  window: number | undefined,
  { maxOutputTokens }: ModelConfig,
  field: string,
): void {
  if (window === undefined || window > (maxOutputTokens ?? 0)) return;
  const problem = `needs room beside the answer: it is ${window}, maxOutputTokens is ${maxOutputTokens}; set maxOutputTokens lower, or context.window to what the model can read`;
  throw new LoopletError("config_invalid_value", at(field, "context.window"), problem);
}

/** Checks the options of compaction. An object switches it on, also in a subagent of a run that has it off. */
function checkedCompaction(compaction: ContextOptions["compaction"]): CompactionOptions {
  if (compaction === undefined) return joined();
  if (typeof compaction === "boolean") return joined({ auto: compaction });
  const checked = checkOptions(compaction, "context.compaction", COMPACTION_TABLE);
  return joined(checked, { auto: checked.auto ?? true });
}

/**
 * The shared instructions of one run.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function sharedInstructionsOf({
  sharedInstructions,
}: Pick<AgentOptions, "sharedInstructions">): string | undefined {
  let told: unknown = sharedInstructions;
  try {
    if (typeof sharedInstructions === "function") told = sharedInstructions();
  } catch (error) {
    throw new LoopletError("config_invalid_value", "sharedInstructions", `threw: ${message(error)}`, error);
  }
  if (told !== undefined && typeof told !== "string") {
    throw new LoopletError(
      "config_wrong_type",
      "sharedInstructions",
      `needs a string, or a function that returns one, got ${describeReturned(told)}`,
    );
  }
  return told === "" ? undefined : told;
}

/**
 * The checked argument of `run.compact`.
 *
 * @throws LoopletError `config_…`
 */
export function compactInstructions(options: { instructions?: string | undefined } = {}): string {
  const { instructions = "" } = checkOptions(options, "compact", { instructions: "text" });
  return instructions;
}
