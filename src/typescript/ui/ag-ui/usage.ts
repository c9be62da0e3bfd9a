/** The tokens of the model calls of a part of a run, by provider and model. */
import type { Usage } from "../../core/api/index.js";
import type { AgUiUsage } from "./types.js";

/** The model that an agent uses. */
export interface AskedModel {
  readonly vendor: string;
  readonly model: string;
}

type Counts = Pick<Usage, (typeof COUNTS)[number]>;

const COUNTS = [
  "inputTokens",
  "outputTokens",
  "reasoningTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
] as const;

export class UsageByModel {
  readonly #counts = new Map<string, { readonly asked: AskedModel | undefined; readonly counts: Counts }>();
  /** The usage of the run at the last report. */
  #total: Usage | undefined;

  /** Adds a report of an agent: the usage of its model call so far, and that of the run. */
  add(asked: AskedModel | undefined, usage: Usage, total: Usage): void {
    const key = JSON.stringify([asked?.vendor, asked?.model]);
    const known = this.#counts.get(key)?.counts;
    const counts = {} as Counts;
    for (const name of COUNTS) {
      // At the first report, the total without this call's usage is what other parts of the run used.
      const before = this.#total?.[name] ?? total[name] - usage[name];
      counts[name] = (known?.[name] ?? 0) + Math.max(0, total[name] - before);
    }
    this.#counts.set(key, { asked, counts });
    this.#total = total;
  }

  /** Undefined if no model has reported any. */
  all(): AgUiUsage[] | undefined {
    const all = [...this.#counts.values()].map(({ asked, counts }) => ({
      ...(asked === undefined ? {} : { provider: asked.vendor, model: asked.model }),
      inputTokens: counts.inputTokens,
      outputTokens: counts.outputTokens,
      totalTokens: counts.inputTokens + counts.outputTokens,
      reasoningTokens: counts.reasoningTokens,
      cachedInputTokens: counts.cacheReadTokens,
      cacheWriteInputTokens: counts.cacheWriteTokens,
    }));
    return all.length === 0 ? undefined : all;
  }
}
