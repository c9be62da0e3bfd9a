/** The list of a server's tools: bounded, and without malformed tools. */
import { isObject } from "../../core/kit/check.js";
import { McpError } from "./errors.js";
import type { McpTool } from "./types.js";
import { wordsOf, type Fields } from "./wire.js";

/** The most pages of a list, and the most tools. */
const MAX_PAGES = 100;
const MAX_TOOLS = 2000;

/** The most characters of a tool's name, and of its description and its schema together: they go along with each request. */
const MAX_NAME_CHARS = 1000;
const MAX_TOOL_CHARS = 256 * 1024;

/** Reads one page. */
export type Page = (params: Fields) => Promise<Fields>;

/**
 * The tools of all pages.
 *
 * @throws McpError `too_large`
 */
export async function listed(
  page: Page,
  address: string,
  warn: (message: string) => void,
): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  const cursors = new Set<string>();
  let left = 0;
  let params: Fields = {};
  for (let read = 0; read < MAX_PAGES; read++) {
    const { tools: found, nextCursor } = await page(params);
    for (const one of Array.isArray(found) ? (found as unknown[]) : []) {
      const problem = problemOf(one);
      if (problem === undefined) tools.push(toolOf(one as Fields));
      else if ((left += 1) <= MAX_WARNINGS) warn(problem);
      if (tools.length + left > MAX_TOOLS) throw tooLong(address, `${MAX_TOOLS} tools`);
    }
    if (typeof nextCursor !== "string" || nextCursor === "") return tools;
    if (cursors.has(nextCursor))
      throw tooLong(address, "its pages: one of them refers to itself as the next page");
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  throw tooLong(address, `${MAX_PAGES} pages`);
}

/** The most tools of a list that a warning is given for. */
export const MAX_WARNINGS = 20;

function tooLong(address: string, most: string): McpError {
  return new McpError("too_large", `tools/list of the MCP server ${address} has more than ${most}.`);
}

/** Why a tool is omitted. */
function problemOf(tool: unknown): string | undefined {
  if (!isObject(tool)) return "A tool that is not an object is omitted.";
  const { name, description, inputSchema } = tool;
  if (typeof name !== "string" || name === "") return "A tool without a name is left out.";
  if (name.length > MAX_NAME_CHARS) return `The tool ${shown(name)} is left out: its name is too long.`;
  if (!isObject(inputSchema)) return `The tool ${shown(name)} is left out: it has no inputSchema.`;
  if (wordsOf(description ?? "").length + wordsOf(inputSchema).length > MAX_TOOL_CHARS)
    return `The tool ${shown(name)} is left out: it has more than ${MAX_TOOL_CHARS} characters.`;
  return undefined;
}

/** A tool without the fields that are not of their types. */
function toolOf({ description, annotations, ...tool }: Fields): McpTool {
  return {
    ...tool,
    ...(description === undefined || description === null ? {} : { description: wordsOf(description) }),
    ...(isObject(annotations) ? { annotations: hintsOf(annotations) } : {}),
  } as unknown as McpTool;
}

function hintsOf({ readOnlyHint, ...hints }: Fields): Fields {
  return { ...hints, ...(typeof readOnlyHint === "boolean" ? { readOnlyHint } : {}) };
}

/** The name of a tool for a warning. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
