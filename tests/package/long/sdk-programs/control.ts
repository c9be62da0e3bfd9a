// A query that is given more input, and changed while it runs.
import {
  AbortError,
  query,
  type Options,
  type Query,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";

async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield { type: "user", message: { role: "user", content: "First." }, parent_tool_use_id: null };
  yield {
    type: "user",
    message: { role: "user", content: [{ type: "text", text: "Second." }] },
    parent_tool_use_id: null,
  };
}

export async function main(options: Options) {
  const running: Query = query({ prompt: prompts(), options });
  await running.setPermissionMode("plan");
  await running.setModel("claude-haiku-4-5");
  await running.setMaxThinkingTokens(null);
  await running.streamInput(prompts());
  for (const { name, status } of await running.mcpServerStatus()) console.log(name, status);
  for (const { name, description, argumentHint } of await running.supportedCommands())
    console.log(name, description, argumentHint);
  for (const { name, description } of await running.supportedAgents()) console.log(name, description);
  await running.stopTask("task");
  const { added, removed, errors } = await running.setMcpServers({});
  console.log(added.join(), removed.join(), Object.keys(errors));
  await running.interrupt();
  await running.rewindFiles("uuid");
  await running.getContextUsage();
  running.close();
  try {
    for await (const _ of running);
  } catch (error) {
    if (error instanceof AbortError) return "aborted";
    throw error;
  }
  return "done";
}
