/** The exits of the loop, in their order. */

/** What {@link shouldStop} looks at. */
export interface LoopState {
  response: { stop_reason: string | null };
  /** The model calls so far. */
  iter: number;
  budget: { tokensUsed: number; tokensCap: number };
  ctx: { maxIters: number; cancelled?: boolean };
}

/**
 * Whether the loop ends after an answer, and why. A fatal tool error is the fifth exit: {@link executeToolBlocks}
 * does not handle it, but `runProduction` does.
 */
export function shouldStop({
  response,
  iter,
  budget,
  ctx,
}: LoopState): { stop: true; reason: "end_turn" | "max_iters" | "budget" | "user_cancel" } | { stop: false } {
  if (response.stop_reason === "end_turn") return { stop: true, reason: "end_turn" };
  if (iter >= ctx.maxIters) return { stop: true, reason: "max_iters" };
  if (budget.tokensUsed > budget.tokensCap) return { stop: true, reason: "budget" };
  if (ctx.cancelled) return { stop: true, reason: "user_cancel" };
  return { stop: false };
}
