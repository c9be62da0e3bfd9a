// The five systems by name, run from the packed package in every host that CI has. Bun is in the long suite.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "vite";
import { askEdge, askWorkerd } from "./edges.mjs";
import { added, installFacades, run } from "./install.mjs";
import { open, writePage } from "./page.mjs";

const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const node = process.env.LOOPLET_NODE || process.execPath;
const { LOOPLET_CHROMIUM: browserPath, LOOPLET_DENO: deno, LOOPLET_EDGE: edge } = process.env;
let folder, remove;

before(async () => ({ folder, remove } = await installFacades()));
after(() => remove?.());

test("Node runs the facades", async () => {
  assert.match(await run(node, ["facades-main.mjs"], folder), added);
});

test(
  "Deno runs the facades, and the package yaml reads a variable of its own",
  { skip: !deno && "no Deno" },
  async () => {
    assert.match(
      await run(
        deno,
        ["run", "--no-prompt", "--allow-env=LOG_TOKENS,LOG_STREAM", "facades-main.mjs"],
        folder,
      ),
      added,
    );
  },
);

test("workerd runs the facades", async () => {
  assert.match(await askWorkerd(folder, "facades.mjs", "facades"), added);
});

test("Vercel's Edge Runtime runs the facades", { skip: !edge && "no Edge Runtime" }, async () => {
  assert.match(await askEdge(edge, folder, "facades.mjs", "facades"), added);
});

const source = readFileSync(new URL("facades.mjs", import.meta.url), "utf8");
const show = "facades().catch(String).then((text) => (document.title = `done: ${text}`));";
const onExternal = `import { init } from "looplet/external";
await init("/node_modules/looplet/dist/looplet.wasm");
${source.replaceAll(/"looplet\/(?=guide|agent-sdk|production|prompty|sprout)/g, '"looplet/external/')}`;
for (const [what, page, script] of [
  ["with their own engine", "facades", source],
  ["on the engine of looplet/external", "facades-external", onExternal],
])
  test(`Chromium runs the facades ${what}`, { skip: !browserPath && "no Chromium" }, async () => {
    const fileOf = (name) => {
      const [, facade] = /^looplet\/external\/(.*)$/.exec(name) ?? [];
      const { default: file } = exports[facade ? "./external/*" : name.replace("looplet", ".")];
      return file.replace("./dist", "/node_modules/looplet/dist").replace("*", facade);
    };
    // A facade imports looplet.
    const names = ["looplet", ...[...script.matchAll(/from "(looplet[^"]*)"/g)].map(([, name]) => name)];
    const files = Object.fromEntries(names.map((name) => [name, fileOf(name)]));
    writePage(folder, page, { ...files, yaml: "/node_modules/yaml/browser/index.js" });
    writeFileSync(join(folder, page, "main.js"), `${script}\n${show}\n`);
    assert.match(await open(folder, `/${page}/`), added);
  });

test("Chromium runs the facades from a Vite build", { skip: !browserPath && "no Chromium" }, async () => {
  writePage(folder, "vite-source");
  const root = join(folder, "vite-source");
  writeFileSync(join(root, "main.js"), `${source}\n${show}\n`);
  const outDir = join(folder, "vite");
  await build({ root, base: "/vite/", logLevel: "error", configFile: false, build: { outDir } });
  assert.match(await open(folder, "/vite/"), added);
});
