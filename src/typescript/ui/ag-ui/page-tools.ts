/** Tools that a page of AG-UI brings along. It gives the result of a call with its next input. */
import type { AgentOptions, ElicitationAnswer, Tool, Tools } from "../../core/api/index.js";
import { message as wordsOf } from "../../core/kit/check.js";
import { markAsNamedByPage } from "../../core/kit/tools.js";
import { pageAnswer } from "../../extras/tools/page-call.js";
import { pageTool } from "../../extras/tools/page-tool.js";
import { blocksOf } from "./messages.js";
import type { AgUiMessage, AgUiTool } from "./types.js";

/** The page's tools as tools of looplet, by their names. */
export function pageTools(tools: readonly AgUiTool[]): { [name: string]: Tool } {
  return Object.fromEntries(tools.map((given) => [given.name, ownTool(given)]));
}

function ownTool({ name, description: given, parameters }: AgUiTool): Tool {
  const description = given?.trim() ? given : name;
  const inputSchema = (parameters ?? { type: "object" }) as { type: "object" };
  return pageTool({ name, description, inputSchema, replay: "safe" });
}

/** The answer to a call: the result in the page's message. Without a message the call is cancelled. */
export function callAnswer(message: AgUiMessage | undefined): ElicitationAnswer {
  if (message === undefined) return { action: "cancel" };
  const { content = "", error } = message;
  if (error !== undefined) return pageAnswer({ error });
  try {
    return pageAnswer({
      output: typeof content === "string" ? content : { content: blocksOf(content, "content") },
    });
  } catch (problem) {
    return pageAnswer({ error: wordsOf(problem) });
  }
}

/** Adds a page's tools to the agent's own. If both have a tool of the same name, the agent's is used. */
export function withPageTools(options: AgentOptions, tools: readonly AgUiTool[]): AgentOptions {
  return tools.length === 0 ? options : { ...options, tools: joined(options.tools, pageTools(tools)) };
}

function joined(own: Tools = {}, added: { readonly [name: string]: Tool }): Tools {
  if (!Array.isArray(own)) return { ...added, ...own };
  const names = new Set((own as readonly { name: string }[]).map(({ name }) => name));
  const others = Object.entries(added).filter(([name]) => !names.has(name));
  return [...own, ...others.map(([name, one]) => markAsNamedByPage({ ...one, name }))];
}
