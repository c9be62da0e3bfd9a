/** Checks tool schemas with the engine, so that a schema that it refuses does not fail every run. */
import type { Tool } from "../../core/api/index.js";
import { instanceOf, isProblem, loadWasm, type LoadedWasm } from "../../core/kit/engine.js";

/** Why the engine refuses tools, by name. Empty while no engine can be started. */
export async function refusedTools(
  tools: readonly (readonly [name: string, tool: Tool])[],
): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  let wasm: LoadedWasm;
  try {
    wasm = await loadWasm();
  } catch {
    return refused;
  }
  if (tools.length === 0 || problemOf(wasm, tools) === undefined) return refused;
  for (const one of tools) {
    const problem = problemOf(wasm, [one]);
    if (problem !== undefined) refused.set(one[0], problem);
  }
  return refused;
}

function problemOf(
  wasm: LoadedWasm,
  tools: readonly (readonly [name: string, tool: Tool])[],
): string | undefined {
  const configs = tools.map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }));
  try {
    instanceOf(wasm).agent(JSON.stringify({ model: MODEL, tools: configs }));
    return undefined;
  } catch (error) {
    if (!isProblem(error)) throw error;
    return `${error.field} ${error.problem}`;
  }
}

/** A model that is never called. The engine needs one in each configuration. */
const MODEL = { vendor: "custom", model: "none" };
