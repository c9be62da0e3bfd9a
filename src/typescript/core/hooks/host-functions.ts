/**
 * Your hooks, guardrails and functions around an iteration: each as a row of the engine's configuration and as a
 * call.
 *
 * The room `hooks/` owns the questions of the engine to your code: hooks, guardrails, permissions, stop conditions,
 * summaries and the functions around an iteration. It never judges an answer: the engine does.
 *
 * `createAgent` hands the functions in and gets a row for each. A run then hands each question of the engine to
 * `Questions`, which calls one function and passes its answer to the engine. A function that throws makes the
 * question fail, and the engine decides what follows.
 */
import type { Model } from "../api/index.js";
import type { Hook } from "../generated/input.js";
import type { HookAnswer } from "../host/question.js";
import type { ModelConfig } from "../models/models.js";

/** One of your functions: its row in the engine's configuration, and the call. */
export interface HostFunction {
  readonly config: Hook;
  /** Returns the function's answer. A rejection counts as the function's failure. */
  readonly ask: (input: any, context: HostContext) => Promise<HookAnswer>;
}

export interface HostContext {
  readonly signal: AbortSignal;
  /** Adds a model to the run, for an answer that names one. */
  readonly takeModel: TakeModel;
}

export type TakeModel = (model: Model, field: string) => Promise<ModelConfig>;
