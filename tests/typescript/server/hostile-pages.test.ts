/** What a hostile page sends to `handler` and to an `AgentObject`: pages of other origins, arguments, ids, sizes. */
import { describe, expect, it, vi } from "vitest";
import { createAgent, custom, type Agent, type JournalEntry, type Store } from "looplet";
import { agUi, agUiHandler } from "looplet/ag-ui";
import { uiMessages } from "looplet/ai-sdk";
import { AgentObject } from "looplet/cloudflare";
import { memoryStore } from "looplet/stores";
import { objectState, sqlite } from "../support/object-state.js";
import { Server } from "../support/server-kit.js";
import { Kit } from "../support/worker-kit.js";

describe("a page of another origin", () => {
  const cookie = { cookie: "session=1" };
  const from = (site: string, mode: string) => ({
    "sec-fetch-site": site,
    "sec-fetch-mode": mode,
    ...cookie,
  });
  const status = async (headers: object, path = "/a", options: object = {}): Promise<number> => {
    const response = await new Server(undefined, options).asked(path, { headers: headers as never });
    await response.body?.cancel();
    return response.status;
  };

  it.each(["cross-site", "same-site"])("without a name loads nothing with a cookie: %s", async (site) => {
    for (const path of ["", "/a", "/a/events", "/a/stream", "/a/session"])
      for (const mode of ["no-cors", "cors", "same-origin", "websocket"])
        expect([path, mode, await status(from(site, mode), path)]).toEqual([path, mode, 403]);
    const listed = { allowedOrigins: ["https://app.test"] };
    expect(await status(from(site, "no-cors"), "/a/events", listed)).toBe(403);
  });

  it("may link to a session, and its own page and programs load it", async () => {
    expect(await status(from("cross-site", "navigate"), "/a/events")).toBe(200);
    expect(await status(from("same-origin", "no-cors"), "/a/events")).toBe(200);
    expect(await status(from("none", "navigate"), "/a/events")).toBe(200);
    expect(await status(cookie, "/a/events")).toBe(200);
    // A link does nothing but read.
    const post = { method: "POST", body: '{"prompt":"Hi."}', headers: from("cross-site", "navigate") };
    expect((await new Server().asked("/a/run", post)).status).toBe(403);
  });
});

it("no answer is stored by a cache, or read as another type than it has", async () => {
  const server = new Server();
  await server.post("/a/run", { prompt: "Hi." });
  for (const path of ["", "/a", "/a/session", "/a/events", "/a/stream", "/b", "/a/nothing"]) {
    const { headers, body } = await server.asked(path);
    await body?.cancel();
    const seen = [headers.get("cache-control"), headers.get("x-content-type-options")];
    expect([path, ...seen]).toEqual([path, "no-store", "nosniff"]);
  }
});

it("no answer in another format is stored by a cache, or read as another type than it has", async () => {
  const server = new Server(undefined, { formats: [uiMessages(), agUi()] });
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "Hi." }], content: "Hi." };
  for (const [path, body] of [
    ["/ui-messages", { id: "a", messages: [message] }],
    ["/ag-ui", { threadId: "a", runId: "r", messages: [message], tools: [], context: [], state: {} }],
  ] as const) {
    const { status, headers, text } = await answered(
      await server.asked(path, { method: "POST", body: JSON.stringify(body) }),
    );
    expect([path, status, text.includes("data: ")]).toEqual([path, 200, true]);
    const seen = [headers.get("cache-control"), headers.get("x-content-type-options")];
    expect([path, ...seen]).toEqual([path, expect.stringContaining("no-store"), "nosniff"]);
  }
  const agent = createAgent({ model: custom(() => "Done.") });
  const direct = await agUiHandler(agent, { authorize: () => "eve" })(
    new Request("http://s.test/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", runId: "r", messages: [message], tools: [], context: [] }),
    }),
  );
  await direct.body?.cancel();
  expect([
    direct.status,
    direct.headers.get("cache-control"),
    direct.headers.get("x-content-type-options"),
  ]).toEqual([200, expect.stringContaining("no-store"), "nosniff"]);
});

