// How a page gets the engine: it streams the file if its bundler or its server has it, and loads the text otherwise.
// It downloads one of the two. Errors on the console are part of what is compared. docs/runtimes.md has the table.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { rolldown } from "rolldown";
import { build, createServer } from "vite";
import { installPacked } from "./install.mjs";
import { gotFile, gotText, openWatched, pageScript, writeEntry, writePage } from "./page.mjs";

const options = { skip: !process.env.LOOPLET_CHROMIUM && "no Chromium" };
let folder, remove;

before(async () => ({ folder, remove } = await installPacked()));
after(() => remove?.());

/** A page without a bundler, whose copy of the package is in the folder at this path. */
async function plain(name, path, options) {
  const dist = `/${path}/dist`;
  writePage(folder, name, { looplet: `${dist}/default.js`, "looplet/practice": `${dist}/practice.js` });
  return openWatched(folder, `/${name}/`, options);
}

test("a page without a bundler streams the file", options, async () => {
  assert.match(await plain("plain", "node_modules/looplet"), gotFile);
});

test("a page that imports from a CDN's addresses streams the file", options, async () => {
  cpSync(join(folder, "node_modules/looplet"), join(folder, "npm/looplet@0.1.0"), { recursive: true });
  assert.match(await plain("cdn", "npm/looplet@0.1.0"), gotFile);
});

test("a page that has the package in another folder loads the text", options, async () => {
  cpSync(join(folder, "node_modules/looplet"), join(folder, "vendor"), { recursive: true });
  assert.match(await plain("vendored", "vendor"), gotText);
});

for (const [name, type] of [
  ["a page of HTML", "text/html"],
  ["bytes of no type", "application/octet-stream"],
])
  test(`a page whose server answers with ${name} loads the text`, options, async () => {
    const others = {
      "/node_modules/looplet/dist/looplet.wasm": (_, response) =>
        response.writeHead(200, { "content-type": type }).end("<!doctype html>"),
    };
    assert.match(await plain("typed", "node_modules/looplet", { others }), gotText);
  });

test("a page whose server lacks the file loads the text, and the browser logs the 404", options, async () => {
  const others = {
    "/node_modules/looplet/dist/looplet.wasm": (_, response) => response.writeHead(404).end(),
  };
  const said = await plain("lacking", "node_modules/looplet", { others });
  assert.match(said, /437.*; engine: the text; Failed to load resource: .* 404/);
});

test(
  "a page whose policy forbids the request loads the text, and the browser logs that",
  options,
  async () => {
    const policy = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'";
    const said = await plain("policed", "node_modules/looplet", { policy });
    assert.match(said, /437.*; engine: the text; .*violates .*Content Security Policy/);
  },
);

test("a build by Vite streams the file", options, async () => {
  const root = source("vite-source");
  const outDir = join(folder, "vite");
  await build({ root, base: "/vite/", logLevel: "error", configFile: false, build: { outDir } });
  assert.match(await openWatched(folder, "/vite/"), gotFile);
});

for (const [name, optimizeDeps] of [
  ["with pre-bundling", { include: ["looplet", "looplet/practice"] }],
  ["without pre-bundling", { exclude: ["looplet", "looplet/practice"] }],
])
  test(`Vite's development server ${name} streams the file`, options, async () => {
    const server = await createServer({
      root: source(`dev-${name.split(" ")[0]}`),
      cacheDir: join(folder, `cache-${name.split(" ")[0]}`),
      logLevel: "error",
      configFile: false,
      optimizeDeps,
      server: { host: "127.0.0.1", port: 0, fs: { allow: [folder] } },
    });
    try {
      await server.listen();
      const { port } = server.httpServer.address();
      assert.match(await openWatched(folder, "/", { url: `http://127.0.0.1:${port}/` }), gotFile);
    } finally {
      await server.close();
    }
  });

for (const format of ["esm", "iife"])
  test(`a bundle by esbuild (${format}) loads the text, without a warning`, options, async () => {
    const { warnings } = await esbuild.build({
      entryPoints: [writeEntry(folder)],
      outfile: join(folder, `esbuild-${format}/main.js`),
      bundle: true,
      minify: true,
      format,
      charset: "ascii",
      logLevel: "silent",
    });
    assert.deepEqual(warnings, []);
    writePage(folder, `esbuild-${format}`);
    assert.match(await openWatched(folder, `/esbuild-${format}/`), gotText);
  });

test("a bundle by Rolldown loads the text", options, async () => {
  const bundle = await rolldown({ input: writeEntry(folder), platform: "browser" });
  await bundle.write({ dir: join(folder, "rolldown"), format: "esm", entryFileNames: "main.js" });
  await bundle.close();
  writePage(folder, "rolldown");
  assert.match(await openWatched(folder, "/rolldown/"), gotText);
});

/** The folder of a page whose script runs the ten lines. */
function source(name) {
  writePage(folder, name);
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "main.js"), pageScript("../ten-lines.mjs"));
  return join(folder, name);
}
