// What the examples about MCP must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import {
  InMemoryTransport,
  McpServer,
  acceptedContent,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const text = (words) => ({ content: [{ type: "text", text: words }] });

/** A server that tells its tools' annotations, and that asks the user before it deletes. */
function filesServer() {
  const server = new McpServer({ name: "files", version: "1" });
  const inputSchema = z.object({ path: z.string() });
  const annotations = { readOnlyHint: true };
  server.registerTool("read", { description: "Reads a file", inputSchema, annotations }, ({ path }) =>
    text(`The text of ${path}`),
  );
  const requestedSchema = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };
  server.registerTool("delete", { description: "Deletes a file", inputSchema }, ({ path }, { mcpReq }) => {
    const said = acceptedContent(mcpReq.inputResponses ?? {}, "sure", z.object({ sure: z.boolean() }));
    if (said !== undefined) return text(said.sure ? `${path} is gone` : "nothing happened");
    const message = `Delete ${path}?`;
    return inputRequired({ inputRequests: { sure: inputRequired.elicit({ message, requestedSchema }) } });
  });
  return server;
}

export const mcp = {
  "mcp/files.ts": {
    async after({ made, serve, looplet: { anthropic, createAgent }, practice: { scripted } }) {
      const seen = [];
      const { fetch: answer } = createMcpHandler(filesServer, { legacy: "stateless" });
      serve((url, init) => {
        const request = new Request(url, init);
        seen.push(request.headers.get("authorization"));
        return answer(request);
      });
      const asked = [];
      const tools = await made.files("t", async (question) => {
        asked.push(question);
        return { action: "accept", content: { sure: true } };
      });
      assert.deepEqual(Object.keys(tools), ["mcp__files__read", "mcp__files__delete"]);
      const outputs = async (permissionMode) => {
        const toolCalls = ["read", "delete"].map((name) => ({
          name: `mcp__files__${name}`,
          input: { path: "a.md" },
        }));
        const fetch = scripted([{ toolCalls }, { text: "Done." }]);
        const model = anthropic("test", { fetch });
        const agent = createAgent({
          model,
          tools,
          permissions: { allow: ["mcp__files"], mode: permissionMode },
        });
        const { outcome, toolCalls: made } = await agent.run("Read a.md, then delete it.").result;
        assert.equal(outcome, "completed");
        return made.map(({ output }) => output.code ?? output[0].text);
      };
      // The server is trusted: its word makes a tool one that only reads.
      assert.deepEqual(await outputs("plan"), ["The text of a.md", "denied"]);
      assert.deepEqual(asked, []);
      assert.deepEqual(await outputs("default"), ["The text of a.md", "a.md is gone"]);
      assert.deepEqual(asked, ["files (https://files.example/mcp) asks: Delete a.md?"]);
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
