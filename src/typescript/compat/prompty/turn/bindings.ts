/** The definition of a called tool, and the arguments that the inputs of its agent fill. */
import type { PromptInputs, Prompty, PromptyTool } from "../types.js";

/** The tool that an agent declares by a name, or `null`. */
export function findToolDefinition({ tools }: Pick<Prompty, "tools">, name: string): PromptyTool | null {
  return tools.find((tool) => tool.name === name) ?? null;
}

/**
 * The arguments with the values that the tool binds to inputs. A bound value replaces the model's. An input that is
 * not given leaves the argument as it is. Returns a new object.
 */
export function applyBindings(
  { bindings }: Pick<PromptyTool, "bindings">,
  args: PromptInputs,
  inputs: PromptInputs,
): PromptInputs {
  const given = Object.entries(bindings ?? {}).filter(([, { input }]) => Object.hasOwn(inputs, input));
  return {
    ...args,
    ...Object.fromEntries(given.map(([parameter, { input }]) => [parameter, inputs[input]])),
  };
}
