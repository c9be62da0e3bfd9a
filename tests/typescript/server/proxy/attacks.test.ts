import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anthropic, createAgent, gemini, openai, openaiChat, type Fetch } from "looplet";
import { scripted } from "looplet/practice";
import { proxy, type ProxyOptions } from "looplet/proxy";
import { openrouter } from "looplet/vendors";
import { body, claude, KEY, noting, pageFetch, proxyOf, requestOf, statusOf } from "./kit.js";

// The first run loads the engine.
beforeAll(() => createAgent({ model: claude({ fetch: scripted([{ text: "Hi." }]) }) }).run("Hi").result);

const hello = () => [{ text: "Hi." }, { text: "Hi." }];

/** The log of the server. */
let logged: string[] = [];
const host = globalThis as { reportError?: unknown };
const { reportError } = host;
beforeEach(() => {
  logged = [];
  host.reportError = (error: unknown) => logged.push(String(error));
});
afterEach(() => void (host.reportError = reportError));

describe("the proxy is no open relay", () => {
  it("knows one path for each protocol, in one spelling, without a query", async () => {
    const paths = [
      "/",
      "/api",
      "/api/",
      "/api/anthropic",
      "/api/anthropic/",
      "/api/anthropic/v1/messages/",
      "/api/anthropic//v1/messages",
      "/api/anthropic/v1/messages/batches",
      "/api/anthropic/v1/messages/count_tokens",
      "/api/anthropic/v1/messages?beta=true",
      "/api/anthropic/v1/messages?",
      "/api/anthropic/v1/files",
      "/api/anthropic/v1/%6dessages",
      "/api/anthropic/v1%2Fmessages",
      "/api/anthropic%2Fv1/messages",
      "/api/anthropic/v1/models/../messages/../organizations/me",
      "/api/anthropic/..%2f..%2fv1/messages",
      "/api/anthropic/v1/messages%00",
      "/api/anthropic/v1/messages;x=1",
      "/api/anthropic\\v1\\messages/x",
      "/api/openai/v1/messages",
      "/api/anthropic/chat/completions",
      "/api/evil.test/v1/messages",
      "/api/https://evil.test/v1/messages",
      "/api//evil.test/v1/messages",
      "/api/__proto__/v1/messages",
      "/api/constructor/v1/messages",
      "/apix/anthropic/v1/messages",
      "/API/anthropic/v1/messages",
      "/x/api/anthropic/v1/messages",
    ];
    for (const path of paths) {
      const [status] = await statusOf(requestOf(body(), { path }));
      // A `?` with nothing behind it is no query.
      expect([path, status]).toEqual([path, path.endsWith("?") ? 200 : 404]);
    }
    // What the platform itself has resolved is the path.
    expect((await statusOf(requestOf(body(), { path: "/x/../api/anthropic/./v1/messages" })))[0]).toBe(200);
  });

  it("takes POST and JSON alone, from somebody who is signed in", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const request = requestOf(body(), { method, ...(/GET|HEAD/.test(method) ? { body: null } : {}) });
      expect((await statusOf(request))[0]).toBe(405);
    }
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/jsonx",
    ])
      expect((await statusOf(requestOf(body(), { headers: { "content-type": type } })))[0]).toBe(415);
    for (const owner of [undefined, null, "", true as never, {} as never])
      expect((await statusOf(requestOf(), { authorize: () => owner }))[0]).toBe(401);
    const denied = proxyOf(hello(), { authorize: () => Promise.reject(new Error("no database")) });
    await expect(denied.handler(requestOf())).rejects.toThrow("no database");
    expect(denied.sent).toEqual([]);
  });

  it("asks the vendor's own host alone, whatever the request says about hosts", async () => {
    const { handler, sent } = proxyOf(hello());
    const headers = {
      "content-type": "application/json",
      host: "evil.test",
      "x-forwarded-host": "evil.test",
      forwarded: "host=evil.test",
      "x-original-url": "/v1/files",
      "x-http-method-override": "DELETE",
      authorization: "Bearer page",
      "x-api-key": "page",
      cookie: "session=1",
      "proxy-authorization": "Basic x",
      "transfer-encoding": "chunked",
      connection: "x-api-key",
      "content-length": "1",
      "anthropic-beta": "a-1",
      "anthropic-version": "2023-06-01",
      "anthropic-dangerous-direct-browser-access": "true",
      origin: "https://page.test",
    };
    const request = requestOf();
    // The class `Request` drops some of these headers; a server of your own may not.
    const fields = new Map(Object.entries(headers));
    const smuggled = new Proxy(request, {
      get(target, name) {
        if (name === "headers") return { get: (field: string) => fields.get(field) ?? null };
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    expect((await handler(smuggled)).status).toBe(200);
    expect(sent[0]!.url).toBe("https://api.anthropic.com/v1/messages");
    expect(Object.fromEntries(sent[0]!.headers)).toEqual({
      "anthropic-beta": "a-1",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": KEY,
    });
  });

  it("asks the models on the list alone, and each at its own vendor", async () => {
    const models = [
      claude(),
      gemini("gem-a", { apiKey: KEY }),
      openai("gpt-a", { apiKey: KEY }),
      openaiChat("gpt-b", { apiKey: KEY }),
    ];
    const status = async (given: unknown, path: string): Promise<number> =>
      (await statusOf(requestOf(given, { path }), { models }))[0];
    const messages = "/api/anthropic/v1/messages";
    for (const model of [
      "claude-b",
      "claude-a ",
      "CLAUDE-A",
      "gpt-a",
      "",
      null,
      ["claude-a"],
      { toString: 1 },
      undefined,
    ])
      expect([model, await status(body({ model }), messages)]).toEqual([model, 403]);
    expect(await status({ model: "gpt-a", input: "Hi" }, "/api/openai/responses")).toBe(200);
    expect(await status({ model: "gpt-b", input: "Hi" }, "/api/openai/responses")).toBe(403);
    expect(await status({ model: "gpt-b", messages: [] }, "/api/openai/chat/completions")).toBe(200);
    const contents = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
    const stream = (name: string) => `/api/google/v1beta/models/${name}:streamGenerateContent?alt=sse`;
    expect(await status(contents, stream("gem-a"))).toBe(200);
    expect(await status(contents, stream("%67em-a"))).toBe(200);
    expect(await status(contents, "/api/google/v1beta/models/gem-a:generateContent")).toBe(200);
    // The path counts, and not the body.
    expect(await status({ ...contents, model: "gem-a" }, stream("gem-b"))).toBe(403);
    for (const [model, expected] of [
      ["gem-b", 403],
      ["models/gem-b", 403],
      [["gem-a"], 403],
      ["gem-a", 200],
      ["models/gem-a", 200],
    ] as const)
      expect([model, await status({ ...contents, model }, stream("gem-a"))]).toEqual([model, expected]);
    for (const name of ["gem-b", "..%2Fgem-a", "gem-a%2F..%2Fgem-b", "gem-a%3Fx", "gem-a%23", "%00gem-a"])
      expect([name, await status(contents, stream(name))]).toEqual([name, 403]);
    for (const path of [
      "/api/google/v1beta/models/gem-a:countTokens",
      "/api/google/v1beta/models/gem-a:batchGenerateContent",
      "/api/google/v1beta/models/gem-a:streamGenerateContent",
      "/api/google/v1beta/models/gem-a:streamGenerateContent?alt=json",
      "/api/google/v1beta/models/gem-a:streamGenerateContent?alt=sse&key=x",
      "/api/google/v1beta/models/gem-a/gem-b:streamGenerateContent?alt=sse",
      "/api/google/v1beta/models/%E0%A4%A:streamGenerateContent?alt=sse",
      "/api/google/v1beta/files",
      "/api/google/v1/models/gem-a:streamGenerateContent?alt=sse",
    ])
      expect([path, await status(contents, path)]).toEqual([path, 404]);
  });
});

describe("a body", () => {
  it("with a field twice is refused, because vendors differ in which one counts", async () => {
    const text = JSON.stringify(body()).slice(1, -1);
    const twice = [
      `{${text},"model":"claude-b"}`,
      `{"model":"claude-b",${text}}`,
      `{"mod\\u0065l":"claude-b",${text}}`,
      `{"MODEL":"claude-b",${text}}`,
      `{${text},"max_tokens" :\n 9}`,
      `{${text},"metadata":{"a\\"":1,"b":[{"x":"}"}],"a\\"":2}}`,
    ];
    for (const given of twice) {
      const [status, words] = await statusOf(requestOf(given));
      expect([given, status]).toEqual([given, 400]);
      expect(words).toContain("twice");
    }
    const once = `{${text},"metadata":{"a":{"a":"\\\\","b":"\\"a\\":"},"A":[{"a":1},{"a":2}]}}`;
    expect((await statusOf(requestOf(once)))[0]).toBe(200);
  });

  it("that is no JSON object in whole letters is refused", async () => {
    const bom = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode(JSON.stringify(body()))]);
    const broken = new Uint8Array([...new TextEncoder().encode('{"model":"claude-a'), 0xff, 0x22, 0x7d]);
    for (const given of ["", "{", "[]", "null", "7", '"claude-a"', "{}{}", `${JSON.stringify(body())}x`])
      expect([given, (await statusOf(requestOf(given)))[0]]).toEqual([given, 400]);
    for (const bytes of [bom, broken])
      expect((await statusOf(requestOf(body(), { body: bytes })))[0]).toBe(400);
  });

  it("that is too long is refused before it is read, also if it hides its length", async () => {
    const options = { maxBodyBytes: 1000 };
    const long = body({ system: "x".repeat(2000) });
    expect((await statusOf(requestOf(long), options))[0]).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(500).fill(32));
      },
    });
    const request = requestOf(body(), { body: endless, duplex: "half" } as RequestInit);
    expect((await statusOf(request, options))[0]).toBe(413);
    expect(pulled).toBeLessThan(10);
  });

  it("may ask for no longer answer than the model's bound, and for one", async () => {
    const models = [
      claude({ maxOutputTokens: 100 }),
      openaiChat("gpt-a", { apiKey: KEY, maxOutputTokens: 100 }),
      gemini("gem-a", { apiKey: KEY, maxOutputTokens: 100 }),
    ];
    const chat = "/api/openai/chat/completions";
    const google = "/api/google/v1beta/models/gem-a:generateContent";
    const cases: [object, string, number][] = [
      [body({ max_tokens: 100 }), "/api/anthropic/v1/messages", 200],
      [body({ max_tokens: 101 }), "/api/anthropic/v1/messages", 403],
      [body({ max_tokens: "100" }), "/api/anthropic/v1/messages", 403],
      [body({ max_tokens: undefined }), "/api/anthropic/v1/messages", 403],
      [{ model: "gpt-a", messages: [] }, chat, 403],
      [{ model: "gpt-a", messages: [], max_tokens: 10, max_completion_tokens: 1000 }, chat, 403],
      [{ model: "gpt-a", messages: [], max_completion_tokens: 10 }, chat, 200],
      [{ model: "gpt-a", messages: [], max_completion_tokens: 10, n: 100 }, chat, 403],
      [{ contents: [] }, google, 403],
      [{ contents: [], generationConfig: { maxOutputTokens: 10 } }, google, 200],
      [{ contents: [], generationConfig: { maxOutputTokens: 10, candidateCount: 8 } }, google, 403],
    ];
    for (const [given, path, status] of cases)
      expect([given, (await statusOf(requestOf(given, { path }), { models }))[0]]).toEqual([given, status]);
  });

  it("cannot name other models, or spend more than tokens", async () => {
    const models = [claude(), openai("gpt-a", { apiKey: KEY }), openrouter("gpt-a", { apiKey: KEY })];
    const tool = { name: "x", input_schema: { type: "object" } };
    const chat = "/api/openrouter/chat/completions";
    const responses = "/api/openai/responses";
    const cases: [object, string, boolean][] = [
      [{ model: "gpt-a", messages: [], models: ["gpt-z"] }, chat, false],
      [{ model: "gpt-a", messages: [], route: "fallback" }, chat, false],
      [{ model: "gpt-a", messages: [], plugins: [{ id: "web" }] }, chat, true],
      [{ model: "gpt-a", messages: [], tools: [{ type: "function", function: {} }] }, chat, true],
      [body({ fallbacks: [{ model: "claude-z" }] }), "/api/anthropic/v1/messages", false],
      [body({ thread: { type: "create" } }), "/api/anthropic/v1/messages", true],
      [body({ thread: { type: "continue", previous_message_id: "m" } }), "/api/anthropic/v1/messages", true],
      [body({ mcp_servers: [{ url: "https://evil.test" }] }), "/api/anthropic/v1/messages", true],
      [
        body({ tools: [tool, { type: "web_search_20250305", name: "web_search" }] }),
        "/api/anthropic/v1/messages",
        true,
      ],
      [{ model: "gpt-a", input: "Hi", previous_response_id: "resp_of_another" }, responses, true],
      [{ model: "gpt-a", input: "Hi", background: true }, responses, true],
      [
        { model: "gpt-a", input: "Hi", tools: [{ type: "mcp", server_url: "https://evil.test" }] },
        responses,
        true,
      ],
      [{ model: "gpt-a", input: "Hi", tools: "web_search" }, responses, false],
    ];
    for (const [given, path, isFreed] of cases) {
      const isHarmless = JSON.stringify(given).includes('"type":"function"');
      const [status] = await statusOf(requestOf(given, { path }), { models });
      expect([given, status]).toEqual([given, isHarmless ? 200 : 403]);
      const [freed] = await statusOf(requestOf(given, { path }), { models, serverTools: true });
      if (isFreed) expect([given, freed]).toEqual([given, 200]);
    }
    const custom = body({ tools: [tool, { ...tool, type: "custom" }] });
    expect((await statusOf(requestOf(custom)))[0]).toBe(200);
  });

  it("may be refused by rules of your own", async () => {
    const seen: unknown[] = [];
    const refuse: ProxyOptions["refuse"] = (given, call) => {
      seen.push(given["verbosity"], call);
      return given["verbosity"] === "fast" ? "Not so fast." : undefined;
    };
    expect(await statusOf(requestOf(body({ verbosity: "fast" })), { refuse })).toMatchObject([
      403,
      expect.stringContaining("Not so fast."),
    ]);
    expect(seen).toMatchObject(["fast", { owner: "ada", vendor: "anthropic", model: "claude-a" }]);
    expect((await statusOf(requestOf(), { refuse }))[0]).toBe(200);
  });
});

