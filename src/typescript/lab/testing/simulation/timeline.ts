/**
 * Virtual time: a queue of callbacks, and a clock that jumps to the next of them when nothing else can happen.
 * JavaScript cannot detect that state directly. A turn of the event loop runs all promises that wait only for each
 * other, so one turn between two callbacks is enough, unless code waits for real timers or real I/O.
 */
import type { Clock } from "../../../core/api/index.js";
import { isBrowser } from "../../../core/kit/models.js";

/** The time at which every run begins, in milliseconds since the epoch: the start of the year 2026. */
export const START_MS = Date.UTC(2026, 0, 1);

/** The process that a callback belongs to. */
export interface Owner {
  /** Nothing happens in it any more. */
  readonly isDead: boolean;
  /** Nothing happens in it before this time. */
  readonly asleepUntilMs: number;
}

interface Due {
  dueMs: number;
  readonly callback: () => void;
  readonly owner: Owner | undefined;
}

export class Timeline {
  nowMs = START_MS;
  readonly #due: Due[] = [];

  /** Calls `callback` once when `delayMs` have passed, unless its owner is dead by then. */
  after(delayMs: number, callback: () => void, owner?: Owner): Due {
    const due = { dueMs: this.nowMs + Math.max(0, delayMs || 0), callback, owner };
    this.#add(due);
    return due;
  }

  cancel(due: unknown): void {
    const at = this.#due.indexOf(due as Due);
    if (at >= 0) this.#due.splice(at, 1);
  }

  /** Advances to the next callback and calls it. Returns false if there is none up to `untilMs`. */
  step(untilMs: number): boolean {
    for (;;) {
      const due = this.#due[0];
      if (due === undefined || due.dueMs > untilMs) return false;
      this.#due.shift();
      const { owner } = due;
      if (owner?.isDead === true) continue;
      if (owner !== undefined && owner.asleepUntilMs > due.dueMs) {
        due.dueMs = owner.asleepUntilMs;
        this.#add(due);
        continue;
      }
      this.nowMs = due.dueMs;
      due.callback();
      return true;
    }
  }

  /** The clock of a process. */
  clock(owner: Owner): Clock {
    return {
      now: () => this.nowMs,
      setTimer: (callback, delayMs) => this.after(delayMs, callback, owner),
      clearTimer: (timer) => this.cancel(timer),
    };
  }

  /** Callbacks of one moment keep their order. */
  #add(due: Due): void {
    let at = this.#due.length;
    while (at > 0 && this.#due[at - 1]!.dueMs > due.dueMs) at--;
    this.#due.splice(at, 0, due);
  }
}

type Later = (callback: () => void) => unknown;

// Tests that put other timers in the place of the platform's do so later.
const immediate = (globalThis as { setImmediate?: Later }).setImmediate;
const timeout = globalThis.setTimeout;
let later: Later | undefined;

/** One turn of the event loop. */
export function turn(): Promise<void> {
  later ??= immediate ?? (isBrowser() ? byChannel() : (callback) => timeout(callback, 0));
  return new Promise((resolve) => void later!(resolve));
}

/** A task after those that had a timer of 0 before. */
export function task(): Promise<void> {
  return new Promise((resolve) => void timeout(resolve, 0));
}

/** Browsers make timers wait, and messages not. */
function byChannel(): Later {
  const { port1, port2 } = new MessageChannel();
  const next: (() => void)[] = [];
  port1.onmessage = () => next.shift()?.();
  return (callback) => {
    next.push(callback);
    port2.postMessage(0);
  };
}

/** A promise that never settles. Each caller gets a new one, so that none keeps the others in memory. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
