/** State that components draw: it never changes but is replaced. */
import { useSyncExternalStore } from "react";

export class Store<State extends object> {
  #state: State;
  readonly #listeners = new Set<() => void>();
  #frame: number | undefined;

  constructor(state: State) {
    this.#state = state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): State => this.#state;

  /** The pieces of an answer are one update for each frame. */
  protected set(change: Partial<State>, isPiece = false): void {
    this.#state = { ...this.#state, ...change };
    if (isPiece) this.#frame ??= requestAnimationFrame(() => this.#tell());
    else this.#tell();
  }

  #tell(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    for (const listener of this.#listeners) listener();
  }
}

export function useStore<State extends object>({ subscribe, getState }: Store<State>): State {
  return useSyncExternalStore(subscribe, getState);
}
