import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { McpError, connectMcp, type McpElicitation, type McpOptions } from "looplet/mcp";
import { asking, server, sessionful, stateless, type Noted } from "./servers.js";

const url = "https://files.test/mcp?key=secret";

const connect = ({ fetch }: Pick<Noted, "fetch">, more: Partial<McpOptions> = {}) =>
  connectMcp({ url, fetch, ...more });

const generations = [
  ["2026-07-28", () => stateless(() => server(), "reject")],
  ["2025-11-25", () => sessionful(() => server())],
] as const;

for (const [version, serve] of generations)
  describe(`a server of ${version}`, () => {
    it("is found to be one, and tells about itself", async () => {
      const client = await connect(serve());
      expect(client.protocolVersion).toBe(version);
      expect(client.server).toEqual({ name: "files", version: "1.0.0" });
      expect(client.instructions).toBe("Read before you write.");
      await client.close();
    });

    it("lists the tools that the official client lists", async () => {
      const far = serve();
      const official = new Client({ name: "a", version: "1" }, { versionNegotiation: { mode: "auto" } });
      await official.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: far.fetch as never }));
      const { tools } = await official.listTools();
      expect(JSON.parse(JSON.stringify(await (await connect(far)).listTools()))).toEqual(
        JSON.parse(JSON.stringify(tools)),
      );
      await official.close();
    });

    it("answers calls with content, and errors of tools as such", async () => {
      const client = await connect(serve());
      await client.listTools();
      expect(await client.callTool("read", { path: "a.md" })).toEqual({
        content: [{ type: "text", text: "The text of a.md" }],
      });
      expect((await client.callTool("read", { path: "none" })).isError).toBe(true);
      const unknown = client.callTool("gone", {}).catch((error: unknown) => error);
      expect(JSON.stringify(await unknown) + String(await unknown)).toMatch(/gone/);
      expect((await client.callTool("tenant", { tenant: "Ünal" })).content[0]).toMatchObject({
        text: "You are Ünal",
      });
    });

    it("tells of progress, and hears of a call that is cancelled", async () => {
      let isCancelled = (): void => {};
      const cancelled = new Promise<void>((resolve) => (isCancelled = resolve));
      const make = (): ReturnType<typeof server> => server(isCancelled);
      const far = version === "2026-07-28" ? stateless(make, "reject") : sessionful(make);
      const client = await connect(far);
      const aborter = new AbortController();
      const seen: unknown[] = [];
      const call = client.callTool(
        "slow",
        {},
        {
          signal: aborter.signal,
          onProgress: (progress) => {
            seen.push(progress);
            aborter.abort(new Error("enough"));
          },
        },
      );
      await expect(call).rejects.toThrow("enough");
      await cancelled;
      expect(seen).toMatchObject([{ progress: 1, total: 2 }]);
    });
  });

for (const isModern of [true, false])
  it(`asks the user in the middle of a call, ${isModern ? "and repeats the call with the answer" : "as requests of the server"}`, async () => {
    const far = isModern ? stateless(() => asking(true), "reject") : sessionful(() => asking(false));
    const asked: McpElicitation[] = [];
    const client = await connect(far, {
      onElicitation: (request) => {
        asked.push(request);
        return { action: "accept", content: { sure: true } };
      },
    });
    const { content } = await client.callTool("remove", {});
    expect(content[0]).toMatchObject({ text: 'accept {"sure":true}' });
    expect(asked[0]).toMatchObject({ message: "Really?", requestedSchema: { required: ["sure"] } });
    const refused = await connect(far, { onElicitation: () => ({ action: "decline" }) });
    expect((await refused.callTool("remove", {})).content[0]).toMatchObject({ text: "decline {}" });
  });

it("begins a new session when the server has ended the old one", async () => {
  const far = sessionful(() => server());
  const client = await connect(far);
  far.end();
  expect(await client.callTool("read", { path: "a" })).toMatchObject({ content: [{ type: "text" }] });
  await client.close();
  expect(far.requests.at(-1)!.method).toBe("DELETE");
});

it("reads all pages of a list", async () => {
  const pages = [
    { tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor: "2" },
    { tools: [{ name: "b", inputSchema: { type: "object" } }, { name: "broken" }] },
  ];
  const fetch: McpOptions["fetch"] = async (_, { body }) => {
    const { id, method, params } = JSON.parse(body!);
    const result =
      method === "server/discover"
        ? { supportedVersions: ["2026-07-28"] }
        : { resultType: "complete", ...pages[params.cursor === undefined ? 0 : 1] };
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  const tools = await (await connect({ fetch: fetch! })).listTools();
  expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
});

it("reads a stream in pieces of any size, with comments and other fields", async () => {
  const stream = [
    ': hello\r\nevent: message\r\nid: 1\r\ndata: {}\r\n\r\ndata:{\ndata: "id":',
    '"ID","jsonrpc":"2.0",\ndata: "result":{"supportedVersions":["2026-07-28"],"instructions":"Zürich"}}\n\n',
  ].join("");
  const fetch: McpOptions["fetch"] = async (_, { body }) => {
    const bytes = new TextEncoder().encode(stream.replace('"ID"', JSON.parse(body!).id));
    const pieces = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    return new Response(pieces, { headers: { "content-type": "text/event-stream" } });
  };
  expect((await connect({ fetch: fetch! })).instructions).toBe("Zürich");
});

it("says what went wrong, and shows no key of the address", async () => {
  const failing = (answer: () => Response | Promise<Response>) =>
    connect({ fetch: async () => answer() }).catch((error: unknown) => error as McpError);
  const refused = await failing(() => new Response("Who are you?", { status: 401 }));
  expect(refused).toMatchObject({ code: "needs_auth", status: 401 });
  expect(refused).toBeInstanceOf(McpError);
  expect(String(refused)).toBe(
    "McpError: server/discover to the MCP server https://files.test/mcp got status 401. Who are you?",
  );
  const broken = await failing(() => Promise.reject(new TypeError("fetch failed")));
  expect(broken).toMatchObject({ code: "network", message: expect.stringContaining("fetch failed") });
  const html = await failing(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  expect(html).toMatchObject({ code: "http", message: expect.stringContaining("ended without an answer") });
  const down = await failing(() => new Response("down", { status: 503 }));
  expect(down).toMatchObject({ code: "http", status: 503 });
  await expect(connectMcp({} as McpOptions)).rejects.toThrow(/url needs/);
});

it("sends your headers with every request, made anew by a function", async () => {
  const far = stateless(() => server());
  let calls = 0;
  const client = await connect(far, { headers: () => ({ authorization: `Bearer ${(calls += 1)}` }) });
  await client.listTools();
  expect(far.requests.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer 1", "Bearer 2"]);
});
