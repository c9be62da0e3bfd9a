/** Stop requests that no server has accepted yet. The next page of the tab sends them again. */
import { readTab, writeTab } from "./tab-storage.js";

export interface Stop {
  readonly session: string;
  readonly args: readonly unknown[];
}

export class TabStops {
  readonly #key: string;
  /** By run. */
  readonly #stops: Map<string, Stop>;

  constructor(address: string) {
    this.#key = `looplet stops ${address}`;
    this.#stops = new Map(readTab<Stop>(this.#key));
  }

  /** All stops, those of the page before in their order. */
  get all(): readonly (readonly [run: string, stop: Stop])[] {
    return [...this.#stops];
  }

  add(run: string, stop: Stop): void {
    this.#stops.set(run, stop);
    writeTab(this.#key, this.#stops);
  }

  remove(run: string): void {
    if (this.#stops.delete(run)) writeTab(this.#key, this.#stops);
  }
}
