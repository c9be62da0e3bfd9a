// Tools of a server in the process.
import { createSdkMcpServer, tool, type Options } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const weather = tool(
  "weather",
  "Current weather of a city",
  { city: z.string(), days: z.number().optional() },
  async ({ city, days }) => ({
    content: [{ type: "text", text: `${city.toUpperCase()} ${(days ?? 1).toFixed()}` }],
  }),
  { annotations: { readOnlyHint: true }, searchHint: "forecast", alwaysLoad: true },
);

const failing = tool("failing", "Fails", {}, async () => ({
  content: [{ type: "text", text: "no" }],
  isError: true,
}));

export const mcpServers: NonNullable<Options["mcpServers"]> = {
  app: createSdkMcpServer({ name: "app", version: "1.0.0", tools: [weather, failing] }),
};
