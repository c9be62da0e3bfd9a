/**
 * Work on the same file, one task after the other. All stores of this process share the queues, so that no task reads
 * what another one is still writing.
 */

/** The last task of each path. */
const queues = new Map<string, Promise<void>>();

/** Runs `task` when all earlier tasks of this path have settled, and settles as it does. */
export function inTurn<T>(path: string, task: () => Promise<T>): Promise<T> {
  const result = (queues.get(path) ?? Promise.resolve()).then(task);
  const settled = result.then(ignore, ignore).then(() => {
    if (queues.get(path) === settled) queues.delete(path);
  });
  queues.set(path, settled);
  return result;
}

const ignore = (): void => {};
