// The options of a client: your own, as they were given.
import { afterEach, describe, expect, it } from "vitest";
import { custom } from "looplet";
import { query } from "looplet/agent-sdk";
import { connectMcp, type McpOptions } from "looplet/mcp";
import { discovers, failure, far, KEY, listing, schema } from "./strangers.js";

const url = "https://files.test/mcp";
const INHERITED = Object.prototype as { [name: string]: unknown };
afterEach(() => void delete INHERITED["trusted"]);

describe("the options of a client", () => {
  it("are fields of your object, and not of every object", async () => {
    INHERITED["trusted"] = true;
    const tool = { name: "x", inputSchema: schema, annotations: { readOnlyHint: true } };
    const client = await connectMcp({ url, fetch: far({ ...discovers, ...listing(tool) }) });
    expect((await client.tools("far"))["mcp__far__x"]).not.toHaveProperty("annotations");
  });

  it("are read once", async () => {
    const fetch = far({ ...discovers, ...listing() });
    const headers: Record<string, string> = { authorization: KEY };
    const options: McpOptions = { url, fetch, headers };
    const client = await connectMcp(options);
    Object.assign(options, { url: "https://evil.test/mcp", fetch: undefined, headers: undefined });
    headers["authorization"] = "other";
    await client.listTools();
    expect(fetch.asked.map(({ url, init }) => [url, init.headers["authorization"]])).toEqual([
      [url, KEY],
      [url, KEY],
    ]);
  });

  it("take headers that are a Headers, also from a function", async () => {
    const fetch = far(discovers);
    const headers = new Headers({ authorization: KEY }) as unknown as Record<string, string>;
    await connectMcp({ url, fetch, headers });
    await connectMcp({ url, fetch, headers: () => headers });
    expect(fetch.asked.map(({ init }) => init.headers["authorization"])).toEqual([KEY, KEY]);
  });
});

describe("the address of a server in an error", () => {
  const wordsOf = async (url: string): Promise<string> => {
    const fetch = async (): Promise<never> => Promise.reject(new Error(`no way to ${url}`));
    return (await failure(connectMcp({ url, fetch }))).message;
  };

  it("has the host that is asked, and no name or password", async () => {
    expect(await wordsOf("https://evil.test\\@bank.test/mcp")).toContain(
      "MCP server https://evil.test/@bank.test/mcp was",
    );
    expect(await wordsOf("https:/user:pass@bank.test/mcp")).toContain("MCP server https://bank.test/mcp was");
    expect(await wordsOf("/mcp")).toContain("MCP server /mcp was");
  });

  it("is not there when it cannot be read, with a key in it", async () => {
    const words = await wordsOf("https://files .test/mcp?key=secret-key-1234");
    expect(words).toBe(
      "server/discover to the MCP server an address that cannot be read was not sent: its address cannot be read.",
    );
  });
});

it("a server of a query is trusted by its own field alone", async () => {
  const tool = { name: "x", inputSchema: schema, annotations: { readOnlyHint: true } };
  let calls = 0;
  const mcpFetch = far({
    ...discovers,
    ...listing(tool),
    "tools/call": () => ((calls += 1), { content: [] }),
  });
  INHERITED["trusted"] = true;
  const model = custom(({ messages }) =>
    messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__far__x", input: {} }] : "Done.",
  );
  const asked = query({
    prompt: "Go",
    options: {
      model,
      permissionMode: "plan",
      allowedTools: ["mcp__far"],
      mcpServers: { far: { type: "http", url } },
      host: { mcpFetch },
    },
  });
  for await (const { type } of asked) expect(type).not.toBe("error");
  expect(calls).toBe(0);
});
