// Agents for parts of the work, with models by their short names.
import { query, type AgentDefinition, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const reviewer: AgentDefinition = {
    description: "Reviews code for security and quality",
    prompt: "You review code and name its defects.",
    tools: ["Read", "Grep", "Glob"],
    model: "haiku",
  };
  const started: string[] = [];
  const inside: string[] = [];
  let models: string[] = [];
  for await (const message of query({
    prompt: "Have the code reviewed",
    options: {
      ...base,
      model: "sonnet",
      allowedTools: ["Read", "Grep", "Glob", "Agent"],
      agents: { reviewer },
    },
  })) {
    if (message.type === "system" && message.subtype === "task_started") started.push(message.description);
    if ("parent_tool_use_id" in message && message.parent_tool_use_id) inside.push(message.type);
    if (message.type === "result") models = Object.keys(message.modelUsage);
  }
  return { started, inside, models };
}
