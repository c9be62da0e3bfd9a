// Servers that take too much: of time, of the journal, of a person's attention.
import { afterEach, describe, expect, it, vi } from "vitest";
import { query } from "looplet/agent-sdk";
import { custom, type Tool } from "looplet";
import { connectMcp, type McpElicitation, type McpOptions } from "looplet/mcp";
import { connect, discovers, failure, far, listing, named, schema, type Answers } from "./strangers.js";

afterEach(() => vi.useRealTimers());

const LEGACY: Answers = {
  "server/discover": () => new Response("no", { status: 404 }),
  initialize: ({ id }) => Response.json({ id, result: {} }, { headers: { "mcp-session-id": "s1" } }),
};

describe("time", () => {
  it("all pages of a list share that of one request", async () => {
    vi.useFakeTimers();
    let pages = 0;
    const client = await connect(
      {
        "tools/list": async () => {
          await new Promise((resolve) => setTimeout(resolve, 400));
          return { tools: [], nextCursor: String((pages += 1)) };
        },
      },
      { timeoutMs: 1000 },
    );
    const error = failure(client.listTools());
    await vi.advanceTimersByTimeAsync(1000);
    expect(await error).toMatchObject({ code: "timeout" });
    expect(pages).toBe(2);
  });

  it("all requests of the beginning share that of one request", async () => {
    vi.useFakeTimers();
    const late = async (answer: Response): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return answer;
    };
    const error = failure(
      connect(
        {
          "server/discover": () => late(new Response("no", { status: 404 })),
          initialize: ({ id }) => late(Response.json({ id, result: {} })),
          "notifications/initialized": () => late(new Response(null, { status: 202 })),
        },
        { timeoutMs: 1000 },
      ),
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(await error).toMatchObject({ code: "timeout" });
  });

  it("the end of a session has 5 s, also at the end of a query", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const answer = far({ ...LEGACY, ...listing() });
    let asked = 0;
    const mcpFetch: McpOptions["fetch"] = (url, init) => {
      if (init.method !== "DELETE") return answer(url, init);
      asked = Date.now();
      return new Promise(() => {});
    };
    const options = {
      model: custom(() => "Done."),
      mcpServers: { far: { type: "http", url: "https://files.test/mcp" } },
      host: { mcpFetch },
    } as const;
    let took = 0;
    const work = (async () => {
      for await (const { type } of query({ prompt: "Hi", options })) expect(type).not.toBe("error");
      took = Date.now() - asked;
    })();
    while (took === 0) {
      await vi.advanceTimersByTimeAsync(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await work;
    expect(took).toBeLessThanOrEqual(5500);
  });

  it("an abort ends a call whose question nobody answers", async () => {
    const aborter = new AbortController();
    const question = { method: "elicitation/create", params: { message: "Sure?" } };
    const client = await connect(
      { "tools/call": () => ({ resultType: "input_required", inputRequests: { a: question } }) },
      {
        onElicitation: () => {
          aborter.abort(new Error("enough"));
          return new Promise(() => {});
        },
      },
    );
    await expect(client.callTool("x", {}, { signal: aborter.signal })).rejects.toThrow("enough");
  });
});

it("a server that asks 1,000 things and more in one answer ends its call", async () => {
  let pongs = 0;
  const pings = new ReadableStream({
    pull: async (controller) => {
      controller.enqueue(new TextEncoder().encode('data: {"id":"p","method":"ping"}\n\n'));
      await new Promise((resolve) => setTimeout(resolve));
    },
  });
  const answer = far({
    ...LEGACY,
    "tools/call": () => new Response(pings, { headers: { "content-type": "text/event-stream" } }),
  });
  const fetch: McpOptions["fetch"] = async (url, init) => {
    pongs += Number(/"result":\{\}/.test(init.body ?? ""));
    return answer(url, init);
  };
  const client = await connectMcp({ url: "https://files.test/mcp", fetch });
  expect(await failure(client.callTool("x", {}))).toMatchObject({ code: "too_large" });
  expect(pongs).toBeLessThanOrEqual(1000);
});

describe("a question", () => {
  async function asked(params: object, key = "a"): Promise<McpElicitation[]> {
    const heard: McpElicitation[] = [];
    let rounds = 0;
    const question = { method: "elicitation/create", params: { message: "Sure?", ...params } };
    const client = await connect(
      {
        "tools/call": () =>
          (rounds += 1) > 1
            ? { content: [] }
            : { resultType: "input_required", inputRequests: { [key]: question } },
      },
      { onElicitation: (request) => (heard.push(request), { action: "decline" }) },
    );
    await client.callTool("x", {});
    return heard;
  }

  it.each([
    ["a name that could pass for the host", "https://accounts.bank.test@evil.test/"],
    ["a password", "https://:secret@evil.test/"],
    ["the scheme alone", "https:evil.test"],
    ["many characters", `https://evil.test/${"x".repeat(5000)}`],
    ["no text", { toString: 5 }],
  ])("leads to no page whose address has %s", async (_, url) => {
    await expect(asked({ mode: "url", url })).rejects.toMatchObject({ code: "rpc" });
  });

  it("shows an address as a browser reads it", async () => {
    const urls = ["https://b\u0430nk.test/x", "https://evil.test/\n\nbank.test", "https:\\\\evil.test"];
    const shown = await Promise.all(
      urls.map((url) =>
        asked({ mode: "url", url }).then(
          ([one]) => one!.url,
          () => undefined,
        ),
      ),
    );
    expect(shown).toEqual(["https://xn--bnk-6cd.test/x", "https://evil.test/bank.test", undefined]);
  });

  it("has a form and a key within bounds", async () => {
    const requestedSchema = { type: "object", properties: { a: { enum: Array(100_000).fill("x") } } };
    await expect(asked({ requestedSchema })).rejects.toMatchObject({ code: "rpc" });
    await expect(asked({}, "k".repeat(1001))).rejects.toMatchObject({ code: "rpc" });
    expect(await asked({ requestedSchema: schema })).toHaveLength(1);
  });
});

describe("a tool in a list", () => {
  it.each<[string, object]>([
    ["a name of a million characters", { name: "n".repeat(1_000_000), inputSchema: schema }],
    ["a description of 300,000", { name: "n", description: "d".repeat(300_000), inputSchema: schema }],
    ["a schema of 300,000", { name: "n", inputSchema: { ...schema, $comment: "c".repeat(300_000) } }],
  ])("that has %s is left out", async (_, listed) => {
    const warned: string[] = [];
    const client = await connect(listing(listed, ...named("ok")), {
      onWarning: (words) => void warned.push(words),
    });
    expect(Object.keys(await client.tools("far"))).toEqual(["mcp__far__ok"]);
    expect(warned[0]!.length).toBeLessThan(300);
  });

  it("is not named in errors at any length", async () => {
    const client = await connect({ "tools/call": () => ({ resultType: "task", taskId: "t".repeat(2000) }) });
    const error = await failure(client.callTool("n".repeat(1_000_000), {}));
    expect(error.message.length).toBeLessThan(300);
  });

  it("has the whole name of its server in its own", async () => {
    const client = await connect(listing(...named("x")));
    await expect(client.tools("s".repeat(65))).rejects.toThrow("at most 64 characters");
    expect(Object.keys(await client.tools("s".repeat(64)))).toEqual([`mcp__${"s".repeat(64)}__x`]);
  });
});

describe("the state of a call that goes on in another process", () => {
  const url = "https://files.test/mcp";
  async function goOn(restored: unknown) {
    const fetch = far({
      ...discovers,
      ...listing(...named("x")),
      "tasks/get": () => ({ status: "completed", result: { content: [] } }),
    });
    const tools: Record<string, Tool> = await (await connectMcp({ url, fetch })).tools("far");
    const context = { signal: new AbortController().signal, checkpoint: async () => {}, restored };
    const execute = tools["mcp__far__x"]!.execute as (input: object, context: object) => Promise<unknown>;
    const error = await execute({}, context).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { error, methods: fetch.asked.slice(2).map(({ method }) => method) };
  }

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "x"],
    ["nothing", {}],
    ["a list", []],
    ["a request that is none", { server: url, inputRequired: null }],
    ["an id that is none", { server: url, taskId: 5 }],
    ["the task of another server", { server: "https://bank.test/mcp", taskId: "t" }],
    ["the request of another server", { server: "https://bank.test/mcp", inputRequired: {} }],
  ])("is not told to the server when it is %s", async (_, restored) => {
    const { error, methods } = await goOn(restored);
    expect(error).toMatchObject({ name: "McpError", code: "other_server" });
    expect(methods).toEqual([]);
  });

  it("is told to the server at which the call was begun", async () => {
    expect(await goOn({ server: url, taskId: "t" })).toEqual({ error: undefined, methods: ["tasks/get"] });
  });
});
