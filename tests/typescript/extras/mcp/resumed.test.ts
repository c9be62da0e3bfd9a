/** Streams of an MCP server that close before their answer, and go on by `Last-Event-ID`. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { connectMcp, type McpClient, type McpFetch } from "looplet/mcp";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

const stream = (...events: string[]): Response =>
  new Response(events.map((event) => `${event}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
const said = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}`;
const answer = (id: unknown): string => said({ id, result: { content: [{ type: "text", text: "done" }] } });

/** A server of 2025-11-25. `call` answers `tools/call`, and `gets` the GETs, each with its `Last-Event-ID`. */
class Server {
  id: unknown;
  calls = 0;
  readonly gets: (string | null)[] = [];
  readonly times: number[] = [];
  readonly posts: any[] = [];
  call: () => Response = () => stream("id: e1\ndata: ");
  get: (after: string | null) => Response | Promise<Response> = () => stream(answer(this.id));

  readonly fetch: McpFetch = (async (_: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (init.method === "GET") {
      expect([headers.get("mcp-session-id"), headers.get("accept")]).toEqual(["s1", "text/event-stream"]);
      this.gets.push(headers.get("last-event-id"));
      this.times.push(Date.now());
      return this.get(headers.get("last-event-id"));
    }
    if (init.method === "DELETE") return new Response(null);
    const message = JSON.parse(String(init.body));
    this.posts.push(message);
    const { id, method } = message;
    const json = (body: object, head = {}) =>
      Response.json({ jsonrpc: "2.0", id, ...body }, { headers: head });
    if (method === "initialize") {
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "s", version: "1" },
      };
      return json({ result }, { "mcp-session-id": "s1" });
    }
    if (id === undefined) return new Response(null, { status: 202 });
    if (method !== "tools/call")
      return json({ error: { code: -32601, message: "There is no such method." } });
    this.calls += 1;
    this.id = id;
    this.times.push(Date.now());
    return this.call();
  }) as never;

  connect(options: object = {}): Promise<McpClient> {
    return connectMcp({ url: "https://files.test/mcp", fetch: this.fetch, ...options });
  }
}

/** Lets the virtual time go on until the promise settles. */
async function steadily<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): unknown => (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled) await vi.advanceTimersByTimeAsync(100);
  return promise;
}

const done = { content: [{ type: "text", text: "done" }] };

it("fetches the rest of a stream that was closed, after the wait that the server names", async () => {
  const server = new Server();
  server.call = () => stream("id: e1\nretry: 2500\ndata: ");
  const client = await server.connect();
  expect(await steadily(client.callTool("long", {}))).toMatchObject(done);
  expect([server.calls, server.gets]).toEqual([1, ["e1"]]);
  expect(server.times[1]! - server.times[0]!).toBe(2500);
});

it("goes on behind the last whole event, however often the stream is closed or breaks", async () => {
  const server = new Server();
  const progress: number[] = [];
  const told = (at: number): string =>
    `id: e${at}\n${said({ method: "notifications/progress", params: { progressToken: server.id, progress: at } })}`;
  server.call = () => stream(told(1), told(2));
  server.get = (after) => {
    const at = Number(after!.slice(1)) + 1;
    if (at === 20) return stream(answer(server.id));
    if (at % 2 === 0) return stream(told(at));
    const bytes = new TextEncoder().encode(`${told(at)}\n\nid: half\ndata: {`);
    let isSent = false;
    const body = new ReadableStream({
      pull: (controller) => {
        if (isSent) return controller.error(new TypeError("network error"));
        isSent = true;
        controller.enqueue(bytes);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const client = await server.connect();
  const call = client.callTool("long", {}, { onProgress: ({ progress: at }) => void progress.push(at) });
  expect(await steadily(call)).toMatchObject(done);
  expect(progress).toEqual(Array.from({ length: 19 }, (_, at) => at + 1));
  expect(server.calls).toBe(1);
});

it("takes an id of an event without data, and answers what the server asks later", async () => {
  const server = new Server();
  const elicitation = {
    id: 7,
    method: "elicitation/create",
    params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } },
  };
  server.call = () => stream("id: e1");
  server.get = (after) =>
    after === "e1" ? stream(`id: e2\n${said(elicitation)}`) : stream(answer(server.id));
  const client = await server.connect({ onElicitation: () => ({ action: "accept", content: {} }) });
  expect(await steadily(client.callTool("long", {}))).toMatchObject(done);
  expect(server.posts.find(({ id }) => id === 7)).toMatchObject({ result: { action: "accept" } });
});

it.each<[string, () => Response | Promise<Response>, number, RegExp]>([
  ["offers no GET", () => new Response(null, { status: 405 }), 1, /ended without an answer/],
  ["has ended the session", () => new Response(null, { status: 404 }), 1, /ended without an answer/],
  ["is down", () => new Response(null, { status: 503 }), 5, /ended without an answer/],
  ["cannot be reached", () => Promise.reject(new TypeError("fetch failed")), 5, /fetch failed/],
  ["closes each stream without an event", () => stream(), 5, /ended without an answer/],
])("fails the call of a server that %s, and does not repeat it", async (_, get, tries, message) => {
  const server = new Server();
  server.get = get;
  const client = await server.connect();
  await expect(steadily(client.callTool("long", {}))).rejects.toThrow(message);
  expect([server.calls, server.gets.length]).toEqual([1, tries]);
});

it("fetches no stream without an id, and waits no more when the call is aborted", async () => {
  const server = new Server();
  const client = await server.connect();
  server.call = () => stream("data: ");
  await expect(steadily(client.callTool("long", {}))).rejects.toThrow(/ended without an answer/);
  server.call = () => stream("id: e1\nretry: 3600000\ndata: ");
  const aborting = new AbortController();
  const call = client.callTool("long", {}, { signal: aborting.signal });
  setTimeout(() => aborting.abort(new Error("enough")), 5000);
  await expect(steadily(call)).rejects.toThrow("enough");
  expect(server.gets).toEqual([]);
});
