/** What the face needs of the engine: a driver per run, from a function that loads the WebAssembly once. */
import type { RunReport } from "../api/index.js";
import type { HostCallbacks, RunDriver } from "../host/driver.js";

/** The face's side of one run in the engine. */
export type Driver = Pick<RunDriver, keyof RunDriver>;

/** Opens a run in the engine. Throws `{ field, problem }` for a configuration that the engine refuses. */
export type OpenRun = (configJson: string, host: HostCallbacks) => Driver;

/** Starts the engine once, and gives the function that opens runs; rejects when the wasm cannot be loaded. */
export type LoadEngine = () => Promise<OpenRun>;

/** The engine's result without what the face makes of it. */
export type EngineResult = Omit<RunReport, "costUsd" | "costBasis"> & { output: unknown };

/** What the engine says at any time, if it still can; its types are those of the Rust side. */
export function resultOf(driver: Driver): EngineResult | undefined {
  return driver.result() as unknown as EngineResult | undefined;
}
