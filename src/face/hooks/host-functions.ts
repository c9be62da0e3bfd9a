/**
 * Calls your functions that the engine asks at certain points of a run, and hands their answers on.
 *
 * The room `hooks/` owns the questions of the engine to your code: hooks, guardrails, permissions, stop conditions,
 * summaries and the functions around an iteration. It never judges an answer: the engine does. `createAgent` hands
 * the functions in, and a run hands it the questions.
 */
import type { Model } from "../api/index.js";
import type { Question } from "../host/driver.js";
import type { HookAnswer } from "../host/question.js";
import type { ModelConfig } from "../models/models.js";
import { message } from "../options/thrown.js";
import type { Driver } from "../run/engine.js";

/** One of your functions: its row in the engine's configuration, and the call. */
export interface HostFunction {
  /** The engine's `Hook`, as JSON. */
  readonly config: {
    readonly event: string;
    /** The names that the function is asked about. Default: all. */
    readonly names?: readonly string[] | undefined;
    readonly timeoutMs?: number | null | undefined;
    readonly blocks?: boolean | undefined;
  };
  /** Returns the function's answer. A rejection counts as the function's failure. */
  readonly ask: (input: any, context: HostContext) => Promise<HookAnswer>;
}

export interface HostContext {
  readonly signal: AbortSignal;
  /** Adds a model to the run, for an answer that names one. */
  readonly takeModel: TakeModel;
}

export type TakeModel = (model: Model, field: string) => Promise<ModelConfig>;

/** Asks the functions of one run. */
export class HostFunctions {
  readonly #functions: readonly HostFunction[];
  readonly #driver: () => Driver | undefined;
  readonly #takeModel: TakeModel;
  readonly #open = new Map<number, AbortController>();

  constructor(functions: readonly HostFunction[], driver: () => Driver | undefined, takeModel: TakeModel) {
    this.#functions = functions;
    this.#driver = driver;
    this.#takeModel = takeModel;
  }

  ask(question: number, { hook, input }: Question["hook"]): void {
    const controller = new AbortController();
    this.#open.set(question, controller);
    void this.#ask(hook, input, controller.signal).then((answer) => {
      if (this.#open.delete(question)) this.#driver()?.answer(question, answer);
    });
  }

  /** Aborts a function whose answer no longer matters. */
  abort(question: number, why: string): void {
    this.#open.get(question)?.abort(new DOMException(why, "AbortError"));
    this.#open.delete(question);
  }

  abortAll(why: string): void {
    for (const question of [...this.#open.keys()]) this.abort(question, why);
  }

  async #ask(
    hook: number,
    input: unknown,
    signal: AbortSignal,
  ): Promise<{ hook: HookAnswer } | { failed: { why: string } }> {
    const context = { signal, takeModel: this.#takeModel };
    try {
      return { hook: await this.#functions[hook]!.ask(input, context) };
    } catch (error) {
      return { failed: { why: message(error) } };
    }
  }
}
