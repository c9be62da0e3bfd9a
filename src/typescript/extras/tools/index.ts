/**
 * `looplet/tools`: the tools of the Claude Agent SDK by their names, over what a program gives them, and tools that
 * pages run.
 */
import type { Tool } from "../../core/api/index.js";
import { resolvePath } from "../vfs/paths.js";
import { fileTools } from "./files.js";
import { askUserTool, bashTool, todoTool, webFetchTool, webSearchTool } from "./other.js";
import { portProblem, type ToolPorts } from "./ports.js";
import { searchTools } from "./search.js";

export { isPageCall } from "./page-call.js";
export { pageTool, type PageToolOptions } from "./page-tool.js";
export { fetchPages, type PageOptions } from "./pages.js";
export type * from "./ports.js";
export { toolSearch, type ToolSearchOptions } from "./tool-search.js";

/** The names of the tools that {@link builtinTools} may return, in their order. */
export type BuiltinToolName =
  | "Read"
  | "Write"
  | "Edit"
  | "Glob"
  | "Grep"
  | "Bash"
  | "WebFetch"
  | "WebSearch"
  | "TodoWrite"
  | "AskUserQuestion";

/**
 * The tools whose ports are given, for `tools` of `createAgent`. TodoWrite needs no port.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { builtinTools } from "looplet/tools";
 * import { memoryVfs } from "looplet/vfs";
 *
 * const { Read, Grep } = builtinTools({ vfs: memoryVfs({ "/notes.md": "Buy milk" }) });
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, tools: { Read: Read!, Grep: Grep! } });
 * ```
 *
 * @throws Error for a folder outside of the files, and TypeError for an invalid port
 */
export function builtinTools(ports: ToolPorts = {}): { [name in BuiltinToolName]?: Tool } {
  const problem = portProblem(ports);
  if (problem !== undefined) throw new TypeError(`builtinTools: ${problem.port} ${problem.needs}`);
  const cwd = resolvePath(ports.cwd ?? "/");
  const { vfs, bash, search, webFetch, asksUser, env, additionalDirectories = [] } = ports;
  const folders = [cwd, ...additionalDirectories.map((folder) => resolvePath(folder, cwd))];
  return {
    ...(vfs && { ...fileTools(vfs, cwd, folders), ...searchTools(vfs, cwd) }),
    ...(bash && { Bash: bashTool(bash, { cwd, env, vfs }) }),
    ...(webFetch && { WebFetch: webFetchTool(webFetch) }),
    ...(search && { WebSearch: webSearchTool(search) }),
    TodoWrite: todoTool(ports),
    ...(asksUser && { AskUserQuestion: askUserTool() }),
  };
}
