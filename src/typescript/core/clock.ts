/** The clock of the platform, for agents, supervisors and mirrors that get none. */
import type { Clock } from "./api/index.js";

export const HOST_CLOCK: Clock = {
  now: () => Date.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};
