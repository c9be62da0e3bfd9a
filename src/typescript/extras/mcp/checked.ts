/** Asks the engine about the schemas of tools, so that one which it refuses does not end the runs of all others. */
import type { Tool } from "../../core/api/index.js";
import { instanceOf, isProblem, loadWasm, type LoadedWasm } from "../../core/kit/engine.js";

/** Why the engine refuses tools, by their names. Nothing is known where no engine can be started yet. */
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

/** A model that is never asked: the engine takes no configuration without one. */
const MODEL = { vendor: "custom", model: "none" };
