// Commands, skills and a summary on demand.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const seen: string[] = [];
  const options: Options = {
    ...base,
    settingSources: ["user", "project"],
    skills: "all",
    allowedTools: ["Skill"],
  };
  for await (const message of query({ prompt: "/compact", options })) {
    if (message.type === "system" && message.subtype === "init")
      seen.push(message.slash_commands.join(), message.skills.join());
    if (message.type === "system" && message.subtype === "compact_boundary")
      seen.push(`${message.compact_metadata.trigger} ${message.compact_metadata.pre_tokens}`);
    if (message.type === "result") seen.push(message.subtype);
  }
  return seen;
}
