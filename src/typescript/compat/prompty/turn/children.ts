/** The files of tools of kind `prompty`. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { ValueError } from "../errors.js";
import { load } from "../file/load.js";
import { folderOf, joinPath } from "../file/paths.js";
import { placeInside } from "../file/references.js";
import type { Prompty, PromptyHost, PromptyTool } from "../types.js";

/** Files that one file has as tools. Each is read before the first request. */
const MAX_CHILDREN = 50;
/** Files that lead to a running one, each a tool of the one before. */
const MAX_GENERATIONS = 8;

/**
 * The agent, with the inputs of the files as parameters of its tools of kind `prompty`. Throws as `childPath` and
 * `load`.
 */
export async function offered(
  agent: Prompty,
  within: readonly string[],
  host: PromptyHost,
  signal: HostAbortSignal | undefined,
): Promise<Prompty> {
  const tools: PromptyTool[] = [];
  let children = 0;
  for (const tool of agent.tools) {
    if (tool.kind !== "prompty" || tool.parameters !== undefined || tool.path === undefined) {
      tools.push(tool);
      continue;
    }
    children += 1;
    if (children > MAX_CHILDREN)
      throw new ValueError(
        `${agent.path ?? "The agent"} has more than ${MAX_CHILDREN} tools of kind prompty`,
      );
    const child = await load(await childPath(tool, agent, within, host), { host, signal });
    const description = tool.description ?? child.description ?? tool.name;
    tools.push({ ...tool, description, parameters: child.inputs });
  }
  return { ...agent, tools };
}

/**
 * The path of a tool's file, in the folder of one of the files that lead to it. `within` are those above the parent.
 *
 * @throws ValueError for a tool without a path, and for a path that leads out
 */
export async function childPath(
  { name, path }: PromptyTool,
  parent: Pick<Prompty, "path">,
  within: readonly string[],
  host: PromptyHost,
): Promise<string> {
  if (typeof path !== "string") throw new ValueError(`The tool ${name} needs a path`);
  const files = filesOf(parent, within);
  const target = joinPath(folderOf(parent.path ?? ""), path);
  await placeInside(target, files.length === 0 ? [""] : files.map(folderOf), host);
  return target;
}

/** The files that lead to the tools of an agent, itself the last. */
export function filesOf({ path }: Pick<Prompty, "path">, within: readonly string[]): readonly string[] {
  return path === undefined ? within : [...within, path];
}

/** @throws ValueError for a file that is running, and for one below too many others */
export function checkMayRun(path: string, files: readonly string[]): void {
  if (files.includes(path)) throw new ValueError(`${path} is already running`);
  if (files.length > MAX_GENERATIONS)
    throw new ValueError(`${path} is not run: ${MAX_GENERATIONS} files lead to it already`);
}
