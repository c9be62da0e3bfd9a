/** The runs that a tab follows, with their cursors, in its `sessionStorage`. A reloaded page resumes them. */
import type { Following } from "../connection.js";
import { readTab, writeTab } from "./tab-storage.js";

interface Kept {
  readonly chat?: string | undefined;
  readonly cursor: string;
}

export class TabRuns {
  readonly #key: string;
  readonly #runs: Map<string, Kept>;
  /** The first follower of each run. Others may have another place. */
  readonly #keepers = new Map<string, Following>();

  constructor(address: string) {
    this.#key = `looplet ${address}`;
    this.#runs = new Map(readTab<Kept>(this.#key));
  }

  /** The runs that the page before has followed, and this one does not. */
  left(): { readonly run: string; readonly chat?: string | undefined }[] {
    const left = [...this.#runs].filter(([run]) => !this.#keepers.has(run));
    return left.map(([run, { chat }]) => ({ run, chat }));
  }

  cursorOf(run: string): string | undefined {
    return this.#runs.get(run)?.cursor;
  }

  keep(follower: Following, cursor: string): void {
    const { run = "", chat } = follower.target;
    const keeper = this.#keepers.get(run) ?? follower;
    if (keeper !== follower) return;
    this.#keepers.set(run, keeper);
    this.#runs.set(run, { chat, cursor });
    writeTab(this.#key, this.#runs);
  }

  forget(follower: Following): void {
    const { run = "" } = follower.target;
    if (this.#keepers.get(run) !== follower) return;
    this.#keepers.delete(run);
    this.#runs.delete(run);
    writeTab(this.#key, this.#runs);
  }
}
