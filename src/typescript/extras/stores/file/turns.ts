/**
 * Serializes work on the same file. All stores of this process share the queues, so no task reads what another is
 * still writing.
 */

/** The tasks that work at the same time. Each has a file open, and a process may have few: often 1024. */
const MAX_TASKS = 64;

/** The last task of each path. */
const queues = new Map<string, Promise<void>>();

/** Runs `task` when all earlier tasks of this path have settled, and settles as it does. */
export function inTurn<T>(path: string, task: () => Promise<T>): Promise<T> {
  const result = (queues.get(path) ?? Promise.resolve()).then(() => amongFew(task));
  const settled = result.then(ignore, ignore).then(() => {
    if (queues.get(path) === settled) queues.delete(path);
  });
  queues.set(path, settled);
  return result;
}

let working = 0;
const waiting: (() => void)[] = [];

async function amongFew<T>(task: () => Promise<T>): Promise<T> {
  // A task that ends passes its slot to the next one.
  if (working === MAX_TASKS) await new Promise<void>((resolve) => waiting.push(resolve));
  else working += 1;
  try {
    return await task();
  } finally {
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next();
  }
}

const ignore = (): void => {};
