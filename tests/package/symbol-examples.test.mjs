// The examples in doc comments, as an editor shows them: each is strict TypeScript on the package's own types, and
// runs with the practice provider in place of every vendor.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./docs-examples.mjs";
import { installPacked, run } from "./install.mjs";
import { symbolExamples } from "./symbol-examples.mjs";

/** Examples that are compiled only, and what they would need. */
const NEEDS = {
  "extras/mcp/index-1": "an MCP server",
  "extras/prices/prices-from-1": "a file of the network",
  "extras/stores/indexed-db-1": "IndexedDB",
  "server/workers/remote-agent-1": "the address of a page",
  "server/workers/serve-1": "a worker",
  "server/workers/share-1": "Web Locks",
};

describe("the examples of doc comments", () => {
  const { fetch } = globalThis;
  let installed, folder;
  before(async () => {
    installed = await installPacked();
    folder = join(installed.folder, "symbols");
    mkdirSync(folder);
    for (const { file, code } of symbolExamples) writeFileSync(join(folder, file), code);
    for (const name of ["@types", "react"])
      symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
    await build({
      entryPoints: symbolExamples.filter(({ runs }) => runs).map(({ file }) => join(folder, file)),
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      target: "es2022",
      logLevel: "error",
    });
    const dist = join(installed.folder, "node_modules/looplet/dist");
    const { practice } = await import(pathToFileURL(join(dist, "practice.js")).href);
    globalThis.fetch = practice({ delayMs: 0 });
    for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AZURE_API_KEY"])
      process.env[name] = "key";
    process.env.OPENROUTER_API_KEY = "key";
    process.chdir(folder);
  });
  after(() => {
    globalThis.fetch = fetch;
    process.chdir(root);
    installed?.remove();
  });

  test("are found", () => assert.ok(symbolExamples.length >= 60, `${symbolExamples.length}`));

  test("are all there that need something", () =>
    assert.deepEqual(
      Object.keys(NEEDS).filter((name) => !symbolExamples.some((example) => example.name === name)),
      [],
    ));

  test("are strict TypeScript", async () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2023",
      lib: ["es2023", "dom", "dom.iterable"],
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
      module: "esnext",
      moduleDetection: "force",
      moduleResolution: "bundler",
      jsx: "react-jsx",
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    await run(process.execPath, [tsc, "-p", "tsconfig.json"], folder, 300_000);
  });

  for (const { name, file, prints } of symbolExamples.filter(({ name, runs }) => runs && !(name in NEEDS)))
    test(name, async () => {
      const printed = await printedBy(
        () => import(pathToFileURL(join(folder, file.replace(/ts$/, "mjs"))).href),
      );
      for (const line of prints) assert.ok(printed.includes(line), `${line}: printed ${printed}`);
    });
});

/** The lines that are printed meanwhile. */
async function printedBy(work) {
  const { log } = console;
  const lines = [];
  console.log = (...values) => lines.push(values.join(" "));
  try {
    await work();
    return lines;
  } finally {
    console.log = log;
  }
}
