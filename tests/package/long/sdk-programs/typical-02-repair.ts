// An agent that repairs files by itself, with limits and a look at each kind of end.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  let sessionId: string | undefined;
  const log: string[] = [];
  for await (const message of query({
    prompt: "Mend the sum in /app/sum.ts",
    options: {
      ...base,
      cwd: "/app",
      allowedTools: ["Read", "Edit", "Glob", "Grep"],
      permissionMode: "acceptEdits",
      settingSources: ["project"],
      maxTurns: 30,
      effort: "high",
    },
  })) {
    if (message.type === "system" && message.subtype === "init") sessionId = message.session_id;
    if (message.type === "assistant")
      for (const block of message.message.content) if (block.type === "tool_use") log.push(block.name);
    if (message.type === "result") {
      if (message.subtype === "success") log.push(message.result);
      else if (message.subtype === "error_max_turns") log.push(`resume ${sessionId}`);
      else log.push(`stopped: ${message.subtype}`);
      log.push(message.total_cost_usd.toFixed(4));
    }
  }
  return log;
}
