// What the hosts' own `fetch` makes of a request's body: bytes on a socket. It is the built package that is asked.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";
import { run } from "./install.mjs";
import { open } from "./page.mjs";

const deno = process.env.LOOPLET_DENO;
const browserPath = process.env.LOOPLET_CHROMIUM;
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "looplet-sent-"));
const inFolder = (name) => join(folder, name);
let seen = [];
let server;
let url;

before(async () => {
  server = createServer(vendor);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => (seen = []));

test("Node sends a conversation's bodies whole, as JSON", async () => {
  await bundle("node.mjs", "node", `console.log(await talk(${JSON.stringify(url)}));`);
  check(await run(process.env.LOOPLET_NODE || process.execPath, ["node.mjs"], folder));
});

test("Deno sends a conversation's bodies whole, as JSON", { skip: !deno && "no Deno" }, async () => {
  await bundle("deno.mjs", "deno", `console.log(await talk(${JSON.stringify(url)}));`);
  check(await run(deno, ["run", "--no-prompt", "--allow-net", "deno.mjs"], folder));
});

test("workerd sends a conversation's bodies whole, as JSON", async () => {
  const answers = `export default { fetch: async () => new Response(await talk(${JSON.stringify(url)})) };`;
  await bundle("worker.mjs", "workerd", answers);
  const module = (type, path, file) => ({ type, path, contents: readFileSync(file) });
  const flare = new Miniflare({
    cf: false,
    compatibilityDate: "2026-07-01",
    modules: [
      { ...module("ESModule", "worker.js", inFolder("worker.mjs")) },
      module("CompiledWasm", "looplet.wasm", join(root, "dist/looplet.wasm")),
    ],
  });
  try {
    check(await (await flare.dispatchFetch("http://worker.test/")).text());
  } finally {
    await flare.dispose();
  }
});

test(
  "Chromium sends a conversation's bodies whole, as JSON",
  { skip: !browserPath && "no Chromium" },
  async () => {
    await bundle("main.js", "browser", `talk("/vendor").then((text) => (document.title = "done: " + text));`);
    writeFileSync(inFolder("index.html"), '<!doctype html><script type="module" src="./main.js"></script>\n');
    check(await open(folder, "/", { others: { "/vendor": vendor } }));
  },
);

function check(said) {
  assert.match(said, /completed with Done\./);
  assert.deepEqual(
    seen.map(({ type, messages }) => [type, messages.length]),
    [
      ["application/json", 1],
      ["application/json", 3],
      ["application/json", 5],
    ],
  );
  const [, second, third] = seen.map(({ messages }) => JSON.stringify(messages));
  for (const text of ["Zähle 👍", "3 世界 👍"])
    assert.ok(second.includes(text) && third.includes(text), third);
}

/** Asks for two calls of the tool, one after the other. */
function vendor(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const bytes = Buffer.concat(chunks);
    const { messages } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    seen.push({ type: request.headers["content-type"], messages });
    const at = seen.length;
    const content =
      at < 3
        ? [{ type: "tool_use", id: `c${at}`, name: "add", input: { a: at, b: 2 } }]
        : [{ type: "text", text: "Done." }];
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ content, stop_reason: at < 3 ? "tool_use" : "end_turn" }));
  });
}

function bundle(name, condition, script) {
  return esbuild.build({
    stdin: {
      contents: `import { talk } from "./sent.mjs";\n${script}\n`,
      resolveDir: join(root, "tests/package"),
    },
    outfile: inFolder(name),
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: condition === "node" ? "node" : "neutral",
    conditions: [condition],
    external: condition === "workerd" ? ["*.wasm"] : [],
    logLevel: "error",
  });
}
