/** Web Locks of a page or a worker. A lock is released when it ends. <https://w3c.github.io/web-locks/> */

/** How long to wait for a closing page to release its locks, in milliseconds. */
const LEAVING_MS = 500;

/** The interval between checks of such a lock, in milliseconds. */
const LOOK_MS = 50;

/** The locks of the browser, if it has any. */
export function lockManager(): LockManager | undefined {
  return (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
}

/** Holds a lock until it is released, or until the page or the worker ends. */
export async function hold(name: string): Promise<{ letGo: () => void }> {
  const locks = lockManager();
  if (locks === undefined) return { letGo: () => {} };
  return new Promise((resolve, reject) => {
    const granted = (): Promise<void> => new Promise((letGo) => resolve({ letGo }));
    // A holder that requests it a second time has its lock already.
    locks.request(name, { mode: "shared" }, granted).catch(reject);
  });
}

/**
 * Whether the lock is free, or its page is closing. False if the browser has no locks. It never queues for the lock:
 * in Chromium 156, a request of another mode that waits after an aborted request is not granted before the lock is
 * released.
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

/** The names of the held locks, or undefined if the browser has no locks. */
export async function heldLocks(): Promise<(string | undefined)[] | undefined> {
  const { held = [] } = (await lockManager()?.query()) ?? { held: undefined };
  return lockManager() === undefined ? undefined : held.map(({ name }) => name);
}
