/** The most that a run may use, asked of the engine before the run. */
import type { RunBound } from "../api/result.js";
import { LoopletError } from "../api/errors.js";
import { instanceOf, isProblem } from "../host/instance.js";
import { loadWasm } from "../host/wasm.js";

/** `prompt` and `options` are the engine's JSON. Rejects with a `LoopletError` for what the engine refuses. */
export async function boundOf(config: string, prompt: string, options: string): Promise<RunBound> {
  const instance = instanceOf(await loadWasm());
  try {
    const text = instance.enter(() => instance.agent(config)?.bound(prompt, options));
    const bound = JSON.parse(text!) as Omit<RunBound, "costUsd">;
    const { costNanoUsd } = bound;
    return { ...bound, costUsd: costNanoUsd === null ? null : costNanoUsd / 1e9 };
  } catch (error) {
    if (isProblem(error)) throw new LoopletError("config_invalid_value", error.field, error.problem);
    throw error;
  }
}
