/** Leases of a tab that is gone, or that is just being left. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isGone } from "../../../src/typescript/extras/stores/web-locks.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([
  ["gone", 0, true],
  ["gone, if it lets go of its lock soon", 400, true],
  ["there, if it holds its lock", Infinity, false],
])("a tab is %s", async (_, freeAtMs, gone) => {
  const start = Date.now();
  const modes: object[] = [];
  vi.stubGlobal("navigator", {
    locks: {
      async request(name: string, options: object, granted: (lock: object | null) => unknown) {
        modes.push(options);
        return granted(Date.now() - start >= freeAtMs ? { name } : null);
      },
    },
  });
  const told = isGone("of the tab");
  await vi.advanceTimersByTimeAsync(1000);
  expect(await told).toBe(gone);
  // A request that waits would be in the way of the tab's own.
  expect(modes.every((options) => "ifAvailable" in options)).toBe(true);
});
