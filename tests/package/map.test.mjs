// The map of the package: what each import brings along.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { installPacked } from "./install.mjs";

let installed;
before(async () => (installed = await installPacked()));
after(() => installed?.remove());

const { exports, peerDependencies, sideEffects } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
const subpaths = Object.keys(exports).filter(
  (path) => /^\.\/[a-z-]+$/.test(path) && !["./external", "./inline"].includes(path),
);
/** A facade that runs the engine stands under `looplet/external` without it. */
const externals = readdirSync(new URL("../../dist/external", import.meta.url));
const facades = subpaths.filter((path) => externals.includes(`${path.slice(2)}.js`));
const conditions = [["browser"], ["workerd", "worker"], ["node"], ["edge-light"], ["deno"], ["bun"]];
/** An engine: a text that begins as a `.wasm` does, or an import of the file. */
const inside = /["'`]\\(?:0|x00)asm/g;
const engine = new RegExp(`${inside.source}|["'\`]\\./looplet\\.wasm(\\?module)?["'\`]`);

for (const path of subpaths) {
  const subpath = facades.includes(path) ? `./external/${path.slice(2)}` : path;
  for (const names of conditions)
    test(`looplet/external with looplet${subpath.slice(1)} holds no engine (${names[0]})`, async () => {
      const text = await bundled(
        `export * from "looplet/external"; export * as more from "looplet${subpath.slice(1)}";`,
        names,
      );
      assert.doesNotMatch(text, engine);
    });
}

for (const facade of facades)
  for (const names of conditions)
    test(`looplet${facade.slice(1)} holds the engine of looplet, or its import (${names[0]})`, async () => {
      assert.match(await bundled(`export * from "looplet${facade.slice(1)}";`, names), engine);
    });

test("looplet alone has conditions, and five facades import it by its name", () => {
  const withConditions = Object.keys(exports).filter((path) => "node" in Object(exports[path]));
  assert.deepEqual(withConditions, ["."]);
  assert.deepEqual(facades.sort(), ["./agent-sdk", "./guide", "./production", "./prompty", "./sprout"]);
});

for (const names of conditions)
  test(`looplet itself holds it, or its import (${names[0]})`, async () => {
    assert.match(await bundled('export * from "looplet";', names), engine);
  });

test("looplet itself holds the engine, once, beside any subpath", async () => {
  const all = subpaths.map((path, at) => `export * as more${at} from "looplet${path.slice(1)}";`).join("");
  const text = await bundled(`export * from "looplet"; ${all}`, ["browser"]);
  assert.equal(text.match(inside).length, 1);
});

test("looplet/inline holds the engine in its own file, for a place that loads no module later", async () => {
  const text = await bundled(
    'export * from "looplet/inline"; export { query } from "looplet/external/agent-sdk";',
    ["browser"],
  );
  assert.equal(text.match(inside).length, 1);
  assert.doesNotMatch(text, /\bimport\(/);
});

test("the source maps of a release have the sources of the TypeScript, and do not repeat the engine", () => {
  const dist = fileURLToPath(new URL("../../dist", import.meta.url));
  const maps = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith(".map"));
  const texts = maps.map((file) => readFileSync(join(dist, file), "utf8"));
  assert.ok(texts.some((text) => text.includes("src/typescript/core/run/run.ts")));
  for (const text of texts) assert.doesNotMatch(text, /(\\u0000|\\\\0|\\\\x00)asm/);
});

test("an error is of one class, whichever entry throws it", async () => {
  const text = await bundled(
    'import { LoopletError } from "looplet/external"; import { summarizeTrace } from "looplet/trace";' +
      "export let isSame; try { summarizeTrace(7); } catch (error) { isSame = error instanceof LoopletError; }",
    ["browser"],
  );
  const { isSame } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  assert.equal(isSame, true);
});

test("only the entries that find the engine, the facades that import them, and the element have side effects", () => {
  const finding = [".", "./inline", ...facades].flatMap((path) =>
    JSON.stringify(exports[path]).match(/\.\/dist\/[\w/-]+\.js/g),
  );
  const found = new Set([...finding, "./dist/devtools.js"]);
  assert.deepEqual([...sideEffects].sort(), [...found].sort());
});

async function bundled(contents, names) {
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: installed.folder },
    bundle: true,
    format: "esm",
    write: false,
    conditions: names,
    external: ["node:*", "*.wasm", "*.wasm?module", ...Object.keys(peerDependencies)],
    logLevel: "error",
  });
  return outputFiles[0].text;
}