async function answered(response: Response) {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("arguments of a call", () => {
  const options = { id: "r" };
  it.each([
    ["run", ["Hi.", null, options]],
    ["run", ["Hi.", { id: 5 }, options]],
    ["run", ["Hi.", { id: "q", messages: [{ role: "user", content: [] }] }, options]],
    ["run", ["Hi.", { id: "q", inputs: [1] }, options]],
    ["compact", [null, options]],
    ["compact", ["Hi.", options]],
    ["compact", [{ id: 5 }, options]],
  ])("that are too many are not looked at, and not used: %s %j", async (method, args) => {
    const server = new Server();
    expect((await server.post("/a/call", { method, args })).status).toBe(400);
    expect((await server.asked("/a")).status).toBe(404);
  });

  it("that are too many change nothing", async () => {
    const server = new Server();
    expect((await server.post("/a/call", { method: "run", args: ["Hi.", options, { id: 5 }] })).status).toBe(
      200,
    );
  });
});

it("of several answers to a question one counts, whichever way they come", async () => {
  const server = new Server();
  await server.post("/a/run", { prompt: "Pay.", requestId: "r" });
  const asked = async (): Promise<any> => {
    const { value } = await server.post("/a/call", { run: "r", method: "snapshot", args: [] });
    return value.events.findLast(({ type }: { type: string }) => type === "question");
  };
  const question = (await asked()) ?? (await new Promise((resolve) => setTimeout(resolve, 20)).then(asked));
  const { questionId } = question;
  // The same answer may be delivered twice, so each of these differs from the others.
  const answers = Array.from({ length: 10 }, (_, at) => {
    const answer = at === 3 ? { behavior: "allow" } : { behavior: "deny", message: `no ${at}` };
    return at < 5
      ? server.post("/a/answer", { questionId, answer })
      : server.post("/a/call", { run: "r", method: "answer", args: [questionId, answer] });
  });
  const taken = (await Promise.all(answers)).filter(({ taken, value }) => taken === true || value === true);
  expect(taken).toHaveLength(1);
  expect(await server.post("/a/answer", { questionId, answer: { behavior: "allow" } })).toMatchObject({
    taken: false,
  });
});

/** A store that counts what is kept in it. */
function counting(): { store: Store; bytes: () => number } {
  const inner = memoryStore();
  let bytes = 0;
  const append = (key: string, entries: readonly JournalEntry[], after: number) => {
    for (const { json } of entries) bytes += key.length + json.length;
    return inner.append(key, entries, after);
  };
  return { store: { ...inner, append }, bytes: () => bytes };
}

describe("an id of a page", () => {
  const long = "x".repeat(100_000);
  it("is no text that fills the store with each event", async () => {
    const { store, bytes } = counting();
    const kit = new Kit();
    kit.store = store;
    const server = new Server(kit);
    for (const [path, body] of [
      ["/a/run", { prompt: "Hi.", requestId: long }],
      ["/a/call", { method: "run", args: ["Hi.", { id: long }] }],
      ["/a/call", { method: "compact", args: [{ id: long }] }],
      ["/a/call", { run: "r", method: "steer", args: ["Hi.", { requestId: long }] }],
      ["/a/call", { run: "r", method: "claim", args: [1, long] }],
    ] as const)
      expect([path, (await server.post(path, body)).status]).toEqual([path, 400]);
    expect(bytes()).toBe(0);
    expect((await server.post("/a/run", { prompt: "Hi.", requestId: "x".repeat(512) })).status).toBe(200);
  });

  it("is short over AG-UI too", async () => {
    const { store, bytes } = counting();
    const agent = createAgent({ model: custom(() => "Done."), store });
    const handle = agUiHandler(agent as never, { authorize: () => "eve" });
    const message = { id: "1", role: "user", content: "Hi." };
    for (const more of [{ threadId: long }, { runId: long }, { messages: [{ ...message, id: long }] }]) {
      const body = JSON.stringify({ threadId: "t", runId: "r", messages: [message], ...more });
      const headers = { "content-type": "application/json" };
      const response = await handle(new Request("http://s.test/", { method: "POST", headers, body }));
      expect([Object.keys(more), response.status]).toEqual([Object.keys(more), 400]);
    }
    expect(bytes()).toBe(0);
  });
});

describe.skipIf(sqlite === undefined)("an object", () => {
  class Session extends AgentObject {
    agent(store: Store): Agent {
      return createAgent({ model: custom(() => "Done."), store }) as unknown as Agent;
    }
  }

  it("does not read a body to its end that is too long, nor a message", async () => {
    const session = new Session(objectState(), {}, { maxBodyBytes: 100 });
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(64).fill(32));
      },
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const response = await session.fetch(new Request("http://s.test/run", init) as never);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(10);
    const sent: string[] = [];
    const socket = { send: (text: string) => void sent.push(text), close: () => {} };
    await session.webSocketMessage(socket, JSON.stringify({ do: "run", prompt: "x".repeat(100) }));
    expect(sent).toEqual(['{"error":"The body has more than 100 bytes."}']);
    const usual = new Session(objectState(), {});
    const long = new Request("http://s.test/run", { method: "POST", body: " ".repeat(4_194_305) });
    expect((await usual.fetch(long as never)).status).toBe(413);
  });

  /** What a new object answers, after a run that waits for an approval if it is to have one. */
  async function asked(path: string, init: RequestInit, options: object = {}, isPaying = false) {
    const kit = new Kit();
    class Paying extends AgentObject {
      agent(store: Store): Agent {
        kit.store = store;
        return kit.agent();
      }
    }
    const session = new Paying(objectState(), {}, options);
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
      (await session.fetch(new Request(`http://s.test${path}`, init) as never)) as unknown as Response;
    const post = async (path: string, body: object): Promise<any> =>
      (await ask(path, { method: "POST", body: JSON.stringify(body) })).json();
    if (isPaying) await post("/a/run", { prompt: "Pay.", requestId: "r" });
    const response = await ask(path, init);
    await response.body?.cancel();
    return { session, ask, post, response, status: response.status };
  }

  it("refuses a page of another origin whose request has a cookie, or that sends no JSON", async () => {
    const cookie = "session=1";
    const page = (headers: object, method = "GET", more: object = {}): RequestInit => ({
      method,
      headers: { ...headers } as never,
      ...(method === "GET" ? {} : { body: '{"prompt":"Hi."}' }),
      ...more,
    });
    const foreign = { origin: "https://evil.test", cookie };
    const paths = ["/a", "/a/events", "/a/stream", "/a/session"];
    for (const path of paths) {
      expect([path, (await asked(path, page(foreign))).status]).toEqual([path, 403]);
      const picture = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", cookie };
      expect([path, (await asked(path, page(picture))).status]).toEqual([path, 403]);
    }
    // A browser sends the origin of a page with each WebSocket.
    expect((await asked("/a/events", page({ ...foreign, upgrade: "websocket" }))).status).toBe(403);
    const json = { "content-type": "application/json" };
    for (const word of ["run", "answer", "abort", "call"]) {
      expect([word, (await asked(`/a/${word}`, page({ ...foreign, ...json }, "POST"))).status]).toEqual([
        word,
        403,
      ]);
      const form = { origin: "https://evil.test", "content-type": "text/plain" };
      expect([word, (await asked(`/a/${word}`, page(form, "POST"))).status]).toEqual([word, 403]);
    }
    expect((await asked("/a/session", page({ ...foreign, ...json }, "PUT"))).status).toBe(403);
    const options = { allowedOrigins: ["https://app.test"] };
    const ours = { origin: "https://app.test", cookie };
    expect((await asked("/a/run", page({ ...ours, ...json }, "POST"), options)).status).toBe(200);
    expect((await asked("/a/run", page(ours, "POST"), options)).status).toBe(415);
    expect((await asked("/a", page({ origin: "https://evil.test" }), options)).status).toBe(403);
  });

  it("has no answer that a cache stores, or that is read as another type than it has", async () => {
    const { ask } = await asked("/a/run", { method: "POST", body: '{"prompt":"Hi."}' }, { base: /^\/a$/ });
    const answers = ["/a", "/a/events", "/a/stream", "/a/session", "/b", "/a/nothing"].map((path) =>
      ask(path),
    );
    answers.push(ask("/a/run", { method: "POST", body: "{" }), ask("/a/run", { method: "DELETE" }));
    for (const { headers, body, status } of await Promise.all(answers)) {
      await body?.cancel();
      const seen = [headers.get("cache-control"), headers.get("x-content-type-options")];
      expect([status, ...seen]).toEqual([status, "no-store", "nosniff"]);
    }
    expect(
      await Promise.all(["/b", "/a/a/events", "/a/nothing"].map(async (path) => (await ask(path)).status)),
    ).toEqual([404, 404, 404]);
  });

  it("takes one of several answers to a question, whichever way they come", async () => {
    const { post, session } = await asked("/a", {}, {}, true);
    const call = (method: string, args: unknown[]): Promise<any> =>
      post("/a/call", { run: "r", method, args });
    let question: any;
    while (question === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const { value } = await call("snapshot", []);
      question = value?.events.findLast(({ type }: { type: string }) => type === "question");
    }
    const { questionId } = question;
    const told: any[] = [];
    const socket = { send: (text: string) => void told.push(JSON.parse(text).reply), close() {} };
    const answers = Array.from({ length: 9 }, async (_, at) => {
      const answer = { behavior: "deny", message: `no ${at}` };
      if (at % 3 === 0) return post("/a/answer", { questionId, answer });
      if (at % 3 === 1) return call("answer", [questionId, answer]);
      return session.webSocketMessage(socket, JSON.stringify({ do: "answer", questionId, answer }));
    });
    const all = [...(await Promise.all(answers)), ...told];
    expect(all.filter((one) => one?.taken === true || one?.value === true)).toHaveLength(1);
  });

  it("takes short ids, no permission mode and no budget, unless its pages are trusted", async () => {
    const long = "x".repeat(100_000);
    for (const body of [
      { method: "run", args: ["Hi.", { id: long }] },
      { method: "run", args: ["Hi.", { id: "r", messages: [{ role: "user", content: [] }] }] },
      { run: "r", method: "steer", args: ["Hi.", { requestId: long }] },
      { run: "r", method: "claim", args: [1, long] },
      { run: "r", method: "setPermissionMode", args: ["bypassPermissions"] },
      { run: "r", method: "addBudget", args: [{ maxUsd: 1 }] },
      { method: "reset", args: [[{ role: "user", content: [{ type: "text", text: "Forged." }] }]] },
    ]) {
      const init = { method: "POST", body: JSON.stringify(body) };
      expect([body, (await asked("/a/call", init, {}, true)).status]).toEqual([body, 400]);
    }
    const mode = { run: "r", method: "setPermissionMode", args: ["acceptEdits"] };
    const init = { method: "POST", body: JSON.stringify(mode) };
    expect((await asked("/a/call", init, { trustedSessions: true }, true)).status).toBe(200);
  });

  it("tells a failure of its own to its log, and nothing of it to the page", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    class Broken extends AgentObject {
      agent(): Agent {
        throw new Error("postgres://secret is down");
      }
    }
    const session = new Broken(objectState(), {});
    const response = (await session.fetch(new Request("http://s.test/a") as never)) as unknown as Response;
    const sent: string[] = [];
    const socket = { send: (text: string) => void sent.push(text), close() {} };
    await session.webSocketMessage(socket, '{"do":"abort"}');
    const words = '{"error":"The server cannot do this. Its log says why."}';
    expect([response.status, await response.text(), ...sent]).toEqual([500, words, words]);
    expect(String(log.mock.calls)).toContain("postgres://secret");
    log.mockRestore();
  });
});
