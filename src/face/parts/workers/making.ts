/** Things that are made once each. Whoever asks meanwhile gets the one in the making, and a failure is made anew. */
export class Making<T> {
  readonly #made = new Map<string, Promise<T>>();

  of(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#made.set(name, made);
    made.catch(() => this.forget(name));
    return made;
  }

  forget(name: string): void {
    this.#made.delete(name);
  }

  all(): Promise<T[]> {
    return Promise.all(this.#made.values());
  }
}
