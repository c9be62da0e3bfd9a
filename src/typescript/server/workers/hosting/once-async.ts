/**
 * Values that are created once each. Concurrent callers share one creation, and after a failure the next call
 * retries.
 */
export class OnceAsync<T> {
  readonly #made = new Map<string, Promise<T>>();

  /** The number of things that were made and not forgotten. */
  get size(): number {
    return this.#made.size;
  }

  get(name: string): Promise<T> | undefined {
    return this.#made.get(name);
  }

  of(name: string, make: () => Promise<T>): Promise<T> {
    return this.#made.get(name) ?? this.put(name, make());
  }

  /** Puts one into the place of another. */
  put(name: string, made: Promise<T>): Promise<T> {
    this.#made.set(name, made);
    made.catch(() => this.#made.get(name) === made && this.forget(name));
    return made;
  }

  forget(name: string): void {
    this.#made.delete(name);
  }
}
