/** What one run has used so far, counted as the engine counts: the one source of every figure about a run. */
import type { RunEvent, RunResult } from "looplet";
import type { UiMessage, UiPart } from "looplet/ui";
import type { BudgetName } from "../words/budget.js";

/** Its fields are JSON, so they survive a reload. */
export class Tally {
  /** In the units of the budgets. */
  readonly used: Record<BudgetName, number> = {
    iterations: 0,
    tool_rounds: 0,
    tool_calls: 0,
    tokens: 0,
    usd: 0,
    time: 0,
  };
  isCostKnown = true;
  /** The budget that stopped the run. */
  stoppedBy: RunResult["stoppedBy"];
  /** The current iteration for counting rounds: it is counted at its first call. */
  roundOf = 0;
  startedMs: number | undefined;
  isLive = true;

  handle(event: RunEvent, timeMs: number): void {
    this.startedMs ??= timeMs;
    this.used.time = (timeMs - this.startedMs) / 1000;
    if (event.type === "usage") return this.#setUsage(event.total, event.total.costNanoUsd);
    // Each agent has its own iterations and rounds. Calls, tokens, cost and time are totals of all agents.
    if (event.agentPath !== "root") return;
    if (event.type === "iteration-start") this.used.iterations = event.iteration;
    // A run that resumes emits the calls of its round again.
    if (event.type !== "tool-call" || event.iteration === this.roundOf) return;
    this.used.tool_rounds += 1;
    this.roundOf = event.iteration;
  }

  /** Counts the calls of these messages. */
  count(messages: readonly UiMessage[]): void {
    this.used.tool_calls = callsIn(messages.flatMap(({ parts }) => parts));
  }

  /** Time also passes between events. */
  tick(nowMs: number): void {
    if (this.isLive && this.startedMs !== undefined) this.used.time = (nowMs - this.startedMs) / 1000;
  }

  settle(result: RunResult): void {
    this.isLive = false;
    if (result.usage !== null) this.#setUsage(result.usage, result.costNanoUsd);
    else this.isCostKnown = result.costNanoUsd !== null;
    this.stoppedBy = result.stoppedBy;
  }

  #setUsage(usage: { inputTokens: number; outputTokens: number }, costNanoUsd: number | null): void {
    this.used.tokens = usage.inputTokens + usage.outputTokens;
    this.isCostKnown = costNanoUsd !== null;
    this.used.usd = (costNanoUsd ?? 0) / 1e9;
  }
}

function callsIn(parts: readonly UiPart[]): number {
  const calls = parts.filter((part) => part.type === "tool" && part.state !== "input-streaming");
  const inside = calls.flatMap((part) => (part.type === "tool" && part.agent ? [part.agent.parts] : []));
  return inside.reduce((sum, own) => sum + callsIn(own), calls.length);
}
