// The package as it is published, in every host that CI has: one import line, no `init()` call, and a whole run.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";
import { chromium } from "playwright-core";
import { build as vite } from "vite";
import { installPacked, run } from "./install.mjs";
import { answer, open, pageScript, writeEntry, writePage } from "./page.mjs";

const node = process.env.LOOPLET_NODE || process.execPath;
const deno = process.env.LOOPLET_DENO;
const browserPath = process.env.LOOPLET_CHROMIUM;
const launch = () =>
  chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
const csp = (scripts) => `default-src 'none'; script-src 'self' ${scripts}`;
let installed;

before(async () => (installed = await installPacked()));
after(() => installed?.remove());

const inFolder = (...names) => join(installed.folder, ...names);

test("Node runs ten lines on the package", async () => {
  assert.match(await run(node, ["main.mjs"], installed.folder), answer);
});

test("Node runs a bundle of it that stands alone", async () => {
  await bundle({ outfile: inFolder("node-bundle/main.mjs"), platform: "node", conditions: ["node"] });
  assert.match(await run(node, [inFolder("node-bundle/main.mjs")], inFolder("node-bundle")), answer);
});

test("Deno runs it without any permission", { skip: !deno && "no Deno" }, async () => {
  assert.match(await run(deno, ["run", "--no-prompt", "main.mjs"], installed.folder), answer);
});

test("workerd runs it from its import of the .wasm", async () => {
  writeFileSync(
    inFolder("worker.mjs"),
    'import { tenLines } from "./ten-lines.mjs";\nexport default { fetch: async () => new Response(await tenLines()) };\n',
  );
  const { outputFiles } = await bundle({
    entryPoints: [inFolder("worker.mjs")],
    conditions: ["workerd", "worker"],
    external: ["*.wasm"],
    write: false,
  });
  const flare = new Miniflare({
    cf: false,
    compatibilityDate: "2026-07-01",
    modules: [
      { type: "ESModule", path: "worker.js", contents: outputFiles[0].text },
      {
        type: "CompiledWasm",
        path: "looplet.wasm",
        contents: readFileSync(inFolder("node_modules/looplet/dist/looplet.wasm")),
      },
    ],
  });
  try {
    const response = await flare.dispatchFetch("http://worker.test/");
    assert.match(await response.text(), answer);
  } finally {
    await flare.dispose();
  }
});

test("Chromium runs it without a bundler", { skip: !browserPath && "no Chromium" }, async () => {
  const dist = "/node_modules/looplet/dist";
  writePage(installed.folder, "plain", {
    looplet: `${dist}/default.js`,
    "looplet/practice": `${dist}/practice.js`,
  });
  assert.match(await open(installed.folder, "/plain/", launch), answer);
});

test(
  "Chromium runs it from an esbuild bundle, under a policy that allows WebAssembly",
  { skip: !browserPath && "no Chromium" },
  async () => {
    await bundle({ outfile: inFolder("esbuild/main.js") });
    writePage(installed.folder, "esbuild");
    assert.match(await open(installed.folder, "/esbuild/", launch, csp("'wasm-unsafe-eval'")), answer);
  },
);

test(
  "Chromium names the missing policy where WebAssembly is forbidden",
  { skip: !browserPath && "no Chromium" },
  async () => {
    await bundle({ outfile: inFolder("forbidden/main.js") });
    writePage(installed.folder, "forbidden");
    assert.match(await open(installed.folder, "/forbidden/", launch, csp("")), /failed .*'wasm-unsafe-eval'/);
  },
);

test("Chromium runs it from a Vite build", { skip: !browserPath && "no Chromium" }, async () => {
  writePage(installed.folder, "vite-source");
  writeFileSync(inFolder("vite-source/main.js"), pageScript("../ten-lines.mjs"));
  await vite({
    root: inFolder("vite-source"),
    base: "/vite/",
    logLevel: "error",
    configFile: false,
    build: { outDir: inFolder("vite") },
  });
  assert.match(await open(installed.folder, "/vite/", launch), answer);
});

test("a strict TypeScript project with the libraries of 2022 accepts its types", async () => {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: "es2022",
      lib: ["es2022", "dom"],
      types: [],
      module: "nodenext",
    },
    files: ["typed.ts"],
  };
  writeFileSync(inFolder("tsconfig.json"), JSON.stringify(config));
  writeFileSync(
    inFolder("typed.ts"),
    'import * as looplet from "looplet";\nimport * as slim from "looplet/slim";\nimport * as practice from "looplet/practice";\n' +
      "export const started: Promise<void> = slim.init(new URL(import.meta.url));\n" +
      "export const agent: unknown = looplet.createAgent;\nexport const fetch: unknown = practice.practice;\n",
  );
  const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
  await run(process.execPath, [tsc, "-p", "tsconfig.json"], installed.folder);
});

function bundle(options) {
  const entry = options.platform === "node" ? inFolder("main.mjs") : writeEntry(installed.folder);
  return esbuild.build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    logLevel: "error",
    minify: true,
    ...options,
  });
}