describe("pages of other origins", () => {
  const from = (origin: string, more: Record<string, string> = {}) => ({
    headers: { "content-type": "application/json", origin, ...more },
  });

  it("are refused, unless they are on the list", async () => {
    const options = { origins: ["https://app.test"] };
    for (const origin of [
      "https://evil.test",
      "null",
      "https://app.test.evil.test",
      "http://app.test",
      "https://app.test:8443",
    ])
      expect([origin, (await statusOf(requestOf(body(), from(origin)), options))[0]]).toEqual([origin, 403]);
    expect((await statusOf(requestOf(body(), from("https://page.test"))))[0]).toBe(200);
    const behind = from("https://public.test", { "sec-fetch-site": "same-origin" });
    expect((await statusOf(requestOf(body(), behind)))[0]).toBe(200);
    const { handler } = proxyOf(hello(), options);
    const response = await handler(requestOf(body(), from("https://app.test")));
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
    expect(response.headers.get("access-control-allow-credentials")).toBe("true");
    expect(response.headers.get("vary")).toBe("origin");
  });

  it("may ask first, and read the words of a refusal", async () => {
    const { handler, sent } = proxyOf(hello(), { origins: ["https://app.test"], authorize: () => undefined });
    const ask = (origin: string) =>
      new Request("https://page.test/api/anthropic/v1/messages", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-headers": "anthropic-version,content-type" },
      });
    const allowed = await handler(ask("https://app.test"));
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-methods")).toBe("POST");
    expect(allowed.headers.get("access-control-allow-headers")).toBe("anthropic-version,content-type");
    expect((await handler(ask("https://evil.test"))).headers.get("access-control-allow-origin")).toBeNull();
    const refused = await handler(requestOf(body(), from("https://app.test")));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe("https://app.test");
    expect(sent).toEqual([]);
  });
});

