/** Entries in the `sessionStorage` of a tab, which the next page of the tab finds. */

/** The entries of this key. Empty without storage, as in a worker, or if it is damaged. */
export function readTab<T>(key: string): [string, T][] {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "[]") as [string, T][];
  } catch {
    return [];
  }
}

export function writeTab(key: string, entries: Iterable<readonly [string, unknown]>): void {
  try {
    sessionStorage.setItem(key, JSON.stringify([...entries]));
  } catch {
    // There is no storage, or it is full: the next page finds nothing new.
  }
}
