/** Options of `createAgent` over others. */
import type { AgentOptions } from "../../core/api/index.js";
import { isRecord, joined } from "../../core/kit/check.js";

const GROUPS = ["limits", "context", "answers", "toolCalls", "permissions", "events", "durable"] as const;

/** Options of any agent. */
type Options = Partial<AgentOptions<any, any>>;

/** These options without unknown names. */
type Known<O> = O & { readonly [K in Exclude<keyof O, keyof AgentOptions>]: never };

/** Those of the preset, with these in their place; a group is of both. */
type Merged<O> = Omit<Options, keyof O> & {
  [K in keyof O]: K extends (typeof GROUPS)[number] ? AgentOptions[K] : O[K];
};

/**
 * The options of a preset with others over them: `createAgent(mergeOptions(presets.sprout.agent, { model, tools,
 * limits: { maxIterations: 5 } }))`. An option wins over the one of the same name before it. The groups `limits`,
 * `context`, `answers`, `toolCalls`, `permissions`, `events` and `durable` are merged option by option, and one that
 * is undefined leaves the group before it as it is. `retry`, `timeouts` and the objects in a group, such as
 * `compaction`, are replaced whole.
 */
export function mergeOptions<const O extends Options>(
  preset: Options,
  options: Known<O>,
  ...further: readonly Options[]
): Merged<O> {
  let all = joined<Record<string, unknown>>(preset as Record<string, unknown>);
  for (const more of [options, ...further] as Record<string, unknown>[]) {
    const groups = GROUPS.filter(
      (name) => isRecord(all[name]) && (more[name] === undefined || isRecord(more[name])),
    );
    const merged = groups.map((name) => [name, joined(all[name] as object, more[name] as object)] as const);
    all = joined(joined(all, more), Object.fromEntries(merged));
  }
  return all as Merged<O>;
}
