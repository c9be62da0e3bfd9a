import type { Clock } from "../../../src/typescript/core/api/index.js";

/** A clock that a test moves. */
export class VirtualClock implements Clock {
  #nowMs = 1000;
  #timers: { dueMs: number; callback: () => void }[] = [];

  readonly now = (): number => this.#nowMs;

  setTimer(callback: () => void, delayMs: number): unknown {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }

  /** Lets `ms` pass. Timers fire in their order, and the work that follows each is done before the next. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = this.#timers
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((one, other) => one.dueMs - other.dueMs)[0];
      if (due === undefined) break;
      this.clearTimer(due);
      this.#nowMs = Math.max(this.#nowMs, due.dueMs);
      due.callback();
      await settled();
    }
    this.#nowMs = untilMs;
    await settled();
  }
}

/** Lets everything happen that waits for no timer. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
