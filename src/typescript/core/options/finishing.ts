/** Options about runs that end in an unusual way: checks them, and makes the error if they say `"throw"`. */
import { RunError } from "../api/errors.js";
import type { RunResult } from "../api/index.js";
import type { AgentOptions } from "../api/agent.js";

/** The options that say `"throw"`. */
export type FinishingOptions = Pick<AgentOptions, "onCancel" | "onRefusal" | "onFailure" | "limits">;

/** The error that `run.result` rejects with, if the options say so for this result. */
export function thrownFor(result: RunResult, options: FinishingOptions): RunError | undefined {
  const { onCancel, onRefusal, onFailure, limits } = options;
  if (onCancel === "throw" && result.outcome === "cancelled") {
    return new RunError("cancelled", `The run was cancelled: ${result.abortReason}`, result);
  }
  if (onRefusal === "throw" && result.finishReason === "refusal") {
    return new RunError("refused", `Model refused: ${result.text}`, result);
  }
  if (limits?.onLimit === "throw" && result.outcome === "stopped") {
    const { stoppedBy, iterations } = result;
    const words =
      stoppedBy === "iterations"
        ? `Agent loop exceeded ${iterations} iterations`
        : `The run was stopped: ${stoppedBy}`;
    return new RunError("limit", words, result);
  }
  if (onFailure === "throw" && result.outcome === "failed") {
    return new RunError("failed", result.error.message, result);
  }
  return undefined;
}
