/** Calls on a run that come before the engine is loaded. */
import type { ContentBlock } from "../api/index.js";
import type { Raise } from "../generated/input.js";
import type { Driver } from "./engine.js";

export class Early {
  /** Calls to repeat on the driver before the run begins. */
  readonly first: ((driver: Driver) => void)[] = [];
  /** Limits to raise after the run has begun. */
  readonly budgets: { agentPath: string; more: Raise }[] = [];
  #queued: { id: number; isSteer: boolean; content: ContentBlock[] }[] = [];

  /** Ids of the queued steers and follow-ups. */
  get ids(): number[] {
    return this.#queued.map(({ id }) => id);
  }

  queue(id: number, isSteer: boolean, content: ContentBlock[]): void {
    this.#queued.push({ id, isSteer, content });
  }

  withdraw(id: number): boolean {
    const before = this.#queued.length;
    this.#queued = this.#queued.filter((queued) => queued.id !== id);
    return this.#queued.length < before;
  }

  /** Without a prompt the run goes on with its journal. */
  begin(driver: Driver, prompt: readonly ContentBlock[] | undefined): void {
    for (const tell of this.first) tell(driver);
    // Steers come before the prompt, so that the first request takes them along.
    for (const { id, isSteer, content } of this.#queued) {
      if (isSteer) driver.steer(id, content);
      else driver.followUp(id, content);
    }
    this.#queued = [];
    if (prompt === undefined) driver.resume();
    else driver.start(prompt);
    for (const { agentPath, more } of this.budgets) driver.addBudget(agentPath, more);
  }
}
