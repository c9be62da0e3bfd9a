// Tools of the program's own.
import { createSdkMcpServer, query, tool, type Options } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const temperature = tool(
  "get_temperature",
  "The temperature at a place",
  { latitude: z.number().describe("Latitude"), longitude: z.number() },
  async ({ latitude, longitude }) => ({
    content: [{ type: "text", text: `${Math.round(latitude + longitude)} degrees` }],
  }),
  { annotations: { readOnlyHint: true } },
);

export async function main(base: Options) {
  const weather = createSdkMcpServer({ name: "weather", version: "1.0.0", tools: [temperature] });
  const lines: string[] = [];
  for await (const message of query({
    prompt: "How warm is it?",
    options: { ...base, mcpServers: { weather }, allowedTools: ["mcp__weather__get_temperature"] },
  })) {
    if (message.type === "system" && message.subtype === "init")
      lines.push(...message.mcp_servers.map(({ name, status }) => `${name}: ${status}`));
    if (message.type === "result" && message.subtype === "success") lines.push(message.result);
  }
  return lines;
}
