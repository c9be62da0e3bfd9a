/** Leases of a tab that is gone, in a browser that is too busy to grant a free lock in time. */
import { afterEach, expect, it, vi } from "vitest";
import { isGone } from "../../src/face/parts/stores/web-locks.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it.each([
  ["gone", [], true],
  ["gone, while another tab holds another lock", [{ name: "of another" }], true],
  ["there", [{ name: "of the tab" }], false],
])("a lock that a busy browser does not grant in time tells that its tab is %s", async (_, held, gone) => {
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
  vi.stubGlobal("navigator", {
    locks: {
      request: (_name: string, { signal }: { signal: AbortSignal }) => Promise.reject(signal.reason),
      query: async () => ({ held, pending: [] }),
    },
  });
  expect(await isGone("of the tab")).toBe(gone);
});
