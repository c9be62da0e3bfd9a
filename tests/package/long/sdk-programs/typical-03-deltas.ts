// Text as it is written, and the tools as they are called.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  let text = "";
  let input = "";
  const tools: string[] = [];
  for await (const message of query({
    prompt: "Read a.txt",
    options: { ...base, includePartialMessages: true },
  })) {
    if (message.type !== "stream_event") continue;
    const event = message.event;
    if (event.type === "content_block_start" && event.content_block.type === "tool_use")
      tools.push(event.content_block.name);
    else if (event.type === "content_block_delta") {
      if (event.delta.type === "text_delta") text += event.delta.text;
      if (event.delta.type === "input_json_delta") input += event.delta.partial_json;
    }
  }
  return { text, input, tools };
}
