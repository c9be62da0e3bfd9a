// `looplet/server` from the packed package in the hosts that CI has, with the page's half at the other end. Bun is in
// the long suite.
import assert from "node:assert/strict";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { examples, root } from "./docs-examples.mjs";
import { here, installPacked } from "./install.mjs";
import { behaves, listening } from "./server-kit.mjs";
import { startSessions } from "./session-kit.mjs";
import { startWorkerd } from "./workerd.mjs";

const { LOOPLET_DENO: deno } = process.env;

let installed, connectAgent;
before(async () => {
  installed = await installPacked();
  cpSync(join(here, "server-program.mjs"), join(installed.folder, "server-program.mjs"));
  symlinkSync(join(root, "node_modules/hono"), join(installed.folder, "node_modules/hono"));
  const workers = join(installed.folder, "node_modules/looplet/dist/workers.js");
  ({ connectAgent } = await import(pathToFileURL(workers).href));
});
after(() => installed?.remove());

const load = (file) => import(pathToFileURL(join(installed.folder, file)).href);

test("Hono mounts it", async () => {
  const { handle } = await load("server-program.mjs");
  const { Hono } = await load("node_modules/hono/dist/index.js");
  const app = new Hono();
  app.all("/api/agent/*", (context) => handle(context.req.raw));
  await behaves(connectAgent, "http://hono.test/api/agent", async (url, init) => app.request(url, init));
  const list = await app.request("/api/agent", { headers: { authorization: "Bearer ada" } });
  assert.deepEqual(
    (await list.json()).sessions.map(({ id }) => id),
    ["support"],
  );
});

test("Node's own server mounts it by the lines of the documentation", async () => {
  const { code } = examples.find(({ name }) => name === "server/node.ts");
  const lines = code
    .replaceAll(
      / as (?:ReadableStream|never|Record<string, string>)|: (?:IncomingMessage|Request)\b|, type \w+/g,
      "",
    )
    .replace('"./server"', '"./server-program.mjs"');
  writeFileSync(join(installed.folder, "node-server.mjs"), lines);
  const { server } = await load("node-server.mjs");
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await behaves(connectAgent, `http://127.0.0.1:${server.address().port}/api/agent`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("Deno serves it", { skip: !deno && "no Deno" }, async () => {
  const program = `import { handle } from "./server-program.mjs";
Deno.serve({ hostname: "127.0.0.1", port: 0 }, handle);
`;
  writeFileSync(join(installed.folder, "deno-server.mjs"), program);
  const args = ["run", "--allow-net", "--no-prompt", "deno-server.mjs"];
  const { url, end } = await listening(deno, args, installed.folder);
  try {
    await behaves(connectAgent, `${url}/api/agent`);
  } finally {
    end();
  }
});

test("an object of Cloudflare for each user has it", async () => {
  writeFileSync(
    join(installed.folder, "server-worker.mjs"),
    `import { durableObjectStore } from "looplet/stores";
import { serverOf } from "./server-program.mjs";
export class Chats {
  constructor({ storage }) {
    this.fetch = serverOf(durableObjectStore(storage));
  }
}
export default {
  fetch: (request, { CHATS }) => CHATS.get(CHATS.idFromName(request.headers.get("authorization"))).fetch(request),
};
`,
  );
  const durableObjects = { CHATS: { className: "Chats", useSQLite: true } };
  const flare = await startWorkerd(installed.folder, "server-worker.mjs", undefined, { durableObjects });
  try {
    await behaves(connectAgent, "http://worker.test/api/agent", (url, init) =>
      flare.dispatchFetch(url, init),
    );
  } finally {
    await flare.dispose();
  }
});

test("objects of Cloudflare have the same page, and a killed process loses no event", async () => {
  const sessions = await startSessions(installed.folder);
  try {
    const fetch = (url, init) => sessions.fetch(url.replace("http://objects.test/", ""), init);
    const page = connectAgent("http://objects.test", { fetch });
    const chat = await page.openChat("one");
    const events = [];
    const run = chat.run("Stall.", { onEvent: (event) => void events.push(event) });
    while (!events.some(({ text }) => text?.includes("word10"))) await new Promise((go) => setTimeout(go, 5));
    await sessions.crash();
    const { outcome, text } = await run.result;
    assert.equal(outcome, "completed");
    assert.match(text, /^word1 .*word20 $/);
    const seqs = events.map(({ seq }) => seq);
    assert.equal(new Set(seqs).size, seqs.length);
    assert.deepEqual(
      seqs,
      seqs.toSorted((one, two) => one - two),
    );
    assert.equal((await page.run("Count.").result).messages.length, 2);
    page.disconnect();
  } finally {
    await sessions.end();
  }
});
