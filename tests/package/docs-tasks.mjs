// What the examples of docs/tasks must have done; docs-expected.mjs says how.
//   inPage(page)   what a person does in a browser that has opened the example
//   mount          the script that puts a module on a page
//   others         what the page's server answers below a path
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createVite } from "vite";

// The tests put a provider in the place of the global one.
const { fetch } = globalThis;

// The route that the page of its example asks.
let route;

/** A module with an agent whose requests go to the page's own server, without a key. */
const keyless = {
  // A path of the page's own server has no meaning without a page.
  before: () => (globalThis.location = new URL("https://page.test/")),
  async after({ made, requests }) {
    const { outcome } = await made.agent.run("Hello").result;
    delete globalThis.location;
    assert.equal(outcome, "completed");
    assert.equal(requests[0].url, "https://page.test/api/anthropic/v1/messages");
    assert.equal(requests[0].headers.get("x-api-key"), null);
  },
};

/** A vendor behind the page's server: the practice provider of looplet. */
const vendor = async (request, response) => {
  const { practice } = await import("looplet/practice");
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const left = new AbortController();
  response.on("close", () => left.abort());
  const init = { method: "POST", body: Buffer.concat(chunks).toString(), signal: left.signal };
  const url = request.url.replace("/api/anthropic", "https://api.anthropic.com");
  const answer = await practice({ delayMs: 20 })(url, {
    ...init,
    headers: { "x-api-key": "key", "anthropic-version": "2023-06-01" },
  });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  try {
    for await (const bytes of answer.body) response.write(bytes);
  } catch {
    // The page has left.
  }
  response.end();
};

/** A request that a page sends to its proxy. */
const asked = (model = "claude-sonnet-4-6", headers = { cookie: "session=1" }) => ({
  method: "POST",
  headers: { ...headers, origin: "https://page.test", "accept-encoding": "identity" },
  body: JSON.stringify({
    model,
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  }),
});

/** A server that is listening, and its URL. */
const listening = (server) =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );

export const tasks = {
  "first-run/index.html": {
    async inPage(page) {
      await page.waitForFunction(() => document.getElementById("outcome").textContent === "completed");
      assert.match(await page.textContent("#answer"), /Paris/);
    },
  },
  "first-run/agent.ts": keyless,
  "keep-the-key/agent.ts": keyless,
  "keep-the-key/node.ts": {
    async after({ made, requests }) {
      const url = `${await listening(made.server)}/api/anthropic/v1/messages`;
      try {
        const answer = await fetch(url, asked());
        assert.equal(answer.status, 200);
        assert.match(await answer.text(), /message_stop/);
        assert.equal(requests[0].url, "https://api.anthropic.com/v1/messages");
        assert.equal(requests[0].headers.get("x-api-key"), "key");
        const statuses = [
          fetch(url),
          fetch(`${url}/batches`, asked()),
          fetch(url, asked("claude-sonnet-4-6", {})),
          fetch(url, asked("claude-opus-4-8")),
        ];
        assert.deepEqual(
          (await Promise.all(statuses)).map(({ status }) => status),
          [404, 404, 401, 403],
        );
        assert.equal(requests.length, 1);
      } finally {
        made.server.closeAllConnections();
        made.server.close();
      }
    },
  },
  "keep-the-key/worker.ts": {
    async after({ made, requests }) {
      const ask = (init) =>
        made.default.fetch(new Request("https://page.test/api/anthropic/v1/messages", init), {
          ANTHROPIC_API_KEY: "secret",
        });
      assert.match(await (await ask(asked())).text(), /message_stop/);
      assert.equal(requests[0].headers.get("x-api-key"), "secret");
      assert.equal((await ask(asked("claude-sonnet-4-6", {}))).status, 401);
    },
  },
  "keep-the-key/vite.config.ts": {
    async after({ made }) {
      const seen = [];
      const vendor = createServer((request, response) => {
        seen.push({ url: request.url, ...request.headers });
        response.end("{}");
      });
      const target = await listening(vendor);
      const proxy = made.default.server.proxy["/api/anthropic"];
      const vite = await createVite({
        configFile: false,
        logLevel: "silent",
        server: { port: 0, host: "127.0.0.1", proxy: { "/api/anthropic": { ...proxy, target } } },
      });
      try {
        await vite.listen();
        await fetch(`${vite.resolvedUrls.local[0]}api/anthropic/v1/messages`, asked());
        const [{ url, origin, "x-api-key": key }] = seen;
        assert.deepEqual([url, origin, key], ["/v1/messages", undefined, "key"]);
      } finally {
        await vite.close();
        vendor.close();
      }
    },
  },
  "server-route/route.ts": {
    async after({ made, requests, serve, practice }) {
      const post = (body) => made.POST(new Request("https://page.test/api/chat", { method: "POST", body }));
      assert.equal((await post("prompt=hello")).status, 400);
      assert.equal((await post('{"prompt":" "}')).status, 400);

      const response = await post('{"prompt":"List the 3 newest orders"}');
      const text = await response.text();
      assert.match(text, /"type":"tool-result".*Kettle/);
      assert.match(text, /data: \{"type":"result","outcome":"completed".*\n\n$/);

      serve(practice.scripted([{ text: "Long", hang: true }]));
      const count = requests.length;
      const left = await post('{"prompt":"Hello"}');
      await left.body.cancel();
      assert.equal(requests.length, count);
      route = made.POST;
    },
  },
  "server-route/page.ts": {
    before: ({ practice, serve }) => {
      const turns = practice.scripted([{ text: "Hello you." }, { text: "Again." }, { status: 401 }]);
      serve((url, init) =>
        url === "/api/chat" ? route(new Request("https://page.test/api/chat", init)) : turns(url, init),
      );
    },
    async after({ made, requests }) {
      const shown = [];
      const send = (prompt) => made.send(prompt, (text) => shown.push(text));
      await send("Hello");
      await send("And again");
      assert.equal(shown.join(""), "Hello you.Again.");
      assert.equal(JSON.parse(requests.at(-1).body).messages.length, 3);
      await send("More");
      assert.match(shown.at(-1), /^The run ended as failed\. ./);
    },
  },
  "react/chat.tsx": {
    mount: `
      import { StrictMode } from "react";
      import { createRoot } from "react-dom/client";
      import { Chat } from "./chat";
      createRoot(document.querySelector("main")).render(<StrictMode><Chat /></StrictMode>);
    `,
    others: { "/api/anthropic": vendor },
    async inPage(page) {
      const send = async (text) => {
        await page.fill("input", text);
        await page.click("text=Send");
        await page.waitForSelector("text=Stop");
      };
      const said = (role) => page.locator(`[data-role=${role}]`).allTextContents();
      await send("Hello");
      await page.waitForSelector("text=Send");
      assert.deepEqual(await said("user"), ["Hello"]);
      const [answer, ...others] = await said("assistant");
      assert.ok(answer.length > 10 && others.length === 0, answer);

      await send("/practice stall\nTell me about kettles.");
      await page.locator("[data-role=assistant]").nth(1).waitFor();
      await page.click("text=Stop");
      await page.waitForSelector("text=Send");
      assert.equal((await said("assistant")).length, 2);

      await send("/practice 401");
      await page.waitForSelector("[role=alert]");
      assert.match(await page.textContent("[role=alert]"), /^failed: /);
    },
  },
};
