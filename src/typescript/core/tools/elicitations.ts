/**
 * The questions of running tools to a person, until the engine hands their answers over. A question that is put while
 * there is no instance, or whose instance is lost, is put again to the next one.
 */
import type { ElicitationAnswer, ElicitationRequest } from "../api/index.js";
import { isObject, jsonOf } from "../options/check.js";
import { LoopletError } from "../api/errors.js";
import type { Driver } from "../host/engine.js";

interface Pending {
  readonly call: number;
  readonly number: number;
  readonly json: string;
  readonly resolve: (answer: ElicitationAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

export class Elicitations {
  readonly #driver: () => Driver | undefined;
  readonly #pending = new Set<Pending>();

  constructor(driver: () => Driver | undefined) {
    this.#driver = driver;
  }

  /** @throws LoopletError `misuse_invalid_argument` for a request without a message, or that JSON cannot hold */
  ask(call: number, number: number, request: ElicitationRequest): Promise<ElicitationAnswer> {
    if (!isObject(request) || typeof request.message !== "string") {
      const needed = 'needs { message: "…" }, the words for the person';
      throw new LoopletError("misuse_invalid_argument", "elicit", needed);
    }
    const json = jsonOf(request, "elicit", "misuse_invalid_argument")!;
    return new Promise((resolve, reject) => {
      const pending = { call, number, json, resolve, reject };
      this.#pending.add(pending);
      this.#put(pending);
    });
  }

  answer(call: number, number: number, answer: ElicitationAnswer): void {
    for (const pending of this.#of(call))
      if (pending.number === number && this.#pending.delete(pending)) pending.resolve(answer);
  }

  /** Puts the open questions to a fresh instance. */
  putAgain(): void {
    for (const pending of [...this.#pending]) this.#put(pending);
  }

  /** The call is over. */
  forget(call: number, reason: () => unknown): void {
    for (const pending of this.#of(call)) if (this.#pending.delete(pending)) pending.reject(reason());
  }

  #of(call: number): Pending[] {
    return this.#pending.size === 0 ? [] : [...this.#pending].filter((pending) => pending.call === call);
  }

  #put({ call, number, json }: Pending): void {
    this.#driver()?.toolAsks(call, number, json);
  }
}
