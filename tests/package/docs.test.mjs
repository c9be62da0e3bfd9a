// The examples of README.md and docs/ as a stranger copies them: every block of JavaScript is strict TypeScript on
// the package's own types, and runs, with the practice provider in the place of every server.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { examples, root } from "./docs-examples.mjs";
import { expected } from "./docs-expected.mjs";
import { tasks } from "./docs-tasks.mjs";
import { here, installPacked, run } from "./install.mjs";
import { visit } from "./page.mjs";

const expectations = { ...expected, ...tasks };
const browserPath = process.env.LOOPLET_CHROMIUM;

// An example with `inPage` runs in a browser, and in Node too if it has `after`. One that other files of its page
// import runs with them.
const shown = examples.filter(({ name }) => expectations[name]?.inPage);
const imported = (file) =>
  examples.some(
    ({ file: other, code }) =>
      dirname(other) === dirname(file) && code.includes(`"./${file.replace(/^.*\/|\.\w+$/g, "")}"`),
  );
const scripts = examples.filter(
  ({ name, language, file, standsAlone }) =>
    language !== "html" &&
    language !== "jsonc" &&
    !expectations[name]?.isConfig &&
    (expectations[name]?.after || !shown.some((other) => dirname(other.file) === dirname(file))) &&
    !(standsAlone && imported(file)),
);

describe("the examples of the documentation", () => {
  let installed, folder;
  before(async () => {
    installed = await installPacked();
    folder = join(installed.folder, "docs");
    for (const { file, code } of [
      ...examples,
      { file: "names.ts", code: readFileSync(join(here, "docs-names.ts"), "utf8") },
      {
        file: "durable-engines/engines.d.ts",
        code: readFileSync(join(here, "docs-engines.d.ts"), "utf8"),
      },
    ]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), code);
    }
    for (const name of [
      ...["zod", "@types", "@modelcontextprotocol", "@ag-ui", "vite", "yaml"],
      ...["react", "react-dom", "vue", "svelte", "solid-js"],
    ])
      symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
    mkdirSync(join(installed.folder, "node_modules/@ai-sdk"));
    for (const [name, alias] of Object.entries({ react: "ai-sdk-react-7", anthropic: "ai-sdk-anthropic-4" }))
      symlinkSync(join(root, "node_modules", alias), join(installed.folder, "node_modules/@ai-sdk", name));
    cpSync(join(here, "otel-double"), join(installed.folder, "node_modules/@opentelemetry/api"), {
      recursive: true,
    });
    await build({
      entryPoints: [...scripts.map(({ file }) => join(folder, file)), join(folder, "names.ts")],
      outbase: folder,
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      packages: "external",
      platform: "node",
      format: "esm",
      target: "es2022",
      jsx: "automatic",
      logLevel: "error",
    });
  });
  after(() => installed?.remove());

  test("are found", () => assert.ok(examples.length > 30, `${examples.length}`));

  for (const [what, lib, include] of [
    ["without a browser's library", ["es2022"], ["*.ts"]],
    ["in projects of their own", ["es2023", "dom", "dom.iterable"], ["*/**/*.ts", "*/**/*.tsx"]],
  ])
    test(`are strict TypeScript, ${what}`, async () => {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: "es2022",
        lib,
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")],
        module: "esnext",
        moduleResolution: "bundler",
        jsx: "react-jsx",
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
      const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
      await run(process.execPath, [tsc, "-p", "tsconfig.json"], folder, 300_000);
    });

  describe("run", () => {
    const { fetch } = globalThis;
    const load = (file) => import(pathToFileURL(join(folder, file.replace(/\.\w+$/, ".mjs"))).href);
    let names, looplet, practice, requests, provider;
    before(async () => {
      const dist = join(installed.folder, "node_modules/looplet/dist");
      [looplet, practice] = await Promise.all(
        ["node", "practice"].map((name) => import(pathToFileURL(join(dist, `${name}.js`)).href)),
      );
      process.env.ANTHROPIC_API_KEY = "key";
      globalThis.fetch = async (url, init) => {
        if (init?.method !== "POST") return new Response("Rain");
        const body = await new Response(init.body).text();
        requests.push({ url: String(url), headers: new Headers(init.headers), body });
        return provider(url, init);
      };
      names = await load("names.ts");
    });
    after(() => (globalThis.fetch = fetch));

    for (const { name, file } of scripts)
      test(name, async () => {
        const { before, after = completed, isTest } = expectations[name] ?? {};
        const own = join(folder, dirname(file));
        if (isTest) {
          await before?.({ looplet, practice, folder: own });
          const told = await run(
            process.execPath,
            ["--test", "--test-reporter=spec", file.replace(/\.\w+$/, ".mjs")],
            folder,
          );
          return assert.match(told, /^ℹ pass 1$/m);
        }
        requests = [];
        provider = practice.practice({ delayMs: 0 });
        names.fresh();
        const serve = (fetch) => (provider = fetch);
        const answer = (...turns) => serve(practice.scripted(turns));
        await before?.({ looplet, practice, serve, answer, folder: own });
        const { made, output } = await printed(() => load(file));
        await after({ made, output, requests, looplet, practice, serve, calls: names.calls });
      });

    for (const { name, file } of shown)
      test(`${name} in Chromium`, { skip: !browserPath && "no Chromium" }, () => {
        provider = practice.practice({ delayMs: 0 });
        return visit({ folder, file, ...expectations[name] });
      });

    test("are all there that an expectation names", () => {
      const known = examples.map(({ name }) => name);
      assert.deepEqual(
        Object.keys(expectations).filter((name) => !known.includes(name)),
        [],
      );
    });
  });
});

/** An example makes an agent, a run or a result: the run completes. */
async function completed({ made: { agent, run, result } }) {
  const { outcome, error } = result ?? (await (run ?? agent.run("Hello")).result);
  assert.equal(outcome, "completed", `${error?.code}: ${error?.message}`);
}

/** What was made, and what was printed meanwhile. */
async function printed(make) {
  const { log } = console;
  const { write } = process.stdout;
  const output = [];
  console.log = (...words) => output.push(`${words.join(" ")}\n`);
  // The runner tells its own events as bytes.
  process.stdout.write = (text, ...rest) =>
    typeof text === "string" ? output.push(text) > 0 : write.call(process.stdout, text, ...rest);
  try {
    return { made: await make(), output };
  } finally {
    console.log = log;
    process.stdout.write = write;
  }
}
