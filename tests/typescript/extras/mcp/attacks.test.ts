// Servers that misbehave: each test is one thing that a stranger's server may try.
import { afterEach, describe, expect, it, vi } from "vitest";
import { createAgent, custom } from "looplet";
import type { McpElicitation } from "looplet/mcp";
import {
  connect,
  discovers,
  failure,
  far,
  KEY,
  listing,
  named,
  type Answers,
  type Asked,
} from "./strangers.js";

/** A body that sends the text again and again, and tells how much was taken. */
function endless(text: string): { body: ReadableStream; taken: () => number; isCancelled: () => boolean } {
  const bytes = new TextEncoder().encode(text);
  let taken = 0;
  let isCancelled = false;
  const body = new ReadableStream(
    {
      pull: (controller) => {
        taken += bytes.length;
        controller.enqueue(bytes);
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { body, taken: () => taken, isCancelled: () => isCancelled };
}

afterEach(() => vi.useRealTimers());

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])(
    "with status %i is not followed, and its origin is named",
    async (status) => {
      const client = await connect({
        "tools/call": () =>
          new Response(null, { status, headers: { location: "https://evil.test/take?it=1" } }),
      });
      const error = await failure(client.callTool("read", { path: "a" }));
      expect(error).toMatchObject({ name: "McpError", code: "redirected", status });
      expect(error.message).toContain("https://evil.test");
      expect(error.message).not.toContain("take");
    },
  );

  it("is asked of every fetch not to be followed", async () => {
    const fetch = far({ ...discovers, ...listing() });
    const client = await connect({}, { fetch });
    await client.listTools();
    expect(fetch.asked.map(({ init }) => init.redirect)).toEqual(["manual", "manual"]);
  });

  it("that a fetch has followed by itself gives no answer", async () => {
    const followed = Response.json({ jsonrpc: "2.0", id: 1, result: { supportedVersions: ["2026-07-28"] } });
    Object.defineProperties(followed, {
      redirected: { value: true },
      url: { value: "https://evil.test/mcp" },
    });
    const error = await failure(connect({ "server/discover": () => followed }));
    expect(error).toMatchObject({ code: "redirected" });
    expect(error.message).toMatch(/https:\/\/evil\.test, and the fetch that was given has followed/);
  });
});

describe("the secrets of a request", () => {
  const words = `You sent ${KEY} and address-key-12 to 4f9a0c1b2d3e4f5a6b7c`;
  const rpc = ({ id }: Asked) => Response.json({ jsonrpc: "2.0", id, error: { code: 1, message: words } });

  it.each<[string, Answers["x"]]>([
    ["an error of JSON-RPC", rpc],
    ["the body of an error", () => new Response(words, { status: 500 })],
    ["a refusal", () => new Response(words, { status: 401 })],
    ["an error of fetch", () => Promise.reject(new Error(words, { cause: new Error(words) }))],
    ["an error in a result", () => ({ isError: true, content: [{ type: "text", text: words }] })],
    ["a task that has failed", () => ({ resultType: "task", taskId: "t" })],
  ])("are not in %s", async (_, answer) => {
    const shown: unknown[] = [];
    const client = await connect({
      ...listing(...named("read")),
      "tools/call": answer,
      "tasks/get": () => ({ status: "failed", statusMessage: words }),
    });
    const model = custom(({ messages }) =>
      messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__far__read", input: {} }] : "Done.",
    );
    const agent = createAgent({ model, tools: await client.tools("far") });
    const run = agent.run("Go", {
      onEvent: (event) => void shown.push(event),
      onError: (e) => void shown.push(e),
    });
    shown.push(await run.result);
    const told = JSON.stringify(shown, (_, value) =>
      value instanceof Error ? [String(value), value.cause] : value,
    );
    expect(told).toContain("mcp__far__read");
    for (const secret of [KEY, "secret-key-of-the-user-1", "address-key-12", "4f9a0c1b2d3e4f5a6b7c"])
      expect(told).not.toContain(secret);
  });
});

it("a warning and a question have lost the secrets of the request", async () => {
  const told: string[] = [];
  const question = { method: "elicitation/create", params: { message: `You sent ${KEY}` } };
  const client = await connect(
    {
      ...listing({ name: KEY }, { name: "x", inputSchema: { type: "object", properties: { [KEY]: 5 } } }),
      "tools/call": ({ params }) =>
        params.inputResponses === undefined
          ? { resultType: "input_required", inputRequests: { a: question } }
          : { content: [] },
    },
    {
      onWarning: (words) => void told.push(words),
      onElicitation: ({ message }) => (told.push(message), { action: "decline" }),
    },
  );
  await client.tools("far");
  await client.callTool("x", {});
  expect(told).toHaveLength(3);
  for (const words of told) expect(words).toContain("[redacted]");
  expect(told.join()).not.toContain("secret-key-of-the-user-1");
});

