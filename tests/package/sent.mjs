// A conversation of three requests with the server at `baseUrl`, through the host's own fetch.
import { anthropic, createAgent, tool } from "looplet";

export async function talk(baseUrl) {
  const add = tool({
    description: "Grüße an 世界 👍",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    execute: ({ a, b }) => `${a + b} 世界 👍`,
  });
  const model = anthropic("m", { baseUrl, apiKey: "k", dangerouslyAllowBrowser: true, stream: false });
  const { outcome, text, error } = await createAgent({ model, tools: { add }, retry: { maxRetries: 0 } }).run(
    "Zähle 👍",
  ).result;
  return error ? `${outcome}: ${error.message}` : `${outcome} with ${text}`;
}
