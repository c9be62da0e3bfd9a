/** Draws at most once per frame, however many events arrive. */

interface Drawable {
  draw(): void;
}

const waiting = new Set<Drawable>();
let frame: number | undefined;

/** Calls `view.draw()` before the next paint; asking again until then changes nothing. */
export function drawSoon(view: Drawable): void {
  waiting.add(view);
  frame ??= requestAnimationFrame(drawNow);
}

/** Draws what waits at once: a tab in the background has no frames. */
export function drawNow(): void {
  if (frame !== undefined) cancelAnimationFrame(frame);
  frame = undefined;
  const views = [...waiting];
  waiting.clear();
  for (const view of views) view.draw();
}
