/** Options of `createAgent` over others. */
import type { AgentOptions } from "../../core/api/index.js";
import { isRecord, joined } from "../../core/options/check.js";

/** Options that are groups of others. `timeouts` and `retry` are each a policy as a whole. */
const GROUPS = ["limits", "context", "answers", "toolCalls", "permissions", "events", "durable"];

/** Options of any agent. */
type Options = Partial<AgentOptions<any, any>>;

/**
 * The options of a preset with others over them: `createAgent(mergeOptions(presets.sprout.agent, { model, tools,
 * limits: { maxIterations: 5 } }))`. An option wins over the one of the same name before it. The groups `limits`,
 * `context`, `answers`, `toolCalls`, `permissions`, `events` and `durable` are merged option by option.
 */
export function mergeOptions<const O extends Options>(
  preset: Options,
  options: O,
  ...further: readonly Options[]
): Omit<Options, keyof O> & O {
  let all = joined<Record<string, unknown>>(preset as Record<string, unknown>);
  for (const more of [options, ...further] as Record<string, unknown>[]) {
    const groups = GROUPS.filter((name) => isRecord(all[name]) && isRecord(more[name]));
    const merged = groups.map((name) => [name, joined(all[name] as object, more[name] as object)] as const);
    all = joined(joined(all, more), Object.fromEntries(merged));
  }
  return all as Omit<Options, keyof O> & O;
}