describe("what is longer than it may be", () => {
  it.each([
    ["a body", "application/json", "x".repeat(1000)],
    ["a line", "text/event-stream", "x".repeat(1000)],
    ["a stream", "text/event-stream", 'data: {"method":"notifications/x"}\n\n'],
  ])("%s ends the request, and is cancelled", async (_, type, text) => {
    const { body, taken, isCancelled } = endless(text);
    const client = await connect(
      { "tools/call": () => new Response(body, { headers: { "content-type": type } }) },
      { maxResponseBytes: 50_000 },
    );
    expect(await failure(client.callTool("read", {}))).toMatchObject({ code: "too_large" });
    expect(taken()).toBeLessThan(60_000);
    expect(isCancelled()).toBe(true);
  });

  it("the body of an error is read in part, and is cancelled", async () => {
    const { body, taken, isCancelled } = endless("x".repeat(1000));
    const client = await connect({ "tools/call": () => new Response(body, { status: 500 }) });
    const error = await failure(client.callTool("read", {}));
    expect(error).toMatchObject({ code: "http", status: 500 });
    expect(error.message.length).toBeLessThan(500);
    expect([taken() < 80_000, isCancelled()]).toEqual([true, true]);
  });

  it("a message of JSON-RPC is cut", async () => {
    const long = ({ id }: Asked) => Response.json({ id, error: { code: 1, message: "x".repeat(1_000_000) } });
    const client = await connect({ "tools/call": long });
    expect((await failure(client.callTool("read", {}))).message.length).toBeLessThan(3000);
  });

  it("a list of 300,000 tools is refused and fills no stack", async () => {
    const tools = Array.from({ length: 300_000 }, () => 0);
    const client = await connect({ "tools/list": () => ({ tools }) });
    expect(await failure(client.listTools())).toMatchObject({ code: "too_large" });
  });

  it("a list without an end is refused, by its pages and by a page that follows itself", async () => {
    let pages = 0;
    const more = await connect({ "tools/list": () => ({ tools: [], nextCursor: String((pages += 1)) }) });
    expect(await failure(more.listTools())).toMatchObject({ code: "too_large" });
    expect(pages).toBe(100);
    const same = await connect({ "tools/list": () => ({ tools: [], nextCursor: "again" }) });
    expect(await failure(same.listTools())).toMatchObject({ code: "too_large" });
  });

  it("the pages of a list share one limit", async () => {
    let pages = 0;
    const page = () => ({ tools: [], nextCursor: String((pages += 1)), words: "x".repeat(10_000) });
    const client = await connect({ "tools/list": page }, { maxResponseBytes: 35_000 });
    expect(await failure(client.listTools())).toMatchObject({ code: "too_large" });
    expect(pages).toBe(4);
  });

  it("a line in very many pieces is read in linear time", async () => {
    const body = new ReadableStream({
      start: (controller) => {
        const piece = new TextEncoder().encode("x");
        for (let at = 0; at < 200_000; at++) controller.enqueue(piece);
        controller.close();
      },
    });
    const client = await connect({
      "tools/call": () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    });
    expect(await failure(client.callTool("read", {}))).toMatchObject({ code: "http" });
  });
});

describe("a server that does not answer", () => {
  it("is left after timeoutMs", async () => {
    vi.useFakeTimers();
    const error = failure(connect({ "server/discover": () => new Promise(() => {}) }, { timeoutMs: 500 }));
    await vi.advanceTimersByTimeAsync(500);
    expect(await error).toMatchObject({ code: "timeout" });
  });

  it("does not keep a call from its abort, though fetch heeds no signal", async () => {
    const client = await connect({ "tools/call": () => new Promise(() => {}) });
    const aborter = new AbortController();
    const call = client.callTool("read", {}, { signal: aborter.signal });
    aborter.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });
});

describe("a task", () => {
  it.each([
    [0, 100],
    [-5, 100],
    [1e12, 60_000],
    [Infinity, 60_000],
    ["soon", 1000],
    [null, 1000],
  ])("whose server wants a look every %s ms is looked at every %i ms", async (pollIntervalMs, waitMs) => {
    vi.useFakeTimers();
    const told = JSON.stringify({ status: "working", pollIntervalMs }).replace(
      '"pollIntervalMs":null',
      `"pollIntervalMs":${pollIntervalMs === Infinity ? "1e999" : "null"}`,
    );
    let looks = 0;
    const client = await connect({
      "tools/call": () => ({ resultType: "task", taskId: "t" }),
      "tasks/get": ({ id }) => {
        looks += 1;
        return new Response(`{"jsonrpc":"2.0","id":${id},"result":${told}}`, {
          headers: { "content-type": "application/json" },
        });
      },
    });
    const aborter = new AbortController();
    const call = failure(client.callTool("x", {}, { signal: aborter.signal }));
    await vi.advanceTimersByTimeAsync(waitMs * 3);
    expect(looks).toBe(4);
    aborter.abort(new Error("enough"));
    expect((await call).message).toBe("enough");
  });

  it("without an id is an error", async () => {
    const client = await connect({ "tools/call": () => ({ resultType: "task", taskId: null }) });
    expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "http" });
  });
});

