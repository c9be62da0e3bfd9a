// A question, and the text of the answer.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  for await (const message of query({ prompt: "Which files are here?", options: base })) {
    if (message.type === "result" && message.subtype === "success") return message.result;
  }
  return "no result";
}
