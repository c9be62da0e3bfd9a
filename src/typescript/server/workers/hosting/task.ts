/** Tasks of the platform's event loop that looplet itself waits for, independent of a run's clock. */

let open = 0;

/** Resolves in a new task, after every timer of 0 ms that was set before. */
export function nextTask(): Promise<void> {
  open += 1;
  return new Promise((resolve) => {
    setTimeout(() => {
      open -= 1;
      resolve();
    }, 0);
  });
}

/** Whether such a task is pending. A simulation lets it run before its time advances. */
export function isTaskOpen(): boolean {
  return open > 0;
}
