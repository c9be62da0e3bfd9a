/** When a page draws what events bring. */
import type { RunEvent } from "../../core/api/index.js";
import { EventBuffer } from "../../core/kit/runs.js";

/** Calls `update` once, before the next frame is drawn. */
export type Frame = (update: () => void) => void;

/** The time after which a page that draws no frames is updated all the same, in milliseconds. */
const HIDDEN_MS = 100;

/** The page's animation frames. Hidden tabs and programs without a screen have none, so a timer replaces them. */
export const pageFrame: Frame = (update) => {
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    update();
  };
  const timer = setTimeout(once, typeof requestAnimationFrame === "function" ? HIDDEN_MS : 0);
  if (typeof requestAnimationFrame === "function") requestAnimationFrame(once);
};

/** The events that the next frame takes. */
export class FramedEvents {
  readonly #frame: Frame;
  readonly #update: () => void;
  #events = new EventBuffer();
  #isUpdating = false;

  constructor(frame: Frame, update: () => void) {
    this.#frame = frame;
    this.#update = update;
  }

  add(event: RunEvent): void {
    this.#events.add(event);
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    this.#frame(() => {
      this.#isUpdating = false;
      this.#update();
    });
  }

  shift(): RunEvent | undefined {
    return this.#events.shift();
  }

  clear(): void {
    this.#events = new EventBuffer();
  }
}
