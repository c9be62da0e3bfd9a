/** Entries in the `sessionStorage` of a tab, which the next page of the tab finds. */

/** The entries of this key; none where there is no storage, as in a worker, or where it is damaged. */
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
    // There is none, or it is full: the next page finds nothing new.
  }
}
