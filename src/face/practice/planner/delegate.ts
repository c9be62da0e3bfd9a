/** Tools that are agents: "ask the researcher to look up keys" is a task for one, told in words of its own. */
import type { ToolSpec } from "../conversation.js";
import { isObject } from "../json.js";
import { capitalise, splitName } from "./words.js";

/** Whether the tool takes a prompt and nothing else, as an agent does. */
export function isAgent({ schema }: ToolSpec): boolean {
  const properties = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return properties.length === 1 && properties[0] === "prompt";
}

/** The agent that `text` speaks to, and what it is told. */
export function delegated(
  tools: readonly ToolSpec[],
  text: string,
): { tool: ToolSpec; prompt: string } | undefined {
  const [, name = "", rest = ""] =
    /^(?:(?:please|and|also|can you|could you)\s+)*(?:ask|let|have|tell|get)\s+(?:(?:the|my|an?)\s+)?([\w-]+)\s+(?:agent\s+)?(?:to\s+)?(.+)$/is.exec(
      text,
    ) ?? [];
  const tool = tools.find((one) => isAgent(one) && splitName(one.name) === splitName(name));
  const prompt = capitalise(rest.replace(/^(?:about|for)\s+/i, "look up "));
  return tool === undefined ? undefined : { tool, prompt };
}
