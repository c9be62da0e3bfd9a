// The proxy of `looplet/proxy` in workerd, Deno and Bun, between a client and a vendor over real sockets: the answer
// comes piece by piece, and a client that leaves is one that the vendor hears of. The long suite has Bun.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { installPacked } from "./install.mjs";
import { startWorkerd } from "./workerd.mjs";

const { LOOPLET_DENO, LOOPLET_BUN } = process.env;
const KEY = "sk-secret-0123456789";

let installed, vendor;
/** The requests that the vendor has got, newest last: `{ headers, body, response, left }`. */
const asked = [];
before(async () => {
  installed = await installPacked();
  vendor = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const left = new Promise((resolve) => response.on("close", resolve));
    asked.push({ url: request.url, headers: request.headers, body, response, left });
    if (body.includes("redirect")) return response.writeHead(307, { location: "https://evil.test/" }).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
  });
  await new Promise((resolve) => vendor.listen(0, "127.0.0.1", resolve));
  writeFileSync(
    join(installed.folder, "proxy.mjs"),
    `import { anthropic } from "looplet/external";
import { proxy } from "looplet/proxy";
const baseUrl = "http://127.0.0.1:${vendor.address().port}";
export const handler = proxy({
  models: [anthropic("m", { apiKey: ${JSON.stringify(KEY)}, baseUrl })],
  authorize: (request) => request.headers.get("x-user"),
});
`,
  );
});
after(() => {
  vendor?.closeAllConnections();
  vendor?.close();
  installed?.remove();
});

/** A process that serves the proxy and prints its port. */
async function served(binary, args, name, script) {
  writeFileSync(join(installed.folder, name), `import { handler } from "./proxy.mjs";\n${script}`);
  const child = spawn(binary, [...args, name], {
    cwd: installed.folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(Number(text)));
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

const hosts = {
  workerd: {
    async start() {
      writeFileSync(
        join(installed.folder, "worker.mjs"),
        `import { handler } from "./proxy.mjs";
export default { fetch: (request, env, context) => handler(request, context) };
`,
      );
      const flare = await startWorkerd(installed.folder, "worker.mjs");
      return { url: (await flare.ready).origin, stop: () => flare.dispose() };
    },
  },
  Deno: {
    isThere: LOOPLET_DENO !== undefined,
    start: () =>
      served(
        LOOPLET_DENO,
        ["run", "--no-prompt", "--allow-net=127.0.0.1"],
        "deno.mjs",
        "Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) }, (request) => handler(request));",
      ),
  },
  Bun: {
    isThere: LOOPLET_BUN !== undefined,
    start: () =>
      served(
        LOOPLET_BUN,
        ["run"],
        "bun.mjs",
        "console.log(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => handler(request) }).port);",
      ),
  },
};

const there = Object.entries(hosts).filter(([, { isThere = true }]) => isThere);

for (const [name, { start }] of there)
  describe(name, { timeout: 60_000 }, () => {
    let host;
    before(async () => (host = await start()));
    after(() => host?.stop());

    const post = (body, init = {}) =>
      fetch(`${host.url}/api/anthropic/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-user": "ada", cookie: "a=1" },
        body: JSON.stringify({ model: "m", max_tokens: 9, stream: true, messages: [], ...body }),
        ...init,
      });

    test("passes an answer on piece by piece, and the key to the vendor alone", async () => {
      const answer = await post({});
      assert.equal(answer.status, 200);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      assert.equal((await reader.read()).value, "data: 1\n\n");
      const { response, url, headers } = asked.at(-1);
      assert.equal(url, "/v1/messages");
      assert.equal(headers["x-api-key"], KEY);
      assert.deepEqual([headers["x-user"], headers.cookie], [undefined, undefined]);
      response.end("data: 2\n\n");
      assert.equal((await reader.read()).value, "data: 2\n\n");
      assert.equal((await reader.read()).done, true);
    });

    test("tells the vendor that the client has left", async () => {
      const left = new AbortController();
      const answer = await post({}, { signal: left.signal });
      await answer.body.getReader().read();
      left.abort();
      // workerd notices at the next piece that it cannot send.
      const { response, left: gone } = asked.at(-1);
      const goesOn = setInterval(() => response.write("data: 2\n\n"), 20);
      await gone;
      clearInterval(goesOn);
      assert.equal(response.writableFinished, false);
    });

    test("passes on neither other models nor strangers, and follows no redirect", async () => {
      const count = asked.length;
      assert.equal((await post({ model: "n" })).status, 403);
      assert.equal((await post({}, { headers: { "content-type": "application/json" } })).status, 401);
      assert.equal(asked.length, count);
      const redirected = await post({ system: "redirect" });
      assert.equal(redirected.status, 502);
      assert.doesNotMatch(await redirected.text(), /evil|sk-secret/);
      assert.equal(asked.length, count + 1);
    });
  });
