/** Deletes the journals of ended runs after a time. */
import type { Store } from "../../../core/api/run.js";

/**
 * Deletes the journals of runs that ended at least `ageMs` ago, and returns their keys. `filter` selects among them.
 * A journal that another process has started to continue stays. A chat is ended between two runs, so use `filter` to
 * decide whether to delete it.
 *
 * @throws TypeError for a store without `lease`, `ended` or `delete`
 */
export async function dropEnded(
  store: Store,
  ageMs: number,
  filter: (key: string) => boolean = () => true,
): Promise<string[]> {
  if (store.lease === undefined || store.ended === undefined || store.delete === undefined)
    throw new TypeError("dropEnded: the store needs lease, ended and delete");
  if (!(ageMs >= 0)) throw new TypeError("dropEnded: ageMs needs a number of milliseconds from 0 on");
  const dropped: string[] = [];
  for (const key of await store.ended(ageMs)) {
    if (!filter(key)) continue;
    const holder = `dropEnded ${Math.random()}`;
    const lease = await store.lease(key, { holder, ttlMs: DROP_MS });
    if (lease === undefined) continue;
    await store.delete(key);
    dropped.push(key);
  }
  return dropped;
}

/** The time that a deletion may take, in milliseconds. */
const DROP_MS = 60_000;