describe("the key", () => {
  const answering = (response: () => Response | Promise<Response>): Fetch =>
    (async () => response()) as never;
  const failures: [string, Fetch][] = [
    ["a key that is refused", answering(() => new Response(`no such key: ${KEY}`, { status: 401 }))],
    ["a key without the right", answering(() => new Response(`no such key: ${KEY}`, { status: 403 }))],
    [
      "a redirect",
      answering(
        () => new Response(null, { status: 307, headers: { location: `https://evil.test/?${KEY}` } }),
      ),
    ],
    ["a network that fails", answering(() => Promise.reject(new TypeError(`fetch with x-api-key: ${KEY}`)))],
    [
      "a redirect that was followed",
      answering(() => Object.defineProperty(new Response(`took ${KEY}`), "redirected", { value: true })),
    ],
  ];

  it.each(failures)("is told to nobody after %s", async (_, fetch) => {
    const quota = noting();
    const { handler } = proxyOf(fetch, { quota });
    const response = await handler(requestOf());
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain(KEY);
    expect(logged.join()).toMatch(/looplet\/proxy/);
    expect(logged.join()).not.toContain(KEY);
    expect(JSON.stringify([...response.headers])).not.toContain(KEY);
    expect(quota.ended).toEqual([
      [expect.anything(), { inputTokens: 0, outputTokens: 0, costUsd: 0, isReported: true }],
    ]);
  });

  it("is taken out of the words of a vendor's error, which is passed on", async () => {
    const words = JSON.stringify({
      type: "error",
      error: { type: "overloaded_error", message: `busy ${KEY}` },
    });
    const fetch = answering(() => new Response(words, { status: 529, headers: { "retry-after": "2" } }));
    const response = await proxyOf(fetch).handler(requestOf());
    expect(response.status).toBe(529);
    expect(response.headers.get("retry-after")).toBe("2");
    const text = await response.text();
    expect(text).toContain("overloaded_error");
    expect(text).not.toContain(KEY);
  });

  it.each([200, 400, 529])("is taken out of the headers of an answer with status %i", async (status) => {
    const headers = {
      "content-type": `application/json; for=${KEY}`,
      "x-request-id": `req-${KEY}`,
      "request-id": btoa(KEY),
      "retry-after": KEY,
    };
    const fetch = answering(() => new Response("{}", { status, headers }));
    const response = await proxyOf(fetch).handler(requestOf());
    expect(response.status).toBe(status);
    expect(response.headers.get("x-request-id")).toBe("req-[redacted]");
    const passed = JSON.stringify([...response.headers]);
    expect(passed).not.toContain(KEY);
    expect(passed).not.toContain(btoa(KEY));
  });

  it("comes with a request that follows no redirect, from your function if it is one", async () => {
    const inits: RequestInit[] = [];
    const fetch = (async (url: string, init: RequestInit) => {
      inits.push(init);
      return scripted([{ text: "Hi." }])(url, init as never);
    }) as never;
    const models = [
      anthropic("claude-a", { apiKey: async () => KEY, headers: { "anthropic-version": "2024-01-01" } }),
    ];
    const { handler } = proxyOf(fetch, { models });
    expect(
      (
        await handler(
          requestOf(body(), { headers: { "content-type": "application/json", "anthropic-version": "1" } }),
        )
      ).status,
    ).toBe(200);
    expect(inits[0]!.redirect).toBe("manual");
    const headers = new Headers(inits[0]!.headers);
    expect([headers.get("x-api-key"), headers.get("anthropic-version")]).toEqual([KEY, "2024-01-01"]);
  });

  it("is needed at once, and a model that the proxy cannot reach is named", () => {
    const make = (options: Partial<ProxyOptions>) => () =>
      proxy({ models: [claude()], authorize: () => "a", ...options });
    expect(make({ models: [anthropic("claude-a")] })).toThrow("models[0]: needs apiKey or authorize");
    expect(make({ models: [anthropic("claude-a", { baseUrl: "/api" })] })).toThrow(
      "models[0]: needs an absolute baseUrl",
    );
    expect(make({ models: [] })).toThrow("models: needs a list of models");
    expect(make({ models: ["claude-a" as never] })).toThrow("models[0]: needs a model");
    expect(make({ authorize: undefined as never })).toThrow("authorize: is required");
    expect(make({ origins: ["https://app.test/"] })).toThrow("origins[0]: needs an origin");
    expect(make({ quota: {} as never })).toThrow("quota.begin");
  });
});

it("an agent in the page hears the words of a refusal, and does not try it again", async () => {
  const quota = { ...noting(), begin: () => ({ message: "Your quota is used up." }) };
  const { handler, sent } = proxyOf(hello(), { quota });
  let asked = 0;
  const fetch = (async (url: string, init: RequestInit) => (
    (asked += 1),
    pageFetch(handler)(url, init as never)
  )) as never;
  const page = anthropic("claude-a", { baseUrl: "https://page.test/api/anthropic", fetch });
  const { error } = await createAgent({ model: page }).run("Hello").result;
  expect(error).toMatchObject({
    code: "billing",
    message: expect.stringContaining("Your quota is used up."),
  });
  expect([asked, sent.length, quota.ended.length]).toEqual([1, 0, 0]);
});
