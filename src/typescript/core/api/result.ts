/** The result of a run: its parts, the schema of its answer, and the cases in which `run.result` rejects. */
import type {
  Bound,
  History,
  OutputData,
  Report,
  ToolCallRecord as EngineCallRecord,
} from "../generated/model.js";
import type { Outcome, ToolFault, Usage } from "./event.js";
import type { InputOf, InputSchema } from "./schema.js";
import type { OfTools, Tools, ToolTypes, ToolTypesOf } from "./tool.js";

/**
 * The result of a run. `outcome` is `"completed"`, `"stopped"` (with `stoppedBy`), `"cancelled"` (with `abortReason`)
 * or `"failed"` (with `error`). `T` are the agent's tools.
 */
export type RunResult<T extends Tools = Tools, Output = unknown> = TypedResult<ToolTypesOf<T>, Output>;

/** The result of a run with tools of these types. */
export type TypedResult<C extends ToolTypes, Output> = RunReport<C> &
  (
    | (Extract<Outcome, { outcome: "completed" }> & {
        /** The structured answer, if the agent has the option `output`. */
        output: Output;
      })
    | (Exclude<Outcome, { outcome: "completed" }> & {
        /** The structured answer of an earlier turn, if a follow-up came after it. */
        output: Output | undefined;
      })
  );

/** The part of a result that every outcome has. */
export interface RunReport<C extends ToolTypes = ToolTypes>
  extends
    Omit<Report, "output" | "profile" | "modelUsage" | "chatUsage" | "streaming">,
    Omit<History, "toolCalls"> {
  /** The run's id, as `run.id`. */
  id: string;
  /** The agent that spoke last: `"root"`, or with a handoff a path of tools such as `"root/to_billing"`. */
  agent: string;
  /** The text of the last answer, which can be partial. */
  text: string;
  toolCalls: TypedCall<C>[];
  /**
   * Usage per model, by the requested model name. `null` for a model that reported no usage.
   */
  modelUsage: { [model: string]: ModelUsage | null };
  /** `usage` and the usage of the conversation before the run: the option `chatUsage`, which a chat sets. */
  chatUsage: ModelUsage | null;
  /** The cost in US dollars, which is `costNanoUsd` for people; 0 when it is not known, see `costBasis`. */
  costUsd: number;
  /**
   * The source of `costUsd`: the vendor's own figure (OpenRouter, xAI, Perplexity), the model's `price` option, a
   * price table, or none. If the calls of a run differ, the least certain source counts. The engine does not know
   * price tables; only TypeScript does.
   */
  costBasis: "reported" | "option" | "table" | "unknown";
}

/** Tokens with their cost: of one model, or of a chat. */
export interface ModelUsage extends Usage {
  /** The cost in US dollars, which is `costNanoUsd` for people; 0 when it is not known. */
  costUsd: number;
}

/**
 * One tool call of a run. If the agent's tools are a record, `toolName` narrows `input`; together with `isError` it
 * narrows `output`.
 */
export type ToolCallRecord<T extends Tools = Tools> = TypedCall<ToolTypesOf<T>>;

/** A call of a tool of these types. */
export type TypedCall<C extends ToolTypes> =
  OfTools<ReturnedCall, C> | (OfTools<Omit<EngineCallRecord, keyof FailedCall>, C> & FailedCall);

interface ReturnedCall extends EngineCallRecord {
  isError: false;
}

interface FailedCall {
  isError: true;
  /** The error, as the model reads it without `toolCalls.wordError`. */
  output: ToolFault & { error: true };
}

export interface FinishOptions {
  /**
   * For a cancelled run: `run.result` resolves (`"result"`) or rejects with a `RunError` that carries the result
   * (`"throw"`). Default `"result"`.
   */
  onCancel?: "result" | "throw" | undefined;
  /** For a run whose last answer is a refusal (`finishReason: "refusal"`): as `onCancel`. Default `"result"`. */
  onRefusal?: "result" | "throw" | undefined;
  /** For a `failed` run: as `onCancel`. Default `"result"`. */
  onFailure?: "result" | "throw" | undefined;
}

/**
 * The format of every answer: JSON that matches a schema. If an answer does not match, looplet asks the model again.
 */
export interface OutputFormat<S extends InputSchema = InputSchema> extends OutputData {
  /** A JSON Schema whose `type` is `"object"`, or a Standard Schema (zod, arktype, valibot). Required. */
  schema: S;
  /**
   * Contract: called with each answer that matches the schema. To reject the answer, return a text or throw an error
   * that tells the model how to correct it.
   */
  validate?: ((output: InputOf<S>) => string | undefined | PromiseLike<string | undefined>) | undefined;
}

/** A value that is still being written. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;

/** The maximum usage of a run, as returned by `agent.bound`. */
export interface RunBound extends Bound {
  /** `costNanoUsd` in US dollars; `null` when nothing limits the cost. */
  readonly costUsd: number | null;
}

/** A failed save, as passed to `onSaveFailed`. */
export interface SaveFailure {
  readonly runId: string;
  /** The store's error, or a `TimeoutError` if the store did not answer within 30 s. */
  readonly error: unknown;
  /** The number of journal entries that are not saved. */
  readonly entries: number;
  /** The journal number of the first entry that is not saved, from 1. */
  readonly since: number;
}

/**
 * Decides whether a run continues after a failed save.
 *
 * Contract: the answer can take any time, for example to ask a user. Until then nothing is saved and no new request
 * or tool starts; work in progress continues. If the function throws or returns any other value, the run stops and
 * `onError` receives the error.
 */
export type OnSaveFailed =
  "stop" | "continue" | ((failure: SaveFailure) => "stop" | "continue" | PromiseLike<"stop" | "continue">);
