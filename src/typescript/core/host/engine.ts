/** The TypeScript's view of the engine: a function that loads the WebAssembly once, and a driver per run. */
import type { RunReport, StreamedBlock, Usage } from "../api/index.js";
import type { HostCallbacks, RunDriver, RunSource } from "./driver.js";

/** The TypeScript's side of one run in the engine. */
export type Driver = Pick<RunDriver, keyof RunDriver>;

/**
 * Opens a run in the engine, with the JSON of the agent's configuration and the run's source. Throws
 * `{ field, problem }` for what the engine refuses.
 */
export type OpenRun = (config: string, source: RunSource, host: HostCallbacks) => Driver;

/** Starts the engine once and returns the function that opens runs. Rejects if the wasm cannot be loaded. */
export type LoadEngine = () => Promise<OpenRun>;

/** The engine's result, without the fields that the TypeScript adds. */
export type EngineResult = Omit<
  RunReport,
  "id" | "modelUsage" | "chatUsage" | "costUsd" | "costBasis" | "agent"
> & {
  modelUsage: { [model: string]: Usage | null };
  chatUsage: Usage | null;
  output: unknown;
  /** The blocks of the answer under way, which `messages` do not have. */
  streaming?: StreamedBlock[];
  /** The index of the agent that spoke last. */
  profile: number;
};

/** The result so far, if the engine still has it. The Rust side defines its types. */
export function resultOf(driver: Driver): EngineResult | undefined {
  return driver.result() as unknown as EngineResult | undefined;
}
