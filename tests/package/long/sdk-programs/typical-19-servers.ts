// Servers beyond the program, by their addresses and as processes.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const failed: string[] = [];
  for await (const message of query({
    prompt: "List the issues",
    options: {
      ...base,
      mcpServers: {
        docs: { type: "http", url: "https://docs.test/mcp", headers: { Authorization: "Bearer t" } },
        github: { command: "npx", args: ["-y", "server-github"], env: { TOKEN: "t" } },
      },
      allowedTools: ["mcp__docs__*", "mcp__github__list_issues"],
    },
  })) {
    if (message.type === "system" && message.subtype === "init")
      failed.push(
        ...message.mcp_servers.filter(({ status }) => status !== "connected").map(({ name }) => name),
      );
  }
  return failed;
}
