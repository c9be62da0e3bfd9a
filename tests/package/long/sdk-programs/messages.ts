// Reads every message of a query that a program acts on.
import { query, type SDKMessage, type SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";

export async function main(options: Parameters<typeof query>[0]["options"]) {
  const said: string[] = [];
  for await (const message of query({ prompt: "Fix it.", options })) said.push(line(message));
  return said.join("\n");
}

function line(message: SDKMessage): string {
  switch (message.type) {
    case "assistant": {
      const texts = message.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
      const calls = message.message.content.flatMap((block) =>
        block.type === "tool_use" ? [`${block.id} ${block.name} ${JSON.stringify(block.input)}`] : [],
      );
      const { input_tokens, output_tokens, cache_read_input_tokens } = message.message.usage;
      const parent: string | null = message.parent_tool_use_id;
      return [...texts, ...calls, input_tokens + output_tokens, cache_read_input_tokens, parent].join();
    }
    case "user":
      return JSON.stringify(message.message.content);
    case "stream_event":
      return message.event.type === "content_block_delta" ? JSON.stringify(message.event.delta) : "";
    case "system":
      if (message.subtype === "init")
        return `${message.tools.join()} ${message.model} ${message.permissionMode}`;
      if (message.subtype === "compact_boundary") return message.compact_metadata.trigger;
      if (message.subtype === "api_retry") return `${message.attempt} of ${message.max_retries}`;
      if (message.subtype === "task_started") return message.description;
      return message.session_id;
    case "result":
      return result(message);
    default:
      return "";
  }
}

function result(message: SDKResultMessage): string {
  const { total_cost_usd, num_turns, duration_ms, duration_api_ms, is_error, usage, session_id } = message;
  const counted = [total_cost_usd.toFixed(4), num_turns, duration_ms - duration_api_ms, usage.output_tokens];
  const models = Object.entries(message.modelUsage).map(([name, { costUSD, inputTokens }]) => [
    name,
    costUSD,
    inputTokens,
  ]);
  const denied = message.permission_denials.map(({ tool_name, tool_use_id }) => [tool_name, tool_use_id]);
  const head = [
    ...counted,
    ...models,
    ...denied,
    is_error,
    session_id,
    message.stop_reason,
    message.uuid,
  ].join();
  if (message.subtype === "success")
    return `${head} ${message.result} ${JSON.stringify(message.structured_output)}`;
  const why:
    | "error_during_execution"
    | "error_max_turns"
    | "error_max_budget_usd"
    | "error_max_structured_output_retries" = message.subtype;
  return `${head} ${why} ${message.errors.join()}`;
}
