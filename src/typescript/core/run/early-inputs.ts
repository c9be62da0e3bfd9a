/** Keeps calls on a run that come before the engine is loaded, or while a new instance replaces one that crashed. */
import type { Input, Raise } from "../generated/input.js";
import type { Driver } from "../host/engine.js";
import { inputOf, type Message } from "./steers.js";

export class EarlyInputs {
  /** Inputs for the engine before the run begins. */
  first: Input[] = [];
  /** Limits to raise after the run has begun. */
  budgets: { agentPath: string; more: Raise }[] = [];
  #queued: Message[] = [];

  /** Ids of the queued steers and follow-ups. */
  get ids(): number[] {
    return this.#queued.map(({ id }) => id);
  }

  queue(message: Message): void {
    this.#queued.push(message);
  }

  withdraw(id: number): boolean {
    const before = this.#queued.length;
    this.#queued = this.#queued.filter((queued) => queued.id !== id);
    return this.#queued.length < before;
  }

  /** `go` starts or resumes the run. */
  begin(driver: Driver, go: () => void): void {
    const { first, budgets } = this;
    [this.first, this.budgets] = [[], []];
    for (const input of first) driver.tell(input);
    // Steers come before the prompt, so that the first request takes them along.
    for (const message of this.#queued) driver.tell(inputOf(message));
    this.#queued = [];
    go();
    for (const budget of budgets) driver.tell({ addBudget: budget });
  }
}
