/** ToolSearch: definitions that the model does not see until it searches for them. */
import type { AgentOptions, Message, Tool } from "../../core/api/index.js";
import { LoopletError } from "../../core/api/errors.js";
import { rank, inputJsonSchema } from "../../core/kit/tools.js";
import { tool } from "../../core/index.js";

/** The most definitions that may be withheld. */
const MOST = 10_000;

/** The number of definitions that a search returns, unless the model asks for another number. */
const RESULTS = 5;

export interface ToolSearchOptions {
  /** The names of the tools that are withheld. Default: all. */
  deferred?: readonly string[] | undefined;
  /** Additional search words for a tool, besides its name and its description. */
  hints?: { readonly [name: string]: string } | undefined;
}

/**
 * Withholds definitions, and adds the tool ToolSearch, which the model uses to get them. Spread the result into the
 * options of `createAgent`. A tool that was found stays available for the rest of the conversation: it is read from
 * the messages. Found tools are listed after all others, so that the vendor's prompt cache stays valid.
 *
 * @throws LoopletError `config_invalid_value` for more than 10,000 tools, or for a name that is not among them
 */
export function toolSearch(
  tools: { readonly [name: string]: Tool },
  options: ToolSearchOptions = {},
): Required<Pick<AgentOptions, "prepareIteration">> & { tools: Record<string, Tool> } {
  const { deferred = Object.keys(tools), hints = {} } = options;
  const unknown = deferred.find((name) => !Object.hasOwn(tools, name));
  if (unknown !== undefined) throw invalid(`there is no tool "${unknown}"`);
  if (deferred.length > MOST) throw invalid(`at most ${MOST} tools can be withheld`);
  const withheld = new Set(deferred);
  const all = { ...tools, [TOOL_SEARCH]: searchTool(deferred, tools, hints) };
  const shown = Object.keys(all).filter((name) => !withheld.has(name));
  return {
    tools: all,
    prepareIteration: ({ messages }) => ({
      tools: [...shown, ...foundIn(messages).filter((name) => withheld.has(name))],
    }),
  };
}

const TOOL_SEARCH = "ToolSearch";

function invalid(problem: string): LoopletError {
  return new LoopletError("config_invalid_value", "deferred", problem);
}

function searchTool(
  names: readonly string[],
  tools: { readonly [name: string]: Tool },
  hints: { readonly [name: string]: string },
): Tool {
  const searched = names.map((name) => ({
    name,
    description: `${tools[name]?.description ?? ""} ${hints[name] ?? ""}`,
  }));
  return tool({
    description: `Finds tools and returns their definitions. You can call a tool of this list when you have found it: ${names.join(", ")}`,
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: 'Words to search for, or the names of tools as "select:name,name"',
        },
        max_results: { type: "integer", minimum: 1, description: `${RESULTS} by default` },
      },
      required: ["query"],
    },
    readOnly: true,
    execute: ({ query, max_results = RESULTS }) => {
      const found = query.startsWith("select:")
        ? selected(query.slice("select:".length), names)
        : rank(query, searched).slice(0, max_results);
      if (found.length === 0) return "No tool fits. Try other words, or a name as select:name.";
      return found.map((name) => definitionOf(name, tools[name]!)).join("\n");
    },
  }) as Tool;
}

function selected(list: string, names: readonly string[]): string[] {
  const wanted = list.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => wanted.includes(name.toLowerCase()));
}

/** A definition is a line of JSON, which `foundIn` reads again. */
function definitionOf(name: string, { description = "", inputSchema }: Tool): string {
  return JSON.stringify({ name, description, inputSchema: inputJsonSchema(inputSchema, "inputSchema") });
}

/** The names of the tools that the searches of a conversation have found, each once, the first found first. */
function foundIn(messages: readonly Message[]): string[] {
  const blocks = messages.flatMap(({ content }) => content);
  const searches = new Set<string>();
  const found = new Set<string>();
  for (const block of blocks) {
    if (block.type === "tool_call" && block.name === TOOL_SEARCH) searches.add(block.id);
    if (block.type !== "tool_result" || block.isError || !searches.has(block.callId)) continue;
    for (const { text } of block.content.filter((part) => part.type === "text"))
      for (const line of text.split("\n")) {
        const name = /^\{"name":("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
        if (name !== undefined) found.add(JSON.parse(name) as string);
      }
  }
  return [...found];
}
