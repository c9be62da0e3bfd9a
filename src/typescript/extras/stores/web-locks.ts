/** Web Locks of a page or a worker: a lock ends with it. <https://w3c.github.io/web-locks/> */

/** The time that a page which is being left has to let go of its locks, in milliseconds. */
const LEAVING_MS = 500;

/** The time between two looks at the lock of such a page, in milliseconds. */
const LOOK_MS = 50;

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

/**
 * Whether nobody holds the lock, or the page that holds it is just being left. False if the browser has no locks. It
 * never queues for the lock: in Chromium 156 a request of another mode that waits behind a request which is aborted
 * is not granted before the lock is let go.
 */
export async function isGone(name: string): Promise<boolean> {
  const locks = lockManager();
  if (locks === undefined) return false;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    if (await locks.request(name, { ifAvailable: true }, (lock) => lock !== null)) return true;
    if (waitedMs >= LEAVING_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The names of the locks that somebody holds; undefined if the browser has no locks. */
export async function heldLocks(): Promise<(string | undefined)[] | undefined> {
  const { held = [] } = (await lockManager()?.query()) ?? { held: undefined };
  return lockManager() === undefined ? undefined : held.map(({ name }) => name);
}
