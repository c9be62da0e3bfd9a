// What the examples about a server must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { connect } from "node:net";
import { join } from "node:path";

// The tests put a provider in the place of the global one.
const { fetch } = globalThis;

/** The status that a server gives to a request of these bytes; 0 if it closes the connection without one. */
export function statusOf(server, lines) {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(server.address().port, "127.0.0.1", () =>
      socket.write([...lines, "connection: close", "", ""].join("\r\n")),
    );
    socket.on("data", (data) => (text += data));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0)));
  });
}

/** Requests that have no `Request` in JavaScript. The server must answer each, and go on. */
export const ODD_REQUESTS = [
  ["HEAD /api/agent HTTP/1.1", "host: page.test"],
  ["TRACE / HTTP/1.1", "host: page.test"],
  ["GET // HTTP/1.1", "host: page.test"],
  ["GET http://page.test:x/ HTTP/1.1", "host: page.test"],
  ["OPTIONS * HTTP/1.1", "host: page.test"],
  ["GET / HTTP/1.1", "host: a b"],
];

// The server that the page of its example asks.
let served;

export const server = {
  "server/node.ts": {
    async after({ made }) {
      process.on("exit", () => rmSync("chats", { recursive: true, force: true }));
      served = made.server;
      await new Promise((resolve) => served.listen(0, "127.0.0.1", resolve));
      served.unref();
      const url = `http://127.0.0.1:${served.address().port}/api/agent`;
      const ask = (path, init = {}) =>
        fetch(`${url}${path}`, { ...init, headers: { cookie: "session=s3cret", ...init.headers } });
      assert.equal((await ask("", { headers: { cookie: "session=guess" } })).status, 401);
      assert.deepEqual(await (await ask("")).json(), { sessions: [] });
      const headers = { accept: "text/event-stream" };
      const body = '{"prompt":"Hello"}';
      const told = await (await ask("/notes/run", { method: "POST", headers, body })).text();
      assert.match(told, /^: looplet\n\nid: \S+\ndata: \{.*"type":"run-start"/);
      assert.match(told, /"type":"finish".*"completed".*\n\n$/);
      assert.equal((await ask("/notes/stream")).status, 204);
      assert.equal((await (await ask("/notes")).json()).messages.length, 2);
      const events = await ask("/notes/events");
      await events.body.cancel();
      assert.deepEqual(await (await ask("/notes", { method: "DELETE" })).json(), { deleted: true });
      for (const lines of ODD_REQUESTS) assert.ok((await statusOf(served, lines)) >= 400, lines[0]);
      // A page whose origin stands in its path is a foreign one.
      const foreign = [
        "POST //evil.test/api/agent/notes/run HTTP/1.1",
        "host: page.test",
        "content-length: 0",
      ];
      foreign.push("origin: http://evil.test", "content-type: text/plain", "cookie: session=s3cret");
      assert.equal(await statusOf(served, foreign), 403);
    },
  },
  "server/recorded.ts": {
    before: ({ answer }) => answer({ text: "Recorded." }),
    async after({ made }) {
      const { memoryStore } = await import("looplet/stores");
      const { replay } = await import("looplet/replay");
      const folder = mkdtempSync(join(tmpdir(), "looplet-recordings-"));
      const saved = join(folder, "runs");
      try {
        const { id, result } = made.recordedAgent(memoryStore(), saved).run("Hello", { id: "a/b" });
        assert.equal((await result).text, "Recorded.");
        const files = () => (existsSync(saved) ? readdirSync(saved) : []);
        const text = () => files().map((name) => readFileSync(join(saved, name), "utf8"))[0] ?? "";
        while (!text().endsWith("}\n") && !text().endsWith("}"))
          await new Promise((resolve) => setTimeout(resolve, 5));
        assert.match(files()[0], /^\d+-completed-a%2Fb\.loop$/);
        const { steps, at } = await replay(text());
        assert.deepEqual([id, at(steps.length - 1).text], ["a/b", "Recorded."]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
  "server/page.ts": {
    mount: 'import "./page";',
    others: {
      "/api/agent"(request, response) {
        request.headers.cookie = "session=s3cret";
        served.emit("request", request, response);
      },
    },
    async inPage(page) {
      await page.waitForFunction(() => document.body.textContent.trim().length > 10);
    },
  },
  "server/formats.ts": {
    async after({ made, looplet: { createAgent, custom } }) {
      const { memoryStore } = await import("looplet/stores");
      const { handler } = await import("looplet/server");
      const store = memoryStore();
      const agent = createAgent({ model: custom(() => "Hello you."), store });
      const handle = handler(agent, { store, authorize: () => "ada", formats: [made.plain] });
      const init = { method: "POST", headers: { accept: "text/plain" }, body: '{"prompt":"Hello"}' };
      const response = await handle(new Request("https://chat.test/a/run", init));
      assert.equal(response.headers.get("content-type"), "text/plain");
      assert.equal(await response.text(), "Hello you.");
    },
  },
};
