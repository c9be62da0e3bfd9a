// @ts-check
// A program with the tools of an MCP server, ported from the MCP connector of a vendor's API, which runs the tools at
// the vendor. Here they run in this process, so permissions, hooks and the transcript see each call.
//
//   before: mcp_servers: [{ type: "url", url, name: "files", authorization_token }]
//
//   MCP_URL=http://localhost:3000/mcp node examples/ported/mcp-tools.mjs "Read notes.md"
import { createAgent } from "looplet";
import { connectMcp } from "looplet/mcp";
import { claude, isMain } from "./model.mjs";

/** @param {string} prompt @param {{ url: string, token?: string }} server */
export async function main(prompt, { url, token }) {
  const client = await connectMcp({ url, headers: token ? { authorization: `Bearer ${token}` } : {} });
  try {
    const agent = createAgent({
      model: claude([
        { toolCalls: [{ name: "mcp__files__read", input: { path: "notes.md" } }] },
        ({ body }) => ({ text: `It says: ${lastResult(body)}` }),
      ]),
      tools: await client.tools("files"),
      permissions: { allow: ["mcp__files__read"] },
      limits: { maxIterations: 20 },
      timeouts: { toolMs: 30_000 },
    });
    const { outcome, text, toolCalls } = await agent.run(prompt).result;
    return { outcome, text, calls: toolCalls.map(({ toolName }) => toolName) };
  } finally {
    await client.close();
  }
}

/** @param {any} body */
const lastResult = (body) => body.messages.at(-1).content[0].content;

if (isMain(import.meta.url)) {
  const { MCP_URL: url, MCP_TOKEN: token } = process.env;
  if (url === undefined) throw new Error("Set MCP_URL to the address of an MCP server");
  console.log(await main(process.argv[2] ?? "Read notes.md", { url, token }));
}
