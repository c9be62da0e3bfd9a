/** Calls on a run that come before the engine is loaded, or while a fresh instance takes the place of a lost one. */
import type { Raise } from "../generated/input.js";
import type { Driver } from "../host/engine.js";
import type { Message } from "./steers.js";

export class Early {
  /** Calls to repeat on the driver before the run begins. */
  first: ((driver: Driver) => void)[] = [];
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

  /** `go` begins the run, or goes on with it. */
  begin(driver: Driver, go: () => void): void {
    const { first, budgets } = this;
    [this.first, this.budgets] = [[], []];
    for (const tell of first) tell(driver);
    // Steers come before the prompt, so that the first request takes them along.
    for (const message of this.#queued) driver.steer(message);
    this.#queued = [];
    go();
    for (const { agentPath, more } of budgets) driver.addBudget(agentPath, more);
  }
}
