/**
 * Tools that a page runs. A call of one is a question of looplet: the run waits for it, beside other calls, and goes
 * on with the result that the next input brings. A store keeps the question as any other.
 */
import { ToolError } from "../../core/api/errors.js";
import type {
  AgentOptions,
  ElicitationAnswer,
  ElicitationRequest,
  Tool,
  ToolContext,
  Tools,
} from "../../core/api/index.js";
import { isObject } from "../../core/options/check.js";
import { blocksOf } from "./messages.js";
import type { AgUiMessage, AgUiTool } from "./types.js";

/** The mark of a question that is a call. */
const PAGE_CALL = "ag-ui:page-call";

export function isPageCall({ url }: ElicitationRequest): boolean {
  return url === PAGE_CALL;
}

/** The page's tools as tools of looplet, by their names. */
export function pageTools(tools: readonly AgUiTool[]): { [name: string]: Tool } {
  return Object.fromEntries(tools.map((given) => [given.name, pageTool(given)]));
}

function pageTool({ name, description, parameters }: AgUiTool): Tool {
  return {
    name,
    description,
    inputSchema: (isObject(parameters) ? parameters : { type: "object" }) as { type: "object" },
    // The question is put again, and nothing has been done before its answer.
    replay: "safe",
    async execute(_input: unknown, { elicit }: ToolContext) {
      const { action, content = {} } = await elicit({ message: "A page runs this tool.", url: PAGE_CALL });
      const { result, error } = content as { result?: unknown; error?: string };
      if (action !== "accept") throw failed("The page has given no result.");
      if (error !== undefined) throw failed(error);
      return typeof result === "string" ? result : { content: blocksOf(result, "content") };
    },
  };
}

function failed(message: string): ToolError {
  return new ToolError({ code: "tool_failed", message });
}

/** The answer to a call: the page's message with its result, or none. */
export function callAnswer(message: AgUiMessage | undefined): ElicitationAnswer {
  if (message === undefined) return { action: "cancel" };
  const { content, error } = message;
  return { action: "accept", content: { result: content ?? "", ...(error === undefined ? {} : { error }) } };
}

/** The options of an agent with the tools of a page beside its own. A name that both have is the agent's. */
export function withPageTools(options: AgentOptions, tools: readonly AgUiTool[]): AgentOptions {
  return tools.length === 0 ? options : { ...options, tools: joined(options.tools, pageTools(tools)) };
}

function joined(own: Tools = {}, added: { readonly [name: string]: Tool }): Tools {
  if (!Array.isArray(own)) return { ...added, ...own };
  const names = new Set((own as readonly { name: string }[]).map(({ name }) => name));
  const others = Object.entries(added).filter(([name]) => !names.has(name));
  return [...own, ...others.map(([name, one]) => ({ ...one, name }))];
}
