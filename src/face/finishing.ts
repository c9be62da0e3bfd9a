/** Answers that end otherwise than usual: checks the options, and throws where they say so. */
import { checkWord } from "./check.js";
import { RunError } from "./errors.js";
import type { FinishOptions } from "./finish-types.js";
import type { RunResult } from "./types.js";

/** @throws LoopletError `config_invalid_value` */
export function checkFinish({ onMaxTokens, onCancel, onRefusal }: FinishOptions): void {
  checkWord(onMaxTokens, "onMaxTokens", ["return", "continue", "error"]);
  checkWord(onCancel, "onCancel", ["result", "throw"]);
  checkWord(onRefusal, "onRefusal", ["result", "throw"]);
}

/** What a run with this result rejects with, if the options say that it does. */
export function thrownFor(result: RunResult, { onCancel, onRefusal }: FinishOptions): RunError | undefined {
  if (onCancel === "throw" && result.outcome === "cancelled") {
    return new RunError("cancelled", `The run was cancelled: ${result.abortReason}`, result);
  }
  if (onRefusal === "throw" && result.finishReason === "refusal") {
    return new RunError("refused", `Model refused: ${result.text}`, result);
  }
  return undefined;
}
