// What the examples of docs/tasks must have done; docs-expected.mjs says how.
//   inPage(page)   what a person does in a browser that has opened the example
//   mount          the script that puts a module on a page
//   others         what the page's server answers below a path
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createVite } from "vite";

// The tests put a provider in the place of the global one.
const { fetch } = globalThis;

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
};
