// Messages of the user one after the other, with an image and a document.
import { query, type Options, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function* messages(): AsyncGenerator<SDKUserMessage> {
  yield {
    type: "user",
    message: {
      role: "user",
      content: [
        { type: "text", text: "What is in this picture, and in this report?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "A note." } },
      ],
    },
    parent_tool_use_id: null,
  };
}

export async function main(base: Options) {
  const said: string[] = [];
  for await (const message of query({ prompt: messages(), options: { ...base, maxTurns: 10 } }))
    if (message.type === "result" && message.subtype === "success") said.push(message.result);
  return said;
}
