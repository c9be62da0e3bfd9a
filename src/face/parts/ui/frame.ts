/** Calls `update` once, before the next frame is drawn. */
export type Frame = (update: () => void) => void;

/** The time after which a page that draws no frames is updated all the same, in milliseconds. */
const HIDDEN_MS = 100;

/** The frames of the page. Hidden tabs and programs without a screen draw none, so a timer takes their place. */
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
