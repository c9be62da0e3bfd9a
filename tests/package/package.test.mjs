// The package as it is published, in every host that CI has: one import line, no `init()` call, and a whole run.
import assert from "node:assert/strict";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { build as vite } from "vite";
import { examples } from "./docs-examples.mjs";
import { askEdge, askPrintedEdge, askWorkerd } from "./edges.mjs";
import { installPacked, run } from "./install.mjs";
import { answer, externalScript, open, pageScript, streamed, writeEntry, writePage } from "./page.mjs";

const node = process.env.LOOPLET_NODE || process.execPath;
const deno = process.env.LOOPLET_DENO;
const edge = process.env.LOOPLET_EDGE;
const browserPath = process.env.LOOPLET_CHROMIUM;
const csp = (scripts) => `default-src 'none'; script-src 'self' ${scripts}`;
let installed;

before(async () => {
  installed = await installPacked();
  // The peer of looplet/prompty.
  cpSync(new URL("../../node_modules/yaml", import.meta.url), inFolder("node_modules/yaml"), {
    recursive: true,
  });
});
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

test("Deno's lack of a permission ends the first attempt", { skip: !deno && "no Deno" }, async () => {
  writeFileSync(
    inFolder("denied.mjs"),
    `import { createAgent, anthropic } from "looplet";
const run = createAgent({ model: anthropic("m", { apiKey: "key" }) }).run("Hello");
const types = [];
for await (const { type } of run) types.push(type);
const { error } = await run.result;
console.log(error.code, types.includes("retry"), error.message);
`,
  );
  const told = await run(deno, ["run", "--no-prompt", "denied.mjs"], installed.folder);
  assert.match(told, /^config_invalid false .*NotCapable: .*--allow-net/);
});

test("workerd runs it from its import of the .wasm", async () => {
  assert.match(await askWorkerd(installed.folder, "ten-lines.mjs", "tenLines"), answer);
});

test(
  "Vercel's Edge Runtime runs it from its import of the module",
  { skip: !edge && "no Edge Runtime" },
  async () => {
    assert.match(await askEdge(edge, installed.folder, "ten-lines.mjs", "tenLines"), answer);
  },
);

test(
  "Vercel's Edge Runtime runs the function that the documentation prints, from a plain bundle",
  { skip: !edge && "no Edge Runtime" },
  async () => {
    const { practice } = await import(pathToFileURL(inFolder("node_modules/looplet/dist/practice.js")).href);
    const { code } = examples.find(({ name }) => name === "runtimes/edge.js");
    const vendor = practice({ delayMs: 0 });
    assert.match(await askPrintedEdge(edge, installed.folder, code, vendor, "Hello"), /^200 .{10}/);
  },
);

test("no script of it names a source map that it does not have", () => {
  const dist = inFolder("node_modules/looplet/dist");
  const files = readdirSync(dist, { recursive: true });
  assert.deepEqual(
    files.filter((name) => name.endsWith(".map")),
    [],
  );
  const scripts = files.filter((name) => name.endsWith(".js"));
  assert.ok(scripts.length > 5);
  // A build for development has its maps inside.
  const naming = scripts.filter((name) =>
    /^\/\/# sourceMappingURL=(?!data:)/m.test(readFileSync(join(dist, name), "utf8")),
  );
  assert.deepEqual(naming, []);
});

test("its notices name what is inside: crates, Rust's standard library, bundled npm packages", () => {
  const notices = readFileSync(inFolder("node_modules/looplet/dist/NOTICES.txt"), "utf8");
  for (const name of ["serde_json", "wasm-bindgen", "Rust's standard library", "preact"])
    assert.match(notices, new RegExp(`^${name} [\\d.]+ \\(.*MIT.*\\)$`, "m"));
  assert.doesNotMatch(notices, /^(proptest|serde_derive|looplet-scan) /m);
});

test("Chromium runs it without a bundler", { skip: !browserPath && "no Chromium" }, async () => {
  const dist = "/node_modules/looplet/dist";
  writePage(installed.folder, "plain", {
    looplet: `${dist}/default.js`,
    "looplet/practice": `${dist}/practice.js`,
  });
  assert.match(await open(installed.folder, "/plain/"), answer);
});

test(
  "Chromium runs it from an esbuild bundle, under a policy that allows WebAssembly",
  { skip: !browserPath && "no Chromium" },
  async () => {
    await bundle({ outfile: inFolder("esbuild/main.js") });
    writePage(installed.folder, "esbuild");
    assert.match(await open(installed.folder, "/esbuild/", { policy: csp("'wasm-unsafe-eval'") }), answer);
  },
);

