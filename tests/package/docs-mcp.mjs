// What the examples about MCP must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { InMemoryTransport, McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { z } from "zod";

function filesServer() {
  const server = new McpServer({ name: "files", version: "1" });
  const inputSchema = z.object({ path: z.string() });
  server.registerTool("read", { description: "Reads a file", inputSchema }, () => ({ content: [] }));
  return server;
}

export const mcp = {
  "mcp/files.ts": {
    async after({ made, serve }) {
      const seen = [];
      const { fetch: answer } = createMcpHandler(filesServer, { legacy: "stateless" });
      serve((url, init) => {
        const request = new Request(url, init);
        seen.push(request.headers.get("authorization"));
        return answer(request);
      });
      const tools = await made.files("t", async () => ({ action: "decline" }));
      assert.deepEqual(Object.keys(tools), ["mcp__files__read"]);
      assert.deepEqual(new Set(seen), new Set(["Bearer t"]));
    },
  },
  "mcp/agent.ts": {
    before: ({ answer }) =>
      answer(
        {
          toolCalls: [
            { id: "toolu_1", name: "mcp__files__read", input: { path: "a.md" } },
            { id: "toolu_2", name: "mcp__files__read", input: { path: "none" } },
            { id: "toolu_3", name: "mcp__files__delete", input: {} },
          ],
        },
        { text: "Read." },
      ),
    async after({ made, requests }) {
      const server = new McpServer({ name: "files", version: "1.0.0" });
      server.registerTool(
        "read",
        {
          description: "Reads a file",
          inputSchema: z.object({ path: z.string() }),
          annotations: { readOnlyHint: true },
        },
        ({ path }) =>
          path === "none"
            ? { content: [{ type: "text", text: "There is no such file." }], isError: true }
            : {
                content: [
                  { type: "text", text: `The text of ${path}` },
                  { type: "image", data: "AAAA", mimeType: "image/png" },
                ],
              },
      );
      server.registerTool("delete", { description: "Deletes", inputSchema: z.object({}) }, () => {
        throw new Error("must not run");
      });
      const [near, far] = InMemoryTransport.createLinkedPair();
      await server.connect(far);
      const { agent, client } = await made.connect(near);
      const { outcome, toolCalls } = await agent.run("Read a.md.").result;
      assert.equal(outcome, "completed");
      assert.deepEqual(
        toolCalls.map(({ isError, output }) => [isError, output.code, output.message ?? output.reason]),
        [
          [false, undefined, undefined],
          [true, "tool_failed", "There is no such file."],
          [true, "denied", toolCalls[2].output.message],
        ],
      );
      const [first] = JSON.parse(requests[1].body).messages.at(-1).content;
      assert.deepEqual(
        first.content.map(({ type }) => type),
        ["text", "image"],
      );
      await client.close();
      await server.close();
    },
  },
};
