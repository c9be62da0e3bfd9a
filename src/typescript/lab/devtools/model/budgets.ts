/** The limits of a run and its usage. */
import type { RunEvent } from "../../../core/api/index.js";
import { whole } from "../../replay/amounts.js";
import type { LoopProcess } from "../../replay/loop-file.js";
import type { ReplayMoment, ReplayStep } from "../../replay/playback.js";
import { dollars } from "./words.js";

export interface Budget {
  readonly name: string;
  /** The usage, or undefined if it is unknown. */
  readonly used: number | undefined;
  /** Undefined without a limit. */
  readonly limit: number | undefined;
  readonly text: (amount: number) => string;
}

/** The budgets of the root after a moment. The configuration is that of the moment's process. */
export function budgetsAt({ config }: Pick<LoopProcess, "config">, moment: ReplayMoment): Budget[] {
  const limits = (config["limits"] ?? {}) as { readonly [name: string]: unknown };
  const limit = (name: string): number | undefined => {
    const value = limits[name];
    return typeof value === "number" ? value : undefined;
  };
  const { usage, iterations, toolCalls } = moment;
  const nano = limit("maxCostNanoUsd");
  const cost = usage?.costNanoUsd;
  return [
    { name: "Iterations", used: iterations, limit: limit("maxIterations"), text: whole },
    {
      name: "Tokens",
      used: usage === null ? undefined : usage.inputTokens + usage.outputTokens,
      limit: limit("maxTotalTokens"),
      text: whole,
    },
    { name: "Tool calls", used: toolCalls.length, limit: limit("maxToolCalls"), text: whole },
    {
      name: "Cost",
      used: cost == null ? undefined : cost / 1e9,
      limit: nano === undefined ? undefined : nano / 1e9,
      text: dollars,
    },
  ];
}

/** The open questions after a step, the oldest first. */
export function openQuestions(steps: readonly ReplayStep[], step: number): QuestionEvent[] {
  const open = new Map<number, QuestionEvent>();
  for (let at = 0; at <= step; at++)
    for (const event of steps[at]!.events) {
      if (event.type === "question") open.set(event.questionId, event);
      else if (event.type === "answered") open.delete(event.questionId);
      else if (event.type === "finish") open.clear();
    }
  return [...open.values()];
}

export type QuestionEvent = Extract<RunEvent, { type: "question" }>;
