/** How long a conversation may get, and how it is made shorter. */
import type { HostAbortSignal } from "./platform.js";
import type { Message } from "./message.js";

/** The options of `createAgent` about the length of the history. */
export interface ContextOptions {
  /**
   * Told to the model with every request, behind the system prompt; it survives every compaction. A function is called
   * once for each run. Default: none.
   */
  instructions?: string | (() => string) | undefined;
  /** Tokens that the model can read, a positive integer. Default: unknown, and then only its vendor can say that it is full. */
  contextWindow?: number | undefined;
  /** When the first part of the history is summarised, and how; `false`: never. */
  compaction?: false | CompactionOptions | undefined;
  /**
   * Old answers are cut short: their thinking and the inputs of their calls, not their text and no results. `true`: with
   * the defaults. Default false.
   */
  historyCompaction?: boolean | HistoryCompaction | undefined;
  /**
   * Characters of a request, a positive integer; what is too much is dropped from its front, and a few lines about it
   * take its place. No model is asked. Default: none.
   */
  contextBudget?: number | undefined;
}

export interface CompactionOptions {
  /** When the window is nearly full, and when the vendor says that it is. Default true; `run.compact()` works anyway. */
  auto?: boolean | undefined;
  /** How full the window may be, above 0 and up to 1. Default 0.8. */
  threshold?: number | undefined;
  /** Answers of the model that stay as they are, with their tools' results, a non-negative integer. Default 3. */
  keepLast?: number | undefined;
  /** What the summary shall also heed. Default: nothing else. */
  instructions?: string | undefined;
  /**
   * Contract: writes the summary in place of the model. What it throws, an empty text, or none within
   * `timeouts.firstChunkMs` lead to the built-in summary.
   */
  summarize?: ((request: CompactionRequest) => string | PromiseLike<string>) | undefined;
}

export interface CompactionRequest {
  readonly trigger: "auto" | "manual" | "overflow";
  readonly instructions?: string | undefined;
  /** What the summary will stand for. */
  readonly messages: readonly Message[];
  /** Fires when nobody waits for the summary any more. */
  readonly signal: HostAbortSignal;
}

export interface HistoryCompaction {
  /** An answer is old when so many have come after it, a positive integer. Default 5. */
  afterResponses?: number | undefined;
  /** What stays of it, in characters, a non-negative integer. Default 100. */
  prefixChars?: number | undefined;
}
