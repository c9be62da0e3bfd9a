import { warn } from "../host.js";
import { ValueError } from "./errors.js";
import type { ToolFunction } from "./registry.js";
import type { Prompty, PromptyHost } from "./types.js";

/**
 * The functions of an agent's tools as one record for `turn`, checked against the file. A declared tool without a
 * function is a warning. Neither the agent nor the registry changes.
 *
 * @throws ValueError for a name that two functions have, and for one that the file does not declare
 */
export function bindTools(
  agent: Prompty,
  tools: Iterable<readonly [name: string, run: ToolFunction]> | { [name: string]: ToolFunction },
  host: Pick<PromptyHost, "logger"> = {},
): { [name: string]: ToolFunction } {
  const declared = agent.tools.filter(({ kind }) => kind === "function").map(({ name }) => name);
  const pairs =
    Symbol.iterator in tools ? [...(tools as Iterable<[string, ToolFunction]>)] : Object.entries(tools);
  const bound = new Map<string, ToolFunction>();
  for (const [name, run] of pairs) {
    if (bound.has(name)) throw new ValueError(`Duplicate tool handler: ${name}`);
    if (!declared.includes(name))
      throw new ValueError(`Tool not declared: ${name}; declared are: ${declared.join(", ") || "none"}`);
    bound.set(name, run);
  }
  for (const name of declared) if (!bound.has(name)) warn(host, `No handler for the declared tool: ${name}`);
  return Object.fromEntries(bound);
}
