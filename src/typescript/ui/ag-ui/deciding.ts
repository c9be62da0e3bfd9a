/**
 * The questions that the agent's own functions answer. A run that waits only for such a function does not wait for
 * the page.
 */
import type { AgentOptions, CanUseTool, OnElicitation, Reconcile } from "../../core/api/index.js";

export class Deciding {
  /** Questions that a function is answering, or has answered. */
  readonly #taken = new Set<number>();
  #changed: Promise<void> = Promise.resolve();
  #change = (): void => {};

  constructor() {
    this.#renew();
  }

  has(questionId: number): boolean {
    return this.#taken.has(questionId);
  }

  /** Resolves when a function has left a question open, without an answer. */
  get changed(): Promise<void> {
    return this.#changed;
  }

  /** Returns the options with the agent's functions wrapped, so that their questions are tracked. */
  watch(options: AgentOptions): AgentOptions {
    const { permissions, toolCalls, durable } = options;
    const canUseTool = permissions?.canUseTool;
    const onElicitation = toolCalls?.onElicitation;
    const reconcile = durable?.reconcile;
    const decide: CanUseTool = (name, input, request) =>
      this.#decided(request, () => canUseTool!(name, input, request));
    const elicit: OnElicitation = (request, context) =>
      this.#decided(context, () => onElicitation!(request, context));
    const judge: Reconcile = (call) => this.#decided(call, () => reconcile!(call));
    return {
      ...options,
      ...(canUseTool && { permissions: { ...permissions, canUseTool: decide } }),
      ...(onElicitation && { toolCalls: { ...toolCalls, onElicitation: elicit } }),
      ...(reconcile && { durable: { ...durable, reconcile: judge } }),
    };
  }

  async #decided<T>(
    { questionId }: { readonly questionId: number },
    decide: () => T | PromiseLike<T>,
  ): Promise<T> {
    this.#taken.add(questionId);
    const answer = await decide();
    if (answer === null) {
      this.#taken.delete(questionId);
      this.#change();
      this.#renew();
    }
    return answer;
  }

  #renew(): void {
    this.#changed = new Promise((resolve) => (this.#change = resolve));
  }
}
