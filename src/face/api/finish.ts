/** How a run takes answers that end otherwise than usual, and whether a run that went wrong throws. */
import type { RaiseLimits } from "./iteration.js";

export interface FinishOptions {
  /**
   * What becomes of an answer without tool calls that the limit of output tokens cut off. Default `"return"`: it is
   * the last one, with `finishReason: "length"`. `"continue"`: the model is asked to go on where it stopped, within
   * `maxIterations`, and `result.text` is the whole. `"error"`: the run is `failed`, code `finish_reason`.
   */
  onMaxTokens?: "return" | "continue" | "error" | undefined;
  /**
   * Fails the run (code `finish_reason`) when an answer ends otherwise than finished, paused or with tool calls; one
   * that says it is finished is, even with calls beside it. Default false: a run goes on as long as there are calls.
   */
  strictStopReason?: boolean | undefined;
  /**
   * Whether `run.result` of a cancelled run resolves (`"result"`, the default) or rejects with a `RunError` that has
   * the result (`"throw"`).
   */
  onCancel?: "result" | "throw" | undefined;
  /** The same for a run whose last answer is a refusal (`finishReason: "refusal"`). */
  onRefusal?: "result" | "throw" | undefined;
  /** The same for a run that was `stopped`. Or a function that is asked when a limit is hit and may raise it. */
  onLimit?: "result" | "throw" | RaiseLimits | undefined;
  /** The same for a run that `failed`. */
  onFailure?: "result" | "throw" | undefined;
}
