/** Tasks of the platform's event loop that looplet's own code waits for, beside the clock of a run. */

let open = 0;

/** Resolves in a task of its own, behind everything that had a timer of 0 before. */
export function nextTask(): Promise<void> {
  open += 1;
  return new Promise((resolve) => {
    setTimeout(() => {
      open -= 1;
      resolve();
    }, 0);
  });
}

/** Whether a task is to come for which somebody waits: a simulation lets it come before its time goes on. */
export function isTaskOpen(): boolean {
  return open > 0;
}
