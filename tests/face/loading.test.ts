import { expect, it, vi } from "vitest";
import type { Driver, LoadEngine, OpenRun } from "../../src/face/run/engine.js";
import { Loading } from "../../src/face/host/loading.js";
import { PERMISSION_MODES } from "../../src/face/options/permissions.js";

/** An engine whose parts come when `arrive` is called. */
function engine(): { load: LoadEngine; arrive: (failure?: Error) => Promise<void> } {
  let isThere = false;
  const waiting: { resolve: (open: OpenRun) => void; reject: (failure: Error) => void }[] = [];
  const load = Object.assign(
    () => new Promise<OpenRun>((resolve, reject) => waiting.push({ resolve, reject })),
    { lacks: (parts: Iterable<string>) => !isThere && [...parts].length > 0 },
  );
  const arrive = async (failure?: Error): Promise<void> => {
    isThere = failure === undefined;
    for (const { resolve, reject } of waiting.splice(0))
      if (failure) reject(failure);
      else resolve((() => undefined) as unknown as OpenRun);
    await new Promise((done) => setTimeout(done, 0));
  };
  return { load, arrive };
}

function driver(): { modes: string[]; driver: Driver } {
  const modes: string[] = [];
  const setMode = (mode: number): unknown => modes.push(PERMISSION_MODES[mode]!);
  return { modes, driver: { setMode } as unknown as Driver };
}

it("a mode that looks at what calls are about waits for its part, others do not", async () => {
  const { load, arrive } = engine();
  const { modes, driver: running } = driver();
  const loading = new Loading(load, new Set());
  loading.switchMode("acceptEdits", running, () => {});
  expect(modes).toEqual([]);
  await arrive();
  expect(modes).toEqual(["acceptEdits"]);
  loading.switchMode("plan", running, () => {});
  expect(modes).toEqual(["acceptEdits", "plan"]);
});

it("a mode that arrives late does not undo a later switch", async () => {
  const { load, arrive } = engine();
  const { modes, driver: running } = driver();
  const loading = new Loading(load, new Set());
  loading.switchMode("acceptEdits", running, () => {});
  loading.switchMode("plan", running, () => {});
  expect(modes).toEqual(["plan"]);
  await arrive();
  expect(modes).toEqual(["plan"]);
});

it("a part that cannot be loaded is told, and the mode stays", async () => {
  const { load, arrive } = engine();
  const { modes, driver: running } = driver();
  const onFailure = vi.fn();
  new Loading(load, new Set()).switchMode("acceptEdits", running, onFailure);
  const failure = new Error("offline");
  await arrive(failure);
  expect(onFailure).toHaveBeenCalledWith(failure);
  expect(modes).toEqual([]);
});
