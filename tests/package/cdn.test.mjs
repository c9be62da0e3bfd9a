// A page without a bundler, whose import map names the package on a CDN: a server on another origin.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { writeStandalone } from "../../scripts/lib/standalone.mjs";
import { installPacked } from "./install.mjs";
import { answer, open, pageScript } from "./page.mjs";

const { LOOPLET_CHROMIUM, LOOPLET_NODE = process.execPath } = process.env;
const below = "/npm/looplet@0.1.0/";

let installed;
let server;
/** A file that the CDN serves with one more byte. */
let changed;

const html = (map) =>
  `<!doctype html><link rel="icon" href="data:,">${map}<script type="module" src="./main.js" onerror="document.title = 'done: not loaded'"></script>\n`;

/** The output of `looplet import-map` for the CDN. */
function importMap(...names) {
  const base = `http://127.0.0.1:${server.address().port}${below}`;
  const program = join(installed.folder, "node_modules/looplet/dist/cli.js");
  const args = [program, "import-map", ...names, "--base", base];
  const { stdout, stderr, status } = spawnSync(LOOPLET_NODE, args, { encoding: "utf8" });
  return { stdout, stderr, status };
}

before(async () => {
  installed = await installPacked();
  const types = { ".js": "application/javascript; charset=utf-8", ".wasm": "application/wasm" };
  server = createServer(({ url }, response) => {
    const file = url.slice(below.length);
    const headers = {
      "access-control-allow-origin": "*",
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": types[extname(file)],
    };
    const body = readFileSync(join(installed.folder, "node_modules/looplet", file));
    response.writeHead(200, headers).end(changed === file ? Buffer.concat([body, Buffer.from("\n")]) : body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
});

after(() => {
  server?.closeAllConnections();
  server?.close();
  installed?.remove();
});

/** The title and the errors of a page with this import map. */
function visit(name, map) {
  mkdirSync(join(installed.folder, name), { recursive: true });
  writeFileSync(join(installed.folder, name, "index.html"), html(map));
  writeFileSync(join(installed.folder, name, "main.js"), pageScript("../ten-lines.mjs"));
  return open(installed.folder, `/${name}/`);
}

test("a page runs an agent from a CDN, with the hash of each file", async () => {
  assert.ok(LOOPLET_CHROMIUM);
  const { stdout, status } = importMap("practice", "ui");
  assert.equal(status, 0);
  assert.match(await visit("cdn", stdout), answer);
  const { imports, integrity } = JSON.parse(stdout.replace(/<[^>]*>/g, ""));
  assert.deepEqual(Object.keys(imports), ["looplet", "looplet/practice", "looplet/ui"]);
  const files = Object.keys(integrity).map((url) => new URL(url).pathname.slice(below.length));
  assert.ok(
    files.every((file) => file.startsWith("dist/")),
    files.join(),
  );
});

test("a page from a CDN does not run a file that was changed", async () => {
  const { stdout } = importMap("practice");
  const { integrity } = JSON.parse(stdout.replace(/<[^>]*>/g, ""));
  for (const url of Object.keys(integrity).filter((url) => /\/(?:inline|core)/.test(url))) {
    changed = new URL(url).pathname.slice(below.length);
    assert.match(await visit("changed", stdout), /done: not loaded/, changed);
  }
  changed = undefined;
});

test("a page runs an agent from one file that a release has", async () => {
  const file = join(installed.folder, "looplet.standalone.js");
  await writeStandalone(join(installed.folder, "node_modules/looplet"), file);
  const names = Object.fromEntries(
    ["looplet", "looplet/practice"].map((name) => [name, "/looplet.standalone.js"]),
  );
  const map = `<script type="importmap">${JSON.stringify({ imports: names })}</script>`;
  assert.match(await visit("standalone", map), answer);
});

test("the import map names the entries that others import, and rejects those that need a server", () => {
  const react = importMap("react");
  assert.match(react.stdout, /"looplet\/react"/);
  assert.match(react.stderr, /URLs of these packages too: react/);
  const node = importMap("stores/node");
  assert.deepEqual([node.status, node.stdout], [2, ""]);
  assert.match(node.stderr, /looplet\/stores\/node needs a server: it imports node:fs/);
  assert.match(importMap("nope").stderr, /there is no looplet\/nope in this package/);
});
