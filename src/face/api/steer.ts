/** How what is said to a running run is delivered. */

/** The options of `createAgent` about `run.steer` and `run.followUp`. */
export interface SteerOptions {
  /**
   * Before a model call, all steers that wait are delivered, or the first; the others then wait for the next call.
   * Default `"all"`.
   */
  steeringMode?: "all" | "one" | undefined;
  /** When the model has finished, all follow-ups that wait are asked at once, or one by one. Default `"one"`. */
  followUpMode?: "all" | "one" | undefined;
}