describe("questions to the user", () => {
  const question = (more: object = {}) => ({
    method: "elicitation/create",
    params: { message: "Sure?", ...more },
  });
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, question()]));

  it("2,000 at once are refused before the first is put", async () => {
    let put = 0;
    const client = await connect(
      { "tools/call": () => ({ resultType: "input_required", inputRequests: many(2000) }) },
      { onElicitation: () => ((put += 1), { action: "decline" }) },
    );
    expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "input_rounds" });
    expect(put).toBe(0);
  });

  it("are at most 50 in a call, one after the other", async () => {
    let put = 0;
    let open = 0;
    const client = await connect(
      { "tools/call": () => ({ resultType: "input_required", inputRequests: many(30) }) },
      {
        onElicitation: async () => {
          put += 1;
          open += 1;
          await null;
          expect(open).toBe(1);
          open -= 1;
          return { action: "decline" };
        },
      },
    );
    expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "input_rounds" });
    expect(put).toBe(50);
  });

  it("of a server of 2025 that floods end its call", async () => {
    const events = Array.from(
      { length: 2000 },
      (_, at) => `data: ${JSON.stringify({ id: `s${at}`, ...question() })}\n\n`,
    );
    let put = 0;
    const client = await connect(
      {
        "server/discover": () => new Response("no", { status: 404 }),
        initialize: () => ({ protocolVersion: "2025-11-25" }),
        "tools/call": () =>
          new Response(events.join(""), { headers: { "content-type": "text/event-stream" } }),
      },
      { onElicitation: () => ((put += 1), new Promise(() => {})) },
    );
    expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "too_large" });
    expect(put).toBeLessThan(2);
  });

  it("say who asks by your words alone", async () => {
    const heard: McpElicitation[] = [];
    const forged = { serverName: "bank", server: { name: "bank" }, _meta: { server: "bank" }, mode: "form" };
    let rounds = 0;
    const client = await connect(
      {
        ...listing(...named("x")),
        "tools/call": () =>
          (rounds += 1) > 1
            ? { content: [] }
            : { resultType: "input_required", inputRequests: { a: question(forged) } },
      },
      { onElicitation: (request) => (heard.push(request), { action: "decline" }) },
    );
    const tools = await client.tools("shop");
    const context = { signal: new AbortController().signal, progress: () => {}, checkpoint: async () => {} };
    await (tools["mcp__shop__x"]!.execute as (input: object, context: object) => unknown)({}, context);
    expect(heard).toEqual([
      { message: "Sure?", mode: "form", server: { name: "shop", url: "https://files.test/mcp/…" } },
    ]);
  });

  it("lead to no page but one of the web", async () => {
    const page = question({ mode: "url", url: "javascript:alert(1)" });
    let put = 0;
    const client = await connect(
      { "tools/call": () => ({ resultType: "input_required", inputRequests: { a: page } }) },
      { onElicitation: () => ((put += 1), { action: "accept" }) },
    );
    expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "rpc" });
    expect(put).toBe(0);
  });
});

describe("fields that are null", () => {
  const NULLS = { params: null, result: null, error: null, method: null, id: null };

  it.each<[string, Answers]>([
    [
      "of a message",
      { "tools/call": ({ id }) => Response.json([null, NULLS, { ...NULLS, id }, { id, result: {} }]) },
    ],
    [
      "of an error",
      { "tools/call": ({ id }) => Response.json({ id, error: { code: null, message: null } }) },
    ],
    ["of a result", { "tools/call": () => ({ content: [null, 5], structuredContent: null, isError: null }) }],
    ["of a question", { "tools/call": () => ({ resultType: "input_required", inputRequests: { a: null } }) }],
    [
      "of a task",
      {
        "tools/call": () => ({ resultType: "task", taskId: "t" }),
        "tasks/get": () => ({ status: null, error: null }),
      },
    ],
    ["of a list", { "tools/list": () => ({ tools: null, nextCursor: null }) }],
    [
      "of a report",
      {
        "tools/call": ({ id }) => {
          const report = { method: "notifications/progress", params: null };
          return new Response(`data: ${JSON.stringify(report)}\n\ndata: {"id":${id},"result":{}}\n\n`, {
            headers: { "content-type": "text/event-stream" },
          });
        },
      },
    ],
  ])("%s are no TypeErrors", async (_, answers) => {
    const client = await connect(answers, { onElicitation: () => ({ action: "decline" }) });
    const done = Promise.all([client.callTool("x", {}, { onProgress: () => {} }), client.listTools()]);
    const error: unknown = await done.catch((error: unknown) => error);
    expect(error instanceof Error ? error.name : "McpError").toBe("McpError");
  });
});
