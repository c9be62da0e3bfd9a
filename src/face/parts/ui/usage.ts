import type { ModelUsage, Usage } from "../../core/api/index.js";

/** The sum of the usage before a run and that of the run so far. The cost is known if both are. */
export function addedUsage(before: ModelUsage | null, run: Usage | null): ModelUsage | null {
  if (run === null) return before;
  const sum = { ...run };
  for (const [field, value] of Object.entries(before ?? {})) {
    const name = field as keyof Usage;
    if (typeof value === "number" && typeof sum[name] === "number") (sum[name] as number) += value;
  }
  const isKnown = run.costNanoUsd !== null && (before === null || before.costNanoUsd !== null);
  const costNanoUsd = isKnown ? sum.costNanoUsd : null;
  const isCostReported = run.isCostReported && (before?.isCostReported ?? true);
  return { ...sum, costNanoUsd, isCostReported, costUsd: (costNanoUsd ?? 0) / 1e9 };
}
