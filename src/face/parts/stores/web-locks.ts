/** Web Locks of a page or a worker: a lock ends with it. <https://w3c.github.io/web-locks/> */

/** The time that a page which is being left has to let go of its locks, in milliseconds. */
const LEAVING_MS = 500;

/** The locks of the browser, if it has any. */
export function lockManager(): LockManager | undefined {
  return (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
}

/** Holds a lock until it is let go, or until the page or the worker is gone. */
export async function hold(name: string): Promise<{ letGo: () => void }> {
  const locks = lockManager();
  if (locks === undefined) return { letGo: () => {} };
  return new Promise((resolve, reject) => {
    const granted = (): Promise<void> => new Promise((letGo) => resolve({ letGo }));
    // A holder that asks again has its lock already.
    locks.request(name, { mode: "shared" }, granted).catch(reject);
  });
}

/** Whether nobody holds the lock, or the page that holds it is just being left. False if the browser has no locks. */
export async function isGone(name: string): Promise<boolean> {
  const locks = lockManager();
  if (locks === undefined) return false;
  const signal = AbortSignal.timeout(LEAVING_MS);
  // A busy browser may grant a free lock later than that.
  return locks.request(name, { signal }, () => true).catch(async () => !(await isHeld(locks, name)));
}

async function isHeld(locks: LockManager, name: string): Promise<boolean> {
  const { held = [] } = await locks.query();
  return held.some((lock) => lock.name === name);
}

/** The names of the locks that somebody holds; undefined if the browser has no locks. */
export async function heldLocks(): Promise<(string | undefined)[] | undefined> {
  const { held = [] } = (await lockManager()?.query()) ?? { held: undefined };
  return lockManager() === undefined ? undefined : held.map(({ name }) => name);
}
