/** The result of a run: its parts, the answer that has to fit a schema, and when `run.result` rejects instead. */
import type { SubagentMemory } from "./agent.js";
import type { FinishReason, Outcome, Usage } from "./event.js";
import type { RaiseLimits } from "./iteration.js";
import type { Message } from "./message.js";
import type { InputOf, InputSchema } from "./schema.js";

/**
 * What a run came to: `"completed"`, `"stopped"` (then there is `stoppedBy`), `"cancelled"` (`abortReason`) or
 * `"failed"` (`error`).
 */
export type RunResult<Output = unknown> = RunReport &
  (
    | (Extract<Outcome, { outcome: "completed" }> & {
        /** The structured answer, if the agent has the option `output`. */
        output: Output;
      })
    | (Exclude<Outcome, { outcome: "completed" }> & {
        /** An earlier answer that fitted, before a follow-up. */
        output: Output | undefined;
      })
  );

/** What a run has to show, however it ended. */
export interface RunReport {
  /** The text of the last answer, partial or not. */
  text: string;
  toolCalls: ToolCallRecord[];
  /** The whole transcript, the given history included; legal to send again whatever happened. */
  messages: Message[];
  /** What persistent subagents remember, those included that were not called; for the next run's option `subagents`. */
  subagents: SubagentMemory[];
  usage: Usage;
  /** US dollars; 0 when the cost is not known, see `costBasis`. */
  costUsd: number;
  /** The same as an integer of billionths of a US dollar; `null` when it is not known. */
  costNanoUsd: number | null;
  /**
   * Where `costUsd` comes from: the vendor's own figure (OpenRouter, xAI, Perplexity), the model's `price` option, a
   * price table, or nowhere. A run whose calls differ is counted as the less certain.
   */
  costBasis: "reported" | "option" | "table" | "unknown";
  /** Model calls made. */
  iterations: number;
  /** Of the last answer; `null` when none was complete. */
  finishReason: FinishReason | null;
  /** The vendor's own word for it. */
  rawFinishReason: string | null;
  /** Ids of the steers and follow-ups that were never delivered. */
  undelivered: number[];
}

/** One tool call of a run. */
export interface ToolCallRecord {
  /** The provider's id. */
  toolCallId: string;
  toolName: string;
  /** What the model wrote; a string when it was no JSON object. */
  input: unknown;
  /** What the tool returned, or the error as the model saw it; `null` while it is open. */
  output: unknown;
  isError: boolean;
  durationMs: number;
}

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

/** Every answer must be JSON of a schema: it is checked, and asked for again if it does not fit. */
export interface OutputFormat<S extends InputSchema = InputSchema> {
  /** A JSON Schema whose `type` is `"object"`, or a Standard Schema (zod, arktype, valibot). Required. */
  schema: S;
  /** The schema's name for the vendor, and that of the tool in tool mode. Default `"answer"`. */
  name?: string | undefined;
  /** What the answer is, for the model; used in tool mode. Default: none. */
  description?: string | undefined;
  /**
   * `"native"`: the vendor enforces the schema on the answer's text. `"tool"`: the model answers by calling a tool that
   * looplet adds and nobody else sees. Default `"auto"`: natively where the vendor is known to enforce this schema.
   */
  mode?: "auto" | "native" | "tool" | undefined;
  /** In native mode: the vendor's strict mode, where it can choose. Default: if the schema is one that it takes. */
  strict?: boolean | undefined;
  /**
   * Contract: called with each answer that fits the schema; a text that it returns says what is wrong with it and goes
   * to the model. What it throws counts as such a text.
   */
  validate?: ((output: InputOf<S>) => string | undefined | PromiseLike<string | undefined>) | undefined;
}

/** A value that is still being written. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;
