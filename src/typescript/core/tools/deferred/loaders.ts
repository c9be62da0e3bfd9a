/**
 * The tools by which a model finds and calls those with `deferLoading`, where its vendor has no such search. What is
 * found is in a result, at the end of the conversation, so the start of a request stays the same as before.
 *
 * Claude would take the finds of an application's own search as `tool_reference` blocks in the result. They would
 * save no tokens, because the vendor expands each to the definition that the result has here. Each request would
 * carry all deferred definitions, and a reference to a tool that a deploy has removed makes requests fail
 * (`tool_reference_unresolved`), where a text needs no change. Another vendor's model would need the text.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool (2026-11-29)
 */
import type { SearchTools, Tool } from "../../api/index.js";
import type { ToolConfig } from "../../generated/input.js";
import { inputJsonSchema } from "../tool-schema.js";

export const SEARCH_TOOLS = "search_tools";
export const CALL_TOOL = "call_tool";

/** The tools that a search returns unless the model asks for another number. */
const FOUND = 5;

type Loader = NonNullable<ToolConfig["loader"]>;

/** The two tools by name, for these deferred tools. `own` is the search of the application. */
export function loaders(
  deferred: ReadonlyMap<string, Tool>,
  own: SearchTools | undefined,
): readonly (readonly [name: string, loader: Loader, tool: Tool])[] {
  const searched = [...deferred].map(([name, { description = "" }]) => ({ name, description }));
  const search: Tool = {
    description: `Finds further tools by words of their names and descriptions. There are ${deferred.size}. The result has their definitions; call one with ${CALL_TOOL}.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words for what the tool shall do" },
        limit: { type: "integer", minimum: 1, description: `The most tools to return, ${FOUND} by default` },
      },
      required: ["query"],
    },
    readOnly: true,
    execute: async ({ query, limit = FOUND }: { query: string; limit?: number }, { signal }) => {
      const find = own ?? (await import("./rank.js")).rank;
      const names = await find(query, searched, signal);
      const found = names.filter((name) => deferred.has(name)).slice(0, limit);
      if (found.length === 0) return "No tool fits. Try other words.";
      return found.map((name) => definitionOf(name, deferred.get(name)!)).join("\n");
    },
  };
  const call: Tool = {
    description: `Calls a tool that ${SEARCH_TOOLS} has found.`,
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of the tool" },
        input: { type: "object", description: "The input of the tool, which fits its inputSchema" },
      },
      required: ["name", "input"],
    },
    readOnly: true,
    // The engine makes a call of it that of the tool which it names.
    execute: ({ name }: { name: string }) => {
      throw new Error(`There is no tool named ${name}. Find its name with ${SEARCH_TOOLS}.`);
    },
  };
  return [
    [SEARCH_TOOLS, own === undefined ? "search" : "own_search", search],
    [CALL_TOOL, "call", call],
  ];
}

function definitionOf(name: string, { description = "", inputSchema }: Tool): string {
  return JSON.stringify({ name, description, inputSchema: inputJsonSchema(inputSchema, "inputSchema") });
}