test(
  "Chromium names the missing policy where WebAssembly is forbidden",
  { skip: !browserPath && "no Chromium" },
  async () => {
    await bundle({ outfile: inFolder("forbidden/main.js") });
    writePage(installed.folder, "forbidden");
    assert.match(
      await open(installed.folder, "/forbidden/", { policy: csp("") }),
      /failed .*'wasm-unsafe-eval'/,
    );
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
  assert.match(await open(installed.folder, "/vite/"), answer);
  // The page does not wait for the engine, which is a file of its own.
  const files = readdirSync(inFolder("vite/assets")).map((name) =>
    readFileSync(inFolder("vite/assets", name), "utf8"),
  );
  const holding = files.map((text) => /["'`]\\(?:0|x00)asm/.test(text));
  assert.deepEqual([holding.length > 1, holding.filter(Boolean).length], [true, 1]);
  assert.doesNotMatch(readFileSync(inFolder("vite/index.html"), "utf8"), /inline/);
});

test(
  "a service worker runs looplet/inline without a bundler",
  { skip: !browserPath && "no Chromium" },
  async () => {
    assert.match(await openServiceWorker("inline"), /done: completed: Hello/);
  },
);

test(
  "a service worker that loads looplet without a bundler is told what to do",
  { skip: !browserPath && "no Chromium" },
  async () => {
    assert.match(await openServiceWorker("default"), /done: failed: .*looplet\/inline/);
  },
);

/** What a run in a module service worker says that loads this file of the package as it is. */
function openServiceWorker(entry) {
  const page = `service-${entry}`;
  writePage(installed.folder, page);
  writeFileSync(
    inFolder(page, "worker.mjs"),
    `import { createAgent, custom } from "../node_modules/looplet/dist/${entry}.js";
const agent = createAgent({ model: custom(() => "Hello") });
addEventListener("message", async ({ source }) => {
  const { outcome, text, error } = await agent.run("Hi").result;
  source.postMessage(outcome + ": " + (error?.message ?? text));
});
`,
  );
  writeFileSync(
    inFolder(page, "main.js"),
    `navigator.serviceWorker.onmessage = ({ data }) => (document.title = "done: " + data);
await navigator.serviceWorker.register("./worker.mjs", { type: "module" });
(await navigator.serviceWorker.ready).active.postMessage("go");
`,
  );
  return open(installed.folder, `/${page}/`);
}

test(
  "Chromium streams the .wasm of looplet/external from a Vite build",
  { skip: !browserPath && "no Chromium" },
  async () => {
    writePage(installed.folder, "vite-external");
    writeFileSync(
      inFolder("vite-external/main.js"),
      externalScript('import wasm from "looplet/looplet.wasm?url";'),
    );
    const build = { outDir: inFolder("external"), assetsInlineLimit: 0 };
    const root = inFolder("vite-external");
    await vite({ root, base: "/external/", logLevel: "error", configFile: false, build });
    assert.match(await open(installed.folder, "/external/"), streamed);
  },
);

const roots = fileURLToPath(new URL("../../node_modules/@types", import.meta.url));
for (const [name, lib, types] of [
  ["with the library of browsers", ["es2022", "dom"], []],
  ["with Node's types", ["es2022"], ["node"]],
  ["with no host's types at all", ["es2022"], []],
])
  test(`a strict TypeScript project ${name} accepts its types`, async () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: "es2022",
      lib,
      types,
      typeRoots: [roots],
      module: "nodenext",
    };
    writeFileSync(inFolder("tsconfig.json"), JSON.stringify({ compilerOptions, files: ["typed.ts"] }));
    writeFileSync(inFolder("typed.ts"), typed);
    const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));
    await run(process.execPath, [tsc, "-p", "tsconfig.json"], installed.folder);
  });

const typed = `
import { createAgent, custom, tool, type RunResult } from "looplet";
import * as external from "looplet/external";
import { chromePrompt, webllm, workersAi } from "looplet/models";
import { practice, scripted } from "looplet/practice";
import { loadPrompty, turn } from "looplet/prompty";

export const said = async (): Promise<unknown> => turn(await loadPrompty("user:\\nHi"), {}, {}, { turn: 1 });
export const started: Promise<void> = external.init("https://example.test/looplet.wasm");
const add = tool({
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  execute: ({ a }, { signal }) => (signal.aborted ? 0 : a + 1),
});
const model = custom(async ({ signal }) => (signal.aborted ? "late" : "hi"));
export const agent = createAgent({ model, tools: { add }, fetch: scripted([{ text: "a" }]) });
export const others = [chromePrompt(), workersAi({ run: async () => practice() }, "m"), webllm];
export function why(result: RunResult): string {
  const said: string | undefined = result.error?.message;
  if (result.outcome === "failed") return result.error.message;
  return result.outcome === "stopped" ? result.stoppedBy : (said ?? result.text);
}
`;

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
