/** What one run has used so far, counted as the engine counts: the one source of every figure about a run. */
import type { AgentTranscript, Message, RunEvent, RunEventOf, RunResult } from "looplet";
import type { BudgetName } from "../words/budget.js";

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
  /** The iteration whose round is counted: with its first call. */
  #roundOf = 0;
  /** Ids of the calls that are counted. */
  readonly #calls = new Set<string>();
  #startedMs: number | undefined;
  #isLive = true;

  handle(event: RunEvent, timeMs: number): void {
    this.#startedMs ??= timeMs;
    this.used.time = (timeMs - this.#startedMs) / 1000;
    const isRoot = event.agentPath === "root";
    // Each agent has iterations and rounds of its own; calls, tokens, cost and time are those of all agents together.
    if (event.type === "snapshot") this.#begin(event);
    else if (event.type === "iteration-start" && isRoot) this.used.iterations += 1;
    else if (event.type === "tool-call") {
      // A run that goes on tells the calls of its round again.
      if (this.#calls.has(event.toolCallId)) return;
      this.#calls.add(event.toolCallId);
      this.used.tool_calls += 1;
      if (isRoot && event.iteration !== this.#roundOf) this.used.tool_rounds += 1;
      if (isRoot) this.#roundOf = event.iteration;
    } else if (event.type === "usage") this.#setUsage(event.total, event.total.costNanoUsd);
  }

  /** Time also passes between events. */
  tick(nowMs: number): void {
    if (this.#isLive && this.#startedMs !== undefined) this.used.time = (nowMs - this.#startedMs) / 1000;
  }

  settle(result: RunResult): void {
    this.#isLive = false;
    if (result.usage !== null) this.#setUsage(result.usage, result.costNanoUsd);
    else this.isCostKnown = result.costNanoUsd !== null;
    this.stoppedBy = result.stoppedBy;
  }

  /** The calls that the subagents of a run had made before it resumes. Its snapshot has those of the root. */
  recall(transcripts: readonly AgentTranscript[]): void {
    for (const { agentPath, messages } of transcripts)
      if (agentPath !== "root") for (const id of messages.flatMap(callsOf)) this.#calls.add(id);
  }

  /** What the run had used before it resumes. */
  #begin({ iterations, usage, messages }: RunEventOf<"snapshot">): void {
    this.used.iterations = this.#roundOf = iterations;
    for (const message of messages) {
      const calls = callsOf(message);
      for (const id of calls) this.#calls.add(id);
      this.used.tool_rounds += Number(calls.length > 0);
    }
    this.used.tool_calls = this.#calls.size;
    if (usage) this.#setUsage(usage, usage.costNanoUsd);
  }

  #setUsage(usage: { inputTokens: number; outputTokens: number }, costNanoUsd: number | null): void {
    this.used.tokens = usage.inputTokens + usage.outputTokens;
    this.isCostKnown = costNanoUsd !== null;
    this.used.usd = (costNanoUsd ?? 0) / 1e9;
  }
}

function callsOf({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === "tool_call" ? [block.id] : []));
}
